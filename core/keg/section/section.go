// Package section defines target sections: the descriptor that tells a runner
// everything about an artifact, its binary encoding, and the layout of
// descriptor plus artifact in a `.keg` file and on the plugin wire.
//
// A descriptor is a sequence of records {u32 tag, u32 length, payload} with
// strictly ascending tags, fixed-width little-endian inside
// (docs/spec/protocol.md). What must hold: one descriptor has one encoding
// (Unmarshal rejects a second spelling, and Marshal of its result gives the
// same bytes); records with unknown tags are kept and ignored; Unmarshal never
// allocates more than a small multiple of its input, whatever the bytes say.
package section

import (
	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/types"
)

// Kinds of artifact.
const (
	// KindCode is position-independent machine code without relocations;
	// phases are offsets into it.
	KindCode = "code"
	// KindWasm is a WebAssembly module; phases are exported functions.
	KindWasm = "wasm-module"
)

// Descriptor describes one artifact: what it was made for, by whom, and how to
// call it.
type Descriptor struct {
	Triple   string   // target triple, for example "x86_64-linux"
	Features []string // CPU features the artifact needs, sorted, no repeats
	Kind     string   // artifact kind, KindCode or KindWasm or a vendor's own

	Plugin   Plugin
	Options  []Option // options given to the compiler, sorted by name
	Entries  []Entry  // sorted by name, no repeats
	Nodes    []digest.D
	CodeMap  []CodeMapEntry // ascending offsets
	Folded   []uint32       // indices into Nodes without code of their own, ascending
	Estimate *Estimate      // nil when the plugin made none

	// Extra holds records of later minor versions, in order, so that rewriting
	// a file keeps them.
	Extra []Record
}

// Plugin says what made the artifact. The host fills it in: a plugin's own
// claim is not trusted.
type Plugin struct {
	Name, Version string
	Binary        digest.D // SHA3-256 of the executable
	ProtocolMajor uint32
	ProtocolMinor uint32
}

// Option is one compile option.
type Option struct{ Name, Value string }

// Entry is one callable export.
//
// A call runs the phases in order with a barrier between them. The tiles of a
// phase may run in any order and on any thread. A phase function is
//
//	int32 f(const void *const *in, void *const *out, void *work, uint64 tile)
//
// and returns a trap code, 0 for none. Within a phase the code of the lowest
// trapping tile counts; the first phase with a trap ends the call. The trap
// result of the export is this code and has no buffer in Outputs.
type Entry struct {
	Name      string
	Region    digest.D // the optimised region that was compiled
	Inputs    []Buffer // one per flattened parameter leaf, bound constants last
	Outputs   []Buffer // one per flattened result leaf, without the trap code
	Work      uint64   // bytes of scratch memory, not initialised
	WorkAlign uint32   // a power of two
	Phases    []Phase
}

// Buffer is one dense row-major value, little-endian, bool as 0 or 1.
type Buffer struct {
	DType types.DType
	Dims  []int64
	Align uint32 // a power of two
}

// Bytes returns the size of the buffer.
func (b Buffer) Bytes() int64 { return types.Tensor(b.DType, b.Dims...).NumBytes() }

// Type returns the buffer's tensor type, in host space.
func (b Buffer) Type() types.Type { return types.Tensor(b.DType, b.Dims...) }

// Phase is one function run over a number of tiles.
type Phase struct {
	Symbol string // exported function (KindWasm) or a name for people
	Offset uint64 // of the function in the artifact (KindCode)
	Tiles  uint64 // may be 0: nothing to do
	Loop   *Loop
}

// Loop makes a range of phases repeat: when the phase that carries it is done
// and no tile trapped, the u32 at Work+Cond is read; non-zero continues with
// phase Back (at most this phase's own index), zero with the next phase.
// Generated code keeps the loop's trip bound.
type Loop struct {
	Cond uint64
	Back uint32
}

// CodeMapEntry says that code from Offset up to the next entry's offset is due
// to node Nodes[Node].
type CodeMapEntry struct {
	Offset uint64
	Node   uint32
}

// Estimate is the plugin's prediction.
type Estimate struct {
	Min, Typ, Max uint64 // cycles
	Confidence    float64
	Resources     []Resource // sorted by name
}

// Resource is an amount of something the target has little of.
type Resource struct {
	Name   string
	Amount uint64
}

// Record is one record of the encoding.
type Record struct {
	Tag     uint32
	Payload []byte
}

// Entry returns the entry of that name.
func (d *Descriptor) Entry(name string) (*Entry, bool) {
	for i := range d.Entries {
		if d.Entries[i].Name == name {
			return &d.Entries[i], true
		}
	}
	return nil, false
}

// NodeAt returns the digest of the node that the code at offset is due to.
func (d *Descriptor) NodeAt(offset uint64) (digest.D, bool) {
	lo, hi := 0, len(d.CodeMap)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if d.CodeMap[mid].Offset <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return digest.D{}, false
	}
	n := d.CodeMap[lo-1].Node
	if int(n) >= len(d.Nodes) {
		return digest.D{}, false
	}
	return d.Nodes[n], true
}
