package interp

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// randomBody builds a region of two indices, a scalar and a tensor, with
// shared subexpressions, from ops that mix them.
func randomBody(b *tb, r *rand.Rand) graph.RegionID {
	params := []string{"i64", "i64", "i64", "i64[3]"}
	ps := b.params(params...)
	scalars, tensors := []graph.Ref{ps[0], ps[1], ps[2], b.I64(3)}, []graph.Ref{ps[3]}
	tt := typ(b.t, "i64[3]")
	s := func() graph.Ref { return scalars[r.IntN(len(scalars))] }
	v := func() graph.Ref { return tensors[r.IntN(len(tensors))] }
	for range 4 + r.IntN(16) {
		switch r.IntN(8) {
		case 0:
			scalars = append(scalars, b.N(op.Sub, nil, s(), s()))
		case 1:
			scalars = append(scalars, b.Reduce(op.Sum, v(), 0))
		case 2:
			tensors = append(tensors, b.Broadcast(s(), tt))
		case 3:
			tensors = append(tensors, b.N(op.Mul, nil, v(), v()))
		case 4:
			one := b.Reshape(s(), 1)
			tensors = append(tensors, b.N(op.Update, nil, v(), one, s()))
		case 5:
			scalars = append(scalars, b.N(op.Gather, op.Attrs{op.Int(op.KAxis, 0)}, v(), s()))
		case 6:
			tensors = append(tensors, b.N(op.Sort, op.Attrs{op.Int(op.KAxis, 0), op.Int(op.KDescending, 1)}, v()))
		case 7:
			pair := b.N(op.Tuple, nil, s(), v())
			scalars = append(scalars, b.N(op.Get, op.Attrs{op.Int(op.KIndex, 0)}, pair))
			tensors = append(tensors, b.N(op.Get, op.Attrs{op.Int(op.KIndex, 1)}, pair))
		}
	}
	return b.region(params, s(), v(), s(), v())
}

// byNode evaluates a region one node at a time, keeping everything.
func byNode(t *testing.T, s *graph.Store, r graph.RegionID, args []Value) []Value {
	t.Helper()
	vals := map[graph.Ref]Value{}
	for _, n := range s.Order(r) {
		if s.Op(n) == op.Param {
			vals[graph.Ref{Node: n}] = args[s.Attrs(n).Int(op.KIndex)]
			continue
		}
		var ins []Value
		for _, in := range s.Ins(n) {
			ins = append(ins, vals[in])
		}
		outs, err := EvalNode(context.Background(), s, n, ins)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range outs {
			vals[graph.Ref{Node: n, Out: int32(i)}] = v
		}
	}
	var out []Value
	for _, x := range s.Results(r) {
		out = append(out, vals[x])
	}
	return out
}

// TestPlansAgree compares a body run as a region, as a map's body (where
// invariant nodes run once and values are dropped after their last use) and
// as a loop's, with its nodes evaluated one at a time.
func TestPlansAgree(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newTB(t)
		body := randomBody(b, r)
		args := []Value{Gen(types.Scalar(types.I64), seed, 0), Gen(typ(t, "i64[3]"), seed, int(seed))}

		p := b.params("i64", "i64[3]")
		outs := b.Apply(op.Map, mapAttrs(false, 2, 3), []graph.RegionID{body}, p...)
		x := b.region([]string{"i64", "i64[3]"}, outs...)
		stacked, err := EvalRegion(ctx, b.g.Store, x, args)
		if err != nil {
			t.Fatal(err)
		}
		for at := range 6 {
			in := append([]Value{ScalarValue(types.I64, uint64(at/3)), ScalarValue(types.I64, uint64(at%3))}, args...)
			want := byNode(t, b.g.Store, body, in)
			got, err := EvalRegion(ctx, b.g.Store, body, in)
			if err != nil {
				t.Fatal(err)
			}
			for k, w := range want {
				n := len(w.Data)
				if !bytes.Equal(got[k].Data, w.Data) || !bytes.Equal(stacked[k].Data[at*n:][:n], w.Data) {
					t.Fatalf("seed %d index %d result %d: nodes %s, region %s, map %v",
						seed, at, k, show(w), show(got[k]), stacked[k].Data[at*n:][:n])
				}
			}
		}

		// A loop whose carried values are all four of the body's.
		q := b.params("i64", "i64", "i64[3]", "i64", "i64[3]", "i64")
		all := []string{"i64", "i64", "i64[3]", "i64", "i64[3]", "i64"}
		inner := b.Apply(op.Call, nil, []graph.RegionID{body}, q[0], q[1], q[3], q[4])
		step := b.region(all, inner[0], inner[1], b.N(op.Add, nil, inner[2], q[5]), inner[3])
		cond := b.region(all, b.Bool(true))
		loop := b.Apply(op.Loop, carried(4), []graph.RegionID{cond, step}, b.I64(4), p[0], p[1], p[0], p[1], b.I64(2))
		y := b.region([]string{"i64", "i64[3]"}, loop...)
		got, err := EvalRegion(ctx, b.g.Store, y, args)
		if err != nil {
			t.Fatal(err)
		}
		state := []Value{args[0], args[1], args[0], args[1]}
		for trip := range uint64(4) {
			in := append([]Value{ScalarValue(types.I64, trip)}, state...)
			in = append(in, ScalarValue(types.I64, 2))
			state = byNode(t, b.g.Store, step, in)
		}
		for k, w := range state {
			if !bytes.Equal(got[k].Data, w.Data) {
				t.Fatalf("seed %d loop result %d: nodes %s, loop %s", seed, k, show(w), show(got[k]))
			}
		}
	}
}

