package plan

import (
	"context"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// TestFillingIsLinear: loops that write one element a trip, straight, behind a
// condition, in a nested loop, and swapping two elements, have no other loop in
// their bodies: nothing is copied.
func TestFillingIsLinear(t *testing.T) {
	const n = 300
	i64, v := types.Scalar(types.I64), types.Tensor(types.I64, n)
	g := graph.New()
	b := graph.B{Store: g.Store}
	ps := []types.Type{i64, v}
	q := b.Params(ps...)
	always := b.Region(ps, b.Bool(true))
	carried := op.Attrs{op.Int(op.KCarried, 1)}
	set := func(x, at, val graph.Ref) graph.Ref { return b.N(op.Update, nil, x, b.Reshape(val, 1), at) }
	get := func(x, at graph.Ref) graph.Ref { return b.Reshape(b.Slice(x, []int64{1}, at)) }
	step := func(k int64) graph.Ref { return b.N(op.Add, nil, q[0], b.I64(k)) }

	straight := b.Region(ps, set(q[1], q[0], b.N(op.Add, nil, get(q[1], step(-1)), b.I64(3))))
	arms := []graph.RegionID{b.Region(ps, q[1]), b.Region(ps, set(q[1], q[0], q[0]))}
	odd := b.Compare(op.EQ, b.N(op.And, nil, q[0], b.I64(1)), b.I64(1))
	behind := b.Region(ps, b.Apply(op.Switch, nil, arms, odd, q[0], q[1])[0])
	nested := b.Region(ps, b.Apply(op.Loop, carried, []graph.RegionID{always, straight}, b.I64(3), q[1])[0])
	inner := b.Region(ps, b.Apply(op.Loop, carried, []graph.RegionID{always, straight}, b.I64(3), q[1])[0])
	loopBehind := b.Region(ps, b.Apply(op.Switch, nil, []graph.RegionID{b.Region(ps, q[1]), inner}, odd, q[0], q[1])[0])
	swap := b.Region(ps, set(set(q[1], q[0], get(q[1], step(1))), step(1), get(q[1], q[0])))

	for name, body := range map[string]graph.RegionID{"straight": straight, "behind": behind, "nested": nested, "loop behind": loopBehind, "swap": swap} {
		p := b.Params(v)
		out := b.Apply(op.Loop, carried, []graph.RegionID{always, body}, b.I64(n), p[0])
		r := b.Region([]types.Type{v}, out[0], b.NoTrap())
		if err := g.AddExport(graph.Export{Name: name, Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "y"}}, Region: r, Optimised: graph.None}); err != nil {
			t.Fatal(err)
		}
	}
	check(t, g, 2)
	p, err := Build(context.Background(), g, Options{Target: targets()[0]})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range p.Entries {
		want := map[string]int{"nested": 1, "loop behind": 1}[e.Name]
		for _, ph := range e.Phases {
			f := p.Module.Funcs[ph.Func]
			for i := range f.Body.Stmts {
				inner := 0
				for _, blk := range f.Body.Stmts[i].Blocks {
					lir.Walk(blk, func(s *lir.Stmt) {
						if s.Op == lir.For || s.Op == lir.While {
							inner++
						}
					})
				}
				if inner > want {
					t.Errorf("%s: %d loops in the loop's body, want %d\n%s", e.Name, inner, want, f)
				}
			}
		}
	}
}
