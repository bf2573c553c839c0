package plan

import (
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestContractionShapes: rows and columns that tiles, bands and vectors divide
// and that they do not, with the right operand in either order.
func TestContractionShapes(t *testing.T) {
	g := graph.New()
	b := graph.B{Store: g.Store}
	add := func(name string, ts []types.Type, lhs, rhs int64) {
		p := b.Params(ts...)
		r := b.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(op.AccFMA)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
			op.Ints(op.KLhsContract, lhs), op.Ints(op.KRhsContract, rhs)), p[0], p[1])
		x := graph.Export{Name: name, Params: []graph.Port{{Name: "x"}, {Name: "y"}}, Results: []graph.Port{{Name: "r"}},
			Region: b.Region(ts, r, b.NoTrap()), Optimised: graph.None}
		if err := g.AddExport(x); err != nil {
			t.Fatal(err)
		}
	}
	f32 := func(m, n int64) types.Type { return types.Tensor(types.F32, m, n) }
	for _, s := range [][3]int64{
		{1, 9, 1}, {3, 5, 1}, {9, 17, 1}, {17, 4, 1},
		{1, 7, 3}, {1, 7, 8}, {1, 9, 70}, {2, 3, 21}, {5, 13, 10}, {15, 3, 33}, {29, 2, 64}, {40, 600, 3}, {33, 3, 600}, {2, 4100, 19}, {3, 8200, 1}, {3, 2000, 75},
		{21, 150, 50}, {3, 70, 33}, {2, 4105, 20}, {70, 33, 1},
	} {
		m, k, n := s[0], s[1], s[2]
		add(fmt.Sprintf("%dx%dx%d", m, k, n), []types.Type{f32(m, k), f32(k, n)}, 1, 0)
		add(fmt.Sprintf("%dx%dx%d turned", m, k, n), []types.Type{f32(m, k), f32(n, k)}, 1, 1)
		add(fmt.Sprintf("turned %dx%dx%d", m, k, n), []types.Type{f32(k, m), f32(k, n)}, 0, 0)
	}
	check(t, g, 2)
}

// TestContractionStreams: big right operands, read row by row.
func TestContractionStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("not checked: a million products")
	}
	g := graph.New()
	b := graph.B{Store: g.Store}
	ts := []types.Type{types.Tensor(types.F32, 1, 4100), types.Tensor(types.F32, 4100, 515)}
	p := b.Params(ts...)
	r := b.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(op.AccFMA)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
		op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0)), p[0], p[1])
	x := graph.Export{Name: "f", Params: []graph.Port{{Name: "x"}, {Name: "y"}}, Results: []graph.Port{{Name: "r"}},
		Region: b.Region(ts, r, b.NoTrap()), Optimised: graph.None}
	if err := g.AddExport(x); err != nil {
		t.Fatal(err)
	}
	check(t, g, 1)
}
