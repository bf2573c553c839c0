package keg

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

var (
	f32, f64, i64, boolT = types.Scalar(types.F32), types.Scalar(types.F64), types.Scalar(types.I64), types.Scalar(types.Bool)
)

func ramp(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i/256)
	}
	return b
}

// tiny is one export of one add.
func tiny(testing.TB) *File {
	g := graph.New()
	b := graph.B{Store: g.Store}
	x, y := b.Param(0, f64), b.Param(1, f64)
	r := b.Region([]types.Type{f64, f64}, b.N(op.Add, nil, x, y), b.NoTrap())
	g.Exports = []graph.Export{{Name: "add", Params: []graph.Port{{Name: "x"}, {Name: "y"}}, Results: []graph.Port{{Name: "sum"}}, Region: r, Optimised: graph.None}}
	return &File{Graph: g}
}

// loops has every structure op, a map, a sort, traps and struct ports.
func loops(testing.TB) *File {
	g := graph.New()
	b := graph.B{Store: g.Store}
	v := types.Tensor(types.F64, 4)
	ps := []types.Type{i64, v}
	i, x := b.Param(0, i64), b.Param(1, v)
	cond := b.Region(ps, b.Compare(op.LT, i, b.I64(10)))
	body := b.Region(ps, b.N(op.Add, nil, x, b.N(op.Mul, nil, x, b.Broadcast(b.F64(1.5), v))))
	double := b.Region([]types.Type{v}, b.N(op.Add, nil, b.Param(0, v), b.Param(0, v)))
	negate := b.Region([]types.Type{v}, b.N(op.Neg, nil, b.Param(0, v)))
	cell := b.Region([]types.Type{i64, i64}, b.N(op.Mul, nil, b.Param(0, i64), b.Param(1, i64)), b.TrapIf(op.TrapOverflow, b.N(op.MulOverflow, nil, b.Param(0, i64), b.Param(1, i64))))
	in := b.Params(v, i64, boolT)
	out := b.Apply(op.Loop, op.Attrs{op.Int(op.KCarried, 1)}, []graph.RegionID{cond, body}, in[1], in[0])
	sw := b.Apply(op.Switch, nil, []graph.RegionID{double, negate}, in[2], out[0])
	call := b.Apply(op.Call, nil, []graph.RegionID{double}, sw[0])
	fused := b.Apply(op.Fusion, nil, []graph.RegionID{negate}, call[0])
	m := b.Apply(op.Map, op.Attrs{op.Ints(op.KDims, 3), op.Int(op.KTraps, 1)}, []graph.RegionID{cell}, in[1])
	sorted := b.N(op.Sort, op.Attrs{op.Int(op.KAxis, 0), op.Int(op.KDescending, 1)}, fused[0])
	pair := b.N(op.Tuple, nil, sorted, m[0])
	back := b.N(op.Tuple, nil, b.N(op.Get, op.Attrs{op.Int(op.KIndex, 1)}, pair), b.N(op.Get, op.Attrs{op.Int(op.KIndex, 0)}, pair))
	trap := b.TrapJoin(m[1], b.TrapIf(op.TrapLoopBound, b.Compare(op.GT, out[1], b.I64(9))))
	r := b.Region([]types.Type{v, i64, boolT}, back, trap)
	g.Exports = []graph.Export{{
		Name: "run", Params: []graph.Port{{Name: "x"}, {Name: "n"}, {Name: "flip"}},
		Results: []graph.Port{{Name: "out", Fields: []graph.Port{{Name: "table"}, {Name: "ranks"}}}}, Region: r, Optimised: graph.None,
	}}
	return &File{Graph: g}
}

