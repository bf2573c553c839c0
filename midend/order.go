package midend

import (
	"bytes"
	"context"
	"slices"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

// commutative ops give the same bits either way round (which of two NaNs comes
// out is invisible). The last operand of fma is not among the two.
var commutative = []op.Code{op.Add, op.Mul, op.Min, op.Max, op.And, op.Or, op.Xor, op.FMA, op.AddOverflow, op.MulOverflow}

// orderPass puts the operands of commutative ops into one order: constants
// right, otherwise by digest, so that the order does not depend on insertion.
// a*b and b*a then are one node.
func orderPass(o *optimiser, _ context.Context) regionFunc {
	return o.local(func(_ *graph.Rewriter, _ graph.NodeID, def *graph.NodeDef) ([]graph.Ref, error) {
		if !slices.Contains(commutative, def.Op) && !symmetric(def) {
			return nil, nil
		}
		if o.before(def.Ins[1], def.Ins[0]) {
			ins := slices.Clone(def.Ins)
			ins[0], ins[1] = ins[1], ins[0]
			def.Ins = ins
		}
		return nil, nil
	})
}

func symmetric(def *graph.NodeDef) bool {
	if def.Op != op.Compare {
		return false
	}
	k := op.CompareKind(def.Attrs.Int(op.KKind))
	return k == op.EQ || k == op.NE
}

func (o *optimiser) before(a, b graph.Ref) bool {
	ca, cb := o.constant(a), o.constant(b)
	if ca != cb {
		return cb
	}
	da, db := o.g.Digest(a.Node), o.g.Digest(b.Node)
	if c := bytes.Compare(da[:], db[:]); c != 0 {
		return c < 0
	}
	return a.Out < b.Out
}

// constant reports whether r is a constant or a broadcast of one.
func (o *optimiser) constant(r graph.Ref) bool {
	c := o.g.Op(r.Node)
	if c == op.Broadcast {
		return o.constant(o.g.Ins(r.Node)[0])
	}
	return c == op.Const
}
