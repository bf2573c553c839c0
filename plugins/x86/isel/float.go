package isel

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// suffix is the mnemonic ending of a float type.
func suffix(t lir.Type) string {
	switch {
	case t.IsVec() && t.Elem == lir.F32:
		return "ps"
	case t.IsVec():
		return "pd"
	case t.Elem == lir.F32:
		return "ss"
	}
	return "sd"
}

// packed is the packed mnemonic ending; scalars are lane 0 of an xmm.
func packed(t lir.Type) string { return suffix(lir.Vec(t.Elem, 2)) }

func width(t lir.Type) uint8 {
	if t.IsVec() {
		return vecBytes(t)
	}
	return 16
}

// floatStems are the plain three-operand instructions.
var floatStems = map[lir.Op]string{lir.FAdd: "vadd", lir.FSub: "vsub", lir.FMul: "vmul", lir.FDiv: "vdiv"}

func floatOp(lo *lowering, s *lir.Stmt) mir.Reg {
	name := floatStems[s.Op] + suffix(s.Type)
	comm := s.Op == lir.FAdd || s.Op == lir.FMul
	if s.Type.IsVec() {
		return lo.vecBinary(name, s.Type, s.Args[0], s.Args[1], comm)
	}
	a, b := s.Args[0], s.Args[1]
	if comm && lo.foldable(a) && !lo.foldable(b) {
		a, b = b, a
	}
	return lo.scalarLast(name, "x,x,", s.Type, b, lo.use(a))
}

// scalarLast emits a scalar float instruction with its last source in memory
// where possible.
func (lo *lowering) scalarLast(name, shape string, t lir.Type, v lir.Value, regs ...mir.Reg) mir.Reg {
	if m, ok := lo.memOf(v); ok {
		return lo.b.OpMem(lo.node, lo.l.form(name+" "+shape+map[lir.Elem]string{lir.F32: "m32", lir.F64: "m64"}[t.Elem]), m, regs...)
	}
	return lo.b.Op(lo.node, lo.l.form(name+" "+shape+"x"), append(regs, lo.use(v))...)
}

func sqrtOp(lo *lowering, s *lir.Stmt) mir.Reg {
	x := lo.use(s.Args[0])
	if s.Type.IsVec() {
		return lo.b.Op(lo.node, lo.l.vop("vsqrt"+suffix(s.Type), "V,V", vecBytes(s.Type)), x)
	}
	return lo.b.Op(lo.node, lo.l.form("vsqrt"+suffix(s.Type)+" x,x,x"), x, x)
}

// signBit and the rest of a lane.
func signBit(e lir.Elem) int64 {
	if e.Size() == 4 {
		return 1 << 31
	}
	return -1 << 63
}

// bitsVec is the 128-bit or full vector type of integers as wide as t.
func bitsVec(t lir.Type) lir.Type {
	e := lir.I32
	if t.Elem.Size() == 8 {
		e = lir.I64
	}
	return lir.Vec(e, int(width(t))/e.Size())
}

// logic emits a bitwise operation on the lanes of float registers.
func (lo *lowering) logic(op lir.Op, t lir.Type, a, b mir.Reg) mir.Reg {
	return lo.b.Op(lo.node, lo.l.vop(lo.vecIntName(op, bitsVec(t).Elem), "V,V,V", width(t)), a, b)
}

func signOp(lo *lowering, s *lir.Stmt) mir.Reg {
	x := lo.use(s.Args[0])
	sign := signBit(s.Type.Elem)
	if s.Op == lir.FNeg {
		return lo.logic(lir.Xor, s.Type, x, lo.vecConst(bitsVec(s.Type), sign))
	}
	return lo.logic(lir.And, s.Type, x, lo.vecConst(bitsVec(s.Type), ^sign))
}

func copysign(lo *lowering, s *lir.Stmt) mir.Reg {
	t := s.Type
	x, y := lo.use(s.Args[0]), lo.use(s.Args[1])
	m := lo.vecConst(bitsVec(t), signBit(t.Elem))
	if lo.l.Masks { // y where the mask is set, else x
		return lo.b.OpImm(lo.node, lo.l.vop("vpternlogd", "V,V,V,i", width(t)), ternSelectB, m, y, x)
	}
	name := "vandn" + packed(t)
	rest := lo.b.Op(lo.node, lo.l.vop(name, "V,V,V", width(t)), m, x)
	return lo.logic(lir.Or, t, rest, lo.logic(lir.And, t, m, y))
}

// ternSelectB is vpternlog's table for "first ? second : third".
const ternSelectB = 0xca

