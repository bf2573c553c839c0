package plan

import (
	"fmt"
	"strings"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/elem"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// lazy is a pointwise node whose elements are computed where they are used:
// this is how a fusion's intermediates never reach memory.
type lazy struct {
	id   int // distinguishes instances in memo keys
	node graph.NodeID
	out  int32
	ins  []operand

	allocs []*alloc // distinct work memory behind ins
}

func newLazy(id int, node graph.NodeID, out int32, ins []operand) *lazy {
	l := &lazy{id: id, node: node, out: out, ins: ins}
	seen := map[*alloc]bool{}
	for _, x := range ins {
		walkAllocs(x, func(a *alloc) {
			if !seen[a] {
				seen[a] = true
				l.allocs = append(l.allocs, a)
			}
		})
	}
	return l
}

// eval returns the element of o at idx: an SSA value, in vector code one that
// varies by lane where idx does.
func (e *emitter) eval(o operand, idx []affine) lir.Value {
	switch o.kind {
	case inScalar:
		return o.val
	case inAffine:
		return e.affineI64(o.aff)
	case inMemory:
		return e.loadAt(o.view, o.typ.DType, o.view.at(idx))
	case inLazy:
		return e.evalLazy(o, idx)
	}
	panic("BUG: plan: element of a tuple")
}

// affineI64 materialises an index expression as an i64 value.
func (e *emitter) affineI64(a affine) lir.Value {
	if e.rec != nil {
		for _, t := range a.terms {
			e.rec.raw[t.v] = true
		}
	}
	v := lir.NoValue
	for _, t := range a.terms {
		x := e.b.Conv(lir.IxToI64, lir.TI64, t.v)
		if t.coef != 1 {
			x = e.b.Op(lir.Mul, x, e.b.I64(t.coef))
		}
		if v == lir.NoValue {
			v = x
		} else {
			v = e.b.Op(lir.Add, v, x)
		}
	}
	switch {
	case v == lir.NoValue:
		v = e.b.I64(a.c)
	case a.c != 0:
		v = e.b.Op(lir.Add, v, e.b.I64(a.c))
	}
	if a.lane != 0 && e.lanes > 1 {
		t := lir.Vec(lir.I64, e.lanes)
		e.hasVec(lir.LaneIx, lir.I64, lir.None, e.lanes)
		l := e.b.LaneIx(t)
		if a.lane != 1 {
			l = e.op(lir.Mul, l, e.k(l, a.lane))
		}
		v = e.op(lir.Add, l, v)
	}
	return v
}

func (e *emitter) evalLazy(o operand, idx []affine) lir.Value {
	l := o.lazy
	if e.epi != nil && l.id == e.epi.id {
		if k := lazyKey(0, 0, idx); k != e.epi.key {
			panic("BUG: plan: epilogue reads " + k + " of its contraction at " + e.epi.key)
		}
		return e.epi.val
	}
	key := lazyKey(l.id, l.out, idx)
	if v, ok := e.lookup(key); ok {
		return v
	}
	defer e.at(l.node)()
	v := e.element(o, idx)
	e.remember(key, v)
	return v
}

func lazyKey(id int, out int32, idx []affine) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%d.%d@", id, out)
	for _, a := range idx {
		key.WriteString(a.key())
		key.WriteByte(';')
	}
	return key.String()
}

// element computes one element of a pointwise node.
func (e *emitter) element(o operand, idx []affine) lir.Value {
	l := o.lazy
	attrs := e.g.Attrs(l.node)
	c := e.g.Op(l.node)
	if c.Info().Class == op.Elementwise {
		a := elem.Args{Out: o.typ.DType, Attrs: attrs, In: l.ins[0].typ.DType}
		if c == op.Select {
			a.In = l.ins[1].typ.DType
		}
		for _, x := range l.ins {
			a.X = append(a.X, e.eval(x, idx))
		}
		return e.elementwise(c, a)
	}
	switch c {
	case op.Iota:
		a := idx[attrs.Int(op.KAxis)]
		v := e.iota(a, o.typ.DType)
		return v
	case op.Broadcast:
		return e.eval(l.ins[0], broadcastIndex(l.ins[0].typ, o.typ, attrs.Ints(op.KAxes), idx))
	case op.Transpose:
		in := make([]affine, len(idx))
		for i, a := range attrs.Ints(op.KAxes) {
			in[a] = idx[i]
		}
		return e.eval(l.ins[0], in)
	case op.Reshape:
		return e.eval(l.ins[0], e.reshapeIndex(l.ins[0].typ.Shape(), o.typ.Shape(), idx))
	case op.Slice:
		return e.sliceElement(o, attrs, idx)
	case op.Gather:
		return e.gatherElement(o, attrs, idx)
	case op.Map:
		return e.mapElement(o, attrs, idx)
	}
	panic(fmt.Sprintf("BUG: plan: %v is not pointwise", c))
}

