package plan

import "github.com/kera-lang/kera/pluginapi/codegen/lir"

// A right operand may lie so that the terms of a column are together, not the
// columns of a term: x @ transpose(y), or a matrix by a vector. A square of as
// many columns as a vector has lanes is then read column by column and turned in
// registers, either while it is packed or, with few rows of the left operand,
// right where it is used. Terms that no square divides are taken from one that
// overlaps the square before.
type turned struct {
	view view
	ns   int64 // from column to column; terms are next to each other
}

// turnBytes is the width of vectors from which turning beats single elements.
const turnBytes = 64

// canTurn reports whether squares of the contraction's width can be turned.
func (e *emitter) canTurn(c *contraction) bool {
	return c.lanes > 1 && c.n >= c.lanes && c.k >= c.lanes && c.lanes&(c.lanes-1) == 0 && e.can(int(c.lanes), func() {
		v := e.b.Const(e.kernelType(c), 0)
		e.turn([]lir.Value{v, v})
	})
}

// turn exchanges rows and lanes of a square: each step moves the highest bit of
// an element's row to the lowest of its lane, and so on around.
func (e *emitter) turn(rows []lir.Value) []lir.Value {
	t := e.b.TypeOf(rows[0])
	e.hasVec(lir.Zip, t.Elem, lir.None, int(t.Lanes))
	for n := 1; n < len(rows); n *= 2 {
		next := make([]lir.Value, len(rows))
		for i := range len(rows) / 2 {
			x, y := rows[i], rows[len(rows)/2+i]
			next[2*i], next[2*i+1] = e.b.Zip(x, y, 0), e.b.Zip(x, y, 1)
		}
		rows = next
	}
	return rows
}

// square gives terms k0+kk.. of the columns of vector v, a vector for each term.
func (e *emitter) square(c *contraction, b []affine, s strip, v int64, k0, kk affine) []lir.Value {
	rows := make([]lir.Value, c.lanes)
	at := c.from.view.off.add(k0.add(kk))
	for i, ax := range c.yb {
		at = at.add(b[i].scale(c.from.view.strides[ax]))
	}
	for j := range rows {
		a := at.add(s.column(c, v).plus(int64(j)).scale(c.from.ns))
		rows[j] = e.loadAt(c.from.view, c.kd, a.inLanes(c.lanes))
	}
	return e.turn(rows)
}

// squares emits f for the squares of a span: f takes the terms from skip on.
func (e *emitter) squares(c *contraction, k chunkSpan, acc []lir.Value, f func(kk affine, skip int64, acc []lir.Value) []lir.Value) []lir.Value {
	whole := k.kLen - k.kLen%c.lanes
	acc = e.carry(0, whole, c.lanes, acc, func(kk affine, acc []lir.Value) []lir.Value { return f(kk, 0, acc) })
	if left := k.kLen - whole; left > 0 {
		e.scope(func() { acc = f(fixed(k.kLen-c.lanes), c.lanes-left, acc) })
	}
	return acc
}

// packTurned is packB for turned columns.
func (e *emitter) packTurned(c *contraction, b []affine, s strip, k chunkSpan) {
	width := s.vecs * c.lanes
	ok := e.try(int(c.lanes), func() {
		for v := range s.vecs {
			e.squares(c, k, nil, func(kk affine, skip int64, _ []lir.Value) []lir.Value {
				for u, x := range e.square(c, b, s, v, k.k0, kk) {
					if int64(u) >= skip {
						at := s.at.add(kk.plus(int64(u)).scale(width)).plus(v * c.lanes)
						e.storeAt(c.b.view, c.kd, e.lane(c, at), x)
					}
				}
				return nil
			})
		}
	})
	if !ok {
		panic("BUG: plan: turned columns lost their vector form")
	}
}

// turnedTerms is terms for turned columns of one vector.
func (e *emitter) turnedTerms(c *contraction, b []affine, m0 affine, rows int64, s strip, k chunkSpan, acc []lir.Value) []lir.Value {
	return e.squares(c, k, acc, func(kk affine, skip int64, acc []lir.Value) []lir.Value {
		cols := e.square(c, b, s, 0, k.k0, kk)
		for u := skip; u < c.lanes; u++ {
			next := make([]lir.Value, rows)
			for r := range rows {
				a := e.loadAt(c.a.view, c.kd, e.aAt(c, b, m0, r, k.k0.add(kk.plus(u))))
				next[r] = e.mac(c, a, cols[u], acc[r])
			}
			acc = next
		}
		return acc
	})
}
