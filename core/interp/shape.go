package interp

import (
	"math"
	"slices"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// view is a strided window of a buffer, in elements.
type view struct {
	buf     []byte
	base    int64
	strides []int64
}

// rowMajor returns the strides of a dense tensor.
func rowMajor(shape []int64) []int64 {
	s := make([]int64, len(shape))
	n := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

func dense(buf []byte, shape []int64) view { return view{buf: buf, strides: rowMajor(shape)} }

// product saturates: an index space without outputs may be larger than any
// tensor.
func product(shape []int64) int64 {
	if slices.Contains(shape, 0) {
		return 0
	}
	n := int64(1)
	for _, d := range shape {
		if n > math.MaxInt64/d {
			return math.MaxInt64
		}
		n *= d
	}
	return n
}

// copyView copies shape elements of size bytes from one view to another.
func copyView(dst, src view, shape []int64, size int) {
	if product(shape) == 0 {
		return
	}
	// Trailing axes that are dense in both views are copied as one run.
	run, rank := int64(1), len(shape)
	for rank > 0 && (shape[rank-1] == 1 || dst.strides[rank-1] == run && src.strides[rank-1] == run) {
		run *= shape[rank-1]
		rank--
	}
	n := run * int64(size)
	if rank == 0 {
		copy(dst.buf[dst.base*int64(size):][:n], src.buf[src.base*int64(size):][:n])
		return
	}
	inner, ds, ss := shape[rank-1], dst.strides[rank-1], src.strides[rank-1]
	outer := shape[:rank-1]
	index := make([]int64, rank-1)
	for range product(outer) {
		d, s := dst.base, src.base
		for k, i := range index {
			d += i * dst.strides[k]
			s += i * src.strides[k]
		}
		if run == 1 {
			for range inner {
				putBits(dst.buf, size, int(d), getBits(src.buf, size, int(s)))
				d, s = d+ds, s+ss
			}
		} else {
			for range inner {
				copy(dst.buf[d*int64(size):][:n], src.buf[s*int64(size):][:n])
				d, s = d+ds, s+ss
			}
		}
		next(index, outer)
	}
}

// dataOf gives a value's dense bytes, a scalar's too.
func dataOf(v val, t types.Type) []byte {
	if t.Rank() > 0 {
		return v.buf
	}
	b := make([]byte, t.DType.Size())
	putBits(b, len(b), 0, v.bits)
	return b
}

// setData puts dense bytes in a slot of type t.
func setData(dst *val, t types.Type, b []byte) {
	if t.Rank() > 0 {
		dst.buf = b
		return
	}
	dst.bits = getBits(b, t.DType.Size(), 0)
}

// fromView makes a closure that fills the output from a view of input 0.
func fromView(n *node, v func(fr []val) (view, bool)) exec {
	t, shape, size, o := n.out[0], n.out[0].Shape(), n.out[0].DType.Size(), n.o
	return func(_ *run, fr []val) error {
		out := make([]byte, t.NumBytes())
		if src, ok := v(fr); ok {
			copyView(dense(out, shape), src, shape, size)
		}
		setData(&fr[o], t, out)
		return nil
	}
}

func compileIota(_ *Machine, n *node) (exec, error) {
	t, o := n.out[0], n.o
	shape, size := t.Shape(), t.DType.Size()
	axis := n.attrs.Int(op.KAxis)
	inner := product(shape[axis+1:])
	enc := numeric.ConvertOf(types.I64, t.DType)
	return func(_ *run, fr []val) error {
		out := make([]byte, t.NumBytes())
		for i := range t.NumElems() {
			putBits(out, size, int(i), enc(uint64(i/inner%shape[axis])))
		}
		fr[o].buf = out
		return nil
	}, nil
}

func compileReshape(_ *Machine, n *node) (exec, error) {
	a, o, from, to := n.ins[0], n.o, n.in[0], n.out[0]
	return func(_ *run, fr []val) error {
		setData(&fr[o], to, dataOf(fr[a], from))
		return nil
	}, nil
}

func compileBroadcast(_ *Machine, n *node) (exec, error) {
	a, t := n.ins[0], n.in[0]
	src, out := t.Shape(), n.out[0].Shape()
	dense := rowMajor(src)
	strides := make([]int64, len(out))
	for k, axis := range n.attrs.Ints(op.KAxes) {
		if src[k] == out[axis] {
			strides[axis] = dense[k]
		}
	}
	return fromView(n, func(fr []val) (view, bool) {
		return view{buf: dataOf(fr[a], t), strides: strides}, true
	}), nil
}

func compileTranspose(_ *Machine, n *node) (exec, error) {
	a, t := n.ins[0], n.in[0]
	dense := rowMajor(t.Shape())
	strides := make([]int64, len(dense))
	for k, axis := range n.attrs.Ints(op.KAxes) {
		strides[k] = dense[axis]
	}
	return fromView(n, func(fr []val) (view, bool) {
		return view{buf: dataOf(fr[a], t), strides: strides}, true
	}), nil
}

// windowBase clamps each start so that a window spanning span[k] elements of
// axis k lies inside, and returns the offset of its first element.
func windowBase(fr []val, starts []int32, dims, span, strides []int64) int64 {
	base := int64(0)
	for k, s := range starts {
		base += max(0, min(int64(fr[s].bits), dims[k]-span[k])) * strides[k]
	}
	return base
}

func compileSlice(_ *Machine, n *node) (exec, error) {
	a, t, starts := n.ins[0], n.in[0], n.ins[1:]
	dims, sizes, steps := t.Shape(), n.attrs.Ints(op.KSizes), n.attrs.Ints(op.KStrides)
	dense := rowMajor(dims)
	span, strides := make([]int64, len(dims)), make([]int64, len(dims))
	for k := range dims {
		span[k] = 0
		if sizes[k] > 0 {
			span[k] = (sizes[k]-1)*steps[k] + 1
		}
		strides[k] = steps[k] * dense[k]
	}
	empty := product(dims) == 0
	return fromView(n, func(fr []val) (view, bool) {
		if empty {
			return view{}, false // zeros
		}
		return view{buf: dataOf(fr[a], t), base: windowBase(fr, starts, dims, span, dense), strides: strides}, true
	}), nil
}

func compileUpdate(_ *Machine, n *node) (exec, error) {
	a, w, o, starts := n.ins[0], n.ins[1], n.o, n.ins[2:]
	t, wt := n.in[0], n.in[1]
	dims, shape, size := t.Shape(), wt.Shape(), t.DType.Size()
	strides := rowMajor(dims)
	mode, p := n.inPlace, n.plan
	return func(_ *run, fr []val) error {
		var out []byte
		if mode == always || mode == warm && p.warm {
			out = fr[a].buf
			fr[a].buf = nil
		} else {
			out = append([]byte(nil), dataOf(fr[a], t)...)
		}
		base := windowBase(fr, starts, dims, shape, strides)
		copyView(view{out, base, strides}, dense(dataOf(fr[w], wt), shape), shape, size)
		setData(&fr[o], t, out)
		return nil
	}, nil
}

func compileConcat(_ *Machine, n *node) (exec, error) {
	axis, o, t := n.attrs.Int(op.KAxis), n.o, n.out[0]
	strides, size := rowMajor(t.Shape()), t.DType.Size()
	ins, ts := n.ins, n.in
	return func(_ *run, fr []val) error {
		out := make([]byte, t.NumBytes())
		base := int64(0)
		for i, s := range ins {
			shape := ts[i].Shape()
			copyView(view{out, base * strides[axis], strides}, dense(fr[s].buf, shape), shape, size)
			base += shape[axis]
		}
		fr[o].buf = out
		return nil
	}, nil
}

func compileGather(_ *Machine, n *node) (exec, error) {
	a, ix, o := n.ins[0], n.ins[1], n.o
	t, it, ot := n.in[0], n.in[1], n.out[0]
	axis, dims := n.attrs.Int(op.KAxis), n.in[0].Shape()
	outer, inner := product(dims[:axis]), product(dims[axis+1:])*int64(t.DType.Size())
	count, size := int(it.NumElems()), it.DType.Size()
	return func(_ *run, fr []val) error {
		src, idx, out := dataOf(fr[a], t), dataOf(fr[ix], it), make([]byte, ot.NumBytes())
		if len(src) > 0 {
			to := out
			for p := range outer {
				for k := range count {
					i := max(0, min(indexOf(it.DType, getBits(idx, size, k)), dims[axis]-1))
					from := (p*dims[axis] + i) * inner
					copy(to[:inner], src[from:from+inner])
					to = to[inner:]
				}
			}
		}
		setData(&fr[o], ot, out)
		return nil
	}, nil
}
