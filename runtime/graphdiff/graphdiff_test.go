package graphdiff

import (
	"slices"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// program is (x * k + 1) / 2 beside an untouched x + 3, with one constant to vary.
func program(t *testing.T, k float64, name string) *graph.Graph {
	t.Helper()
	g := graph.New()
	b := graph.B{Store: g.Store}
	x := b.Param(0, types.Scalar(types.F64))
	mul := b.N(op.Mul, nil, x, b.F64(k))
	sum := b.N(op.Add, nil, mul, b.F64(1))
	half := b.N(op.Div, nil, sum, b.F64(2))
	other := b.N(op.Add, nil, x, b.F64(3))
	r := b.Region([]types.Type{types.Scalar(types.F64)}, half, other, b.NoTrap())
	if err := g.AddExport(graph.Export{Name: "f", Params: []graph.Port{{Name: name}},
		Results: []graph.Port{{Name: "a"}, {Name: "b"}}, Region: r, Optimised: graph.None}); err != nil {
		t.Fatal(err)
	}
	return g
}

func digests(list []Node) []digest.D {
	out := []digest.D{}
	for _, n := range list {
		out = append(out, n.Digest)
	}
	return out
}

// ancestors computes, from the graph alone, every node at or above n.
func ancestors(g *graph.Graph, n graph.NodeID) []digest.D {
	above := map[graph.NodeID]bool{n: true}
	out := []digest.D{g.Digest(n)}
	for _, m := range g.Order(g.Exports[0].Region) {
		if slices.ContainsFunc(g.Ins(m), func(r graph.Ref) bool { return above[r.Node] }) {
			above[m] = true
			out = append(out, g.Digest(m))
		}
	}
	return out
}

func TestOneConstantChangesExactlyItsAncestors(t *testing.T) {
	a, b := program(t, 0.5, "x"), program(t, 0.25, "x")
	d, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	find := func(g *graph.Graph, v float64) graph.NodeID { return graph.B{Store: g.Store}.F64(v).Node }
	if got, want := digests(d.Removed), ancestors(a, find(a, 0.5)); !slices.Equal(got, want) {
		t.Errorf("removed %v, want %v", got, want)
	}
	if got, want := digests(d.Added), ancestors(b, find(b, 0.25)); !slices.Equal(got, want) {
		t.Errorf("added %v, want %v", got, want)
	}
	if len(d.Causes) != 1 || d.Causes[0].New == nil || d.Causes[0].New.Digest != b.Digest(find(b, 0.25)) {
		t.Errorf("causes: %+v", d.Causes)
	}
}

func TestSameAndRenamed(t *testing.T) {
	d, err := Compare(program(t, 0.5, "x"), program(t, 0.5, "x"))
	if err != nil || !d.Same() || len(d.Added)+len(d.Removed)+len(d.Causes) != 0 {
		t.Errorf("same: %+v %v", d, err)
	}
	d, err = Compare(program(t, 0.5, "x"), program(t, 0.5, "y"))
	if err != nil || d.Same() || len(d.Added) != 0 || len(d.Causes) != 1 || d.Causes[0].Reason != `parameter "x" is now called "y"` {
		t.Errorf("renamed: %+v %v", d, err)
	}
}
