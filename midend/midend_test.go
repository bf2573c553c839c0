package midend

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

var update = flag.Bool("update", os.Getenv("KERA_UPDATE") == "1", "write the golden files")

var (
	f32v = types.Tensor(types.F32, 8)
	f32  = types.Scalar(types.F32)
	i64v = types.Tensor(types.I64, 8)
	i64  = types.Scalar(types.I64)
)

// program is a graph of one entry "f".
func program(t *testing.T, params []types.Type, body func(b graph.B, p []graph.Ref) []graph.Ref) *graph.Graph {
	t.Helper()
	g := graph.New()
	b := graph.B{Store: g.Store}
	res := body(b, b.Params(params...))
	x := graph.Export{Name: "f", Region: b.Region(params, res...), Optimised: graph.None}
	for range params {
		x.Params = append(x.Params, graph.Port{Name: "p"})
	}
	for range len(res) - 1 {
		x.Results = append(x.Results, graph.Port{Name: "r"})
	}
	if err := g.AddExport(x); err != nil {
		t.Fatal(err)
	}
	return g
}

// golden runs the named passes (all of them if none is named) and compares the
// optimised graph's text.
func golden(t *testing.T, name string, passes []string, params []types.Type, body func(b graph.B, p []graph.Ref) []graph.Ref) {
	t.Helper()
	g := program(t, params, body)
	before, err := g.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Optimise(context.Background(), g, Options{Passes: passes}); err != nil {
		t.Fatal(err)
	}
	if after, _ := g.Fingerprint(); after != before {
		t.Error("optimising changed the fingerprint")
	}
	var text strings.Builder
	if err := g.Text(&text, true); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, text.String(), want)
	}
}

func TestPasses(t *testing.T) {
	type body = func(b graph.B, p []graph.Ref) []graph.Ref
	for _, c := range []struct {
		name   string
		passes []string
		params []types.Type
		body   body
	}{
		{"inline nested calls", []string{"inline"}, []types.Type{f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			q := b.Param(0, f32v)
			inner := b.Region([]types.Type{f32v}, b.N(op.Neg, nil, q))
			outer := b.Region([]types.Type{f32v}, b.N(op.Add, nil, b.Apply(op.Call, nil, []graph.RegionID{inner}, q)[0], q))
			return []graph.Ref{b.Apply(op.Call, nil, []graph.RegionID{outer}, b.N(op.Abs, nil, p[0]))[0], b.NoTrap()}
		}},
		{"a bounds check the map's range settles", []string{"ranges", "simplify", "dce"}, []types.Type{f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			ps := []types.Type{i64, f32v}
			q := b.Params(ps...)
			at := b.N(op.Add, nil, q[0], b.I64(1))
			trap := b.TrapJoin(b.TrapIf(op.TrapOverflow, b.N(op.AddOverflow, nil, q[0], b.I64(1))), b.TrapIf(op.TrapIndex, b.Compare(op.GE, at, b.I64(8))))
			body := b.Region(ps, b.Reshape(b.Slice(q[1], []int64{1}, at)), trap)
			out := b.Apply(op.Map, op.NewAttrs(op.Ints(op.KDims, 7), op.Int(op.KTraps, 1)), []graph.RegionID{body}, p[0])
			return []graph.Ref{out[0], out[1]}
		}},
		{"a bounds check that can fail stays", []string{"ranges", "simplify", "dce"}, []types.Type{f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			ps := []types.Type{i64, f32v}
			q := b.Params(ps...)
			at := b.N(op.Add, nil, q[0], b.I64(1))
			body := b.Region(ps, b.Reshape(b.Slice(q[1], []int64{1}, at)), b.TrapIf(op.TrapIndex, b.Compare(op.GE, at, b.I64(8))))
			out := b.Apply(op.Map, op.NewAttrs(op.Ints(op.KDims, 8), op.Int(op.KTraps, 1)), []graph.RegionID{body}, p[0])
			return []graph.Ref{out[0], out[1]}
		}},
		{"exact float identities only", []string{"simplify"}, []types.Type{f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			k := func(v float32) graph.Ref { return b.Broadcast(b.F32(v), f32v) }
			minusZero := b.Broadcast(b.ScalarBits(types.F32, 0x80000000), f32v)
			return []graph.Ref{
				b.N(op.Add, nil, p[0], k(0)),             // stays: -0 + 0 is 0
				b.N(op.Add, nil, p[0], minusZero),        // goes
				b.N(op.Sub, nil, p[0], k(0)),             // goes
				b.N(op.Mul, nil, p[0], k(1)),             // goes
				b.N(op.Mul, nil, p[0], k(0)),             // stays: NaN, infinities, signs
				b.N(op.Div, nil, p[0], k(1)),             // goes
				b.N(op.Neg, nil, b.N(op.Neg, nil, p[0])), // goes
				b.NoTrap(),
			}
		}},
		{"folding asks the interpreter", []string{"simplify"}, nil, func(b graph.B, _ []graph.Ref) []graph.Ref {
			x := b.N(op.FMA, nil, b.F32(1.5), b.F32(2), b.F32(-0.25))
			nan := b.N(op.Div, nil, b.F32(0), b.F32(0))
			return []graph.Ref{x, nan, b.N(op.Div, nil, b.I64(7), b.I64(0)), b.TrapIf(op.TrapAssert, b.Compare(op.LT, x, b.F32(1)))}
		}},
		{"operands in one order", []string{"order"}, []types.Type{f32v, f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			return []graph.Ref{b.N(op.Add, nil, p[0], p[1]), b.N(op.Add, nil, p[1], p[0]), b.N(op.Sub, nil, p[1], p[0]), b.NoTrap()}
		}},
		{"dead state and invariants of a loop", []string{"dce"}, []types.Type{i64, f32v, i64v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			ps := []types.Type{i64, i64, f32v, i64v}
			q := b.Params(ps...)
			cond := b.Region(ps, b.Compare(op.LT, q[1], b.I64(5)))
			body := b.Region(ps, b.N(op.Add, nil, q[1], b.I64(1)), b.N(op.Mul, nil, q[2], q[2]))
			out := b.Apply(op.Loop, op.Attrs{op.Int(op.KCarried, 2)}, []graph.RegionID{cond, body}, b.I64(9), p[0], p[1], p[2])
			return []graph.Ref{out[0], b.NoTrap()}
		}},
		{"a chain and the sum it feeds", nil, []types.Type{f32v, f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			d := b.N(op.Sub, nil, p[0], p[1])
			return []graph.Ref{b.Reduce(op.Sum, b.N(op.Mul, nil, d, d), 0), b.NoTrap()}
		}},
		{"a contraction and its epilogue", nil, []types.Type{types.Tensor(types.F32, 4, 8), types.Tensor(types.F32, 8, 6), types.Tensor(types.F32, 6)}, func(b graph.B, p []graph.Ref) []graph.Ref {
			mm := b.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(op.AccFMA)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
				op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0)), p[0], p[1])
			t := types.Tensor(types.F32, 4, 6)
			return []graph.Ref{b.N(op.Max, nil, b.N(op.Add, nil, mm, b.Broadcast(p[2], t)), b.Broadcast(b.F32(0), t)), b.NoTrap()}
		}},
		{"what computes is not computed per element of a larger user", nil, []types.Type{f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
			t := types.Tensor(types.F32, 100, 8)
			return []graph.Ref{b.N(op.Neg, nil, b.Broadcast(b.N(op.Sqrt, nil, p[0]), t)), b.NoTrap()}
		}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, c.passes, c.params, c.body) })
	}
}

