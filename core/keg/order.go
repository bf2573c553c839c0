package keg

import (
	"bytes"
	"slices"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

// order is the canonical numbering of what a graph's exports reach. The lists
// map file index to store id, the Ix slices store id to file index or -1.
type order struct {
	g *graph.Graph

	nodes   []graph.NodeID
	regions []graph.RegionID
	types   []graph.TypeID
	attrs   []graph.AttrsID
	blobs   []digest.D // ascending

	nodeIx, regionIx, typeIx, attrIx []int32
}

func unset(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// canonical walks g depth first: the source regions of the exports in order,
// then their optimised regions; a region after its results, a node after its
// inputs and then its regions. Types and attribute sets are numbered by first
// use, by nodes in order and then by regions in order.
func canonical(g *graph.Graph) *order {
	o := &order{
		g:      g,
		nodeIx: unset(g.NumNodes()), regionIx: unset(g.NumRegions()),
		typeIx: unset(g.NumTypes()), attrIx: unset(g.NumAttrs()),
	}
	for i := range g.Exports {
		o.region(g.Exports[i].Region)
	}
	for i := range g.Exports {
		o.region(g.Exports[i].Optimised)
	}
	for _, n := range o.nodes {
		for _, t := range g.OutTypes(n) {
			o.typ(t)
		}
		if a := g.AttrsID(n); o.attrIx[a] < 0 {
			o.attrIx[a] = int32(len(o.attrs))
			o.attrs = append(o.attrs, a)
		}
	}
	for _, r := range o.regions {
		for _, t := range g.Params(r) {
			o.typ(t)
		}
	}
	o.collectBlobs()
	return o
}

func (o *order) typ(t graph.TypeID) {
	if o.typeIx[t] < 0 {
		o.typeIx[t] = int32(len(o.types))
		o.types = append(o.types, t)
	}
}

// region numbers r and all it contains. It recurses only into contained
// regions, whose nesting the store bounds.
func (o *order) region(r graph.RegionID) {
	if r == graph.None || o.regionIx[r] >= 0 {
		return
	}
	type frame struct {
		n    graph.NodeID
		next int
	}
	var stack []frame
	for _, res := range o.g.Results(r) {
		if o.nodeIx[res.Node] >= 0 {
			continue
		}
		stack = append(stack, frame{n: res.Node})
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			ins := o.g.Ins(f.n)
			if f.next < len(ins) {
				in := ins[f.next].Node
				f.next++
				if o.nodeIx[in] < 0 {
					stack = append(stack, frame{n: in})
				}
				continue
			}
			for _, c := range o.g.Regions(f.n) {
				o.region(c)
			}
			if o.nodeIx[f.n] < 0 {
				o.nodeIx[f.n] = int32(len(o.nodes))
				o.nodes = append(o.nodes, f.n)
			}
			stack = stack[:len(stack)-1]
		}
	}
	o.regionIx[r] = int32(len(o.regions))
	o.regions = append(o.regions, r)
}

func (o *order) collectBlobs() {
	for _, a := range o.attrs {
		for _, v := range o.g.AttrsByID(a) {
			if v.Kind == op.ABlob {
				o.blobs = append(o.blobs, v.Blob)
			}
		}
	}
	for i := range o.g.Exports {
		x := &o.g.Exports[i]
		for _, b := range x.Bound {
			o.blobs = append(o.blobs, b.Blob)
		}
		for _, b := range x.OptBound {
			o.blobs = append(o.blobs, b.Blob)
		}
	}
	slices.SortFunc(o.blobs, func(a, b digest.D) int { return bytes.Compare(a[:], b[:]) })
	o.blobs = slices.Compact(o.blobs)
}

// blob returns the file index of a blob.
func (o *order) blob(d digest.D) (int, bool) {
	return slices.BinarySearchFunc(o.blobs, d, func(a, b digest.D) int { return bytes.Compare(a[:], b[:]) })
}

// strings returns every string that the file needs, ascending.
func (o *order) strings(p *provenance) []string {
	var out []string
	var ports func(ps []graph.Port)
	ports = func(ps []graph.Port) {
		for _, x := range ps {
			out = append(out, x.Name)
			ports(x.Fields)
		}
	}
	for i := range o.g.Exports {
		x := &o.g.Exports[i]
		out = append(out, x.Name)
		ports(x.Params)
		ports(x.Results)
	}
	out = append(out, p.files...)
	slices.Sort(out)
	return slices.Compact(out)
}
