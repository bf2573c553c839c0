package numeric

import (
	"math/bits"
	"unsafe"
)

// Signed is the set of two's complement integer types.
type Signed interface {
	int8 | int16 | int32 | int64
}

// Unsigned is the set of unsigned integer types.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// Int is the set of all integer types.
type Int interface{ Signed | Unsigned }

// width is the number of bits of T.
func width[T Int]() uint {
	var z T
	return uint(unsafe.Sizeof(z)) * 8
}

// isSigned reports whether T is signed.
func isSigned[T Int]() bool { return ^T(0) < 0 }

// encInt writes an integer as zero-extended scalar bits.
func encInt[T Int](x T) uint64 { return uint64(x) << (64 - width[T]()) >> (64 - width[T]()) }

// DivInt truncates; x div 0 is all ones, MIN div -1 is MIN.
func DivInt[T Int](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b
}

// RemInt has the sign of a; x rem 0 is x, MIN rem -1 is 0.
func RemInt[T Int](a, b T) T {
	if b == 0 {
		return a
	}
	return a % b
}

// AbsInt wraps: abs of MIN is MIN.
func AbsInt[T Int](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

// ShlInt shifts left by the count's low bits (masked to width-1).
func ShlInt[T Int](a, n T) T { return a << (uint64(n) & uint64(width[T]()-1)) }

// ShrInt shifts right, arithmetically for signed types, by the masked count.
func ShrInt[T Int](a, n T) T { return a >> (uint64(n) & uint64(width[T]()-1)) }

// PopcntInt counts the one bits.
func PopcntInt[T Int](a T) T { return T(bits.OnesCount64(encInt(a))) }

// ClzInt counts leading zeros; the width for zero.
func ClzInt[T Int](a T) T { return T(uint(bits.LeadingZeros64(encInt(a))) - (64 - width[T]())) }

// CtzInt counts trailing zeros; the width for zero.
func CtzInt[T Int](a T) T { return T(min(uint(bits.TrailingZeros64(encInt(a))), width[T]())) }

// AddOverflow reports that the exact sum does not fit T.
func AddOverflow[T Int](a, b T) bool {
	s := a + b
	if isSigned[T]() {
		return (a < 0) == (b < 0) && (s < 0) != (a < 0)
	}
	return s < a
}

// SubOverflow reports that the exact difference does not fit T.
func SubOverflow[T Int](a, b T) bool {
	if isSigned[T]() {
		d := a - b
		return (a < 0) != (b < 0) && (d < 0) != (a < 0)
	}
	return a < b
}

// MulOverflow reports that the exact product does not fit T.
func MulOverflow[T Int](a, b T) bool {
	if a == 0 || b == 0 {
		return false
	}
	if !isSigned[T]() {
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		return hi != 0 || width[T]() < 64 && lo>>width[T]() != 0
	}
	// Magnitudes: a negative product may reach 2^(w-1), a positive one not.
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	limit := uint64(1) << (width[T]() - 1)
	if (a < 0) == (b < 0) {
		limit--
	}
	return hi != 0 || lo > limit
}

// magnitude is |a|, exact for MIN.
func magnitude[T Int](a T) uint64 {
	if a < 0 {
		return -uint64(int64(a))
	}
	return uint64(a)
}
