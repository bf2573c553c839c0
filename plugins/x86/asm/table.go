package asm

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// row declares one instruction.
//
// enc is "KIND PP.MAP.W OPCODE [/r|/digit|+r] [ib|id|iq] [flags]":
//
//	L 0F AF /r          legacy; an operand-size family gets REX.W at 64 bits
//	VE 66.0F.W0 FE /r   vector, VEX (V) and/or EVEX (E); W01 = VEX W0, EVEX W1
//
// slots names the encoding slot of each operand: R reg, M rm, V vvvv, I
// immediate, 4 is4, O opcode, F fixed. ops lists the operands: v full vector,
// h q o its half, quarter, eighth; x y z fixed; r general 32/64; r8.. m8..
// fixed sizes; bN broadcast; k mask; iN immediate. A leading + is
// read-write, < read-only, > written, ~ a hidden operand; without one the first operand
// is written and the others read. Flag k adds masked forms, mz only zeroing.
type row struct {
	name, enc, slots, ops string
	feat                  Feature
	lat                   uint8
	ports                 Ports
	sem                   string
}

// Table is the expanded instruction table.
type Table struct {
	Forms []*Form
	byKey map[string]*Form
}

// Get returns the form with a key, or panics: keys are written in code.
func (t *Table) Get(key string) *Form {
	f := t.byKey[key]
	if f == nil {
		panic("BUG: no instruction form " + key)
	}
	return f
}

// Find returns the form with a key, or nil.
func (t *Table) Find(key string) *Form { return t.byKey[key] }

// Instructions returns the table, expanded once per process.
var Instructions = sync.OnceValue(build)

func build() *Table {
	t := &Table{byKey: map[string]*Form{}}
	for _, rows := range [][]row{gpRows(), fpRows(), intRows(), moveRows(), maskRows()} {
		for i := range rows {
			for _, f := range expand(&rows[i]) {
				if prev := t.byKey[f.Key]; prev != nil {
					mergeForm(prev, f)
					continue
				}
				f.id = int32(len(t.Forms))
				t.Forms = append(t.Forms, f)
				t.byKey[f.Key] = f
			}
		}
	}
	return t
}

// mergeForm joins the VEX and EVEX encodings of one form declared by two rows.
func mergeForm(a, b *Form) {
	if a.kind != encVector || b.kind != encVector || a.hasVex == b.hasVex ||
		a.opcode != b.opcode || a.opmap != b.opmap || a.pp != b.pp {
		panic("BUG: two rows declare " + a.Key)
	}
	if b.hasEvex {
		a.hasEvex, a.evexW = true, b.evexW
	} else {
		a.hasVex, a.vexW = true, b.vexW
		a.Features = b.Features
	}
	a.NarrowRegs = false
}

var conditions = [16]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

type encSpec struct {
	Form
	vex, evex, maskable, zeroOnly bool
}

func parseEnc(r *row) encSpec {
	e := encSpec{Form: Form{Name: r.name, Lat: r.lat, Ports: r.ports, Sem: r.sem, digit: -1, cc: -1}}
	fs := strings.Fields(r.enc)
	if fs[0] == "L" {
		fs = fs[1:]
	} else {
		e.kind = encVector
		e.vex, e.evex = strings.Contains(fs[0], "V"), strings.Contains(fs[0], "E")
		p := strings.Split(fs[1], ".")
		e.pp = map[string]uint8{"NP": 0, "66": 1, "F3": 2, "F2": 3}[p[0]]
		e.opmap = map[string]uint8{"0F": 1, "0F38": 2, "0F3A": 3}[p[1]]
		if e.opmap == 0 {
			panic("BUG: opcode map of " + r.name)
		}
		switch p[2] {
		case "W0":
		case "W1":
			e.vexW, e.evexW = 1, 1
		case "W01":
			e.evexW = 1
		default:
			panic("BUG: W of " + r.name)
		}
		if len(p) > 3 { // explicit L for mask instructions
			e.vl = p[3][1] - '0'
		}
		fs = fs[2:]
	}
	var bytes []uint8
	for _, f := range fs {
		switch {
		case f == "W":
			e.legacyW = true
		case f == "/r":
			e.modrm = true
		case len(f) == 2 && f[0] == '/':
			e.modrm, e.digit = true, int8(f[1]-'0')
		case f == "+r":
		case f == "ib":
			e.immSize = 1
		case f == "id":
			e.immSize = 4
		case f == "iq":
			e.immSize = 8
		case f == "rel":
			e.kind = encJump
		case f == "k":
			e.maskable = true
		case f == "mz":
			e.maskable, e.zeroOnly = true, true
		case f == "fw":
			e.WritesFlags = true
		case f == "fr":
			e.ReadsFlags = true
		case f == "br":
			e.Branch = true
		case strings.HasPrefix(f, "s8:"):
			e.shortImm = hex8(f[3:])
		default:
			bytes = append(bytes, hex8(f))
		}
	}
	if e.kind == encVector {
		e.opcode = bytes[0]
		return e
	}
	// Legacy: [66|F2|F3] [0F [38]] opcode.
	if len(bytes) > 1 {
		if pp := map[uint8]uint8{0x66: 1, 0xF3: 2, 0xF2: 3}[bytes[0]]; pp != 0 {
			e.pp, bytes = pp, bytes[1:]
		}
	}
	if len(bytes) > 1 && bytes[0] == 0x0F {
		e.opmap, bytes = 1, bytes[1:]
		if len(bytes) > 1 && bytes[0] == 0x38 {
			e.opmap, bytes = 2, bytes[1:]
		}
	}
	if len(bytes) != 1 {
		panic("BUG: opcode of " + r.name)
	}
	e.opcode = bytes[0]
	return e
}

