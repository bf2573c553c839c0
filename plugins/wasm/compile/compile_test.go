package compile

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/conformance"
	"github.com/kera-lang/kera/plugins/wasm/exec"
	"github.com/kera-lang/kera/plugins/wasm/internal/v8"
)

// expect runs every entry of g on the interpreter.
func expect(t *testing.T, g *graph.Graph, cases int) []conformance.Call {
	t.Helper()
	ws, err := conformance.Calls(context.Background(), g, 11, cases)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func leaves(vs []interp.Value) [][]byte {
	var ls []interp.Value
	for _, v := range vs {
		ls = v.Leaves(ls)
	}
	out := make([][]byte, len(ls))
	for i, l := range ls {
		out[i] = l.Data
	}
	return out
}

// mustCompile compiles the entries of g, or all.
func mustCompile(t *testing.T, g *graph.Graph, entries ...string) *Compiled {
	t.Helper()
	if err := graph.Validate(g, "test"); err != nil {
		t.Fatal(err)
	}
	c, ds, err := Graph(context.Background(), g, entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		t.Errorf("%v", d)
	}
	if c == nil {
		t.FailNow()
	}
	if err := c.Section.Descriptor.Check(); err != nil {
		t.Fatalf("descriptor: %v", err)
	}
	if err := c.Section.Descriptor.CheckArtifact(uint64(len(c.Section.Artifact))); err != nil {
		t.Fatalf("descriptor: %v", err)
	}
	return c
}

// run checks every expected call under wazero.
func run(t *testing.T, machine *exec.Machine, c *Compiled, ws []conformance.Call) {
	t.Helper()
	ctx := context.Background()
	mod, err := machine.Load(ctx, c.Section.Descriptor, c.Section.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mod.Close(ctx) }()
	for _, w := range ws {
		e, ok := c.Section.Descriptor.Entry(w.Entry)
		if !ok {
			continue // not supported, which the caller has judged
		}
		out := make([][]byte, len(e.Outputs))
		for i, b := range e.Outputs {
			out[i] = make([]byte, b.Bytes())
		}
		trap, _, err := mod.Run(ctx, w.Entry, w.Inputs, out)
		if err != nil {
			t.Errorf("%s: %v", w.Entry, err)
			continue
		}
		compare(t, "wazero", w, trap, out)
	}
}

func compare(t *testing.T, where string, w conformance.Call, trap uint32, out [][]byte) {
	t.Helper()
	if trap != uint32(w.Trap) {
		t.Errorf("%s: %s: trap %d, want %v", where, w.Entry, trap, w.Trap)
		return
	}
	if trap != 0 {
		return
	}
	for i := range w.Outputs {
		if !bytes.Equal(out[i], w.Outputs[i]) {
			at := 0
			for at < len(out[i]) && out[i][at] == w.Outputs[i][at] {
				at++
			}
			t.Errorf("%s: %s: result %d differs at byte %d\n  in %.160x\n got %.160x\nwant %.160x", where, w.Entry, i, at, w.Inputs, out[i], w.Outputs[i])
		}
	}
}

// allGroups are the conformance cases and this package's own.
func allGroups(t *testing.T) []conformance.Group {
	s := newSuite(t)
	s.fused(types.Tensor(types.F32, 17))
	s.tiles(types.F32)
	s.tiles(types.F64)
	return append(conformance.Groups(), conformance.Group{Name: "fused", Graph: s.g})
}

// supported compiles the entries that the target takes. Only the storage types
// may be refused: this target does not declare them.
func supported(t *testing.T, g *graph.Graph) *Compiled {
	t.Helper()
	refused := map[string]bool{}
	for _, r := range plan.Support(g, options(nil)) {
		if !strings.Contains(r.Reason, "f16") {
			t.Errorf("%s: %v refused: %s", r.Entry, g.Op(r.Node), r.Reason)
		}
		refused[r.Entry] = true
	}
	var entries []string
	for _, x := range g.Exports {
		if !refused[x.Name] {
			entries = append(entries, x.Name)
		}
	}
	if len(refused) > 0 {
		t.Logf("not supported: %d of %d entries, for their storage types", len(refused), len(g.Exports))
	}
	if len(entries) == 0 {
		return nil
	}
	return mustCompile(t, g, entries...)
}

// TestEveryOp compares every op on every dtype with the interpreter.
func TestEveryOp(t *testing.T) {
	ctx := context.Background()
	machine := exec.Open(ctx, false)
	defer func() { _ = machine.Close(ctx) }()
	for _, g := range allGroups(t) {
		t.Run(g.Name, func(t *testing.T) {
			if c := supported(t, g.Graph); c != nil {
				run(t, machine, c, expect(t, g.Graph, 7))
			}
		})
	}
}

// TestInV8 runs a sample of the same calls in Node.
func TestInV8(t *testing.T) {
	node, ok := v8.Find()
	if !ok {
		t.Skip("not checked: node is not installed")
	}
	sampled := map[string]int{"f32": 7, "f64": 7, "i8": 7, "u64": 7, "structure": 1, "fused": 1}
	var jobs []v8.Job
	var ws []conformance.Call
	for _, g := range allGroups(t) {
		every := sampled[g.Name]
		if every == 0 {
			continue
		}
		c := supported(t, g.Graph)
		for i, w := range expect(t, g.Graph, 3) {
			e, ok := c.Section.Descriptor.Entry(w.Entry)
			if !ok || i%every != 0 {
				continue
			}
			jobs, ws = append(jobs, v8.Job{Artifact: c.Section.Artifact, Entry: e, Inputs: w.Inputs}), append(ws, w)
		}
	}
	got, err := v8.Run(node, "../../../docs/spec/wasm-abi.md", t.TempDir(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range ws {
		compare(t, "V8", w, got[i].Trap, got[i].Outputs)
	}
}

// TestProvenance checks that every reachable node has code or is recorded as
// folded, and that the same graph gives the same bytes.
func TestProvenance(t *testing.T) {
	s := newSuite(t)
	s.fused(types.Tensor(types.F32, 17))
	s.tiles(types.F32)
	for _, g := range conformance.Groups() {
		if g.Name == "structure" || g.Name == "f32" {
			provenance(t, g.Graph)
		}
	}
	provenance(t, s.g)
}

func provenance(t *testing.T, g *graph.Graph) {
	t.Helper()
	a, b := supported(t, g), supported(t, g)
	if !bytes.Equal(a.Section.Artifact, b.Section.Artifact) {
		t.Error("two compilations give different modules")
	}
	d := a.Section.Descriptor
	have := map[string]bool{}
	for _, m := range d.CodeMap {
		have[fmt.Sprint(d.Nodes[m.Node])] = true
	}
	for _, n := range d.Folded {
		have[fmt.Sprint(d.Nodes[n])] = true
	}
	for i := range g.Exports {
		x := &g.Exports[i]
		if _, ok := d.Entry(x.Name); !ok {
			continue
		}
		for _, r := range g.RegionsUnder(x.Region) {
			for _, n := range g.Order(r) {
				if !have[fmt.Sprint(g.Digest(n))] {
					t.Errorf("%s: %s has neither code nor a place among the folded", x.Name, g.NodeText(n))
				}
			}
		}
	}
}

// TestBoundConstants passes a large constant behind the entry's own inputs.
func TestBoundConstants(t *testing.T) {
	ctx := context.Background()
	machine := exec.Open(ctx, false)
	defer func() { _ = machine.Close(ctx) }()
	s := newSuite(t)
	f := types.Tensor(types.F32, 2000)
	weights := interp.Gen(f, 5, 0).Data
	p := s.Params(f, f)
	x := graph.Export{Name: "main", Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "y"}}, Optimised: graph.None,
		Region: s.Region([]types.Type{f, f}, s.N(op.Mul, nil, p[0], p[1]), s.NoTrap()),
		Bound:  []graph.Bound{{Type: f, Blob: s.AddBlob(weights)}}}
	if err := s.g.AddExport(x); err != nil {
		t.Fatal(err)
	}
	ws := expect(t, s.g, 3)
	for i := range ws {
		ws[i].Inputs = append(ws[i].Inputs, weights)
	}
	run(t, machine, mustCompile(t, s.g), ws)
}

// TestRefusals checks that what cannot be compiled is said to the user.
func TestRefusals(t *testing.T) {
	ctx := context.Background()
	s := newSuite(t)
	h := types.Tensor(types.F16, 3)
	s.one("half", op.Convert, types.Tensor(types.F32, 3), nil, h)
	big := types.Tensor(types.U8, 1<<31)
	s.one("big", op.Not, types.Type{}, nil, big)
	s.one("good", op.Neg, types.Type{}, nil, types.Tensor(types.F32, 3))
	for _, c := range []struct{ entry, code, want string }{
		{"absent", CodeEntry, `no entry "absent"`},
		{"half", CodeRefused, "f16"},
		{"big", CodeTooLarge, "bytes"},
		{"good", "", ""},
	} {
		got, ds, err := Graph(ctx, s.g, []string{c.entry})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.code == "" && (got == nil || len(ds) > 0):
			t.Errorf("%s: %v", c.entry, ds)
		case c.code != "" && (got != nil || len(ds) == 0 || ds[0].Code != c.code || !strings.Contains(ds[0].Summary, c.want)):
			t.Errorf("%s: got %v, want %s with %q", c.entry, ds, c.code, c.want)
		case c.code == CodeRefused && ds[0].Nodes == nil:
			t.Errorf("%s: the refusal names no node", c.entry)
		}
	}
	sup := Support(s.g, []string{"half", "good"})
	if len(sup.Refused) == 0 || len(sup.Groups) == 0 {
		t.Errorf("support: %d refused, %d groups", len(sup.Refused), len(sup.Groups))
	}
	est, ds, err := Predict(ctx, s.g, []string{"good"})
	if err != nil || len(ds) > 0 || est.Min == 0 || est.Min > est.Typ || est.Typ > est.Max {
		t.Errorf("estimate %+v, %v, %v", est, ds, err)
	}
}

