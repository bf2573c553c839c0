package isel

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// condition is a comparison ready to be branched on, turned into 0 or 1, or
// used in a conditional move.
type condition struct {
	br, set, cmov mir.Op
	uses          []mir.Reg
	imm           int64
	cond          uint8
}

func (lo *lowering) cond(name string, cc uint8, imm int64, uses ...mir.Reg) condition {
	p := lo.l.pseudo
	return condition{p[name+".br"], p[name+".set"], p[name+".cmov"], uses, imm, cc}
}

// intCond gives the condition of each integer comparison, and the one after
// its operands are swapped.
var intCond = map[lir.Op][2]uint8{
	lir.Eq: {ccE, ccE}, lir.Ne: {ccNE, ccNE},
	lir.LtS: {ccL, ccG}, lir.LtU: {ccB, ccA},
	lir.LeS: {ccLE, ccGE}, lir.LeU: {ccBE, ccAE},
}

// isCompare reports whether s computes a scalar truth value that a consumer
// can take as flags.
func isCompare(s *lir.Stmt) bool {
	switch s.Op {
	case lir.MAny:
		return true
	case lir.FEq, lir.FNe, lir.FLt, lir.FLe:
		return !s.Type.IsVec()
	}
	_, ok := intCond[s.Op]
	return ok && !s.Type.IsVec()
}

// condition returns v, an I32, as a condition: true if it is not 0.
func (lo *lowering) condition(v lir.Value) condition {
	if s := lo.def[v]; s != nil && lo.reg[v] == mir.NoReg && isCompare(s) {
		lo.left[v]--
		return lo.compare(s)
	}
	return lo.cond("cmp32i", ccNE, 0, lo.use(v))
}

// compare consumes the operands of a comparison.
func (lo *lowering) compare(s *lir.Stmt) condition {
	switch s.Op {
	case lir.MAny:
		bits, lanes := lo.maskBits(lo.use(s.Args[0]), s.Type)
		return lo.cond("test32i", ccNE, lanes, bits)
	case lir.FEq, lir.FNe, lir.FLt, lir.FLe:
		name := "ucomiss"
		if s.Type.Elem == lir.F64 {
			name = "ucomisd"
		}
		a, b := lo.use(s.Args[0]), lo.use(s.Args[1])
		switch s.Op {
		case lir.FEq:
			return lo.cond(name, ccOrdered, 0, a, b)
		case lir.FNe:
			return lo.cond(name, ccUnordered, 0, a, b)
		case lir.FLt: // b above a: false when unordered
			return lo.cond(name, ccA, 0, b, a)
		}
		return lo.cond(name, ccAE, 0, b, a)
	}
	cc, a, b := intCond[s.Op][0], s.Args[0], s.Args[1]
	if _, ok := lo.constOf(a); ok {
		cc, a, b = intCond[s.Op][1], b, a
	}
	name := "cmp64"
	if s.Type.Elem == lir.I32 {
		name = "cmp32"
	}
	if imm, ok := lo.imm(b); ok {
		return lo.cond(name+"i", cc, imm, lo.use(a))
	}
	return lo.cond(name, cc, 0, lo.use(a), lo.use(b))
}

// cmp64 compares loop counters.
func (lo *lowering) cmp64(a, b mir.Reg, imm int64, isImm bool) condition {
	if isImm {
		return lo.cond("cmp64i", ccL, imm, a)
	}
	return lo.cond("cmp64", ccL, 0, a, b)
}

// set materialises a condition as 0 or 1.
func (lo *lowering) set(c condition) mir.Reg {
	return lo.b.DefK(lo.b.Emit(lo.node, c.set, mir.Args{Uses: c.uses, Imm: c.imm, Cond: c.cond}), 0)
}

// isBool reports whether v is known to be 0 or 1.
func (lo *lowering) isBool(v lir.Value) bool {
	s := lo.def[v]
	return s != nil && isCompare(s)
}

