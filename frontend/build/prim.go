package build

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

// lowering makes the nodes of a builtin from its evaluated arguments; t is the
// result's type.
type lowering func(f *fn, e *check.Prim, xs []graph.Ref, t types.Type) graph.Ref

// lowerings has a row for every builtin that reaches the graph builder.
var lowerings = map[string]lowering{
	"sqrt": elementwise(op.Sqrt), "floor": elementwise(op.Floor), "ceil": elementwise(op.Ceil),
	"trunc": elementwise(op.Trunc), "round_even": elementwise(op.RoundEven),
	"popcnt": elementwise(op.Popcnt), "clz": elementwise(op.Clz), "ctz": elementwise(op.Ctz),
	"fma": elementwise(op.FMA), "copysign": elementwise(op.Copysign), "select": elementwise(op.Select),
	"abs":   lowerAbs,
	"clamp": lowerClamp,
	"bits":  func(f *fn, _ *check.Prim, xs []graph.Ref, t types.Type) graph.Ref { return f.b.Bitcast(xs[0], t.DType) },
	"min":   lowerMinMax(op.Min, check.MinOf), "max": lowerMinMax(op.Max, check.MaxOf),
	"sum": lowerReduce(check.Sum), "prod": lowerReduce(check.Prod), "any": lowerReduce(check.Any), "all": lowerReduce(check.All),
	"argmin": lowerArg(op.ArgMin), "argmax": lowerArg(op.ArgMax),
	"sort": lowerSort, "argsort": lowerArgsort,
	"dot":       lowerDot,
	"matmul":    lowerMatmul,
	"transpose": func(f *fn, e *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref { return f.transpose(xs[0], e.Ints) },
	"reshape":   lowerReshape,
	"concat":    lowerConcat,
	"gather":    lowerGather,
	"iota":      lowerIota,
}

func (f *fn) prim(e *check.Prim) graph.Ref {
	xs := make([]graph.Ref, len(e.Args))
	for i, a := range e.Args {
		xs[i] = f.tensor(a)
	}
	low, ok := lowerings[e.Row.Name]
	if !ok {
		panic("BUG: builtin without a lowering: " + e.Row.Name)
	}
	return low(f, e, xs, f.typ(e.T, e.At))
}

func elementwise(c op.Code) lowering {
	return func(f *fn, _ *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref { return f.b.N(c, nil, xs...) }
}

func lowerAbs(f *fn, _ *check.Prim, xs []graph.Ref, t types.Type) graph.Ref {
	x := xs[0]
	if t.DType.IsInt() && !t.DType.IsSigned() {
		return x
	}
	r := f.b.N(op.Abs, nil, x)
	if t.DType.IsInt() {
		f.check(op.TrapOverflow, f.b.Compare(op.EQ, x, f.like(x, minBits(t.DType))))
	}
	return r
}

func lowerClamp(f *fn, _ *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref {
	return f.b.N(op.Min, nil, f.b.N(op.Max, nil, xs[0], xs[1]), xs[2])
}

func lowerMinMax(c op.Code, k check.Reduction) lowering {
	return func(f *fn, e *check.Prim, xs []graph.Ref, t types.Type) graph.Ref {
		if len(xs) == 2 {
			return f.b.N(c, nil, xs...)
		}
		return f.reduce(k, xs[0], e.Ints, e.At)
	}
}

func lowerReduce(k check.Reduction) lowering {
	return func(f *fn, e *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref {
		return f.reduce(k, xs[0], e.Ints, e.At)
	}
}

func lowerArg(c op.Code) lowering {
	return func(f *fn, e *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref {
		if f.b.Type(xs[0]).Dims[e.Ints[0]].Size == 0 {
			f.fail(diag.InstanceShape, e.At, "`%s` of an axis that is empty here", e.Row.Name)
		}
		return f.b.N(c, op.Attrs{op.Int(op.KAxis, e.Ints[0])}, xs[0])
	}
}

func (f *fn) sortNode(e *check.Prim, xs ...graph.Ref) []graph.Ref {
	return f.b.Outs(f.b.N(op.Sort, op.NewAttrs(op.Int(op.KAxis, e.Ints[0]), op.Int(op.KDescending, e.Ints[1])), xs...))
}

func lowerSort(f *fn, e *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref {
	return f.sortNode(e, xs[0])[0]
}

func lowerArgsort(f *fn, e *check.Prim, xs []graph.Ref, t types.Type) graph.Ref {
	index := f.b.Must(graph.NodeDef{Op: op.Iota, Outs: []types.Type{t}, Attrs: op.Attrs{op.Int(op.KAxis, e.Ints[0])}})
	return f.sortNode(e, xs[0], index)[1]
}

func lowerDot(f *fn, e *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref {
	return f.b.N(op.Dot, op.Attrs{op.Int(op.KAxis, e.Ints[0])}, xs...)
}

var accs = map[string]op.Acc{"fma": op.AccFMA, "unfused": op.AccUnfused, "f64": op.AccF64, "i32": op.AccI32, "i64": op.AccI64}

// lowerMatmul: Ints is the number of batch axes.
func lowerMatmul(f *fn, e *check.Prim, xs []graph.Ref, t types.Type) graph.Ref {
	x, y := xs[0], xs[1]
	tx, ty := f.b.Type(x), f.b.Type(y)
	k := tx.Dims[tx.Rank()-1].Size
	acc := accs[e.Mode]
	if tx.DType.IsInt() && acc == op.AccFMA {
		acc = op.AccI64
	}
	if acc == op.AccI64 && (tx.DType.Bits() == 32 || ty.DType.Bits() == 32) {
		return f.wideMatmul(e, x, y, k)
	}
	if (acc == op.AccI32 || acc == op.AccI64) && k >= 1<<15 {
		// i32 holds 2^15 products of bytes, i64 2^31 of 16-bit integers.
		if acc == op.AccI32 || k >= 1<<31 {
			f.fail(diag.InstanceShape, e.At, "an exact %s sum of %d products: too many", acc, k)
		}
	}
	return f.contract(e, acc, x, y)
}

func (f *fn) contract(e *check.Prim, acc op.Acc, x, y graph.Ref) graph.Ref {
	batch := axesTo(int(e.Ints[0]))
	kx := int64(f.b.Type(x).Rank() - 1)
	ky := int64(max(f.b.Type(y).Rank()-2, 0))
	return f.b.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(acc)), op.Ints(op.KLhsBatch, batch...), op.Ints(op.KRhsBatch, batch...),
		op.Ints(op.KLhsContract, kx), op.Ints(op.KRhsContract, ky)), x, y)
}

// wideMatmul: the products of 32-bit integers take 64 bits, so y is cut into a
// high part (arithmetic) and an unsigned low part of 16 bits, whose sums of
// products are exact; as in intSum, the result fits exactly if the high sum
// with the low sum's carry fits 48 bits.
func (f *fn) wideMatmul(e *check.Prim, x, y graph.Ref, k int64) graph.Ref {
	if k >= 1<<14 {
		f.fail(diag.InstanceShape, e.At, "an exact i64 sum of %d products of 32-bit integers: at most 2^14 - 1", k)
	}
	y = f.b.Convert(y, types.I64)
	x = f.b.Convert(x, types.I64)
	lo := f.contract(e, op.AccI64, x, f.b.N(op.And, nil, y, f.like(y, 1<<16-1)))
	hi := f.contract(e, op.AccI64, x, f.b.N(op.Shr, nil, y, f.like(y, 16)))
	hi = f.b.N(op.Add, nil, hi, f.b.N(op.Shr, nil, lo, f.like(lo, 16)))
	least := int64(-1 << 47)
	low := f.b.Compare(op.LT, hi, f.like(hi, uint64(least)))
	high := f.b.Compare(op.GE, hi, f.like(hi, 1<<47))
	f.check(op.TrapOverflow, f.b.N(op.Or, nil, low, high))
	return f.b.N(op.Or, nil, f.b.N(op.Shl, nil, hi, f.like(hi, 16)), f.b.N(op.And, nil, lo, f.like(lo, 1<<16-1)))
}

func lowerReshape(f *fn, e *check.Prim, xs []graph.Ref, t types.Type) graph.Ref {
	from := f.b.Type(xs[0])
	if from.NumElems() != t.NumElems() {
		f.fail(diag.InstanceShape, e.At, "%s has %d elements here, the new shape %d", from, from.NumElems(), t.NumElems())
	}
	return f.reshape(xs[0], t)
}

func lowerConcat(f *fn, e *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref {
	if len(xs) == 1 {
		return xs[0]
	}
	return f.b.N(op.Concat, op.Attrs{op.Int(op.KAxis, e.Ints[0])}, xs...)
}

func lowerGather(f *fn, e *check.Prim, xs []graph.Ref, _ types.Type) graph.Ref {
	x, ix := xs[0], f.b.Convert(xs[1], types.I64)
	n := f.b.Type(x).Dims[e.Ints[0]].Size
	low := f.b.Compare(op.LT, ix, f.like(ix, 0))
	high := f.b.Compare(op.GE, ix, f.like(ix, uint64(n)))
	f.check(op.TrapIndex, f.b.N(op.Or, nil, low, high))
	return f.b.N(op.Gather, op.Attrs{op.Int(op.KAxis, e.Ints[0])}, x, ix)
}

func lowerIota(f *fn, e *check.Prim, _ []graph.Ref, t types.Type) graph.Ref {
	return f.b.Must(graph.NodeDef{Op: op.Iota, Outs: []types.Type{t}, Attrs: op.Attrs{op.Int(op.KAxis, 0)}})
}
