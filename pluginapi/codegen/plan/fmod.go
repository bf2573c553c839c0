package plan

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
func (e *emitter) fmod(d types.DType, x, y lir.Value) lir.Value {
	e.needScalar("a floating remainder")
	if d == types.F32 {
		r := e.fmod(types.F64, e.conv(lir.Promote, lir.F64, x), e.conv(lir.Promote, lir.F64, y))
		return e.conv(lir.Demote, lir.F32, r)
	}
	b := e.b
	k := b.I64
	const mag = 0x7fffffffffffffff
	const inf = 0x7ff0000000000000
	const implicit = 1 << 52
	xb, yb := e.bits(types.F64, x), e.bits(types.F64, y)
	xm, ym := e.op(lir.And, xb, k(mag)), e.op(lir.And, yb, k(mag))
	sign := e.op(lir.Xor, xb, xm)
	or := func(p, q lir.Value) lir.Value { return e.op(lir.Or, p, q) }
	bad := or(e.op(lir.Eq, ym, k(0)), or(e.op(lir.LeS, k(inf), xm), e.op(lir.LtS, k(inf), ym)))
	r := e.choose(bad, []lir.Type{lir.TF64},
		func() []lir.Value { return []lir.Value{b.Const(lir.TF64, 0x7ff8000000000000)} },
		func() []lir.Value {
			return e.choose(e.op(lir.LtS, xm, ym), []lir.Type{lir.TF64},
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
func (e *emitter) fmodFinite(xm, ym, sign lir.Value, implicit int64) lir.Value {
	b := e.b
	k := b.I64
	// split normalises a magnitude to exponent and 53-bit significand.
	split := func(m lir.Value) (exp, sig lir.Value) {
		e0 := e.op(lir.ShrU, m, k(52))
		frac := e.op(lir.And, m, k(implicit-1))
		sub := e.op(lir.Eq, e0, k(0))
		shift := e.op(lir.Sub, e.op(lir.Clz, e.op(lir.Or, frac, k(0))), k(11))
		exp = e.sel(sub, e.op(lir.Sub, k(1), shift), e0)
		sig = e.sel(sub, e.op(lir.Shl, frac, shift), e.op(lir.Or, frac, k(implicit)))
		return exp, sig
	}
	ex, sx := split(xm)
	ey, sy := split(ym)
	step := func(s lir.Value) lir.Value {
		d := e.op(lir.Sub, s, sy)
		return e.sel(e.op(lir.LtS, d, k(0)), s, d)
	}
	w := b.While([]lir.Value{ex, sx},
		func(c []lir.Value) lir.Value { return e.op(lir.LtS, ey, c[0]) },
		func(c []lir.Value) []lir.Value {
			return []lir.Value{e.op(lir.Sub, c[0], k(1)), e.op(lir.Shl, step(c[1]), k(1))}
		})
	s := step(w[1])
	// Normalise the remainder: shift up to the implicit bit, then back down
	// where the exponent falls below the normal range.
	zero := e.op(lir.Eq, s, k(0))
	shift := e.op(lir.Sub, e.op(lir.Clz, e.op(lir.Or, s, k(1))), k(11))
	exp := e.op(lir.Sub, ey, shift)
	up := e.op(lir.Shl, s, shift)
	normal := e.op(lir.Add, e.op(lir.And, up, k(implicit-1)), e.op(lir.Shl, exp, k(52)))
	down := e.op(lir.ShrU, up, e.op(lir.Sub, k(1), exp))
	res := e.sel(e.op(lir.LtS, exp, k(1)), down, normal)
	res = e.sel(zero, k(0), res)
	return e.conv(lir.FromBits, lir.F64, e.op(lir.Or, res, sign))
}
