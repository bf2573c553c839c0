// Package op declares every operation of the graph, once.
//
// One row per op gives its name, version, class, effect, attributes, the
// dtypes it takes and its type rule. The interpreter, the folder, the text
// form, the documentation page, the conformance cases and the plugins'
// op-support bits are all keyed by these rows; tests check that each of those
// tables has an entry for every row. What must hold: a row never changes
// meaning; a new meaning is a new version or a new op.
package op

import (
	"fmt"

	"github.com/kera-lang/kera/core/types"
)

// Code is an opcode. The numbers are part of the encoding.
type Code uint16

// The opcodes of op-set version 1. Numbers are never reused.
const (
	Invalid Code = 0

	Const    Code = 1
	Param    Code = 2
	Call     Code = 3
	Tuple    Code = 4
	Get      Code = 5
	Switch   Code = 6
	Loop     Code = 7
	Fusion   Code = 8
	TrapIf   Code = 9
	TrapJoin Code = 10

	Add             Code = 20
	Sub             Code = 21
	Mul             Code = 22
	Div             Code = 23
	Rem             Code = 24
	Neg             Code = 25
	Abs             Code = 26
	Min             Code = 27
	Max             Code = 28
	FMA             Code = 29
	Sqrt            Code = 30
	Floor           Code = 31
	Ceil            Code = 32
	Trunc           Code = 33
	RoundEven       Code = 34
	And             Code = 35
	Or              Code = 36
	Xor             Code = 37
	Not             Code = 38
	Shl             Code = 39
	Shr             Code = 40
	Popcnt          Code = 41
	Clz             Code = 42
	Ctz             Code = 43
	Compare         Code = 44
	Select          Code = 45
	Convert         Code = 46
	Bitcast         Code = 47
	Copysign        Code = 48
	AddOverflow     Code = 49
	SubOverflow     Code = 50
	MulOverflow     Code = 51
	ConvertOverflow Code = 52

	Iota      Code = 70
	Reshape   Code = 71
	Broadcast Code = 72
	Transpose Code = 73
	Slice     Code = 74
	Update    Code = 75
	Concat    Code = 76
	Gather    Code = 77

	Map        Code = 90
	Reduce     Code = 91
	Dot        Code = 92
	DotGeneral Code = 93
	Sort       Code = 94
	ArgMin     Code = 95
	ArgMax     Code = 96

	// MaxCode bounds opcodes, for tables indexed by them.
	MaxCode = 128
)

// SetVersion is the version of the op set declared here.
const SetVersion = 1

// Class groups ops by how backends treat them.
type Class uint8

// The op classes.
const (
	Structure Class = iota
	Elementwise
	Shape
	Parallel
)

var classNames = [...]string{"structure", "elementwise", "shape", "parallel"}

func (c Class) String() string { return classNames[c] }

// Effect says which resource token an op threads. All ops of version 1 are pure.
type Effect uint8

// The effects.
const (
	Pure Effect = iota
)

// dtypes sets, for the In column.
type dset uint16

const (
	dBool  dset = 1 << iota
	dInt        // signed and unsigned integers
	dFloat      // f32, f64
	dStore      // f16, bf16
	dAny   = dBool | dInt | dFloat | dStore
	dNum   = dInt | dFloat
	dBits  = dInt | dBool
)

func (s dset) has(d types.DType) bool {
	switch d.Class() {
	case types.ClassBool:
		return s&dBool != 0
	case types.ClassSigned, types.ClassUnsigned:
		return s&dInt != 0
	case types.ClassFloat:
		return s&dFloat != 0
	case types.ClassStorage:
		return s&dStore != 0
	}
	return false
}

// AttrSpec declares one attribute of an op.
type AttrSpec struct {
	Key  Key
	Kind AttrKind // 0: Bytes or Blob, for constants
}

// Info is the row of one op.
type Info struct {
	Code    Code
	Name    string
	Version uint16
	Class   Class
	Effect  Effect
	Arity   int // inputs; -1 when the rule decides
	Regions int // contained regions; -1 when the rule decides
	Attrs   []AttrSpec
	In      dset // dtypes of the (first) data operand
	Doc     string
	rule    rule
}

// Takes reports whether the op's data operands may have dtype d.
func (i *Info) Takes(d types.DType) bool { return i.In.has(d) }

func attrs(ks ...Key) []AttrSpec {
	out := make([]AttrSpec, len(ks))
	for i, k := range ks {
		out[i] = AttrSpec{k, keyKind(k)}
	}
	return out
}

func keyKind(k Key) AttrKind {
	switch k {
	case KAxes, KDims, KSizes, KStrides, KLhsBatch, KRhsBatch, KLhsContract, KRhsContract:
		return AInts
	case KValue:
		return 0
	}
	return AInt
}

