package mir

import (
	"fmt"
	"strings"
)

// String is the stable text form of a function, used by golden tests and by
// `kerac inspect`. One instruction a line: definitions, name, uses, memory operand,
// immediate, then the node it came from.
func (f *Func) String() string {
	var w strings.Builder
	w.WriteString("func " + f.Name + "(")
	for i, p := range f.BlockParams(0) {
		if i > 0 {
			w.WriteString(", ")
		}
		fmt.Fprintf(&w, "%s=%s", f.regDecl(p), f.Target.Regs[f.EntryRegs[i]].Name)
	}
	w.WriteString(")")
	if f.Allocated {
		fmt.Fprintf(&w, " frame=%d", f.FrameSize)
	}
	w.WriteString("\n")
	for _, b := range f.Layout {
		fmt.Fprintf(&w, "b%d", b)
		if ps := f.BlockParams(b); len(ps) > 0 && b != 0 {
			w.WriteString("(")
			for i, p := range ps {
				if i > 0 {
					w.WriteString(", ")
				}
				w.WriteString(f.regDecl(p))
			}
			w.WriteString(")")
		}
		w.WriteString(":\n")
		bi := &f.Blocks[b]
		for i := bi.First; i < bi.End; i++ {
			w.WriteString("  " + f.InstString(i))
			if i == bi.End-1 {
				f.dumpEdges(&w, b)
			}
			if n := f.Insts[i].Node; n != NoNode {
				fmt.Fprintf(&w, "  @%d", n)
			}
			w.WriteString("\n")
		}
	}
	return w.String()
}

func (f *Func) dumpEdges(w *strings.Builder, b Block) {
	for k, e := range f.Succs(b) {
		if k > 0 {
			w.WriteString(",")
		}
		fmt.Fprintf(w, " b%d", e.To)
		if e.NArgs > 0 {
			w.WriteString("(")
			for j, r := range f.EdgeArgs(e) {
				if j > 0 {
					w.WriteString(", ")
				}
				w.WriteString(f.RegString(r))
			}
			w.WriteString(")")
		}
	}
}

// RegString names a register.
func (f *Func) RegString(r Reg) string {
	switch {
	case r == NoReg:
		return "_"
	case r.IsPhys():
		return f.Target.Regs[r].Name
	}
	return fmt.Sprintf("v%d", r.Index())
}

func (f *Func) regDecl(r Reg) string {
	if r.IsPhys() {
		return f.RegString(r)
	}
	return f.RegString(r) + ":" + f.Target.Classes[f.ClassOf(r)].Name
}

// InstString is one instruction without edges and node.
func (f *Func) InstString(i int32) string {
	var defs, uses []string
	d, p := f.Desc(i), f.Payload(i)
	rs := f.InstRegs(i)
	for k, o := range d.Operands {
		switch o.Role {
		case Def:
			defs = append(defs, f.regDecl(rs[k]))
		case Temp:
			uses = append(uses, "tmp "+f.RegString(rs[k]))
		default:
			uses = append(uses, f.RegString(rs[k]))
		}
	}
	if d.HasAddr {
		uses = append(uses, f.addrString(f.Addr(i)))
	} else if p.Label != 0 {
		uses = append(uses, fmt.Sprintf("L%d", p.Label))
	}
	if p.Imm != 0 {
		uses = append(uses, fmt.Sprintf("#%d", p.Imm))
	}
	s := d.Name
	if p.Cond != 0 {
		if f.Target.CondName != nil {
			s += "." + f.Target.CondName(f.Insts[i].Op, p.Cond)
		} else {
			s += fmt.Sprintf(".%d", p.Cond)
		}
	}
	if len(defs) > 0 {
		s = strings.Join(defs, ", ") + " = " + s
	}
	if len(uses) > 0 {
		s += " " + strings.Join(uses, ", ")
	}
	return s
}

func (f *Func) addrString(a Addr) string {
	var parts []string
	if a.Label != 0 {
		parts = append(parts, fmt.Sprintf("L%d", a.Label))
	}
	if a.Slot != 0 {
		parts = append(parts, fmt.Sprintf("slot%d", a.Slot))
	}
	if a.Base != NoReg {
		parts = append(parts, f.RegString(a.Base))
	}
	if a.Index != NoReg {
		parts = append(parts, fmt.Sprintf("%s*%d", f.RegString(a.Index), max(a.Scale, 1)))
	}
	s := strings.Join(parts, " + ")
	switch {
	case s == "":
		s = fmt.Sprintf("%d", a.Disp)
	case a.Disp > 0:
		s += fmt.Sprintf(" + %d", a.Disp)
	case a.Disp < 0:
		s += fmt.Sprintf(" - %d", -int64(a.Disp))
	}
	s = "[" + s + "]"
	if a.Alias != 0 {
		s += fmt.Sprintf("{%d}", a.Alias)
	}
	return s
}
