package compile

import (
	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/x86/isel"
)

// Support says which nodes of the entries' regions the target takes, in
// connected groups, and why it refuses the others.
func Support(g *graph.Graph, l *isel.Level, entries []string) sdk.Support {
	var out sdk.Support
	refused := map[graph.NodeID]bool{}
	for _, r := range plan.Support(g, options(l, entries)) {
		if !refused[r.Node] {
			refused[r.Node] = true
			out.Refused = append(out.Refused, sdk.Refusal{Node: g.Digest(r.Node), Reason: r.Reason})
		}
	}
	wanted := map[string]bool{}
	for _, e := range entries {
		wanted[e] = true
	}
	for i := range g.Exports {
		x := &g.Exports[i]
		if len(entries) > 0 && !wanted[x.Name] {
			continue
		}
		root := x.Region
		if x.Optimised != graph.None {
			root = x.Optimised
		}
		out.Groups = append(out.Groups, groups(g, root, refused)...)
	}
	return out
}

// groups are the connected components of a region's nodes without the refused
// ones, in the order of their first nodes.
func groups(g *graph.Graph, r graph.RegionID, refused map[graph.NodeID]bool) [][]digest.D {
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
