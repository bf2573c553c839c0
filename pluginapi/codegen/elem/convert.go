package elem

import (
	"math"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Conversions, comparisons and overflow predicates.

func compareRule(e *Emitter, a Args) lir.Value {
	k := op.CompareKind(a.Attrs.Int(op.KKind))
	x, y := a.X[0], a.X[1]
	if a.In.IsFloat() {
		if op.Order(a.Attrs.Int(op.KOrder)) == op.Total {
			x, y = e.TotalKey(a.In, x), e.TotalKey(a.In, y)
			return e.compareInt(k, true, x, y)
		}
		return e.compareFloat(k, x, y)
	}
	if a.In == types.Bool && (e.IsVec(x) || e.IsVec(y)) {
		e.Fail("a comparison of masks")
	}
	return e.compareInt(k, a.In.IsSigned(), x, y)
}

func (e *Emitter) compareFloat(k op.CompareKind, x, y lir.Value) lir.Value {
	switch k {
	case op.EQ:
		return e.Op(lir.FEq, x, y)
	case op.NE:
		return e.Op(lir.FNe, x, y)
	case op.LT:
		return e.Op(lir.FLt, x, y)
	case op.LE:
		return e.Op(lir.FLe, x, y)
	case op.GT:
		return e.Op(lir.FLt, y, x)
	}
	return e.Op(lir.FLe, y, x)
}

func (e *Emitter) compareInt(k op.CompareKind, signed bool, x, y lir.Value) lir.Value {
	lt, le := lir.LtU, lir.LeU
	if signed {
		lt, le = lir.LtS, lir.LeS
	}
	switch k {
	case op.EQ:
		return e.Op(lir.Eq, x, y)
	case op.NE:
		return e.Op(lir.Ne, x, y)
	case op.LT:
		return e.Op(lt, x, y)
	case op.LE:
		return e.Op(le, x, y)
	case op.GT:
		return e.Op(lt, y, x)
	}
	return e.Op(le, y, x)
}

// TotalKey maps a float to a signed integer that compares in total order, the
// one NaN greatest: the magnitude bits of negative numbers are flipped.
func (e *Emitter) TotalKey(d types.DType, x lir.Value) lir.Value {
	b := e.bits(d, e.Op(lir.Canon, x))
	w := int64(d.Bits())
	sign := e.Op(lir.ShrS, b, e.K(b, w-1))
	return e.Op(lir.Xor, b, e.Op(lir.ShrU, sign, e.K(b, 1)))
}

func convertRule(e *Emitter, a Args) lir.Value { return e.Convert(a.In, a.Out, a.X[0]) }

// Convert emits the conversion of v.
func (e *Emitter) Convert(from, to types.DType, v lir.Value) lir.Value {
	if from == types.Bool && e.IsVec(v) {
		bits := int(e.B.TypeOf(v).Bits)
		like := lir.Vec(Type(to).Elem, int(e.B.TypeOf(v).Lanes))
		if like.Elem.Size()*8 != bits {
			e.Fail("a mask converted to another width")
		}
		one := int64(1)
		switch to {
		case types.F32:
			one = int64(math.Float32bits(1))
		case types.F64:
			one = int64(math.Float64bits(1))
		}
		e.HasVec(lir.Const, like.Elem, lir.None, int(like.Lanes))
		return e.Sel(v, e.B.Const(like, one), e.B.Const(like, 0))
	}
	switch {
	case from.IsFloat() && to.IsFloat():
		if to == types.F64 {
			return e.Conv(lir.Promote, lir.F64, v)
		}
		return e.Conv(lir.Demote, lir.F32, v)
	case to.IsFloat():
		if from.IsSigned() {
			return e.Conv(lir.SToF, Type(to).Elem, v)
		}
		return e.Conv(lir.UToF, Type(to).Elem, v)
	case from.IsFloat():
		return e.floatToInt(to, v)
	case Wide(to):
		return e.To64(from, v)
	case Wide(from):
		v = e.Conv(lir.Wrap, lir.I32, v)
	}
	return e.norm(to, v)
}

func (e *Emitter) floatToInt(to types.DType, v lir.Value) lir.Value {
	switch to {
	case types.I32, types.I64:
		return e.Conv(lir.FToS, Type(to).Elem, v)
	case types.U32, types.U64:
		return e.Conv(lir.FToU, Type(to).Elem, v)
	}
	i := e.Conv(lir.FToS, lir.I32, v)
	lo, hi := IntRange(to)
	i = e.Sel(e.Op(lir.LtS, i, e.K(i, lo)), e.K(i, lo), i)
	return e.Sel(e.Op(lir.LtS, e.K(i, int64(hi)), i), e.K(i, int64(hi)), i)
}

// IntRange returns the least and the greatest value of an integer dtype.
func IntRange(d types.DType) (int64, uint64) {
	n := d.Bits()
	if d.IsSigned() {
		return -1 << (n - 1), 1<<(n-1) - 1
	}
	return 0, math.MaxUint64 >> (64 - n)
}

// noFit reports whether a 64-bit sum, difference or product is outside d, for
// dtypes of at most 32 bits.
func (e *Emitter) noFit(d types.DType, r lir.Value) lir.Value {
	back := e.To64(d, e.norm(d, e.Conv(lir.Wrap, lir.I32, r)))
	return e.Op(lir.Ne, back, r)
}

func (e *Emitter) sign64(v lir.Value) lir.Value {
	return e.Op(lir.LtS, v, e.K(v, 0))
}

func addOverflow(e *Emitter, a Args) lir.Value {
	x, y := e.To64(a.In, a.X[0]), e.To64(a.In, a.X[1])
	r := e.Op(lir.Add, x, y)
	switch a.In {
	case types.I64:
		return e.sign64(e.Op(lir.And, e.Op(lir.Xor, x, r), e.Op(lir.Xor, y, r)))
	case types.U64:
		return e.Op(lir.LtU, r, x)
	}
	return e.noFit(a.In, r)
}

func subOverflow(e *Emitter, a Args) lir.Value {
	x, y := e.To64(a.In, a.X[0]), e.To64(a.In, a.X[1])
	r := e.Op(lir.Sub, x, y)
	switch a.In {
	case types.I64:
		return e.sign64(e.Op(lir.And, e.Op(lir.Xor, x, y), e.Op(lir.Xor, x, r)))
	case types.U64:
		return e.Op(lir.LtU, x, y)
	}
	return e.noFit(a.In, r)
}

func mulOverflow(e *Emitter, a Args) lir.Value {
	x, y := e.To64(a.In, a.X[0]), e.To64(a.In, a.X[1])
	switch a.In {
	case types.I64:
		hi := e.Op(lir.MulHiS, x, y)
		lo := e.Op(lir.Mul, x, y)
		return e.Op(lir.Ne, hi, e.Op(lir.ShrS, lo, e.K(lo, 63)))
	case types.U64:
		hi := e.Op(lir.MulHiU, x, y)
		return e.Op(lir.Ne, hi, e.K(hi, 0))
	}
	return e.noFit(a.In, e.Op(lir.Mul, x, y))
}

func convertOverflow(e *Emitter, a Args) lir.Value {
	to := types.DType(a.Attrs.Int(op.KTo))
	lo, hi := IntRange(to)
	if a.In.IsFloat() {
		return e.floatNoFit(a.In, to, a.X[0])
	}
	v := e.To64(a.In, a.X[0])
	above := func(cmp lir.Op) lir.Value { return e.Op(cmp, e.K(v, int64(hi)), v) }
	if a.In.IsSigned() {
		low := e.Op(lir.LtS, v, e.K(v, lo))
		if hi > math.MaxInt64 {
			return low
		}
		return e.Logic(lir.Or, low, above(lir.LtS))
	}
	return above(lir.LtU)
}

// floatNoFit: the truncated value is outside to's range, or NaN. Both bounds
// are powers of two (the upper one exclusive), so exact in either format.
func (e *Emitter) floatNoFit(d, to types.DType, x lir.Value) lir.Value {
	n := to.Bits()
	lo, hi := 0.0, float64(uint64(1)<<(n-1))
	if to.IsSigned() {
		lo = -hi
	} else {
		hi *= 2
	}
	bits := func(f float64) lir.Value {
		if d == types.F32 {
			return e.K(x, int64(math.Float32bits(float32(f))))
		}
		return e.K(x, int64(math.Float64bits(f)))
	}
	t := e.Op(lir.FTrunc, x)
	return e.Not(e.Logic(lir.And, e.Op(lir.FLe, bits(lo), t), e.Op(lir.FLt, t, bits(hi))))
}
