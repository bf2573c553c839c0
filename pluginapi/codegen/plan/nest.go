package plan

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// materialise gives every lazy operand memory of its own; those of one shape
// are computed in one loop nest. Others pass through.
func (e *emitter) materialise(os ...operand) []operand {
	out := append([]operand{}, os...)
	done := make([]bool, len(os))
	for i := range os {
		if done[i] || os[i].kind != inLazy {
			continue
		}
		if os[i].typ.Rank() == 0 {
			out[i] = operand{typ: os[i].typ, kind: inScalar, val: e.eval(os[i], nil)}
			continue
		}
		var srcs []operand
		var dsts []view
		for j := i; j < len(os); j++ {
			if done[j] || os[j].kind != inLazy || !os[j].typ.SameDims(os[i].typ) {
				continue
			}
			done[j] = true
			out[j] = operand{typ: os[j].typ, kind: inMemory, view: e.allocFor(j, os[j].typ.DType, os[j].typ.Shape())}
			srcs, dsts = append(srcs, os[j]), append(dsts, out[j].view)
		}
		e.pointwise(os[i].typ.Shape(), srcs, dsts)
	}
	return out
}

// copyTo stores o, whatever it is, densely into dst.
func (e *emitter) copyTo(o operand, dst view) { e.pointwise(o.typ.Shape(), []operand{o}, []view{dst}) }

// pointwise emits the loop nest dsts[k][i] = srcs[k][i] for every i. Adjacent
// axes that every access walks as one are merged; the innermost loop runs in
// vectors where each access is contiguous or uniform and each operation has a
// vector form, with a scalar remainder.
func (e *emitter) pointwise(dims []int64, srcs []operand, dsts []view) {
	if numElems(dims) == 0 {
		return
	}
	body := func(idx []affine) {
		for k := range srcs {
			v := e.eval(srcs[k], idx)
			e.storeAt(dsts[k], srcs[k].typ.DType, dsts[k].at(idx), v)
		}
	}
	groups := e.mergeable(dims, body)
	outer := groups[:max(len(groups)-1, 0)]
	idx := make([]affine, len(dims))
	for i := range idx {
		idx[i] = fixed(0).claim(dims[i])
	}
	walk := func(g group, i affine) {
		if g.n != dims[g.axis] {
			i = i.claim(dims[g.axis])
		}
		idx[g.axis] = i
	}
	var level func(g int)
	level = func(g int) {
		if g < len(outer) {
			work := int64(1)
			for _, h := range groups[g+1:] {
				work *= h.n
			}
			e.together(outer[g].n, work, func(i affine) { walk(outer[g], i); level(g + 1) })
			return
		}
		if len(groups) == 0 {
			body(append([]affine{}, idx...))
			return
		}
		in := groups[len(groups)-1]
		e.innermost(in.n, func(i affine) {
			walk(in, i)
			body(append([]affine{}, idx...))
		})
	}
	level(0)
}

// innermost emits a loop over [0, n) in vectors, falling back to half as many
// lanes (for 64-bit elements) and to scalars.
func (e *emitter) innermost(n int64, body func(i affine)) {
	if e.lanes == 1 && e.rec == nil {
		for _, size := range []int{4, 8} {
			lanes := e.tgt.VecBytes / size
			if lanes < 2 || n < int64(lanes) {
				continue
			}
			if e.try(lanes, func() { e.vectorLoop(n, int64(lanes), body) }) {
				if rest := n % int64(lanes); rest > 0 {
					e.carry(n-rest, n, 1, nil, func(i affine, _ []lir.Value) []lir.Value { body(i); return nil })
				}
				return
			}
		}
	}
	e.together(n, 1, body)
}

// unrollBelow bounds the statements of a vector body that is repeated in one
// trip, to spread the loop's own cost.
const unrollBelow, unrollBy = 24, 4

func (e *emitter) vectorLoop(n, lanes int64, body func(i affine)) {
	end := n - n%lanes
	one := func(i affine) affine { return i.inLanes(lanes) }
	size := e.bodySize(func() { body(one(fixed(0))) })
	block := lanes * unrollBy
	at := int64(0)
	if size <= unrollBelow && end >= 2*block {
		at = end - end%block
		e.independent(block, func() {
			e.carry(0, at, block, nil, func(i affine, _ []lir.Value) []lir.Value {
				for u := range int64(unrollBy) {
					body(one(i.plus(u * lanes)))
				}
				return nil
			})
		})
	}
	e.independent(lanes, func() {
		e.carry(at, end, lanes, nil, func(i affine, _ []lir.Value) []lir.Value { body(one(i)); return nil })
	})
}

// bodySize counts the statements that f would emit.
func (e *emitter) bodySize(f func()) int {
	mark := e.b.Mark()
	n := e.b.Len()
	e.scope(f)
	n = e.b.Len() - n
	e.b.Reset(mark)
	return n
}

// weight counts the statements that f would emit, nested ones included.
func (e *emitter) weight(f func()) int64 {
	mark, seq := e.b.Mark(), e.seq
	e.scope(f)
	n := int64(e.b.Since(mark))
	e.b.Reset(mark)
	e.seq = seq
	return n
}

