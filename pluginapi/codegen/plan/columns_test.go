package plan

import (
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestColumns: reductions that keep the last axis, with every number of rows
// around the lanes, passes and chunks, and columns that vectors divide or not.
func TestColumns(t *testing.T) {
	g := graph.New()
	b := graph.B{Store: g.Store}
	add := func(name string, ts []types.Type, body func(p []graph.Ref) graph.Ref) {
		x := graph.Export{Name: name, Results: []graph.Port{{Name: "r"}}, Optimised: graph.None,
			Region: b.Region(ts, body(b.Params(ts...)), b.NoTrap())}
		for i := range ts {
			x.Params = append(x.Params, graph.Port{Name: fmt.Sprint("p", i)})
		}
		if err := g.AddExport(x); err != nil {
			t.Fatal(err)
		}
	}
	rows := []int64{2, 3, 15, 16, 17, 18, 31, 32, 33, 48, 49, 63, 64, 65, 66, 80, 100, 127, 128, 129, 191, 4095, 4096, 4097, 8200}
	for i, n := range rows {
		cols := []int64{4, 5, 16, 21, 37, 64, 70}[i%7]
		if n > 1000 {
			cols = 16
		}
		for k, d := range []types.DType{types.F32, types.F64, types.I64} {
			kind := []op.ReduceKind{op.Sum, op.Sum, op.RMax, op.Prod}[(i+k)%4]
			m := types.Tensor(d, n, cols)
			add(fmt.Sprintf("%v/%d %v", d, n, kind), []types.Type{m}, func(p []graph.Ref) graph.Ref { return b.Reduce(kind, p[0], 0) })
		}
		m := types.Tensor(types.F32, n, cols)
		add(fmt.Sprintf("dot/%d", n), []types.Type{m, m}, func(p []graph.Ref) graph.Ref {
			return b.N(op.Dot, op.NewAttrs(op.Int(op.KAxis, 0)), p[0], p[1])
		})
		if n < 1000 {
			cube := types.Tensor(types.F32, 3, n, cols)
			add(fmt.Sprintf("middle/%d", n), []types.Type{cube}, func(p []graph.Ref) graph.Ref { return b.Reduce(op.Sum, p[0], 1) })
			add(fmt.Sprintf("two/%d", n), []types.Type{cube}, func(p []graph.Ref) graph.Ref { return b.Reduce(op.Sum, p[0], 0, 1) })
			add(fmt.Sprintf("fused/%d", n), []types.Type{m, m}, func(p []graph.Ref) graph.Ref {
				q := b.Params(m, m)
				body := b.Region([]types.Type{m, m}, b.Reduce(op.Sum, b.N(op.Sub, nil, q[0], q[1]), 0))
				return b.Apply(op.Fusion, nil, []graph.RegionID{body}, p...)[0]
			})
		}
	}
	check(t, g, 1)
}