// TestLoopsInPlace runs random loop bodies full of updates, which may write in
// place, against their nodes evaluated one at a time.
func TestLoopsInPlace(t *testing.T) {
	ctx := context.Background()
	params := []string{"i64", "i64[3]", "i64[3]", "i64"}
	tt := typ(t, "i64[3]")
	modes := map[inPlace]int{}
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 2))
		b := newTB(t)
		q := b.params(params...)
		tensors := []graph.Ref{q[1], q[2]}
		pick := func() graph.Ref { return tensors[max(0, len(tensors)-1-r.IntN(3))] }
		for range 1 + r.IntN(7) {
			v := pick()
			switch r.IntN(8) {
			case 0:
				v = b.N(op.Add, nil, v, pick())
			case 1:
				v = b.Reshape(v, 3, 1)
				v = b.Reshape(v, 3)
			case 2:
				v = b.N(op.Tuple, nil, v, pick())
				v = b.N(op.Get, op.Attrs{op.Int(op.KIndex, r.Int64N(2))}, v)
			default:
				at := b.N(op.Gather, op.Attrs{op.Int(op.KAxis, 0)}, pick(), q[0])
				v = b.N(op.Update, nil, v, b.Reshape(b.N(op.Sub, nil, at, q[3]), 1), []graph.Ref{q[0], q[3], at}[r.IntN(3)])
			}
			tensors = append(tensors, v)
		}
		body := b.region(params, pick(), pick())
		cond := b.region(params, b.Bool(true))
		p := b.params("i64[3]", "i64[3]", "i64")
		loop := b.Apply(op.Loop, carried(2), []graph.RegionID{cond, body}, b.I64(5), p[0], p[1], p[2])
		x := b.region([]string{"i64[3]", "i64[3]", "i64"}, append(loop, p[0])...)
		args := []Value{Gen(tt, seed, 0), Gen(tt, seed+1, 0), ScalarValue(types.I64, seed%5)}
		m := New(b.g.Store, DefaultLimits())
		got, err := m.EvalRegion(ctx, x, args)
		if err != nil {
			t.Fatal(err)
		}
		state := []Value{args[0], args[1]}
		for trip := range uint64(5) {
			state = byNode(t, b.g.Store, body, []Value{ScalarValue(types.I64, trip), state[0], state[1], args[2]})
		}
		if !bytes.Equal(got[0].Data, state[0].Data) || !bytes.Equal(got[1].Data, state[1].Data) || !bytes.Equal(got[3].Data, args[0].Data) {
			t.Fatalf("seed %d: %s %s, want %s %s", seed, show(got[0]), show(got[1]), show(state[0]), show(state[1]))
		}
		for _, n := range b.g.Order(body) {
			if b.g.Op(n) == op.Update {
				modes[modeOf(m, body, n)]++
			}
		}
	}
	if modes[always] < 100 || modes[warm] < 100 || modes[never] < 100 {
		t.Errorf("the bodies do not cover the modes: %v", modes)
	}
}

// modeOf recomputes the decision for one node of a region.
func modeOf(m *Machine, r graph.RegionID, id graph.NodeID) inPlace {
	p, err := m.build(planKey{region: r, varying: 3})
	if err != nil {
		panic(err)
	}
	fixed := map[graph.NodeID]bool{}
	var nodes []*node
	slot := map[graph.NodeID]int32{}
	n := int32(0)
	var at *node
	for _, x := range m.s.Order(r) {
		nd := m.node(x)
		nd.o = n
		slot[x] = n
		n += int32(len(nd.out))
		if nd.op == op.Param {
			continue
		}
		for _, in := range m.s.Ins(x) {
			nd.ins = append(nd.ins, slot[in.Node]+in.Out)
		}
		nodes = append(nodes, nd)
		if x == id {
			at = nd
		}
	}
	return newOwners(p, nodes, fixed).mode(at)
}

