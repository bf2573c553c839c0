// Package lir is the loop IR: what the loop plan hands to a backend.
//
// A function is structured code over SSA values: straight-line operations,
// counted loops, while loops and ifs with carried values, and loads and stores
// on numbered buffers. It says everything about semantics (order, lanes,
// rounding, traps) and nothing about registers or addresses, so that one
// lowering of each graph op serves every CPU-like target:
//
//	graph --plan--> lir --isel--> machine IR --> bytes     (x86, arm64, riscv)
//	                lir ---------> stack code              (wasm)
//
// Scalars follow WebAssembly: bool and the integers up to 32 bits are I32
// (bool 0 or 1; narrow integers kept sign- or zero-extended by explicit ops
// that the plan emits), 64-bit integers I64, floats F32 and F64. Ix is an
// integer as wide as an address: loop counters and offsets. Vectors are lanes
// of I8, I16, I32, I64, F32 or F64, any power of two of them up to 128;
// a backend lowers what its Target.Vec declares. A vector comparison gives a Mask of as many
// lanes as it has and as wide ones; MCast makes it fit lanes of another width.
//
// What must hold: every value is defined once, before its uses, in the same
// block or an enclosing one; buffers of different kinds or indices do not
// overlap, work buffers overlap exactly where their byte ranges do (memory is
// reused); integer division is guarded by the plan (never by zero, never
// MIN/-1); every operation is total apart from that; NaN payloads are
// arbitrary until Canon.
package lir

import "fmt"

// Elem is the element of a value type.
type Elem uint8

// The element types.
const (
	None Elem = iota
	I32
	I64
	F32
	F64
	Ix   // address-sized integer, scalar only: 32 bits on wasm32, 64 on x86-64
	Mask // result of a vector comparison
	I8   // vector lanes only: scalars of 8 and 16 bits are I32
	I16
)

var elemNames = [...]string{"none", "i32", "i64", "f32", "f64", "ix", "mask", "i8", "i16"}

func (e Elem) String() string { return elemNames[e] }

// Size returns the bytes of an element; Ix and Mask have none of their own.
func (e Elem) Size() int {
	switch e {
	case I32, F32:
		return 4
	case I64, F64:
		return 8
	case I8:
		return 1
	case I16:
		return 2
	}
	return 0
}

// IsFloat reports whether e is F32 or F64.
func (e Elem) IsFloat() bool { return e == F32 || e == F64 }

// Type is a scalar (Lanes 1) or a vector. For a Mask, Bits is the width of the
// lanes it was compared at (8 to 64); otherwise it is 0.
type Type struct {
	Elem  Elem
	Lanes uint8
	Bits  uint8
}

// The scalar types.
var (
	TI32 = Type{I32, 1, 0}
	TI64 = Type{I64, 1, 0}
	TF32 = Type{F32, 1, 0}
	TF64 = Type{F64, 1, 0}
	TIx  = Type{Ix, 1, 0}
)

// Vec returns the vector type of n lanes of e.
func Vec(e Elem, n int) Type { return Type{e, uint8(n), 0} }

// MaskOf returns the mask type of comparing vectors of type t.
func MaskOf(t Type) Type { return Type{Mask, t.Lanes, uint8(t.Elem.Size() * 8)} }

// IsVec reports whether t has lanes.
func (t Type) IsVec() bool { return t.Lanes > 1 }

// Scalar returns the type of one lane of t.
func (t Type) Scalar() Type { return Type{t.Elem, 1, 0} }

// Carrier is the type that scalars of t travel in: I32 for 8 and 16 bits.
func (t Type) Carrier() Type {
	if t.Elem == I8 || t.Elem == I16 {
		return TI32
	}
	return t
}

func (t Type) String() string {
	switch {
	case t.Elem == Mask:
		return fmt.Sprintf("mask%dx%d", t.Bits, t.Lanes)
	case t.Lanes > 1:
		return fmt.Sprintf("%vx%d", t.Elem, t.Lanes)
	}
	return t.Elem.String()
}

