package loop

import (
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// FoldKind is how the operands of a fold are combined, and in which order.
type FoldKind uint8

// The kinds of folds. The number of an element is its row-major index over the
// axes of the For, in their order.
const (
	// Reduce combines one operand with the operation Reduce, in the order of 64
	// lanes and chunks of 4096 (numeric.Ordered).
	Reduce FoldKind = iota
	// Dot sums products of two operands: the same lanes, each starting with the
	// rounded product and continuing with fma (numeric.Dot32).
	Dot
	// Chain sums products of two operands in ascending chains of 4096
	// (numeric.Chain), with one rounding a term.
	Chain
	// ChainUnfused is Chain with two roundings a term, for the narrow formats.
	ChainUnfused
	// First is the first operand that is not 0, else 0: how trap codes join.
	First
	// ArgMin and ArgMax give the number of the first NaN, else of the first
	// extreme operand.
	ArgMin
	ArgMax
)

// Order is what a fold allows to be reordered.
type Order uint8

// The orders, from the freest to the strictest.
const (
	AnyOrder Order = iota // may be split and reordered at will
	Lanes                 // 64 lanes, chunks of 4096
	Chained               // one element after another, chunks of 4096
	Scan                  // one after another
)

// Fold combines what the body yields for it over all axes of a For. The first
// operands of the yields belong to the first fold, and so on.
type Fold struct {
	Kind   FoldKind
	Reduce op.ReduceKind // for Reduce
	DType  types.DType   // of operands and accumulator
	Out    Value
}

// Arity is the number of operands of f: how many yields belong to it.
func (f Fold) Arity() int {
	switch f.Kind {
	case Dot, Chain, ChainUnfused:
		return 2
	}
	return 1
}

// Order derives what may be reordered from kind and dtype alone: integers,
// bools, minima and maxima give the same bits in any order.
func (f Fold) Order() Order {
	exact := !f.DType.IsFloat()
	switch f.Kind {
	case Reduce:
		if exact || f.Reduce == op.RMin || f.Reduce == op.RMax {
			return AnyOrder
		}
		return Lanes
	case Dot:
		if exact {
			return AnyOrder
		}
		return Lanes
	case Chain, ChainUnfused:
		if exact {
			return AnyOrder
		}
		return Chained
	}
	return Scan
}

// Elements is the number of elements that the folds of f combine.
func (f *For) Elements() int64 {
	n := int64(1)
	for _, a := range f.Axes {
		n *= a.N
	}
	return n
}
