package srcgen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	elems = []string{"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "f32", "i64"}
	nums  = elems[1:]
	sizes = []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}
)

// Bounds on a program: elements of a tensor, and trips of the loops around a
// place times what is computed there.
const (
	maxElems = 600
	maxWork  = 20_000
)

type variable struct {
	name    string
	typ     Type
	below   int // an index variable's values are in 0..below
	mutable bool
}

type gen struct {
	r     *rand.Rand
	vars  []variable
	fns   []*fn
	names int
	work  int
	feats map[string]int
	forms []form
}

type fn struct {
	name   string
	params []Type
	result Type
}

// New makes the program of a seed.
func New(seed uint64) *Program {
	g := &gen{r: rand.New(rand.NewPCG(seed, 0x5eed)), work: 1, feats: map[string]int{}, forms: forms()}
	root := &node{text: ""}
	add := func(n *node) { root.text += "\x00\n"; root.kids = append(root.kids, n) }
	for range g.r.IntN(3) {
		add(g.helper())
	}
	add(g.entry())
	return &Program{root: root, Features: g.feats}
}

func (g *gen) name(prefix string) string { g.names++; return fmt.Sprintf("%s%d", prefix, g.names) }
func (g *gen) one(p int) bool            { return g.r.IntN(p) == 0 }
func pick[T any](g *gen, xs []T) T       { return xs[g.r.IntN(len(xs))] }

func (g *gen) typeOf(elems []string) Type {
	t := Type{Elem: pick(g, elems)}
	if len(g.vars) > 0 && g.one(2) {
		return t.with(pick(g, g.vars).typ.Dims)
	}
	for range []int{0, 1, 1, 1, 2, 2, 3}[g.r.IntN(7)] {
		n := pick(g, sizes)
		if g.one(60) {
			n = 0
		}
		if t.size()*n > maxElems {
			n = 1 + g.r.IntN(4)
		}
		t.Dims = append(t.Dims, n)
	}
	return t
}

func (t Type) with(dims []int) Type { return Type{Elem: t.Elem, Dims: dims} }

func e(t Type, text string, kids ...*node) *node {
	return &node{typ: t, text: strings.ReplaceAll(text, "@@", "\x00"), kids: kids, expr: true}
}

// helper is a function that the entry may call.
func (g *gen) helper() *node {
	f := &fn{name: g.name("h"), result: g.typeOf(elems)}
	for range 1 + g.r.IntN(2) {
		f.params = append(f.params, g.typeOf(elems))
	}
	g.vars = nil
	var ps []string
	for _, t := range f.params {
		v := variable{name: g.name("p"), typ: t}
		g.vars = append(g.vars, v)
		ps = append(ps, v.name+": "+t.String())
	}
	body := g.body(f.result, 3)
	g.fns = append(g.fns, f)
	return &node{text: "fn " + f.name + "(" + strings.Join(ps, ", ") + ") -> " + f.result.String() + " \x00", kids: []*node{body}}
}

func (g *gen) entry() *node {
	g.vars = nil
	var ps []string
	for range 1 + g.r.IntN(3) {
		v := variable{name: g.name("x"), typ: g.typeOf(elems)}
		g.vars = append(g.vars, v)
		ps = append(ps, v.name+": "+v.typ.String())
	}
	if g.one(30) {
		half := pick(g, []string{"f16", "bf16"})
		v := variable{name: g.name("x"), typ: g.typeOf([]string{half})}
		g.feats[half]++
		ps = append(ps, v.name+": "+v.typ.String())
		g.vars = append(g.vars, v)
	}
	var outs []string
	b := &node{}
	for range 1 + g.r.IntN(4) {
		b.text += "    \x00\n"
		b.kids = append(b.kids, g.statement(3))
	}
	var results []string
	for range 1 + g.r.IntN(2) {
		t := g.typeOf(elems)
		outs = append(outs, t.String())
		results = append(results, "\x00")
		b.kids = append(b.kids, g.expr(t, 4))
	}
	b.text = "{\n" + b.text + "    (" + strings.Join(results, ", ") + ")\n}\n"
	return &node{text: "pub fn f(" + strings.Join(ps, ", ") + ") -> (" + strings.Join(outs, ", ") + ") \x00", kids: []*node{b}}
}

// body is a block of statements and a value.
func (g *gen) body(t Type, depth int) *node {
	held := len(g.vars)
	b := &node{typ: t, text: "{ "}
	if depth > 1 {
		for range g.r.IntN(3) / 2 * (1 + g.r.IntN(2)) {
			b.text += "\x00\n"
			b.kids = append(b.kids, g.statement(depth-1))
		}
	}
	b.text += "\x00 }"
	b.kids = append(b.kids, g.expr(t, depth))
	g.vars = g.vars[:held]
	return b
}

