package syntax

import (
	"strings"

	"github.com/kera-lang/kera/core/diag"
)

// Tree is a parsed file. It is immutable and safe for concurrent reading.
type Tree struct {
	File  *diag.File
	Diags diag.List // of the lexer and the parser, in source order
	root  *Node
}

// Root is the NSourceFile node.
func (t *Tree) Root() *Node { return t.root }

// Node is a node with its place. Pointers are stable: two ways to the same node
// of a tree give the same pointer, so nodes can be keys of maps. All methods
// may be called on nil, which stands for "not there".
type Node struct {
	green    *green
	tree     *Tree
	parent   *Node
	offset   int
	index    int // among the parent's elements
	elements []Element
	children []*Node
}

// Token is a token (or trivia) with its place. All methods may be called on nil.
type Token struct {
	green  *green
	parent *Node
	offset int
}

// Element is a child of a node: exactly one field is set.
type Element struct {
	Node  *Node
	Token *Token
}

func newTree(file *diag.File, g *green, diags diag.List) *Tree {
	t := &Tree{File: file, Diags: diags}
	t.root = t.redden(g, nil, 0)
	return t
}

func (t *Tree) redden(g *green, parent *Node, offset int) *Node {
	n := &Node{green: g, tree: t, parent: parent, offset: offset, elements: make([]Element, len(g.children))}
	tokens := 0
	for _, c := range g.children {
		if c.kind.IsToken() {
			tokens++
		}
	}
	store := make([]Token, 0, tokens)
	n.children = make([]*Node, 0, len(g.children)-tokens)
	for i, c := range g.children {
		if c.kind.IsToken() {
			store = append(store, Token{c, n, offset})
			n.elements[i].Token = &store[len(store)-1]
		} else {
			child := t.redden(c, n, offset)
			child.index = i
			n.elements[i].Node = child
			n.children = append(n.children, child)
		}
		offset += c.width
	}
	return n
}

// Kind is the node's kind, None for nil.
func (n *Node) Kind() Kind {
	if n == nil {
		return None
	}
	return n.green.kind
}

// Parent is the node around this one, nil at the root.
func (n *Node) Parent() *Node {
	if n == nil {
		return nil
	}
	return n.parent
}

// Tree is the tree the node belongs to.
func (n *Node) Tree() *Tree {
	if n == nil {
		return nil
	}
	return n.tree
}

// Children are the child nodes in order, without tokens.
func (n *Node) Children() []*Node {
	if n == nil {
		return nil
	}
	return n.children
}

// Elements are all children in order: nodes, tokens and trivia.
func (n *Node) Elements() []Element {
	if n == nil {
		return nil
	}
	return n.elements
}

// Start and End delimit the node in bytes. A node (except the root) begins and
// ends with a token that is not trivia, or is empty.
func (n *Node) Start() int {
	if n == nil {
		return 0
	}
	return n.offset
}

// End is the offset after the node.
func (n *Node) End() int {
	if n == nil {
		return 0
	}
	return n.offset + n.green.width
}

// Span is the node's place; invalid for nil.
func (n *Node) Span() diag.Span {
	if n == nil {
		return diag.Span{}
	}
	return n.tree.File.Span(n.Start(), n.End())
}

// Text is the node's source.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.tree.File.Text[n.Start():n.End()]
}

// Child is the first child node of one of the kinds, or nil.
func (n *Node) Child(kinds ...Kind) *Node {
	for _, c := range n.Children() {
		for _, k := range kinds {
			if c.Kind() == k {
				return c
			}
		}
	}
	return nil
}

// ChildrenOf are the child nodes of a kind.
func (n *Node) ChildrenOf(kind Kind) []*Node {
	var out []*Node
	for _, c := range n.Children() {
		if c.Kind() == kind {
			out = append(out, c)
		}
	}
	return out
}

func (n *Node) filter(c class) []*Node {
	var out []*Node
	for _, ch := range n.Children() {
		if ch.Kind().is(c) {
			out = append(out, ch)
		}
	}
	return out
}

// Token is the first direct token of one of the kinds, or nil.
func (n *Node) Token(kinds ...Kind) *Token {
	for _, e := range n.Elements() {
		if e.Token == nil {
			continue
		}
		for _, k := range kinds {
			if e.Token.Kind() == k {
				return e.Token
			}
		}
	}
	return nil
}

// Tokens are the direct tokens that are not trivia.
func (n *Node) Tokens() []*Token {
	var out []*Token
	for _, e := range n.Elements() {
		if e.Token != nil && !e.Token.Kind().IsTrivia() {
			out = append(out, e.Token)
		}
	}
	return out
}

// TokensOf are the direct tokens of a kind.
func (n *Node) TokensOf(kind Kind) []*Token {
	var out []*Token
	for _, e := range n.Elements() {
		if e.Token != nil && e.Token.Kind() == kind {
			out = append(out, e.Token)
		}
	}
	return out
}

// FirstToken is the first token inside the node that is not trivia, or nil.
func (n *Node) FirstToken() *Token {
	for _, e := range n.Elements() {
		if e.Token != nil && !e.Token.Kind().IsTrivia() {
			return e.Token
		}
		if t := e.Node.FirstToken(); t != nil {
			return t
		}
	}
	return nil
}

// Docs is the text of the `///` comments directly before the node, without the
// slashes, lines joined with "\n".
func (n *Node) Docs() string {
	if n.Parent() == nil {
		return ""
	}
	before := n.parent.elements[:n.index]
	var lines []string
	for i := len(before) - 1; i >= 0 && before[i].Token != nil && before[i].Token.Kind().IsTrivia(); i-- {
		if t := before[i].Token; t.Kind() == TDocComment {
			lines = append(lines, strings.TrimPrefix(strings.TrimRight(strings.TrimPrefix(t.Text(), "///"), " \t"), " "))
		} else if strings.Count(t.Text(), "\n") > 1 {
			break // a blank line detaches
		}
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return strings.Join(lines, "\n")
}

// Kind is the token's kind, None for nil.
func (t *Token) Kind() Kind {
	if t == nil {
		return None
	}
	return t.green.kind
}

// Text is the token's source, "" for nil.
func (t *Token) Text() string {
	if t == nil {
		return ""
	}
	return t.green.text
}

// Parent is the node the token belongs to.
func (t *Token) Parent() *Node {
	if t == nil {
		return nil
	}
	return t.parent
}

// Start is the token's offset.
func (t *Token) Start() int {
	if t == nil {
		return 0
	}
	return t.offset
}

// End is the offset after the token.
func (t *Token) End() int { return t.Start() + len(t.Text()) }

// Span is the token's place; invalid for nil.
func (t *Token) Span() diag.Span {
	if t == nil {
		return diag.Span{}
	}
	return t.parent.tree.File.Span(t.Start(), t.End())
}
