package numeric

import (
	"cmp"

	"github.com/kera-lang/kera/core/types"
)

// Pred is a comparison predicate.
type Pred uint8

// The predicates.
const (
	EQ Pred = iota
	NE
	LT
	LE
	GT
	GE
	numPreds
)

// CompareOf returns the predicate on d as a bool. Floats compare by IEEE 754
// (NaN is unordered, -0 equals +0), or by the total order if total is set.
// Storage floats have no comparison but the total order.
func CompareOf(p Pred, total bool, d types.DType) Binary {
	if p >= numPreds || !d.Valid() {
		return nil
	}
	switch {
	case total:
		return func(a, b uint64) uint64 { return holds(p, TotalKey(d, a), TotalKey(d, b)) }
	case d == types.F32:
		return func(a, b uint64) uint64 { return holdsFloat(p, f32(a), f32(b)) }
	case d == types.F64:
		return func(a, b uint64) uint64 { return holdsFloat(p, f64(a), f64(b)) }
	case d.IsFloating():
		return nil
	case d.IsSigned():
		return func(a, b uint64) uint64 { return holds(p, signExtend(d, a), signExtend(d, b)) }
	}
	return func(a, b uint64) uint64 { return holds(p, zeroExtend(d, a), zeroExtend(d, b)) }
}

func holds[T cmp.Ordered](p Pred, a, b T) uint64 {
	switch p {
	case EQ:
		return bit(a == b)
	case NE:
		return bit(a != b)
	case LT:
		return bit(a < b)
	case LE:
		return bit(a <= b)
	case GT:
		return bit(a > b)
	}
	return bit(a >= b)
}

// holdsFloat is holds: Go's operators are the IEEE predicates, NE the negation of EQ.
func holdsFloat[T Float](p Pred, a, b T) uint64 { return holds(p, a, b) }

// TotalKey maps scalar bits to an unsigned key whose order is the total order
// of the type: for floats IEEE totalOrder with the one NaN greatest.
func TotalKey(d types.DType, b uint64) uint64 {
	w := uint(d.Bits())
	top := uint64(1) << (w - 1)
	switch {
	case d.IsFloating():
		b = Canon(d, b)
		if b&top != 0 {
			return ^b & (top<<1 - 1)
		}
		return b | top
	case d.IsSigned():
		return zeroExtend(d, b) ^ top
	}
	return zeroExtend(d, b)
}

// Canon returns b with bits above the width cleared and any NaN replaced by
// the one NaN of its format.
func Canon(d types.DType, b uint64) uint64 {
	b = zeroExtend(d, b)
	switch d {
	case types.F16:
		if b&0x7fff > 0x7c00 {
			return NaNF16
		}
	case types.BF16:
		if b&0x7fff > 0x7f80 {
			return NaNBF16
		}
	case types.F32:
		if b&0x7fffffff > 0x7f800000 {
			return NaNF32
		}
	case types.F64:
		if b&(1<<63-1) > 0x7ff<<52 {
			return NaNF64
		}
	}
	return b
}

// IsNaN reports whether the bits are a NaN of a floating type.
func IsNaN(d types.DType, b uint64) bool {
	if !d.IsFloating() {
		return false
	}
	return Canon(d, b) == nanOf[d]
}

var nanOf = [numDTypes]uint64{
	types.F16: NaNF16, types.BF16: NaNBF16, types.F32: NaNF32, types.F64: NaNF64,
}

// zeroExtend clears the bits above the width of d.
func zeroExtend(d types.DType, b uint64) uint64 {
	w := uint(d.Bits())
	return b << (64 - w) >> (64 - w)
}

// signExtend reads the bits as a signed integer of d's width.
func signExtend(d types.DType, b uint64) int64 {
	w := uint(d.Bits())
	return int64(b<<(64-w)) >> (64 - w)
}
