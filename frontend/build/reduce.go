package build

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

var reductions = map[check.Reduction]op.ReduceKind{
	check.Sum: op.Sum, check.Prod: op.Prod, check.MinOf: op.RMin, check.MaxOf: op.RMax, check.Any: op.ROr, check.All: op.RAnd,
}

// reduce combines x over axes. Integer sums and products trap exactly when the
// mathematical result does not fit, whatever the partial results.
func (f *fn) reduce(k check.Reduction, x graph.Ref, axes []int64, at diag.Span) graph.Ref {
	if k == check.Stack {
		return x
	}
	d := f.b.Type(x).DType
	if d.IsInt() && (k == check.Sum || k == check.Prod) {
		n := int64(1)
		for _, a := range axes {
			n *= f.b.Type(x).Dims[a].Size
		}
		if n >= 1<<31 {
			f.fail(diag.InstanceShape, at, "an integer sum or product of %d elements: at most 2^31 - 1 are combined at once", n)
		}
		if k == check.Prod {
			return f.intProd(x, axes, n)
		}
		return f.intSum(x, axes)
	}
	return f.b.Reduce(reductions[k], x, axes...)
}

// intSum: sums of at most 32-bit integers are exact in i64. Wider elements are
// cut into a high half (signed for i64) and an unsigned low half of 32 bits,
// whose sums are exact; with the low sum's carry added to the high sum, the
// result fits exactly if the high sum fits 32 bits.
func (f *fn) intSum(x graph.Ref, axes []int64) graph.Ref {
	d := f.b.Type(x).DType
	if d.Bits() <= 32 {
		s := f.b.Reduce(op.Sum, f.b.Convert(x, types.I64), axes...)
		f.check(op.TrapOverflow, f.b.N(op.ConvertOverflow, op.Attrs{op.Int(op.KTo, int64(d))}, s))
		return f.b.Convert(s, d)
	}
	sum := f.b.Reduce(op.Sum, x, axes...)
	lo := f.b.Reduce(op.Sum, f.b.N(op.And, nil, x, f.like(x, 1<<32-1)), axes...)
	hi := f.b.Reduce(op.Sum, f.b.N(op.Shr, nil, x, f.like(x, 32)), axes...)
	hi = f.b.N(op.Add, nil, hi, f.b.N(op.Shr, nil, lo, f.like(lo, 32)))
	var over graph.Ref
	if d.IsSigned() {
		least := int64(-1 << 31)
		low := f.b.Compare(op.LT, hi, f.like(hi, uint64(least)))
		high := f.b.Compare(op.GE, hi, f.like(hi, 1<<31))
		over = f.b.N(op.Or, nil, low, high)
	} else {
		over = f.b.Compare(op.GE, hi, f.like(hi, 1<<32))
	}
	f.check(op.TrapOverflow, over)
	return sum
}

// intProd: without a zero among the factors the magnitudes are at least 1, so
// their running product in u64 grows and overflows exactly if the final one
// does; with a zero the product is 0 and fits.
func (f *fn) intProd(x graph.Ref, axes []int64, n int64) graph.Ref {
	t := f.b.Type(x)
	d := t.DType
	prod := f.b.Reduce(op.Prod, x, axes...)
	rt := f.b.Type(prod)
	zero := f.b.Reduce(op.ROr, f.b.Compare(op.EQ, x, f.like(x, 0)), axes...)

	mag := x
	if d.IsSigned() {
		mag = f.b.N(op.Abs, nil, f.b.Convert(x, types.I64)) // MIN stays, and reads as its magnitude
	}
	mag = f.lastAxis(f.b.Convert(mag, types.U64), axes, n)
	ut, bt := rt.WithDType(types.U64), rt.WithDType(types.Bool)
	one := f.stretch(f.b.ScalarBits(types.U64, 1), ut)
	no := f.stretch(f.b.Bool(false), bt)

	// loop(trip; product, overflowed | magnitudes)
	params := []types.Type{types.Scalar(types.I64), ut, bt, f.b.Type(mag)}
	ps := f.b.Params(params...)
	starts := make([]graph.Ref, rt.Rank()+1)
	for i := range starts {
		starts[i] = f.b.I64(0)
	}
	starts[rt.Rank()] = ps[0]
	part := one // of an empty axis; no turn is made
	if n > 0 {
		part = f.reshape(f.b.Slice(ps[3], append(rt.Shape(), 1), starts...), ut)
	}
	body := f.b.Region(params, f.b.N(op.Mul, nil, ps[1], part), f.b.N(op.Or, nil, ps[2], f.b.N(op.MulOverflow, nil, ps[1], part)))
	cond := f.b.Region(params, f.b.Bool(true))
	outs := f.apply(op.Loop, op.Attrs{op.Int(op.KCarried, 2)}, []graph.RegionID{cond, body}, f.b.I64(n), one, no, mag)

	over := outs[1]
	if limit := maxBits(d); d != types.U64 {
		lim := f.like(outs[0], limit)
		if d.IsSigned() {
			neg := f.b.Reduce(op.RXor, f.b.Compare(op.LT, x, f.like(x, 0)), axes...)
			lim = f.b.N(op.Select, nil, neg, f.like(outs[0], limit+1), lim)
		}
		over = f.b.N(op.Or, nil, over, f.b.Compare(op.GT, outs[0], lim))
	}
	f.check(op.TrapOverflow, f.b.N(op.And, nil, over, f.b.N(op.Not, nil, zero)))
	return prod
}

// lastAxis moves the given axes, n elements in all, into one last axis.
func (f *fn) lastAxis(x graph.Ref, axes []int64, n int64) graph.Ref {
	t := f.b.Type(x)
	var perm, shape []int64
	gone := map[int64]bool{}
	for _, a := range axes {
		gone[a] = true
	}
	for a := range int64(t.Rank()) {
		if !gone[a] {
			perm, shape = append(perm, a), append(shape, t.Dims[a].Size)
		}
	}
	perm = append(perm, axes...)
	x = f.transpose(x, perm)
	return f.reshape(x, t.WithShape(append(shape, n)...))
}

// transpose permutes the axes, if that changes anything.
func (f *fn) transpose(x graph.Ref, perm []int64) graph.Ref {
	for i, p := range perm {
		if int64(i) != p {
			return f.b.N(op.Transpose, op.Attrs{op.Ints(op.KAxes, perm...)}, x)
		}
	}
	return x
}

// possible stops if a type breaks a limit.
func (f *fn) possible(t types.Type, at diag.Span) {
	if err := t.Check(); err != nil {
		f.fail(diag.InstanceShape, at, "%s is not possible: %v", t, err)
	}
}
