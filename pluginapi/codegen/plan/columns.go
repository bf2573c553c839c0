package plan

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Reductions that keep the last axis run in vectors of outputs: neighbouring
// columns side by side, each in its own order. The 64 lanes of a column do not
// fit the registers and are taken in passes of J, which lie S = 64/J apart, so
// that the first steps of the halving happen within the pass:
//
//	pass i of S     lanes i, i+S, i+2S, ... of V vectors of columns
//	                J*V accumulators over the rows, then J to 1 by halving
//	at the end      the S results of each vector, from memory, by halving
//
// Each element is read once, whatever J is.
type columns struct {
	f      fold
	count  int64 // elements of a column
	dims   []int64
	t      types.Type
	at     func(outer []affine) series // the series of one output or vector of them
	finish func(v lir.Value) lir.Value // what follows the reduction
	lanes  int64
	vecs   int64 // V
	passes int64 // S
	out    view
	rest   view    // [outer][S][columns] results of passes
	parts  []view  // [outer][chunks][columns] results of chunks, by level
	outer  []int64 // the kept axes but the last
}

// byColumns emits such a reduction, or reports that it has no such form.
func (e *emitter) byColumns(n graph.NodeID, shape, ax []int64, c columns) ([]operand, bool) {
	c.t = e.outType(n, 0)
	c.dims = rest(shape, ax)
	if e.rec != nil || e.lanes > 1 || len(c.dims) == 0 || containsAxis(ax, len(shape)-1) ||
		c.count < 2 || numElems(c.dims) == 0 || c.f.d == types.Bool {
		return nil, false
	}
	cols := c.dims[len(c.dims)-1]
	c.outer = c.dims[:len(c.dims)-1]
	for _, size := range []int{4, 8} {
		c.lanes = int64(e.tgt.VecBytes / size)
		if c.lanes < 2 || lirType(c.f.d).Elem.Size() > size || cols < c.lanes {
			continue
		}
		if e.can(int(c.lanes), func() { e.probeColumns(&c) }) {
			return e.emitColumns(&c, cols), true
		}
	}
	return nil, false
}

// probeColumns emits what happens to one vector.
func (e *emitter) probeColumns(c *columns) {
	zero := fixed(0).inLanes(c.lanes)
	idx := make([]affine, len(c.dims))
	for i := range idx {
		idx[i] = fixed(0)
	}
	idx[len(idx)-1] = zero
	s := c.at(idx)
	tail := view{buf: e.tailBuf}
	e.storeAt(tail, c.f.d, zero, s.step(fixed(0), e.widened(c, s.first(fixed(0)))))
	e.storeAt(tail, c.t.DType, zero, c.finish(c.f.combine(e, e.loadAt(tail, c.f.d, zero), e.loadAt(tail, c.f.d, zero))))
}

// widened gives a value that is the same in all columns a lane for each.
func (e *emitter) widened(c *columns, v lir.Value) lir.Value {
	if e.isVec(v) {
		return v
	}
	return e.splat(v, int(c.lanes))
}

// Accumulators of a pass, by the registers of the target; heavy series take
// fewer. Memory for passes of all outer indices at once is bounded.
const (
	columnVecs   = 4
	heavySeries  = 24
	columnsBytes = 1 << 22
)

