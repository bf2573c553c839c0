package plan

import "github.com/kera-lang/kera/pluginapi/codegen/lir"

// Big contractions go group by group of column strips: the group's columns are
// packed for one block of terms and used while they are near, by all rows.
//
//	for each slot, on any thread
//	  for each group of the slot          its packed columns reuse the slot
//	    for each block of terms           short enough for the first-level cache:
//	      pack the group's columns
//	      for each tile of rows           the tile's part of A stays there
//	        for each strip of the group   goes on from the sums of the block before
//
// Between blocks the accumulators rest in memory as they are, which changes no
// bit of the chain.
//
// With few rows nothing is used again. Then nothing is packed, and a block is as
// many rows of B as can be read side by side, each from end to end.
type grouping struct {
	strips int64 // of a group
	groups int64 // of full strips
	slots  int64
	// perSlot is how many groups take turns in a slot.
	perSlot int64
	terms   int64 // of a block, at most
}

// All of this is performance only: the bytes of a row of A that stay near; how
// many strips share a tile's part of A, and how many groups are left for threads
// then; how many groups may be under way at a time.
const (
	blockBytes  = 3584
	shareStrips = 8
	leastGroups = 4
	packSlots   = 16
	fewStrips   = 8
)

// group decides how to walk packed columns, or gives nil if the whole of them
// is to be packed first because rows are all there is to spread over threads.
func (c *contraction) group() *grouping {
	size := int64(c.kd.Size())
	full := c.n / (c.vecs * c.lanes)
	g := &grouping{terms: evenly(min(c.k, chunkLen), blockBytes/size), strips: 1}
	bytes := c.m * g.terms * size
	if full < fewStrips && bytes > cacheBytes {
		return nil
	}
	if c.m*min(c.k, chunkLen)*size > cacheBytes { // else all of it is near anyway
		g.strips = min(shareStrips, max(full/leastGroups, 1))
	}
	g.groups = (full + g.strips - 1) / g.strips
	if g.groups > 0 {
		g.perSlot = (g.groups + packSlots - 1) / packSlots
		g.slots = (g.groups + g.perSlot - 1) / g.perSlot
	}
	return g
}

// Streams are worth it for a B that has to come from far, with rows of many
// pages: up to this many rows of A, from this many bytes of B. So many terms are
// read side by side, half of them where A is to stay in registers or registers
// are few, and so many columns belong together.
const (
	streamRows  = 95
	streamBytes = 4 << 20
	streamTerms = 16
	streamWidth = 1024
	fewRows     = 4
	manyRegs    = 24 // accumulators of a tile
)

// stream decides whether to read the rows of B side by side, and with few rows
// of A sets the tile to match.
func (c *contraction) stream(tgt *lir.Target) *grouping {
	size := int64(c.kd.Size())
	if c.lanes == 1 || c.m > streamRows || c.k*c.n*size < streamBytes || c.b.ks*size < farBytes {
		return nil
	}
	regs := int64(tgt.MatmulRows * tgt.MatmulVecs)
	g := &grouping{terms: streamTerms, perSlot: 1}
	if c.m <= fewRows || regs < manyRegs {
		g.terms /= 2
	}
	if c.m <= fewRows {
		c.vecs = min(4, max(regs/2/c.m, 1))
	}
	full := c.n / (c.vecs * c.lanes)
	g.strips = max(min(streamWidth/(c.vecs*c.lanes), full), 1)
	g.groups = (full + g.strips - 1) / g.strips
	g.slots = g.groups
	return g
}

// room is the size of the packed columns and of the sums, in elements.
func (c *contraction) room() (packed, sums int64) {
	panel := c.vecs * c.lanes
	n := (c.grp.slots + 1) * c.grp.strips * panel // the last strip has a place of its own
	return n * c.grp.terms, n * c.m
}

// sumStride is the distance between rows of the sums.
func (c *contraction) sumStride() int64 {
	if c.grp == nil {
		return 0
	}
	return c.grp.strips * c.vecs * c.lanes
}

// byGroups computes one chunk.
func (e *emitter) byGroups(c *contraction, b []affine, k chunkSpan) {
	g, panel := c.grp, c.vecs*c.lanes
	full, width := c.n/panel, g.strips*panel
	tiles := func(kb chunkSpan, each func(f func(s strip))) {
		if c.b.packed {
			each(func(s strip) { e.packB(c, b, s, kb) })
		}
		for _, x := range c.bands() {
			e.loop(x.tiles, func(t affine) {
				m0 := t.scale(x.rows).plus(x.m0)
				each(func(s strip) { e.tile(c, b, m0, x.rows, s, kb) })
			})
		}
	}
	e.together(g.slots, g.perSlot*width*k.kLen*(1+c.m/workPerLane), func(slot affine) {
		e.within(slot, g.groups, g.perSlot, func(group affine) {
			e.blocks(k, g.terms, func(kb chunkSpan) {
				tiles(kb, func(f func(s strip)) {
					e.within(group, full, g.strips, func(p affine) {
						q := p.add(group.scale(-g.strips))
						f(strip{n0: p.scale(panel), vecs: c.vecs, valid: c.lanes,
							at:   slot.scale(width * g.terms).add(q.scale(panel * kb.kLen)),
							sums: slot.scale(width * c.m).add(q.scale(panel))})
					})
				})
			})
		})
	})
	if s, ok := c.lastStrip(k.kLen); ok {
		s.at, s.sums = fixed(g.slots*width*g.terms), fixed(g.slots*width*c.m)
		e.blocks(k, g.terms, func(kb chunkSpan) { tiles(kb, func(f func(s strip)) { f(s) }) })
	}
}

// blocks emits f for each block of a chunk's terms, in order.
func (e *emitter) blocks(k chunkSpan, most int64, f func(kb chunkSpan)) {
	n := (k.kLen + most - 1) / most
	if n == 1 {
		f(k)
		return
	}
	size := evenly(k.kLen, most)
	at := func(i affine, terms int64) chunkSpan {
		return chunkSpan{k0: k.k0.add(i.scale(size)), kLen: terms, first: k.first, last: k.last}
	}
	head := at(fixed(0), size)
	head.open = true
	f(head)
	e.carry(1, n-1, 1, nil, func(i affine, _ []lir.Value) []lir.Value {
		f(at(i, size))
		return nil
	})
	tail := at(fixed(n-1), k.kLen-(n-1)*size)
	tail.closed = true
	f(tail)
}

// within loops over the pieces of n that fall into one block of per; the last
// block may be short.
func (e *emitter) within(block affine, n, per int64, f func(i affine)) {
	switch {
	case per == 1:
		f(block)
		return
	case n <= per:
		e.loop(n, f)
		return
	}
	lo := e.ix(block.scale(per))
	hi := e.b.Op(lir.Add, lo, e.b.Ix(per))
	if n%per != 0 {
		end := e.b.Ix(n)
		hi = e.b.Op(lir.Select, e.b.Op(lir.LtS, hi, end), hi, end)
	}
	e.b.For(lo, hi, 1, nil, func(i lir.Value, _ []lir.Value) []lir.Value {
		e.scope(func() { f(counter(i, n)) })
		return nil
	})
}