func BenchmarkMatmul(b *testing.B) {
	ctx := context.Background()
	machine := exec.Open(ctx, false)
	defer func() { _ = machine.Close(ctx) }()
	const n = 256
	for _, d := range []types.DType{types.F32, types.F64} {
		for acc := op.AccFMA; acc <= op.AccF64; acc++ {
			if _, ok := op.AccResult(acc, d, d); !ok {
				continue
			}
			b.Run(fmt.Sprintf("%v/%v", d, acc), func(b *testing.B) {
				s := newSuite(b)
				t := types.Tensor(d, n, n)
				s.one("main", op.DotGeneral, types.Type{}, matmul(acc), t, t)
				c, _, err := Graph(ctx, s.g, nil)
				if err != nil {
					b.Fatal(err)
				}
				mod, err := machine.Load(ctx, c.Section.Descriptor, c.Section.Artifact)
				if err != nil {
					b.Fatal(err)
				}
				in := leaves(interp.GenAll([]types.Type{t, t}, 1, 0))
				out := [][]byte{make([]byte, t.NumBytes())}
				took := time.Duration(0)
				for b.Loop() {
					_, dt, err := mod.Run(ctx, "main", in, out)
					if err != nil {
						b.Fatal(err)
					}
					took += dt
				}
				b.ReportMetric(2*n*n*n*float64(b.N)/float64(took.Nanoseconds()), "GFLOP/s")
			})
		}
	}
}