// TestOrigins: every node of the optimised graph that is not new structure
// says which source nodes it stands for, and those are source nodes.
func TestOrigins(t *testing.T) {
	g := program(t, []types.Type{f32v, f32}, func(b graph.B, p []graph.Ref) []graph.Ref {
		x := b.N(op.Mul, nil, p[0], b.Broadcast(p[1], f32v))
		return []graph.Ref{b.N(op.Add, nil, x, p[0]), b.NoTrap()}
	})
	source := g.NumNodes()
	if _, err := Optimise(context.Background(), g, Options{}); err != nil {
		t.Fatal(err)
	}
	x, _ := g.Export("f")
	for _, r := range g.RegionsUnder(x.Optimised) {
		for _, n := range g.Order(r) {
			from := g.Prov.Origins[n]
			if len(from) == 0 && g.Op(n) != op.Param {
				t.Errorf("node %d (%v) has no origin", n, g.Op(n))
			}
			for _, s := range from {
				if int(s) >= source {
					t.Errorf("node %d (%v): origin %d is not a source node", n, g.Op(n), s)
				}
			}
		}
	}
}

// TestKeptComposites: a call of a region that a target asks to keep stays.
func TestKeptComposites(t *testing.T) {
	g := program(t, []types.Type{f32v}, func(b graph.B, p []graph.Ref) []graph.Ref {
		body := b.Region([]types.Type{f32v}, b.N(op.Neg, nil, b.Param(0, f32v)))
		return []graph.Ref{b.Apply(op.Call, nil, []graph.RegionID{body}, p[0])[0], b.NoTrap()}
	})
	b := graph.B{Store: g.Store}
	kept := g.RegionDigest(b.Region([]types.Type{f32v}, b.N(op.Neg, nil, b.Param(0, f32v))))
	for _, keep := range []bool{false, true} {
		var opts Options
		if keep {
			opts.Keep = append(opts.Keep, kept)
		}
		if _, err := Optimise(context.Background(), g, opts); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := g.Text(&text, true); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "call"); got != keep {
			t.Errorf("keep %v: call is there: %v", keep, got)
		}
	}
}

func TestPassTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Passes() {
		if p[0] == "" || p[1] == "" || seen[p[0]] {
			t.Errorf("row %q", p)
		}
		seen[p[0]] = true
	}
	if _, err := Optimise(context.Background(), graph.New(), Options{Passes: []string{"no such pass"}}); err == nil {
		t.Error("an unknown pass is accepted")
	}
}
