package keg

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/graph"
)

func (d *decoder) exports() *FormatError {
	c := newCursor(d.section(KindExports))
	n := c.count(20)
	for i := 0; i < n && c.err == nil; i++ {
		x := graph.Export{Name: d.str(c)}
		if i > 0 && x.Name <= d.g.Exports[i-1].Name {
			c.fail("export %q does not sort after the one before", x.Name)
		}
		x.Params = d.ports(c, 0)
		x.Results = d.ports(c, 0)
		x.Region, x.Bound = d.root(c, &x)
		if x.Region == graph.None {
			c.fail("export %q has no region", x.Name)
		}
		x.Optimised, x.OptBound = d.root(c, &x)
		d.g.Exports = append(d.g.Exports, x)
	}
	return c.done()
}

func (d *decoder) ports(c *cursor, depth int) []graph.Port {
	n := c.count(8)
	if n == 0 {
		return nil
	}
	if depth > maxPortDepth {
		c.fail("fields nested deeper than %d", maxPortDepth)
		return nil
	}
	out := make([]graph.Port, 0, n)
	for i := 0; i < n && c.err == nil; i++ {
		p := graph.Port{Name: d.str(c)}
		p.Fields = d.ports(c, depth+1)
		out = append(out, p)
	}
	return out
}

// root reads a region and its bound constants, whose types are those of the
// region's trailing parameters.
func (d *decoder) root(c *cursor, x *graph.Export) (graph.RegionID, []graph.Bound) {
	at := c.at
	i := c.u32()
	if c.err != nil || i == noRegion {
		return graph.None, nil
	}
	if uint64(i) >= uint64(d.g.NumRegions()) {
		c.failAt(at, "region %d of %d", i, d.g.NumRegions())
		return graph.None, nil
	}
	r := graph.RegionID(i)
	if c.digest() != d.g.RegionDigest(r) && c.err == nil {
		c.failAt(at+4, "region %d has digest %s", i, d.g.RegionDigest(r))
	}
	n := c.count(4)
	ps := d.g.Params(r)
	if len(x.Params)+n != len(ps) {
		c.fail("region %d takes %d parameters for %d named and %d bound", i, len(ps), len(x.Params), n)
		return r, nil
	}
	var bound []graph.Bound
	for _, t := range ps[len(x.Params):] {
		b := c.u32()
		if uint64(b) >= uint64(len(d.blobs)) {
			c.fail("blob %d of %d", b, len(d.blobs))
			return r, nil
		}
		bound = append(bound, graph.Bound{Type: d.g.TypeByID(t), Blob: d.blobs[b]})
	}
	return r, bound
}

// canonical checks that the graph is numbered as the writer numbers it, so
// that every item is used and none is spelled twice.
func (d *decoder) canonical() *FormatError {
	o := canonical(d.g)
	bad := func(kind uint32, what string, i int) *FormatError {
		return &FormatError{int64(d.section(kind).at), kind, fmt.Sprintf("%s %d is unused or not in canonical order", what, i)}
	}
	if i := misplaced(o.nodes, d.g.NumNodes()); i >= 0 {
		return bad(KindNodes, "node", i)
	}
	if i := misplaced(o.regions, d.g.NumRegions()); i >= 0 {
		return bad(KindRegions, "region", i)
	}
	if i := misplaced(o.types, d.g.NumTypes()); i >= 0 {
		return bad(KindTypes, "type", i)
	}
	if i := misplaced(o.attrs, d.g.NumAttrs()); i >= 0 {
		return bad(KindAttributes, "attribute set", i)
	}
	for i, b := range o.blobs {
		if i >= len(d.blobs) || d.blobs[i] != b {
			return &FormatError{int64(d.section(KindAttributes).at), KindAttributes, fmt.Sprintf("blob %s is missing", b.Short())}
		}
	}
	if i := len(o.blobs); i < len(d.blobs) {
		return bad(KindBlobs, "blob", i)
	}
	if i := slices.Index(d.used, false); i >= 0 {
		return bad(KindStrings, "string", i)
	}
	return nil
}

// misplaced returns the first index that is not at its own place, or -1.
func misplaced[T ~int32](list []T, n int) int {
	for i, v := range list {
		if int(v) != i {
			return i
		}
	}
	if len(list) != n {
		return len(list)
	}
	return -1
}

