// Package keg reads and writes `.keg` files: one program as a canonical graph,
// its constants, and the code that backends made of it (docs/spec/file.md).
//
// The writer keeps only what the exports reach, numbered in the order of a
// depth-first walk from the exports by name, so that equal graphs give equal
// bytes however they were built. The reader trusts nothing: every length is
// checked against the file before anything is allocated, every digest before
// its section is used, every node by its op's rule; and it accepts exactly the
// bytes that the writer would write for the same content. Digests of nodes are
// not stored: loading recomputes them and compares the fingerprint, so no file
// can claim a digest that its content does not have.
//
// What must hold: Read(Write(f)) writes the same bytes again; malformed input
// is a *FormatError, never a panic; peak memory is a small multiple of the
// file.
package keg

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
)

// The file version that this package writes. A reader refuses another major;
// later minors may add section kinds.
const (
	Major = 1
	Minor = 0
)

// Section kinds.
const (
	KindStrings    uint32 = 1
	KindTypes      uint32 = 2
	KindAttributes uint32 = 3
	KindNodes      uint32 = 4
	KindRegions    uint32 = 5
	KindExports    uint32 = 6
	KindBlobs      uint32 = 7
	KindProvenance uint32 = 8
	KindPlan       uint32 = 9
	KindReceipt    uint32 = 10
	KindPolicy     uint32 = 11
	KindTarget     uint32 = 64 // the first target; the next one is 65
)

// FlagRequired in a section's flags means: refuse the file if you do not know
// this kind.
const FlagRequired uint32 = 1

// KindName names a section kind, for messages.
func KindName(k uint32) string {
	names := [...]string{"header", "strings", "types", "attributes", "nodes", "regions", "exports", "blobs", "provenance", "plan", "receipt", "policy"}
	switch {
	case k < uint32(len(names)):
		return names[k]
	case k >= KindTarget:
		return fmt.Sprintf("target %d", k-KindTarget)
	}
	return fmt.Sprintf("section kind %d", k)
}

// File is the content of a `.keg`.
type File struct {
	Graph   *graph.Graph
	Targets []Target     // ascending by key, see Target.Key
	Unknown []RawSection // kinds of later minor versions, ascending, kept as they are
	Minor   uint16       // the minor version that the file states, 0 in a new one

	// Opaque here; empty means absent.
	Plan, Receipt, Policy []byte
}

// Target is one compiled target.
type Target struct {
	Payload  []byte // the section: descriptor, padding, artifact
	Desc     *section.Descriptor
	Artifact []byte // aliases Payload
}

// RawSection is a section this version does not know.
type RawSection struct {
	Kind, Flags uint32
	Data        []byte
}

// NewTarget packs a descriptor and its artifact.
func NewTarget(d *section.Descriptor, artifact []byte) (Target, error) {
	p, err := section.Pack(d, artifact)
	if err != nil {
		return Target{}, err
	}
	return OpenTarget(p)
}

// OpenTarget checks a packed target section. The target aliases payload.
func OpenTarget(payload []byte) (Target, error) {
	d, art, err := section.Open(payload)
	if err != nil {
		return Target{}, err
	}
	return Target{Payload: payload, Desc: d, Artifact: art}, nil
}

// Key identifies a target within a file: triple, artifact kind and features.
// A file has at most one section per key.
func (t *Target) Key() string {
	k := t.Desc.Triple + "\x00" + t.Desc.Kind
	for _, f := range t.Desc.Features {
		k += "\x00" + f
	}
	return k
}

// SetTarget adds t, or replaces the target with the same key.
func (f *File) SetTarget(t Target) {
	i, found := slices.BinarySearchFunc(f.Targets, t.Key(), func(a Target, k string) int { return cmp.Compare(a.Key(), k) })
	if found {
		f.Targets[i] = t
		return
	}
	f.Targets = slices.Insert(f.Targets, i, t)
}

// WriteOptions adjust Write.
type WriteOptions struct {
	OmitProvenance bool // leave out section 8 and the file names it needs
}

// ReadOptions adjust Read.
type ReadOptions struct {
	OmitProvenance bool // check section 8 but do not build its maps
}

// FormatError says where a file is malformed and why.
type FormatError struct {
	Offset  int64  // in the file
	Section uint32 // kind, 0 for the header and the section table
	Reason  string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("malformed .keg: byte %d (%s): %s", e.Offset, KindName(e.Section), e.Reason)
}

// Encode returns the bytes of f.
func Encode(f *File, o WriteOptions) ([]byte, error) {
	var b bytes.Buffer
	if err := Write(&b, f, o); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Name is the target's key for people.
func (t *Target) Name() string {
	s := t.Desc.Triple + " " + t.Desc.Kind
	for _, f := range t.Desc.Features {
		s += " +" + f
	}
	return s
}

func compareKeys(a, b *Target) int { return cmp.Compare(a.Key(), b.Key()) }
