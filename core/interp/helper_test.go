package interp

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// typ parses "f32[2,3]".
func typ(t testing.TB, s string) types.Type {
	t.Helper()
	name, rest, _ := strings.Cut(s, "[")
	d, ok := types.ParseDType(name)
	if !ok {
		t.Fatalf("no dtype in %q", s)
	}
	var dims []int64
	for _, f := range strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ']' }) {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		dims = append(dims, n)
	}
	return types.Tensor(d, dims...)
}

// lit parses "f32[3]: 1 -0 nan"; 0x... gives bits.
func lit(t testing.TB, s string) Value {
	t.Helper()
	ts, rest, _ := strings.Cut(s, ":")
	v := Zero(typ(t, ts))
	d, fs := v.Type.DType, strings.Fields(rest)
	if int64(len(fs)) != v.Type.NumElems() {
		t.Fatalf("%q has %d elements", s, len(fs))
	}
	for i, f := range fs {
		var bits uint64
		var err error
		switch {
		case strings.HasPrefix(f, "0x"):
			bits, err = strconv.ParseUint(f[2:], 16, 64)
		case d.IsFloating():
			var x float64
			x, err = strconv.ParseFloat(f, 64)
			bits = numeric.ConvertOf(types.F64, d)(math.Float64bits(x))
		case d == types.U64:
			bits, err = strconv.ParseUint(f, 10, 64)
		default:
			var x int64
			x, err = strconv.ParseInt(f, 10, 64)
			bits = uint64(x)
		}
		if err != nil {
			t.Fatal(err)
		}
		putBits(v.Data, d.Size(), i, bits)
	}
	return v
}

// show is the inverse of lit.
func show(v Value) string {
	if v.Type.Kind == types.KindTuple {
		var fs []string
		for _, e := range v.Elems {
			fs = append(fs, show(e))
		}
		return "(" + strings.Join(fs, "; ") + ")"
	}
	var b strings.Builder
	b.WriteString(v.Type.String() + ":")
	d := v.Type.DType
	for i := range int(v.Type.NumElems()) {
		x := v.Bits(i)
		switch {
		case d.IsFloating():
			f := strconv.FormatFloat(numeric.ToF64(d, x), 'g', -1, 32)
			if d == types.F64 {
				f = strconv.FormatFloat(math.Float64frombits(x), 'g', -1, 64)
			}
			b.WriteString(" " + f)
		case d.IsSigned():
			fmt.Fprintf(&b, " %d", indexOf(d, x))
		default:
			fmt.Fprintf(&b, " %d", x)
		}
	}
	return b.String()
}

// tb builds graphs for tests.
type tb struct {
	graph.B
	t testing.TB
	g *graph.Graph
}

func newTB(t testing.TB) *tb {
	g := graph.New()
	return &tb{graph.B{Store: g.Store}, t, g}
}

// params refers to parameters with the given types.
func (b *tb) params(ts ...string) []graph.Ref {
	out := make([]graph.Ref, len(ts))
	for i, s := range ts {
		out[i] = b.Param(i, typ(b.t, s))
	}
	return out
}

func (b *tb) region(params []string, results ...graph.Ref) graph.RegionID {
	var ts []types.Type
	for _, p := range params {
		ts = append(ts, typ(b.t, p))
	}
	return b.Region(ts, results...)
}

// export makes an entry of a region whose last result is a trap code.
func (b *tb) export(params []string, results ...graph.Ref) *graph.Export {
	b.t.Helper()
	x := graph.Export{Name: "main", Region: b.region(params, results...), Optimised: graph.None}
	for i := range params {
		x.Params = append(x.Params, graph.Port{Name: fmt.Sprint("p", i)})
	}
	for i := range len(results) - 1 {
		x.Results = append(x.Results, graph.Port{Name: fmt.Sprint("r", i)})
	}
	if err := b.g.AddExport(x); err != nil {
		b.t.Fatal(err)
	}
	if err := graph.Validate(b.g, ""); err != nil {
		b.t.Fatal(err)
	}
	return &b.g.Exports[len(b.g.Exports)-1]
}

// run runs an entry on literals and gives its results, or its trap and place.
func (b *tb) run(x *graph.Export, in ...string) string {
	b.t.Helper()
	var vals []Value
	for _, s := range in {
		vals = append(vals, lit(b.t, s))
	}
	ctx := context.Background()
	out, code, err := Run(ctx, b.g, x, vals)
	if err != nil {
		b.t.Fatal(err)
	}
	place, err := Locate(ctx, b.g, x, vals)
	if err != nil {
		b.t.Fatal(err)
	}
	if code != op.TrapNone {
		if place == nil || place.Code != code {
			b.t.Fatalf("trap %v, located %v", code, place)
		}
		at := ""
		for _, s := range place.Path {
			at += fmt.Sprintf("%v%v ", s.Op, s.Index)
		}
		return fmt.Sprintf("trap %v at %s%v", code, at, b.Op(place.Node))
	}
	if place != nil {
		b.t.Fatalf("no trap, but located %v", place)
	}
	var ss []string
	for _, v := range out {
		ss = append(ss, show(v))
	}
	return strings.Join(ss, " | ")
}

// evalOp evaluates one op on literals, both as a node and inside a region, and
// checks that the two agree.
func evalOp(t testing.TB, c op.Code, out string, attrs op.Attrs, ins ...string) string {
	t.Helper()
	b := newTB(t)
	var refs []graph.Ref
	var params []string
	var vals []Value
	for i, s := range ins {
		v := lit(t, s)
		vals = append(vals, v)
		params = append(params, v.Type.String())
		refs = append(refs, b.Param(i, v.Type))
	}
	d := graph.NodeDef{Op: c, Attrs: attrs, Ins: refs}
	if out != "" {
		d.Outs = []types.Type{typ(t, out)}
	}
	id, err := b.g.Add(d)
	if err != nil {
		t.Fatal(err)
	}
	n := graph.Ref{Node: id}
	one, err := EvalNode(context.Background(), b.g.Store, n.Node, vals)
	if err != nil {
		t.Fatal(err)
	}
	var results []graph.Ref
	for i := range b.g.NumOuts(n.Node) {
		results = append(results, graph.Ref{Node: n.Node, Out: int32(i)})
	}
	two, err := EvalRegion(context.Background(), b.g.Store, b.region(params, results...), vals)
	if err != nil {
		t.Fatal(err)
	}
	var s1, s2 []string
	for i := range one {
		s1, s2 = append(s1, show(one[i])), append(s2, show(two[i]))
	}
	if a, z := strings.Join(s1, " | "), strings.Join(s2, " | "); a != z {
		t.Fatalf("node gives %s, region %s", a, z)
	}
	return strings.Join(s1, " | ")
}
