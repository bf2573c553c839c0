package keg

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

// encoder writes the sections of a graph (docs/spec/file.md).
type encoder struct {
	*order
	strs []string
}

func (e *encoder) str(s string) uint32 {
	i, ok := slices.BinarySearch(e.strs, s)
	if !ok {
		panic("BUG: string was not collected: " + s)
	}
	return uint32(i)
}

// table is u32 count, u32 end of each item, the items.
func table(n int, item func(w *digest.Enc, i int)) []byte {
	var ends, items digest.Enc
	ends.U32(uint32(n))
	for i := range n {
		item(&items, i)
		ends.U32(uint32(len(items.B)))
	}
	return append(ends.B, items.B...)
}

func (e *encoder) strings() []byte {
	return table(len(e.strs), func(w *digest.Enc, i int) { w.B = append(w.B, e.strs[i]...) })
}

func (e *encoder) typeTable() []byte {
	return table(len(e.types), func(w *digest.Enc, i int) { graph.EncodeType(w, e.g.TypeByID(e.types[i])) })
}

func (e *encoder) attrTable() []byte {
	return table(len(e.attrs), func(w *digest.Enc, i int) { e.g.AttrsByID(e.attrs[i]).Encode(w) })
}

func (e *encoder) ref(w *digest.Enc, r graph.Ref) {
	w.U32(uint32(e.nodeIx[r.Node]))
	w.U32(uint32(r.Out))
}

func (e *encoder) nodeTable() []byte {
	var outs, ins, regs int
	for _, n := range e.nodes {
		outs += e.g.NumOuts(n)
		ins += len(e.g.Ins(n))
		regs += len(e.g.Regions(n))
	}
	w := &digest.Enc{B: make([]byte, 0, nodesSize(uint64(len(e.nodes)), uint64(outs), uint64(ins), uint64(regs)))}
	w.U32(uint32(len(e.nodes)))
	w.U32(uint32(outs))
	w.U32(uint32(ins))
	w.U32(uint32(regs))
	for _, n := range e.nodes {
		w.U16(uint16(e.g.Op(n)))
	}
	for _, n := range e.nodes {
		w.U16(e.g.Version(n))
	}
	for _, n := range e.nodes {
		w.U32(uint32(e.attrIx[e.g.AttrsID(n)]))
	}
	e.ends(w, func(n graph.NodeID) int { return e.g.NumOuts(n) })
	e.ends(w, func(n graph.NodeID) int { return len(e.g.Ins(n)) })
	e.ends(w, func(n graph.NodeID) int { return len(e.g.Regions(n)) })
	for _, n := range e.nodes {
		for _, t := range e.g.OutTypes(n) {
			w.U32(uint32(e.typeIx[t]))
		}
	}
	for _, n := range e.nodes {
		for _, r := range e.g.Ins(n) {
			e.ref(w, r)
		}
	}
	for _, n := range e.nodes {
		for _, r := range e.g.Regions(n) {
			w.U32(uint32(e.regionIx[r]))
		}
	}
	return w.B
}

// nodesSize is the size of section 4 for its four counts.
func nodesSize(nodes, outs, ins, regs uint64) uint64 {
	return 16 + 20*nodes + 4*outs + 8*ins + 4*regs
}

// regionsSize is the size of section 5 for its three counts.
func regionsSize(regions, params, results uint64) uint64 {
	return 12 + 8*regions + 4*params + 8*results
}

func (e *encoder) ends(w *digest.Enc, count func(graph.NodeID) int) {
	total := 0
	for _, n := range e.nodes {
		total += count(n)
		w.U32(uint32(total))
	}
}

func (e *encoder) regionTable() []byte {
	var params, results uint32
	var pe, re, ps, rs, w digest.Enc
	for _, r := range e.regions {
		params += uint32(len(e.g.Params(r)))
		results += uint32(len(e.g.Results(r)))
		pe.U32(params)
		re.U32(results)
		for _, t := range e.g.Params(r) {
			ps.U32(uint32(e.typeIx[t]))
		}
		for _, x := range e.g.Results(r) {
			e.ref(&rs, x)
		}
	}
	w.U32(uint32(len(e.regions)))
	w.U32(params)
	w.U32(results)
	return slices.Concat(w.B, pe.B, re.B, ps.B, rs.B)
}

