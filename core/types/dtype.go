// Package types defines the structural types of the graph: tensors of the
// scalar types in numerics, tuples, and effect tokens.
//
// A scalar is a tensor of rank 0. Types are immutable values compared by
// structure; language-level (nominal) types are lowered to these before a
// graph is built. What must hold: ranks and dimensions stay within the limits
// declared here, so that element counts and byte sizes never overflow int64.
package types

import "fmt"

// DType is a scalar element type.
type DType uint8

// The scalar types, in encoding order (docs/spec/encoding.md). F16 and BF16
// are storage-only.
const (
	Invalid DType = iota
	Bool
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	F16
	BF16
	F32
	F64
	numDTypes
)

// Class groups dtypes by arithmetic.
type Class uint8

// The arithmetic classes.
const (
	ClassNone Class = iota
	ClassBool
	ClassSigned
	ClassUnsigned
	ClassFloat
	ClassStorage // f16, bf16: stored and converted, never computed with
)

type dtypeRow struct {
	name  string
	size  int // bytes in memory
	class Class
}

var dtypeTable = [numDTypes]dtypeRow{
	Invalid: {"invalid", 0, ClassNone},
	Bool:    {"bool", 1, ClassBool},
	I8:      {"i8", 1, ClassSigned},
	I16:     {"i16", 2, ClassSigned},
	I32:     {"i32", 4, ClassSigned},
	I64:     {"i64", 8, ClassSigned},
	U8:      {"u8", 1, ClassUnsigned},
	U16:     {"u16", 2, ClassUnsigned},
	U32:     {"u32", 4, ClassUnsigned},
	U64:     {"u64", 8, ClassUnsigned},
	F16:     {"f16", 2, ClassStorage},
	BF16:    {"bf16", 2, ClassStorage},
	F32:     {"f32", 4, ClassFloat},
	F64:     {"f64", 8, ClassFloat},
}

// DTypes lists every valid dtype in encoding order.
func DTypes() []DType {
	out := make([]DType, 0, numDTypes-1)
	for d := Bool; d < numDTypes; d++ {
		out = append(out, d)
	}
	return out
}

// Valid reports whether d is one of the declared dtypes.
func (d DType) Valid() bool { return d > Invalid && d < numDTypes }

func (d DType) row() dtypeRow {
	if d < numDTypes {
		return dtypeTable[d]
	}
	return dtypeRow{name: fmt.Sprintf("dtype(%d)", uint8(d))}
}

// String returns the name used in the language and the text form.
func (d DType) String() string { return d.row().name }

// Size returns the bytes one element takes in memory.
func (d DType) Size() int { return d.row().size }

// Bits returns the width of the value in bits (bool is 1).
func (d DType) Bits() int {
	if d == Bool {
		return 1
	}
	return d.Size() * 8
}

// Class returns the arithmetic class of d.
func (d DType) Class() Class { return d.row().class }

// IsInt reports whether d is a signed or unsigned integer.
func (d DType) IsInt() bool {
	c := d.Class()
	return c == ClassSigned || c == ClassUnsigned
}

// IsSigned reports whether d is a signed integer.
func (d DType) IsSigned() bool { return d.Class() == ClassSigned }

// IsFloat reports whether d is f32 or f64, the floats that take arithmetic.
func (d DType) IsFloat() bool { return d.Class() == ClassFloat }

// IsFloating reports whether d is any floating format, storage ones included.
func (d DType) IsFloating() bool { c := d.Class(); return c == ClassFloat || c == ClassStorage }

// ParseDType returns the dtype named s.
func ParseDType(s string) (DType, bool) {
	for d := Bool; d < numDTypes; d++ {
		if dtypeTable[d].name == s {
			return d, true
		}
	}
	return Invalid, false
}
