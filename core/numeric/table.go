package numeric

import (
	"math"

	"github.com/kera-lang/kera/core/types"
)

// Unary, Binary and Ternary compute on scalar bits (see the package comment).
type (
	Unary   func(a uint64) uint64
	Binary  func(a, b uint64) uint64
	Ternary func(a, b, c uint64) uint64
)

// Op names a scalar operation.
type Op uint8

// The scalar operations. The overflow predicates return a bool.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Rem
	Min
	Max
	And
	Or
	Xor
	Shl
	Shr
	CopySign
	AddOvf
	SubOvf
	MulOvf
	Neg
	Abs
	Sqrt
	Floor
	Ceil
	Trunc
	RoundEven
	Not
	Popcnt
	Clz
	Ctz
	FMA
	numOps
)

// types.DType values index the tables; f64 is the last.
const numDTypes = int(types.F64) + 1

// UnaryOf returns op on d, nil where the type has no such operation.
func UnaryOf(op Op, d types.DType) Unary {
	if op >= numOps || int(d) >= numDTypes {
		return nil
	}
	return unaryTable[op][d]
}

// BinaryOf returns op on d, nil where the type has no such operation.
func BinaryOf(op Op, d types.DType) Binary {
	if op >= numOps || int(d) >= numDTypes {
		return nil
	}
	return binaryTable[op][d]
}

// TernaryOf returns op on d, nil where the type has no such operation.
func TernaryOf(op Op, d types.DType) Ternary {
	if op != FMA {
		return nil
	}
	switch d {
	case types.F32:
		return func(a, b, c uint64) uint64 { return b32(FMA32(f32(a), f32(b), f32(c))) }
	case types.F64:
		return func(a, b, c uint64) uint64 { return b64(FMA64(f64(a), f64(b), f64(c))) }
	}
	return nil
}

type (
	unaryRow  [numDTypes]Unary
	binaryRow [numDTypes]Binary
)

// liftI1 turns a typed integer function into one on bits; liftI2 and liftP2 do
// it for two operands and for predicates.
func liftI1[T Int](f func(T) T) Unary {
	return func(a uint64) uint64 { return encInt(f(T(a))) }
}

func liftI2[T Int](f func(a, b T) T) Binary {
	return func(a, b uint64) uint64 { return encInt(f(T(a), T(b))) }
}

func liftP2[T Int](f func(a, b T) bool) Binary {
	return func(a, b uint64) uint64 { return bit(f(T(a), T(b))) }
}

func lift32x1(f func(float32) float32) Unary {
	return func(a uint64) uint64 { return b32(f(f32(a))) }
}

func lift64x1(f func(float64) float64) Unary {
	return func(a uint64) uint64 { return b64(f(f64(a))) }
}

func lift32x2(f func(a, b float32) float32) Binary {
	return func(a, b uint64) uint64 { return b32(f(f32(a), f32(b))) }
}

