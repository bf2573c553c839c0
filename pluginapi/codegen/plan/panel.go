package plan

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Packing pays where rows are far apart in memory (a stride of a page maps a
// tile's rows to the same cache sets) and the packed data is used often.
const (
	farBytes   = 2048
	reuseRows  = 32 // rows of A that use a packed B
	reusePanel = 2  // panels of B that use a packed A
)

// placeOperands decides where the kernel reads each operand.
func (e *emitter) placeOperands(c *contraction) {
	size := int64(c.kd.Size())
	c.a, c.b = aSide{}, bSide{}
	if c.x.kind == inMemory && c.x.typ.DType == c.kd {
		ms, ok1 := oneStride(c.x.typ.Shape(), c.x.view.strides, c.xm)
		ks, ok2 := oneStride(c.x.typ.Shape(), c.x.view.strides, c.xk)
		if ok1 && ok2 {
			c.a = aSide{view: c.x.view, ms: ms, ks: ks}
		}
	}
	panels := (c.n + c.vecs*c.lanes - 1) / (c.vecs * c.lanes)
	direct := c.a.view.strides != nil
	if !direct || (c.m >= c.rows && panels >= reusePanel && c.a.ms*size >= farBytes) {
		tiles := (c.m + c.rows - 1) / c.rows
		c.a = aSide{view: e.scratch(tiles * c.rows * c.k * size), tiled: true, packed: true}
	}
	panel := c.vecs * c.lanes
	if c.y.kind == inMemory && c.y.typ.DType == c.kd && c.n%c.lanes == 0 {
		ns, ok1 := oneStride(c.y.typ.Shape(), c.y.view.strides, c.yn)
		ks, ok2 := oneStride(c.y.typ.Shape(), c.y.view.strides, c.yk)
		far := ks*size >= farBytes && c.m >= reuseRows
		if ok1 && ok2 && ns == 1 && !far {
			c.b = bSide{view: c.y.view, ks: ks}
		}
	}
	if c.b.view.strides == nil {
		c.b = bSide{view: e.scratch(min(c.k, chunkLen) * panel * size), packed: true}
	}
}

// packA stores the left operand in tiles of rows, k-major.
func (e *emitter) packA(c *contraction, b []affine) {
	put := func(tile affine, r affine) {
		m := tile.scale(c.rows).add(r)
		e.loop(c.k, func(k affine) {
			v := e.operandAt(c, c.x, c.xb, c.xm, c.xk, c.mDims, b, m, k)
			e.storeAt(c.a.view, c.kd, tile.scale(c.rows*c.k).add(k.scale(c.rows)).add(r), v)
		})
	}
	full := c.m / c.rows
	e.loop(full, func(t affine) { e.loop(c.rows, func(r affine) { put(t, r) }) })
	e.loop(c.m%c.rows, func(r affine) { put(fixed(full), r) })
}

// panel computes the columns n0 .. n0 + vecs*lanes; of the last vector only
// valid columns exist.
func (e *emitter) panel(c *contraction, b []affine, n0 affine, vecs, valid int64) {
	chunks := (c.k + chunkLen - 1) / chunkLen
	if chunks == 1 {
		e.panelChunk(c, b, n0, vecs, valid, fixed(0), c.k, true, true)
		return
	}
	e.panelChunk(c, b, n0, vecs, valid, fixed(0), chunkLen, true, false)
	e.carry(1, chunks-1, 1, nil, func(i affine, _ []lir.Value) []lir.Value {
		e.panelChunk(c, b, n0, vecs, valid, i.scale(chunkLen), chunkLen, false, false)
		return nil
	})
	last := (chunks - 1) * chunkLen
	e.panelChunk(c, b, n0, vecs, valid, fixed(last), c.k-last, false, true)
}

func (e *emitter) panelChunk(c *contraction, b []affine, n0 affine, vecs, valid int64, k0 affine, kLen int64, first, last bool) {
	if c.b.packed {
		e.packB(c, b, n0, vecs, valid, k0, kLen)
	}
	tile := func(m0 affine, rows int64) {
		if !e.try(int(c.lanes), func() { e.tile(c, b, m0, rows, n0, vecs, valid, k0, kLen, first, last) }) {
			panic("BUG: plan: a contraction tile lost its vector form")
		}
	}
	full := c.m / c.rows
	e.loop(full, func(t affine) { tile(t.scale(c.rows), c.rows) })
	if left := c.m % c.rows; left > 0 {
		tile(fixed(full*c.rows), left)
	}
}

// packB stores the columns of a panel k-major, padded with zeros.
func (e *emitter) packB(c *contraction, b []affine, n0 affine, vecs, valid int64, k0 affine, kLen int64) {
	width := vecs * c.lanes
	cols := width - c.lanes + valid
	e.loop(kLen, func(k affine) {
		e.innermost(cols, func(j affine) {
			v := e.operandAt(c, c.y, c.yb, c.yn, c.yk, c.nDims, b, n0.add(j), k0.add(k))
			e.storeAt(c.b.view, c.kd, k.scale(width).add(j), v)
		})
		e.carry(cols, width, 1, nil, func(j affine, _ []lir.Value) []lir.Value {
			e.storeAt(c.b.view, c.kd, k.scale(width).add(j), e.zero(c.kd))
			return nil
		})
	})
}

// tile emits the register tile.
func (e *emitter) tile(c *contraction, b []affine, m0 affine, rows int64, n0 affine, vecs, valid int64, k0 affine, kLen int64, first, last bool) {
	t := e.kernelType(c)
	zero := e.b.Const(t, 0)
	acc := make([]lir.Value, rows*vecs)
	for i := range acc {
		acc[i] = zero
	}
	acc = e.carry(0, kLen, 1, acc, func(k affine, acc []lir.Value) []lir.Value {
		bs := make([]lir.Value, vecs)
		for v := range bs {
			bs[v] = e.loadAt(c.b.view, c.kd, e.lane(c, e.bAt(c, b, n0, vecs, int64(v), k0, k)))
		}
		next := make([]lir.Value, len(acc))
		for r := range rows {
			a := e.loadAt(c.a.view, c.kd, e.aAt(c, b, m0, r, k0.add(k)))
			for v := range vecs {
				i := r*vecs + v
				next[i] = e.mac(c, a, bs[v], acc[i])
			}
		}
		return next
	})
	panel := c.vecs * c.lanes
	for r := range rows {
		m := m0.plus(r)
		for v := range vecs {
			x := acc[r*vecs+v]
			if c.k > chunkLen {
				at := e.lane(c, m.scale(panel).plus(v*c.lanes))
				if !first {
					x = e.addTotal(c, e.loadAt(c.parts, c.kd, at), x)
				}
				if !last {
					e.storeAt(c.parts, c.kd, at, x)
					continue
				}
			}
			x = e.finish(c, x)
			n := n0.plus(v * c.lanes)
			if v < vecs-1 || valid == c.lanes {
				e.scope(func() { c.store(b, m, e.lane(c, n), x) })
				continue
			}
			e.storeRagged(c, b, m, n, x, valid)
		}
	}
}

// lane makes an index move with the vector lane.
func (e *emitter) lane(c *contraction, a affine) affine {
	if c.lanes > 1 {
		a.lane = 1
	}
	return a
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
	if c.a.tiled {
		return m0.scale(c.k).add(k.scale(c.rows)).plus(r)
	}
	a := c.a.view.off.add(m0.plus(r).scale(c.a.ms)).add(k.scale(c.a.ks))
	for i, ax := range c.xb {
		a = a.add(b[i].scale(c.a.view.strides[ax]))
	}
	return a
}

// bAt is the element of the right operand at term k0+k, first column of vector v.
func (e *emitter) bAt(c *contraction, b []affine, n0 affine, vecs, v int64, k0, k affine) affine {
	if c.b.packed {
		return k.scale(vecs * c.lanes).plus(v * c.lanes)
	}
	a := c.b.view.off.add(n0.plus(v * c.lanes)).add(k0.add(k).scale(c.b.ks))
	for i, ax := range c.yb {
		a = a.add(b[i].scale(c.b.view.strides[ax]))
	}
	return a
}
