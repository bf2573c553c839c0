package plan

import (
	"fmt"
	"math/bits"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// region emits the nodes of r for the given parameters and returns its results.
// With lazily set (fusion and map bodies) pointwise tensors stay unevaluated
// until something uses them; otherwise each is computed into work memory. The
// results hold their memory; the caller releases them.
func (e *emitter) region(r graph.RegionID, params []operand, lazily bool) []operand {
	return e.regionInto(r, params, lazily, nil)
}

// regionInto is region with places for some of the results: nodes that compute
// them write there at once.
func (e *emitter) regionInto(r graph.RegionID, params []operand, lazily bool, places map[graph.Ref]*view) []operand {
	outer, outerLast := e.want, e.lastUse
	defer func() { e.want, e.lastUse = outer, outerLast }()
	env := map[graph.Ref]operand{}
	uses := e.g.UseCounts(r)
	for _, n := range e.order(r) {
		restore := e.at(n)
		e.want, e.lastUse = nil, e.lastUses(n, uses)
		for i := range e.g.NumOuts(n) {
			if v := places[graph.Ref{Node: n, Out: int32(i)}]; v != nil {
				e.want = append(e.want, make([]*view, i+1-len(e.want))...)
				e.want[i] = v
			}
		}
		outs := e.node(n, params, env, lazily)
		for i, o := range outs {
			ref := graph.Ref{Node: n, Out: int32(i)}
			if uses[ref] > 0 {
				retain(o)
				env[ref] = o
			} else {
				e.drop(o)
			}
		}
		for _, in := range e.g.Ins(n) {
			if uses[in]--; uses[in] == 0 {
				e.release(env[in])
				delete(env, in)
			}
		}
		restore()
	}
	res := e.g.Results(r)
	out := make([]operand, len(res))
	for i, ref := range res {
		out[i] = env[ref]
		if uses[ref]--; uses[ref] > 0 {
			retain(out[i])
		}
	}
	return out
}

func retain(o operand) { walkAllocs(o, func(a *alloc) { a.refs++ }) }

func (e *emitter) release(o operand) {
	walkAllocs(o, func(a *alloc) {
		if a.refs--; a.refs == 0 {
			e.mem.put(a)
		}
	})
}

// drop frees what nobody will use.
func (e *emitter) drop(o operand) { retain(o); e.release(o) }

func (e *emitter) releaseAll(os []operand) {
	for _, o := range os {
		e.release(o)
	}
}

// walkAllocs visits the work memory behind o. A lazy operand holds each piece
// once, however many paths lead to it.
func walkAllocs(o operand, f func(*alloc)) {
	switch o.kind {
	case inMemory:
		if o.view.alloc != nil {
			f(o.view.alloc)
		}
	case inTuple:
		for _, x := range o.elems {
			walkAllocs(x, f)
		}
	case inLazy:
		for _, a := range o.lazy.allocs {
			f(a)
		}
	}
}

// node emits one node and returns its outputs.
func (e *emitter) node(n graph.NodeID, params []operand, env map[graph.Ref]operand, lazily bool) []operand {
	c, attrs := e.g.Op(n), e.g.Attrs(n)
	ins := make([]operand, len(e.g.Ins(n)))
	for i, r := range e.g.Ins(n) {
		ins[i] = env[r]
	}
	switch c {
	case op.Param:
		return []operand{params[attrs.Int(op.KIndex)]}
	case op.Const:
		return []operand{e.constant(n)}
	case op.Tuple:
		return []operand{{typ: e.outType(n, 0), kind: inTuple, elems: ins}}
	case op.Get:
		return []operand{ins[0].elems[attrs.Int(op.KIndex)]}
	case op.Call:
		return e.unretain(e.region(e.g.Regions(n)[0], ins, lazily))
	case op.Fusion:
		return e.fusion(n, ins, lazily)
	case op.TrapIf:
		return e.trapIf(n, ins[0])
	case op.TrapJoin:
		return e.trapJoin(n, ins)
	}
	if h, ok := e.heavy[c]; ok {
		return h(e, n, ins)
	}
	return e.pointwiseNode(n, ins, lazily)
}

// heavyRule emits a node that is not pointwise: it reads its inputs lazily and
// leaves its outputs in memory or scalars.
type heavyRule func(e *emitter, n graph.NodeID, ins []operand) []operand

func heavyTable() map[op.Code]heavyRule {
	return map[op.Code]heavyRule{
		op.Switch: (*emitter).switchNode, op.Loop: (*emitter).loopNode,
		op.Reduce: (*emitter).reduceNode, op.Dot: (*emitter).dotNode, op.DotGeneral: (*emitter).dotGeneralNode,
		op.Sort: (*emitter).sortNode, op.ArgMin: (*emitter).argNode, op.ArgMax: (*emitter).argNode,
		op.Concat: (*emitter).concatNode, op.Update: (*emitter).updateNode,
	}
}

func (e *emitter) outType(n graph.NodeID, i int) types.Type {
	return e.g.TypeByID(e.g.OutTypes(n)[i])
}

// isPointwise reports whether each element of the node's outputs is computed
// from elements of its inputs alone.
func isPointwise(c op.Code) bool {
	switch c {
	case op.Iota, op.Broadcast, op.Transpose, op.Reshape, op.Slice, op.Gather, op.Map:
		return true
	}
	return c.Info().Class == op.Elementwise
}

func (e *emitter) pointwiseNode(n graph.NodeID, ins []operand, lazily bool) []operand {
	c := e.g.Op(n)
	if !isPointwise(c) {
		panic(fmt.Sprintf("BUG: plan: no lowering of %v", c))
	}
	if c == op.Map {
		return e.mapNode(n, ins, lazily)
	}
	if o, ok := e.viewNode(n, ins); ok {
		if o.typ.Rank() == 0 && o.kind == inMemory {
			// Read at once: what it was read from may be overwritten.
			o = operand{typ: o.typ, kind: inScalar, val: e.eval(o, nil)}
		}
		return []operand{o}
	}
	o := operand{typ: e.outType(n, 0), kind: inLazy, lazy: newLazy(e.next(), n, 0, ins)}
	if o.typ.Rank() == 0 {
		return []operand{e.scalarNode(o)}
	}
	if lazily {
		return []operand{o}
	}
	return e.materialise(o)
}

// scalarNode computes a rank-0 node at once, keeping i64 arithmetic on indices
// affine where it provably stays in range.
func (e *emitter) scalarNode(o operand) operand {
	if a, ok := e.affineNode(o); ok {
		return operand{typ: o.typ, kind: inAffine, aff: a}
	}
	if bits, ok := e.decide(o); ok {
		return e.knownScalar(o.typ, bits)
	}
	return operand{typ: o.typ, kind: inScalar, val: e.eval(o, nil)}
}

func (e *emitter) affineNode(o operand) (affine, bool) {
	if o.typ.DType != types.I64 {
		return affine{}, false
	}
	ins := o.lazy.ins
	for _, x := range ins {
		if x.kind != inAffine || !x.aff.known {
			return affine{}, false
		}
	}
	var a affine
	switch c := e.g.Op(o.lazy.node); c {
	case op.Div, op.Rem:
		return e.affineDivide(c, ins[0].aff, ins[1].aff)
	case op.Add:
		a = ins[0].aff.add(ins[1].aff)
	case op.Sub:
		a = ins[0].aff.add(ins[1].aff.scale(-1))
	case op.Mul:
		switch {
		case ins[0].aff.isConst():
			a = ins[1].aff.scale(ins[0].aff.c)
		case ins[1].aff.isConst():
			a = ins[0].aff.scale(ins[1].aff.c)
		default:
			return a, false
		}
	default:
		return a, false
	}
	return a, a.known && a.lo > -limit && a.hi < limit
}

// affineDivide divides an index that is not negative by a positive constant.
func (e *emitter) affineDivide(c op.Code, x, y affine) (affine, bool) {
	if !y.isConst() || y.c <= 0 || x.lo < 0 || x.lane != 0 {
		return affine{}, false
	}
	switch {
	case c == op.Rem && x.hi < y.c, c == op.Div && y.c == 1:
		return x, true
	case x.hi < y.c:
		return fixed(0), true
	case x.isConst() && c == op.Rem:
		return fixed(x.c % y.c), true
	case x.isConst():
		return fixed(x.c / y.c), true
	}
	if e.rec != nil {
		for _, t := range x.terms {
			e.rec.raw[t.v] = true
		}
	}
	v := e.ix(x)
	shift := int64(bits.TrailingZeros64(uint64(y.c)))
	switch power := y.c == 1<<shift; {
	case c == op.Rem && power:
		return opaque(e.b.Op(lir.And, v, e.b.Ix(y.c-1)), y.c-1), true
	case c == op.Rem:
		return opaque(e.b.Op(lir.RemU, v, e.b.Ix(y.c)), y.c-1), true
	case power:
		return opaque(e.b.Op(lir.ShrU, v, e.b.Ix(shift)), x.hi/y.c), true
	}
	return opaque(e.b.Op(lir.DivU, v, e.b.Ix(y.c)), x.hi/y.c), true
}

// viewNode handles shape ops on memory without moving anything.
func (e *emitter) viewNode(n graph.NodeID, ins []operand) (operand, bool) {
	c, attrs, t := e.g.Op(n), e.g.Attrs(n), e.outType(n, 0)
	if len(ins) == 0 {
		return operand{}, false
	}
	x := ins[0]
	if c == op.Reshape && t.Rank() == 0 && x.typ.Rank() == 0 {
		return x, true
	}
	if c == op.Broadcast && t.Rank() == 0 {
		return x, true
	}
	if x.kind != inMemory {
		return operand{}, false
	}
	v := view{buf: x.view.buf, alloc: x.view.alloc, off: x.view.off, strides: make([]int64, t.Rank())}
	shape := x.typ.Shape()
	switch c {
	case op.Broadcast:
		for i, a := range attrs.Ints(op.KAxes) {
			if shape[i] != 1 {
				v.strides[a] = x.view.strides[i]
			}
		}
	case op.Transpose:
		for i, a := range attrs.Ints(op.KAxes) {
			v.strides[i] = x.view.strides[a]
		}
	case op.Reshape:
		if !x.view.contiguous(shape) {
			return operand{}, false
		}
		v.strides = dense(t.Shape())
	case op.Slice:
		if numElems(shape) == 0 {
			return operand{}, false
		}
		sizes, strides := attrs.Ints(op.KSizes), attrs.Ints(op.KStrides)
		for i := range shape {
			span := (sizes[i]-1)*strides[i] + 1
			start := e.clampIx(ins[1+i], shape[i]-span)
			v.off = v.off.add(start.scale(x.view.strides[i]))
			v.strides[i] = x.view.strides[i] * strides[i]
		}
	default:
		return operand{}, false
	}
	return operand{typ: t, kind: inMemory, view: v}, true
}

// constant places a const node's bytes with the code, or, for an i64 scalar,
// keeps it as an index.
func (e *emitter) constant(n graph.NodeID) operand {
	t := e.outType(n, 0)
	data, err := e.g.ConstBytes(n)
	if err != nil {
		panic("BUG: plan: " + err.Error())
	}
	if t.Rank() == 0 {
		return e.scalarConst(t, data)
	}
	buf, ok := e.consts[n]
	if !ok {
		ix := len(e.out.Module.Consts)
		e.out.Module.Consts = append(e.out.Module.Consts, data)
		buf = e.b.Buf(lir.Buf{Kind: lir.BufConst, Index: ix, Bytes: int64(len(data))})
		e.consts[n] = buf
	}
	return operand{typ: t, kind: inMemory, view: view{buf: buf, strides: dense(t.Shape())}}
}

func (e *emitter) scalarConst(t types.Type, data []byte) operand {
	bits := uint64(0)
	for i := len(data) - 1; i >= 0; i-- {
		bits = bits<<8 | uint64(data[i])
	}
	v := int64(bits)
	if t.DType.IsSigned() {
		shift := 64 - t.DType.Bits()
		v = v << shift >> shift
	}
	if t.DType == types.I64 && v > -limit && v < limit {
		return operand{typ: t, kind: inAffine, aff: fixed(v)}
	}
	return operand{typ: t, kind: inScalar, val: e.b.Const(lirType(t.DType), v)}
}

// fusion emits a fused region as one loop nest: pointwise results of the same
// shape share their loops; a contraction may take the rest as its epilogue.
func (e *emitter) fusion(n graph.NodeID, ins []operand, lazily bool) []operand {
	r := e.g.Regions(n)[0]
	if outs, ok := e.matmulEpilogue(r, ins); ok {
		return outs
	}
	outs := e.region(r, ins, true)
	if lazily {
		return e.unretain(outs)
	}
	res := e.materialise(outs...)
	for i := range outs {
		if outs[i].kind == inLazy {
			e.release(outs[i])
		} else {
			e.unretain(outs[i : i+1])
		}
	}
	return res
}

// unretain gives up the references region holds on its results, the memory
// being kept by the next owner's retain.
func (e *emitter) unretain(os []operand) []operand {
	for _, o := range os {
		walkAllocs(o, func(a *alloc) { a.refs-- })
	}
	return os
}
