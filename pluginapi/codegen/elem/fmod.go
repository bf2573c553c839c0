package elem

import (
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// fmod emits the exact remainder of x by y with the sign of x, by binary long
// division on the significands: one shift and subtract per exponent step. f32
// goes through f64, where the remainder of two f32 values is exact and is
// itself an f32 value.
//
//	x/0, inf/y, NaN -> NaN    x/inf -> x    0/y -> 0 with x's sign
func (e *Emitter) fmod(d types.DType, x, y lir.Value) lir.Value {
	e.scalarOnly("a floating remainder", x, y)
	if d == types.F32 {
		r := e.fmod(types.F64, e.Conv(lir.Promote, lir.F64, x), e.Conv(lir.Promote, lir.F64, y))
		return e.Conv(lir.Demote, lir.F32, r)
	}
	b := e.B
	k := b.I64
	const mag = 0x7fffffffffffffff
	const inf = 0x7ff0000000000000
	const implicit = 1 << 52
	xb, yb := e.bits(types.F64, x), e.bits(types.F64, y)
	xm, ym := e.Op(lir.And, xb, k(mag)), e.Op(lir.And, yb, k(mag))
	sign := e.Op(lir.Xor, xb, xm)
	or := func(p, q lir.Value) lir.Value { return e.Op(lir.Or, p, q) }
	bad := or(e.Op(lir.Eq, ym, k(0)), or(e.Op(lir.LeS, k(inf), xm), e.Op(lir.LtS, k(inf), ym)))
	r := b.If(bad, []lir.Type{lir.TF64},
		func() []lir.Value { return []lir.Value{b.Const(lir.TF64, 0x7ff8000000000000)} },
		func() []lir.Value {
			return b.If(e.Op(lir.LtS, xm, ym), []lir.Type{lir.TF64},
				func() []lir.Value { return []lir.Value{x} },
				func() []lir.Value {
					return []lir.Value{e.fmodFinite(xm, ym, sign, implicit)}
				})
		})
	// A NaN operand gives NaN by arithmetic; both comparisons above are on bits,
	// so NaN in x is caught by xm >= inf and NaN in y by ym > inf.
	return r[0]
}

// fmodFinite: ym <= xm < inf, ym > 0, as magnitude bits.
func (e *Emitter) fmodFinite(xm, ym, sign lir.Value, implicit int64) lir.Value {
	b := e.B
	k := b.I64
	// split normalises a magnitude to exponent and 53-bit significand.
	split := func(m lir.Value) (exp, sig lir.Value) {
		e0 := e.Op(lir.ShrU, m, k(52))
		frac := e.Op(lir.And, m, k(implicit-1))
		sub := e.Op(lir.Eq, e0, k(0))
		shift := e.Op(lir.Sub, e.Op(lir.Clz, e.Op(lir.Or, frac, k(0))), k(11))
		exp = e.Sel(sub, e.Op(lir.Sub, k(1), shift), e0)
		sig = e.Sel(sub, e.Op(lir.Shl, frac, shift), e.Op(lir.Or, frac, k(implicit)))
		return exp, sig
	}
	ex, sx := split(xm)
	ey, sy := split(ym)
	step := func(s lir.Value) lir.Value {
		d := e.Op(lir.Sub, s, sy)
		return e.Sel(e.Op(lir.LtS, d, k(0)), s, d)
	}
	w := b.While([]lir.Value{ex, sx},
		func(c []lir.Value) lir.Value { return e.Op(lir.LtS, ey, c[0]) },
		func(c []lir.Value) []lir.Value {
			return []lir.Value{e.Op(lir.Sub, c[0], k(1)), e.Op(lir.Shl, step(c[1]), k(1))}
		})
	s := step(w[1])
	// Normalise the remainder: shift up to the implicit bit, then back down
	// where the exponent falls below the normal range.
	zero := e.Op(lir.Eq, s, k(0))
	shift := e.Op(lir.Sub, e.Op(lir.Clz, e.Op(lir.Or, s, k(1))), k(11))
	exp := e.Op(lir.Sub, ey, shift)
	up := e.Op(lir.Shl, s, shift)
	normal := e.Op(lir.Add, e.Op(lir.And, up, k(implicit-1)), e.Op(lir.Shl, exp, k(52)))
	down := e.Op(lir.ShrU, up, e.Op(lir.Sub, k(1), exp))
	res := e.Sel(e.Op(lir.LtS, exp, k(1)), down, normal)
	res = e.Sel(zero, k(0), res)
	return e.Conv(lir.FromBits, lir.F64, e.Op(lir.Or, res, sign))
}