// full has blobs, bound constants, an optimised graph, provenance, two
// targets, opaque sections and an unknown one.
func full(t testing.TB) *File {
	g := graph.New()
	b := graph.B{Store: g.Store}
	w, v, k := types.Tensor(types.F32, 64, 32), types.Tensor(types.F32, 64), types.Tensor(types.U8, 100)
	weights := make([]byte, w.NumBytes())
	for i := 0; i < len(weights); i += 4 {
		binary.LittleEndian.PutUint32(weights[i:], 0x3f800000+uint32(i))
	}
	bound := []graph.Bound{{Type: w, Blob: b.AddBlob(weights)}}
	small := b.Const(k, ramp(100))
	dot := b.N(op.DotGeneral, op.Attrs{op.Int(op.KAcc, 0), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch), op.Ints(op.KLhsContract, 0), op.Ints(op.KRhsContract, 0)}, b.Param(0, v), b.Param(1, w))
	best := b.N(op.ArgMax, op.Attrs{op.Int(op.KAxis, 0)}, dot)
	picked := b.N(op.Gather, op.Attrs{op.Int(op.KAxis, 0)}, small, best)
	src := b.Region([]types.Type{v, w}, picked, best, b.NoTrap())
	// The optimised form computes the same through a fusion.
	body := b.Region([]types.Type{v, w}, b.N(op.ArgMax, op.Attrs{op.Int(op.KAxis, 0)}, dot))
	f := b.Apply(op.Fusion, nil, []graph.RegionID{body}, b.Param(0, v), b.Param(1, w))
	opicked := b.N(op.Gather, op.Attrs{op.Int(op.KAxis, 0)}, small, f[0])
	opt := b.Region([]types.Type{v, w}, opicked, f[0], b.NoTrap())
	g.Exports = []graph.Export{
		{Name: "classify", Params: []graph.Port{{Name: "image"}}, Results: []graph.Port{{Name: "label"}, {Name: "index"}}, Region: src, Bound: bound, Optimised: opt, OptBound: bound},
	}
	x := b.Param(0, f32)
	id := b.Region([]types.Type{f32}, b.N(op.Sqrt, nil, x), b.NoTrap())
	if err := g.AddExport(graph.Export{Name: "root", Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "y"}}, Region: id, Optimised: id}); err != nil {
		t.Fatal(err)
	}
	g.Prov.Files = []string{"src/main.kera", "src/lib.kera"}
	g.Prov.Spans[dot.Node] = []graph.Span{{File: 0, Start: 10, End: 20}, {File: 1, Start: 5, End: 9}}
	g.Prov.Spans[best.Node] = []graph.Span{{File: 0, Start: 4, End: 30}}
	g.Prov.Origins[f[0].Node] = []graph.NodeID{best.Node, dot.Node}
	file := &File{Graph: g, Receipt: []byte("receipt"), Policy: []byte("policy"), Unknown: []RawSection{{40, 2, []byte("later")}}}
	for _, features := range [][]string{{"avx512f"}, {"avx2", "fma"}} {
		file.SetTarget(target(t, g, features...))
	}
	return file
}

func target(t testing.TB, g *graph.Graph, features ...string) Target {
	t.Helper()
	d := &section.Descriptor{
		Triple: "x86_64-linux", Kind: section.KindCode, Features: features,
		Plugin: section.Plugin{Name: "sample", Version: "1", Binary: digest.Plain([]byte("sample")), ProtocolMajor: 1},
		Entries: []section.Entry{{
			Name: "root", Region: g.RegionDigest(g.Exports[len(g.Exports)-1].Region), Inputs: []section.Buffer{{DType: types.F32, Align: 64}},
			Outputs: []section.Buffer{{DType: types.F32, Align: 64}}, WorkAlign: 64, Phases: []section.Phase{{Symbol: "root", Offset: 0, Tiles: 1}},
		}},
	}
	tg, err := NewTarget(d, []byte(fmt.Sprint("code for ", features)))
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// spaces has memory spaces other than host, a dimension variable and types of
// every kind that a pure graph can have.
func spaces(testing.TB) *File {
	g := graph.New()
	b := graph.B{Store: g.Store}
	v := types.Type{Kind: types.KindTensor, DType: types.F32, Space: types.Device, Dims: []types.Dim{{Var: true, Index: 2, Min: 1, Max: 9}, types.Num(3)}}
	h := types.Tensor(types.F16, 2)
	x := b.Param(0, v)
	r := b.Region([]types.Type{v, h}, b.N(op.Add, nil, x, x), b.Convert(b.Param(1, h), types.F32), b.NoTrap())
	g.Exports = []graph.Export{{Name: "f", Params: []graph.Port{{Name: "x"}, {Name: "h"}}, Results: []graph.Port{{Name: "a"}, {Name: "b"}}, Region: r, Optimised: graph.None}}
	return &File{Graph: g}
}

var samples = []struct {
	name string
	make func(testing.TB) *File
}{{"tiny", tiny}, {"loops", loops}, {"full", full}, {"spaces", spaces}, {"empty", func(testing.TB) *File { return &File{Graph: graph.New()} }}}

func encoded(t testing.TB, f *File) []byte {
	t.Helper()
	b, err := Encode(f, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
