package numeric

import (
	"math"
	"math/bits"
)

// Float is the set of types with arithmetic; f16 and bf16 are storage only.
type Float interface{ float32 | float64 }

// MinFloat is IEEE 754-2019 minimum: NaN wins and -0 < +0.
func MinFloat[T Float](a, b T) T {
	switch {
	case a != a:
		return a
	case b != b:
		return b
	case a == 0 && b == 0:
		if math.Signbit(float64(a)) {
			return a
		}
		return b
	case a < b:
		return a
	}
	return b
}

// MaxFloat is IEEE 754-2019 maximum: NaN wins and -0 < +0.
func MaxFloat[T Float](a, b T) T {
	switch {
	case a != a:
		return a
	case b != b:
		return b
	case a == 0 && b == 0:
		if math.Signbit(float64(a)) {
			return b
		}
		return a
	case a > b:
		return a
	}
	return b
}

// FMA32 is a*b + c with one rounding to float32.
//
// The product of two float32 is exact in float64, so s below is the exact
// result rounded to 53 bits. Rounding that again to 24 bits is right unless s
// lies exactly half way between two float32 values, where the exact result may
// lie to either side: no other s can cross a half-way point, which is itself a
// float64. Half-way points of normal results show in the low 29 bits.
func FMA32(a, b, c float32) float32 {
	s := float64(float64(a)*float64(b)) + float64(c)
	if delicate(s) {
		return fma32Odd(a, b, c)
	}
	return float32(s)
}

// delicate reports that s, an exact value rounded to float64, may not be
// rounded again to float32: it is half way between two normal float32, or
// below them, where the half-way points are elsewhere.
func delicate(s float64) bool {
	u := math.Float64bits(s)
	return u&(1<<29-1) == 1<<28 || u<<1 < leastNormal32
}

// leastNormal32 is 2^-126, the least normal float32, as float64 bits shifted
// left by one to drop the sign.
const leastNormal32 = (1023 - 126) << 53

// fma32Odd corrects the float64 sum to round-to-odd with its exact error, so
// the final rounding to 24 bits (or fewer, for subnormals) sees a sticky bit
// and cannot round twice.
func fma32Odd(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b))
	z := float64(c)
	s := p + z
	// Two-sum: t is the exact error of s; NaN when s is not finite.
	v := s - p
	t := (p - (s - v)) + (z - v)
	if t > 0 || t < 0 {
		u := math.Float64bits(s)
		if u&1 == 0 {
			// s is never zero here: a float64 sum that cancels to zero is exact.
			if (t > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return float32(s)
}

// FMA64 is a*b + c with one rounding to float64.
func FMA64(a, b, c float64) float64 { return math.FMA(a, b, c) }

// Rem64 is the exact C fmod: the result has the sign of x and is x - n*y for
// the integer n that truncates x/y.
func Rem64(x, y float64) float64 {
	const sign, inf = uint64(1) << 63, uint64(0x7ff) << 52
	bx, by := math.Float64bits(x), math.Float64bits(y)
	s := bx & sign
	bx &^= sign
	by &^= sign
	if bx >= inf || by > inf || by == 0 {
		return math.NaN()
	}
	if bx < by {
		return x
	}
	mx, ex := split64(bx)
	my, ey := split64(by)
	// Eleven quotient bits a turn: a remainder below 2^53 shifted by 11 fits.
	mx %= my
	for n := ex - ey; n > 0 && mx != 0; {
		k := min(n, 11)
		mx = (mx << uint(k)) % my
		n -= k
	}
	return math.Float64frombits(s | join64(mx, ey))
}

// Rem32 is the exact fmod of float32; the float64 remainder of two float32
// values is always a float32.
func Rem32(x, y float32) float32 { return float32(Rem64(float64(x), float64(y))) }

// split64 gives m and e with value m * 2^(e-1075), e >= 1, m < 2^53.
func split64(b uint64) (m uint64, e int) {
	e = int(b >> 52)
	m = b & (1<<52 - 1)
	if e == 0 {
		return m, 1
	}
	return m | 1<<52, e
}

// join64 is the inverse of split64 for any m < 2^53 that fits exactly.
func join64(m uint64, e int) uint64 {
	if m == 0 {
		return 0
	}
	if up := min(53-bits.Len64(m), e-1); up > 0 {
		m <<= uint(up)
		e -= up
	}
	if m>>52 == 0 {
		return m // subnormal: e is 1
	}
	return uint64(e)<<52 | m&(1<<52-1)
}

// CopySign64 gives x the sign of s, where a NaN sign source is positive.
func CopySign64(x, s float64) float64 {
	if s != s {
		s = 0
	}
	return math.Copysign(x, s)
}

// CopySign32 gives x the sign of s, where a NaN sign source is positive.
func CopySign32(x, s float32) float32 {
	return float32(CopySign64(float64(x), float64(s)))
}
