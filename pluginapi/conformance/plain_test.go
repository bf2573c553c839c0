package conformance

import (
	"bytes"
	"context"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
)

// TestShortForms holds the interpreter's short forms against its plain walk:
// the same trap or the same bytes, on every case and on random graphs, with
// inputs of every kind; a trap is also located with the code of the run.
func TestShortForms(t *testing.T) {
	for _, g := range Groups() {
		againstPlain(t, g.Name, g.Graph, 14)
	}
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	traps := 0
	for seed := range seeds {
		traps += againstPlain(t, Name(seed), Random(seed, 40), 7)
	}
	if traps == 0 {
		t.Error("no random graph trapped")
	}
}

// againstPlain returns the number of calls that trapped.
func againstPlain(t *testing.T, name string, g *graph.Graph, cases int) (traps int) {
	t.Helper()
	ctx := context.Background()
	short, plain := interp.New(g.Store, interp.DefaultLimits()), interp.NewPlain(g.Store, interp.DefaultLimits())
	for i := range g.Exports {
		x := &g.Exports[i]
		for n := range cases {
			in := interp.GenAll(g.UserParams(x), 11, n)
			got, trap, err := short.Run(ctx, x, in)
			if err != nil {
				t.Fatalf("%s %s case %d: %v", name, x.Name, n, err)
			}
			want, wantTrap, err := plain.Run(ctx, x, in)
			if err != nil {
				t.Fatalf("%s %s case %d: plain: %v", name, x.Name, n, err)
			}
			if trap != wantTrap {
				t.Errorf("%s %s case %d: trap %v, plain %v", name, x.Name, n, trap, wantTrap)
				continue
			}
			if trap != op.TrapNone {
				traps++
				if at, err := short.Locate(ctx, x, in); err != nil || at == nil || at.Code != trap {
					t.Errorf("%s %s case %d: trap %v located at %v, %v", name, x.Name, n, trap, at, err)
				}
			}
			a, b := leafBytes(got), leafBytes(want)
			for k := range b {
				if !bytes.Equal(a[k], b[k]) {
					t.Errorf("%s %s case %d: leaf %d differs from the plain walk", name, x.Name, n, k)
				}
			}
		}
	}
	return traps
}
