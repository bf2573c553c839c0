package lir

import "fmt"

// Op is a loop IR operation.
type Op uint8

// The operations. See the table for their forms.
const (
	OpInvalid Op = iota

	// Values
	Const    // Imm: the bits of one lane; a vector constant is uniform
	LaneIx   // I32 or I64 vector 0, 1, 2, ...
	Splat    // vector of a scalar
	Extract  // lane Imm of a vector
	LaneDown // vector whose lane i is lane i+Imm, for i < Imm; the others are arbitrary
	Zip      // the lower (Imm 0) or upper (Imm 1) halves of two vectors, lane by lane in turn

	// Memory
	Load
	Store
	MLoad   // Args mask: vector; only set lanes are read, the others are 0
	MStore  // Args value, mask: only set lanes are written
	Gather  // Args index, mask: lane i from Addr + index[i]*Imm, 0 where not set; index is I32 or I64, never negative
	Scatter // Args value, index, mask: likewise; of equal indices the highest lane stays

	// Integers: I32, I64, Ix, vectors of I32 and I64
	Add
	Sub
	Mul
	DivS
	DivU
	RemS
	RemU
	And
	Or
	Xor
	Shl  // count (same type) taken modulo the width
	ShrS // likewise
	ShrU // likewise
	Clz  // the width for 0
	Ctz  // the width for 0
	Popcnt
	MulHiS // high 64 bits of the 128-bit product, I64 only
	MulHiU
	MinS // vectors only, as the next ones
	MinU
	MaxS
	MaxU
	IAbs    // wraps
	AddSatS // I8 and I16 lanes: the nearest that fits
	AddSatU
	SubSatS
	SubSatU
	Dot2S  // I32 vector from two of twice the lanes of I16: x[2i]*y[2i] + x[2i+1]*y[2i+1], wrapping
	Dot4US // I32 vector from two of four times the lanes of I8: the sum of 4 products, x unsigned, y signed
	Ext8S  // I32: sign-extend the low 8 bits
	Ext16S // I32: sign-extend the low 16 bits

	// Comparisons: scalars give I32 0/1, vectors a Mask
	Eq
	Ne
	LtS
	LtU
	LeS
	LeU

	// Floats: F32, F64 and vectors
	FAdd
	FSub
	FMul
	FDiv
	FSqrt
	FNeg // flips the sign bit, also of NaN
	FAbs
	FMin // IEEE 754-2019 minimum: NaN wins, -0 < +0
	FMax
	FMA // Args a, b, c: a*b + c with one rounding
	FFloor
	FCeil
	FTrunc
	FNearest // ties to even
	FCopysign
	FEq // IEEE comparisons: scalars give I32, vectors a Mask
	FNe
	FLt
	FLe
	Canon // the one NaN for every NaN, other values unchanged

	// Choice
	Select // Args cond, a, b: cond is I32 (non-zero: a), or a Mask for vectors

	// Masks
	MAnd
	MOr
	MNot
	MAny  // I32: 1 if any lane is set
	MCast // the same lanes as a mask of the width in Type

	// Conversions (result type in Type, operand type from the argument)
	Wrap     // I64 -> I32; vectors: to any narrower integer lanes
	ExtS     // I32 -> I64; vectors: to any wider integer lanes
	ExtU     // likewise
	IxToI64  // Ix is never negative
	I64ToIx  // the value fits
	IxToI32  // low 32 bits
	I32ToIxU // zero-extended
	SToF     // I32, I64 -> F32, F64, one rounding
	UToF     //
	FToS     // F32, F64 -> I32, I64: truncate, saturate, NaN gives 0
	FToU     //
	Promote  // F32 -> F64
	Demote   // F64 -> F32, one rounding
	BitsOf   // F32 -> I32, F64 -> I64
	FromBits // I32 -> F32, I64 -> F64

	// Structure
	For    // Args lo, hi, carried...; Imm: step > 0
	While  // Args carried...
	If     // Args cond
	Return // Args code: leaves the function at once

	NumOps
)

// sigKind says how an op's operand and result types relate.
type sigKind uint8

const (
	sNone   sigKind = iota // special
	sSame                  // args and result have Type
	sShape                 // special-cased in Verify: memory, lanes, structure
	sCmp                   // args have Type, result I32 or MaskOf(Type)
	sConv                  // one arg, its type and the result's from the conversion table
	sSelect                // cond, a, b
	sMask                  // masks
)

// OpInfo is the row of one op.
type OpInfo struct {
	Name  string
	Arity int // -1: checked by Verify
	sig   sigKind
	on    elemSet
}

type elemSet uint16

const (
	onI32 elemSet = 1 << iota
	onI64
	onF32
	onF64
	onIx
	onVec // vector forms exist
	onI8  // as vectors
	onI16
	vecOnly // scalar forms do not exist

	onLanes = onI8 | onI16 | onVec
	onInt   = onI32 | onI64 | onIx | onLanes
	onSInt  = onI32 | onI64 | onIx
	onFloat = onF32 | onF64 | onVec
	onAll   = onI32 | onI64 | onF32 | onF64 | onIx | onLanes
	onMem   = onI32 | onI64 | onF32 | onF64 | onLanes
	onVInt  = onI32 | onI64 | onLanes | vecOnly
	onSat   = onLanes | vecOnly
)

