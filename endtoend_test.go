package kera_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/midend"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/lir/lireval"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/conformance"
)

// every is an imaginary machine with all vector forms at the given width.
func every(bytes int) lir.Target {
	return lir.Target{Name: "every", VecBytes: bytes, MatmulRows: 4, MatmulVecs: 2, Grain: 32,
		Vec: func(o lir.Op, e, _ lir.Elem, _ int) bool { return lir.Defined(o, e, true) }}
}

// optimised compares the optimised graph on the interpreter, and its loop plan,
// with the source graph on the interpreter.
func optimised(t *testing.T, g *graph.Graph, cases int) {
	t.Helper()
	ctx := context.Background()
	before, err := g.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	calls, err := conformance.Calls(ctx, g, 5, cases)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := midend.Optimise(ctx, g, midend.Options{}); err != nil {
		t.Fatalf("%v\n%s", err, text(g, false))
	}
	if after, _ := g.Fingerprint(); after != before {
		t.Fatal("optimising changed the fingerprint")
	}
	refused := map[string]bool{}
	for _, r := range plan.Support(g, plan.Options{}) {
		refused[r.Entry] = true
	}
	var entries []string
	for i := range g.Exports {
		if !refused[g.Exports[i].Name] {
			entries = append(entries, g.Exports[i].Name)
		}
	}
	if len(entries) == 0 {
		t.Skip("loop plan not checked: no entry is supported")
	}
	p, err := plan.Build(ctx, g, plan.Options{Target: every(32), Entries: entries})
	if err != nil {
		t.Fatalf("%v\n%s", err, text(g, true))
	}
	for _, c := range calls {
		x, _ := g.Export(c.Entry)
		in, err := interp.FromLeaves(g.UserParams(x), c.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		res, trap, err := interp.RunOptimised(ctx, g, x, in)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]byte
		for _, v := range res {
			for _, l := range v.Leaves(nil) {
				got = append(got, l.Data)
			}
		}
		if !same(c, trap, got) {
			t.Fatalf("%s case %d: the optimised graph differs: trap %v, want %v\nsource:\n%s\noptimised:\n%s", c.Entry, c.Case, trap, c.Trap, text(g, false), text(g, true))
		}
		if refused[c.Entry] {
			continue // storage dtypes have no loop plan yet
		}
		code, out := execute(p, c)
		if !same(c, op.TrapKind(code), out) {
			t.Fatalf("%s case %d: the plan differs: trap %d, want %d\n%s", c.Entry, c.Case, code, c.Trap, text(g, true))
		}
	}
}

func same(c conformance.Call, trap op.TrapKind, out [][]byte) bool {
	if trap != c.Trap || trap != 0 {
		return trap == c.Trap
	}
	for i := range out {
		if !bytes.Equal(out[i], c.Outputs[i]) {
			return false
		}
	}
	return true
}

func execute(p *plan.Plan, c conformance.Call) (code uint32, out [][]byte) {
	for _, e := range p.Entries {
		if e.Name != c.Entry {
			continue
		}
		for _, t := range e.Outputs {
			out = append(out, make([]byte, t.NumBytes()))
		}
		work := bytes.Repeat([]byte{0xa5}, int(e.Work))
		for _, ph := range e.Phases {
			for tile := ph.Tiles - 1; tile >= 0; tile-- { // tiles may run in any order
				code = lireval.Run(p.Module.Funcs[ph.Func], p.Module.Consts, c.Inputs, out, work, uint64(tile))
			}
		}
	}
	return code, out
}

func text(g *graph.Graph, opt bool) string {
	var b strings.Builder
	if err := g.Text(&b, opt); err != nil {
		return err.Error()
	}
	return b.String()
}

// TestRandomGraphs: passes and plans keep every bit of random programs.
func TestRandomGraphs(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 40
	}
	for seed := range n {
		t.Run(conformance.Name(seed), func(t *testing.T) {
			t.Parallel()
			optimised(t, conformance.Random(seed, 6+int(seed%30)), 3)
		})
	}
}

// TestCasesOptimised runs every conformance case through the passes.
func TestCasesOptimised(t *testing.T) {
	for _, c := range conformance.Groups() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			optimised(t, c.Graph, 2)
		})
	}
}
