package syntax

import (
	"hash/maphash"
	"slices"
)

// green is a position-free, immutable piece of tree: a token if kind.IsToken(),
// else a node. width is the length of its text in bytes.
type green struct {
	kind     Kind
	width    int
	text     string // tokens
	children []*green
}

// Cache interns green trees, so that equal texts of equal kind are one object
// within a file, between files and between versions of a file. It is not safe
// for concurrent use.
type Cache struct {
	seed   maphash.Seed
	tokens map[tokenKey]*green
	nodes  map[uint64][]*green
}

type tokenKey struct {
	kind Kind
	text string
}

// NewCache makes an empty cache.
func NewCache() *Cache {
	return &Cache{seed: maphash.MakeSeed(), tokens: map[tokenKey]*green{}, nodes: map[uint64][]*green{}}
}

func (c *Cache) token(kind Kind, text string) *green {
	key := tokenKey{kind, text}
	g, ok := c.tokens[key]
	if !ok {
		g = &green{kind: kind, width: len(text), text: text}
		c.tokens[key] = g
	}
	return g
}

// maxInterned bounds the width of interned nodes: wide lists hardly ever
// repeat, and hashing them again and again would cost more than they weigh.
const maxInterned = 32

// node interns a node; it copies children.
func (c *Cache) node(kind Kind, children []*green) *green {
	width := 0
	for _, ch := range children {
		width += ch.width
	}
	if len(children) > maxInterned {
		return &green{kind: kind, width: width, children: slices.Clone(children)}
	}
	// Children are interned, so the identity of a node is the identity of its
	// children; the hash of pointers never reaches any output.
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteByte(byte(kind))
	for _, ch := range children {
		maphash.WriteComparable(&h, ch)
	}
	key := h.Sum64()
	for _, g := range c.nodes[key] {
		if g.kind == kind && slices.Equal(g.children, children) {
			return g
		}
	}
	g := &green{kind: kind, width: width, children: slices.Clone(children)}
	c.nodes[key] = append(c.nodes[key], g)
	return g
}
