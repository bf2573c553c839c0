package interp

import (
	"cmp"
	"slices"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// keyed is an element's total-order key and its place.
type keyed struct {
	key uint64
	at  int32
}

// lanes calls f for each lane of axis with the element index of its first
// element; consecutive elements are stride apart.
func lanes(r *run, t types.Type, axis int64, f func(lane, first, stride int)) error {
	dims := t.Shape()
	inner, length := int(product(dims[axis+1:])), int(dims[axis])
	for o := range int(product(dims[:axis])) {
		for i := range inner {
			if err := r.spend(int64(length)); err != nil {
				return err
			}
			f(o*inner+i, o*length*inner+i, inner)
		}
	}
	return nil
}

// compileSort sorts stably by the first input; equal keys keep their order
// also when descending.
func compileSort(_ *Machine, n *node) (exec, error) {
	t, axis := n.in[0], n.attrs.Int(op.KAxis)
	length, size := int(t.Dims[axis].Size), t.DType.Size()
	flip := uint64(0)
	if n.attrs.Int(op.KDescending) == 1 {
		flip = ^uint64(0)
	}
	ins, ts, o := n.ins, n.in, n.o
	return func(r *run, fr []val) error {
		outs := make([][]byte, len(ins))
		for i, s := range ins {
			outs[i] = make([]byte, len(fr[s].buf))
		}
		keys, lane := fr[ins[0]].buf, make([]keyed, length)
		err := lanes(r, t, axis, func(_, first, stride int) {
			for k := range lane {
				lane[k] = keyed{numeric.TotalKey(t.DType, getBits(keys, size, first+k*stride)) ^ flip, int32(k)}
			}
			slices.SortFunc(lane, func(a, b keyed) int {
				if a.key != b.key {
					return cmp.Compare(a.key, b.key)
				}
				return int(a.at) - int(b.at)
			})
			for i, s := range ins {
				sz := ts[i].DType.Size()
				for k, e := range lane {
					putBits(outs[i], sz, first+k*stride, getBits(fr[s].buf, sz, first+int(e.at)*stride))
				}
			}
		})
		for i := range outs {
			fr[int(o)+i].buf = outs[i]
		}
		return err
	}, nil
}

// compileArg serves argmin and argmax: the first NaN, else the first extreme in
// total order.
func compileArg(_ *Machine, n *node) (exec, error) {
	t, ot, axis := n.in[0], n.out[0], n.attrs.Int(op.KAxis)
	length, size := int(t.Dims[axis].Size), t.DType.Size()
	flip := uint64(0)
	if n.op == op.ArgMax {
		flip = ^uint64(0)
	}
	a, o := n.ins[0], n.o
	return func(r *run, fr []val) error {
		src, out := fr[a].buf, make([]byte, ot.NumBytes())
		err := lanes(r, t, axis, func(lane, first, stride int) {
			best, at := uint64(0), 0
			for k := range length {
				x := getBits(src, size, first+k*stride)
				if numeric.IsNaN(t.DType, x) {
					at = k
					break
				}
				if key := numeric.TotalKey(t.DType, x) ^ flip; k == 0 || key < best {
					best, at = key, k
				}
			}
			putBits(out, 8, lane, uint64(at))
		})
		setData(&fr[o], ot, out)
		return err
	}, nil
}
