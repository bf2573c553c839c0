package graph

import (
	"hash/maphash"
	"slices"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// known finds nodes by their content, so that a digest is computed for a new node
// only: inserting what is there already, which is most of what passes do, costs
// one cheap hash. It is a shortcut and no authority: what it does not know is
// looked up by digest. Types, attributes and regions are interned, so equal
// numbers are equal content. Its seed is never visible: ids come from the order
// of insertion alone.
type known struct {
	seed  maphash.Seed
	slots []int32 // node+1, 0 when free; a power of two
	keys  []uint64
	n     int
}

// nodeKey hashes what tells a node from others.
func (s *Store) nodeKey(c op.Code, outs []TypeID, ins []Ref, attrs AttrsID, regs []RegionID) uint64 {
	e := &s.enc
	e.Reset()
	e.U64(uint64(c)<<32 | uint64(uint32(attrs)))
	e.U64(uint64(len(outs))<<32 | uint64(len(ins)))
	for _, t := range outs {
		e.U32(uint32(t))
	}
	for _, r := range ins {
		e.U64(uint64(uint32(r.Node))<<32 | uint64(uint32(r.Out)))
	}
	for _, r := range regs {
		e.U32(uint32(r))
	}
	return maphash.Bytes(s.known.seed, e.B)
}

// isNode reports whether node n has this content.
func (s *Store) isNode(n NodeID, c op.Code, outs []TypeID, ins []Ref, attrs AttrsID, regs []RegionID) bool {
	return s.ops[n] == c && s.attr[n] == attrs && s.vers[n] == c.Info().Version &&
		slices.Equal(s.OutTypes(n), outs) && slices.Equal(s.Ins(n), ins) && slices.Equal(s.Regions(n), regs)
}

// find returns a node with the key for which same holds.
func (x *known) find(key uint64, same func(NodeID) bool) (NodeID, bool) {
	if x.n == 0 {
		return 0, false
	}
	mask := len(x.slots) - 1
	for i := int(key) & mask; x.slots[i] != 0; i = (i + 1) & mask {
		if n := NodeID(x.slots[i] - 1); x.keys[i] == key && same(n) {
			return n, true
		}
	}
	return 0, false
}

// put enters a node that find did not return.
func (x *known) put(key uint64, n NodeID) {
	if 2*(x.n+1) > len(x.slots) {
		slots, keys := x.slots, x.keys
		size := max(64, 2*len(slots))
		x.slots, x.keys = make([]int32, size), make([]uint64, size)
		for i, k := range slots {
			if k != 0 {
				x.place(keys[i], k)
			}
		}
	}
	x.place(key, int32(n)+1)
	x.n++
}

func (x *known) place(key uint64, slot int32) {
	mask := len(x.slots) - 1
	i := int(key) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i], x.keys[i] = slot, key
}

// Same returns src where d is src's own definition, as it is when a pass left the
// node alone: then there is nothing to check and nothing to insert.
func (s *Store) Same(src NodeID, d *NodeDef) bool {
	as, own := d.Attrs, s.Attrs(src)
	return d.Op == s.ops[src] && len(as) == len(own) && (len(as) == 0 || &as[0] == &own[0]) &&
		slices.Equal(d.Ins, s.Ins(src)) && slices.Equal(d.Regions, s.Regions(src)) && s.sameTypes(d.Outs, s.OutTypes(src))
}

func (s *Store) sameTypes(ts []types.Type, ids []TypeID) bool {
	if len(ts) != len(ids) {
		return false
	}
	for i := range ts {
		if !ts[i].Equal(s.types[ids[i]]) {
			return false
		}
	}
	return true
}

// AddFrom is Add for a definition that was made from node src of this store.
func (s *Store) AddFrom(src NodeID, d NodeDef) (NodeID, error) {
	if s.Same(src, &d) {
		return src, nil
	}
	return s.Add(d)
}
