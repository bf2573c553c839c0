package compile

import (
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// suite collects entries of one graph.
type suite struct {
	graph.B
	t    *testing.T
	g    *graph.Graph
	used map[op.Code]bool
}

func newSuite(t *testing.T) *suite {
	g := graph.New()
	return &suite{graph.B{Store: g.Store}, t, g, map[op.Code]bool{}}
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
	for _, n := range s.Order(x.Region) {
		s.used[s.Op(n)] = true
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

func kind[K ~int64](k K) op.Attr { return op.Int(op.KKind, int64(k)) }

// elementwise adds every elementwise op that takes d, on a shape with whole
// vectors and a tail, and on a scalar.
func (s *suite) elementwise(d types.DType) {
	for _, shape := range [][]int64{{3, 13}, {}} {
		t := types.Tensor(d, shape...)
		for _, row := range op.All() {
			if row.Class != op.Elementwise || !row.Takes(d) {
				continue
			}
			name := fmt.Sprintf("%s/%d", row.Name, len(shape))
			switch row.Code {
			case op.Compare:
				for k := op.EQ; k < op.NumCompareKinds; k++ {
					for o := op.IEEE; o < op.NumOrders; o++ {
						if o == op.Total && !d.IsFloat() {
							continue
						}
						s.one(fmt.Sprintf("%s/%v/%d", name, k, o), row.Code, types.Type{}, op.NewAttrs(kind(k), op.Int(op.KOrder, int64(o))), t, t)
					}
				}
			case op.Select:
			case op.Convert, op.Bitcast, op.ConvertOverflow:
				s.conversions(name, row.Code, t)
			default:
				params := make([]types.Type, row.Arity)
				for i := range params {
					params[i] = t
				}
				s.one(name, row.Code, types.Type{}, nil, params...)
			}
		}
		s.one(fmt.Sprintf("select/%d", len(shape)), op.Select, types.Type{}, nil, t.WithDType(types.Bool), t, t)
	}
}

func (s *suite) conversions(name string, c op.Code, t types.Type) {
	for _, to := range DTypes() {
		out := t.WithDType(to)
		var attrs op.Attrs
		switch c {
		case op.ConvertOverflow:
			if !to.IsInt() {
				continue
			}
			attrs, out = op.NewAttrs(op.Int(op.KTo, int64(to))), types.Type{}
		case op.Bitcast:
			if to.Size() != t.DType.Size() {
				continue
			}
			fallthrough
		default:
			if to == types.Bool || to == t.DType {
				continue
			}
		}
		s.one(fmt.Sprintf("%s/%v", name, to), c, out, attrs, t)
	}
}

// shapes adds the ops that move elements.
func (s *suite) shapes(d types.DType) {
	at, i, is := op.NewAttrs, op.Int, op.Ints
	x := types.Tensor(d, 5, 7)
	i64 := types.Scalar(types.I64)
	row := func(c op.Code) bool { return c.Info().Takes(d) }
	if row(op.Iota) {
		s.one("iota/0", op.Iota, x, at(i(op.KAxis, 0)))
		s.one("iota/1", op.Iota, types.Tensor(d, 300), at(i(op.KAxis, 0)))
	}
	s.one("reshape", op.Reshape, types.Tensor(d, 7, 5), nil, x)
	s.one("broadcast/row", op.Broadcast, types.Tensor(d, 3, 9), at(is(op.KAxes, 1)), types.Tensor(d, 9))
	s.one("broadcast/stretch", op.Broadcast, types.Tensor(d, 3, 9), at(is(op.KAxes, 0, 1)), types.Tensor(d, 3, 1))
	s.one("broadcast/scalar", op.Broadcast, types.Tensor(d, 11), at(is(op.KAxes)), types.Scalar(d))
	s.one("transpose", op.Transpose, types.Type{}, at(is(op.KAxes, 1, 0)), x)
	s.one("transpose/3", op.Transpose, types.Type{}, at(is(op.KAxes, 2, 0, 1)), types.Tensor(d, 2, 3, 4))
	s.one("slice", op.Slice, types.Type{}, at(is(op.KSizes, 2, 3), is(op.KStrides, 2, 2)), x, i64, i64)
	s.one("slice/empty", op.Slice, types.Type{}, at(is(op.KSizes, 3), is(op.KStrides, 1)), types.Tensor(d, 0), i64)
	s.one("update", op.Update, types.Type{}, nil, x, types.Tensor(d, 2, 3), i64, i64)
	s.one("concat", op.Concat, types.Type{}, at(i(op.KAxis, 1)), x, types.Tensor(d, 5, 1), types.Tensor(d, 5, 0), x)
	for _, ix := range []types.DType{types.I64, types.I8, types.U64, types.U32} {
		s.one(fmt.Sprintf("gather/%v", ix), op.Gather, types.Type{}, at(i(op.KAxis, 1)), x, types.Tensor(ix, 4))
	}
	s.one("gather/rows", op.Gather, types.Type{}, at(i(op.KAxis, 0)), x, types.Tensor(types.I32, 2, 2))
	s.one("gather/empty", op.Gather, types.Type{}, at(i(op.KAxis, 0)), types.Tensor(d, 0, 2), types.Tensor(types.I32, 2))
}

// parallel adds reductions, contractions, sorts.
func (s *suite) parallel(d types.DType) {
	at, i, is := op.NewAttrs, op.Int, op.Ints
	x := types.Tensor(d, 5, 70)
	for k := op.Sum; k < op.NumReduceKinds; k++ {
		if !op.Reduce.Info().Takes(d) || (k <= op.RMax && d == types.Bool) || (k >= op.RAnd && d.IsFloat()) {
			continue
		}
		for _, axes := range [][]int64{{0}, {1}, {0, 1}} {
			s.one(fmt.Sprintf("reduce/%v/%v", k, axes), op.Reduce, types.Type{}, at(kind(k), is(op.KAxes, axes...)), x)
		}
		s.one(fmt.Sprintf("reduce/%v/initial", k), op.Reduce, types.Type{}, at(kind(k), is(op.KAxes, 0)), types.Tensor(d, 130), types.Scalar(d))
		s.one(fmt.Sprintf("reduce/%v/empty", k), op.Reduce, types.Type{}, at(kind(k), is(op.KAxes, 1)), types.Tensor(d, 3, 0))
		s.one(fmt.Sprintf("reduce/%v/long", k), op.Reduce, types.Type{}, at(kind(k), is(op.KAxes, 0)), types.Tensor(d, 4096*2+67))
	}
	if d.IsFloat() {
		for _, n := range []int64{0, 1, 63, 64, 65, 200, 4096 + 100} {
			s.one(fmt.Sprintf("dot/%d", n), op.Dot, types.Type{}, at(i(op.KAxis, 0)), types.Tensor(d, n), types.Tensor(d, n))
		}
		s.one("dot/rows", op.Dot, types.Type{}, at(i(op.KAxis, 1)), x, x)
		s.one("dot/columns", op.Dot, types.Type{}, at(i(op.KAxis, 0)), x, x)
	}
	for acc := op.AccFMA; acc < op.NumAccs; acc++ {
		for _, e := range DTypes() {
			if _, ok := op.AccResult(acc, d, e); ok && (acc < op.AccI32 || d.Size() == e.Size()) {
				s.contract(fmt.Sprintf("dot_general/%v/%v", acc, e), acc, d, e)
			}
		}
	}
	if op.Sort.Info().Takes(d) {
		for desc := range int64(2) {
			a := at(i(op.KAxis, 1), i(op.KDescending, desc))
			s.one(fmt.Sprintf("sort/%d", desc), op.Sort, types.Type{}, a, x)
			s.one(fmt.Sprintf("sort/%d/pairs", desc), op.Sort, types.Type{}, a, x, x.WithDType(types.I16))
		}
		s.one("sort/0/axis0", op.Sort, types.Type{}, at(i(op.KAxis, 0), i(op.KDescending, 0)), x)
	}
	if op.ArgMin.Info().Takes(d) {
		for axis := range int64(2) {
			s.one(fmt.Sprintf("argmin/%d", axis), op.ArgMin, types.Type{}, at(i(op.KAxis, axis)), x)
			s.one(fmt.Sprintf("argmax/%d", axis), op.ArgMax, types.Type{}, at(i(op.KAxis, axis)), x)
		}
	}
}

func (s *suite) contract(name string, acc op.Acc, d, e types.DType) {
	is := op.Ints
	attrs := func(xb, yb, xc, yc []int64) op.Attrs {
		return op.NewAttrs(op.Int(op.KAcc, int64(acc)), is(op.KLhsBatch, xb...), is(op.KRhsBatch, yb...),
			is(op.KLhsContract, xc...), is(op.KRhsContract, yc...))
	}
	x := func(dims ...int64) types.Type { return types.Tensor(d, dims...) }
	y := func(dims ...int64) types.Type { return types.Tensor(e, dims...) }
	type l = []int64
	s.one(name+"/matmul", op.DotGeneral, types.Type{}, attrs(nil, nil, l{1}, l{0}), x(9, 11), y(11, 19))
	s.one(name+"/tiles", op.DotGeneral, types.Type{}, attrs(nil, nil, l{1}, l{0}), x(21, 40), y(40, 37))
	s.one(name+"/transposed", op.DotGeneral, types.Type{}, attrs(nil, nil, l{0}, l{1}), x(6, 5), y(7, 6))
	s.one(name+"/batch", op.DotGeneral, types.Type{}, attrs(l{0}, l{0}, l{2}, l{1}), x(2, 3, 4), y(2, 4, 5))
	s.one(name+"/two axes", op.DotGeneral, types.Type{}, attrs(nil, nil, l{1, 2}, l{1, 0}), x(3, 2, 5), y(5, 2, 4))
	s.one(name+"/vectors", op.DotGeneral, types.Type{}, attrs(nil, nil, l{0}, l{0}), x(30), y(30))
	s.one(name+"/empty", op.DotGeneral, types.Type{}, attrs(nil, nil, l{1}, l{0}), x(2, 0), y(0, 3))
	s.one(name+"/long", op.DotGeneral, types.Type{}, attrs(nil, nil, l{1}, l{0}), x(1, 4096+9), y(4096+9, 2))
}

// structure adds what has regions, tuples and traps.
func (s *suite) structure() {
	f := types.Tensor(types.F32, 17)
	b, i64, u8 := types.Scalar(types.Bool), types.Scalar(types.I64), types.Scalar(types.U8)
	body := func(c op.Code) graph.RegionID {
		p := s.Params(f, f)
		return s.Region([]types.Type{f, f}, s.N(c, nil, p[0], p[1]), s.N(op.Neg, nil, p[0]))
	}
	for _, c := range []op.Code{op.Call, op.Fusion} {
		s.entry(c.String(), []types.Type{f, f}, func(p []graph.Ref) []graph.Ref {
			return s.Apply(c, nil, []graph.RegionID{body(op.Mul)}, p...)
		})
	}
	s.fused(f)
	s.entry("tuple", []types.Type{f, i64}, func(p []graph.Ref) []graph.Ref {
		t := s.N(op.Tuple, nil, p[1], s.N(op.Tuple, nil, p[0], p[0]))
		inner := s.N(op.Get, op.NewAttrs(op.Int(op.KIndex, 1)), t)
		return []graph.Ref{t, s.N(op.Get, op.NewAttrs(op.Int(op.KIndex, 0)), inner)}
	})
	s.entry("switch", []types.Type{u8, f, f}, func(p []graph.Ref) []graph.Ref {
		return s.Apply(op.Switch, nil, []graph.RegionID{body(op.Add), body(op.Sub), body(op.Div)}, p...)
	})
	s.loops(i64, b, f)
	x := types.Tensor(types.I32, 40)
	s.trapping("trap", []types.Type{x, b}, func(p []graph.Ref) []graph.Ref {
		over := s.N(op.AddOverflow, nil, p[0], p[0])
		any := s.N(op.Reduce, op.NewAttrs(kind(op.ROr), op.Ints(op.KAxes, 0)), over)
		return []graph.Ref{s.N(op.Add, nil, p[0], p[0]), s.TrapJoin(s.TrapIf(op.TrapOverflow, any), s.TrapIf(op.TrapAssert, p[1]))}
	})
	s.mapped(x, i64)
}

// loops counts up to a bound, carrying a vector and a trap code.
func (s *suite) loops(i64, b, f types.Type) {
	ps := []types.Type{i64, i64, f, types.Trap(), i64}
	p := s.Params(ps...)
	cond := s.Region(ps, s.Compare(op.LT, p[1], p[4]))
	next := s.N(op.Add, nil, p[1], s.I64(1))
	code := s.TrapJoin(p[3], s.TrapIf(op.TrapAssert, s.Compare(op.EQ, p[1], s.I64(9))))
	code = s.N(op.TrapJoin, nil, p[3], code)
	body := s.Region(ps, next, s.N(op.Mul, nil, p[2], s.N(op.Sqrt, nil, s.N(op.Abs, nil, p[2]))), code)
	s.trapping("loop", []types.Type{i64, f, i64}, func(q []graph.Ref) []graph.Ref {
		out := s.Apply(op.Loop, op.NewAttrs(op.Int(op.KCarried, 3)), []graph.RegionID{cond, body}, q[0], s.I64(0), q[1], s.NoTrap(), q[2])
		return []graph.Ref{out[0], out[1], out[3], out[2]}
	})
}

// mapped evaluates a region at every index, with and without a trap code.
func (s *suite) mapped(x, i64 types.Type) {
	ps := []types.Type{i64, i64, x, i64}
	p := s.Params(ps...)
	at := s.N(op.Slice, op.NewAttrs(op.Ints(op.KSizes, 4), op.Ints(op.KStrides, 1)), p[2], s.N(op.Mul, nil, p[0], p[1]))
	sum := s.Reduce(op.Sum, at, 0)
	trap := s.TrapIf(op.TrapIndex, s.Compare(op.GT, s.N(op.Add, nil, p[0], p[1]), p[3]))
	plain := s.Region(ps, sum, at)
	checked := s.Region(ps, sum, trap)
	dims := op.Ints(op.KDims, 3, 5)
	s.entry("map", []types.Type{x, i64}, func(q []graph.Ref) []graph.Ref {
		return s.Apply(op.Map, op.NewAttrs(dims, op.Int(op.KTraps, 0)), []graph.RegionID{plain}, q...)
	})
	s.trapping("map/trap", []types.Type{x, i64}, func(q []graph.Ref) []graph.Ref {
		return s.Apply(op.Map, op.NewAttrs(dims, op.Int(op.KTraps, 1)), []graph.RegionID{checked}, q...)
	})
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
	attrs := op.NewAttrs(op.Int(op.KAcc, int64(op.AccFMA)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch), op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0))
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
