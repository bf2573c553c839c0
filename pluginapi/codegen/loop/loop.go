// Package loop is the plan as data: what a backend computes, as loop nests over
// numbered buffers, before anything is decided about registers or code.
//
//	graph --nest--> loop --facts--> loop --schedule--> loop + decisions --lower--> lir
//
// A Program is a tree of statements. Scalars are SSA values with the dtypes of
// the language; tensors are buffers, read and written element by element at
// affine offsets. A nest (For) has named axes of known extents; a map is a nest
// that stores, a reduction one that folds, a contraction one that does both.
// Each fold carries its order from numerics.md, so what may be reordered can be
// read off the data.
//
// What must hold (Verify): every value is defined once, before its uses, in the
// same block or an enclosing one; every access is inside its buffer for every
// value the axes and clamps can take; an input is never written. Every statement
// but Store is total and has no effect, so computing one that was not asked for
// is harmless: this is what lets bodies with branches and loops run in vectors.
package loop

import (
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Value names an SSA scalar of a Program; NoValue is none.
type Value int32

// NoValue is the absent value.
const NoValue Value = -1

// Program is one planned computation.
type Program struct {
	Name   string
	Bufs   []Buffer
	Values []ValueInfo
	Params []Value // scalars that are given
	Body   *Block  // yields the scalar results
}

// ValueInfo describes a value: its dtype and the graph node it belongs to.
type ValueInfo struct {
	DType types.DType
	Node  int32
}

// BufKind says what a buffer is to the program.
type BufKind uint8

// The kinds of buffers.
const (
	In   BufKind = iota // given, never written
	Out                 // a result: every element is written once
	Temp                // memory of the program's own
)

// Buffer is memory for the elements of one tensor, row-major unless its
// accesses say otherwise. Given buffers may be windows of something larger;
// Elems then counts from the first to the last element that may be touched.
type Buffer struct {
	Kind  BufKind
	DType types.DType
	Elems int64
	Node  int32
	// Alias, on an Out, is the In (its number plus one) whose memory it takes over:
	// an element may be overwritten once nothing reads it any more. 0: none.
	Alias int
	// Exit says that the elements leave the program's keeping, so that a NaN in
	// them has to be the canonical one.
	Exit bool
}

// Block is a list of statements and the values it yields to its owner: a For's
// body the operands of its folds, a Loop's condition one bool and its body the
// next carried values, a Switch's arm the results, the program's body the
// program's results.
type Block struct {
	Stmts []Stmt
	Yield []Value
}

// Stmt is one of Const, Op, Index, Clamp, Load, Store, For, Loop, Switch.
type Stmt interface {
	// Defs appends the values that the statement itself defines in the block it
	// stands in.
	Defs(dst []Value) []Value
	// Uses appends the values that it uses, those of nested blocks left out.
	Uses(dst []Value) []Value
	// Blocks returns its nested blocks.
	Blocks() []*Block
}

// Const is a constant, as the bits of its dtype.
type Const struct {
	Out  Value
	Bits uint64
}

// Op is an elementwise operation, or trap_if or trap_join, on scalars.
type Op struct {
	Out   Value
	Code  op.Code
	Attrs op.Attrs
	Args  []Value
}

// Index is an i64 that is affine in others. It never overflows.
type Index struct {
	Out Value
	At  Affine
}

// Clamp is min(max(In, 0), Hi) as an i64, for an integer of any dtype: what an
// index is before it is used.
type Clamp struct {
	Out, In Value
	Hi      int64
}

// Load reads the element at offset At (in elements) of a buffer.
type Load struct {
	Out Value
	Buf int
	At  Affine
}

// Store writes an element.
type Store struct {
	Buf int
	At  Affine
	Val Value
}

// Axis is one dimension of a nest: Var runs over 0..N-1.
type Axis struct {
	Var Value
	N   int64
}

// For runs its body once for every index of its axes. Bodies do not depend on
// each other except through the folds, so the trips may run in any order that
// the folds allow. All extents are at least 1.
type For struct {
	Axes  []Axis
	Body  *Block
	Folds []Fold
	Sched *Schedule // filled by the scheduler
}

// Carry is a scalar that a Loop carries from trip to trip.
type Carry struct {
	Init  Value // before the first trip
	Param Value // in the condition and the body
	Out   Value // after the last trip
}

// Loop runs trip after trip. With Cond nil it runs Count trips; otherwise it
// runs while Cond yields true and the trip number is below Bound.
type Loop struct {
	Trip  Value // the trip number in condition and body, an i64
	Count int64
	Bound Value // an i64; NoValue when counted
	Carry []Carry
	Cond  *Block
	Body  *Block
	Trips Value // how many trips ran, an i64
}

// Switch chooses an arm: number Sel, or the last for any other.
type Switch struct {
	Sel  Value
	Arms []*Block
	Out  []Value
}

// Walk calls f for every statement of b, owners before what they contain.
func Walk(b *Block, f func(Stmt)) {
	for _, s := range b.Stmts {
		f(s)
		for _, c := range s.Blocks() {
			Walk(c, f)
		}
	}
}