// within makes f's nodes with the loops around them running n times.
func (g *gen) within(n int, f func() *node) *node {
	held, work := len(g.vars), g.work
	g.work *= max(n, 1)
	out := f()
	g.vars, g.work = g.vars[:held], work
	return out
}

// statement binds a variable, or binds one and changes it in a loop.
func (g *gen) statement(depth int) *node {
	t := g.typeOf(elems)
	if g.work*t.size() > maxWork {
		t = t.scalar()
	}
	v := variable{name: g.name("v"), typ: t}
	init := g.expr(t, depth-1)
	if g.one(2) || g.work > maxWork/8 {
		g.feats["let"]++
		g.vars = append(g.vars, v)
		return &node{text: "let " + v.name + ": " + t.String() + " = \x00", kids: []*node{init}, drop: true}
	}
	v.mutable = true
	g.vars = append(g.vars, v)
	trips := 1 + g.r.IntN(9)
	i := g.name("trip")
	loop := g.within(trips, func() *node {
		g.vars = append(g.vars, variable{name: i, typ: tensor("i64"), below: trips})
		while := &node{}
		if g.one(4) {
			g.feats["while"]++
			while = &node{text: " while \x00", kids: []*node{g.expr(tensor("bool"), 2)}, drop: true}
		}
		body := &node{text: "\x00", kids: []*node{g.change(v, depth-1)}}
		if g.one(3) {
			body = &node{text: "\x00\n\x00", kids: []*node{g.change(v, depth-1), g.change(v, depth-1)}}
		}
		return &node{text: "for " + i + " in 0.." + fmt.Sprint(trips) + "\x00 {\n\x00 }", kids: []*node{while, body}, drop: true}
	})
	g.feats["loop"]++
	return &node{text: "let mut " + v.name + ": " + t.String() + " = \x00\n\x00", kids: []*node{init, loop}, drop: true}
}

// change assigns to v or to a part of it, perhaps behind a condition.
func (g *gen) change(v variable, depth int) *node {
	var out *node
	switch n := len(v.typ.Dims); {
	case n > 0 && v.typ.size() > 0 && !g.one(3):
		g.feats["update"]++
		kids := []*node{}
		at := make([]string, n)
		for d, size := range v.typ.Dims {
			at[d] = "\x00"
			kids = append(kids, g.index(size, depth-1))
		}
		t := v.typ.scalar()
		if g.one(4) && v.typ.Dims[n-1] > 1 {
			lo := g.r.IntN(v.typ.Dims[n-1] - 1)
			hi := lo + 1 + g.r.IntN(v.typ.Dims[n-1]-lo-1)
			g.feats["update slice"]++
			at[n-1] = fmt.Sprintf("%d..%d", lo, hi)
			kids = kids[:n-1]
			t.Dims = []int{hi - lo}
			if g.one(2) && hi < v.typ.Dims[n-1] { // from a window that overlaps
				from := make([]string, n)
				copy(from, at)
				from[n-1] = fmt.Sprintf("%d..%d", lo+1, hi+1)
				both := append(append([]*node{}, kids...), kids...)
				return &node{text: v.name + "[" + strings.Join(at, ", ") + "] = " + v.name + "[" + strings.Join(from, ", ") + "]", kids: both, drop: true}
			}
		}
		kids = append(kids, g.expr(t, depth))
		out = &node{text: v.name + "[" + strings.Join(at, ", ") + "] = \x00", kids: kids, drop: true}
	default:
		out = &node{text: v.name + " = \x00", kids: []*node{g.expr(v.typ, depth)}, drop: true}
	}
	if g.one(4) {
		g.feats["if statement"]++
		return &node{text: "if \x00 { \x00 }", kids: []*node{g.expr(tensor("bool"), 2), out}, drop: true}
	}
	return out
}

// index is an i64 in 0..n, or now and then one that may not be.
func (g *gen) index(n, depth int) *node {
	t := tensor("i64")
	var fit []variable
	for _, v := range g.vars {
		if v.below > 0 && v.below <= n {
			fit = append(fit, v)
		}
	}
	switch {
	case len(fit) > 0 && !g.one(4):
		return e(t, pick(g, fit).name)
	case depth > 0 && g.one(60):
		g.feats["index unchecked"]++
		return g.expr(t, depth)
	case depth < 1 || g.one(3):
		return e(t, fmt.Sprint(g.r.IntN(max(n, 1))))
	}
	return e(t, fmt.Sprintf("(((@@ %% %d) + %d) %% %d)", n, n, n), g.expr(t, depth-1))
}