// group is a run of axes walked by one loop; axis is its last.
type group struct {
	axis int
	n    int64
}

// mergeable probes the body and groups the axes: axis d joins d+1 where every
// access moves by size[d+1] steps of d+1 for one of d, and no counter is used
// for its own value. In a merged run the last axis counts through all of it and
// the others stay 0, yet every index claims the range of its own axis: what the
// probe decided by those ranges (a clamp left out, a check with a known outcome)
// is true of the axes and is decided the same way again.
func (e *emitter) mergeable(dims []int64, body func(idx []affine)) []group {
	var real []group
	for d, n := range dims {
		if n != 1 {
			real = append(real, group{d, n})
		}
	}
	if len(real) < 2 || e.rec != nil || e.lanes > 1 {
		return real
	}
	rec := &recorder{raw: map[lir.Value]bool{}}
	mark, seq := e.b.Mark(), e.seq
	counters := make([]lir.Value, len(dims))
	idx := make([]affine, len(dims))
	e.rec = rec
	e.scope(func() {
		for d, n := range dims {
			if n == 1 {
				idx[d] = fixed(0)
				continue
			}
			counters[d] = e.b.Ix(0)
			idx[d] = counter(counters[d], n)
		}
		body(append([]affine{}, idx...))
	})
	e.rec = nil
	e.b.Reset(mark)
	e.seq = seq
	var out []group
	for k, g := range real {
		if k > 0 {
			p := &out[len(out)-1]
			if mergeOK(rec, counters[real[k-1].axis], counters[g.axis], g.n) {
				p.axis, p.n = g.axis, p.n*g.n
				continue
			}
		}
		out = append(out, g)
	}
	return out
}

func mergeOK(rec *recorder, outer, inner lir.Value, n int64) bool {
	if rec.raw[outer] || rec.raw[inner] {
		return false
	}
	for _, a := range rec.accesses {
		if a.coef(outer) != a.coef(inner)*n {
			return false
		}
	}
	return true
}

// mapNode: without traps the outputs are pointwise; with traps whose code the
// ranges do not settle, one sequential nest computes outputs and code.
func (e *emitter) mapNode(n graph.NodeID, ins []operand, lazily bool) []operand {
	attrs := e.g.Attrs(n)
	outs := len(e.g.OutTypes(n))
	traps := attrs.Int(op.KTraps) == 1
	if traps {
		outs--
	}
	res := make([]operand, 0, outs+1)
	id := e.next()
	for i := range outs {
		res = append(res, operand{typ: e.outType(n, i), kind: inLazy, lazy: newLazy(id, n, int32(i), ins)})
	}
	if !traps {
		if lazily {
			return res
		}
		return e.materialise(res...)
	}
	dims := attrs.Ints(op.KDims)
	if numElems(dims) == 0 || e.neverTraps(n, ins, dims) {
		if !lazily {
			res = e.materialise(res...)
		}
		return append(res, e.knownScalar(types.Trap(), 0))
	}
	return e.trappingMap(n, ins, res, dims)
}

// neverTraps probes whether the region's trap code is known to be 0.
func (e *emitter) neverTraps(n graph.NodeID, ins []operand, dims []int64) bool {
	mark, seq, lanes := e.b.Mark(), e.seq, e.lanes
	never := false
	e.lanes = 1
	e.scope(func() {
		idx := make([]affine, len(dims))
		for d, k := range dims {
			idx[d] = counter(e.b.Ix(0), k)
		}
		res := e.mapBody(n, ins, idx)
		t := res[len(res)-1]
		never = t.known && t.bits == 0
		e.releaseAll(res)
	})
	e.b.Reset(mark)
	e.seq, e.lanes = seq, lanes
	return never
}

func (e *emitter) trappingMap(n graph.NodeID, ins []operand, outs []operand, dims []int64) []operand {
	e.needScalar("a map with checks")
	res := make([]operand, len(outs))
	for i, o := range outs {
		res[i] = operand{typ: o.typ, kind: inMemory, view: e.allocFor(i, o.typ.DType, o.typ.Shape())}
	}
	var level func(d int, idx []affine, code lir.Value) lir.Value
	level = func(d int, idx []affine, code lir.Value) lir.Value {
		if d < len(dims) {
			return e.carry(0, dims[d], 1, []lir.Value{code}, func(i affine, c []lir.Value) []lir.Value {
				return []lir.Value{level(d+1, append(idx[:d:d], i), c[0])}
			})[0]
		}
		vals := e.mapBody(n, ins, idx)
		for i, o := range res {
			inner := o.typ.Shape()[len(dims):]
			e.nest(inner, func(rest []affine) {
				at := append(append([]affine{}, idx...), rest...)
				e.storeAt(o.view, o.typ.DType, o.view.at(at), e.eval(vals[i], rest))
			})
		}
		code = e.joinCodes(code, e.eval(vals[len(vals)-1], nil))
		e.releaseAll(vals)
		return code
	}
	code := level(0, nil, e.b.I32(0))
	return append(res, operand{typ: types.Trap(), kind: inScalar, val: code})
}