func (e *emitter) emitColumns(c *columns, cols int64) []operand {
	width := int64(2)
	if e.tgt.MatmulRows*e.tgt.MatmulVecs >= manyRegs {
		width = 4
	}
	c.passes, c.vecs = numLanes/width, min(columnVecs, (cols+c.lanes-1)/c.lanes)
	if e.seriesWeight(c) > heavySeries {
		c.vecs = 1
	}
	c.out = e.allocFor(0, c.t.DType, c.dims)
	block := c.vecs * c.lanes
	padded := (cols + block - 1) / block * block
	size := int64(c.f.d.Size())
	trips, perTrip := numElems(c.outer), (c.passes+c.chunkRows())*padded*size
	shared := trips*perTrip > columnsBytes // the outer trips take turns
	room := func(rows int64) view {
		if shared {
			return e.scratch(rows * padded * size)
		}
		return e.scratch(trips * rows * padded * size)
	}
	c.rest = room(c.passes)
	for n := c.count; n > chunkLen; {
		n = (n + chunkLen - 1) / chunkLen
		c.parts = append(c.parts, room(n))
	}
	level := func(outer []affine) {
		at := fixed(0) // the outer index, flat
		if !shared {
			for d, i := range outer {
				at = at.scale(c.outer[d]).add(i)
			}
		}
		work := c.count * block
		emit := func(col affine, vecs, back int64) {
			if !e.try(int(c.lanes), func() { e.columnBlock(c, outer, at, padded, col, vecs, back) }) {
				panic("BUG: plan: a reduction of columns lost its vector form")
			}
		}
		e.together(cols/block, work, func(i affine) { emit(i.scale(block), c.vecs, 0) })
		if left := cols % block; left > 0 {
			vecs := (left + c.lanes - 1) / c.lanes
			emit(fixed(cols-left), vecs, vecs*c.lanes-left)
		}
	}
	if len(c.outer) == 0 {
		level(nil)
	} else {
		loop := func(f func(i affine)) { e.together(c.outer[0], numElems(c.outer[1:])*c.count*cols, f) }
		if shared {
			loop = func(f func(i affine)) { e.loop(c.outer[0], f) }
		}
		loop(func(i affine) {
			e.nest(c.outer[1:], func(in []affine) { level(append([]affine{i}, in...)) })
		})
	}
	for _, v := range append(c.parts, c.rest) {
		e.free(v)
	}
	return []operand{{typ: c.t, kind: inMemory, view: c.out}}
}

// chunkRows counts the results of chunks, of all levels.
func (c *columns) chunkRows() int64 {
	rows := int64(0)
	for n := c.count; n > chunkLen; rows += n {
		n = (n + chunkLen - 1) / chunkLen
	}
	return rows
}

// seriesWeight counts the statements of one step.
func (e *emitter) seriesWeight(c *columns) int64 {
	was := e.lanes
	e.lanes = int(c.lanes)
	defer func() { e.lanes = was }()
	return e.weight(func() {
		idx := make([]affine, len(c.dims))
		for i := range idx {
			idx[i] = fixed(0)
		}
		idx[len(idx)-1] = fixed(0).inLanes(c.lanes)
		s := c.at(idx)
		s.step(fixed(0), e.widened(c, s.first(fixed(0))))
	})
}

// columnBlock reduces vecs vectors of columns from col; the last is moved back
// to end with the row.
func (e *emitter) columnBlock(c *columns, outer []affine, trip affine, padded int64, col affine, vecs, back int64) {
	ss := make([]series, vecs)
	place := make([]affine, vecs)
	for v := range ss {
		place[v] = col.plus(int64(v) * c.lanes)
		if v == len(ss)-1 {
			place[v] = place[v].plus(-back)
		}
		place[v] = place[v].inLanes(c.lanes)
		ss[v] = c.at(append(append([]affine{}, outer...), place[v]))
	}
	// Row r of a scratch of so many rows. Vectors do not share places in it.
	cell := func(rows int64, r affine, v int64) affine {
		return trip.scale(rows).add(r).scale(padded).add(col).plus(v * c.lanes).inLanes(c.lanes)
	}
	for k, x := range e.foldColumns(c, ss, 0, cell) {
		e.storeAt(c.out, c.t.DType, c.out.at(append(append([]affine{}, outer...), place[k])), c.finish(x))
	}
}

type cellOf func(rows int64, r affine, v int64) affine

