package op

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/digest"
)

// Key names an attribute. The numbers are part of the encoding.
type Key uint16

// The attribute keys of op-set version 1.
const (
	KIndex       Key = 1  // Int: which parameter, or which tuple field
	KValue       Key = 2  // Bytes (<= 64) or Blob: a constant's dense little-endian bytes
	KAxis        Key = 3  // Int
	KAxes        Key = 4  // Ints: reduce axes (ascending), transpose permutation, broadcast mapping
	KDims        Key = 5  // Ints: a map's index space
	KSizes       Key = 6  // Ints: slice sizes
	KStrides     Key = 7  // Ints: slice strides (>= 1)
	KKind        Key = 8  // Int: a ReduceKind, CompareKind or TrapKind
	KOrder       Key = 9  // Int: an Order, for compare
	KDescending  Key = 10 // Int 0 or 1, for sort
	KAcc         Key = 11 // Int: an Acc, for dot_general
	KLhsBatch    Key = 12 // Ints
	KRhsBatch    Key = 13 // Ints
	KLhsContract Key = 14 // Ints
	KRhsContract Key = 15 // Ints
	KCarried     Key = 16 // Int: how many values a loop carries
	KTraps       Key = 17 // Int 0 or 1: a map's last result is a trap code
	KTo          Key = 18 // Int: the target DType of convert_overflow
)

var keyNames = map[Key]string{
	KIndex: "index", KValue: "value", KAxis: "axis", KAxes: "axes", KDims: "dims", KSizes: "sizes",
	KStrides: "strides", KKind: "kind", KOrder: "order", KDescending: "descending", KAcc: "acc",
	KLhsBatch: "lhs_batch", KRhsBatch: "rhs_batch", KLhsContract: "lhs_contract",
	KRhsContract: "rhs_contract", KCarried: "carried", KTraps: "traps", KTo: "to",
}

func (k Key) String() string {
	if s, ok := keyNames[k]; ok {
		return s
	}
	return fmt.Sprintf("attr%d", uint16(k))
}

// AttrKind is the form of an attribute's value. The numbers are part of the encoding.
type AttrKind uint8

// The attribute forms.
const (
	AInt   AttrKind = 1
	AInts  AttrKind = 2
	ABytes AttrKind = 3
	ABlob  AttrKind = 4
)

// MaxInline is the longest constant kept inline; longer ones are blobs.
const MaxInline = 64

// MaxRegionConst is the longest constant a region may hold; longer ones enter
// as parameters bound at the root.
const MaxRegionConst = 4096

// Attr is one attribute. Only the field of its Kind is set.
type Attr struct {
	Key   Key
	Kind  AttrKind
	Int   int64
	Ints  []int64
	Bytes []byte
	Blob  digest.D // with Len: the blob's digest and length in bytes
	Len   uint64
}

// Attrs is a set of attributes, ascending by key without duplicates.
type Attrs []Attr

// Int makes an integer attribute.
func Int(k Key, v int64) Attr { return Attr{Key: k, Kind: AInt, Int: v} }

// Ints makes an integer list attribute.
func Ints(k Key, v ...int64) Attr { return Attr{Key: k, Kind: AInts, Ints: v} }

// Bytes makes a byte string attribute.
func Bytes(k Key, b []byte) Attr { return Attr{Key: k, Kind: ABytes, Bytes: b} }

// Blob makes a blob reference attribute.
func Blob(k Key, d digest.D, n uint64) Attr { return Attr{Key: k, Kind: ABlob, Blob: d, Len: n} }

// Bool makes a 0/1 attribute.
func Bool(k Key, v bool) Attr {
	if v {
		return Int(k, 1)
	}
	return Int(k, 0)
}

// NewAttrs sorts attributes by key.
func NewAttrs(as ...Attr) Attrs {
	out := Attrs(slices.Clone(as))
	slices.SortFunc(out, func(a, b Attr) int { return int(a.Key) - int(b.Key) })
	return out
}

// Get returns the attribute with key k.
func (as Attrs) Get(k Key) (Attr, bool) {
	for i := range as {
		if as[i].Key == k {
			return as[i], true
		}
	}
	return Attr{}, false
}

// Int returns the integer attribute k. It panics if there is none: the
// validator has checked each op's attribute list before anyone asks.
func (as Attrs) Int(k Key) int64 {
	a, ok := as.Get(k)
	if !ok || a.Kind != AInt {
		panic(fmt.Sprintf("BUG: no integer attribute %v", k))
	}
	return a.Int
}

// Ints returns the integer list attribute k, as Int does.
func (as Attrs) Ints(k Key) []int64 {
	a, ok := as.Get(k)
	if !ok || a.Kind != AInts {
		panic(fmt.Sprintf("BUG: no integer list attribute %v", k))
	}
	return a.Ints
}

// Encode appends the canonical payload of as: u32 count, then per attribute
// u16 key, u8 form and the value.
func (as Attrs) Encode(e *digest.Enc) {
	e.U32(uint32(len(as)))
	for i := range as {
		a := &as[i]
		e.U16(uint16(a.Key))
		e.U8(uint8(a.Kind))
		switch a.Kind {
		case AInt:
			e.I64(a.Int)
		case AInts:
			e.U32(uint32(len(a.Ints)))
			for _, v := range a.Ints {
				e.I64(v)
			}
		case ABytes:
			e.Bytes(a.Bytes)
		case ABlob:
			e.Digest(a.Blob)
			e.U64(a.Len)
		default:
			panic(fmt.Sprintf("BUG: attribute form %d", a.Kind))
		}
	}
}

// ReduceKind is how reduce combines. The numbers are part of the encoding.
type ReduceKind int64

// The reductions.
const (
	Sum ReduceKind = iota
	Prod
	RMin
	RMax
	RAnd
	ROr
	RXor
	NumReduceKinds
)

var reduceNames = [NumReduceKinds]string{"sum", "prod", "min", "max", "and", "or", "xor"}

func (k ReduceKind) String() string { return enumName(reduceNames[:], int64(k)) }

// CompareKind is a comparison. The numbers are part of the encoding.
type CompareKind int64

// The comparisons.
const (
	EQ CompareKind = iota
	NE
	LT
	LE
	GT
	GE
	NumCompareKinds
)

var compareNames = [NumCompareKinds]string{"eq", "ne", "lt", "le", "gt", "ge"}

func (k CompareKind) String() string { return enumName(compareNames[:], int64(k)) }

// Order says which order compare uses on floats.
type Order int64

// The orders: IEEE (NaN unordered) and totalOrder with the one NaN greatest.
const (
	IEEE Order = iota
	Total
	NumOrders
)

// TrapKind is a trap code. 0 is no trap.
type TrapKind int64

// The trap codes.
const (
	TrapNone TrapKind = iota
	TrapOverflow
	TrapDivision
	TrapIndex
	TrapAssert
	TrapLoopBound
	TrapCast
	NumTrapKinds
)

var trapNames = [NumTrapKinds]string{"none", "overflow", "division", "index", "assert", "loop bound", "cast"}

func (k TrapKind) String() string { return enumName(trapNames[:], int64(k)) }

// Acc is how dot_general accumulates. The numbers are part of the encoding.
type Acc int64

// The accumulations.
const (
	AccFMA Acc = iota
	AccUnfused
	AccF64
	AccI32
	AccI64
	NumAccs
)

var accNames = [NumAccs]string{"fma", "unfused", "f64", "i32", "i64"}

func (k Acc) String() string { return enumName(accNames[:], int64(k)) }

func enumName(names []string, v int64) string {
	if v >= 0 && v < int64(len(names)) {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
}
