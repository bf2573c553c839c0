// Package srcgen makes random well-typed Kera programs, as trees that print as
// source, and smaller ones of a program that fails.
//
// What must hold: a seed always gives the same program; nearly every program
// compiles; a program that traps does so for a reason that the language gives.
package srcgen

import (
	"fmt"
	"strings"
)

// Type is an element type and a shape; no dims is a scalar.
type Type struct {
	Elem string
	Dims []int
}

// String is the type as source.
func (t Type) String() string {
	if len(t.Dims) == 0 {
		return t.Elem
	}
	return t.Elem + "[" + strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Dims), " ", ", "), "[]") + "]"
}

func (t Type) size() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

func (t Type) scalar() Type          { return Type{Elem: t.Elem} }
func (t Type) of(e string) Type      { return Type{Elem: e, Dims: t.Dims} }
func (t Type) equal(u Type) bool     { return t.String() == u.String() }
func tensor(e string, d ...int) Type { return Type{Elem: e, Dims: d} }

// node is a piece of source: text between its kids, in which %% stands for one.
type node struct {
	typ  Type
	text string // the kids' places are \x00
	kids []*node
	drop bool // a statement that may be left out
	expr bool
}

func (n *node) write(b *strings.Builder) {
	k := 0
	for _, part := range strings.SplitAfter(n.text, "\x00") {
		text, hole := strings.CutSuffix(part, "\x00")
		b.WriteString(text)
		if hole {
			n.kids[k].write(b)
			k++
		}
	}
}

func (n *node) clone() *node {
	c := *n
	c.kids = make([]*node, len(n.kids))
	for i, k := range n.kids {
		c.kids[i] = k.clone()
	}
	return &c
}

// Program is a generated program; its one entry is f.
type Program struct {
	root     *node
	Features map[string]int // how often each form occurs
}

// Source is the program's text.
func (p *Program) Source() string {
	var b strings.Builder
	p.root.write(&b)
	return b.String()
}

// Shrink looks for the smallest program for which fails still holds, by leaving
// statements out and putting an operand or a plain value in an expression's
// place. It asks at most budget times. A candidate need not compile.
func (p *Program) Shrink(budget int, fails func(source string) bool) *Program {
	root := p.root.clone()
	try := func(at **node, with *node) bool {
		was := *at
		*at = with
		budget--
		if budget >= 0 && fails((&Program{root: root}).Source()) {
			return true
		}
		*at = was
		return false
	}
	for changed := true; changed && budget > 0; {
		changed = false
		var visit func(at **node)
		visit = func(at **node) {
			if budget <= 0 {
				return
			}
			for _, with := range smaller(*at) {
				if try(at, with) {
					changed = true
					break
				}
			}
			for i := range (*at).kids {
				visit(&(*at).kids[i])
			}
		}
		visit(&root)
	}
	return &Program{root: root, Features: p.Features}
}

// smaller lists what may stand in n's place, the smallest first.
func smaller(n *node) []*node {
	if n.drop && n.text != "" {
		return []*node{{}}
	}
	if !n.expr || len(n.kids) == 0 && isPlain(n) {
		return nil
	}
	out := []*node{plain(n.typ)}
	var below func(m *node)
	below = func(m *node) {
		for _, k := range m.kids {
			if k.expr && k.typ.equal(n.typ) {
				out = append(out, k)
				if len(out) > 12 {
					return
				}
			}
			below(k)
		}
	}
	below(n)
	return out
}

// plain is a value of type t without operands.
func plain(t Type) *node {
	lit := map[bool]string{true: "1.0", false: "1"}[isFloat(t.Elem)] + t.Elem
	if t.Elem == "bool" {
		lit = "true"
	}
	if len(t.Dims) > 0 {
		lit = "broadcast(" + lit + ", " + strings.ReplaceAll(fmt.Sprint(t.Dims), " ", ", ") + ")"
	}
	return &node{typ: t, text: lit, expr: true}
}

func isPlain(n *node) bool { return n.text == plain(n.typ).text }

func isFloat(e string) bool  { return e[0] == 'f' }
func isInt(e string) bool    { return e[0] == 'i' || e[0] == 'u' }
func isSigned(e string) bool { return e[0] == 'i' }
