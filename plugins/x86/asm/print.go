package asm

import (
	"fmt"
	"strings"
)

var (
	gp64 = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}
	gp32 = [8]string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"}
	gp16 = [8]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}
	gp8  = [8]string{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"}
	// Comparison predicates, by immediate, as disassemblers name them.
	fpPred  = [32]string{"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", "eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true", "eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s", "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us"}
	intPred = [8]string{"eq", "lt", "le", "", "neq", "nlt", "nle", ""}
)

// RegName is the assembler name of a register of a class and size in bytes.
func RegName(c Class, size uint8, r Reg) string {
	switch c {
	case ClassMask:
		return fmt.Sprintf("k%d", r)
	case ClassVec:
		return fmt.Sprintf("%s%d", map[uint8]string{16: "xmm", 32: "ymm", 64: "zmm"}[size], r)
	}
	switch {
	case size == 8:
		return gp64[r]
	case r >= 8:
		return gp64[r] + map[uint8]string{4: "d", 2: "w", 1: "b"}[size]
	case size == 4:
		return gp32[r]
	case size == 2:
		return gp16[r]
	}
	return gp8[r]
}

var sizeName = map[uint8]string{1: "BYTE", 2: "WORD", 4: "DWORD", 8: "QWORD", 16: "XMMWORD", 32: "YMMWORD", 64: "ZMMWORD"}

// Print writes an instruction in Intel syntax, as objdump does. Jump targets
// and rip-relative operands print symbolically.
func Print(f *Form, mask Reg, args ...Arg) string {
	var parts []string
	name := f.Name
	a := 0
	opSize := uint8(4)
	for i := range f.Ops {
		if k := f.Ops[i].Kind; k == KGP || k == KMem {
			opSize = f.Ops[i].Size
			break
		}
	}
	for i := range f.Ops {
		o := &f.Ops[i]
		if o.Hidden {
			continue
		}
		arg := args[a]
		a++
		var s string
		switch o.Kind {
		case KMem, KBcast:
			s = printMem(f, o, arg.Mem)
		case KImm:
			if p := predicate(f, arg.Imm); p != "" {
				name = splicePredicate(f.Name, p)
				continue
			}
			s = printImm(f, opSize, arg.Imm)
		case KLabel:
			s = fmt.Sprintf("L%d", arg.Label)
		default:
			s = RegName(o.Class(), o.Size, arg.Reg)
		}
		if a == 1 && f.Mask != MaskNone {
			s += fmt.Sprintf("{k%d}", mask)
			if f.Mask == MaskZero && o.Kind != KMask {
				s += "{z}"
			}
		}
		parts = append(parts, s)
	}
	return strings.TrimSpace(name + " " + strings.Join(parts, ","))
}

func printImm(f *Form, opSize uint8, v int64) string {
	if f.kind == encLegacy && f.immSize == 4 {
		if opSize == 8 {
			return fmt.Sprintf("0x%x", uint64(v))
		}
		return fmt.Sprintf("0x%x", uint32(v))
	}
	if f.immSize == 8 {
		return fmt.Sprintf("0x%x", uint64(v))
	}
	return fmt.Sprintf("0x%x", uint8(v))
}

func printMem(f *Form, o *Operand, m Mem) string {
	var s string
	switch {
	case m.RIP:
		s = fmt.Sprintf("rip+L%d", m.Label)
	default:
		var terms []string
		if m.Base != NoReg {
			terms = append(terms, gp64[m.Base])
		}
		if m.Index != NoReg {
			terms = append(terms, fmt.Sprintf("%s*%d", gp64[m.Index], max(m.Scale, 1)))
		}
		s = strings.Join(terms, "+")
		switch {
		case m.Disp < 0:
			s += fmt.Sprintf("-0x%x", -int64(m.Disp))
		case m.Disp > 0 || m.Base == NoReg || m.Base&7 == RBP:
			s += fmt.Sprintf("+0x%x", m.Disp)
		}
	}
	s = "[" + s + "]"
	switch {
	case f.Name == "lea":
		return s
	case o.Kind == KBcast:
		return sizeName[o.Size] + " BCST " + s
	}
	return sizeName[o.Size] + " PTR " + s
}

// predicate names the comparison an immediate selects, or "".
func predicate(f *Form, imm int64) string {
	switch {
	case strings.HasPrefix(f.Name, "vcmp"):
		return fpPred[imm&31]
	case strings.HasPrefix(f.Name, "vpcmp") && f.immSize == 1:
		return intPred[imm&7]
	}
	return ""
}

// splicePredicate turns vcmpps with lt into vcmpltps, vpcmpud into vpcmpltud.
func splicePredicate(name, pred string) string {
	n := len("vcmp")
	if strings.HasPrefix(name, "vpcmp") {
		n++
	}
	return name[:n] + pred + name[n:]
}
