// Package numeric is the executable form of Kera's scalar semantics: what every
// arithmetic operation means, to the bit, on every machine.
//
// The algorithms are the plainest ones that are exact. Floats use IEEE 754-2019
// round to nearest even with subnormals kept; binary32 fma goes through a
// binary64 sum rounded to odd (Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums", IEEE TC 2008); rem is the bitwise long division
// fmod; narrowing goes once from the source format to the target format.
// Integers are two's complement, wrap, and every operation is total.
//
// What must hold:
//   - No function depends on the processor: products that feed a sum are
//     wrapped in an explicit conversion, so the Go compiler may not fuse them,
//     and no transcendental function of package math is called.
//   - A scalar travels as a uint64 holding its bits, zero-extended: an i8 of -1
//     is 0xff, a bool is 0 or 1, an f32 is its IEEE bits. Bits above the width
//     are zero in every result and ignored in every operand.
//   - Every float result of the bit-level functions has the one NaN
//     (positive, quiet, payload zero); operands may hold any NaN. The typed
//     functions leave the payload to the hardware.
package numeric

import "math"

// The one NaN of each float format.
const (
	NaNF16  uint64 = 0x7e00
	NaNBF16 uint64 = 0x7fc0
	NaNF32  uint64 = 0x7fc00000
	NaNF64  uint64 = 0x7ff8000000000000
)

// CanonF32 returns the bits of x with any NaN replaced by the one NaN.
func CanonF32(x float32) uint32 {
	if x != x {
		return uint32(NaNF32)
	}
	return math.Float32bits(x)
}

// CanonF64 returns the bits of x with any NaN replaced by the one NaN.
func CanonF64(x float64) uint64 {
	if x != x {
		return NaNF64
	}
	return math.Float64bits(x)
}

// f32 reads a scalar's bits as a float32.
func f32(b uint64) float32 { return math.Float32frombits(uint32(b)) }

// f64 reads a scalar's bits as a float64.
func f64(b uint64) float64 { return math.Float64frombits(b) }

// b32 writes a float32 as canonical scalar bits.
func b32(x float32) uint64 { return uint64(CanonF32(x)) }

// b64 writes a float64 as canonical scalar bits.
func b64(x float64) uint64 { return CanonF64(x) }
