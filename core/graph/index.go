package graph

import (
	"encoding/binary"

	"github.com/kera-lang/kera/core/digest"
)

// index finds the position of a digest in a list of distinct digests: open
// addressing with linear probing over positions, keyed by the digest's own
// bits, so that it costs eight bytes an entry and no allocation for each.
type index struct {
	slots []int32 // position+1, 0 when free; a power of two
	n     int
}

func (x *index) slot(d digest.D) int {
	return int(binary.LittleEndian.Uint64(d[:]) & uint64(len(x.slots)-1))
}

// find returns the position of d in list.
func (x *index) find(list []digest.D, d digest.D) (int, bool) {
	if x.n == 0 {
		return 0, false
	}
	for i := x.slot(d); ; i = (i + 1) & (len(x.slots) - 1) {
		switch k := x.slots[i]; {
		case k == 0:
			return 0, false
		case list[k-1] == d:
			return int(k - 1), true
		}
	}
}

// put enters position at of list. If the digest is there already it returns
// its position and false.
func (x *index) put(list []digest.D, at int) (int, bool) {
	if 2*(x.n+1) > len(x.slots) {
		x.grow(list, 2*(x.n+1))
	}
	for i := x.slot(list[at]); ; i = (i + 1) & (len(x.slots) - 1) {
		switch k := x.slots[i]; {
		case k == 0:
			x.slots[i] = int32(at + 1)
			x.n++
			return at, true
		case list[k-1] == list[at]:
			return int(k - 1), false
		}
	}
}

// reserve makes room for all of list.
func (x *index) reserve(list []digest.D) { x.grow(list, 2*len(list)) }

func (x *index) grow(list []digest.D, want int) {
	size := max(16, len(x.slots))
	for size < want {
		size *= 2
	}
	if size == len(x.slots) {
		size *= 2
	}
	old := x.slots
	x.slots = make([]int32, size)
	for _, k := range old {
		if k == 0 {
			continue
		}
		i := x.slot(list[k-1])
		for x.slots[i] != 0 {
			i = (i + 1) & (size - 1)
		}
		x.slots[i] = k
	}
}
