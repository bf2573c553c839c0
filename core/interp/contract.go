package interp

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// contraction computes out[i], ..., out[i+n-1] for the lhs row at x and the n
// rhs rows from y on, all of length k.
type contraction func(out []byte, i, x, y, n, k int)

// eachRow makes a contraction of one that computes a single element's bits.
func eachRow(size int, f func(x, y, k int) uint64) contraction {
	return func(out []byte, i, x, y, n, k int) {
		for j := range n {
			putBits(out, size, i+j, f(x, y+j*k, k))
		}
	}
}

func compileDotGeneral(_ *Machine, n *node) (exec, error) {
	xt, yt, ot := n.in[0], n.in[1], n.out[0]
	xb, yb := n.attrs.Ints(op.KLhsBatch), n.attrs.Ints(op.KRhsBatch)
	xc, yc := n.attrs.Ints(op.KLhsContract), n.attrs.Ints(op.KRhsContract)
	xf, yf := otherAxes(xt.Rank(), xb, xc), otherAxes(yt.Rank(), yb, yc)
	batch, rowsX, rowsY, k := int(sizeOf(xt, xb)), int(sizeOf(xt, xf)), int(sizeOf(yt, yf)), int(sizeOf(xt, xc))
	prepare, err := contractions(op.Acc(n.attrs.Int(op.KAcc)), xt.DType, yt.DType)
	if err != nil {
		return nil, err
	}
	a, b, o := n.ins[0], n.ins[1], n.o
	return func(r *run, fr []val) error {
		out := make([]byte, ot.NumBytes())
		x := rows(dataOf(fr[a], xt), xt, append(append([]int64{}, xb...), xf...), xc)
		y := rows(dataOf(fr[b], yt), yt, append(append([]int64{}, yb...), yf...), yc)
		f := prepare(x, y)
		// Blocks of lhs rows: each is work for the threads, and a place to stop.
		const block = 64
		for g := 0; g < batch*rowsX; g += block {
			if err := r.spend(int64(block) * int64(rowsY) * int64(k+1)); err != nil {
				return err
			}
			end := min(g+block, batch*rowsX)
			parallel(g, end, (end-g)*rowsY*k, func(i int) {
				f(out, i*rowsY, i*k, i/rowsX*rowsY*k, rowsY, k)
			})
		}
		setData(&fr[o], ot, out)
		return nil
	}, nil
}

// parallel runs f for lo..hi-1, on several threads when there is enough work.
// Each call writes only its own elements.
func parallel(lo, hi, work int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), hi-lo)
	if work < 1<<16 || workers < 2 {
		for i := lo; i < hi; i++ {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := lo + w; i < hi; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}

// contractions returns how to make the contraction from packed operands.
func contractions(acc op.Acc, x, y types.DType) (func(x, y []byte) contraction, error) {
	res, ok := op.AccResult(acc, x, y)
	if !ok {
		return nil, fmt.Errorf("acc %v does not take %v and %v", acc, x, y)
	}
	switch {
	case acc == op.AccI32 || acc == op.AccI64:
		size := res.Size()
		return func(bx, by []byte) contraction {
			p, q := toInts(bx, x), toInts(by, y)
			return eachRow(size, func(a, b, k int) uint64 { return uint64(numeric.ChainInt(k, p[a:], 1, q[b:], 1)) })
		}, nil
	case x == types.F64:
		chain := numeric.ChainFMA64
		if acc == op.AccUnfused {
			chain = numeric.ChainUnfused[float64]
		}
		return func(bx, by []byte) contraction {
			p, q := toF64s(bx), toF64s(by)
			return eachRow(8, func(a, b, k int) uint64 { return numeric.CanonF64(chain(k, p[a:], 1, q[b:], 1)) })
		}, nil
	}
	chain := numeric.ChainFMA32
	switch acc {
	case op.AccUnfused:
		chain = numeric.ChainUnfused[float32]
	case op.AccF64:
		chain = numeric.ChainF64
	}
	return func(bx, by []byte) contraction {
		p, q := toF32s(bx, x), toF32s(by, y)
		one := eachRow(4, func(a, b, k int) uint64 { return uint64(numeric.CanonF32(chain(k, p[a:], 1, q[b:], 1))) })
		if acc != op.AccFMA {
			return one
		}
		return func(out []byte, i, a, b, n, k int) {
			j := 0
			for ; j+4 <= n; j += 4 {
				c := q[b+j*k:]
				r := numeric.ChainFMA32x4(k, p[a:], [4][]float32{c, c[k:], c[2*k:], c[3*k:]})
				for m, v := range r {
					putBits(out, 4, i+j+m, uint64(numeric.CanonF32(v)))
				}
			}
			one(out, i+j, a, b+j*k, n-j, k)
		}
	}, nil
}

// toF32s widens f16, bf16 and f32 exactly.
func toF32s(b []byte, d types.DType) []float32 {
	size := d.Size()
	out := make([]float32, len(b)/size)
	for i := range out {
		x := getBits(b, size, i)
		if d == types.F32 {
			out[i] = math.Float32frombits(uint32(x))
		} else {
			out[i] = float32(numeric.ToF64(d, x))
		}
	}
	return out
}

func toF64s(b []byte) []float64 {
	out := make([]float64, len(b)/8)
	for i := range out {
		out[i] = math.Float64frombits(getBits(b, 8, i))
	}
	return out
}

// toInts extends each integer to 64 bits; sums and products modulo 2^64 are
// then right in every narrower width.
func toInts(b []byte, d types.DType) []int64 {
	size, w := d.Size(), uint(64-d.Bits())
	out := make([]int64, len(b)/size)
	for i := range out {
		x := getBits(b, size, i)
		if d.IsSigned() {
			x = uint64(int64(x<<w) >> w)
		}
		out[i] = int64(x)
	}
	return out
}