func (e *emitter) iota(a affine, d types.DType) lir.Value {
	if e.lanes > 1 && a.lane != 0 && lirType(d).Elem.Size() == 4 {
		if e.rec != nil {
			for _, t := range a.terms {
				e.rec.raw[t.v] = true
			}
		}
		base := a
		base.lane = 0
		b := e.b.Conv(lir.IxToI32, lir.TI32, e.ix(base))
		e.hasVec(lir.LaneIx, lir.I32, lir.None, e.lanes)
		lanes := e.b.LaneIx(lir.Vec(lir.I32, e.lanes))
		if a.lane != 1 {
			lanes = e.op(lir.Mul, lanes, e.k(lanes, a.lane))
		}
		v := e.op(lir.Add, lanes, b)
		if a.known && a.hi < 1<<31 {
			return e.convertIota(types.I32, d, v)
		}
		e.failVec("a long iota")
	}
	v := e.affineI64(a)
	return e.convertIota(types.I64, d, v)
}

func (e *emitter) convertIota(from, to types.DType, v lir.Value) lir.Value {
	if from == to || (wide(from) && wide(to)) || (from == types.I32 && to == types.U32) {
		return v
	}
	return e.convert(from, to, v)
}

func broadcastIndex(in, out types.Type, axes []int64, idx []affine) []affine {
	res := make([]affine, in.Rank())
	for i, a := range axes {
		if in.Dims[i] == types.Num(1) && out.Dims[a] != types.Num(1) {
			res[i] = fixed(0)
		} else {
			res[i] = idx[a]
		}
	}
	return res
}

// reshapeIndex maps an index of shape out to one of shape in. Axes of size 1
// that come or go cost nothing; otherwise the index goes through the linear
// one and, unless a group of axes merges into one, divisions.
func (e *emitter) reshapeIndex(in, out []int64, idx []affine) []affine {
	res := make([]affine, len(in))
	i, o := 0, 0
	for i < len(in) || o < len(out) {
		// Take the shortest run of axes on both sides with equal products.
		i0, o0 := i, o
		pi, po := int64(1), int64(1)
		for {
			for i < len(in) && (pi < po || in[i] == 1) && (pi < po || pi == 1) {
				pi *= in[i]
				i++
			}
			for o < len(out) && (po < pi || out[o] == 1) && (po < pi || po == 1) {
				po *= out[o]
				o++
			}
			if pi == po && (pi > 1 || i == len(in) && o == len(out)) {
				break
			}
			if pi == po { // both 1: start with the next axis that is not
				if i < len(in) {
					pi *= in[i]
					i++
				} else {
					po *= out[o]
					o++
				}
			}
		}
		e.reshapeGroup(in[i0:i], out[o0:o], idx[o0:o], res[i0:i])
	}
	return res
}

// reshapeGroup maps one run of axes with equal products.
func (e *emitter) reshapeGroup(in, out []int64, idx, res []affine) {
	big := -1
	n := 0
	for i, d := range in {
		res[i] = fixed(0)
		if d != 1 {
			big, n = i, n+1
		}
	}
	if n == 0 {
		return
	}
	lin := fixed(0)
	st := dense(out)
	for k := range out {
		lin = lin.add(idx[k].scale(st[k]))
	}
	if n == 1 {
		res[big] = lin
		return
	}
	if lin.isConst() {
		c := lin.c
		ist := dense(in)
		for i, d := range in {
			res[i] = fixed(c / ist[i] % d)
		}
		return
	}
	if lin.lane != 0 {
		e.needScalar("an index through division")
	}
	if e.rec != nil {
		for _, t := range lin.terms {
			e.rec.raw[t.v] = true
		}
	}
	v := e.ix(lin)
	for i := len(in) - 1; i >= 0; i-- {
		if in[i] == 1 {
			continue
		}
		d := e.b.Ix(in[i])
		first := true
		for k := range i {
			first = first && in[k] == 1
		}
		if first {
			res[i] = opaque(v, in[i]-1)
			return
		}
		res[i] = opaque(e.b.Op(lir.RemU, v, d), in[i]-1)
		v = e.b.Op(lir.DivU, v, d)
	}
}