var opTable = [NumOps]OpInfo{
	Const:    {"const", 0, sShape, onAll},
	LaneIx:   {"lane_ix", 0, sShape, onI32 | onI64 | onVec},
	Splat:    {"splat", 1, sShape, onMem},
	Extract:  {"extract", 1, sShape, onI32 | onI64 | onF32 | onF64},
	LaneDown: {"lane_down", 1, sSame, onI32 | onI64 | onF32 | onF64 | onVec},
	Zip:      {"zip", 2, sShape, onI32 | onI64 | onF32 | onF64 | onVec},
	Load:     {"load", 0, sShape, onMem},
	Store:    {"store", 1, sShape, onMem},
	MLoad:    {"mload", 1, sShape, onMem | vecOnly},
	MStore:   {"mstore", 2, sShape, onMem | vecOnly},
	Gather:   {"gather", 2, sShape, onI32 | onI64 | onF32 | onF64 | onVec | vecOnly},
	Scatter:  {"scatter", 3, sShape, onI32 | onI64 | onF32 | onF64 | onVec | vecOnly},

	Add: {"add", 2, sSame, onInt}, Sub: {"sub", 2, sSame, onInt}, Mul: {"mul", 2, sSame, onInt},
	DivS: {"div_s", 2, sSame, onSInt}, DivU: {"div_u", 2, sSame, onSInt},
	RemS: {"rem_s", 2, sSame, onSInt}, RemU: {"rem_u", 2, sSame, onSInt},
	And: {"and", 2, sSame, onInt}, Or: {"or", 2, sSame, onInt}, Xor: {"xor", 2, sSame, onInt},
	Shl: {"shl", 2, sSame, onInt}, ShrS: {"shr_s", 2, sSame, onInt}, ShrU: {"shr_u", 2, sSame, onInt},
	Clz: {"clz", 1, sSame, onI32 | onI64}, Ctz: {"ctz", 1, sSame, onI32 | onI64}, Popcnt: {"popcnt", 1, sSame, onI32 | onI64},
	MulHiS: {"mulhi_s", 2, sSame, onI64}, MulHiU: {"mulhi_u", 2, sSame, onI64},
	MinS: {"min_s", 2, sSame, onVInt}, MinU: {"min_u", 2, sSame, onVInt}, MaxS: {"max_s", 2, sSame, onVInt}, MaxU: {"max_u", 2, sSame, onVInt},
	IAbs: {"iabs", 1, sSame, onVInt}, AddSatS: {"add_sat_s", 2, sSame, onSat}, AddSatU: {"add_sat_u", 2, sSame, onSat},
	SubSatS: {"sub_sat_s", 2, sSame, onSat}, SubSatU: {"sub_sat_u", 2, sSame, onSat},
	Dot2S: {"dot2_s", 2, sShape, onI32 | onVec | vecOnly}, Dot4US: {"dot4_us", 2, sShape, onI32 | onVec | vecOnly},
	Ext8S: {"ext8_s", 1, sSame, onI32}, Ext16S: {"ext16_s", 1, sSame, onI32},

	Eq: {"eq", 2, sCmp, onInt}, Ne: {"ne", 2, sCmp, onInt},
	LtS: {"lt_s", 2, sCmp, onInt}, LtU: {"lt_u", 2, sCmp, onInt},
	LeS: {"le_s", 2, sCmp, onInt}, LeU: {"le_u", 2, sCmp, onInt},

	FAdd: {"fadd", 2, sSame, onFloat}, FSub: {"fsub", 2, sSame, onFloat}, FMul: {"fmul", 2, sSame, onFloat},
	FDiv: {"fdiv", 2, sSame, onFloat}, FSqrt: {"fsqrt", 1, sSame, onFloat},
	FNeg: {"fneg", 1, sSame, onFloat}, FAbs: {"fabs", 1, sSame, onFloat},
	FMin: {"fmin", 2, sSame, onFloat}, FMax: {"fmax", 2, sSame, onFloat}, FMA: {"fma", 3, sSame, onFloat},
	FFloor: {"ffloor", 1, sSame, onFloat}, FCeil: {"fceil", 1, sSame, onFloat},
	FTrunc: {"ftrunc", 1, sSame, onFloat}, FNearest: {"fnearest", 1, sSame, onFloat},
	FCopysign: {"fcopysign", 2, sSame, onFloat},
	FEq:       {"feq", 2, sCmp, onFloat}, FNe: {"fne", 2, sCmp, onFloat},
	FLt: {"flt", 2, sCmp, onFloat}, FLe: {"fle", 2, sCmp, onFloat},
	Canon: {"canon", 1, sSame, onFloat},

	Select: {"select", 3, sSelect, onAll},
	MAnd:   {"mand", 2, sMask, 0}, MOr: {"mor", 2, sMask, 0}, MNot: {"mnot", 1, sMask, 0}, MAny: {"many", 1, sMask, 0}, MCast: {"mcast", 1, sShape, 0},

	Wrap: {"wrap", 1, sConv, onI32 | onLanes}, ExtS: {"ext_s", 1, sConv, onI64 | onI32 | onLanes}, ExtU: {"ext_u", 1, sConv, onI64 | onI32 | onLanes},
	IxToI64: {"ix_to_i64", 1, sConv, onI64}, I64ToIx: {"i64_to_ix", 1, sConv, onIx},
	IxToI32: {"ix_to_i32", 1, sConv, onI32}, I32ToIxU: {"i32_to_ix_u", 1, sConv, onIx},
	SToF: {"s_to_f", 1, sConv, onFloat}, UToF: {"u_to_f", 1, sConv, onFloat},
	FToS: {"f_to_s", 1, sConv, onI32 | onI64 | onVec}, FToU: {"f_to_u", 1, sConv, onI32 | onI64 | onVec},
	Promote: {"promote", 1, sConv, onF64 | onVec}, Demote: {"demote", 1, sConv, onF32 | onVec},
	BitsOf: {"bits_of", 1, sConv, onI32 | onI64 | onVec}, FromBits: {"from_bits", 1, sConv, onFloat},

	For: {"for", -1, sShape, 0}, While: {"while", -1, sShape, 0}, If: {"if", 1, sShape, 0}, Return: {"return", 1, sShape, 0},
}

