package interp

import (
	"bytes"
	"context"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestElements reads and writes single elements at starts inside and outside
// the tensor, for every dtype and ranks 1 to 3, in a loop whose body keeps the
// operand (the first write must copy) and writes twice (the second may not).
// The plain walk says what must come out.
func TestElements(t *testing.T) {
	ctx := context.Background()
	for _, d := range types.DTypes() {
		for rank, dims := range [][]int64{{5}, {3, 4}, {2, 3, 2}} {
			b := newTB(t)
			xt, st := types.Tensor(d, dims...), types.Scalar(types.I64)
			ones := make([]int64, rank+1)
			for k := range ones {
				ones[k] = 1
			}
			// Loop parameters: trip, x, last read, start.
			ps := []types.Type{st, xt, types.Scalar(d), st}
			q := make([]graph.Ref, len(ps))
			for i, p := range ps {
				q[i] = b.Param(i, p)
			}
			at := b.N(op.Sub, nil, q[0], q[3])
			starts := []graph.Ref{at, q[0], at}[:rank+1]
			back := []graph.Ref{q[0], at, q[0]}[:rank+1]
			read := func(x graph.Ref, s []graph.Ref) graph.Ref {
				attrs := op.NewAttrs(op.Ints(op.KSizes, ones...), op.Ints(op.KStrides, ones...))
				return b.Reshape(b.N(op.Slice, attrs, append([]graph.Ref{x}, s...)...))
			}
			write := func(x, v graph.Ref, s []graph.Ref) graph.Ref {
				return b.N(op.Update, nil, append([]graph.Ref{x, b.Reshape(v, ones...)}, s...)...)
			}
			v := read(q[1], starts)
			next := write(write(q[1], q[2], back), v, starts)
			body := b.Region(ps, next, read(next, back))
			cond := b.Region(ps, b.Bool(true))
			p := []graph.Ref{b.Param(0, xt), b.Param(1, types.Scalar(d)), b.Param(2, st)}
			loop := b.Apply(op.Loop, carried(2), []graph.RegionID{cond, body}, append([]graph.Ref{b.I64(6)}, p...)...)
			x := b.Region([]types.Type{xt, types.Scalar(d), st}, loop[0], loop[1], p[0])
			for n := range 2 * genKinds {
				in := GenAll([]types.Type{xt, types.Scalar(d)}, 5, n)
				in = append(in, ScalarValue(types.I64, uint64(n-4)))
				got, err := New(b.g.Store, DefaultLimits()).EvalRegion(ctx, x, in)
				if err != nil {
					t.Fatal(err)
				}
				want, err := NewPlain(b.g.Store, DefaultLimits()).EvalRegion(ctx, x, in)
				if err != nil {
					t.Fatal(err)
				}
				for k := range want {
					if !bytes.Equal(got[k].Data, want[k].Data) {
						t.Errorf("%v case %d result %d: %s, plain %s", xt, n, k, show(got[k]), show(want[k]))
					}
				}
			}
		}
	}
}
