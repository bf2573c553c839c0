package plan

import (
	"math"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Conversions, comparisons and overflow predicates.

func compareRule(e *emitter, a elemArgs) lir.Value {
	k := op.CompareKind(a.attrs.Int(op.KKind))
	x, y := a.x[0], a.x[1]
	if a.in.IsFloat() {
		if op.Order(a.attrs.Int(op.KOrder)) == op.Total {
			x, y = e.totalKey(a.in, x), e.totalKey(a.in, y)
			return e.compareInt(k, true, x, y)
		}
		return e.compareFloat(k, x, y)
	}
	if a.in == types.Bool && (e.isVec(x) || e.isVec(y)) {
		e.failVec("a comparison of masks")
	}
	return e.compareInt(k, a.in.IsSigned(), x, y)
}

func (e *emitter) compareFloat(k op.CompareKind, x, y lir.Value) lir.Value {
	switch k {
	case op.EQ:
		return e.op(lir.FEq, x, y)
	case op.NE:
		return e.op(lir.FNe, x, y)
	case op.LT:
		return e.op(lir.FLt, x, y)
	case op.LE:
		return e.op(lir.FLe, x, y)
	case op.GT:
		return e.op(lir.FLt, y, x)
	}
	return e.op(lir.FLe, y, x)
}

func (e *emitter) compareInt(k op.CompareKind, signed bool, x, y lir.Value) lir.Value {
	lt, le := lir.LtU, lir.LeU
	if signed {
		lt, le = lir.LtS, lir.LeS
	}
	switch k {
	case op.EQ:
		return e.op(lir.Eq, x, y)
	case op.NE:
		return e.op(lir.Ne, x, y)
	case op.LT:
		return e.op(lt, x, y)
	case op.LE:
		return e.op(le, x, y)
	case op.GT:
		return e.op(lt, y, x)
	}
	return e.op(le, y, x)
}

// totalKey maps a float to a signed integer that compares in total order, the
// one NaN greatest: the magnitude bits of negative numbers are flipped.
func (e *emitter) totalKey(d types.DType, x lir.Value) lir.Value {
	b := e.bits(d, e.op(lir.Canon, x))
	w := int64(d.Bits())
	sign := e.op(lir.ShrS, b, e.k(b, w-1))
	return e.op(lir.Xor, b, e.op(lir.ShrU, sign, e.k(b, 1)))
}

func convertRule(e *emitter, a elemArgs) lir.Value { return e.convert(a.in, a.out, a.x[0]) }

func (e *emitter) convert(from, to types.DType, v lir.Value) lir.Value {
	if from == types.Bool && e.isVec(v) {
		bits := int(e.b.TypeOf(v).Bits)
		like := lir.Vec(lirType(to).Elem, int(e.b.TypeOf(v).Lanes))
		if like.Elem.Size()*8 != bits {
			e.failVec("a mask converted to another width")
		}
		one := int64(1)
		switch to {
		case types.F32:
			one = int64(math.Float32bits(1))
		case types.F64:
			one = int64(math.Float64bits(1))
		}
		e.hasVec(lir.Const, like.Elem, lir.None, int(like.Lanes))
		return e.sel(v, e.b.Const(like, one), e.b.Const(like, 0))
	}
	switch {
	case from.IsFloat() && to.IsFloat():
		if to == types.F64 {
			return e.conv(lir.Promote, lir.F64, v)
		}
		return e.conv(lir.Demote, lir.F32, v)
	case to.IsFloat():
		if from.IsSigned() {
			return e.conv(lir.SToF, lirType(to).Elem, v)
		}
		return e.conv(lir.UToF, lirType(to).Elem, v)
	case from.IsFloat():
		return e.floatToInt(to, v)
	case wide(to):
		return e.to64(from, v)
	case wide(from):
		v = e.conv(lir.Wrap, lir.I32, v)
	}
	return e.norm(to, v)
}

func (e *emitter) floatToInt(to types.DType, v lir.Value) lir.Value {
	switch to {
	case types.I32, types.I64:
		return e.conv(lir.FToS, lirType(to).Elem, v)
	case types.U32, types.U64:
		return e.conv(lir.FToU, lirType(to).Elem, v)
	}
	i := e.conv(lir.FToS, lir.I32, v)
	lo, hi := intRange(to)
	i = e.sel(e.op(lir.LtS, i, e.k(i, lo)), e.k(i, lo), i)
	return e.sel(e.op(lir.LtS, e.k(i, int64(hi)), i), e.k(i, int64(hi)), i)
}

// intRange returns the least and the greatest value of an integer dtype.
func intRange(d types.DType) (int64, uint64) {
	n := d.Bits()
	if d.IsSigned() {
		return -1 << (n - 1), 1<<(n-1) - 1
	}
	return 0, math.MaxUint64 >> (64 - n)
}

// noFit reports whether a 64-bit sum, difference or product is outside d, for
// dtypes of at most 32 bits.
func (e *emitter) noFit(d types.DType, r lir.Value) lir.Value {
	back := e.to64(d, e.norm(d, e.conv(lir.Wrap, lir.I32, r)))
	return e.op(lir.Ne, back, r)
}

func (e *emitter) sign64(v lir.Value) lir.Value {
	return e.op(lir.LtS, v, e.k(v, 0))
}

func addOverflow(e *emitter, a elemArgs) lir.Value {
	x, y := e.to64(a.in, a.x[0]), e.to64(a.in, a.x[1])
	r := e.op(lir.Add, x, y)
	switch a.in {
	case types.I64:
		return e.sign64(e.op(lir.And, e.op(lir.Xor, x, r), e.op(lir.Xor, y, r)))
	case types.U64:
		return e.op(lir.LtU, r, x)
	}
	return e.noFit(a.in, r)
}

func subOverflow(e *emitter, a elemArgs) lir.Value {
	x, y := e.to64(a.in, a.x[0]), e.to64(a.in, a.x[1])
	r := e.op(lir.Sub, x, y)
	switch a.in {
	case types.I64:
		return e.sign64(e.op(lir.And, e.op(lir.Xor, x, y), e.op(lir.Xor, x, r)))
	case types.U64:
		return e.op(lir.LtU, x, y)
	}
	return e.noFit(a.in, r)
}

func mulOverflow(e *emitter, a elemArgs) lir.Value {
	x, y := e.to64(a.in, a.x[0]), e.to64(a.in, a.x[1])
	switch a.in {
	case types.I64:
		hi := e.op(lir.MulHiS, x, y)
		lo := e.op(lir.Mul, x, y)
		return e.op(lir.Ne, hi, e.op(lir.ShrS, lo, e.k(lo, 63)))
	case types.U64:
		hi := e.op(lir.MulHiU, x, y)
		return e.op(lir.Ne, hi, e.k(hi, 0))
	}
	return e.noFit(a.in, e.op(lir.Mul, x, y))
}

func convertOverflow(e *emitter, a elemArgs) lir.Value {
	to := types.DType(a.attrs.Int(op.KTo))
	lo, hi := intRange(to)
	if a.in.IsFloat() {
		return e.floatNoFit(a.in, to, a.x[0])
	}
	v := e.to64(a.in, a.x[0])
	above := func(cmp lir.Op) lir.Value { return e.op(cmp, e.k(v, int64(hi)), v) }
	if a.in.IsSigned() {
		low := e.op(lir.LtS, v, e.k(v, lo))
		if hi > math.MaxInt64 {
			return low
		}
		return e.logic(lir.Or, low, above(lir.LtS))
	}
	return above(lir.LtU)
}

// floatNoFit: the truncated value is outside to's range, or NaN. Both bounds
// are powers of two (the upper one exclusive), so exact in either format.
func (e *emitter) floatNoFit(d, to types.DType, x lir.Value) lir.Value {
	n := to.Bits()
	lo, hi := 0.0, float64(uint64(1)<<(n-1))
	if to.IsSigned() {
		lo = -hi
	} else {
		hi *= 2
	}
	bits := func(f float64) lir.Value {
		if d == types.F32 {
			return e.k(x, int64(math.Float32bits(float32(f))))
		}
		return e.k(x, int64(math.Float64bits(f)))
	}
	t := e.op(lir.FTrunc, x)
	return e.not(e.logic(lir.And, e.op(lir.FLe, bits(lo), t), e.op(lir.FLt, t, bits(hi))))
}