// TestFillingAnArrayIsLinear: a loop that writes one element a trip.
func TestFillingAnArrayIsLinear(t *testing.T) {
	b := newTB(t)
	const n = 200000
	params := []string{"i64", "i64[200000]"}
	q := b.params(params...)
	body := b.region(params, b.N(op.Update, nil, q[1], b.Reshape(q[0], 1), q[0]))
	cond := b.region(params, b.Bool(true))
	p := b.params("i64[200000]")
	loop := b.Apply(op.Loop, carried(1), []graph.RegionID{cond, body}, b.I64(n), p[0])
	zero := Zero(typ(t, "i64[200000]"))
	out, err := EvalRegion(context.Background(), b.g.Store, b.region([]string{"i64[200000]"}, loop[0]), []Value{zero})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if out[0].Bits(i) != uint64(i) || zero.Bits(i) != 0 {
			t.Fatalf("element %d is %d, the input's %d", i, out[0].Bits(i), zero.Bits(i))
		}
	}
}

// TestContractions compares every accumulation on a shape with free axes left
// over from blocks with its chain.
func TestContractions(t *testing.T) {
	const m, k, n = 3, 5, 7
	for _, c := range []struct {
		acc  op.Acc
		x, y types.DType
	}{
		{op.AccFMA, types.F32, types.F32}, {op.AccFMA, types.F64, types.F64}, {op.AccFMA, types.F16, types.F16},
		{op.AccUnfused, types.F32, types.F32}, {op.AccUnfused, types.F64, types.F64}, {op.AccUnfused, types.BF16, types.BF16},
		{op.AccF64, types.F32, types.F32}, {op.AccF64, types.F16, types.F16}, {op.AccI32, types.I8, types.U8}, {op.AccI64, types.U32, types.I16},
	} {
		for kind := range genKinds {
			b := newTB(t)
			xt, yt := types.Tensor(c.x, m, k), types.Tensor(c.y, k, n)
			mm := op.NewAttrs(op.Int(op.KAcc, int64(c.acc)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch), op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0))
			in := []Value{Gen(xt, 1, kind), Gen(yt, 2, kind)}
			out, err := EvalRegion(context.Background(), b.g.Store, b.region([]string{xt.String(), yt.String()}, b.N(op.DotGeneral, mm, b.Param(0, xt), b.Param(1, yt))), in)
			if err != nil {
				t.Fatal(err)
			}
			for i := range m {
				for j := range n {
					want := chainOf(c.acc, k, func(q int) (uint64, uint64) { return in[0].Bits(i*k + q), in[1].Bits(q*n + j) }, c.x, c.y)
					if got := out[0].Bits(i*n + j); got != want {
						t.Errorf("%v %v case %d at %d,%d: %x, want %x", c.acc, c.x, kind, i, j, got, want)
					}
				}
			}
		}
	}
}

// chainOf is a contraction by scalar operations on bits.
func chainOf(acc op.Acc, k int, at func(q int) (x, y uint64), xd, yd types.DType) uint64 {
	d, out := types.F32, types.F32
	switch {
	case acc == op.AccI32:
		d, out = types.I64, types.I32
	case acc == op.AccI64:
		d, out = types.I64, types.I64
	case acc == op.AccF64:
		d = types.F64
	case xd == types.F64:
		d, out = types.F64, types.F64
	}
	add, mul := numeric.BinaryOf(numeric.Add, d), numeric.BinaryOf(numeric.Mul, d)
	same := func(from types.DType, b uint64) uint64 { return numeric.ConvertOf(from, d)(b) }
	sum := uint64(0)
	for q := range k {
		x, y := at(q)
		x, y = same(xd, x), same(yd, y)
		if acc == op.AccFMA {
			sum = numeric.TernaryOf(numeric.FMA, d)(x, y, sum)
		} else {
			sum = add(sum, mul(x, y))
		}
	}
	return numeric.ConvertOf(d, out)(sum)
}

// TestNestedLoopsShareRegions: an inner loop whose condition and body are the
// very regions of the loop around it, or of its condition.
func TestNestedLoopsShareRegions(t *testing.T) {
	b := newTB(t)
	ps := []string{"i64", "i64"}
	q := b.params(ps...)
	cond := b.region(ps, b.Bool(true))
	inc := b.region(ps, b.N(op.Add, nil, q[1], b.I64(1)))
	inner := b.Apply(op.Loop, carried(1), []graph.RegionID{cond, inc}, b.I64(3), q[1])
	outer := b.region(ps, inner[0])
	p := b.params("i64")
	loop := b.Apply(op.Loop, carried(1), []graph.RegionID{cond, outer}, b.I64(4), p[0])
	out, err := EvalRegion(context.Background(), b.g.Store, b.region([]string{"i64"}, loop[0]), []Value{ScalarValue(types.I64, 5)})
	if err != nil {
		t.Fatal(err)
	}
	if got := out[0].Bits(0); got != 17 {
		t.Errorf("got %d, want 17", got)
	}
}