// limits refuses what the reader would refuse.
func (e *encoder) limits() error {
	for _, s := range e.strs {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return fmt.Errorf("name %q is not text", s)
		}
	}
	var w digest.Enc
	for _, t := range e.types {
		w.Reset()
		if graph.EncodeType(&w, e.g.TypeByID(t)); len(w.B) > maxTypeBytes {
			return fmt.Errorf("a type takes %d bytes, more than %d", len(w.B), maxTypeBytes)
		}
	}
	for i := range e.g.Exports {
		x := &e.g.Exports[i]
		if max(portDepth(x.Params), portDepth(x.Results)) > maxPortDepth+1 {
			return fmt.Errorf("export %q: fields nested deeper than %d", x.Name, maxPortDepth)
		}
	}
	return nil
}

func portDepth(ps []graph.Port) int {
	n := 0
	for _, p := range ps {
		n = max(n, portDepth(p.Fields)+1)
	}
	return n
}

func (e *encoder) exports() ([]byte, error) {
	w := &digest.Enc{}
	w.U32(uint32(len(e.g.Exports)))
	for i := range e.g.Exports {
		x := &e.g.Exports[i]
		w.U32(e.str(x.Name))
		e.ports(w, x.Params)
		e.ports(w, x.Results)
		if err := e.root(w, x, x.Region, x.Bound); err != nil {
			return nil, err
		}
		if err := e.root(w, x, x.Optimised, x.OptBound); err != nil {
			return nil, err
		}
	}
	return w.B, nil
}

func (e *encoder) ports(w *digest.Enc, ps []graph.Port) {
	w.U32(uint32(len(ps)))
	for _, p := range ps {
		w.U32(e.str(p.Name))
		e.ports(w, p.Fields)
	}
}

// noRegion is the index of an absent region.
const noRegion = ^uint32(0)

// root: u32 region, and unless it is absent its digest, u32 bound constants
// and their blob indices.
func (e *encoder) root(w *digest.Enc, x *graph.Export, r graph.RegionID, bound []graph.Bound) error {
	if r == graph.None {
		w.U32(noRegion)
		return nil
	}
	w.U32(uint32(e.regionIx[r]))
	w.Digest(e.g.RegionDigest(r))
	w.U32(uint32(len(bound)))
	for _, b := range bound {
		i, ok := e.blob(b.Blob)
		if !ok {
			return fmt.Errorf("export %q: blob %s was not collected", x.Name, b.Blob.Short())
		}
		w.U32(uint32(i))
	}
	return nil
}

// blobSection: u32 count, u32 zero, per blob digest, u64 offset in the section
// and u64 length; then the blobs, 64-byte aligned. Its digest is the Merkle
// root over the head as leaf 0 and the blobs' digests, so that loading hashes
// each byte once.
func (e *encoder) blobSection() (raw, error) {
	var head digest.Enc
	head.U32(uint32(len(e.blobs)))
	head.U32(0)
	parts := [][]byte{nil}
	at := blobHead(uint64(len(e.blobs)))
	for _, d := range e.blobs {
		b, ok := e.g.Blob(d)
		if !ok {
			return raw{}, fmt.Errorf("blob %s is missing", d.Short())
		}
		next := alignUp(at, alignSmall)
		parts = append(parts, make([]byte, next-at), b)
		head.Digest(d)
		head.U64(next)
		head.U64(uint64(len(b)))
		at = next + uint64(len(b))
	}
	parts[0] = head.B
	return raw{KindBlobs, flagsOf(KindBlobs), parts, blobsDigest(head.B, e.blobs)}, nil
}

func blobHead(n uint64) uint64 { return 8 + 48*n }

func blobsDigest(head []byte, blobs []digest.D) digest.D {
	var zero [8]byte
	level := append([]digest.D{digest.Of(digest.Leaf, zero[:], head)}, blobs...)
	return digest.Combine(level)
}

func (e *encoder) provenance(p *provenance) []byte {
	w := &digest.Enc{}
	w.U32(uint32(len(p.files)))
	w.U32(uint32(len(p.nodes)))
	w.U32(uint32(len(p.spans)))
	w.U32(uint32(len(p.made)))
	w.U32(uint32(len(p.origins)))
	for _, f := range p.files {
		w.U32(e.str(f))
	}
	for _, n := range p.nodes {
		w.U32(uint32(n))
	}
	for _, v := range p.spanEnd {
		w.U32(v)
	}
	for _, s := range p.spans {
		w.U32(uint32(s.File))
		w.U32(uint32(s.Start))
		w.U32(uint32(s.End))
	}
	for _, n := range p.made {
		w.U32(uint32(n))
	}
	for _, v := range p.origEnd {
		w.U32(v)
	}
	for _, n := range p.origins {
		w.U32(uint32(n))
	}
	return w.B
}

// provSize is the size of section 8 for its five counts.
func provSize(files, nodes, spans, made, origins uint64) uint64 {
	return 20 + 4*files + 8*nodes + 12*spans + 8*made + 4*origins
}
