package numeric

import (
	"math"
	"math/bits"

	"github.com/kera-lang/kera/core/types"
)

// format describes a storage float: stored mantissa bits and exponent bits.
type format struct{ mant, exp uint }

var (
	fmtF16  = format{mant: 10, exp: 5}
	fmtBF16 = format{mant: 7, exp: 8}
)

// nan is the format's one NaN.
func (f format) nan() uint64 { return (1<<f.exp-1)<<f.mant | 1<<(f.mant-1) }

// narrow rounds x once, to nearest even, to the format.
func (f format) narrow(x float64) uint64 {
	if x != x {
		return f.nan()
	}
	b := math.Float64bits(x)
	sign := b >> 63 << (f.mant + f.exp)
	inf := uint64(1<<f.exp-1) << f.mant
	if math.IsInf(x, 0) {
		return sign | inf
	}
	m, e := split64(b &^ (1 << 63))
	if m>>52 == 0 {
		return sign // zero, or a float64 subnormal: far below half the least value
	}
	e -= 1023 // value is m * 2^(e-52), 2^52 <= m < 2^53
	emin := 2 - 1<<(f.exp-1)
	shift := 52 - int(f.mant)
	if e < emin {
		shift += emin - e
	}
	if shift > 54 {
		return sign
	}
	r := m >> uint(shift)
	rest, half := m&(1<<uint(shift)-1), uint64(1)<<uint(shift-1)
	if rest > half || rest == half && r&1 == 1 {
		r++
	}
	if e >= emin {
		// r still holds the hidden bit, which adds one to the exponent field;
		// a carry out of the mantissa adds one more, as it should.
		r += uint64(e-emin) << f.mant
	}
	return sign | min(r, inf)
}

// widen is exact.
func (f format) widen(b uint64) float64 {
	m := b & (1<<f.mant - 1)
	e := int(b >> f.mant & (1<<f.exp - 1))
	neg := b>>(f.mant+f.exp)&1 == 1
	var x float64
	bias := 1<<(f.exp-1) - 1
	switch {
	case e == 1<<f.exp-1 && m != 0:
		return math.NaN()
	case e == 1<<f.exp-1:
		x = math.Inf(1)
	case e == 0:
		x = float64(m) * pow2(1-bias-int(f.mant))
	default:
		x = float64(m|1<<f.mant) * pow2(e-bias-int(f.mant))
	}
	if neg {
		return -x
	}
	return x
}

// pow2 is 2^e for a normal float64.
func pow2(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }

// WidenF16 gives the exact value of an f16.
func WidenF16(b uint16) float64 { return fmtF16.widen(uint64(b)) }

// WidenBF16 gives the exact value of a bf16.
func WidenBF16(b uint16) float64 { return fmtBF16.widen(uint64(b)) }

// NarrowF16 rounds once to f16.
func NarrowF16(x float64) uint16 { return uint16(fmtF16.narrow(x)) }

// NarrowBF16 rounds once to bf16.
func NarrowBF16(x float64) uint16 { return uint16(fmtBF16.narrow(x)) }

// stickyFloat gives a float64 that rounds to any format of at most 51 digits
// as the integer itself would: what does not fit is folded into the last bit.
func stickyFloat(neg bool, mag uint64) float64 {
	if k := bits.Len64(mag) - 53; k > 0 {
		lost := mag & (1<<uint(k) - 1)
		mag >>= uint(k)
		if lost != 0 {
			mag |= 1
		}
		mag <<= uint(k) // 53 significant bits: exact below
	}
	x := float64(mag)
	if neg {
		return -x
	}
	return x
}

// satSigned truncates x to a signed integer of w bits, saturating; NaN is 0.
func satSigned(x float64, w uint) int64 {
	lim := pow2(int(w - 1))
	switch {
	case x != x:
		return 0
	case x >= lim:
		return int64(uint64(1)<<(w-1) - 1)
	case x < -lim:
		return -1 << (w - 1)
	}
	return int64(x)
}

// satUnsigned truncates x to an unsigned integer of w bits, saturating; NaN is 0.
func satUnsigned(x float64, w uint) uint64 {
	switch {
	case !(x >= 1):
		return 0 // NaN, negatives and (-1, 1)
	case x >= pow2(int(w)):
		return ^uint64(0) >> (64 - w)
	case x < 1<<63:
		return uint64(int64(x))
	}
	return uint64(int64(x-1<<63)) + 1<<63
}

