package graph

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// EncodeType appends the canonical payload of t (docs/spec/encoding.md):
// u8 kind; a tensor is u8 dtype, u8 space, u32 rank and per dimension u8 0 and
// u64 size, or u8 1, u32 index, u64 min, u64 max; a tuple is u32 count and the
// fields' payloads; a token is u8 resource.
func EncodeType(e *digest.Enc, t types.Type) {
	e.U8(uint8(t.Kind))
	switch t.Kind {
	case types.KindTensor:
		e.U8(uint8(t.DType))
		e.U8(uint8(t.Space))
		e.U32(uint32(len(t.Dims)))
		for _, d := range t.Dims {
			if d.Var {
				e.U8(1)
				e.U32(uint32(d.Index))
				e.I64(d.Min)
				e.I64(d.Max)
			} else {
				e.U8(0)
				e.I64(d.Size)
			}
		}
	case types.KindTuple:
		e.U32(uint32(len(t.Elems)))
		for _, f := range t.Elems {
			EncodeType(e, f)
		}
	case types.KindToken:
		e.U8(uint8(t.Resource))
	default:
		panic(fmt.Sprintf("BUG: type kind %d", t.Kind))
	}
}

// TypeDigest returns the digest of t.
func TypeDigest(t types.Type) digest.D {
	var e digest.Enc
	EncodeType(&e, t)
	return digest.Of(digest.Type, e.B)
}

// nodeDigest: u16 op, u16 version, u32 outputs and their type digests, u32
// inputs and per input node digest and u32 output, attributes, u32 regions and
// their digests.
func (s *Store) nodeDigest(c op.Code, ver uint16, outs []TypeID, ins []Ref, as op.Attrs, regs []RegionID) digest.D {
	return s.hashNode(&s.enc, c, ver, outs, ins, as, regs)
}

// hashNode is nodeDigest with the caller's buffer, for concurrent use.
func (s *Store) hashNode(e *digest.Enc, c op.Code, ver uint16, outs []TypeID, ins []Ref, as op.Attrs, regs []RegionID) digest.D {
	e.Reset()
	e.U16(uint16(c))
	e.U16(ver)
	e.U32(uint32(len(outs)))
	for _, t := range outs {
		e.Digest(s.typeDig[t])
	}
	e.U32(uint32(len(ins)))
	for _, r := range ins {
		e.Digest(s.dig[r.Node])
		e.U32(uint32(r.Out))
	}
	as.Encode(e)
	e.U32(uint32(len(regs)))
	for _, r := range regs {
		e.Digest(s.regDig[r])
	}
	return digest.Of(digest.Node, e.B)
}

// regionDigest: u32 parameters and their type digests, u32 results and per
// result node digest and u32 output.
func (s *Store) regionDigest(params []TypeID, results []Ref) digest.D {
	return s.hashRegion(&s.enc, params, results)
}

func (s *Store) hashRegion(e *digest.Enc, params []TypeID, results []Ref) digest.D {
	e.Reset()
	e.U32(uint32(len(params)))
	for _, t := range params {
		e.Digest(s.typeDig[t])
	}
	e.U32(uint32(len(results)))
	for _, r := range results {
		e.Digest(s.dig[r.Node])
		e.U32(uint32(r.Out))
	}
	return digest.Of(digest.Region, e.B)
}

func encodePort(e *digest.Enc, p Port) {
	e.Str(p.Name)
	e.U32(uint32(len(p.Fields)))
	for _, f := range p.Fields {
		encodePort(e, f)
	}
}

func encodePorts(e *digest.Enc, ps []Port) {
	e.U32(uint32(len(ps)))
	for _, p := range ps {
		encodePort(e, p)
	}
}

// encodeExport: name, parameters, results (names with their fields), region
// digest, u32 bound constants and per constant type digest and blob digest.
func (s *Store) encodeExport(e *digest.Enc, x *Export) {
	e.Str(x.Name)
	encodePorts(e, x.Params)
	encodePorts(e, x.Results)
	e.Digest(s.regDig[x.Region])
	e.U32(uint32(len(x.Bound)))
	for _, b := range x.Bound {
		e.Digest(TypeDigest(b.Type))
		e.Digest(b.Blob)
	}
}

// ExportDigest returns the digest of the named export's source graph: the
// graph payload of that export alone, memory spaces erased.
func (g *Graph) ExportDigest(x *Export) (digest.D, error) {
	one := &Graph{Store: g.Store, Exports: []Export{*x}}
	return one.Fingerprint()
}

// Fingerprint returns the digest of the source graph with memory spaces
// erased: u32 exports, then each export ascending by name.
func (g *Graph) Fingerprint() (digest.D, error) {
	e, err := g.Erased()
	if err != nil {
		return digest.D{}, err
	}
	return e.rawDigest(digest.Graph), nil
}

// Placement returns the digest of the source graph with its memory spaces: the
// graph payload in the domain placement.
func (g *Graph) Placement() digest.D { return g.rawDigest(digest.Placement) }

func (g *Graph) rawDigest(domain digest.Domain) digest.D {
	var e digest.Enc
	g.encodeGraph(&e)
	return digest.Of(domain, e.B)
}

// encodeGraph: u32 exports, then each export ascending by name.
func (g *Graph) encodeGraph(e *digest.Enc) {
	xs := make([]*Export, len(g.Exports))
	for i := range g.Exports {
		xs[i] = &g.Exports[i]
	}
	slices.SortFunc(xs, func(a, b *Export) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	e.U32(uint32(len(xs)))
	for _, x := range xs {
		g.encodeExport(e, x)
	}
}

// OptimisedDigest returns the digest of the optimised graph (each export's
// optimised region in place of its source region), or false if an export has
// none.
func (g *Graph) OptimisedDigest() (digest.D, bool) {
	o := &Graph{Store: g.Store}
	for _, x := range g.Exports {
		if x.Optimised == None {
			return digest.D{}, false
		}
		x.Region, x.Bound = x.Optimised, x.OptBound
		o.Exports = append(o.Exports, x)
	}
	return o.rawDigest(digest.Graph), true
}

// ValueDigest returns the digest of a list of values given as flattened
// leaves: u32 count, then per leaf its type digest and the Merkle root of its
// dense row-major little-endian bytes.
func ValueDigest(ts []types.Type, data [][]byte) digest.D {
	if len(ts) != len(data) {
		panic("BUG: ValueDigest of unequal lists")
	}
	var e digest.Enc
	e.U32(uint32(len(ts)))
	for i, t := range ts {
		e.Digest(TypeDigest(t.Erased()))
		e.Digest(digest.Root(data[i]))
	}
	return digest.Of(digest.Value, e.B)
}
