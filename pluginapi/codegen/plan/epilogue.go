package plan

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// epilogue is a contraction whose results the rest of its fusion consumes in
// registers: the contraction's own output never reaches memory.
type epilogue struct {
	node graph.NodeID
	ins  []operand
	id   int       // of the lazy operand that stands for the output
	val  lir.Value // the element being stored
	key  string    // its index
}

// hole is the operand that stands for the contraction's output.
func (p *epilogue) hole(e *emitter, ins []operand) operand {
	p.ins = ins
	for _, x := range ins {
		retain(x)
	}
	p.id = e.next()
	return operand{typ: e.outType(p.node, 0), kind: inLazy, lazy: newLazy(p.id, p.node, 0, nil)}
}

// matmulEpilogue emits a fusion made of one contraction and elementwise users
// of it, if it is one.
func (e *emitter) matmulEpilogue(r graph.RegionID, ins []operand) ([]operand, bool) {
	if e.epi != nil || e.lanes > 1 || e.rec != nil {
		return nil, false
	}
	node, ok := e.epilogueOf(r)
	if !ok {
		return nil, false
	}
	p := &epilogue{node: node}
	e.epi = p
	outs := e.region(r, ins, true)
	e.epi = nil
	c := e.contraction(node, p.ins)
	dims := e.outType(node, 0).Shape()
	res := make([]operand, len(outs))
	for i, o := range outs {
		res[i] = operand{typ: o.typ, kind: inMemory, view: e.allocFor(i, o.typ.DType, dims)}
	}
	mDims, nDims := c.mDims, c.nDims
	c.store = func(b []affine, m, n affine, v lir.Value) {
		mi, ni := e.reshapeIndex(mDims, []int64{c.m}, []affine{m}), e.reshapeIndex(nDims, []int64{c.n}, []affine{n})
		if c.swapped {
			mi, ni = ni, mi
		}
		idx := append(append(append([]affine{}, b...), mi...), ni...)
		e.epi = p
		p.val, p.key = v, lazyKey(0, 0, idx)
		for i, o := range outs {
			e.storeAt(res[i].view, o.typ.DType, res[i].view.at(idx), e.eval(o, idx))
		}
		e.epi = nil
	}
	done := numElems(dims) == 0 || e.contract(c)
	e.releaseAll(outs)
	e.releaseAll(p.ins)
	if !done {
		panic("BUG: plan: an elementwise epilogue has no scalar form")
	}
	return res, true
}

// epilogueOf finds the region's one contraction, if every result is computed
// from it by elementwise ops and nothing else in the region is heavy.
func (e *emitter) epilogueOf(r graph.RegionID) (graph.NodeID, bool) {
	found, n := false, graph.NodeID(0)
	tainted := map[graph.NodeID]bool{}
	for _, x := range e.g.Order(r) {
		c := e.g.Op(x)
		if c == op.DotGeneral {
			if found {
				return 0, false
			}
			found, n = true, x
			tainted[x] = true
			continue
		}
		if _, isHeavy := e.heavy[c]; isHeavy || c == op.Call || c == op.Fusion || c == op.Map {
			return 0, false
		}
		for _, in := range e.g.Ins(x) {
			if tainted[in.Node] {
				if c.Info().Class != op.Elementwise || e.outType(x, 0).Rank() == 0 {
					return 0, false
				}
				tainted[x] = true
			}
		}
	}
	if !found || e.outType(n, 0).Rank() == 0 {
		return 0, false
	}
	for _, x := range e.g.Results(r) {
		if !tainted[x.Node] {
			return 0, false
		}
	}
	return n, true
}