// truncFits reports that the truncation of x is an integer of the given kind.
func truncFits(x float64, signed bool, w uint) bool {
	x = math.Trunc(x)
	if signed {
		return x >= -pow2(int(w-1)) && x < pow2(int(w-1))
	}
	return x >= 0 && x < pow2(int(w)) // -0 passes, NaN does not
}

// ConvertOf returns the conversion between two dtypes: integers wrap, integers
// and floats round once, floats truncate and saturate to integers with NaN
// giving 0. A bool is the integer 0 or 1; anything but zero and NaN converts to
// true.
func ConvertOf(from, to types.DType) Unary {
	if !from.Valid() || !to.Valid() {
		return nil
	}
	switch {
	case to == types.Bool && from.IsFloating():
		return func(a uint64) uint64 { x := ToF64(from, a); return bit(x < 0 || x > 0) }
	case to == types.Bool:
		return func(a uint64) uint64 { return bit(zeroExtend(from, a) != 0) }
	case from.IsFloating() && to.IsFloating():
		enc := encFloat[to]
		return func(a uint64) uint64 { return enc(ToF64(from, a)) }
	case from.IsFloating() && to.IsSigned():
		w := uint(to.Bits())
		return func(a uint64) uint64 { return zeroExtend(to, uint64(satSigned(ToF64(from, a), w))) }
	case from.IsFloating():
		w := uint(to.Bits())
		return func(a uint64) uint64 { return satUnsigned(ToF64(from, a), w) }
	case to == types.F64 && from.IsSigned():
		return func(a uint64) uint64 { return b64(float64(signExtend(from, a))) }
	case to == types.F64:
		return func(a uint64) uint64 { return b64(float64(zeroExtend(from, a))) }
	case to.IsFloating() && from.IsSigned():
		enc := encFloat[to]
		return func(a uint64) uint64 {
			x := signExtend(from, a)
			return enc(stickyFloat(x < 0, magnitude(x)))
		}
	case to.IsFloating():
		enc := encFloat[to]
		return func(a uint64) uint64 { return enc(stickyFloat(false, zeroExtend(from, a))) }
	case from.IsSigned():
		return func(a uint64) uint64 { return zeroExtend(to, uint64(signExtend(from, a))) }
	}
	return func(a uint64) uint64 { return zeroExtend(to, zeroExtend(from, a)) }
}

// ConvertOvfOf returns the predicate that the source value, truncated toward
// zero, is not a value of the integer or bool type to. A conversion to a
// floating type rounds, so it never overflows.
func ConvertOvfOf(from, to types.DType) Unary {
	if !from.Valid() || !to.Valid() {
		return nil
	}
	w := uint(to.Bits())
	top := ^uint64(0) >> (64 - w) // greatest value of an unsigned to
	switch {
	case to.IsFloating():
		return func(uint64) uint64 { return 0 }
	case from.IsFloating():
		return func(a uint64) uint64 { return bit(!truncFits(ToF64(from, a), to.IsSigned(), w)) }
	case from.IsSigned() && to.IsSigned():
		return func(a uint64) uint64 { x := signExtend(from, a); return bit(x != x<<(64-w)>>(64-w)) }
	case from.IsSigned():
		return func(a uint64) uint64 { x := signExtend(from, a); return bit(x < 0 || uint64(x) > top) }
	case to.IsSigned():
		return func(a uint64) uint64 { return bit(zeroExtend(from, a) > top>>1) }
	}
	return func(a uint64) uint64 { return bit(zeroExtend(from, a) > top) }
}

// ToF64 reads the bits of any floating type as the exact float64.
func ToF64(d types.DType, b uint64) float64 {
	switch d {
	case types.F16:
		return fmtF16.widen(b)
	case types.BF16:
		return fmtBF16.widen(b)
	case types.F32:
		return float64(f32(b))
	case types.F64:
		return f64(b)
	}
	panic("BUG: numeric.ToF64 of " + d.String())
}

// encFloat rounds a float64 once to each floating type.
var encFloat = [numDTypes]func(float64) uint64{
	types.F16:  fmtF16.narrow,
	types.BF16: fmtBF16.narrow,
	types.F32:  func(x float64) uint64 { return b32(float32(x)) },
	types.F64:  b64,
}

// BitcastOf reinterprets bits between types of one width, canonicalising NaN
// on both sides, nil where the widths differ or a bool is involved.
func BitcastOf(from, to types.DType) Unary {
	if !from.Valid() || !to.Valid() || from.Bits() != to.Bits() {
		return nil
	}
	return func(a uint64) uint64 { return Canon(to, Canon(from, a)) }
}