func (d *decoder) validate() *FormatError {
	e := d.section(KindExports)
	if err := graph.Validate(d.g, ""); err != nil {
		return &FormatError{int64(e.at), e.kind, err.Error()}
	}
	fp, err := d.g.Fingerprint()
	if err != nil {
		return &FormatError{int64(e.at), e.kind, err.Error()}
	}
	if fp != d.fingerprint {
		return headerError(24, "the header states fingerprint %s, the graph has %s", d.fingerprint, fp)
	}
	return nil
}

func (d *decoder) provenance(o ReadOptions) *FormatError {
	e := d.section(KindProvenance)
	if e == nil {
		return nil
	}
	c := newCursor(e)
	files, nodes, spans, made, origins := c.u32(), c.u32(), c.u32(), c.u32(), c.u32()
	c.exact(provSize(uint64(files), uint64(nodes), uint64(spans), uint64(made), uint64(origins)))
	if c.err == nil && nodes == 0 && made == 0 {
		c.fail("an empty section is left out")
	}
	if c.err != nil {
		return c.err
	}
	names := make([]string, files)
	for i := range names {
		names[i] = d.str(c)
		if i > 0 && names[i] <= names[i-1] {
			c.fail("file %d does not sort after the one before", i)
		}
	}
	at := c.at
	ns, ne := ids[graph.NodeID](c, nodes), c.ends(nodes)
	flat := make([]graph.Span, spans)
	inUse := make([]bool, files)
	for i := range flat {
		s := graph.Span{File: int32(c.u32()), Start: int32(c.u32()), End: int32(c.u32())}
		if s.File < 0 || int(s.File) >= len(names) || s.Start < 0 || s.End < s.Start {
			c.failAt(c.at-12, "span %d to %d of file %d", uint32(s.Start), uint32(s.End), uint32(s.File))
			return c.err
		}
		inUse[s.File] = true
		flat[i] = s
	}
	d.lists(c, at, ns, ne, len(flat), func(lo, i int) bool { return i == lo || compareSpans(flat[i-1], flat[i]) < 0 })
	if i := slices.Index(inUse, false); i >= 0 {
		c.failAt(20+4*i, "file %d is unused", i)
	}
	at = c.at
	ms, me := ids[graph.NodeID](c, made), c.ends(made)
	os := ids[graph.NodeID](c, origins)
	for i, n := range os {
		if n < 0 || int(n) >= d.g.NumNodes() {
			c.failAt(c.at-4*(len(os)-i), "node %d of %d", uint32(n), d.g.NumNodes())
			return c.err
		}
	}
	d.lists(c, at, ms, me, len(os), func(lo, i int) bool { return i == lo || os[i-1] < os[i] })
	if err := c.done(); err != nil || o.OmitProvenance {
		return err
	}
	p := &d.g.Prov
	p.Files = names
	p.Spans = make(map[graph.NodeID][]graph.Span, nodes)
	for i, n := range ns {
		p.Spans[n] = flat[ne[i]:ne[i+1]:ne[i+1]]
	}
	p.Origins = make(map[graph.NodeID][]graph.NodeID, made)
	for i, n := range ms {
		p.Origins[n] = os[me[i]:me[i+1]:me[i+1]]
	}
	return nil
}

// lists checks lists hung on nodes: nodes ascend and exist, no list is empty,
// each list is sorted by less, the lists fill n items.
func (d *decoder) lists(c *cursor, at int, nodes []graph.NodeID, ends []uint32, n int, sorted func(lo, i int) bool) {
	for i, v := range nodes {
		switch lo, hi := ends[i], ends[i+1]; {
		case v < 0 || int(v) >= d.g.NumNodes() || i > 0 && v <= nodes[i-1]:
			c.failAt(at+4*i, "node %d does not exist or does not ascend", uint32(v))
			return
		case lo >= hi || int64(hi) > int64(n):
			c.failAt(at+4*len(nodes)+4*i, "list of node %d ends at %d", v, hi)
			return
		default:
			for k := int(lo); k < int(hi); k++ {
				if !sorted(int(lo), k) {
					c.failAt(at, "list of node %d is not sorted", v)
					return
				}
			}
		}
	}
	if int64(ends[len(nodes)]) != int64(n) {
		c.failAt(at, "lists end at %d of %d items", ends[len(nodes)], n)
	}
}
