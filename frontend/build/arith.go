package build

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

// Arithmetic with the checks of the source level. A check is made of the same
// operands as the operation, so equal expressions share both.

// plain maps operators to ops that need no check on any operand.
var plain = map[check.Op]op.Code{
	check.AddWrap: op.Add, check.SubWrap: op.Sub, check.MulWrap: op.Mul,
	check.And: op.And, check.Or: op.Or, check.Xor: op.Xor,
}

// checked maps operators to the op and the predicate that says it is inexact.
var checked = map[check.Op]struct{ op, overflow op.Code }{
	check.Add: {op.Add, op.AddOverflow}, check.Sub: {op.Sub, op.SubOverflow}, check.Mul: {op.Mul, op.MulOverflow},
	check.AddSat: {op.Add, op.AddOverflow}, check.SubSat: {op.Sub, op.SubOverflow}, check.MulSat: {op.Mul, op.MulOverflow},
}

var compares = map[check.Op]op.CompareKind{
	check.CmpEQ: op.EQ, check.CmpNE: op.NE, check.CmpLT: op.LT, check.CmpLE: op.LE, check.CmpGT: op.GT, check.CmpGE: op.GE,
}

// like is a constant of x's type with bits in every element.
func (f *fn) like(x graph.Ref, bits uint64) graph.Ref {
	t := f.b.Type(x)
	s := f.b.ScalarBits(t.DType, bits)
	if t.Rank() == 0 {
		return s
	}
	return f.b.Broadcast(s, t)
}

func minBits(d types.DType) uint64 {
	if d.IsSigned() {
		return 1 << (d.Bits() - 1)
	}
	return 0
}

func maxBits(d types.DType) uint64 {
	if d.IsSigned() {
		return 1<<(d.Bits()-1) - 1
	}
	return 1<<d.Bits() - 1
}

// binary is `x op y` on operands of one type.
func (f *fn) binary(o check.Op, x, y graph.Ref) graph.Ref {
	d := f.b.Type(x).DType
	if k, ok := compares[o]; ok {
		return f.b.Compare(k, x, y)
	}
	if c, ok := plain[o]; ok {
		return f.b.N(c, nil, x, y)
	}
	switch o {
	case check.Div, check.Rem:
		return f.divide(o, x, y)
	case check.Shl, check.Shr:
		return f.shift(o, x, y)
	case check.AddSat, check.SubSat, check.MulSat:
		return f.saturate(o, x, y)
	}
	row, ok := checked[o]
	if !ok {
		panic("BUG: operator without a lowering")
	}
	r := f.b.N(row.op, nil, x, y)
	if d.IsInt() {
		f.check(op.TrapOverflow, f.b.N(row.overflow, nil, x, y))
	}
	return r
}

func (f *fn) divide(o check.Op, x, y graph.Ref) graph.Ref {
	code := op.Div
	if o == check.Rem {
		code = op.Rem
	}
	r := f.b.N(code, nil, x, y)
	d := f.b.Type(x).DType
	if !d.IsInt() {
		return r
	}
	bad := f.b.Compare(op.EQ, y, f.like(y, 0))
	if d.IsSigned() {
		least := f.b.Compare(op.EQ, x, f.like(x, minBits(d)))
		minus := f.b.Compare(op.EQ, y, f.like(y, 1<<d.Bits()-1))
		bad = f.b.N(op.Or, nil, bad, f.b.N(op.And, nil, least, minus))
	}
	f.check(op.TrapDivision, bad)
	return r
}

func (f *fn) shift(o check.Op, x, n graph.Ref) graph.Ref {
	code := op.Shl
	if o == check.Shr {
		code = op.Shr
	}
	r := f.b.N(code, nil, x, n)
	d := f.b.Type(x).DType
	bad := f.b.Compare(op.GE, n, f.like(n, uint64(d.Bits())))
	if d.IsSigned() {
		bad = f.b.N(op.Or, nil, f.b.Compare(op.LT, n, f.like(n, 0)), bad)
	}
	f.check(op.TrapOverflow, bad)
	return r
}

// saturate: where the exact result does not fit, the limit on its side. Signed
// sums and differences overflow on the side of x, products on the side of the
// product's sign; unsigned sums and products upwards, differences downwards.
func (f *fn) saturate(o check.Op, x, y graph.Ref) graph.Ref {
	row := checked[o]
	r := f.b.N(row.op, nil, x, y)
	over := f.b.N(row.overflow, nil, x, y)
	d := f.b.Type(x).DType
	var limit graph.Ref
	switch {
	case d.IsSigned():
		side := x
		if o == check.MulSat {
			side = f.b.N(op.Xor, nil, x, y)
		}
		low := f.b.Compare(op.LT, side, f.like(side, 0))
		limit = f.b.N(op.Select, nil, low, f.like(x, minBits(d)), f.like(x, maxBits(d)))
	case o == check.SubSat:
		limit = f.like(x, 0)
	default:
		limit = f.like(x, maxBits(d))
	}
	return f.b.N(op.Select, nil, over, limit, r)
}

func (f *fn) unary(e *check.Unary) graph.Ref {
	x := f.tensor(e.X)
	if e.Op == check.Not {
		return f.b.N(op.Not, nil, x)
	}
	r := f.b.N(op.Neg, nil, x)
	d := f.b.Type(x).DType
	switch {
	case d.IsSigned():
		f.check(op.TrapOverflow, f.b.Compare(op.EQ, x, f.like(x, minBits(d))))
	case d.IsInt():
		f.check(op.TrapOverflow, f.b.Compare(op.NE, x, f.like(x, 0)))
	}
	return r
}

// cast converts the element type. An integer or bool that fits the target's
// range by its own type needs no check.
func (f *fn) cast(e *check.Cast) graph.Ref {
	x, to := f.tensor(e.X), e.T.DType
	from := f.b.Type(x).DType
	if from.Class() == types.ClassStorage && to.IsInt() {
		x = f.b.Convert(x, types.F32) // exact
		from = types.F32
	}
	if !to.IsInt() || from == types.Bool {
		return f.b.Convert(x, to)
	}
	switch {
	case e.Mode == check.Saturating && from.IsInt():
		x = f.clampTo(x, from, to)
	case e.Mode == check.Trapping && !fits(from, to):
		over := f.b.N(op.ConvertOverflow, op.Attrs{op.Int(op.KTo, int64(to))}, x)
		r := f.b.Convert(x, to)
		f.check(op.TrapCast, over)
		return r
	}
	return f.b.Convert(x, to)
}

// fits reports that every value of from is one of to.
func fits(from, to types.DType) bool {
	if !from.IsInt() {
		return false
	}
	if from.IsSigned() {
		return to.IsSigned() && to.Bits() >= from.Bits()
	}
	return to.Bits() > from.Bits() || !to.IsSigned() && to.Bits() == from.Bits()
}

// clampTo brings x into the range of another integer type.
func (f *fn) clampTo(x graph.Ref, from, to types.DType) graph.Ref {
	if from.IsSigned() {
		lo := minBits(to)
		if to.IsSigned() && to.Bits() < from.Bits() {
			lo = uint64(-(int64(1) << (to.Bits() - 1))) & maxBits(types.U64) & widthMask(from)
		}
		if !to.IsSigned() || to.Bits() < from.Bits() {
			x = f.b.N(op.Max, nil, x, f.like(x, lo))
		}
	}
	if maxBits(to) < maxBits(from) {
		x = f.b.N(op.Min, nil, x, f.like(x, maxBits(to)))
	}
	return x
}

func widthMask(d types.DType) uint64 { return 1<<d.Bits() - 1 }
