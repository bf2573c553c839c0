package plan

import (
	"context"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// TestMergedAxes: a map whose body takes an element by its indices, or decides
// something by them that their ranges settle, gives the same bytes whether its
// axes are walked by one loop or by several.
func TestMergedAxes(t *testing.T) {
	g := graph.New()
	b := graph.B{Store: g.Store}
	index := []types.Type{types.Scalar(types.I64), types.Scalar(types.I64), types.Scalar(types.I64)}
	get := func(x graph.Ref, at ...graph.Ref) graph.Ref {
		ones := make([]int64, len(at))
		for i := range ones {
			ones[i] = 1
		}
		return b.Reshape(b.Slice(x, ones, at...))
	}
	sum := func(x, y graph.Ref) graph.Ref { return b.N(op.Add, nil, x, y) }
	loops := func(p *Plan) (n int) {
		for _, f := range p.Module.Funcs {
			lir.Walk(f.Body, func(s *lir.Stmt) {
				if s.Op == lir.For {
					n++
				}
			})
		}
		return n
	}
	for _, c := range []struct {
		name  string
		dims  []int64
		loops int // on a machine without vectors
		body  func(at []graph.Ref, x graph.Ref) graph.Ref
	}{
		{"element", []int64{3, 2}, 1, func(at []graph.Ref, x graph.Ref) graph.Ref { return get(x, at...) }},
		{"long", []int64{5, 67}, 1, func(at []graph.Ref, x graph.Ref) graph.Ref { return get(x, at...) }},
		{"three", []int64{3, 5, 7}, 1, func(at []graph.Ref, x graph.Ref) graph.Ref { return get(x, at...) }},
		{"decided", []int64{3, 2}, 1, func(at []graph.Ref, x graph.Ref) graph.Ref {
			v := get(x, at...)
			return b.N(op.Select, nil, b.Compare(op.LT, at[1], b.I64(2)), v, sum(v, v))
		}},
		{"sum decided", []int64{3, 2}, 1, func(at []graph.Ref, x graph.Ref) graph.Ref {
			v := get(x, at...)
			return b.N(op.Select, nil, b.Compare(op.LE, sum(at[0], at[1]), b.I64(3)), v, sum(v, v))
		}},
		{"undecided", []int64{3, 2}, 2, func(at []graph.Ref, x graph.Ref) graph.Ref {
			v := get(x, at...)
			return b.N(op.Select, nil, b.Compare(op.LT, at[1], b.I64(1)), v, sum(v, v))
		}},
		{"clamped", []int64{3, 4}, 2, func(at []graph.Ref, x graph.Ref) graph.Ref {
			return get(x, at[0], b.N(op.Sub, nil, at[1], b.I64(1)))
		}},
		{"remainder", []int64{3, 4}, 1, func(at []graph.Ref, x graph.Ref) graph.Ref {
			return get(x, at[0], b.N(op.Rem, nil, at[1], b.I64(4)))
		}},
		{"another row", []int64{3, 4}, 2, func(at []graph.Ref, x graph.Ref) graph.Ref {
			return sum(get(x, at...), get(x, b.I64(0), at[1]))
		}},
		{"value", []int64{3, 4}, 2, func(at []graph.Ref, x graph.Ref) graph.Ref {
			return b.Convert(at[1], b.Type(x).DType)
		}},
	} {
		for _, d := range []types.DType{types.U32, types.F64, types.I8} {
			name := c.name + " " + d.String()
			ty := types.Tensor(d, c.dims...)
			ps := append(append([]types.Type{}, index[:len(c.dims)]...), ty)
			q := b.Params(ps...)
			region := b.Region(ps, c.body(q[:len(c.dims)], q[len(c.dims)]))
			attrs := op.NewAttrs(op.Ints(op.KDims, c.dims...), op.Int(op.KTraps, 0))
			out := b.Apply(op.Map, attrs, []graph.RegionID{region}, b.Param(0, ty))
			r := b.Region([]types.Type{ty}, out[0], b.NoTrap())
			if err := g.AddExport(graph.Export{Name: name, Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "y"}}, Region: r, Optimised: graph.None}); err != nil {
				t.Fatal(err)
			}
			p, err := Build(context.Background(), g, Options{Target: targets()[0], Entries: []string{name}})
			if err != nil {
				t.Fatal(err)
			}
			if n := loops(p); n != c.loops {
				t.Errorf("%s: %d loops, want %d", name, n, c.loops)
			}
		}
	}
	check(t, g, 2)
}
