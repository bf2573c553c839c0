package lower

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// statement compiles what is done for its effect or has blocks.
func (c *fn) statement(s *lir.Stmt) {
	switch s.Op {
	case lir.Store:
		c.memStore(s)
	case lir.Return:
		c.push(s.Args[0])
		c.f.At(s.Node)
		c.f.I("return")
	case lir.For:
		c.forLoop(s)
	case lir.While:
		c.whileLoop(s)
	case lir.If:
		c.ifElse(s)
	default:
		panic("BUG: lower: statement " + s.Op.String())
	}
}

// carry gives loop variables their locals and first values.
func (c *fn) carry(args []lir.Value, params ...[]lir.Value) []uint32 {
	ls := make([]uint32, len(args))
	for i, a := range args {
		c.push(a)
		ls[i] = c.f.Local(wasmType(c.src.TypeOf(a)))
		c.f.Set(ls[i])
		for _, ps := range params {
			p := &c.v[ps[i]]
			p.local, p.stored, p.pinned = ls[i], true, true
		}
	}
	return ls
}

// next assigns the yielded values to the loop's variables, all at once.
func (c *fn) next(yield, params []lir.Value, ls []uint32) {
	var moved []int
	for i, y := range yield {
		if y == params[i] {
			c.release(y)
			continue
		}
		c.push(y)
		moved = append(moved, i)
	}
	for k := len(moved) - 1; k >= 0; k-- {
		c.f.Set(ls[moved[k]])
	}
}

// forLoop tests at the end of each round; a first test guards loops that may
// not run at all.
func (c *fn) forLoop(s *lir.Stmt) {
	lo, hi, body := s.Args[0], s.Args[1], s.Blocks[0]
	loK, loConst := c.constOf(lo)
	hiK, hiConst := c.constOf(hi)
	f := c.f
	f.At(s.Node)
	ls := c.carry(s.Args[2:], body.Params[1:])
	i := f.Local(wenc.I32)
	p := &c.v[body.Params[0]]
	p.local, p.stored, p.pinned = i, true, true
	c.push(lo)
	f.Set(i)
	limit := uint32(0)
	if !hiConst {
		limit = f.Local(wenc.I32)
		c.push(hi)
		f.Set(limit)
	}
	pushLimit := func() {
		if hiConst {
			f.I32(int32(hiK))
		} else {
			f.Get(limit)
		}
	}
	guarded := !loConst || !hiConst || loK >= hiK
	out := 0
	if guarded {
		out = f.Block(wenc.BlockVoid)
		f.Get(i)
		pushLimit()
		f.I("i32.ge_s")
		f.BrIf(out)
	}
	c.openLoop()
	top := f.Loop(wenc.BlockVoid)
	c.block(body, func() { c.next(body.Yield, body.Params[1:], ls) })
	f.At(s.Node)
	f.Get(i)
	f.I32(int32(s.Imm))
	f.I("i32.add")
	f.Tee(i)
	pushLimit()
	f.I("i32.lt_s")
	f.BrIf(top)
	f.End()
	c.closeLoop()
	if guarded {
		f.End()
	}
	f.Free(i)
	if hiConst {
		c.v[hi].uses--
	} else {
		f.Free(limit)
	}
	c.results(s.Results, ls)
}

// results hands the variables' locals on to the statement's results.
func (c *fn) results(rs []lir.Value, ls []uint32) {
	for i, r := range rs {
		c.bind(r, ls[i])
	}
}

func (c *fn) whileLoop(s *lir.Stmt) {
	f, cond, body := c.f, s.Blocks[0], s.Blocks[1]
	f.At(s.Node)
	ls := c.carry(s.Args, cond.Params, body.Params)
	out := f.Block(wenc.BlockVoid)
	c.openLoop()
	top := f.Loop(wenc.BlockVoid)
	c.block(cond, func() { c.push(cond.Yield[0]) })
	f.At(s.Node)
	f.I("i32.eqz")
	f.BrIf(out)
	c.block(body, func() { c.next(body.Yield, body.Params, ls) })
	f.At(s.Node)
	f.Br(top)
	f.End()
	c.closeLoop()
	f.End()
	c.results(s.Results, ls)
}

func (c *fn) ifElse(s *lir.Stmt) {
	f := c.f
	c.push(s.Args[0])
	f.At(s.Node)
	ls := make([]uint32, len(s.Results))
	for i, r := range s.Results {
		ls[i] = f.Local(wasmType(c.src.TypeOf(r)))
	}
	arm := func(b *lir.Block) {
		c.block(b, func() {
			for _, y := range b.Yield {
				c.push(y)
			}
		})
		f.At(s.Node)
		for i := len(ls) - 1; i >= 0; i-- {
			f.Set(ls[i])
		}
	}
	f.If(wenc.BlockVoid)
	arm(s.Blocks[0])
	if els := s.Blocks[1]; len(els.Stmts)+len(els.Yield) > 0 {
		f.Else()
		arm(els)
	}
	f.End()
	c.results(s.Results, ls)
}

// constOf returns the value of a scalar constant.
func (c *fn) constOf(v lir.Value) (int64, bool) {
	if d := c.v[v].def; d != nil && d.Op == lir.Const && !d.Type.IsVec() {
		return d.Imm, true
	}
	return 0, false
}
