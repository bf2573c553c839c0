package keg

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

// Layout of the header and the table.
const (
	headerSize = 96
	entrySize  = 56
	digestAt   = 56 // of the header digest
	alignSmall = 64
	alignPage  = 4096
)

func alignOf(kind uint32) uint64 {
	if kind == KindBlobs || kind >= KindTarget {
		return alignPage
	}
	return alignSmall
}

func alignUp(n, a uint64) uint64 { return (n + a - 1) / a * a }

// flagsOf returns the flags of a known kind: what the graph cannot be read
// without is required.
func flagsOf(kind uint32) uint32 {
	if kind <= KindBlobs {
		return FlagRequired
	}
	return 0
}

// raw is a section to be written, in parts so that blobs are not copied.
type raw struct {
	kind, flags uint32
	parts       [][]byte
	dig         digest.D
}

func (r *raw) length() (n uint64) {
	for _, p := range r.parts {
		n += uint64(len(p))
	}
	return n
}

// plain makes a section digested in one go.
func plain(kind, flags uint32, b []byte) raw {
	return raw{kind, flags, [][]byte{b}, digest.Plain(b)}
}

// Write writes f. It refuses a graph that Validate refuses, a blob that is
// missing, and two targets of one key.
func Write(w io.Writer, f *File, o WriteOptions) error {
	if err := graph.Validate(f.Graph, "writing"); err != nil {
		return err
	}
	fp, err := f.Graph.Fingerprint()
	if err != nil {
		return err
	}
	secs, err := sections(f, o)
	if err != nil {
		return err
	}
	return assemble(w, f.Minor, fp, secs)
}

// sections returns f's sections, ascending by kind.
func sections(f *File, o WriteOptions) ([]raw, error) {
	ord := canonical(f.Graph)
	prov := ord.provenance(o.OmitProvenance)
	e := &encoder{order: ord, strs: ord.strings(prov)}
	if err := e.limits(); err != nil {
		return nil, err
	}
	secs := []raw{
		plain(KindStrings, flagsOf(KindStrings), e.strings()),
		plain(KindTypes, flagsOf(KindTypes), e.typeTable()),
		plain(KindAttributes, flagsOf(KindAttributes), e.attrTable()),
		plain(KindNodes, flagsOf(KindNodes), e.nodeTable()),
		plain(KindRegions, flagsOf(KindRegions), e.regionTable()),
	}
	exports, err := e.exports()
	if err != nil {
		return nil, err
	}
	secs = append(secs, plain(KindExports, flagsOf(KindExports), exports))
	if len(ord.blobs) > 0 {
		b, err := e.blobSection()
		if err != nil {
			return nil, err
		}
		secs = append(secs, b)
	}
	if !prov.empty() {
		secs = append(secs, plain(KindProvenance, 0, e.provenance(prov)))
	}
	for _, s := range []struct {
		kind uint32
		b    []byte
	}{{KindPlan, f.Plan}, {KindReceipt, f.Receipt}, {KindPolicy, f.Policy}} {
		if len(s.b) > 0 {
			secs = append(secs, plain(s.kind, 0, s.b))
		}
	}
	for i, u := range f.Unknown {
		if u.Kind <= KindPolicy || u.Kind >= KindTarget || i > 0 && u.Kind <= f.Unknown[i-1].Kind || u.Flags&FlagRequired != 0 {
			return nil, fmt.Errorf("section kind %d with flags %d cannot be kept", u.Kind, u.Flags)
		}
		secs = append(secs, plain(u.Kind, u.Flags, u.Data))
	}
	targets := slices.Clone(f.Targets)
	slices.SortStableFunc(targets, func(a, b Target) int { return compareKeys(&a, &b) })
	for i := range targets {
		if i > 0 && compareKeys(&targets[i-1], &targets[i]) == 0 {
			return nil, fmt.Errorf("two sections for target %s", targets[i].Name())
		}
	}
	return append(secs, targetSections(targets)...), nil
}

// targetSections numbers sorted targets as sections.
func targetSections(ts []Target) []raw {
	var out []raw
	for i, t := range ts {
		out = append(out, raw{KindTarget + uint32(i), flagsOf(KindTarget), [][]byte{t.Payload}, digest.OfBlob(t.Payload)})
	}
	return out
}

// assemble writes header, table and sections.
func assemble(w io.Writer, minor uint16, fp digest.D, secs []raw) error {
	var e digest.Enc
	e.B = append(e.B, "KEG\x00"...)
	e.U16(Major)
	e.U16(max(minor, Minor))
	e.U32(uint32(len(secs)))
	e.U32(0)
	e.U64(0) // file length
	e.Digest(fp)
	e.Digest(digest.D{})
	e.U64(0)
	at := uint64(headerSize + entrySize*len(secs))
	offsets := make([]uint64, len(secs))
	for i := range secs {
		s := &secs[i]
		at = alignUp(at, alignOf(s.kind))
		offsets[i] = at
		e.U32(s.kind)
		e.U32(s.flags)
		e.U64(at)
		e.U64(s.length())
		e.Digest(s.dig)
		at += s.length()
	}
	binary.LittleEndian.PutUint64(e.B[16:], at)
	head := digest.Plain(e.B)
	copy(e.B[digestAt:], head[:])

	out := &padder{w: w}
	out.write(e.B)
	for i := range secs {
		out.pad(offsets[i])
		for _, p := range secs[i].parts {
			out.write(p)
		}
	}
	return out.err
}

// padder counts what it writes and fills up with zeros.
type padder struct {
	w   io.Writer
	n   uint64
	err error
}

func (p *padder) write(b []byte) {
	if p.err != nil {
		return
	}
	_, p.err = p.w.Write(b)
	p.n += uint64(len(b))
}

func (p *padder) pad(to uint64) {
	var zero [alignPage]byte
	p.write(zero[:to-p.n])
}