func hex8(s string) uint8 {
	v, err := strconv.ParseUint(s, 16, 8)
	if err != nil {
		panic("BUG: encoding byte " + s)
	}
	return uint8(v)
}

// expand turns a row into its forms.
func expand(r *row) []*Form {
	e := parseEnc(r)
	var toks []string
	if r.ops != "" {
		toks = strings.Split(r.ops, ",")
	}
	if len(toks) != len(r.slots) {
		panic("BUG: operands and slots of " + r.name)
	}
	var out []*Form
	family := func(letter string) bool {
		for _, t := range toks {
			for _, a := range strings.Split(strings.TrimLeft(t, "+<>~"), "/") {
				if a == letter {
					return true
				}
			}
		}
		return false
	}
	switch {
	case family("v"):
		for vl := uint8(0); vl < 3; vl++ {
			out = append(out, expandAlts(r, e, toks, vl, 0)...)
		}
	case family("r"), family("m"):
		for _, size := range []uint8{4, 8} {
			out = append(out, expandAlts(r, e, toks, e.vl, size)...)
		}
	default:
		vl := e.vl
		for _, t := range toks { // y and z fix the vector length
			for _, a := range strings.Split(strings.TrimLeft(t, "+<>~"), "/") {
				vl = max(vl, map[string]uint8{"y": 1, "z": 2}[a])
			}
		}
		out = expandAlts(r, e, toks, vl, 0)
	}
	return out
}

func expandAlts(r *row, e encSpec, toks []string, vl, gp uint8) []*Form {
	alts := [][]string{nil}
	for _, t := range toks {
		prefix := ""
		for t != "" && strings.ContainsRune("+<>~", rune(t[0])) {
			prefix, t = prefix+t[:1], t[1:]
		}
		var next [][]string
		for _, a := range strings.Split(t, "/") {
			for _, head := range alts {
				next = append(next, append(append([]string(nil), head...), prefix+a))
			}
		}
		alts = next
	}
	var out []*Form
	for _, ops := range alts {
		modes := []MaskMode{MaskNone}
		if e.evex && e.maskable {
			modes = append(modes, MaskZero)
			if !e.zeroOnly {
				modes = append(modes, MaskMerge)
			}
		}
		for _, m := range modes {
			if f := makeForm(r, e, ops, vl, gp, m); f != nil {
				out = append(out, f)
			}
		}
	}
	return out
}