// minMax: the instructions give the second operand for NaN and for zeros of
// either sign. With a constant in the right place one of them is enough.
// Otherwise both orders are computed and combined: OR of the two minima keeps
// NaN and -0; the maxima need the difference subtracted, or at the AVX-512
// level vrange, which knows the order of the zeros, with NaN put in where an
// operand has it.
func minMax(lo *lowering, s *lir.Stmt) mir.Reg {
	n, t := lo.node, s.Type
	stem := "vmin"
	if s.Op == lir.FMax {
		stem = "vmax"
	}
	if r, ok := lo.minMaxConst(s, stem); ok {
		return r
	}
	a, b := lo.use(s.Args[0]), lo.use(s.Args[1])
	if s.Op == lir.FMin {
		return lo.logic(lir.Or, t, lo.float3(stem, t, a, b), lo.float3(stem, t, b, a))
	}
	if lo.l.Masks {
		k := lo.floatMaskPred(predUnordered, t, a, b)
		r := lo.b.OpImm(n, lo.l.vop("vrange"+packed(t), "V,V,V,i", width(t)), rangeMax, a, b)
		return lo.blend(t, k, lo.vecConst(t, canonBits(t.Elem)), r)
	}
	p, q := lo.float3(stem, t, a, b), lo.float3(stem, t, b, a)
	x := lo.logic(lir.Xor, t, p, q)
	return lo.float3("vsub", t, lo.logic(lir.Or, t, p, x), x)
}

// float3 emits a three-operand float instruction.
func (lo *lowering) float3(stem string, t lir.Type, a, b mir.Reg) mir.Reg {
	if t.IsVec() {
		return lo.b.Op(lo.node, lo.l.vop(stem+suffix(t), "V,V,V", vecBytes(t)), a, b)
	}
	return lo.b.Op(lo.node, lo.l.form(stem+suffix(t)+" x,x,x"), a, b)
}

// minMaxConst handles one operand known not to be NaN: put first, it yields
// to NaN. Of two zeros the other operand is taken, which is wrong only where
// the constant is the zero that should win; max with +0 is mended by adding
// it, min with -0 is left to the general case.
func (lo *lowering) minMaxConst(s *lir.Stmt, stem string) (mir.Reg, bool) {
	c, x := s.Args[0], s.Args[1]
	bits, ok := lo.floatConst(c)
	if !ok {
		c, x = x, c
		if bits, ok = lo.floatConst(c); !ok {
			return 0, false
		}
	}
	t := s.Type
	sign := signBit(t.Elem)
	mag := bits &^ sign
	inf := canonBits(t.Elem) &^ (canonBits(t.Elem) & -canonBits(t.Elem)) // NaN without its quiet bit
	if uint64(mag) > uint64(inf) || s.Op == lir.FMin && mag == 0 && bits != 0 {
		return 0, false
	}
	k, v := lo.use(c), lo.use(x)
	r := lo.float3(stem, t, k, v)
	if s.Op == lir.FMax && bits == 0 {
		r = lo.float3("vadd", t, r, k)
	}
	return r, true
}

// floatConst returns the bits of a constant's lanes.
func (lo *lowering) floatConst(v lir.Value) (int64, bool) {
	s := lo.def[v]
	if s == nil || s.Op != lir.Const || !s.Type.Elem.IsFloat() {
		return 0, false
	}
	if s.Type.Elem == lir.F32 {
		return int64(uint32(s.Imm)), true
	}
	return s.Imm, true
}

// fmaOp chooses the operand order: 231 overwrites the addend, 213 a factor.
// It overwrites what dies here and folds a memory operand.
func fmaOp(lo *lowering, s *lir.Stmt) mir.Reg {
	t := s.Type
	a, b, c := s.Args[0], s.Args[1], s.Args[2]
	suf := suffix(t)
	last := func(order string, v lir.Value, regs ...mir.Reg) mir.Reg {
		if t.IsVec() {
			return lo.vecLast("vfmadd"+order+suf, "V,V", t, vecBytes(t), v, regs...)
		}
		return lo.scalarLast("vfmadd"+order+suf, "x,x,", t, v, regs...)
	}
	if !lo.dies(c) || lo.foldable(c) {
		for _, p := range [2][2]lir.Value{{a, b}, {b, a}} {
			x, y := p[0], p[1]
			if x != y && lo.dies(x) && !lo.foldable(x) && !lo.foldable(y) {
				rx, ry := lo.use(x), lo.use(y)
				return last("213", c, rx, ry)
			}
		}
	}
	if lo.foldable(a) && !lo.foldable(b) {
		a, b = b, a
	}
	rc, ra := lo.use(c), lo.use(a)
	return last("231", b, rc, ra)
}

var roundModes = map[lir.Op]int64{lir.FNearest: 8, lir.FFloor: 9, lir.FCeil: 10, lir.FTrunc: 11}

func roundOp(lo *lowering, s *lir.Stmt) mir.Reg {
	t, x, mode := s.Type, lo.use(s.Args[0]), roundModes[s.Op]
	stem := "vround"
	if lo.l.Masks {
		stem = "vrndscale"
	}
	if t.IsVec() {
		return lo.b.OpImm(lo.node, lo.l.vop(stem+suffix(t), "V,V,i", vecBytes(t)), mode, x)
	}
	return lo.b.OpImm(lo.node, lo.l.form(stem+suffix(t)+" x,x,x,i"), mode, x, x)
}
