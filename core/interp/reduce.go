package interp

import (
	"fmt"
	"math"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// rows brings a tensor into rows of the reduced axes, flattened row-major in
// the order given, one row per element of the other axes; it returns the
// buffer itself where it already is.
func rows(buf []byte, t types.Type, kept, reduced []int64) []byte {
	dims := t.Shape()
	strides := rowMajor(dims)
	order := append(append([]int64{}, kept...), reduced...)
	same := true
	shape, src := make([]int64, len(order)), make([]int64, len(order))
	for k, a := range order {
		shape[k], src[k] = dims[a], strides[a]
		same = same && a == int64(k)
	}
	if same {
		return buf
	}
	out := make([]byte, len(buf))
	copyView(dense(out, shape), view{buf: buf, strides: src}, shape, t.DType.Size())
	return out
}

// otherAxes lists the axes below rank that are in none of the lists.
func otherAxes(rank int, lists ...[]int64) []int64 {
	var used [types.MaxRank]bool
	for _, l := range lists {
		for _, a := range l {
			used[a] = true
		}
	}
	var out []int64
	for a := range rank {
		if !used[a] {
			out = append(out, int64(a))
		}
	}
	return out
}

// sizeOf multiplies the dimensions of axes.
func sizeOf(t types.Type, axes []int64) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= t.Dims[a].Size
	}
	return n
}

// reduceOps gives how each reduction combines.
var reduceOps = [op.NumReduceKinds]numeric.Op{
	op.Sum: numeric.Add, op.Prod: numeric.Mul, op.RMin: numeric.Min, op.RMax: numeric.Max,
	op.RAnd: numeric.And, op.ROr: numeric.Or, op.RXor: numeric.Xor,
}

// Identity returns the result of an empty reduction without an initial value:
// sum +0, prod 1, min +inf or MAX, max -inf or MIN, and all ones, or/xor 0.
func Identity(k op.ReduceKind, d types.DType) uint64 {
	one := numeric.ConvertOf(types.U8, d)(1)
	top := ^uint64(0) >> (64 - uint(d.Bits()))
	switch k {
	case op.Prod:
		return one
	case op.RAnd:
		return top
	case op.RMin, op.RMax:
		inf := numeric.ConvertOf(types.F64, d)
		if k == op.RMin {
			return inf(math.Float64bits(math.Inf(1)))
		}
		return inf(math.Float64bits(math.Inf(-1)))
	}
	return 0
}

func compileReduce(_ *Machine, n *node) (exec, error) {
	k := op.ReduceKind(n.attrs.Int(op.KKind))
	if k < 0 || k >= op.NumReduceKinds {
		return nil, fmt.Errorf("unknown reduction %d", k)
	}
	t, ot := n.in[0], n.out[0]
	f := numeric.BinaryOf(reduceOps[k], t.DType)
	if f == nil {
		return nil, noSuch(n)
	}
	reduced := n.attrs.Ints(op.KAxes)
	kept := otherAxes(t.Rank(), reduced)
	length, count, size := int(sizeOf(t, reduced)), int(ot.NumElems()), t.DType.Size()
	ordered := t.DType.IsFloat() && (k == op.Sum || k == op.Prod)
	identity := Identity(k, t.DType)
	ins, o := n.ins, n.o
	return func(r *run, fr []val) error {
		buf, out := rows(fr[ins[0]].buf, t, kept, reduced), make([]byte, ot.NumBytes())
		for i := range count {
			if err := r.spend(1); err != nil {
				return err
			}
			var x uint64
			at := func(j int) uint64 { return getBits(buf, size, i*length+j) }
			switch {
			case length == 0 && len(ins) == 2:
				x = fr[ins[1]].bits
			case length == 0:
				x = identity
			case ordered:
				x = numeric.ReduceOrder(length, at, f)
			default:
				x = numeric.ReduceAny(length, at, f)
			}
			if length > 0 && len(ins) == 2 {
				x = f(fr[ins[1]].bits, x)
			}
			putBits(out, size, i, x)
		}
		setData(&fr[o], ot, out)
		return nil
	}, nil
}

func compileDot(_ *Machine, n *node) (exec, error) {
	t, ot := n.in[0], n.out[0]
	axis := []int64{n.attrs.Int(op.KAxis)}
	kept := otherAxes(t.Rank(), axis)
	length, count, size := int(sizeOf(t, axis)), int(ot.NumElems()), t.DType.Size()
	a, b, o := n.ins[0], n.ins[1], n.o
	return func(r *run, fr []val) error {
		x, y := rows(fr[a].buf, t, kept, axis), rows(fr[b].buf, t, kept, axis)
		out := make([]byte, ot.NumBytes())
		for i := range count {
			if err := r.spend(1); err != nil {
				return err
			}
			base := i * length
			if t.DType == types.F64 {
				at := func(b []byte) func(int) float64 {
					return func(j int) float64 { return math.Float64frombits(getBits(b, 8, base+j)) }
				}
				putBits(out, size, i, numeric.CanonF64(numeric.Dot64(length, at(x), at(y))))
			} else {
				at := func(b []byte) func(int) float32 {
					return func(j int) float32 { return math.Float32frombits(uint32(getBits(b, 4, base+j))) }
				}
				putBits(out, size, i, uint64(numeric.CanonF32(numeric.Dot32(length, at(x), at(y)))))
			}
		}
		setData(&fr[o], ot, out)
		return nil
	}, nil
}
