package plan

import (
	"math"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/elem"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Reductions in the order of docs/spec/numerics.md: chunks of 4096, 64 lanes
// left-folding elements 64 apart, lanes combined by halving, chunk results
// reduced by the same rule.
//
//	element  0 1 2 ... 63 | 64 65 ... 127 | ...      lane = element mod 64
//	          \_ V vectors of L lanes _/              64 = V*L accumulators
//
// A lane without an element is absent. Every lane starts from the identity of
// the combination instead (-0 for a float sum, 1 for a product, ...), which
// leaves each first element exactly as it is, so that absent lanes need no
// tests.
const (
	chunkLen = 4096
	numLanes = 64
)

// fold is one combination: its identity as lane bits and its step.
type fold struct {
	d        types.DType // accumulator dtype
	identity int64
	anyOrder bool // the result does not depend on the order
	combine  func(e *emitter, a, b lir.Value) lir.Value
}

func foldOf(k op.ReduceKind, d types.DType) fold {
	f := fold{d: d}
	code := map[op.ReduceKind]op.Code{op.Sum: op.Add, op.Prod: op.Mul, op.RMin: op.Min, op.RMax: op.Max, op.RAnd: op.And, op.ROr: op.Or, op.RXor: op.Xor}[k]
	f.combine = func(e *emitter, a, b lir.Value) lir.Value {
		return e.elementwise(code, elem.Args{In: d, Out: d, X: []lir.Value{a, b}})
	}
	f.identity = identityBits(k, d)
	f.anyOrder = !d.IsFloat() || k == op.RMin || k == op.RMax
	return f
}

// identityBits is the value that combining with changes nothing.
func identityBits(k op.ReduceKind, d types.DType) int64 {
	if d.IsFloat() {
		v := map[op.ReduceKind]float64{op.Sum: math.Copysign(0, -1), op.Prod: 1, op.RMin: math.Inf(1), op.RMax: math.Inf(-1)}[k]
		return floatBits(d, v)
	}
	lo, hi := int64(0), uint64(1)
	if d != types.Bool {
		lo, hi = intRange(d)
	}
	switch k {
	case op.Prod:
		return 1
	case op.RMin:
		return int64(hi)
	case op.RMax:
		return lo
	case op.RAnd:
		if d.IsSigned() {
			return -1
		}
		return int64(hi)
	}
	return 0
}

// emptyBits is the result of reducing nothing.
func emptyBits(k op.ReduceKind, d types.DType) int64 {
	if k == op.Sum {
		return 0
	}
	return identityBits(k, d)
}

func floatBits(d types.DType, v float64) int64 {
	if d == types.F32 {
		return int64(math.Float32bits(float32(v)))
	}
	return int64(math.Float64bits(v))
}

// series is a sequence of elements to be folded. step accumulates element i
// (or, in vector code, the lanes from i) into acc.
type series struct {
	fold
	n    int64
	step func(i affine, acc lir.Value) lir.Value
	// first is what step gives for the identity.
	first func(i affine) lir.Value
	// ragged does the same for the last p < lanes elements from i, in vector code.
	ragged func(i affine, p int64, acc lir.Value) lir.Value
}

func (e *emitter) reduceNode(n graph.NodeID, ins []operand) []operand {
	attrs := e.g.Attrs(n)
	x := ins[0]
	kind, ax := op.ReduceKind(attrs.Int(op.KKind)), attrs.Ints(op.KAxes)
	f := foldOf(kind, x.typ.DType)
	shape := x.typ.Shape()
	red := pick(shape, ax)
	count := numElems(red)
	initially := func(v lir.Value) lir.Value {
		if len(ins) == 2 {
			v = f.combine(e, e.eval(ins[1], nil), v)
		}
		return v
	}
	seriesAt := func(outer []affine) series {
		return e.elements(f, count, func(i affine) lir.Value {
			return e.eval(x, spread(len(shape), ax, outer, e.reshapeIndex(red, []int64{count}, []affine{i})))
		})
	}
	if outs, ok := e.byColumns(n, shape, ax, columns{f: f, count: count, at: seriesAt, finish: initially}); ok {
		return outs
	}
	return e.perOutput(n, shape, ax, func(outer []affine) lir.Value {
		var v lir.Value
		if count == 0 {
			v = e.b.Const(lirType(f.d), emptyBits(kind, f.d))
			if len(ins) == 2 {
				v = e.eval(ins[1], nil)
			}
			return v
		}
		at := func(idx []affine) lir.Value { return e.eval(x, spread(len(shape), ax, outer, idx)) }
		s := seriesAt(outer)
		switch {
		case e.hasVectorForm(f, s):
			v = e.foldSeries(f, s)
		case e.fewElements(s):
			v = e.unrolled(f, s)
		case f.anyOrder:
			v = e.inTurn(f, red, at)
		default:
			v = e.foldSeries(f, s)
		}
		return initially(v)
	})
}

// hasVectorForm reports whether a chunk of the series can be folded in vectors.
func (e *emitter) hasVectorForm(f fold, s series) bool {
	if e.rec != nil || f.d == types.Bool {
		return false
	}
	n := min(s.n, chunkLen)
	for _, size := range []int{4, 8} {
		lanes := e.tgt.VecBytes / size
		if lanes >= 2 && lirType(f.d).Elem.Size() <= size && n >= int64(lanes) &&
			e.can(lanes, func() { e.vectorChunk(f, s, fixed(0), n, int64(lanes)) }) {
			return true
		}
	}
	return false
}

// A reduction of few elements, each cheap, is written out.
const fewest, unrolledWeight = 16, 400

func (e *emitter) fewElements(s series) bool {
	return s.n <= fewest && e.weight(func() { s.first(fixed(0)) })*s.n <= unrolledWeight
}

// unrolled folds the lanes of a short series in registers: lane i with lane i+h,
// h halving, the lanes past the end being absent.
func (e *emitter) unrolled(f fold, s series) lir.Value {
	return e.halve(f, int(s.n), func(i int64) lir.Value { return s.first(fixed(i)) })
}

// inTurn folds where any order gives the same bits: one accumulator, plain loops
// over the reduced axes.
func (e *emitter) inTurn(f fold, red []int64, at func(idx []affine) lir.Value) lir.Value {
	idx := make([]affine, len(red))
	var level func(d int, acc lir.Value) lir.Value
	level = func(d int, acc lir.Value) lir.Value {
		if d == len(red) {
			return f.combine(e, acc, at(append([]affine{}, idx...)))
		}
		return e.carry(0, red[d], 1, []lir.Value{acc}, func(i affine, c []lir.Value) []lir.Value {
			idx[d] = i
			return []lir.Value{level(d+1, c[0])}
		})[0]
	}
	return level(0, e.b.Const(lirType(f.d), f.identity))
}

// elements is the series of a plain reduction.
func (e *emitter) elements(f fold, n int64, elem func(i affine) lir.Value) series {
	return series{fold: f, n: n,
		first: elem,
		step:  func(i affine, acc lir.Value) lir.Value { return f.combine(e, acc, elem(i)) },
		ragged: func(i affine, p int64, acc lir.Value) lir.Value {
			v := e.raggedLoad(f.d, f.identity, p, func(k int64) lir.Value { return elem(i.plus(k)) }, int(e.b.TypeOf(acc).Lanes))
			return f.combine(e, acc, v)
		}}
}

// raggedLoad makes a vector of p computed elements, the other lanes being pad.
func (e *emitter) raggedLoad(d types.DType, pad int64, p int64, elem func(k int64) lir.Value, lanes int) lir.Value {
	t := lir.Vec(lirType(d).Elem, lanes)
	e.hasVec(lir.Load, t.Elem, lir.None, lanes)
	size := int64(t.Elem.Size())
	buf := e.tail(size * int64(lanes))
	mem := lir.M32 // whole lanes, however narrow the dtype
	if size == 8 {
		mem = lir.M64
	}
	e.b.Store(mem, lir.At(buf, 0), e.b.Const(t, pad))
	for k := range p {
		var v lir.Value
		e.scalarly(func() { v = elem(k) })
		e.b.Store(mem, lir.At(buf, k*size), v)
	}
	return e.b.Load(t, mem, lir.At(buf, 0))
}

// scalarly emits scalar code from within vector code.
func (e *emitter) scalarly(f func()) {
	was := e.lanes
	e.lanes = 1
	defer func() { e.lanes = was }()
	e.scope(f)
}

// pick selects the sizes of axes.
func pick(shape []int64, ax []int64) []int64 {
	out := make([]int64, len(ax))
	for i, a := range ax {
		out[i] = shape[a]
	}
	return out
}

func rest(shape []int64, ax []int64) []int64 {
	var out []int64
	for d := range shape {
		if !containsAxis(ax, d) {
			out = append(out, shape[d])
		}
	}
	return out
}

func containsAxis(ax []int64, d int) bool {
	for _, a := range ax {
		if int(a) == d {
			return true
		}
	}
	return false
}

// spread rebuilds a full index from that of the kept axes and that of the
// reduced ones.
func spread(rank int, ax []int64, outer, inner []affine) []affine {
	idx := make([]affine, rank)
	o, k := 0, 0
	for d := range idx {
		if containsAxis(ax, d) {
			idx[d] = inner[k]
			k++
		} else {
			idx[d] = outer[o]
			o++
		}
	}
	return idx
}

// perOutput emits loops over the axes that are kept and stores what f gives;
// with none kept the result is a scalar.
func (e *emitter) perOutput(n graph.NodeID, shape, ax []int64, f func(outer []affine) lir.Value) []operand {
	e.needScalar(e.g.Op(n).String())
	t := e.outType(n, 0)
	dims := rest(shape, ax)
	if numElems(dims) == 0 {
		return []operand{{typ: t, kind: inMemory, view: e.allocFor(0, t.DType, dims)}}
	}
	if len(dims) == 0 {
		return []operand{{typ: t, kind: inScalar, val: f(nil)}}
	}
	out := e.allocFor(0, t.DType, dims)
	work := numElems(shape) / dims[0]
	e.together(dims[0], work, func(i affine) {
		e.nest(dims[1:], func(in []affine) {
			idx := append([]affine{i}, in...)
			e.storeAt(out, t.DType, out.at(idx), f(idx))
		})
	})
	return []operand{{typ: t, kind: inMemory, view: out}}
}

// foldSeries emits the whole reduction of a series of at least one element.
func (e *emitter) foldSeries(f fold, s series) lir.Value {
	if s.n <= chunkLen {
		return e.chunk(f, s, fixed(0), s.n)
	}
	chunks := (s.n + chunkLen - 1) / chunkLen
	parts := e.scratch(chunks * int64(f.d.Size()))
	defer e.free(parts)
	full := s.n / chunkLen
	e.together(full, chunkLen, func(c affine) {
		e.storeAt(parts, f.d, c, e.chunk(f, s, c.scale(chunkLen), chunkLen))
	})
	if rest := s.n % chunkLen; rest > 0 {
		e.storeAt(parts, f.d, fixed(full), e.chunk(f, s, fixed(full*chunkLen), rest))
	}
	return e.foldSeries(f, e.elements(f, chunks, func(i affine) lir.Value { return e.loadAt(parts, f.d, i) }))
}

// chunk reduces n <= 4096 elements from base.
func (e *emitter) chunk(f fold, s series, base affine, n int64) lir.Value {
	if n == 1 {
		return s.step(base, e.b.Const(lirType(f.d), f.identity))
	}
	var v lir.Value
	if e.rec == nil && f.d != types.Bool {
		for _, size := range []int{4, 8} {
			lanes := e.tgt.VecBytes / size
			if lanes < 2 || lirType(f.d).Elem.Size() > size || n < int64(lanes) {
				continue
			}
			if e.try(lanes, func() { v = e.vectorChunk(f, s, base, n, int64(lanes)) }) {
				return v
			}
		}
	}
	return e.scalarChunk(f, s, base, n)
}

func (e *emitter) vectorChunk(f fold, s series, base affine, n, lanes int64) lir.Value {
	t := lir.Vec(lirType(f.d).Elem, int(lanes))
	e.hasVec(lir.Const, t.Elem, lir.None, int(lanes))
	e.hasVec(lir.LaneDown, t.Elem, lir.None, int(lanes))
	width, together := int64(numLanes), numLanes/lanes
	if e.tgt.MatmulRows*e.tgt.MatmulVecs < manyRegs {
		together = min(together, fewAccumulators)
	}
	if f.anyOrder {
		width = min(width, lanes*fewAccumulators)
	}
	var acc []lir.Value
	for from := int64(0); from < width/lanes; from += together {
		acc = append(acc, e.someLanes(s, base, n, lanes, width, from, min(together, width/lanes-from))...)
	}
	for h := len(acc) / 2; h >= 1; h /= 2 {
		for j := range h {
			acc[j] = f.combine(e, acc[j], acc[j+h])
		}
	}
	v := acc[0]
	for h := int(lanes) / 2; h >= 1; h /= 2 {
		v = f.combine(e, v, e.b.LaneDown(v, h))
	}
	return e.b.Extract(v, 0)
}

// fewAccumulators are enough to hide the latency of an addition, and leave
// registers to compute with.
const fewAccumulators = 8

// someLanes folds rows of width elements into vectors from to from+count of
// the row, for which it gives the accumulators.
func (e *emitter) someLanes(s series, base affine, n, lanes, width, from, count int64) []lir.Value {
	t := lir.Vec(lirType(s.d).Elem, int(lanes))
	full := n - n%width
	at := func(i affine, j int) affine {
		return base.add(i).plus((from + int64(j)) * lanes).inLanes(lanes)
	}
	acc := make([]lir.Value, count)
	for j := range acc {
		if full == 0 {
			acc[j] = e.b.Const(t, s.identity)
		} else if acc[j] = s.first(at(fixed(0), j)); !e.isVec(acc[j]) {
			acc[j] = e.splat(acc[j], int(lanes))
		}
	}
	row := func(i affine, c []lir.Value) []lir.Value {
		next := make([]lir.Value, len(c))
		for j := range c {
			next[j] = s.step(at(i, j), c[j])
		}
		return next
	}
	start := width // the next row to take
	if full-start >= 2*unrollBy*width && e.bodySize(func() { row(fixed(start), acc) }) <= unrollBelow {
		end := full - (full-start)%(unrollBy*width)
		acc = e.carry(start, end, unrollBy*width, acc, func(i affine, c []lir.Value) []lir.Value {
			for u := range int64(unrollBy) {
				c = row(i.plus(u*width), c)
			}
			return c
		})
		for start = end; start < full; start += width {
			acc = row(fixed(start), acc)
		}
	}
	acc = append([]lir.Value{}, e.carry(start, full, width, acc, row)...)
	for j := range acc {
		left := n - full - (from+int64(j))*lanes
		switch {
		case left >= lanes:
			acc[j] = s.step(at(fixed(full), j), acc[j])
		case left > 0:
			acc[j] = s.ragged(base.plus(n-left), left, acc[j])
		}
	}
	return acc
}

// scalarChunk keeps the lanes in work memory.
func (e *emitter) scalarChunk(f fold, s series, base affine, n int64) lir.Value {
	e.needScalar("a reduction")
	used := min(n, numLanes)
	lanes := e.scratch(numLanes * int64(f.d.Size()))
	defer e.free(lanes)
	first := func(i affine) lir.Value { return s.step(base.add(i), e.b.Const(lirType(f.d), f.identity)) }
	e.loop(used, func(i affine) { e.storeAt(lanes, f.d, i, first(i)) })
	rows := n / numLanes
	row := func(r affine, width int64) {
		e.loop(width, func(j affine) {
			acc := e.loadAt(lanes, f.d, j)
			e.storeAt(lanes, f.d, j, s.step(base.add(r.scale(numLanes)).add(j), acc))
		})
	}
	e.carry(1, rows, 1, nil, func(r affine, _ []lir.Value) []lir.Value { row(r, numLanes); return nil })
	if left := n % numLanes; rows >= 1 && left > 0 {
		row(fixed(rows), left)
	}
	for h := int64(numLanes / 2); h >= 1; h /= 2 {
		e.loop(min(h, max(used-h, 0)), func(i affine) {
			e.storeAt(lanes, f.d, i, f.combine(e, e.loadAt(lanes, f.d, i), e.loadAt(lanes, f.d, i.plus(h))))
		})
		used = min(used, h)
	}
	return e.loadAt(lanes, f.d, fixed(0))
}

// dotNode: each lane starts with the rounded product of its first pair, which
// fma(a, b, -0) is, and goes on with fma.
func (e *emitter) dotNode(n graph.NodeID, ins []operand) []operand {
	x, y := ins[0], ins[1]
	ax := []int64{e.g.Attrs(n).Int(op.KAxis)}
	shape := x.typ.Shape()
	f := foldOf(op.Sum, x.typ.DType)
	count := shape[ax[0]]
	seriesAt := func(outer []affine) series {
		at := func(o operand, i affine) lir.Value {
			return e.eval(o, spread(len(shape), ax, outer, []affine{i}))
		}
		return series{fold: f, n: count,
			first: func(i affine) lir.Value { return e.op(lir.FMul, at(x, i), at(y, i)) },
			step:  func(i affine, acc lir.Value) lir.Value { return e.op(lir.FMA, at(x, i), at(y, i), acc) },
			ragged: func(i affine, p int64, acc lir.Value) lir.Value {
				lanes := int(e.b.TypeOf(acc).Lanes)
				// Absent pairs are (-0, 1), whose product -0 changes nothing.
				a := e.raggedLoad(f.d, f.identity, p, func(k int64) lir.Value { return at(x, i.plus(k)) }, lanes)
				b := e.raggedLoad(f.d, floatBits(f.d, 1), p, func(k int64) lir.Value { return at(y, i.plus(k)) }, lanes)
				return e.op(lir.FMA, a, b, acc)
			}}
	}
	same := func(v lir.Value) lir.Value { return v }
	if outs, ok := e.byColumns(n, shape, ax, columns{f: f, count: count, at: seriesAt, finish: same}); ok {
		return outs
	}
	return e.perOutput(n, shape, ax, func(outer []affine) lir.Value {
		if count == 0 {
			return e.zero(f.d)
		}
		return e.foldSeries(f, seriesAt(outer))
	})
}

// argNode scans for the first extreme in total order; a NaN is more extreme
// than anything.
func (e *emitter) argNode(n graph.NodeID, ins []operand) []operand {
	x := ins[0]
	ax := []int64{e.g.Attrs(n).Int(op.KAxis)}
	shape := x.typ.Shape()
	d := x.typ.DType
	least := e.g.Op(n) == op.ArgMin
	signed := d.IsSigned() || d.IsFloat()
	key := func(outer []affine, i affine) lir.Value {
		v := e.eval(x, spread(len(shape), ax, outer, []affine{i}))
		if !d.IsFloat() {
			return v
		}
		k := e.totalKey(d, v)
		if least {
			lo := int64(math.MinInt32)
			if d == types.F64 {
				lo = math.MinInt64
			}
			k = e.sel(e.op(lir.FNe, v, v), e.k(k, lo), k)
		}
		return k
	}
	return e.perOutput(n, shape, ax, func(outer []affine) lir.Value {
		init := []lir.Value{key(outer, fixed(0)), e.b.I64(0)}
		return e.carry(1, shape[ax[0]], 1, init, func(i affine, c []lir.Value) []lir.Value {
			k := key(outer, i)
			p, q := c[0], k // q more extreme than p
			if least {
				p, q = k, c[0]
			}
			var better lir.Value
			if signed {
				better = e.op(lir.LtS, p, q)
			} else {
				better = e.op(lir.LtU, p, q)
			}
			return []lir.Value{e.sel(better, k, c[0]), e.sel(better, e.affineI64(i), c[1])}
		})[1]
	})
}
