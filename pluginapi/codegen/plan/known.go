package plan

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Facts that index ranges prove: a bounds check inside a map over 0..n has a
// known outcome, so it costs nothing and does not keep the map from being
// vectorised.

func (e *emitter) knownScalar(t types.Type, bits int64) operand {
	return operand{typ: t, kind: inScalar, val: e.b.Const(lirType(t.DType), bits), known: true, bits: bits}
}

// decide returns the value of a rank-0 node where ranges or known operands
// settle it.
func (e *emitter) decide(o operand) (int64, bool) {
	ins := o.lazy.ins
	attrs := e.g.Attrs(o.lazy.node)
	switch c := e.g.Op(o.lazy.node); c {
	case op.Compare:
		if d, ok := difference(ins); ok && ins[0].typ.DType == types.I64 {
			return decideCompare(op.CompareKind(attrs.Int(op.KKind)), d)
		}
	case op.AddOverflow, op.SubOverflow, op.MulOverflow:
		if ins[0].typ.DType != types.I64 {
			return 0, false
		}
		for _, x := range ins {
			if x.kind != inAffine || !x.aff.known {
				return 0, false
			}
		}
		return 0, true // operands within 32 bits
	case op.ConvertOverflow:
		x := ins[0]
		lo, hi := intRange(types.DType(attrs.Int(op.KTo)))
		if x.kind == inAffine && x.aff.known && x.aff.lo >= lo && (x.aff.hi < 0 || uint64(x.aff.hi) <= hi) {
			return 0, true
		}
	case op.And, op.Or:
		if o.typ.DType != types.Bool {
			return 0, false
		}
		absorbing := int64(0)
		if c == op.Or {
			absorbing = 1
		}
		for _, x := range ins {
			if x.known && x.bits == absorbing {
				return absorbing, true
			}
		}
		if ins[0].known && ins[1].known {
			return 1 - absorbing, true
		}
	case op.Not:
		if o.typ.DType == types.Bool && ins[0].known {
			return 1 - ins[0].bits, true
		}
	}
	return 0, false
}

func difference(ins []operand) (affine, bool) {
	for _, x := range ins {
		if x.kind != inAffine || !x.aff.known {
			return affine{}, false
		}
	}
	return ins[0].aff.add(ins[1].aff.scale(-1)), true
}

func decideCompare(k op.CompareKind, d affine) (int64, bool) {
	if !d.known {
		return 0, false
	}
	switch k {
	case op.GT: // a > b is b < a
		return decideCompare(op.LT, d.scale(-1))
	case op.GE:
		return decideCompare(op.LE, d.scale(-1))
	case op.LT:
		return settle(d.hi < 0, d.lo >= 0)
	case op.LE:
		return settle(d.hi <= 0, d.lo > 0)
	case op.EQ:
		return settle(d.lo == 0 && d.hi == 0, d.lo > 0 || d.hi < 0)
	}
	return settle(d.lo > 0 || d.hi < 0, d.lo == 0 && d.hi == 0)
}

func settle(yes, no bool) (int64, bool) {
	if yes {
		return 1, true
	}
	return 0, no
}

// trapIf is the code of a check.
func (e *emitter) trapIf(n graph.NodeID, cond operand) []operand {
	if cond.known && cond.bits == 0 {
		return []operand{e.knownScalar(types.Trap(), 0)}
	}
	c := e.eval(cond, nil)
	if e.isVec(c) {
		e.failVec("a check that differs by lane")
	}
	kind := e.b.I32(int32(e.g.Attrs(n).Int(op.KKind)))
	return []operand{{typ: types.Trap(), kind: inScalar, val: e.b.Op(lir.Select, c, kind, e.b.I32(0))}}
}

func (e *emitter) trapJoin(_ graph.NodeID, ins []operand) []operand {
	a, b := ins[0], ins[1]
	switch {
	case a.known && a.bits == 0:
		return []operand{b}
	case b.known && b.bits == 0:
		return []operand{a}
	}
	return []operand{{typ: types.Trap(), kind: inScalar, val: e.joinCodes(e.eval(a, nil), e.eval(b, nil))}}
}

// joinCodes keeps the left code if it is not 0.
func (e *emitter) joinCodes(a, b lir.Value) lir.Value {
	if e.isVec(a) || e.isVec(b) {
		e.failVec("a check that differs by lane")
	}
	return e.b.Op(lir.Select, a, a, b)
}