// Info returns the row of o.
func (o Op) Info() OpInfo {
	if o == OpInvalid || o >= NumOps {
		panic(fmt.Sprintf("BUG: lir op %d", o))
	}
	return opTable[o]
}

func (o Op) String() string {
	if o < NumOps && opTable[o].Name != "" {
		return opTable[o].Name
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// Defined reports whether the scalar form (or, with vec, the vector form) of o
// on element e is part of the IR. Backends implement every scalar form; of the
// vector forms they declare theirs in Target.
func Defined(o Op, e Elem, vec bool) bool {
	on := opTable[o].on
	if vec && on&onVec == 0 || !vec && (on&vecOnly != 0 || e == I8 || e == I16) {
		return false
	}
	if (o == ExtS || o == ExtU) && !vec && e == I32 {
		return false
	}
	switch e {
	case I32:
		return on&onI32 != 0
	case I64:
		return on&onI64 != 0
	case F32:
		return on&onF32 != 0
	case F64:
		return on&onF64 != 0
	case Ix:
		return !vec && on&onIx != 0
	case I8:
		return on&onI8 != 0
	case I16:
		return on&onI16 != 0
	}
	return false
}

// HasAddr reports whether o reads or writes memory at the statement's Addr.
func (o Op) HasAddr() bool {
	switch o {
	case Load, Store, MLoad, MStore, Gather, Scatter:
		return true
	}
	return false
}

// Writes reports whether o writes memory.
func (o Op) Writes() bool { return o == Store || o == MStore || o == Scatter }

// IsConversion reports whether o takes one operand of another element: it is
// emitted by Builder.Conv.
func IsConversion(o Op) bool { return opTable[o].sig == sConv }

// convFrom lists the operand elements of each conversion by result element.
func convFrom(o Op, to Elem) []Elem {
	switch o {
	case Wrap:
		return map[Elem][]Elem{I32: {I64}, I16: {I32, I64}, I8: {I16, I32, I64}}[to]
	case ExtS, ExtU:
		return map[Elem][]Elem{I16: {I8}, I32: {I8, I16}, I64: {I8, I16, I32}}[to]
	case IxToI64, IxToI32:
		return []Elem{Ix}
	case I64ToIx:
		return []Elem{I64}
	case I32ToIxU:
		return []Elem{I32}
	case SToF, UToF:
		return []Elem{I32, I64}
	case FToS, FToU:
		return []Elem{F32, F64}
	case Promote:
		return []Elem{F32}
	case Demote:
		return []Elem{F64}
	case BitsOf:
		if to == I32 {
			return []Elem{F32}
		}
		return []Elem{F64}
	case FromBits:
		if to == F32 {
			return []Elem{I32}
		}
		return []Elem{I64}
	}
	return nil
}

// DefaultGrain is some tens of microseconds of simple work, against a few for a
// barrier between phases.
const DefaultGrain = 1 << 17

// Target is what a backend tells the loop plan about itself.
type Target struct {
	Name     string
	VecBytes int // bytes of a full vector: 16, 32 or 64; 0: no vectors

	// MatmulRows and MatmulVecs are the register tile of a contraction: rows by
	// full vectors (AVX-512: 14 x 2).
	MatmulRows, MatmulVecs int

	// MatvecRows is how many rows of a matrix-vector product to take at once, one
	// element at a time: the elements of a row lie together, those of a column do
	// not, and turning the matrix costs more than the product. 0: vectors only.
	MatvecRows int

	// Grain is the work, in elements or fused multiply-adds, that is worth a tile
	// of its own on another thread. 0: DefaultGrain.
	Grain int64

	// Vec reports whether the vector form of o exists for result element e (for
	// comparisons and stores, the operand's) at lanes lanes; for conversions
	// from is the operand's element, else None.
	Vec func(o Op, e, from Elem, lanes int) bool
}
