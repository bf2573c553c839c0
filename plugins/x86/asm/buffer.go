package asm

import (
	"encoding/binary"
	"sort"
)

// Label names a place in a Buffer: code (Bind) or a pooled constant.
type Label int32

// Buffer collects code. Jumps are laid out by Finish: all start as the short
// form and grow until every displacement fits, which ends since nothing
// shrinks; alignment padding is recomputed in each round.
type Buffer struct {
	raw    []byte
	labels []int32 // raw offset, or ^index of a constant; -1<<31 if unbound
	sites  []site  // by raw position
	rips   []ripRef
	marks  []mark
	consts []constant
	pool   map[string]Label
	node   int32
}

type site struct {
	pos   int32 // raw offset; the site has no raw bytes
	form  *Form // jump, or nil for alignment
	to    Label
	align int32
	size  int32
	grown bool
}

type ripRef struct {
	pos   int32 // raw offset of the 4 displacement bytes
	after int32 // immediate bytes between them and the instruction's end
	to    Label
	disp  int32
}

type mark struct{ pos, node int32 }

type constant struct {
	data   []byte
	align  int
	offset int32
}

// CodeNode says that the code from Offset on belongs to Node.
type CodeNode struct{ Offset, Node int32 }

const unbound = -1 << 31

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer { return &Buffer{pool: map[string]Label{}, node: -2} }

func (b *Buffer) put(c uint8) { b.raw = append(b.raw, c) }

func (b *Buffer) put32(v int32) { b.raw = binary.LittleEndian.AppendUint32(b.raw, uint32(v)) }

// SetNode says which graph node the code that follows belongs to; -1 for none.
func (b *Buffer) SetNode(n int32) {
	if n != b.node {
		b.node = n
		b.marks = append(b.marks, mark{int32(len(b.raw)), n})
	}
}

// NewLabel makes an unbound label.
func (b *Buffer) NewLabel() Label {
	b.labels = append(b.labels, unbound)
	return Label(len(b.labels) - 1)
}

// Bind places a label here.
func (b *Buffer) Bind(l Label) {
	if b.labels[l] != unbound {
		panic("BUG: label bound twice")
	}
	// The site count orders labels against sites at the same raw offset.
	b.labels[l] = int32(len(b.raw))
	b.sites = append(b.sites, site{pos: int32(len(b.raw)), to: l, align: -1})
}

// Align pads with no-ops to a multiple of n bytes.
func (b *Buffer) Align(n int32) {
	b.sites = append(b.sites, site{pos: int32(len(b.raw)), align: n})
}

// Const returns a label for data in the constant pool, placed after the code
// and aligned to the next power of two of its size, up to 64. Equal constants
// are shared.
func (b *Buffer) Const(data []byte) Label {
	if l, ok := b.pool[string(data)]; ok {
		return l
	}
	n := 1
	for n < len(data) && n < 64 {
		n *= 2
	}
	l := b.Aligned(append([]byte(nil), data...), n)
	b.pool[string(data)] = l
	return l
}

// Aligned places data after the code at an alignment, shared with nothing.
// The data must not change before Finish.
func (b *Buffer) Aligned(data []byte, align int) Label {
	b.consts = append(b.consts, constant{data: data, align: align})
	b.labels = append(b.labels, ^int32(len(b.consts)-1))
	return Label(len(b.labels) - 1)
}

func (b *Buffer) jump(f *Form, to Label) {
	b.sites = append(b.sites, site{pos: int32(len(b.raw)), form: f, to: to, size: 2})
}

func (b *Buffer) ripFixup(m *Mem, immSize uint8) {
	b.rips = append(b.rips, ripRef{int32(len(b.raw)), int32(immSize), m.Label, m.Disp})
	b.put32(0)
}

// Code is finished machine code: text, then the constant pool.
type Code struct {
	Bytes []byte
	Text  int // length of the text part
	Nodes []CodeNode
	at    []int32 // label offsets
}

// Offset returns where a label ended up.
func (c *Code) Offset(l Label) int { return int(c.at[l]) }

