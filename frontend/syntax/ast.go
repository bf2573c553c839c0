package syntax

import (
	"strings"

	"github.com/kera-lang/kera/core/diag"
)

// The views: each is a node under a name that has accessors. A view of nil is
// legal and answers nil, "" and empty to everything, so a walk over a broken
// tree needs no checks; where an expression, type or pattern is missing the
// accessor gives a Bad view placed at the node it is missing from, which the
// checker should treat as already reported.

// Syntax is what every view has.
type Syntax interface {
	Kind() Kind
	Span() diag.Span
	Text() string
	Syntax() *Node
}

// Syntax gives the node under a view.
func (n *Node) Syntax() *Node { return n }

// Item is a declaration: one of the *Decl views.
type Item interface {
	Syntax
	isItem()
}

// Stmt is LetStmt, AssignStmt, AssertStmt or ExprStmt.
type Stmt interface {
	Syntax
	isStmt()
}

// Expr is one of the *Expr views, Block, NewAxis or BadExpr.
type Expr interface {
	Syntax
	isExpr()
}

// TypeExpr is one of the *Type views or BadType.
type TypeExpr interface {
	Syntax
	isType()
}

// Pattern is one of the *Pat views or BadPat.
type Pattern interface {
	Syntax
	isPattern()
}

// Path is names joined by dots.
type Path struct{ *Node }

// Segments are the names of the path.
func (p Path) Segments() []*Token { return p.TokensOf(TIdent) }

// String is the path without trivia.
func (p Path) String() string {
	var parts []string
	for _, t := range p.Segments() {
		parts = append(parts, t.Text())
	}
	return strings.Join(parts, ".")
}

func (n *Node) path() Path { return Path{n.Child(NPath)} }

func (n *Node) name() *Token { return n.Token(TIdent) }

// nth child of a class, or nil.
func (n *Node) nth(c class, i int) *Node {
	for _, ch := range n.Children() {
		if ch.Kind().is(c) {
			if i == 0 {
				return ch
			}
			i--
		}
	}
	return nil
}

func views[T any](nodes []*Node, wrap func(*Node) T) []T {
	out := make([]T, len(nodes))
	for i, n := range nodes {
		out[i] = wrap(n)
	}
	return out
}

// expr is the i-th expression child.
func (n *Node) expr(i int) Expr {
	if e := n.nth(clExpr, i); e != nil {
		return ExprOf(e)
	}
	return BadExpr{n}
}

func (n *Node) exprs() []Expr { return views(n.filter(clExpr), ExprOf) }

func (n *Node) typ(i int) TypeExpr {
	if t := n.nth(clType, i); t != nil {
		return TypeOf(t)
	}
	return BadType{n}
}

// optType is the first type child, or nil where the grammar makes it optional.
func (n *Node) optType() TypeExpr {
	if t := n.nth(clType, 0); t != nil {
		return TypeOf(t)
	}
	return nil
}

func (n *Node) pattern(i int) Pattern {
	if p := n.nth(clPat, i); p != nil {
		return PatternOf(p)
	}
	return BadPat{n}
}

func (n *Node) block() Block { return Block{n.Child(NBlock)} }
