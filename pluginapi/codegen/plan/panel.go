package plan

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Packing pays where rows are far apart in memory (a stride of a page maps a
// tile's rows to the same cache sets) and the packed data is used often.
// cacheBytes is how much of the left operand is kept near: part of a core's
// second-level cache. All of this is performance only.
const (
	farBytes    = 2048
	reuseRows   = 32 // rows of A that use a packed B
	reusePanel  = 2  // panels of B that use a packed A
	cacheBytes  = 1 << 20
	workPerLane = 8  // multiply-adds that cost about as much as one element of a loop over memory
	tileWork    = 48 // multiply-adds of one trip of the innermost loop
	rowPad      = 16 // elements between packed rows, against shared cache sets
)

// placeOperands decides where the kernel reads each operand.
func (e *emitter) placeOperands(c *contraction) {
	size := int64(c.kd.Size())
	panel := c.vecs * c.lanes
	c.a, c.b, c.from, c.grp, c.sums = aSide{}, bSide{}, turned{}, nil, view{}
	if c.x.kind == inMemory && c.x.typ.DType == c.kd {
		ms, ok1 := oneStride(c.x.typ.Shape(), c.x.view.strides, c.xm)
		ks, ok2 := oneStride(c.x.typ.Shape(), c.x.view.strides, c.xk)
		if ok1 && ok2 {
			c.a = aSide{view: c.x.view, ms: ms, ks: ks}
		}
	}
	direct := c.a.view.strides != nil
	if !direct || (c.m > fewRows && c.n > reusePanel*panel && c.a.ms*size >= farBytes) {
		stride := (c.k+rowPad-1)/rowPad*rowPad + rowPad
		c.a = aSide{view: e.scratch(c.m * stride * size), ms: stride, ks: 1, packed: true}
	}
	if c.y.kind == inMemory && c.y.typ.DType == c.kd && c.n >= c.lanes {
		ns, ok1 := oneStride(c.y.typ.Shape(), c.y.view.strides, c.yn)
		ks, ok2 := oneStride(c.y.typ.Shape(), c.y.view.strides, c.yk)
		if ok1 && ok2 && ns == 1 {
			c.b = bSide{view: c.y.view, ks: ks}
			if c.grp = c.stream(e.tgt); c.grp == nil && ks*size >= farBytes && c.m >= reuseRows {
				c.b = bSide{}
			}
		}
		if ok1 && ok2 && ks == 1 && ns != 1 && e.canTurn(c) {
			c.from = turned{view: c.y.view, ns: ns}
			if c.m <= fewRows {
				c.b = bSide{view: c.y.view, turned: true}
				c.vecs = 1
			}
		}
	}
	panel = c.vecs * c.lanes
	if c.b.view.strides == nil {
		cols := (c.n + c.lanes - 1) / c.lanes * c.lanes
		elems := min(c.k, chunkLen) * cols
		if c.grp = c.group(); c.grp != nil {
			elems, _ = c.room()
		}
		c.b = bSide{view: e.scratch(elems * size), packed: true}
	}
	if c.grp != nil && c.grp.terms < min(c.k, chunkLen) {
		_, sums := c.room()
		c.sums = e.scratch(sums * size)
	}
	if c.k > chunkLen {
		c.parts = e.scratch(c.m * (c.n + panel) * size)
	}
}

// packA stores the left operand row by row, the rows padded apart.
func (e *emitter) packA(c *contraction, b []affine) {
	e.together(c.m, c.k, func(m affine) {
		e.innermost(c.k, func(k affine) {
			v := e.operandAt(c, c.x, c.xb, c.xm, c.xk, c.mDims, b, m, k)
			e.storeAt(c.a.view, c.kd, m.scale(c.a.ms).add(k), v)
		})
	})
}

// strip is a run of columns that one register tile is wide: vecs vectors, the
// last of which is moved back to end with the row or, in a row shorter than a
// vector, has only valid lanes. at is where its packed columns start, in
// elements, and sums where its accumulators are in row 0 of c.sums.
type strip struct {
	n0          affine
	at, sums    affine
	vecs, valid int64
	back        int64
}

// column is the first column of vector v.
func (s strip) column(c *contraction, v int64) affine {
	if v == s.vecs-1 {
		return s.n0.plus(v*c.lanes - s.back)
	}
	return s.n0.plus(v * c.lanes)
}

// strips emits f for every strip of columns, each independent of the others;
// kLen is the length of the chunk that is packed, work what one strip costs.
func (e *emitter) strips(c *contraction, kLen, work int64, f func(s strip)) {
	panel := c.vecs * c.lanes
	full := c.n / panel
	e.together(full, work, func(p affine) {
		f(strip{n0: p.scale(panel), at: p.scale(panel * kLen), vecs: c.vecs, valid: c.lanes})
	})
	if s, ok := c.lastStrip(kLen); ok {
		f(s)
	}
}

// lastStrip is what the full strips leave.
func (c *contraction) lastStrip(kLen int64) (strip, bool) {
	panel := c.vecs * c.lanes
	n0 := c.n - c.n%panel
	if n0 == c.n {
		return strip{}, false
	}
	vecs := (c.n - n0 + c.lanes - 1) / c.lanes
	s := strip{n0: fixed(n0), at: fixed(n0 * kLen), vecs: vecs, valid: c.n - n0 - (vecs-1)*c.lanes}
	if c.n >= c.lanes {
		s.back, s.valid = c.lanes-s.valid, c.lanes
	}
	return s, true
}

// chunks emits the chunks of k in order: the first starts the totals, the last
// finishes them.
func (e *emitter) chunks(c *contraction, b []affine) {
	n := (c.k + chunkLen - 1) / chunkLen
	if n == 1 {
		e.chunkOf(c, b, chunkSpan{k0: fixed(0), kLen: c.k, first: true, last: true, open: true, closed: true})
		return
	}
	e.chunkOf(c, b, chunkSpan{k0: fixed(0), kLen: chunkLen, first: true, open: true, closed: true})
	e.carry(1, n-1, 1, nil, func(i affine, _ []lir.Value) []lir.Value {
		e.chunkOf(c, b, chunkSpan{k0: i.scale(chunkLen), kLen: chunkLen, open: true, closed: true})
		return nil
	})
	at := (n - 1) * chunkLen
	e.chunkOf(c, b, chunkSpan{k0: fixed(at), kLen: c.k - at, last: true, open: true, closed: true})
}

// chunkSpan is a chunk, or a block of one, which opens and closes it.
type chunkSpan struct {
	k0           affine
	kLen         int64
	first, last  bool // of the chunks
	open, closed bool // the block starts, ends the chunk
}

// band is a run of rows in tiles of one height.
type band struct{ m0, tiles, rows int64 }

// bands deals out the rows.
func (c *contraction) bands() []band {
	pieces := (c.m + c.rows - 1) / c.rows
	short := pieces*c.rows - c.m // tiles that are one row shorter
	tall := pieces - short
	if short == 0 {
		return []band{{0, tall, c.rows}}
	}
	return []band{{0, tall, c.rows}, {tall * c.rows, short, c.rows - 1}}
}

// chunkOf computes one chunk for every output element: blocks of rows that stay
// in cache, every strip of columns against each.
func (e *emitter) chunkOf(c *contraction, b []affine, k chunkSpan) {
	if c.grp != nil {
		e.byGroups(c, b, k)
		return
	}
	if c.b.packed {
		e.strips(c, k.kLen, c.vecs*c.lanes*k.kLen, func(s strip) { e.packB(c, b, s, k) })
	}
	perBlock := max(cacheBytes/(k.kLen*int64(c.kd.Size())*c.rows), 1)
	for _, x := range c.bands() {
		rows := min(perBlock, x.tiles) * x.rows
		e.together((x.tiles+perBlock-1)/perBlock, rows*c.n*k.kLen/workPerLane, func(block affine) {
			e.strips(c, k.kLen, rows*c.vecs*c.lanes*k.kLen/workPerLane, func(s strip) {
				e.within(block, x.tiles, perBlock, func(t affine) { e.tile(c, b, t.scale(x.rows).plus(x.m0), x.rows, s, k) })
			})
		})
	}
}

// packB stores the columns of a strip k-major, where needed padded with zeros.
func (e *emitter) packB(c *contraction, b []affine, s strip, k chunkSpan) {
	width := s.vecs * c.lanes
	if c.from.ns != 0 && s.valid == c.lanes && k.kLen >= c.lanes {
		e.packTurned(c, b, s, k)
		return
	}
	e.loop(k.kLen, func(kk affine) {
		copied := func(at, n0 affine, cols int64) {
			e.innermost(cols, func(j affine) {
				v := e.operandAt(c, c.y, c.yb, c.yn, c.yk, c.nDims, b, n0.add(j), k.k0.add(kk))
				e.storeAt(c.b.view, c.kd, at.add(j), v)
			})
		}
		row := s.at.add(kk.scale(width))
		if s.back > 0 {
			copied(row, s.n0, width-c.lanes)
			copied(row.plus(width-c.lanes), s.column(c, s.vecs-1), c.lanes)
			return
		}
		cols := width - c.lanes + s.valid
		copied(row, s.n0, cols)
		e.carry(cols, width, 1, nil, func(j affine, _ []lir.Value) []lir.Value {
			e.storeAt(c.b.view, c.kd, row.add(j), e.zero(c.kd))
			return nil
		})
	})
}

// tile emits the register tile.
func (e *emitter) tile(c *contraction, b []affine, m0 affine, rows int64, s strip, k chunkSpan) {
	if !e.try(int(c.lanes), func() { e.tileInLanes(c, b, m0, rows, s, k) }) {
		panic("BUG: plan: a contraction tile lost its vector form")
	}
}

func (e *emitter) tileInLanes(c *contraction, b []affine, m0 affine, rows int64, s strip, k chunkSpan) {
	vecs := s.vecs
	t := e.kernelType(c)
	zero := e.b.Const(t, 0)
	acc := make([]lir.Value, rows*vecs)
	sumAt := func(i int64) affine {
		return e.lane(c, s.sums.add(m0.plus(i/vecs).scale(c.sumStride())).plus(i%vecs*c.lanes))
	}
	for i := range acc {
		acc[i] = zero
		if !k.open {
			acc[i] = e.loadAt(c.sums, c.kd, sumAt(int64(i)))
		}
	}
	if c.b.turned {
		acc = e.turnedTerms(c, b, m0, rows, s, k, acc)
	} else {
		acc = e.terms(c, b, m0, rows, s, k, acc)
	}
	if !k.closed {
		for i, x := range acc {
			e.storeAt(c.sums, c.kd, sumAt(int64(i)), x)
		}
		return
	}
	for r := range rows {
		m := m0.plus(r)
		for v := range vecs {
			x := acc[r*vecs+v]
			if c.k > chunkLen {
				at := e.lane(c, m.scale(c.n+c.vecs*c.lanes).add(s.n0).plus(v*c.lanes))
				if !k.first {
					x = e.addTotal(c, e.loadAt(c.parts, c.kd, at), x)
				}
				if !k.last {
					e.storeAt(c.parts, c.kd, at, x)
					continue
				}
			}
			x = e.finish(c, x)
			n := s.column(c, v)
			if v < vecs-1 || s.valid == c.lanes {
				e.scope(func() { c.store(b, m, e.lane(c, n), x) })
				continue
			}
			e.storeRagged(c, b, m, n, x, s.valid)
		}
	}
}

// terms adds the span's terms to the accumulators of a tile.
func (e *emitter) terms(c *contraction, b []affine, m0 affine, rows int64, s strip, k chunkSpan, acc []lir.Value) []lir.Value {
	vecs := s.vecs
	step := func(kk affine, acc []lir.Value) []lir.Value {
		bs := make([]lir.Value, vecs)
		for v := range bs {
			bs[v] = e.loadAt(c.b.view, c.kd, e.lane(c, e.bAt(c, b, s, int64(v), k.k0, kk)))
		}
		next := make([]lir.Value, len(acc))
		for r := range rows {
			a := e.loadAt(c.a.view, c.kd, e.aAt(c, b, m0, r, k.k0.add(kk)))
			for v := range vecs {
				i := r*vecs + v
				next[i] = e.mac(c, a, bs[v], acc[i])
			}
		}
		return next
	}
	// Small tiles take several terms a trip, to spread the loop's own cost.
	unroll := max(tileWork/(rows*vecs), 1)
	if k.kLen <= streamTerms {
		unroll = k.kLen
	}
	whole := k.kLen - k.kLen%unroll
	acc = e.carry(0, whole, unroll, acc, func(kk affine, acc []lir.Value) []lir.Value {
		for u := range unroll {
			acc = step(kk.plus(u), acc)
		}
		return acc
	})
	return e.carry(whole, k.kLen, 1, acc, step)
}

// lane makes an index move with the vector lane.
func (e *emitter) lane(c *contraction, a affine) affine {
	return a.inLanes(c.lanes)
}

// storeRagged stores the first valid lanes of x, one by one.
func (e *emitter) storeRagged(c *contraction, b []affine, m, n affine, x lir.Value, valid int64) {
	t := e.b.TypeOf(x)
	size := int64(t.Elem.Size())
	buf := e.tail(size * int64(t.Lanes))
	e.b.Store(memOf(c.res), lir.At(buf, 0), x)
	for j := range valid {
		e.scalarly(func() {
			v := e.b.Load(t.Scalar(), memOf(c.res), lir.At(buf, j*size))
			c.store(b, m, n.plus(j), v)
		})
	}
}

// aAt is the element of the left operand at row m0+r, term k.
func (e *emitter) aAt(c *contraction, b []affine, m0 affine, r int64, k affine) affine {
	a := m0.plus(r).scale(c.a.ms).add(k.scale(c.a.ks))
	if c.a.packed {
		return a
	}
	a = a.add(c.a.view.off)
	for i, ax := range c.xb {
		a = a.add(b[i].scale(c.a.view.strides[ax]))
	}
	return a
}

// bAt is the element of the right operand at term k0+k, first column of vector v.
func (e *emitter) bAt(c *contraction, b []affine, s strip, v int64, k0, k affine) affine {
	if c.b.packed {
		return s.at.add(k.scale(s.vecs * c.lanes)).plus(v * c.lanes)
	}
	a := c.b.view.off.add(s.column(c, v)).add(k0.add(k).scale(c.b.ks))
	for i, ax := range c.yb {
		a = a.add(b[i].scale(c.b.view.strides[ax]))
	}
	return a
}