func lift64x2(f func(a, b float64) float64) Binary {
	return func(a, b uint64) uint64 { return b64(f(f64(a), f64(b))) }
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// fill1 and fill2 put the integer functions of one Go type into the tables.
func fill1[T Int](t *[numOps]unaryRow, d types.DType) {
	t[Neg][d] = liftI1(func(a T) T { return -a })
	t[Abs][d] = liftI1(AbsInt[T])
	t[Not][d] = liftI1(func(a T) T { return ^a })
	t[Popcnt][d] = liftI1(PopcntInt[T])
	t[Clz][d] = liftI1(ClzInt[T])
	t[Ctz][d] = liftI1(CtzInt[T])
}

func fill2[T Int](t *[numOps]binaryRow, d types.DType) {
	t[Add][d] = liftI2(func(a, b T) T { return a + b })
	t[Sub][d] = liftI2(func(a, b T) T { return a - b })
	t[Mul][d] = liftI2(func(a, b T) T { return a * b })
	t[Div][d] = liftI2(DivInt[T])
	t[Rem][d] = liftI2(RemInt[T])
	t[Min][d] = liftI2(func(a, b T) T { return min(a, b) })
	t[Max][d] = liftI2(func(a, b T) T { return max(a, b) })
	t[And][d] = liftI2(func(a, b T) T { return a & b })
	t[Or][d] = liftI2(func(a, b T) T { return a | b })
	t[Xor][d] = liftI2(func(a, b T) T { return a ^ b })
	t[Shl][d] = liftI2(ShlInt[T])
	t[Shr][d] = liftI2(ShrInt[T])
	t[AddOvf][d] = liftP2(AddOverflow[T])
	t[SubOvf][d] = liftP2(SubOverflow[T])
	t[MulOvf][d] = liftP2(MulOverflow[T])
}

// via64 computes a float64 function on a float32. It is right where the second
// rounding changes nothing: the integer roundings are exact, and a float64
// root has more than twice the digits of a float32 plus two.
func via64(f func(float64) float64) Unary {
	return func(a uint64) uint64 { return b32(float32(f(float64(f32(a))))) }
}

var unaryTable = func() (t [numOps]unaryRow) {
	fill1[int8](&t, types.I8)
	fill1[int16](&t, types.I16)
	fill1[int32](&t, types.I32)
	fill1[int64](&t, types.I64)
	fill1[uint8](&t, types.U8)
	fill1[uint16](&t, types.U16)
	fill1[uint32](&t, types.U32)
	fill1[uint64](&t, types.U64)
	t[Not][types.Bool] = func(a uint64) uint64 { return ^a & 1 }

	t[Neg][types.F32] = lift32x1(func(a float32) float32 { return -a })
	t[Neg][types.F64] = lift64x1(func(a float64) float64 { return -a })
	for _, r := range []struct {
		op Op
		f  func(float64) float64
	}{
		{Abs, math.Abs}, {Sqrt, math.Sqrt}, {Floor, math.Floor}, {Ceil, math.Ceil},
		{Trunc, math.Trunc}, {RoundEven, math.RoundToEven},
	} {
		t[r.op][types.F32] = via64(r.f)
		t[r.op][types.F64] = lift64x1(r.f)
	}
	return t
}()

var binaryTable = func() (t [numOps]binaryRow) {
	fill2[int8](&t, types.I8)
	fill2[int16](&t, types.I16)
	fill2[int32](&t, types.I32)
	fill2[int64](&t, types.I64)
	fill2[uint8](&t, types.U8)
	fill2[uint16](&t, types.U16)
	fill2[uint32](&t, types.U32)
	fill2[uint64](&t, types.U64)
	t[And][types.Bool] = func(a, b uint64) uint64 { return a & b & 1 }
	t[Or][types.Bool] = func(a, b uint64) uint64 { return (a | b) & 1 }
	t[Xor][types.Bool] = func(a, b uint64) uint64 { return (a ^ b) & 1 }
	t[Min][types.Bool] = t[And][types.Bool]
	t[Max][types.Bool] = t[Or][types.Bool]

	// The commonest operations are written out: one call less an element.
	t[Add][types.F32] = func(a, b uint64) uint64 { return b32(f32(a) + f32(b)) }
	t[Sub][types.F32] = func(a, b uint64) uint64 { return b32(f32(a) - f32(b)) }
	t[Mul][types.F32] = func(a, b uint64) uint64 { return b32(float32(f32(a) * f32(b))) }
	t[Div][types.F32] = func(a, b uint64) uint64 { return b32(f32(a) / f32(b)) }
	t[Rem][types.F32] = lift32x2(Rem32)
	t[Min][types.F32] = lift32x2(MinFloat[float32])
	t[Max][types.F32] = lift32x2(MaxFloat[float32])
	t[CopySign][types.F32] = lift32x2(CopySign32)
	t[Add][types.F64] = func(a, b uint64) uint64 { return b64(f64(a) + f64(b)) }
	t[Sub][types.F64] = func(a, b uint64) uint64 { return b64(f64(a) - f64(b)) }
	t[Mul][types.F64] = func(a, b uint64) uint64 { return b64(float64(f64(a) * f64(b))) }
	t[Div][types.F64] = func(a, b uint64) uint64 { return b64(f64(a) / f64(b)) }
	t[Rem][types.F64] = lift64x2(Rem64)
	t[Min][types.F64] = lift64x2(MinFloat[float64])
	t[Max][types.F64] = lift64x2(MaxFloat[float64])
	t[CopySign][types.F64] = lift64x2(CopySign64)
	return t
}()