// selectOp lowers Select.
func selectOp(lo *lowering, s *lir.Stmt) mir.Reg {
	t := s.Type
	switch {
	case t.IsVec():
		if r, ok := lo.intMinMax(s); ok {
			return r
		}
		m := lo.use(s.Args[0])
		return lo.blend(t, m, lo.use(s.Args[1]), lo.use(s.Args[2]))
	case t.Elem.IsFloat():
		return lo.selectFloat(s)
	}
	c := lo.condition(s.Args[0])
	yes, no := lo.use(s.Args[1]), lo.use(s.Args[2])
	if c.cond == ccOrdered {
		c.cond, yes, no = ccUnordered, no, yes
	}
	i := lo.b.Emit(lo.node, c.cmov, mir.Args{Uses: append([]mir.Reg{no, yes}, c.uses...), Imm: c.imm, Cond: c.cond})
	return lo.b.DefK(i, 0)
}

// intMinMax recognises the choice of the smaller or larger of two vectors of
// integers, which is one instruction.
func (lo *lowering) intMinMax(s *lir.Stmt) (mir.Reg, bool) {
	m, x, y := s.Args[0], s.Args[1], s.Args[2]
	c := lo.def[m]
	if c == nil || lo.reg[m] != mir.NoReg || c.Op == lir.Eq || c.Op == lir.Ne || c.Type != s.Type {
		return 0, false
	}
	name := "vpmin"
	switch {
	case c.Args[0] == x && c.Args[1] == y:
	case c.Args[0] == y && c.Args[1] == x:
		name = "vpmax"
	default:
		return 0, false
	}
	if c.Op == lir.LtU || c.Op == lir.LeU {
		name += "u"
	} else {
		name += "s"
	}
	op, ok := lo.l.shape(name+map[int]string{4: "d", 8: "q"}[s.Type.Elem.Size()], "V,V,V", vecBytes(s.Type))
	if !ok {
		return 0, false
	}
	lo.left[m]--
	lo.left[x]--
	lo.left[y]--
	return lo.b.Op(lo.node, op, lo.use(x), lo.use(y)), true
}

// selectFloat turns the condition into a mask without leaving the vector
// unit where it is a float comparison.
func (lo *lowering) selectFloat(s *lir.Stmt) mir.Reg {
	c := s.Args[0]
	var m mir.Reg
	d := lo.def[c]
	if d != nil && lo.reg[c] == mir.NoReg && d.Type.Elem == s.Type.Elem && isCompare(d) && d.Op != lir.MAny {
		lo.left[c]--
		m = lo.floatMask(d.Op, d.Type, lo.use(d.Args[0]), lo.use(d.Args[1]))
	} else {
		var bit mir.Reg
		if lo.isBool(c) {
			bit = lo.use(c)
		} else {
			bit = lo.set(lo.condition(c))
		}
		m = lo.bitMask(s.Type, bit)
	}
	return lo.blend(s.Type, m, lo.use(s.Args[1]), lo.use(s.Args[2]))
}

// bitMask makes a mask for a scalar float from a 0 or 1.
func (lo *lowering) bitMask(t lir.Type, bit mir.Reg) mir.Reg {
	if lo.l.Masks {
		return lo.b.Op(lo.node, lo.l.form("kmovw k,r32"), bit)
	}
	neg := lo.b.Op(lo.node, lo.l.form("neg r64"), bit)
	return lo.b.Op(lo.node, lo.l.form("vmovq x,r64"), neg)
}

// blend chooses a where the mask is set, else b. Scalars are lane 0.
func (lo *lowering) blend(t lir.Type, m, a, b mir.Reg) mir.Reg {
	w := vecBytes(t)
	if !t.IsVec() {
		w = 16
	}
	single := t.Elem.Size() == 4
	if lo.l.Masks {
		name := "vblendmpd"
		if single {
			name = "vblendmps"
		}
		return lo.b.Op(lo.node, lo.l.vop(name, "V,V,V{k}", w), b, a, m)
	}
	name := "vblendvpd"
	if single {
		name = "vblendvps"
	}
	return lo.b.Op(lo.node, lo.l.vop(name, "V,V,V,V", w), b, a, m)
}