func makeForm(r *row, e encSpec, toks []string, vl, gp uint8, mask MaskMode) *Form {
	f := e.Form
	f.vl, f.Mask = vl, mask
	f.hasVex, f.hasEvex = e.vex && vl < 2 && mask == MaskNone, e.evex
	bcast := false
	var parts []string
	for i, t := range toks {
		o, part := parseOperand(r, t, vl, gp)
		if i == 0 && o.Access == 0 {
			o.Access = Write
		}
		if o.Access == 0 {
			o.Access = Read
		}
		switch r.slots[i] {
		case 'R':
			o.Slot = SlotReg
		case 'M':
			o.Slot = SlotRM
		case 'V':
			o.Slot = SlotV
		case '4':
			o.Slot = SlotIs4
		case 'O':
			o.Slot = SlotOp
		case 'I':
			o.Slot = SlotImm
		case 'J':
			o.Slot = SlotRel
		case 'F':
			o.Slot = SlotFixed
		default:
			panic("BUG: slot of " + r.name)
		}
		if i == 0 && mask == MaskMerge && o.Access == Write && o.Kind == KVec && !strings.Contains(r.name, "blendm") {
			// Blends choose between their two sources instead.
			o.Access = ReadWrite
		}
		if o.Kind == KMem && mask == MaskZero && i == 0 {
			return nil // stores merge
		}
		bcast = bcast || o.Kind == KBcast
		f.Ops = append(f.Ops, o)
		if !o.Hidden {
			parts = append(parts, part)
		}
	}
	if bcast {
		f.hasVex = false
	}
	if f.kind == encVector && !f.hasVex && !f.hasEvex {
		return nil
	}
	// Every row's letter h, q, o at 128 bits keeps an xmm register, so the
	// keys of different lengths never collide.
	f.Key = strings.TrimSpace(r.name + " " + strings.Join(parts, ","))
	f.Key += [3]string{"", "{k}", "{kz}"}[mask]
	f.legacyW = f.legacyW || (f.kind == encLegacy && gp == 8)
	if f.kind == encVector && gp == 8 {
		f.vexW, f.evexW = 1, 1
	}
	f.NarrowRegs = f.kind == encVector && !f.hasEvex
	f.Features = r.feat
	if f.kind == encVector {
		switch {
		case f.hasVex && e.evex:
			f.Features &^= AVX512F | AVX512DQ | AVX512BW | AVX512VL
			fallthrough
		case f.hasVex:
			if f.Features == 0 {
				f.Features = AVX | AVX2
			}
		default:
			f.Features |= AVX512F
			if vl < 2 {
				f.Features |= AVX512VL
			}
		}
	}
	return &f
}

func parseOperand(r *row, t string, vl, gp uint8) (Operand, string) {
	o := Operand{Fixed: NoReg}
	for {
		switch t[0] {
		case '+':
			o.Access = ReadWrite
		case '<':
			o.Access = Read
		case '>':
			o.Access = Write
		case '~':
			o.Hidden = true
		default:
			goto body
		}
		t = t[1:]
	}
body:
	full := uint8(16) << vl
	vec := func(size uint8) (Operand, string) {
		o.Kind, o.Size = KVec, max(size, 16)
		return o, map[uint8]string{16: "x", 32: "y", 64: "z"}[o.Size]
	}
	mem := func(size uint8) (Operand, string) {
		o.Kind, o.Size = KMem, size
		return o, "m" + strconv.Itoa(int(size)*8)
	}
	switch t {
	case "v":
		return vec(full)
	case "h":
		return vec(full / 2)
	case "q":
		return vec(full / 4)
	case "o":
		return vec(full / 8)
	case "x":
		return vec(16)
	case "y":
		return vec(32)
	case "z":
		return vec(64)
	case "mv":
		return mem(full)
	case "mh":
		return mem(full / 2)
	case "mq":
		return mem(full / 4)
	case "mo":
		return mem(full / 8)
	case "m":
		return mem(gp)
	case "k":
		o.Kind, o.Size = KMask, 8
		return o, "k"
	case "r":
		o.Kind, o.Size = KGP, gp
		return o, "r" + strconv.Itoa(int(gp)*8)
	case "rax", "rdx", "rcx", "cl":
		o.Kind, o.Size = KGP, max(gp, 4)
		o.Fixed = map[string]Reg{"rax": RAX, "rdx": RDX, "rcx": RCX, "cl": RCX}[t]
		if t == "cl" {
			o.Size = 1
		}
		return o, t
	case "rel":
		o.Kind, o.Size = KLabel, 4
		return o, "rel"
	}
	n, err := strconv.Atoi(t[1:])
	if err != nil {
		panic(fmt.Sprintf("BUG: operand %q of %s", t, r.name))
	}
	o.Size = uint8(n / 8)
	switch t[0] {
	case 'r':
		o.Kind = KGP
	case 'm':
		o.Kind = KMem
		return o, t
	case 'b':
		o.Kind = KBcast
		return o, t
	case 'i':
		o.Kind = KImm
		return o, "i"
	default:
		panic(fmt.Sprintf("BUG: operand %q of %s", t, r.name))
	}
	return o, t
}
