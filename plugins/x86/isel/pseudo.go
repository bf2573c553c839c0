package isel

import (
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/plugins/x86/asm"
)

// Condition codes, by their encoding in jcc, setcc and cmovcc.
const (
	ccB  = 2 // below, unsigned
	ccAE = 3
	ccE  = 4
	ccNE = 5
	ccBE = 6
	ccA  = 7
	ccL  = 12 // less, signed
	ccGE = 13
	ccLE = 14
	ccG  = 15

	// Comparing floats sets the parity flag when unordered: equal also needs
	// it clear, unequal is also true when it is set.
	ccOrdered   = 0x10 | ccE
	ccUnordered = 0x20 | ccNE
)

var ccNames = [16]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

func condName(_ mir.Op, c uint8) string {
	s := ccNames[c&15]
	switch {
	case c&0x10 != 0:
		s += "&ordered"
	case c&0x20 != 0:
		s += "|unordered"
	}
	return s
}

// negate returns the opposite condition.
func negate(c uint8) uint8 {
	switch c {
	case ccOrdered:
		return ccUnordered
	case ccUnordered:
		return ccOrdered
	}
	return c ^ 1
}

// pseudo declares an instruction of the machine IR that the emitter expands:
// one row each, like the instruction table.
type pseudo struct {
	name     string
	needs    asm.Feature
	operands []mir.Operand
	hasAddr  bool
	effect   mir.Effect
	memSize  uint16
	term     mir.Term
	lat      uint8
	ports    asm.Ports
	uops     uint8
	remat    bool
	// expand emits the code. Terminators are expanded by emitter.branch, from
	// the comparison alone.
	expand func(e *emitter, x *expansion)
}

// expansion is one allocated pseudo instruction.
type expansion struct {
	r    []asm.Reg // operands, in the order of the row
	imm  int64
	cond uint8
}

// compare is the flag-setting half that branches, sets and moves share.
type compare struct {
	name string
	uses []mir.Operand
	lat  uint8
	emit func(e *emitter, x *expansion, at int)
}

// compares are the ways to set flags. at is the index of the first operand.
var compares = []compare{
	{"cmp32", []mir.Operand{mir.U(gp), mir.U(gp)}, 1, func(e *emitter, x *expansion, at int) {
		e.emit("cmp r32,r32", asm.R(x.r[at]), asm.R(x.r[at+1]))
	}},
	{"cmp64", []mir.Operand{mir.U(gp), mir.U(gp)}, 1, func(e *emitter, x *expansion, at int) {
		e.emit("cmp r64,r64", asm.R(x.r[at]), asm.R(x.r[at+1]))
	}},
	{"cmp32i", []mir.Operand{mir.U(gp)}, 1, func(e *emitter, x *expansion, at int) {
		e.cmpImm(4, x.r[at], x.imm)
	}},
	{"cmp64i", []mir.Operand{mir.U(gp)}, 1, func(e *emitter, x *expansion, at int) {
		e.cmpImm(8, x.r[at], x.imm)
	}},
	{"test32i", []mir.Operand{mir.U(gp)}, 1, func(e *emitter, x *expansion, at int) {
		e.emit("test r32,i", asm.R(x.r[at]), asm.I(x.imm))
	}},
	{"ucomiss", []mir.Operand{mir.U(vec), mir.U(vec)}, 3, func(e *emitter, x *expansion, at int) {
		e.emit("vucomiss x,x", asm.R(x.r[at]), asm.R(x.r[at+1]))
	}},
	{"ucomisd", []mir.Operand{mir.U(vec), mir.U(vec)}, 3, func(e *emitter, x *expansion, at int) {
		e.emit("vucomisd x,x", asm.R(x.r[at]), asm.R(x.r[at+1]))
	}},
}

// pseudos is the table; branches, sets and conditional moves are derived from
// compares.
var pseudos = makePseudos()