// foldColumns is foldSeries for several vectors of columns at once.
func (e *emitter) foldColumns(c *columns, ss []series, level int, cell cellOf) []lir.Value {
	n := ss[0].n
	if n <= chunkLen {
		return e.columnChunk(c, ss, fixed(0), n, cell)
	}
	parts, rows := c.parts[level], (n+chunkLen-1)/chunkLen
	one := func(i affine, size int64) {
		for v, x := range e.columnChunk(c, ss, i.scale(chunkLen), size, cell) {
			e.storeAt(parts, c.f.d, cell(rows, i, int64(v)), x)
		}
	}
	e.loop(n/chunkLen, func(i affine) { one(i, chunkLen) })
	if left := n % chunkLen; left > 0 {
		one(fixed(n/chunkLen), left)
	}
	next := make([]series, len(ss))
	for v := range next {
		next[v] = e.elements(c.f, rows, func(i affine) lir.Value { return e.loadAt(parts, c.f.d, cell(rows, i, int64(v))) })
	}
	return e.foldColumns(c, next, level+1, cell)
}

// columnChunk reduces n <= 4096 rows from base.
func (e *emitter) columnChunk(c *columns, ss []series, base affine, n int64, cell cellOf) []lir.Value {
	out := make([]lir.Value, len(ss))
	if n <= fewest {
		for v, s := range ss {
			out[v] = e.halve(c.f, int(n), func(i int64) lir.Value { return e.widened(c, s.first(base.plus(i))) })
		}
		return out
	}
	full, left := n/numLanes, n%numLanes
	pass := func(i affine, extra int64) {
		lanes := make([][]lir.Value, 0, numLanes/c.passes) // of the lanes that exist
		for a := range numLanes / c.passes {
			if full == 0 && a >= extra {
				break
			}
			row := make([]lir.Value, len(ss))
			for v, s := range ss {
				row[v] = e.widened(c, s.first(base.add(i).plus(a*c.passes)))
			}
			lanes = append(lanes, row)
		}
		step := func(r affine, acc []lir.Value) []lir.Value {
			next := make([]lir.Value, len(acc))
			for k := range acc {
				a, v := int64(k)/int64(len(ss)), k%len(ss)
				next[k] = ss[v].step(base.add(r.scale(numLanes)).add(i).plus(a*c.passes), acc[k])
			}
			return next
		}
		acc := make([]lir.Value, 0, len(lanes)*len(ss))
		for _, row := range lanes {
			acc = append(acc, row...)
		}
		acc = append([]lir.Value{}, e.carry(1, full, 1, acc, step)...)
		if full > 0 {
			acc = append(step(fixed(full), acc[:extra*int64(len(ss))]), acc[extra*int64(len(ss)):]...)
		}
		for v := range ss {
			x := e.halve(c.f, len(lanes), func(a int64) lir.Value { return acc[int(a)*len(ss)+v] })
			e.storeAt(c.rest, c.f.d, cell(c.passes, i, int64(v)), x)
		}
	}
	q, t := left/c.passes, left%c.passes
	e.loop(t, func(i affine) { pass(i, q+1) })
	if full > 0 || q > 0 {
		e.carry(t, c.passes, 1, nil, func(i affine, _ []lir.Value) []lir.Value { pass(i, q); return nil })
	}
	for v := range ss {
		out[v] = e.halve(c.f, int(min(n, c.passes)), func(i int64) lir.Value {
			return e.loadAt(c.rest, c.f.d, cell(c.passes, fixed(i), int64(v)))
		})
	}
	return out
}

// halve combines n values, a power of two of which some at the end may be
// absent: i with i+h, h halving.
func (e *emitter) halve(f fold, n int, value func(i int64) lir.Value) lir.Value {
	vs := make([]lir.Value, n)
	for i := range vs {
		vs[i] = value(int64(i))
	}
	for h := numLanes / 2; h >= 1; h /= 2 {
		for i := 0; i+h < len(vs); i++ {
			vs[i] = f.combine(e, vs[i], vs[i+h])
		}
		vs = vs[:min(h, len(vs))]
	}
	return vs[0]
}