// Finish lays out the code.
func (b *Buffer) Finish() *Code {
	at := make([]int32, len(b.labels))
	starts := make([]int32, len(b.sites)) // final offset of each site
	layout := func() int32 {
		shift := int32(0)
		for i := range b.sites {
			s := &b.sites[i]
			starts[i] = s.pos + shift
			switch {
			case s.align == -1:
				at[s.to] = starts[i]
			case s.align > 0:
				s.size = -starts[i] & (s.align - 1)
			}
			shift += s.size
		}
		return int32(len(b.raw)) + shift
	}
	text := layout()
	for changed := true; changed; {
		changed = false
		for i := range b.sites {
			s := &b.sites[i]
			if s.form == nil || s.grown {
				continue
			}
			d := at[s.to] - (starts[i] + 2)
			if d < -128 || d > 127 || s.form.Name == "call" {
				s.grown, changed = true, true
				s.size = 6
				if s.form.Name == "jmp" || s.form.Name == "call" {
					s.size = 5
				}
			}
		}
		text = layout()
	}
	out := make([]byte, 0, int(text)+64*len(b.consts))
	pos := int32(0)
	for i := range b.sites {
		s := &b.sites[i]
		out = append(out, b.raw[pos:s.pos]...)
		pos = s.pos
		switch {
		case s.form != nil:
			out = appendJump(out, s, at[s.to]-(starts[i]+s.size))
		case s.align > 0:
			out = appendNops(out, int(s.size))
		}
	}
	out = append(out, b.raw[pos:]...)
	// final maps a raw offset to its place, counting sites strictly before it
	// and those at it that were there first (marks come before their code).
	final := func(raw int32) int32 {
		i := sort.Search(len(b.sites), func(i int) bool { return b.sites[i].pos > raw })
		if i == 0 {
			return raw
		}
		return raw - b.sites[i-1].pos + starts[i-1] + b.sites[i-1].size
	}
	c := &Code{Text: len(out), at: at}
	for i := range b.consts {
		k := &b.consts[i]
		for len(out)%k.align != 0 {
			out = append(out, 0)
		}
		k.offset = int32(len(out))
		out = append(out, k.data...)
	}
	for l, p := range b.labels {
		if p < 0 && p != unbound {
			at[l] = b.consts[^p].offset
		}
	}
	for _, r := range b.rips {
		p := final(r.pos)
		if b.labels[r.to] == unbound {
			panic("BUG: reference to an unbound label")
		}
		binary.LittleEndian.PutUint32(out[p:], uint32(at[r.to]+r.disp-(p+4+r.after)))
	}
	for _, m := range b.marks {
		n := CodeNode{b.finalMark(m.pos, starts), m.node}
		if k := len(c.Nodes); k > 0 && c.Nodes[k-1].Offset == n.Offset {
			c.Nodes = c.Nodes[:k-1]
		}
		if k := len(c.Nodes); k == 0 || c.Nodes[k-1].Node != n.Node {
			c.Nodes = append(c.Nodes, n)
		}
	}
	c.Bytes = out
	return c
}

// finalMark maps the raw offset of a node mark: jumps at the same raw offset
// may precede or follow it, and the first is good enough for attribution.
func (b *Buffer) finalMark(raw int32, starts []int32) int32 {
	i := sort.Search(len(b.sites), func(i int) bool { return b.sites[i].pos >= raw })
	if i < len(b.sites) && b.sites[i].pos == raw {
		return starts[i]
	}
	if i == 0 {
		return raw
	}
	return raw - b.sites[i-1].pos + starts[i-1] + b.sites[i-1].size
}

func appendJump(out []byte, s *site, disp int32) []byte {
	op := s.form.opcode
	if s.grown {
		if s.form.opmap == 1 {
			out = append(out, 0x0F)
		}
		return binary.LittleEndian.AppendUint32(append(out, op), uint32(disp))
	}
	if s.form.opmap == 1 {
		return append(out, op-0x10, uint8(disp)) // 0F 8x -> 7x
	}
	return append(out, 0xEB, uint8(disp))
}

// nops are the recommended multi-byte no-ops.
var nops = [...]string{"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00",
	"\x66\x0f\x1f\x44\x00\x00", "\x0f\x1f\x80\x00\x00\x00\x00", "\x0f\x1f\x84\x00\x00\x00\x00\x00"}

func appendNops(out []byte, n int) []byte {
	for n > 0 {
		k := min(n, len(nops)-1)
		out = append(out, nops[k]...)
		n -= k
	}
	return out
}
