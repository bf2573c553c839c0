package interp

import (
	"encoding/binary"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Reading and writing single elements. In a graph x[i, j] is a slice of one
// element reshaped to a scalar, and x[i, j] = v an update by a scalar reshaped
// to a window of one. Both would make a tensor for every element, so a plan
// joins each pair.

// joinElements rewrites the pairs of a region: a reshape of a one-element slice
// reads from the slice's operand, an update by a reshaped scalar takes the
// scalar. It returns the nodes that are left; what fed only a rewritten node is
// dropped.
func joinElements(p *plan, nodes []*node) []*node {
	maker, uses := map[int32]*node{}, map[int32]int{}
	for _, n := range nodes {
		for j := range n.out {
			maker[n.o+int32(j)] = n
		}
		for _, s := range n.ins {
			uses[s]++
		}
	}
	for _, s := range p.results {
		uses[s]++
	}
	dead := map[graph.NodeID]bool{}
	drop := func(m *node) {
		if uses[m.o]--; uses[m.o] == 0 {
			dead[m.id] = true
			for _, s := range m.ins {
				uses[s]--
			}
		}
	}
	for _, n := range nodes {
		switch n.op {
		case op.Reshape:
			m := maker[n.ins[0]]
			if m == nil || m.op != op.Slice || !n.out[0].IsScalar() || product(m.in[0].Shape()) == 0 {
				continue
			}
			n.element = true
			n.in, n.ins, n.attrs, n.op = m.in, m.ins, m.attrs, op.Slice
			for _, s := range n.ins {
				uses[s]++
			}
			drop(m)
		case op.Update:
			m := maker[n.ins[1]]
			if m == nil || m.op != op.Reshape || !m.in[0].IsScalar() || n.out[0].Rank() == 0 {
				continue
			}
			n.element = true
			n.in, n.ins = append([]types.Type{}, n.in...), append([]int32{}, n.ins...)
			n.in[1], n.ins[1] = m.in[0], m.ins[0]
			uses[m.ins[0]]++
			drop(m)
		case op.Gather:
			n.element = n.in[0].Rank() == 1 && n.in[1].IsScalar() && product(n.in[0].Shape()) > 0
		}
	}
	left := nodes[:0:0]
	for _, n := range nodes {
		if !dead[n.id] {
			left = append(left, n)
		}
	}
	return left
}

// elementOf returns the quick form of a joined node.
func elementOf(n *node) quick {
	switch n.op {
	case op.Slice:
		return readElement(n, elementAt(n.in[0].Shape(), n.ins[1:]))
	case op.Gather:
		a, d, last := n.ins[1], n.in[1].DType, n.in[0].Dims[0].Size-1
		return readElement(n, func(fr []val) int64 { return max(0, min(indexOf(d, fr[a].bits), last)) })
	}
	return writeElement(n)
}

// elementAt gives the offset of the element at the starts, each clamped.
func elementAt(dims []int64, starts []int32) func(fr []val) int64 {
	last, strides := make([]int64, len(dims)), rowMajor(dims)
	for k, d := range dims {
		last[k] = d - 1
	}
	switch len(dims) {
	case 1:
		s, l := starts[0], last[0]
		return func(fr []val) int64 { return max(0, min(int64(fr[s].bits), l)) }
	case 2:
		s, t, l, m, w := starts[0], starts[1], last[0], last[1], strides[0]
		return func(fr []val) int64 {
			return max(0, min(int64(fr[s].bits), l))*w + max(0, min(int64(fr[t].bits), m))
		}
	}
	return func(fr []val) int64 {
		at := int64(0)
		for k, s := range starts {
			at += max(0, min(int64(fr[s].bits), last[k])) * strides[k]
		}
		return at
	}
}

func readElement(n *node, at func(fr []val) int64) quick {
	a, o := n.ins[0], n.o
	switch n.in[0].DType.Size() {
	case 1:
		return func(fr []val) { fr[o].bits = uint64(fr[a].buf[at(fr)]) }
	case 2:
		return func(fr []val) { fr[o].bits = uint64(binary.LittleEndian.Uint16(fr[a].buf[at(fr)*2:])) }
	case 4:
		return func(fr []val) { fr[o].bits = uint64(binary.LittleEndian.Uint32(fr[a].buf[at(fr)*4:])) }
	}
	return func(fr []val) { fr[o].bits = binary.LittleEndian.Uint64(fr[a].buf[at(fr)*8:]) }
}

func writeElement(n *node) quick {
	a, w, o, size := n.ins[0], n.ins[1], n.o, n.in[0].DType.Size()
	at := elementAt(n.in[0].Shape(), n.ins[2:])
	mode, p := n.inPlace, n.plan
	return func(fr []val) {
		out := fr[a].buf
		if mode == always || mode == warm && p.warm {
			fr[a].buf = nil
		} else {
			out = append([]byte(nil), out...)
		}
		putBits(out, size, int(at(fr)), fr[w].bits)
		fr[o].buf = out
	}
}
