package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

// graphJSON is a source or optimised graph: every region once, contained ones
// before those that contain them. Inputs are "param N" or [node, output].
type graphJSON struct {
	Entries []graphEntryJSON  `json:"entries"`
	Regions []graphRegionJSON `json:"regions"`
}

type graphEntryJSON struct {
	Name    string     `json:"name"`
	Region  int        `json:"region"`
	Params  []leafJSON `json:"params"`
	Results []leafJSON `json:"results"`
	Bound   []leafJSON `json:"bound,omitempty"`
}

type leafJSON struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type graphRegionJSON struct {
	Digest  string          `json:"digest"`
	Params  []string        `json:"params"`
	Nodes   []graphNodeJSON `json:"nodes"`
	Results []graphRefJSON  `json:"results"`
}

type graphNodeJSON struct {
	ID      int            `json:"id"`
	Digest  string         `json:"digest"`
	Op      string         `json:"op"`
	Text    string         `json:"text"`
	Inputs  []graphRefJSON `json:"inputs"`
	Regions []int          `json:"regions,omitempty"`
	Types   []string       `json:"types"`
}

// graphRefJSON is a parameter of the region or an output of one of its nodes.
type graphRefJSON struct {
	Param *int `json:"param,omitempty"`
	Node  *int `json:"node,omitempty"`
	Out   int  `json:"out"`
}

// graphView numbers the regions and nodes of one stage of a graph.
type graphView struct {
	g       *graph.Graph
	regions []graph.RegionID
	index   map[graph.RegionID]int
}

// stageRegion gives an export's region and bound constants in a stage.
func stageRegion(x *graph.Export, optimised bool) (graph.RegionID, []graph.Bound) {
	if optimised {
		return x.Optimised, x.OptBound
	}
	return x.Region, x.Bound
}

func viewGraph(g *graph.Graph, optimised bool) (*graphView, graphJSON) {
	v := &graphView{g: g, index: map[graph.RegionID]int{}}
	j := graphJSON{Entries: []graphEntryJSON{}, Regions: []graphRegionJSON{}}
	for i := range g.Exports {
		x := &g.Exports[i]
		root, bound := stageRegion(x, optimised)
		for _, r := range g.RegionsUnder(root) {
			if _, ok := v.index[r]; !ok {
				v.index[r] = len(v.regions)
				v.regions = append(v.regions, r)
				j.Regions = append(j.Regions, v.region(r))
			}
		}
		e := graphEntryJSON{Name: x.Name, Region: v.index[root], Params: leafList(g.ParamLeaves(x)), Results: leafList(g.ResultLeaves(x))}
		for _, b := range bound {
			e.Bound = append(e.Bound, leafJSON{b.Blob.String(), b.Type.String()})
		}
		j.Entries = append(j.Entries, e)
	}
	return v, j
}

func leafList(ls []graph.Leaf) []leafJSON {
	out := []leafJSON{}
	for _, l := range ls {
		out = append(out, leafJSON{l.Path, l.Type.String()})
	}
	return out
}

func (v *graphView) region(r graph.RegionID) graphRegionJSON {
	g := v.g
	j := graphRegionJSON{Digest: g.RegionDigest(r).String(), Params: []string{}, Nodes: []graphNodeJSON{}, Results: []graphRefJSON{}}
	for _, t := range g.ParamTypes(r) {
		j.Params = append(j.Params, t.String())
	}
	ids := map[graph.NodeID]int{}
	for _, n := range g.Order(r) {
		if g.Op(n) == op.Param {
			continue
		}
		ids[n] = len(ids)
		node := graphNodeJSON{ID: ids[n], Digest: g.Digest(n).String(), Op: g.Op(n).String(), Text: g.NodeText(n), Inputs: []graphRefJSON{}}
		for _, in := range g.Ins(n) {
			node.Inputs = append(node.Inputs, v.ref(ids, in))
		}
		for _, c := range g.Regions(n) {
			node.Regions = append(node.Regions, v.index[c])
		}
		for _, t := range g.OutTypes(n) {
			node.Types = append(node.Types, g.TypeByID(t).String())
		}
		j.Nodes = append(j.Nodes, node)
	}
	for _, x := range g.Results(r) {
		j.Results = append(j.Results, v.ref(ids, x))
	}
	return j
}

func (v *graphView) ref(ids map[graph.NodeID]int, r graph.Ref) graphRefJSON {
	if v.g.Op(r.Node) == op.Param {
		i := int(v.g.Attrs(r.Node).Int(op.KIndex))
		return graphRefJSON{Param: &i}
	}
	i := ids[r.Node]
	return graphRefJSON{Node: &i, Out: int(r.Out)}
}

// writeDot writes the graph for Graphviz: a cluster per region, dashed arrows from
// a node to the regions it contains.
func writeDot(w *bufio.Writer, j graphJSON) {
	fmt.Fprintf(w, "digraph kera {\n  rankdir=TB; compound=true; node [shape=box, fontname=monospace, fontsize=10];\n")
	for i, r := range j.Regions {
		fmt.Fprintf(w, "  subgraph cluster_%d {\n    label=%q;\n", i, fmt.Sprintf("region %d  %s", i, r.Digest[:12]))
		for p, t := range r.Params {
			fmt.Fprintf(w, "    r%d_p%d [label=%q, shape=ellipse];\n", i, p, fmt.Sprintf("$%d %s", p, t))
		}
		for _, n := range r.Nodes {
			text := n.Text
			if len(text) > 60 {
				text = text[:57] + "..."
			}
			fmt.Fprintf(w, "    r%d_n%d [label=%q];\n", i, n.ID, text)
		}
		fmt.Fprintf(w, "    r%d_out [label=\"return\", shape=ellipse];\n  }\n", i)
	}
	for i, r := range j.Regions {
		arrow := func(from graphRefJSON, to string) {
			if from.Param != nil {
				fmt.Fprintf(w, "  r%d_p%d -> %s;\n", i, *from.Param, to)
			} else {
				fmt.Fprintf(w, "  r%d_n%d -> %s;\n", i, *from.Node, to)
			}
		}
		for _, n := range r.Nodes {
			for _, in := range n.Inputs {
				arrow(in, fmt.Sprintf("r%d_n%d", i, n.ID))
			}
			for _, c := range n.Regions {
				fmt.Fprintf(w, "  r%d_n%d -> r%d_out [style=dashed, lhead=cluster_%d];\n", i, n.ID, c, c)
			}
		}
		for _, x := range r.Results {
			arrow(x, fmt.Sprintf("r%d_out", i))
		}
	}
	for i, e := range j.Entries {
		fmt.Fprintf(w, "  e%d [label=%q, shape=house];\n  r%d_out -> e%d [lhead=\"\"];\n", i, e.Name, e.Region, i)
	}
	fmt.Fprintln(w, "}")
}

// typeLine writes the leaves of an entry as a signature.
func typeLine(ls []leafJSON) string {
	parts := []string{}
	for _, l := range ls {
		parts = append(parts, l.Name+": "+l.Type)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