// Mem is how a load or store sees memory.
type Mem uint8

// The memory forms. Narrow forms load into I32 (extended as named) and store
// the low bits of I32; for vectors of I8 and I16 they are the lane's own size and
// the sign does not matter; for a Mask, M8U is stored bools: a lane is set by a
// byte that is not 0, and stored as 0 or 1. MF16 and MBF16 are F32 (scalar or
// lanes) in two bytes: loads are exact, stores round to nearest even and give
// every NaN as the one NaN.
const (
	M8S Mem = iota
	M8U
	M16S
	M16U
	M32 // I32 or F32, by the value's type
	M64 // I64 or F64
	MF16
	MBF16
)

var memInfo = [...]struct {
	name string
	size int
}{{"8s", 1}, {"8u", 1}, {"16s", 2}, {"16u", 2}, {"32", 4}, {"64", 8}, {"f16", 2}, {"bf16", 2}}

func (m Mem) String() string { return memInfo[m].name }

// Size returns the bytes of one element in memory.
func (m Mem) Size() int { return memInfo[m].size }

// BufKind says where a buffer lives.
type BufKind uint8

// The buffer kinds.
const (
	BufIn    BufKind = iota // in[Index] + Offset, read only
	BufOut                  // out[Index] + Offset
	BufWork                 // work + Offset
	BufConst                // Module.Consts[Index] + Offset, stored with the code, read only
)

var bufKindNames = [...]string{"in", "out", "work", "const"}

func (k BufKind) String() string { return bufKindNames[k] }

// Buf is a region of memory a function may touch. Accesses stay within Bytes.
// Every buffer starts at an address aligned to 64 bytes, except that Offset may
// shift it.
type Buf struct {
	Kind   BufKind
	Index  int
	Offset int64
	Bytes  int64
}

// Value names an SSA value of a function; NoValue is none.
type Value int32

// NoValue is the absent value.
const NoValue Value = -1

// Addr is an address in a buffer: base + Index*Scale + Disp, where Index is an
// Ix value or NoValue and Scale is 1, 2, 4 or 8. Index*Scale + Disp is never
// negative.
type Addr struct {
	Buf   int
	Index Value
	Scale uint8
	Disp  int64
}

// Stmt is one operation or one structured statement.
type Stmt struct {
	Op      Op
	Node    int32 // index of the graph node this is for (provenance)
	Type    Type  // result type (operand type for comparisons and stores)
	Args    []Value
	Results []Value // one for operations; the final carried values for For, While, If
	Imm     int64   // Const: bits of one lane; Extract, LaneDown: lane count; Zip: half; Gather, Scatter: stride; For: step
	Mem     Mem
	Addr    Addr
	Blocks  []*Block // For: body. While: condition, body. If: then, else

	// Grain, on a For without carried values, says that its trips are
	// independent of each other and how many of them are worth a tile of their
	// own. 0: run them in order.
	Grain int64
}

// Block is a list of statements with parameters and the values it yields.
//
//	For    params: counter (Ix), carried...   yields: carried...
//	While  condition params: carried...       yields: one I32 (0 ends the loop)
//	       body params: carried...            yields: carried...
//	If     no params                          yields: the results
type Block struct {
	Params []Value
	Stmts  []Stmt
	Yield  []Value
}

// Func is one phase function: int32 f(in, out, work, tile).
type Func struct {
	Name  string
	Bufs  []Buf
	Types []Type // of each Value
	Tile  Value  // the tile number, an Ix
	Body  *Block // yields the I32 trap code
}

// Module is what a backend compiles into one artifact.
type Module struct {
	Funcs  []*Func
	Consts [][]byte // read-only data of BufConst buffers, 64-byte aligned
}

// TypeOf returns the type of v.
func (f *Func) TypeOf(v Value) Type { return f.Types[v] }
