package toy

import (
	"math/rand"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// Shape bounds a random program.
type Shape struct {
	Stmts int // statements per sequence
	Depth int // nesting of ifs and loops
	Live  int // values kept to choose operands from, per class
}

// Random builds a random structured program that terminates: straight code, ifs with and
// without else (critical edges), loops with carried values, in all classes.
func Random(t *mir.Target, r *rand.Rand, s Shape) *mir.Func {
	g := &gen{b: mir.NewBuilder(t, "random", R(0), R(1), R(2)), r: r, s: s}
	g.vals[GP] = append(g.vals[GP], g.b.Params(0)...)
	g.vals[Vec] = append(g.vals[Vec], g.b.Op(0, VCvt, g.vals[GP][0]), g.b.OpImm(0, VSet, 7))
	g.vals[Mask] = append(g.vals[Mask], g.b.Op(0, KCmp, g.vals[Vec][0], g.vals[Vec][1]))
	g.seq(s.Depth)
	sum := g.get(GP)
	for _, v := range g.vals[GP] {
		sum = g.b.Op(g.nextNode(), Add, sum, v)
	}
	for _, v := range g.vals[Vec] {
		g.b.Store(g.nextNode(), VStore, mir.Addr{Base: sum, Disp: 8}, v)
	}
	g.b.Ret(g.nextNode(), Ret, sum)
	f, err := g.b.Finish()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

type gen struct {
	b    *mir.Builder
	r    *rand.Rand
	s    Shape
	node mir.Node
	vals [3][]mir.Reg
}

func (g *gen) nextNode() mir.Node { g.node++; return g.node }

func (g *gen) get(c mir.Class) mir.Reg { return g.vals[c][g.r.Intn(len(g.vals[c]))] }

func (g *gen) add(c mir.Class, v mir.Reg) {
	if len(g.vals[c]) < g.s.Live {
		g.vals[c] = append(g.vals[c], v)
		return
	}
	g.vals[c][g.r.Intn(len(g.vals[c]))] = v
}

func (g *gen) addr() mir.Addr {
	a := mir.Addr{Base: g.get(GP), Disp: int32(g.r.Intn(16) * 8)}
	if g.r.Intn(2) == 0 {
		a.Index, a.Scale = g.get(GP), 1<<g.r.Intn(4)
	}
	return a
}

func (g *gen) seq(depth int) {
	for range g.s.Stmts {
		switch {
		case depth > 0 && g.r.Intn(8) == 0:
			g.branch(depth - 1)
		case depth > 0 && g.r.Intn(8) == 0:
			g.loop(depth - 1)
		default:
			g.stmt()
		}
	}
}

func (g *gen) stmt() {
	b, n := g.b, g.nextNode()
	switch g.r.Intn(19) {
	case 0:
		g.add(GP, b.OpImm(n, Const, int64(g.r.Intn(1000))))
	case 1, 2:
		g.add(GP, b.Op(n, Add, g.get(GP), g.get(GP)))
	case 3:
		g.add(GP, b.OpMem(n, Lea, g.addr()))
	case 4:
		g.add(GP, b.Op(n, Mul, g.get(GP), g.get(GP)))
	case 5:
		g.add(GP, b.Op(n, Shl, g.get(GP), g.get(GP)))
	case 6:
		i := b.Emit(n, Div, mir.Args{Uses: []mir.Reg{g.get(GP), g.get(GP)}})
		g.add(GP, b.DefK(i, 0))
		g.add(GP, b.DefK(i, 1))
	case 7:
		g.add(GP, b.Op(n, Sel, g.get(GP), g.get(GP), g.get(GP), g.get(GP)))
	case 8:
		g.add(GP, b.Op(n, Call, g.get(GP), g.get(GP)))
	case 9:
		g.add(GP, b.OpMem(n, Load, g.addr()))
	case 10:
		b.Store(n, Store, g.addr(), g.get(GP))
	case 11:
		g.add(Vec, b.OpImm(n, VSet, int64(g.r.Intn(1000))))
	case 12:
		g.add(Vec, b.Op(n, VCvt, g.get(GP)))
	case 13:
		g.add(Vec, b.Op(n, VFma, g.get(Vec), g.get(Vec), g.get(Vec)))
	case 14:
		g.add(Vec, b.OpMem(n, VFmaM, g.addr(), g.get(Vec), g.get(Vec)))
	case 15:
		g.add(GP, b.Op(n, VGet, g.get(Vec)))
	case 16:
		g.add(Mask, b.Op(n, KCmp, g.get(Vec), g.get(Vec)))
	case 17:
		g.add(Vec, b.Op(n, KSel, g.get(Mask), g.get(Vec), g.get(Vec)))
	case 18:
		i := b.Emit(n, Two, mir.Args{Uses: []mir.Reg{g.get(GP), g.get(GP)}})
		g.add(GP, b.DefK(i, 0))
		g.add(GP, b.DefK(i, 1))
	}
}

// some picks values of each class to pass to block parameters.
func (g *gen) some() (cs []mir.Class, vs []mir.Reg) {
	for c := range g.vals {
		for range g.r.Intn(4) {
			cs, vs = append(cs, mir.Class(c)), append(vs, g.get(mir.Class(c)))
		}
	}
	return cs, vs
}

func (g *gen) same(cs []mir.Class) (vs []mir.Reg) {
	for _, c := range cs {
		vs = append(vs, g.get(c))
	}
	return vs
}

func (g *gen) save() (s [3][]mir.Reg) {
	for c := range s {
		s[c] = append(s[c], g.vals[c]...)
	}
	return s
}

func (g *gen) branch(depth int) {
	b := g.b
	cs, vs := g.some()
	then, join := b.Block(), b.Block(cs...)
	cond := mir.Args{Uses: []mir.Reg{g.get(GP), g.get(GP)}}
	before := g.save()
	if g.r.Intn(2) == 0 {
		b.Branch(g.nextNode(), Br, cond, mir.To(then), mir.To(join, vs...))
		b.Start(then)
		g.seq(depth)
		b.Jump(g.nextNode(), join, g.same(cs)...)
	} else {
		ps, pv := g.some()
		els := b.Block(ps...)
		b.Branch(g.nextNode(), Br, cond, mir.To(then), mir.To(els, pv...))
		b.Start(then)
		g.seq(depth)
		b.Jump(g.nextNode(), join, g.same(cs)...)
		g.vals = before
		before = g.save()
		b.Start(els)
		for k, p := range b.Params(els) {
			g.add(ps[k], p)
		}
		g.seq(depth)
		b.Jump(g.nextNode(), join, g.same(cs)...)
	}
	g.vals = before
	b.Start(join)
	for k, p := range b.Params(join) {
		g.add(cs[k], p)
	}
}

func (g *gen) loop(depth int) {
	b := g.b
	cs, vs := g.some()
	cs = append(cs, GP)
	vs = append(vs, b.OpImm(g.nextNode(), Const, int64(1+g.r.Intn(3))))
	head, exit := b.Block(cs...), b.Block()
	b.Jump(g.nextNode(), head, vs...)
	b.Start(head)
	ps := b.Params(head)
	for k, p := range ps[:len(ps)-1] {
		g.add(cs[k], p)
	}
	count := ps[len(ps)-1]
	g.seq(depth)
	// The back edge passes values of the body: parameters rotate among themselves too.
	back := g.same(cs[:len(cs)-1])
	if g.r.Intn(2) == 0 {
		minus := b.OpImm(g.nextNode(), Const, -1)
		zero := b.OpImm(g.nextNode(), Const, 0)
		n := b.Op(g.nextNode(), Add, count, minus)
		b.Branch(g.nextNode(), Br, mir.Args{Uses: []mir.Reg{zero, n}}, mir.To(head, append(back, n)...), mir.To(exit))
	} else {
		latch := b.Block()
		i := b.F.NumInsts()
		b.Branch(g.nextNode(), DecBr, mir.Args{Uses: []mir.Reg{count}}, mir.To(latch), mir.To(exit))
		n := b.DefK(int32(i), 0)
		b.Start(latch)
		b.Jump(g.nextNode(), head, append(back, n)...)
	}
	b.Start(exit)
}
