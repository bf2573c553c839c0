package keg

import (
	"testing"
	"time"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestSharedWork: graphs whose parts are shared many times over, so that a
// careless walk takes quadratic or exponential time, are read at once.
func TestSharedWork(t *testing.T) {
	cases := map[string]func(b graph.B) (graph.RegionID, []types.Type){
		// One switch naming a region of many parameters many times.
		"switch": func(b graph.B) (graph.RegionID, []types.Type) {
			ps := make([]types.Type, 1500)
			for i := range ps {
				ps[i] = i64
			}
			in := b.Params(ps...)
			r := b.Region(ps, in[0])
			rs := make([]graph.RegionID, 1500)
			for i := range rs {
				rs[i] = r
			}
			out := b.Apply(op.Switch, nil, rs, append([]graph.Ref{in[0]}, in...)...)
			return b.Region(ps, out[0], b.NoTrap()), ps
		},
		// Regions nested as deep as allowed, each used twice.
		"nested": func(b graph.B) (graph.RegionID, []types.Type) {
			ps := []types.Type{i64}
			x := b.Param(0, i64)
			r := b.Region(ps, b.N(op.Neg, nil, x))
			for range graph.MaxRegionDepth - 1 {
				y := b.Apply(op.Call, nil, []graph.RegionID{r}, x)
				r = b.Region(ps, b.Apply(op.Call, nil, []graph.RegionID{r}, y[0])[0])
			}
			return b.Region(ps, b.Apply(op.Call, nil, []graph.RegionID{r}, x)[0], b.NoTrap()), ps
		},
		// Many regions over prefixes of one long chain.
		"prefixes": func(b graph.B) (graph.RegionID, []types.Type) {
			ps := []types.Type{i64}
			y := b.Param(0, i64)
			var rs []graph.RegionID
			for range 1500 {
				y = b.N(op.Add, nil, y, y)
				rs = append(rs, b.Region(ps, y))
			}
			return b.Region(ps, b.Apply(op.Switch, nil, rs, y, y)[0], b.NoTrap()), ps
		},
	}
	for name, build := range cases {
		g := graph.New()
		r, ps := build(graph.B{Store: g.Store})
		ports := make([]graph.Port, len(ps))
		g.Exports = []graph.Export{{Name: "f", Params: ports, Results: []graph.Port{{Name: "y"}}, Region: r, Optimised: graph.None}}
		b := encoded(t, &File{Graph: g})
		start := time.Now()
		if _, err := Read(b, ReadOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: %v for %d bytes", name, d, len(b))
		} else {
			t.Logf("%s: %v for %d bytes", name, d, len(b))
		}
	}
}
