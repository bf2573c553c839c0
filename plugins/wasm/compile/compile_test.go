package compile

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/plugins/wasm/exec"
	"github.com/kera-lang/kera/plugins/wasm/internal/v8"
)

// want is what the interpreter says about one call.
type want struct {
	entry  string
	inputs [][]byte
	trap   op.TrapKind
	out    [][]byte
}

// expect runs every entry of g on generated inputs: ordinary ones, edges, NaN
// and infinities, random bits, subnormals, extremes and zeros.
func expect(t *testing.T, g *graph.Graph, cases int) []want {
	t.Helper()
	ctx := context.Background()
	m := interp.New(g.Store, interp.DefaultLimits())
	var ws []want
	for i := range g.Exports {
		x := &g.Exports[i]
		for n := range cases {
			in := interp.GenAll(g.UserParams(x), 11, n)
			out, trap, err := m.Run(ctx, x, in)
			if err != nil {
				t.Fatalf("%s: %v", x.Name, err)
			}
			ws = append(ws, want{x.Name, leaves(in), trap, leaves(out)})
		}
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

// mustCompile compiles all of g.
func mustCompile(t *testing.T, g *graph.Graph) *Compiled {
	t.Helper()
	if err := graph.Validate(g, "test"); err != nil {
		t.Fatal(err)
	}
	c, ds, err := Graph(context.Background(), g, nil)
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
func run(t *testing.T, machine *exec.Machine, c *Compiled, ws []want) {
	t.Helper()
	ctx := context.Background()
	mod, err := machine.Load(ctx, c.Section.Descriptor, c.Section.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mod.Close(ctx) }()
	for _, w := range ws {
		e, ok := c.Section.Descriptor.Entry(w.entry)
		if !ok {
			t.Fatalf("no entry %q", w.entry)
		}
		out := make([][]byte, len(e.Outputs))
		for i, b := range e.Outputs {
			out[i] = make([]byte, b.Bytes())
		}
		trap, _, err := mod.Run(ctx, w.entry, w.inputs, out)
		if err != nil {
			t.Errorf("%s: %v", w.entry, err)
			continue
		}
		compare(t, "wazero", w, trap, out)
	}
}

func compare(t *testing.T, where string, w want, trap uint32, out [][]byte) {
	t.Helper()
	if trap != uint32(w.trap) {
		t.Errorf("%s: %s: trap %d, want %v", where, w.entry, trap, w.trap)
		return
	}
	if trap != 0 {
		return
	}
	for i := range w.out {
		if !bytes.Equal(out[i], w.out[i]) {
			at := 0
			for at < len(out[i]) && out[i][at] == w.out[i][at] {
				at++
			}
			t.Errorf("%s: %s: result %d differs at byte %d\n  in %.160x\n got %.160x\nwant %.160x", where, w.entry, i, at, w.inputs, out[i], w.out[i])
		}
	}
}

func suites(t *testing.T) map[string]*suite {
	out := map[string]*suite{}
	for _, d := range DTypes() {
		s := newSuite(t)
		s.elementwise(d)
		s.shapes(d)
		s.parallel(d)
		out[d.String()] = s
	}
	s := newSuite(t)
	s.structure()
	out["structure"] = s
	return out
}

// TestEveryOp compares every op on every dtype with the interpreter.
func TestEveryOp(t *testing.T) {
	ctx := context.Background()
	machine := exec.Open(ctx, false)
	defer func() { _ = machine.Close(ctx) }()
	used := map[op.Code]bool{}
	for name, s := range suites(t) {
		for c := range s.used {
			used[c] = true
		}
		t.Run(name, func(t *testing.T) {
			run(t, machine, mustCompile(t, s.g), expect(t, s.g, 7))
		})
	}
	for _, row := range op.All() {
		if !used[row.Code] {
			t.Errorf("%s is not covered", row.Name)
		}
	}
}

// TestInV8 runs a sample of the same calls in Node.
func TestInV8(t *testing.T) {
	node, ok := v8.Find()
	if !ok {
		t.Skip("not checked: node is not installed")
	}
	var jobs []v8.Job
	var ws []want
	all := suites(t)
	for _, name := range []string{"f32", "f64", "i8", "u64", "structure"} {
		c := mustCompile(t, all[name].g)
		for i, w := range expect(t, all[name].g, 3) {
			if i%7 != 1 && name != "structure" {
				continue
			}
			e, _ := c.Section.Descriptor.Entry(w.entry)
			jobs, ws = append(jobs, v8.Job{Artifact: c.Section.Artifact, Entry: e, Inputs: w.inputs}), append(ws, w)
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
	s.parallel(types.F32)
	s.structure()
	a, b := mustCompile(t, s.g), mustCompile(t, s.g)
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
	for i := range s.g.Exports {
		for _, r := range s.RegionsUnder(s.g.Exports[i].Region) {
			for _, n := range s.Order(r) {
				if !have[fmt.Sprint(s.Digest(n))] {
					t.Errorf("%s: %s has neither code nor a place among the folded", s.g.Exports[i].Name, s.g.NodeText(n))
				}
			}
		}
	}
}
