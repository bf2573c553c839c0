package plan

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Sort, concat and update.

// sortNode sorts along an axis by bottom-up merging of runs: stable, no
// recursion, n log n. Keys are compared in total order as integers; the other
// inputs follow the keys.
//
//	runs of w in src -> runs of 2w in dst, then src and dst change places
//
// Two buffers per input serve every row; which of them holds the result follows
// from the number of passes, which is known.
func (e *emitter) sortNode(n graph.NodeID, ins []operand) []operand {
	e.needScalar("a sort")
	attrs := e.g.Attrs(n)
	axis := attrs.Int(op.KAxis)
	shape := ins[0].typ.Shape()
	count := shape[axis]
	out := make([]operand, len(ins))
	for i, x := range ins {
		out[i] = operand{typ: x.typ, kind: inMemory, view: e.allocFor(i, x.typ.DType, shape)}
	}
	if numElems(shape) == 0 {
		return out
	}
	s := &sorter{e: e, n: count, desc: attrs.Int(op.KDescending) == 1, d: ins[0].typ.DType}
	for _, x := range ins {
		size := count * int64(x.typ.DType.Size())
		s.dts = append(s.dts, x.typ.DType)
		s.a, s.b = append(s.a, e.scratch(size)), append(s.b, e.scratch(size))
	}
	ax := []int64{axis}
	e.nest(rest(shape, ax), func(outer []affine) {
		at := func(i affine) []affine { return spread(len(shape), ax, outer, []affine{i}) }
		e.loop(count, func(i affine) {
			for k, x := range ins {
				e.storeAt(s.a[k], s.dts[k], i, e.eval(x, at(i)))
			}
		})
		src := s.sort()
		e.loop(count, func(i affine) {
			for k, o := range out {
				e.storeAt(o.view, s.dts[k], o.view.at(at(i)), e.loadAt(src[k], s.dts[k], i))
			}
		})
	})
	for k := range ins {
		e.free(s.a[k])
		e.free(s.b[k])
	}
	return out
}

type sorter struct {
	e    *emitter
	n    int64
	desc bool
	d    types.DType
	dts  []types.DType
	a, b []view
}

// sort emits the passes and returns the buffers that hold the result.
func (s *sorter) sort() []view {
	src, dst := s.a, s.b
	for w := int64(1); w < s.n; w *= 2 {
		s.pass(src, dst, w)
		src, dst = dst, src
	}
	return src
}

func (s *sorter) load(v view, k int, i lir.Value) lir.Value {
	return s.e.b.Load(lirType(s.dts[k]), memOf(s.dts[k]), lir.Addr{Buf: v.buf, Index: i, Scale: uint8(s.dts[k].Size())})
}

func (s *sorter) store(v view, k int, i, x lir.Value) {
	s.e.b.Store(memOf(s.dts[k]), lir.Addr{Buf: v.buf, Index: i, Scale: uint8(s.dts[k].Size())}, x)
}

// key is what comparisons see of a key element.
func (s *sorter) key(v lir.Value) lir.Value {
	if s.d.IsFloat() {
		return s.e.totalKey(s.d, v)
	}
	return v
}

// before reports whether the right element must come before the left one;
// equal elements keep their order.
func (s *sorter) before(right, left lir.Value) lir.Value {
	l, r := s.key(left), s.key(right)
	if s.desc {
		l, r = r, l
	}
	if s.d.IsSigned() || s.d.IsFloat() {
		return s.e.op(lir.LtS, r, l)
	}
	return s.e.op(lir.LtU, r, l)
}

// pass merges neighbouring runs of w.
func (s *sorter) pass(src, dst []view, w int64) {
	b := s.e.b
	n := b.Ix(s.n)
	b.For(b.Ix(0), n, 2*w, nil, func(lo lir.Value, _ []lir.Value) []lir.Value {
		least := func(v lir.Value) lir.Value { return b.Op(lir.Select, b.Op(lir.LtS, v, n), v, n) }
		mid := least(b.Op(lir.Add, lo, b.Ix(w)))
		hi := least(b.Op(lir.Add, lo, b.Ix(2*w)))
		s.merge(src, dst, lo, mid, hi)
		return nil
	})
}

// merge: i runs over lo..mid, j over mid..hi, k over lo..hi.
func (s *sorter) merge(src, dst []view, lo, mid, hi lir.Value) {
	b := s.e.b
	one := func(v lir.Value) lir.Value { return b.Op(lir.Add, v, b.Ix(1)) }
	w := b.While([]lir.Value{lo, mid, lo},
		func(c []lir.Value) lir.Value {
			return b.Op(lir.And, b.Op(lir.LtS, c[0], mid), b.Op(lir.LtS, c[1], hi))
		},
		func(c []lir.Value) []lir.Value {
			right := s.before(s.load(src[0], 0, c[1]), s.load(src[0], 0, c[0]))
			from := b.Op(lir.Select, right, c[1], c[0])
			for k := range src {
				s.store(dst[k], k, c[2], s.load(src[k], k, from))
			}
			i := b.Op(lir.Select, right, c[0], one(c[0]))
			j := b.Op(lir.Select, right, one(c[1]), c[1])
			return []lir.Value{i, j, one(c[2])}
		})
	copyRun := func(from, to, at lir.Value) lir.Value {
		r := b.While([]lir.Value{from, at},
			func(c []lir.Value) lir.Value { return b.Op(lir.LtS, c[0], to) },
			func(c []lir.Value) []lir.Value {
				for k := range src {
					s.store(dst[k], k, c[1], s.load(src[k], k, c[0]))
				}
				return []lir.Value{one(c[0]), one(c[1])}
			})
		return r[1]
	}
	at := copyRun(w[0], mid, w[2])
	copyRun(w[1], hi, at)
}

func (e *emitter) concatNode(n graph.NodeID, ins []operand) []operand {
	e.needScalar("a concatenation")
	t := e.outType(n, 0)
	axis := e.g.Attrs(n).Int(op.KAxis)
	out := operand{typ: t, kind: inMemory, view: e.allocFor(0, t.DType, t.Shape())}
	at := int64(0)
	for _, x := range ins {
		v := out.view
		v.off = fixed(at * v.strides[axis])
		e.copyTo(x, v)
		at += x.typ.Shape()[axis]
	}
	return []operand{out}
}

// updateNode writes the window over the first input, or over a copy of it.
func (e *emitter) updateNode(n graph.NodeID, ins []operand) []operand {
	e.needScalar("an update")
	t := e.outType(n, 0)
	x, u := ins[0], ins[1]
	if t.Rank() == 0 {
		return []operand{{typ: t, kind: inScalar, val: e.eval(u, nil)}}
	}
	out := x
	if !e.donatable(0, x) {
		out = operand{typ: t, kind: inMemory, view: e.allocFor(0, t.DType, t.Shape())}
		e.copyTo(x, out.view)
	}
	v := out.view
	for i, d := range t.Shape() {
		start := e.clampIx(ins[2+i], d-u.typ.Shape()[i])
		v.off = v.off.add(start.scale(v.strides[i]))
	}
	e.copyTo(u, v)
	return []operand{out}
}
