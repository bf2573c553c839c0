package plan

import (
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// operand is what a graph value has become: a scalar in an SSA value, an index
// expression (an i64 scalar known to be affine), a window of a buffer, or a
// tuple of operands. A lazy operand is a pointwise node that is computed where
// it is used.
type operand struct {
	typ   types.Type
	kind  operandKind
	val   lir.Value // inScalar
	aff   affine    // inAffine
	view  view      // inMemory
	elems []operand // inTuple
	lazy  *lazy     // inLazy

	// known says that an inScalar's value is the constant bits, whatever code
	// computes it: checks that a range proves away, and the codes joined of them.
	known bool
	bits  int64
}

type operandKind uint8

const (
	inScalar operandKind = iota
	inAffine
	inMemory
	inTuple
	inLazy
)

// view is a strided window: element index i is at off + sum i[d]*strides[d],
// in elements of the buffer.
type view struct {
	buf     int
	alloc   *alloc // the work memory behind it, nil for others
	off     affine
	strides []int64
}

func dense(dims []int64) []int64 {
	out := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		out[i] = n
		n *= dims[i]
	}
	return out
}

func numElems(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// contiguous reports whether the view's elements are dense and row-major.
func (v view) contiguous(dims []int64) bool {
	want := dense(dims)
	for i := range dims {
		if dims[i] > 1 && v.strides[i] != want[i] {
			return false
		}
	}
	return true
}

// at returns the element offset of an index.
func (v view) at(idx []affine) affine {
	a := v.off
	for i, x := range idx {
		a = a.add(x.scale(v.strides[i]))
	}
	return a
}