// fpPredicate is the immediate of vcmp: quiet, false when unordered, except
// unequal.
var fpPredicate = map[lir.Op]int64{lir.FEq: 0, lir.FNe: 4, lir.FLt: 17, lir.FLe: 18}

const (
	predUnordered = 3
	predOrdered   = 7
	predGE        = 29
)

// floatMask compares two vectors, or two scalars in lane 0.
func (lo *lowering) floatMask(op lir.Op, t lir.Type, a, b mir.Reg) mir.Reg {
	return lo.floatMaskPred(fpPredicate[op], t, a, b)
}

func (lo *lowering) floatMaskPred(pred int64, t lir.Type, a, b mir.Reg) mir.Reg {
	name, w := "vcmppd", uint8(16)
	if t.Elem == lir.F32 {
		name = "vcmpps"
	}
	if t.IsVec() {
		w = vecBytes(t)
	}
	shape := "V,V,V,i"
	if lo.l.Masks {
		shape = "k,V,V,i"
	}
	return lo.b.OpImm(lo.node, lo.l.vop(name, shape, w), pred, a, b)
}

// maskBits moves a mask to a general register; lanes has a bit for each lane,
// others may be set in the register.
func (lo *lowering) maskBits(m mir.Reg, t lir.Type) (bits mir.Reg, lanes int64) {
	lanes = 1<<t.Lanes - 1
	if lo.l.Masks {
		return lo.b.Op(lo.node, lo.l.form("kmovw r32,k"), m), lanes
	}
	name := "vmovmskpd"
	if t.Bits == 32 {
		name = "vmovmskps"
	}
	return lo.b.Op(lo.node, lo.l.vop(name, "r32,V", vecBytes(t)), m), lanes
}

// intPredicate is the immediate of vpcmp.
var intPredicate = map[lir.Op]int64{lir.Eq: 0, lir.LtS: 1, lir.LtU: 1, lir.LeS: 2, lir.LeU: 2, lir.Ne: 4}

// vecCompare lowers a vector comparison to a mask.
func vecCompare(lo *lowering, s *lir.Stmt) mir.Reg {
	t := s.Type
	w, wide := vecBytes(t), t.Elem.Size() == 8
	a := lo.use(s.Args[0])
	if t.Elem.IsFloat() {
		return lo.floatMask(s.Op, t, a, lo.use(s.Args[1]))
	}
	b := lo.use(s.Args[1])
	if lo.l.Masks {
		name := "vpcmpd"
		unsigned := s.Op == lir.LtU || s.Op == lir.LeU
		switch {
		case wide && unsigned:
			name = "vpcmpuq"
		case wide:
			name = "vpcmpq"
		case unsigned:
			name = "vpcmpud"
		}
		return lo.b.OpImm(lo.node, lo.l.vop(name, "k,V,V,i", w), intPredicate[s.Op], a, b)
	}
	eq, gt := lo.l.vop("vpcmpeqd", "V,V,V", w), lo.l.vop("vpcmpgtd", "V,V,V", w)
	sign := int64(-1 << 31)
	if wide {
		eq, gt = lo.l.vop("vpcmpeqq", "V,V,V", w), lo.l.vop("vpcmpgtq", "V,V,V", w)
		sign = -1 << 63
	}
	xor := lo.l.vop("vpxor", "V,V,V", w)
	if s.Op == lir.LtU || s.Op == lir.LeU {
		bias := lo.vecConst(t, sign)
		a, b = lo.b.Op(lo.node, xor, a, bias), lo.b.Op(lo.node, xor, b, bias)
	}
	var m mir.Reg
	switch s.Op {
	case lir.Eq, lir.Ne:
		m = lo.b.Op(lo.node, eq, a, b)
	case lir.LtS, lir.LtU:
		m = lo.b.Op(lo.node, gt, b, a)
	default:
		m = lo.b.Op(lo.node, gt, a, b)
	}
	if s.Op == lir.Ne || s.Op == lir.LeS || s.Op == lir.LeU {
		m = lo.b.Op(lo.node, xor, m, lo.vecConst(t, -1))
	}
	return m
}
