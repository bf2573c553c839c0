package lower

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// Engines compile a function in time that grows faster than its length, so a
// long one becomes several parts that its phase function calls in order. A part
// takes the values that it reads and returns those that later parts read:
//
//	phase(in, out, work, tile):  a, b = part1(in, out, work, tile)
//	                             c = part2(in, out, work, b)
//	                             return c
//
// Constants are not passed but made again. A function that may return early is
// left whole.

// splitAbove and partSize are statements, nested ones included.
const (
	splitAbove = 4000
	partSize   = 1000
)

// part is a run of a function's top statements. Its yield is what it returns.
type part struct {
	block lir.Block
	reads []lir.Value
}

// parts divides f, or returns nil to leave it whole.
func parts(f *lir.Func, above, size int) []part {
	total, early := 0, false
	eachStmt(f.Body, func(s *lir.Stmt) {
		total++
		early = early || s.Op == lir.Return
	})
	if early || total <= above {
		return nil
	}
	var out []part
	at, n := 0, 0
	for i := range f.Body.Stmts {
		n++
		for _, b := range f.Body.Stmts[i].Blocks {
			eachStmt(b, func(*lir.Stmt) { n++ })
		}
		if n >= size || i == len(f.Body.Stmts)-1 {
			out = append(out, part{block: lir.Block{Stmts: f.Body.Stmts[at : i+1]}})
			at, n = i+1, 0
		}
	}
	link(f, out)
	return out
}

// link finds what parts read and return.
func link(f *lir.Func, ps []part) {
	from := map[lir.Value]int{f.Tile: -1} // the part that defines a top value; constants have none
	for i := range ps {
		for _, s := range ps[i].block.Stmts {
			if s.Op == lir.Const {
				continue
			}
			for _, r := range s.Results {
				from[r] = i
			}
		}
	}
	returned := map[lir.Value]bool{}
	for i := range ps {
		seen := map[lir.Value]bool{}
		eachUse(&ps[i].block, func(v lir.Value) {
			p, ok := from[v]
			if !ok || p == i || seen[v] {
				return
			}
			seen[v] = true
			ps[i].reads = append(ps[i].reads, v)
			if p >= 0 && !returned[v] {
				returned[v] = true
				ps[p].block.Yield = append(ps[p].block.Yield, v)
			}
		})
	}
	if y := f.Body.Yield[0]; !returned[y] {
		if p, ok := from[y]; ok && p >= 0 {
			ps[p].block.Yield = append(ps[p].block.Yield, y)
		}
	}
	for i := range ps {
		slices.Sort(ps[i].reads)
		slices.Sort(ps[i].block.Yield)
	}
}

// eachUse visits every value that the statements of b read.
func eachUse(b *lir.Block, visit func(lir.Value)) {
	eachStmt(b, func(s *lir.Stmt) {
		for _, a := range s.Args {
			visit(a)
		}
		if s.Op.HasAddr() && s.Addr.Index != lir.NoValue {
			visit(s.Addr.Index)
		}
		for _, n := range s.Blocks {
			for _, y := range n.Yield {
				visit(y)
			}
		}
	})
}

// phase compiles f into its phase function and, where it is long, parts.
func (g *gen) phase(f *lir.Func) {
	ps := parts(f, g.above, g.size)
	g.v = make([]state, len(f.Types))
	define(g.v, f.Body)
	var calls []uint32
	for i := range ps {
		calls = append(calls, g.part(f, i, &ps[i]))
	}
	wf, idx := g.w.Func(f.Name, []wenc.ValType{wenc.I32, wenc.I32, wenc.I32, wenc.I64}, []wenc.ValType{wenc.I32})
	g.w.ExportFunc(f.Name, idx)
	c := g.newFn(wf, f)
	if ps == nil {
		c.count(f.Body)
		c.tile()
		c.loadBases(f.Body)
		c.block(f.Body, func() { c.push(f.Body.Yield[0]) })
		return
	}
	main := lir.Block{Yield: f.Body.Yield}
	c.count(&main)
	for i := range ps {
		for _, v := range ps[i].reads {
			c.v[v].uses++
		}
	}
	c.tile()
	for i := range ps {
		for _, p := range []uint32{paramIn, paramOut, paramWork} {
			wf.Get(p)
		}
		for _, v := range ps[i].reads {
			c.push(v)
		}
		wf.Call(calls[i])
		ys := ps[i].block.Yield
		for k := len(ys) - 1; k >= 0; k-- {
			c.store(ys[k])
		}
	}
	c.push(f.Body.Yield[0])
}

// part compiles part i of f and returns its index.
func (g *gen) part(f *lir.Func, i int, p *part) uint32 {
	params := []wenc.ValType{wenc.I32, wenc.I32, wenc.I32}
	for _, v := range p.reads {
		params = append(params, wasmType(f.TypeOf(v)))
	}
	results := make([]wenc.ValType, len(p.block.Yield))
	for k, v := range p.block.Yield {
		results[k] = wasmType(f.TypeOf(v))
	}
	wf, idx := g.w.Func(fmt.Sprintf("%s.part%d", f.Name, i+1), params, results)
	c := g.newFn(wf, f)
	c.count(&p.block)
	for k, v := range p.reads {
		s := &c.v[v]
		s.local, s.stored, s.pinned = uint32(3+k), true, true
	}
	c.loadBases(&p.block)
	c.block(&p.block, func() {
		for _, v := range p.block.Yield {
			c.push(v)
		}
	})
	c.forget(p)
	return idx
}

// define makes the constants of b known to code outside of it.
func define(v []state, b *lir.Block) {
	for i := range b.Stmts {
		if s := &b.Stmts[i]; s.Op == lir.Const {
			v[s.Results[0]].def = s
		}
	}
}

// forget clears what a part learnt about the values it touched, except which
// are constants, so that the states serve the next part.
func (c *fn) forget(p *part) {
	clear := func(v lir.Value) {
		s := state{}
		if d := c.v[v].def; d != nil && d.Op == lir.Const {
			s.def = d
		}
		c.v[v] = s
	}
	eachUse(&p.block, clear)
	eachStmt(&p.block, func(s *lir.Stmt) {
		for _, r := range s.Results {
			clear(r)
		}
	})
}
