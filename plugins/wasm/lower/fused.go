package lower

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/wasm/fma"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// inlineFMA reports whether a fused step on t is made in place. That is so for
// four f32 lanes, where widening the factors costs as much as the step itself
// and a contraction's tile uses each factor several times.
func inlineFMA(t lir.Type) bool { return t.Elem == lir.F32 && t.Lanes == 4 }

func fusedMulAdd(c *fn, s *lir.Stmt) bool {
	if inlineFMA(s.Type) {
		c.fusedF32x4(s)
		return true
	}
	for _, a := range s.Args {
		c.push(a)
	}
	c.f.At(s.Node)
	c.f.Call(c.h.fma[fmaKind(s.Type)])
	return true
}

// fusedF32x4 is fma_f32x4 of package fma, with factors that were widened once
// for all steps of the block.
func (c *fn) fusedF32x4(s *lir.Stmt) {
	f := c.f
	var temps []uint32
	set := func() uint32 {
		l := f.Local(wenc.V128)
		temps = append(temps, l)
		f.Set(l)
		return l
	}
	ops := c.operands(s)
	a, b := c.widened(ops[0], s.Node), c.widened(ops[1], s.Node)
	c.push(ops[2])
	f.At(s.Node)
	z := set()
	var p, w, sum [2]uint32
	for h := range 2 {
		f.Get(a.half[h])
		f.Get(b.half[h])
		f.I("f64x2.mul")
		p[h] = set()
		f.Get(z)
		c.widenHalf(h)
		w[h] = set()
		f.Get(p[h])
		f.Get(w[h])
		f.I("f64x2.add")
		sum[h] = set()
	}
	narrow := func(push func(h int)) {
		push(0)
		f.I("f32x4.demote_f64x2_zero")
		push(1)
		f.I("f32x4.demote_f64x2_zero")
		f.I("f64x2.extract_lane", 0)
		f.I("f64x2.replace_lane", 1)
	}
	narrow(func(h int) { f.Get(sum[h]) })
	r := set()
	f.Get(r)
	f.I("f32x4.abs")
	c.uniform(4, 0x00800001)
	f.I("f32x4.lt")
	for h := range 2 {
		f.Get(sum[h])
		c.uniform(8, 0x1FFFFFFF)
		f.I("v128.and")
		c.uniform(8, 0x10000000)
		f.I("i64x2.eq")
		f.I("v128.or")
	}
	f.I("v128.any_true")
	f.If(wenc.BlockVoid)
	narrow(func(h int) {
		f.Get(p[h])
		f.Get(w[h])
		f.Call(c.h.fma[fma.OddSumF64x2])
	})
	f.Set(r)
	f.End()
	f.Get(r)
	for _, l := range temps {
		f.Free(l)
	}
	a.done(f)
	b.done(f)
}

// widenHalf takes a vector of f32 and leaves its low or high half as f64.
func (c *fn) widenHalf(h int) {
	if h == 1 {
		c.f.I("f64x2.extract_lane", 1)
		c.f.I("f64x2.splat")
	}
	c.f.I("f64x2.promote_low_f32x4")
}

// factor is a factor widened to f64; own says that nobody shares it.
type factor struct {
	half [2]uint32
	own  bool
}

func (w factor) done(f *wenc.Func) {
	if !w.own {
		return
	}
	f.Free(w.half[0])
	if w.half[1] != w.half[0] {
		f.Free(w.half[1])
	}
}

// widened gives the two halves of v, a vector or a scalar that stands for all
// lanes, and counts one use of it.
func (c *fn) widened(v lir.Value, node int32) factor {
	f := c.f
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if h, ok := c.scopes[i].wide[v]; ok {
			c.release(v)
			return factor{half: h}
		}
	}
	var h [2]uint32
	c.push(v)
	f.At(node)
	if c.src.TypeOf(v).IsVec() {
		t := f.Local(wenc.V128)
		f.Set(t)
		for k := range h {
			f.Get(t)
			c.widenHalf(k)
			h[k] = f.Local(wenc.V128)
			f.Set(h[k])
		}
		f.Free(t)
	} else {
		f.I("f64.promote_f32")
		f.I("f64x2.splat")
		h[0] = f.Local(wenc.V128)
		f.Set(h[0])
		h[1] = h[0]
	}
	top := &c.scopes[len(c.scopes)-1]
	if top.factors[v] > 1 {
		top.wide[v] = h
		return factor{half: h}
	}
	return factor{half: h, own: true}
}
