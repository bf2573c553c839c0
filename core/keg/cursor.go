package keg

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

// cursor walks the bytes of one section. After the first failure every read
// gives zero.
type cursor struct {
	kind uint32
	base uint64 // of b in the file
	b    []byte
	at   int
	err  *FormatError
}

func newCursor(e *entry) *cursor { return &cursor{kind: e.kind, base: e.at, b: e.b} }

func (c *cursor) fail(format string, args ...any) { c.failAt(c.at, format, args...) }

func (c *cursor) failAt(at int, format string, args ...any) {
	if c.err == nil {
		c.err = &FormatError{int64(c.base) + int64(at), c.kind, fmt.Sprintf(format, args...)}
	}
}

func (c *cursor) left() uint64 { return uint64(len(c.b) - c.at) }

func (c *cursor) take(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > c.left() {
		c.fail("%d bytes wanted, %d left", n, c.left())
		return nil
	}
	s := c.b[c.at : c.at+int(n)]
	c.at += int(n)
	return s
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) digest() (d digest.D) {
	copy(d[:], c.take(digest.Size))
	return d
}

// count reads a u32 count of items that take at least each bytes, so that no
// count asks for more memory than the section justifies.
func (c *cursor) count(each uint64) int {
	n := c.u32()
	if c.err == nil && uint64(n) > c.left()/each {
		c.failAt(c.at-4, "%d items in %d bytes", n, c.left())
		return 0
	}
	return int(n)
}

// ids reads n 32-bit indices. Indices of 2^31 and more become negative, which
// every check of an index refuses.
func ids[T ~int32](c *cursor, n uint32) []T {
	b := c.take(4 * uint64(n))
	out := make([]T, len(b)/4)
	for i := range out {
		out[i] = T(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// ends reads n ends of lists as n+1 offsets, the first being 0.
func (c *cursor) ends(n uint32) []uint32 {
	b := c.take(4 * uint64(n))
	out := make([]uint32, len(b)/4+1)
	for i := range len(b) / 4 {
		out[i+1] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func u16s[T ~uint16](c *cursor, n uint32) []T {
	b := c.take(2 * uint64(n))
	out := make([]T, len(b)/2)
	for i := range out {
		out[i] = T(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return out
}

func (c *cursor) refs(n uint32) []graph.Ref {
	b := c.take(8 * uint64(n))
	out := make([]graph.Ref, len(b)/8)
	for i := range out {
		out[i] = graph.Ref{Node: graph.NodeID(binary.LittleEndian.Uint32(b[8*i:])), Out: int32(binary.LittleEndian.Uint32(b[8*i+4:]))}
	}
	return out
}

// done fails if bytes are left.
func (c *cursor) done() *FormatError {
	if c.err == nil && c.left() > 0 {
		c.fail("%d bytes too many", c.left())
	}
	return c.err
}

// exact checks that the section's size is what its counts give.
func (c *cursor) exact(want uint64) {
	if c.err == nil && uint64(len(c.b)) != want {
		c.failAt(0, "%d bytes, the counts make %d", len(c.b), want)
	}
}

// table calls item for each item of a table section with a cursor over its
// bytes, all of which it must read.
func (c *cursor) table(item func(c *cursor, i int)) {
	n := c.count(4)
	ends := c.ends(uint32(n))
	if c.err != nil {
		return
	}
	start := c.at
	if uint64(ends[n]) != c.left() {
		c.fail("items end at %d of %d bytes", ends[n], c.left())
		return
	}
	for i := range n {
		if ends[i] > ends[i+1] || uint64(ends[i+1]) > uint64(len(c.b)-start) {
			c.failAt(4+4*i, "item %d ends at %d", i, ends[i+1])
			return
		}
		sub := &cursor{kind: c.kind, base: c.base, b: c.b[:start+int(ends[i+1])], at: start + int(ends[i])}
		item(sub, i)
		if c.err = sub.done(); c.err != nil {
			return
		}
	}
	c.at = len(c.b)
}

func (c *cursor) text() string {
	s := string(c.take(c.left()))
	if !utf8.ValidString(s) {
		c.failAt(c.at-len(s), "string is not UTF-8")
	}
	for i := range len(s) {
		if s[i] == 0 {
			c.failAt(c.at-len(s)+i, "string holds a zero byte")
		}
	}
	return s
}