func makePseudos() []pseudo {
	ps := []pseudo{
		{name: "jmp", term: mir.TermJump, lat: 1, ports: asm.P6},
		{name: "ret", term: mir.TermRet, operands: []mir.Operand{mir.UFixed(gp, gpReg(asm.RAX))}, lat: 1, ports: asm.P6},
		{name: "zero.gp", operands: []mir.Operand{mir.D(gp)}, lat: 1, ports: asm.PALU, remat: true,
			expand: func(e *emitter, x *expansion) { e.emit("xor r32,r32", asm.R(x.r[0]), asm.R(x.r[0])) }},
		{name: "zero.vec", operands: []mir.Operand{mir.D(vec)}, lat: 1, ports: asm.PVec, remat: true,
			expand: func(e *emitter, x *expansion) {
				e.emit("vxorps x,x,x", asm.R(x.r[0]), asm.R(x.r[0]), asm.R(x.r[0]))
			}},
		{name: "ones.vec", operands: []mir.Operand{mir.D(vec)}, lat: 1, ports: asm.PVec, remat: true,
			expand: func(e *emitter, x *expansion) {
				r := asm.R(x.r[0])
				if e.l.Masks {
					e.emit("vpternlogd z,z,z,i", r, r, r, asm.I(0xff))
				} else {
					e.emit("vpcmpeqd y,y,y", r, r, r)
				}
			}},
		{name: "swap.gp", operands: []mir.Operand{mir.U(gp), mir.U(gp)}, lat: 2, ports: asm.PALU, uops: 3,
			expand: func(e *emitter, x *expansion) { e.emit("xchg r64,r64", asm.R(x.r[0]), asm.R(x.r[1])) }},
		{name: "swap.vec", operands: []mir.Operand{mir.U(vec), mir.U(vec)}, lat: 3, ports: asm.PVec, uops: 3,
			expand: func(e *emitter, x *expansion) {
				key := "vxorps y,y,y"
				if e.l.Masks {
					key = "vpxord z,z,z"
				}
				swapByXor(e, key, x)
			}},
		{name: "swap.mask", needs: asm.AVX512F, operands: []mir.Operand{mir.U(mask), mir.U(mask)}, lat: 3, ports: asm.P0, uops: 3,
			expand: func(e *emitter, x *expansion) { swapByXor(e, "kxorw k,k,k", x) }},
	}
	for _, c := range compares {
		ps = append(ps,
			pseudo{name: c.name + ".br", operands: c.uses, term: mir.TermBranch, lat: c.lat, ports: asm.P0 | asm.P6,
				expand: func(e *emitter, x *expansion) { c.emit(e, x, 0) }},
			pseudo{name: c.name + ".set", operands: append([]mir.Operand{mir.D(gp), mir.T(gp)}, c.uses...), lat: c.lat + 2, ports: asm.PALU, uops: 3,
				expand: func(e *emitter, x *expansion) {
					c.emit(e, x, 2)
					e.setcc(x.cond, x.r[0], x.r[1])
				}},
			pseudo{name: c.name + ".cmov", operands: append([]mir.Operand{mir.DReuse(gp, 1), mir.U(gp), late(mir.U(gp))}, c.uses...),
				lat: c.lat + 1, ports: asm.P0 | asm.P6, uops: 2,
				expand: func(e *emitter, x *expansion) {
					c.emit(e, x, 3)
					e.cmov(x.cond, x.r[0], x.r[2])
				}})
	}
	return ps
}

// late marks a use that is read after the result has been written.
func late(o mir.Operand) mir.Operand { o.Late = true; return o }

func swapByXor(e *emitter, key string, x *expansion) {
	a, b := asm.R(x.r[0]), asm.R(x.r[1])
	e.emit(key, a, a, b)
	e.emit(key, b, a, b)
	e.emit(key, a, a, b)
}

func (e *emitter) cmpImm(size int, r asm.Reg, imm int64) {
	if imm == 0 {
		e.emit(fmt.Sprintf("test r%d,r%d", size*8, size*8), asm.R(r), asm.R(r))
		return
	}
	e.emit(fmt.Sprintf("cmp r%d,i", size*8), asm.R(r), asm.I(imm))
}

// setcc gives 0 or 1 in d; t is scratch.
func (e *emitter) setcc(cond uint8, d, t asm.Reg) {
	e.emit("set"+ccNames[cond&15]+" r8", asm.R(d))
	switch cond {
	case ccOrdered:
		e.emit("setnp r8", asm.R(t))
		e.emit("and r32,r32", asm.R(d), asm.R(t))
	case ccUnordered:
		e.emit("setp r8", asm.R(t))
		e.emit("or r32,r32", asm.R(d), asm.R(t))
	}
	e.emit("movzx r32,r8", asm.R(d), asm.R(d))
}

// cmov replaces d by v if cond holds. ccOrdered is not possible: the lowering
// swaps the values and negates.
func (e *emitter) cmov(cond uint8, d, v asm.Reg) {
	if cond == ccOrdered {
		panic("BUG: conditional move on ordered equality")
	}
	e.emit("cmov"+ccNames[cond&15]+" r64,r64", asm.R(d), asm.R(v))
	if cond == ccUnordered {
		e.emit("cmovp r64,r64", asm.R(d), asm.R(v))
	}
}
