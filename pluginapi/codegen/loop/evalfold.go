package loop

import (
	"fmt"
	"math"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// nest runs a For in row-major order and folds what its trips yield.
func (m *evaluator) nest(s *For) error {
	n := s.Elements()
	var got [][]uint64
	for at := range n {
		for i, rest := len(s.Axes)-1, at; i >= 0; i-- {
			m.v[s.Axes[i].Var] = uint64(rest % s.Axes[i].N)
			rest /= s.Axes[i].N
		}
		y, err := m.block(s.Body)
		if err != nil {
			return err
		}
		if len(s.Folds) > 0 {
			got = append(got, y)
		}
	}
	first := 0
	for _, f := range s.Folds {
		x, err := f.eval(len(got), func(i, k int) uint64 { return got[i][first+k] })
		if err != nil {
			return err
		}
		m.v[f.Out] = x
		first += f.Arity()
	}
	return nil
}

var reduceOps = [op.NumReduceKinds]numeric.Op{op.Sum: numeric.Add, op.Prod: numeric.Mul, op.RMin: numeric.Min,
	op.RMax: numeric.Max, op.RAnd: numeric.And, op.ROr: numeric.Or, op.RXor: numeric.Xor}

// eval combines n >= 1 elements; at gives operand k of element i.
func (f Fold) eval(n int, at func(i, k int) uint64) (uint64, error) {
	one := func(i int) uint64 { return at(i, 0) }
	add, mul := numeric.BinaryOf(numeric.Add, f.DType), numeric.BinaryOf(numeric.Mul, f.DType)
	fma := numeric.TernaryOf(numeric.FMA, f.DType)
	if fma == nil && add != nil && mul != nil || f.Kind == ChainUnfused {
		fma = func(a, b, c uint64) uint64 { return add(mul(a, b), c) }
	}
	switch f.Kind {
	case Reduce:
		g := numeric.BinaryOf(reduceOps[f.Reduce], f.DType)
		switch {
		case g == nil:
		case f.Order() == Lanes:
			return numeric.ReduceOrder(n, one, g), nil
		default:
			return numeric.ReduceAny(n, one, g), nil
		}
	case Dot:
		switch f.DType {
		case types.F32:
			x := func(k int) func(int) float32 {
				return func(i int) float32 { return math.Float32frombits(uint32(at(i, k))) }
			}
			return uint64(numeric.CanonF32(numeric.Dot32(n, x(0), x(1)))), nil
		case types.F64:
			x := func(k int) func(int) float64 {
				return func(i int) float64 { return math.Float64frombits(at(i, k)) }
			}
			return numeric.CanonF64(numeric.Dot64(n, x(0), x(1))), nil
		}
	case Chain, ChainUnfused:
		if fma != nil {
			return numeric.Chain(n, 0, func(acc uint64, i int) uint64 { return fma(at(i, 0), at(i, 1), acc) }, add), nil
		}
	case First:
		for i := range n {
			if x := one(i); x != 0 {
				return x, nil
			}
		}
		return 0, nil
	case ArgMin, ArgMax:
		best := 0
		for i := range n {
			k, b := numeric.TotalKey(f.DType, one(i)), numeric.TotalKey(f.DType, one(best))
			if f.DType.IsFloating() && numeric.IsNaN(f.DType, one(i)) {
				return uint64(i), nil
			}
			if f.Kind == ArgMin && k < b || f.Kind == ArgMax && k > b {
				best = i
			}
		}
		return uint64(best), nil
	}
	return 0, fmt.Errorf("no fold of kind %d on %v", f.Kind, f.DType)
}
