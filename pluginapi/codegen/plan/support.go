package plan

import (
	"fmt"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/elem"
)

// Groups returns the nodes of the entries' regions that Build takes, as
// connected groups of node digests, with what Support refuses.
func Groups(g *graph.Graph, opts Options) ([][]digest.D, []Refusal) {
	refusals := support(g, opts)
	refused := map[graph.NodeID]bool{}
	for _, r := range refusals {
		refused[r.Node] = true
	}
	var out [][]digest.D
	for i := range g.Exports {
		if x := &g.Exports[i]; wanted(opts, x.Name) {
			root, _ := entryRegion(x)
			out = append(out, connected(g, root, refused)...)
		}
	}
	return out, refusals
}

// connected splits a region's nodes without the refused ones into connected
// components, in the order of their first nodes.
func connected(g *graph.Graph, r graph.RegionID, refused map[graph.NodeID]bool) [][]digest.D {
	order := g.Order(r)
	parent := map[graph.NodeID]graph.NodeID{}
	var find func(n graph.NodeID) graph.NodeID
	find = func(n graph.NodeID) graph.NodeID {
		if p := parent[n]; p != n {
			parent[n] = find(p)
		}
		return parent[n]
	}
	for _, n := range order {
		if refused[n] {
			continue
		}
		parent[n] = n
		for _, in := range g.Ins(n) {
			if _, ok := parent[in.Node]; ok {
				parent[find(n)] = find(in.Node)
			}
		}
	}
	index := map[graph.NodeID]int{}
	var out [][]digest.D
	for _, n := range order {
		if refused[n] {
			continue
		}
		root := find(n)
		k, ok := index[root]
		if !ok {
			k = len(out)
			index[root] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], g.Digest(n))
	}
	return out
}

func support(g *graph.Graph, opts Options) []Refusal {
	var out []Refusal
	for i := range g.Exports {
		x := &g.Exports[i]
		if !wanted(opts, x.Name) {
			continue
		}
		r, _ := entryRegion(x)
		seen := map[graph.NodeID]bool{}
		for _, sub := range g.RegionsUnder(r) {
			for _, n := range g.Order(sub) {
				if seen[n] {
					continue
				}
				seen[n] = true
				if why := refuse(g, n); why != "" {
					out = append(out, Refusal{Entry: x.Name, Node: n, Reason: why})
				}
			}
		}
	}
	return out
}

// refuse says why a node cannot be planned, or "".
func refuse(g *graph.Graph, n graph.NodeID) string {
	c := g.Op(n)
	if !elem.Has(c) && c.Info().Class == op.Elementwise {
		return "no lowering of this op"
	}
	for _, id := range g.OutTypes(n) {
		t := g.TypeByID(id)
		if !t.Static() {
			return fmt.Sprintf("type %v has a free dimension; bind it", t)
		}
		for _, leaf := range t.Leaves(nil) {
			switch {
			case leaf.Kind == types.KindToken:
				return "effects are not supported"
			case leaf.DType.Class() == types.ClassStorage:
				return fmt.Sprintf("dtype %v is not supported yet", leaf.DType)
			case leaf.Space != types.Host:
				return fmt.Sprintf("memory space %v is not supported", leaf.Space)
			}
		}
	}
	return ""
}
