package keg

import (
	"cmp"
	"slices"

	"github.com/kera-lang/kera/core/graph"
)

// provenance is section 8 in file numbering: only nodes that are written, only
// files that are named, everything ascending and without repeats.
type provenance struct {
	files   []string // ascending
	nodes   []int32  // nodes with spans
	spanEnd []uint32
	spans   []graph.Span
	made    []int32 // nodes with origins
	origEnd []uint32
	origins []int32
}

func (p *provenance) empty() bool { return len(p.nodes) == 0 && len(p.made) == 0 }

func compareSpans(a, b graph.Span) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}

func (o *order) provenance(omit bool) *provenance {
	p := &provenance{}
	prov := &o.g.Prov
	if omit {
		return p
	}
	valid := func(s graph.Span) bool {
		return s.File >= 0 && int(s.File) < len(prov.Files) && s.Start >= 0 && s.End >= s.Start
	}
	for _, n := range o.nodes {
		for _, s := range prov.Spans[n] {
			if valid(s) {
				p.files = append(p.files, prov.Files[s.File])
			}
		}
	}
	slices.Sort(p.files)
	p.files = slices.Compact(p.files)
	file := make([]int32, len(prov.Files))
	for i, f := range prov.Files {
		k, _ := slices.BinarySearch(p.files, f)
		file[i] = int32(k)
	}
	for i, n := range o.nodes {
		from := len(p.spans)
		for _, s := range prov.Spans[n] {
			if valid(s) {
				p.spans = append(p.spans, graph.Span{File: file[s.File], Start: s.Start, End: s.End})
			}
		}
		if len(p.spans) > from {
			slices.SortFunc(p.spans[from:], compareSpans)
			p.spans = p.spans[:from+len(slices.Compact(p.spans[from:]))]
			p.nodes, p.spanEnd = append(p.nodes, int32(i)), append(p.spanEnd, uint32(len(p.spans)))
		}
	}
	for i, n := range o.nodes {
		from := len(p.origins)
		for _, s := range prov.Origins[n] {
			if int(s) < len(o.nodeIx) && o.nodeIx[s] >= 0 {
				p.origins = append(p.origins, o.nodeIx[s])
			}
		}
		if len(p.origins) > from {
			slices.Sort(p.origins[from:])
			p.origins = p.origins[:from+len(slices.Compact(p.origins[from:]))]
			p.made, p.origEnd = append(p.made, int32(i)), append(p.origEnd, uint32(len(p.origins)))
		}
	}
	return p
}