var rows = []Info{
	{Const, "const", 1, Structure, Pure, 0, 0, attrs(KValue), dAny, "a constant tensor", ruleConst},
	{Param, "param", 1, Structure, Pure, 0, 0, attrs(KIndex), dAny, "a parameter of the enclosing region", ruleParam},
	{Call, "call", 1, Structure, Pure, -1, 1, nil, dAny, "the results of a region applied to the inputs", ruleCall},
	{Tuple, "tuple", 1, Structure, Pure, -1, 0, nil, dAny, "a tuple of the inputs", ruleTuple},
	{Get, "get", 1, Structure, Pure, 1, 0, attrs(KIndex), dAny, "one field of a tuple", ruleGet},
	{Switch, "switch", 1, Structure, Pure, -1, -1, nil, dAny, "the region chosen by the selector, the last for any other selector", ruleSwitch},
	{Loop, "loop", 1, Structure, Pure, -1, 2, attrs(KCarried), dAny, "a loop with carried values and a trip bound", ruleLoop},
	{Fusion, "fusion", 1, Structure, Pure, -1, 1, nil, dAny, "a region a backend runs as one loop nest", ruleCall},
	{TrapIf, "trap_if", 1, Structure, Pure, 1, 0, attrs(KKind), dBool, "the trap code `kind` where the input is true, else 0", ruleTrapIf},
	{TrapJoin, "trap_join", 1, Structure, Pure, 2, 0, nil, dInt, "the left trap code if it is not 0, else the right", ruleTrapJoin},

	{Add, "add", 1, Elementwise, Pure, 2, 0, nil, dNum, "sum; integers wrap", ruleSame},
	{Sub, "sub", 1, Elementwise, Pure, 2, 0, nil, dNum, "difference; integers wrap", ruleSame},
	{Mul, "mul", 1, Elementwise, Pure, 2, 0, nil, dNum, "product; integers wrap", ruleSame},
	{Div, "div", 1, Elementwise, Pure, 2, 0, nil, dNum, "quotient; integers truncate, x/0 is all ones, MIN/-1 is MIN", ruleSame},
	{Rem, "rem", 1, Elementwise, Pure, 2, 0, nil, dNum, "remainder with the sign of the left (exact fmod); x rem 0 is x for integers", ruleSame},
	{Neg, "neg", 1, Elementwise, Pure, 1, 0, nil, dNum, "negation; MIN wraps", ruleSame},
	{Abs, "abs", 1, Elementwise, Pure, 1, 0, nil, dNum, "absolute value; MIN wraps", ruleSame},
	{Min, "min", 1, Elementwise, Pure, 2, 0, nil, dNum, "IEEE 754-2019 minimum: NaN wins, -0 < +0", ruleSame},
	{Max, "max", 1, Elementwise, Pure, 2, 0, nil, dNum, "IEEE 754-2019 maximum: NaN wins, -0 < +0", ruleSame},
	{FMA, "fma", 1, Elementwise, Pure, 3, 0, nil, dFloat, "a*b + c with one rounding", ruleSame},
	{Sqrt, "sqrt", 1, Elementwise, Pure, 1, 0, nil, dFloat, "correctly rounded square root", ruleSame},
	{Floor, "floor", 1, Elementwise, Pure, 1, 0, nil, dFloat, "round towards minus infinity", ruleSame},
	{Ceil, "ceil", 1, Elementwise, Pure, 1, 0, nil, dFloat, "round towards plus infinity", ruleSame},
	{Trunc, "trunc", 1, Elementwise, Pure, 1, 0, nil, dFloat, "round towards zero", ruleSame},
	{RoundEven, "round_even", 1, Elementwise, Pure, 1, 0, nil, dFloat, "round to nearest, ties to even", ruleSame},
	{And, "and", 1, Elementwise, Pure, 2, 0, nil, dBits, "bitwise and", ruleSame},
	{Or, "or", 1, Elementwise, Pure, 2, 0, nil, dBits, "bitwise or", ruleSame},
	{Xor, "xor", 1, Elementwise, Pure, 2, 0, nil, dBits, "bitwise exclusive or", ruleSame},
	{Not, "not", 1, Elementwise, Pure, 1, 0, nil, dBits, "bitwise complement", ruleSame},
	{Shl, "shl", 1, Elementwise, Pure, 2, 0, nil, dInt, "shift left; the count is masked to width-1", ruleSame},
	{Shr, "shr", 1, Elementwise, Pure, 2, 0, nil, dInt, "shift right, arithmetic on signed types; the count is masked to width-1", ruleSame},
	{Popcnt, "popcnt", 1, Elementwise, Pure, 1, 0, nil, dInt, "number of one bits", ruleSame},
	{Clz, "clz", 1, Elementwise, Pure, 1, 0, nil, dInt, "leading zero bits; the width for 0", ruleSame},
	{Ctz, "ctz", 1, Elementwise, Pure, 1, 0, nil, dInt, "trailing zero bits; the width for 0", ruleSame},
	{Compare, "compare", 1, Elementwise, Pure, 2, 0, attrs(KKind, KOrder), dNum | dBool, "comparison, IEEE or total order", ruleCompare},
	{Select, "select", 1, Elementwise, Pure, 3, 0, nil, dBool, "the second input where the first is true, else the third", ruleSelect},
	{Convert, "convert", 1, Elementwise, Pure, 1, 0, nil, dAny, "conversion: one rounding to nearest even; float to integer truncates and saturates, NaN gives 0; integers wrap", ruleConvert},
	{Bitcast, "bitcast", 1, Elementwise, Pure, 1, 0, nil, dAny &^ dBool, "the same bits as another dtype of equal width, the NaN canonical", ruleBitcast},
	{Copysign, "copysign", 1, Elementwise, Pure, 2, 0, nil, dFloat, "magnitude of the first, sign of the second (the one NaN is positive)", ruleSame},
	{AddOverflow, "add_overflow", 1, Elementwise, Pure, 2, 0, nil, dInt, "whether the exact sum does not fit", rulePredicate},
	{SubOverflow, "sub_overflow", 1, Elementwise, Pure, 2, 0, nil, dInt, "whether the exact difference does not fit", rulePredicate},
	{MulOverflow, "mul_overflow", 1, Elementwise, Pure, 2, 0, nil, dInt, "whether the exact product does not fit", rulePredicate},
	{ConvertOverflow, "convert_overflow", 1, Elementwise, Pure, 1, 0, attrs(KTo), dNum, "whether the value, truncated, does not fit the integer dtype `to` (NaN does not)", ruleConvertOverflow},

	{Iota, "iota", 1, Shape, Pure, 0, 0, attrs(KAxis), dNum, "the index along an axis", ruleIota},
	{Reshape, "reshape", 1, Shape, Pure, 1, 0, nil, dAny, "the same elements, row-major, in another shape", ruleReshape},
	{Broadcast, "broadcast", 1, Shape, Pure, 1, 0, attrs(KAxes), dAny, "input axis k becomes output axis axes[k]; size 1 stretches", ruleBroadcast},
	{Transpose, "transpose", 1, Shape, Pure, 1, 0, attrs(KAxes), dAny, "output axis k is input axis axes[k]", ruleTranspose},
	{Slice, "slice", 1, Shape, Pure, -1, 0, attrs(KSizes, KStrides), dAny, "a strided window at starts clamped into range; zero from an empty source", ruleSlice},
	{Update, "update", 1, Shape, Pure, -1, 0, nil, dAny, "the first input with the second written at starts clamped into range", ruleUpdate},
	{Concat, "concat", 1, Shape, Pure, -1, 0, attrs(KAxis), dAny, "the inputs one after another along an axis", ruleConcat},
	{Gather, "gather", 1, Shape, Pure, 2, 0, attrs(KAxis), dAny, "slices of an axis at indices clamped into range; zero from an empty source", ruleGather},

	{Map, "map", 1, Parallel, Pure, -1, 1, attrs(KDims, KTraps), dAny, "a region evaluated at every index, traps joined in row-major order", ruleMap},
	{Reduce, "reduce", 1, Parallel, Pure, -1, 0, attrs(KAxes, KKind), dNum | dBool, "combination over axes in the fixed order", ruleReduce},
	{Dot, "dot", 1, Parallel, Pure, 2, 0, attrs(KAxis), dFloat, "sum of products over one axis with fma lanes", ruleDot},
	{DotGeneral, "dot_general", 1, Parallel, Pure, 2, 0, attrs(KAcc, KLhsBatch, KRhsBatch, KLhsContract, KRhsContract), dAny &^ dBool, "contraction as an ascending chain", ruleDotGeneral},
	{Sort, "sort", 1, Parallel, Pure, -1, 0, attrs(KAxis, KDescending), dNum | dBool, "stable sort by the first input in total order; the others follow", ruleSort},
	{ArgMin, "argmin", 1, Parallel, Pure, 1, 0, attrs(KAxis), dNum, "index of the first NaN, else of the first minimum, as i64", ruleArg},
	{ArgMax, "argmax", 1, Parallel, Pure, 1, 0, attrs(KAxis), dNum, "index of the first NaN, else of the first maximum, as i64", ruleArg},
}

// index maps opcodes to rows. It is computed from rows once and never written.
var index = func() (ix [MaxCode]*Info) {
	for i := range rows {
		r := &rows[i]
		if ix[r.Code] != nil {
			panic(fmt.Sprintf("BUG: opcode %d declared twice", r.Code))
		}
		ix[r.Code] = r
	}
	return ix
}()

// All returns the rows in declaration order. Do not modify them.
func All() []Info { return rows }

// Lookup returns the row of c.
func Lookup(c Code) (*Info, bool) {
	if c >= MaxCode || index[c] == nil {
		return nil, false
	}
	return index[c], true
}

// Info returns the row of c, which must exist.
func (c Code) Info() *Info {
	i, ok := Lookup(c)
	if !ok {
		panic(fmt.Sprintf("BUG: unknown opcode %d", uint16(c)))
	}
	return i
}

// String returns the op's name.
func (c Code) String() string {
	if i, ok := Lookup(c); ok {
		return i.Name
	}
	return fmt.Sprintf("op(%d)", uint16(c))
}

// Parse returns the opcode named s.
func Parse(s string) (Code, bool) {
	for i := range rows {
		if rows[i].Name == s {
			return rows[i].Code, true
		}
	}
	return Invalid, false
}
