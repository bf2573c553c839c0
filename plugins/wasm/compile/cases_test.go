package compile

import (
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// suite collects entries of one graph, beyond those of package conformance.
type suite struct {
	graph.B
	t testing.TB
	g *graph.Graph
}

func newSuite(t testing.TB) *suite {
	g := graph.New()
	return &suite{graph.B{Store: g.Store}, t, g}
}

// entry adds an export; results are what body returns, without a trap code.
func (s *suite) entry(name string, params []types.Type, body func(p []graph.Ref) []graph.Ref) {
	s.t.Helper()
	s.trapping(name, params, func(p []graph.Ref) []graph.Ref { return append(body(p), s.NoTrap()) })
}

// trapping adds an export whose last result is a trap code.
func (s *suite) trapping(name string, params []types.Type, body func(p []graph.Ref) []graph.Ref) {
	s.t.Helper()
	results := body(s.Params(params...))
	x := graph.Export{Name: name, Region: s.Region(params, results...), Optimised: graph.None}
	for i := range params {
		x.Params = append(x.Params, graph.Port{Name: fmt.Sprint("p", i)})
	}
	for i := range len(results) - 1 {
		x.Results = append(x.Results, graph.Port{Name: fmt.Sprint("r", i)})
	}
	if err := s.g.AddExport(x); err != nil {
		s.t.Fatal(err)
	}
}

// one adds an entry of a single node, whose types must be legal.
func (s *suite) one(name string, c op.Code, out types.Type, attrs op.Attrs, params ...types.Type) {
	s.t.Helper()
	d := graph.NodeDef{Op: c, Attrs: attrs, Ins: s.Params(params...)}
	if out.Kind == types.KindTensor && out.DType != types.Invalid {
		d.Outs = []types.Type{out}
	}
	if _, err := s.Add(d); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	s.entry(name, params, func([]graph.Ref) []graph.Ref { return s.Outs(s.Must(d)) })
}

// fused adds what the mid-end makes: a chain with a reduction, and a contraction
// with its epilogue.
func (s *suite) fused(f types.Type) {
	p := s.Params(f, f)
	chain := s.N(op.Max, nil, s.N(op.FMA, nil, p[0], p[1], p[0]), s.N(op.Sub, nil, p[1], p[0]))
	region := s.Region([]types.Type{f, f}, s.Reduce(op.Sum, s.N(op.Div, nil, chain, p[1]), 0), s.N(op.Floor, nil, chain))
	s.entry("fusion/chain", []types.Type{f, f}, func(q []graph.Ref) []graph.Ref {
		return s.Apply(op.Fusion, nil, []graph.RegionID{region}, q...)
	})
	x, w, bias := types.Tensor(types.F32, 6, 19), types.Tensor(types.F32, 19, 23), types.Tensor(types.F32, 23)
	attrs := matmul(op.AccFMA)
	ts := []types.Type{x, w, bias}
	p = s.Params(ts...)
	y := s.N(op.DotGeneral, attrs, p[0], p[1])
	yt := types.Tensor(types.F32, 6, 23)
	relu := s.N(op.Max, nil, s.N(op.Add, nil, y, s.Broadcast(p[2], yt)), s.Broadcast(s.F32(0), yt))
	layer := s.Region(ts, relu)
	s.entry("fusion/layer", ts, func(q []graph.Ref) []graph.Ref {
		return s.Apply(op.Fusion, nil, []graph.RegionID{layer}, q...)
	})
}

// matmul are the attributes of a plain product of matrices.
func matmul(acc op.Acc) op.Attrs {
	return op.NewAttrs(op.Int(op.KAcc, int64(acc)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch), op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0))
}

// tiles adds products whose sides leave every remainder of the register tile.
func (s *suite) tiles(d types.DType) {
	for acc := op.AccFMA; acc <= op.AccF64; acc++ {
		if _, ok := op.AccResult(acc, d, d); !ok {
			continue
		}
		for _, n := range [][3]int64{{21, 40, 37}, {4, 1, 8}, {5, 9, 3}, {33, 17, 16}} {
			s.one(fmt.Sprintf("matmul/%v/%v/%d", d, acc, n), op.DotGeneral, types.Type{}, matmul(acc), types.Tensor(d, n[0], n[1]), types.Tensor(d, n[1], n[2]))
		}
	}
}
