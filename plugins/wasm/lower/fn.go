package lower

import (
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// Parameters of a phase function.
const (
	paramIn   uint32 = 0
	paramOut  uint32 = 1
	paramWork uint32 = 2
	paramTile uint32 = 3
)

// state is what is known about one value of the IR.
type state struct {
	def    *lir.Stmt
	block  *lir.Block // where it is defined
	cross  bool       // used in another block
	uses   int        // not yet emitted
	local  uint32
	stored bool // in local
	pinned bool // a loop's variable: the loop frees the local
	loop   int  // number of loops open at the definition
}

// fn compiles one function.
type fn struct {
	f      *wenc.Func
	src    *lir.Func
	makers *[lir.NumOps]maker
	h      helpers
	consts []uint32
	v      []state
	bases  map[base]uint32 // locals with buffer addresses
	loops  [][]uint32      // per open loop, locals to free at its end
	scopes []scope
	above  map[lir.Value]bool // indices that are not negative
}

func (g *gen) newFn(wf *wenc.Func, src *lir.Func) *fn {
	return &fn{f: wf, makers: &g.makers, src: src, h: g.h, consts: g.consts, v: g.v, bases: map[base]uint32{}, above: notNegative(src)}
}

// operands are the values a statement reads. A vector shift by a uniform count
// and a product with a uniform factor read the scalar.
func (c *fn) operands(s *lir.Stmt) []lir.Value {
	switch {
	case s.Type.IsVec() && (s.Op == lir.Shl || s.Op == lir.ShrS || s.Op == lir.ShrU):
		return []lir.Value{s.Args[0], c.unsplat(s.Args[1])}
	case s.Op == lir.FMA && inlineFMA(s.Type):
		return []lir.Value{c.unsplat(s.Args[0]), c.unsplat(s.Args[1]), s.Args[2]}
	}
	return s.Args
}

func (c *fn) unsplat(v lir.Value) lir.Value {
	if d := c.v[v].def; d != nil && d.Op == lir.Splat {
		return d.Args[0]
	}
	return v
}

// count records definitions and uses.
func (c *fn) count(b *lir.Block) {
	for _, p := range b.Params {
		c.v[p].block = b
	}
	use := func(v lir.Value) {
		c.v[v].uses++
		c.v[v].cross = c.v[v].cross || c.v[v].block != b
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		for _, a := range c.operands(s) {
			use(a)
		}
		if s.Op.HasAddr() && s.Addr.Index != lir.NoValue {
			use(s.Addr.Index)
		}
		for _, r := range s.Results {
			c.v[r].block = b
			if len(s.Blocks) == 0 {
				c.v[r].def = s
			}
		}
		for _, n := range s.Blocks {
			c.count(n)
		}
	}
	for _, y := range b.Yield {
		use(y)
	}
}

// tile makes the tile number an Ix.
func (c *fn) tile() {
	if t := c.src.Tile; c.v[t].uses > 0 {
		c.f.Get(paramTile)
		c.f.I("i32.wrap_i64")
		c.store(t)
	}
}

// wasmType is the type of the local that holds a value.
func wasmType(t lir.Type) wenc.ValType {
	if t.IsVec() || t.Elem == lir.Mask {
		return wenc.V128
	}
	switch t.Elem {
	case lir.I32, lir.Ix:
		return wenc.I32
	case lir.I64:
		return wenc.I64
	case lir.F32:
		return wenc.F32
	case lir.F64:
		return wenc.F64
	}
	panic("BUG: lower: value of type " + t.String())
}

// store pops into a new local for v.
func (c *fn) store(v lir.Value) {
	l := c.f.Local(wasmType(c.src.TypeOf(v)))
	c.bind(v, l)
	c.f.Set(l)
}

// bind makes l the home of v.
func (c *fn) bind(v lir.Value, l uint32) {
	s := &c.v[v]
	s.local, s.stored, s.loop = l, true, len(c.loops)
	if s.uses == 0 {
		c.f.Free(l)
	}
}

// push puts v on the stack and counts one use.
func (c *fn) push(v lir.Value) {
	s := &c.v[v]
	switch {
	case s.stored:
		c.f.Get(s.local)
		c.release(v)
	case s.def != nil && s.def.Op == lir.Const:
		c.constant(s.def)
		s.uses--
	case s.def != nil:
		s.uses--
		c.compute(s.def)
	default:
		panic(fmt.Sprintf("BUG: lower: value %d is used before it is defined", v))
	}
}

// release counts one use without code. After the last one the local is free,
// unless an open loop began after the definition and may come back to it.
func (c *fn) release(v lir.Value) {
	s := &c.v[v]
	s.uses--
	if s.uses > 0 || s.pinned || !s.stored {
		return
	}
	if len(c.loops) > s.loop {
		c.loops[s.loop] = append(c.loops[s.loop], s.local)
		return
	}
	c.f.Free(s.local)
}

// openLoop and closeLoop bracket code that may run again.
func (c *fn) openLoop() { c.loops = append(c.loops, nil) }

func (c *fn) closeLoop() {
	n := len(c.loops) - 1
	for _, l := range c.loops[n] {
		c.f.Free(l)
	}
	c.loops = c.loops[:n]
}

// inline reports whether the value of s is left to its only use.
func (c *fn) inline(s *lir.Stmt) bool {
	v := &c.v[s.Results[0]]
	if s.Op == lir.Const {
		// a vector constant that is used often, or in a loop, is kept
		return !s.Type.IsVec() || (v.uses == 1 && !v.cross)
	}
	return s.Op != lir.Load && v.uses == 1 && !v.cross
}

// block compiles the statements of b, then yield, which uses what b yields.
func (c *fn) block(b *lir.Block, yield func()) {
	c.enter(b)
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if len(s.Blocks) == 0 && len(s.Results) == 1 {
			if c.v[s.Results[0]].uses == 0 || c.inline(s) {
				continue
			}
			c.compute(s)
			c.f.At(s.Node)
			c.store(s.Results[0])
			continue
		}
		c.statement(s)
	}
	yield()
	c.leave()
}
