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
		ws[i].inputs = append(ws[i].inputs, weights)
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
				g := graph.New()
				s := &suite{graph.B{Store: g.Store}, nil, g, map[op.Code]bool{}}
				t := types.Tensor(d, n, n)
				attrs := op.NewAttrs(op.Int(op.KAcc, int64(acc)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
					op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0))
				p := s.Params(t, t)
				x := graph.Export{Name: "main", Params: []graph.Port{{Name: "x"}, {Name: "y"}}, Results: []graph.Port{{Name: "z"}},
					Region: s.Region([]types.Type{t, t}, s.N(op.DotGeneral, attrs, p...), s.NoTrap()), Optimised: graph.None}
				if err := g.AddExport(x); err != nil {
					b.Fatal(err)
				}
				c, _, err := Graph(ctx, g, nil)
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