// clampIx clamps an integer scalar operand into [0, hi] as an index.
func (e *emitter) clampIx(o operand, hi int64) affine {
	if hi <= 0 {
		return fixed(0)
	}
	if o.kind == inAffine && o.aff.known {
		switch {
		case o.aff.lo >= 0 && o.aff.hi <= hi:
			return o.aff
		case o.aff.isConst():
			return fixed(min(max(o.aff.c, 0), hi))
		}
	}
	return e.clampValue(o.typ.DType, e.eval(o, nil), hi)
}

func (e *emitter) clampValue(d types.DType, v lir.Value, hi int64) affine {
	if e.isVec(v) {
		e.failVec("an index that differs by lane")
	}
	v = e.to64(d, v)
	top := e.b.I64(hi)
	if d == types.U64 {
		v = e.b.Op(lir.Select, e.b.Op(lir.LtU, top, v), top, v)
	} else {
		zero := e.b.I64(0)
		v = e.b.Op(lir.Select, e.b.Op(lir.LtS, top, v), top, v)
		v = e.b.Op(lir.Select, e.b.Op(lir.LtS, v, zero), zero, v)
	}
	return opaque(e.b.Conv(lir.I64ToIx, lir.TIx, v), hi)
}

// sliceElement: starts are scalars of the enclosing scope.
func (e *emitter) sliceElement(o operand, attrs op.Attrs, idx []affine) lir.Value {
	l := o.lazy
	x := l.ins[0]
	shape, sizes, strides := x.typ.Shape(), attrs.Ints(op.KSizes), attrs.Ints(op.KStrides)
	if numElems(shape) == 0 {
		return e.zero(o.typ.DType)
	}
	in := make([]affine, len(idx))
	for i := range idx {
		span := (sizes[i]-1)*strides[i] + 1
		in[i] = e.clampIx(l.ins[1+i], shape[i]-span).add(idx[i].scale(strides[i]))
	}
	return e.eval(x, in)
}

func (e *emitter) zero(d types.DType) lir.Value { return e.b.Const(lirType(d), 0) }

func (e *emitter) gatherElement(o operand, attrs op.Attrs, idx []affine) lir.Value {
	l := o.lazy
	x, ix := l.ins[0], l.ins[1]
	axis, r := int(attrs.Int(op.KAxis)), ix.typ.Rank()
	n := x.typ.Shape()[axis]
	if n == 0 {
		return e.zero(o.typ.DType)
	}
	in := append([]affine{}, idx[:axis]...)
	if ix.kind == inAffine {
		in = append(in, e.clampIx(ix, n-1))
	} else {
		in = append(in, e.clampValue(ix.typ.DType, e.eval(ix, idx[axis:axis+r]), n-1))
	}
	in = append(in, idx[axis+r:]...)
	return e.eval(x, in)
}

// mapElement computes one element of a map's output by running its region at
// the index. The other results of the same index are remembered.
func (e *emitter) mapElement(o operand, attrs op.Attrs, idx []affine) lir.Value {
	l := o.lazy
	n := len(attrs.Ints(op.KDims))
	res := e.mapBody(l.node, l.ins, idx[:n])
	v := e.eval(res[l.out], idx[n:])
	if len(idx) == n {
		for i, r := range res {
			if i != int(l.out) && r.typ.Rank() == 0 && r.kind != inTuple {
				e.remember(lazyKey(l.id, int32(i), idx), e.eval(r, nil))
			}
		}
	}
	e.releaseAll(res)
	return v
}

// mapBody runs the region of a map at an index.
func (e *emitter) mapBody(node graph.NodeID, ins []operand, idx []affine) []operand {
	params := make([]operand, 0, len(idx)+len(ins))
	for _, a := range idx {
		params = append(params, operand{typ: types.Scalar(types.I64), kind: inAffine, aff: a})
	}
	params = append(params, ins...)
	return e.region(e.g.Regions(node)[0], params, true)
}
