package interp

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

func carried(n int64) op.Attrs { return op.Attrs{op.Int(op.KCarried, n)} }

func mapAttrs(traps bool, dims ...int64) op.Attrs {
	return op.NewAttrs(op.Ints(op.KDims, dims...), op.Bool(op.KTraps, traps))
}

func TestCallTupleGet(t *testing.T) {
	b := newTB(t)
	p := b.params("i64", "f32")
	pair := b.N(op.Tuple, nil, p[1], p[0])
	inner := b.region([]string{"i64", "f32"}, pair, b.N(op.Neg, nil, p[0]))
	outs := b.Apply(op.Call, nil, []graph.RegionID{inner}, p...)
	field := b.N(op.Get, op.Attrs{op.Int(op.KIndex, 1)}, outs[0])
	x := b.export([]string{"i64", "f32"}, outs[0], field, outs[1], b.NoTrap())
	if got, want := b.run(x, "i64: 7", "f32: 0.5"), "(f32: 0.5; i64: 7) | i64: 7 | i64: -7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSwitch(t *testing.T) {
	for _, sel := range []string{"i32", "u8", "bool"} {
		b := newTB(t)
		p := b.params(sel)
		var arms []graph.RegionID
		for i := range int64(3) {
			arms = append(arms, b.region(nil, b.I64(10*i)))
		}
		x := b.export([]string{sel}, b.Apply(op.Switch, nil, arms, p...)[0], b.NoTrap())
		for in, want := range map[string]string{"0": "i64: 0", "1": "i64: 10", "2": "i64: 20", "3": "i64: 20", "-1": "i64: 20"} {
			if sel == "bool" && in > "1" || sel == "bool" && in == "-1" {
				continue
			}
			if got := b.run(x, sel+": "+in); got != want {
				t.Errorf("switch %s %s: %s, want %s", sel, in, got, want)
			}
		}
	}
}

// loopSum sums its trip numbers while they are below a limit: the bound, the
// condition and the carried value all matter.
func loopSum(b *tb) *graph.Export {
	q := b.params("i64", "i64", "i64") // trip, sum, limit
	cond := b.region([]string{"i64", "i64", "i64"}, b.Compare(op.LT, q[0], q[2]))
	body := b.region([]string{"i64", "i64", "i64"}, b.N(op.Add, nil, q[1], q[0]))
	p := b.params("i64", "i64", "i64") // bound, initial, limit
	outs := b.Apply(op.Loop, carried(1), []graph.RegionID{cond, body}, p...)
	return b.export([]string{"i64", "i64", "i64"}, outs[0], outs[1], b.NoTrap())
}

func TestLoop(t *testing.T) {
	b := newTB(t)
	x := loopSum(b)
	for _, c := range []struct{ bound, init, limit, want string }{
		{"10", "0", "100", "i64: 45 | i64: 10"},
		{"10", "1", "4", "i64: 7 | i64: 4"},
		{"0", "5", "4", "i64: 5 | i64: 0"},
		{"-3", "5", "4", "i64: 5 | i64: 0"},
	} {
		if got := b.run(x, "i64: "+c.bound, "i64: "+c.init, "i64: "+c.limit); got != c.want {
			t.Errorf("loop %v: %s", c, got)
		}
	}
}

func TestMap(t *testing.T) {
	b := newTB(t)
	q := b.params("i64", "i64", "i64[2]")
	row := b.N(op.Mul, nil, q[2], b.Broadcast(q[0], typ(t, "i64[2]")))
	r := b.region([]string{"i64", "i64", "i64[2]"}, b.N(op.Sub, nil, q[0], q[1]), row)
	p := b.params("i64[2]")
	outs := b.Apply(op.Map, mapAttrs(false, 2, 3), []graph.RegionID{r}, p...)
	x := b.export([]string{"i64[2]"}, outs[0], outs[1], b.NoTrap())
	want := "i64[2,3]: 0 -1 -2 1 0 -1 | i64[2,3,2]: 0 0 0 0 0 0 5 7 5 7 5 7"
	if got := b.run(x, "i64[2]: 5 7"); got != want {
		t.Errorf("got %s", got)
	}

	empty := newTB(t)
	one := empty.region([]string{"i64"}, empty.params("i64")[0])
	none := empty.region(nil, empty.F64(2))
	e := empty.export(nil, empty.Apply(op.Map, mapAttrs(false, 0), []graph.RegionID{one})[0],
		empty.Apply(op.Map, mapAttrs(false), []graph.RegionID{none})[0], empty.NoTrap())
	if got := empty.run(e); got != "i64[0]: | f64: 2" {
		t.Errorf("got %s", got)
	}
}

func TestTraps(t *testing.T) {
	b := newTB(t)
	// A map traps with kind index at 2 and with kind cast at 1 and later; a loop
	// carries the join of its codes; the entry checks its input first.
	q := b.params("i64", "i64")
	kind := b.TrapJoin(b.TrapIf(op.TrapIndex, b.Compare(op.EQ, q[0], b.I64(2))),
		b.TrapIf(op.TrapCast, b.Compare(op.GE, q[0], q[1])))
	inMap := b.region([]string{"i64", "i64"}, q[0], kind)

	l := b.params("i64", "u32", "i64") // trip, code, threshold
	m := b.Apply(op.Map, mapAttrs(true, 4), []graph.RegionID{inMap}, b.N(op.Sub, nil, l[2], l[0]))
	cond := b.region([]string{"i64", "u32", "i64"}, b.Bool(true))
	body := b.region([]string{"i64", "u32", "i64"}, b.TrapJoin(l[1], m[1]))

	p := b.params("i64", "i64")
	neg := b.TrapIf(op.TrapAssert, b.Compare(op.LT, p[1], b.I64(0)))
	loop := b.Apply(op.Loop, carried(1), []graph.RegionID{cond, body}, p[0], b.NoTrap(), p[1])
	helper := b.region([]string{"i64", "i64"}, p[0], loop[0])
	call := b.Apply(op.Call, nil, []graph.RegionID{helper}, p...)
	x := b.export([]string{"i64", "i64"}, call[0], b.TrapJoin(neg, call[1]))

	for _, c := range []struct{ trips, threshold, want string }{
		{"0", "0", "i64: 0"},
		{"3", "-1", "trap assert at trap_if"},
		{"1", "9", "trap index at call[] loop[0] map[2] trap_if"},
		{"1", "1", "trap cast at call[] loop[0] map[1] trap_if"},
		{"1", "0", "trap cast at call[] loop[0] map[0] trap_if"},
		{"9", "2", "trap index at call[] loop[0] map[2] trap_if"},
	} {
		if got := b.run(x, "i64: "+c.trips, "i64: "+c.threshold); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

// TestLocateTrip finds the trip in which a carried code became non-zero, and a
// code that entered a region through a parameter.
func TestLocateTrip(t *testing.T) {
	b := newTB(t)
	q := b.params("i64", "u32", "i64", "u32")
	cond := b.region([]string{"i64", "u32", "i64", "u32"}, b.Bool(true))
	hit := b.TrapIf(op.TrapOverflow, b.Compare(op.GE, q[0], q[2]))
	body := b.region([]string{"i64", "u32", "i64", "u32"}, b.TrapJoin(q[1], hit, q[3]))
	p := b.params("i64", "bool")
	outer := b.TrapIf(op.TrapDivision, p[1])
	loop := b.Apply(op.Loop, carried(1), []graph.RegionID{cond, body}, b.I64(10), b.NoTrap(), p[0], outer)
	x := b.export([]string{"i64", "bool"}, loop[0])
	for _, c := range []struct{ at, div, want string }{
		{"3", "0", "trap overflow at loop[3] trap_if"},
		{"9", "0", "trap overflow at loop[9] trap_if"},
		{"10", "0", ""},
		{"5", "1", "trap division at trap_if"},
		{"0", "1", "trap overflow at loop[0] trap_if"},
	} {
		if got := b.run(x, "i64: "+c.at, "bool: "+c.div); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

func TestInputs(t *testing.T) {
	b := newTB(t)
	p := b.params("f32[2]", "bool")
	x := b.export([]string{"f32[2]", "bool"}, p[0], b.NoTrap())
	ctx := context.Background()
	out, _, err := Run(ctx, b.g, x, []Value{lit(t, "f32[2]: 0xffc12345 1"), lit(t, "bool: 1")})
	if err != nil || out[0].Bits(0) != 0x7fc00000 {
		t.Errorf("NaN came out as %v, %v", out, err)
	}
	for _, c := range []struct {
		in   []Value
		want string
	}{
		{[]Value{lit(t, "f32[2]: 1 2")}, "entry main takes 2 inputs, has 1"},
		{[]Value{lit(t, "f32[3]: 1 2 3"), lit(t, "bool: 1")}, "entry main: input p0: type is f32[3], wants f32[2]"},
		{[]Value{lit(t, "f32[2]: 1 2"), {Type: types.Scalar(types.Bool), Data: []byte{2}}}, "entry main: input p1: bool element 0 has byte 2, not 0 or 1"},
		{[]Value{{Type: typ(t, "f32[2]"), Data: []byte{2}}, lit(t, "bool: 1")}, "entry main: input p0: 1 bytes of data for f32[2], which has 8"},
	} {
		if _, _, err := Run(ctx, b.g, x, c.in); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestBoundConstants(t *testing.T) {
	b := newTB(t)
	p := b.params("f32", "f32[2000]")
	x := b.export([]string{"f32"}, p[0], b.NoTrap())
	data := make([]byte, 8000)
	putBits(data, 4, 1999, 0x40490fdb)
	x.Region = b.region([]string{"f32", "f32[2000]"},
		b.N(op.Mul, nil, p[0], b.Reduce(op.Sum, p[1], 0)), b.NoTrap())
	x.Bound = []graph.Bound{{Type: typ(t, "f32[2000]"), Blob: b.g.AddBlob(data)}}
	if got, want := b.run(x, "f32: 2"), "f32: 6.2831855"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCancelAndLimits(t *testing.T) {
	b := newTB(t)
	x := loopSum(b)
	in := []Value{lit(t, "i64: 9223372036854775807"), lit(t, "i64: 0"), lit(t, "i64: 9223372036854775807")}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := Run(ctx, b.g, x, in); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a cancelled run gave %v", err)
	}
	m := New(b.g.Store, Limits{Steps: 1000})
	if _, _, err := m.Run(context.Background(), x, in); !errors.Is(err, ErrLimit) {
		t.Errorf("a run without end gave %v", err)
	}
	// The machine is as good as new afterwards.
	in[0] = lit(t, "i64: 3")
	if out, _, err := m.Run(context.Background(), x, in); err != nil || show(out[0]) != "i64: 3" {
		t.Errorf("after a limit: %v, %v", out, err)
	}

	big := newTB(t)
	p := big.params("u8")
	y := big.export([]string{"u8"}, big.Reduce(op.Sum, big.Broadcast(p[0], typ(t, "u8[1000000,10000]")), 0, 1), big.NoTrap())
	if _, _, err := Run(context.Background(), big.g, y, []Value{lit(t, "u8: 1")}); !errors.Is(err, ErrLimit) {
		t.Errorf("10 GB gave %v", err)
	}
}

// TestChainsAreFreed: values are dropped after their last use, so a long chain
// of large tensors needs room for two of them.
func TestChainsAreFreed(t *testing.T) {
	b := newTB(t)
	v := b.params("u8[1000]")[0]
	for range 100 {
		v = b.N(op.Not, nil, b.N(op.Add, nil, v, v))
	}
	x := b.export([]string{"u8[1000]"}, b.Reduce(op.Sum, v, 0), b.NoTrap())
	m := New(b.g.Store, Limits{Bytes: 2500})
	if _, _, err := m.Run(context.Background(), x, []Value{Zero(typ(t, "u8[1000]"))}); err != nil {
		t.Error(err)
	}
}

// TestInvariantsRunOnce: what depends only on a map's invariants is computed
// once, so this is quick.
func TestInvariantsRunOnce(t *testing.T) {
	b := newTB(t)
	q := b.params("i64", "f32[256,256]")
	mm := op.NewAttrs(op.Int(op.KAcc, 0), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch), op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0))
	sum := b.Reduce(op.Sum, b.N(op.DotGeneral, mm, q[1], q[1]), 0, 1)
	r := b.region([]string{"i64", "f32[256,256]"}, b.N(op.Mul, nil, sum, b.Convert(q[0], types.F32)))
	p := b.params("f32[256,256]")
	x := b.export([]string{"f32[256,256]"}, b.Apply(op.Map, mapAttrs(false, 1000), []graph.RegionID{r}, p...)[0], b.NoTrap())
	m := New(b.g.Store, Limits{Steps: 30 << 20})
	if _, _, err := m.Run(context.Background(), x, []Value{Gen(typ(t, "f32[256,256]"), 1, 0)}); err != nil {
		t.Error(err)
	}
}

func TestFusionIsACall(t *testing.T) {
	b := newTB(t)
	q := b.params("f32[3]", "f32[3]")
	r := b.region([]string{"f32[3]", "f32[3]"}, b.N(op.Add, nil, b.N(op.Mul, nil, q[0], q[1]), q[1]))
	x := b.export([]string{"f32[3]", "f32[3]"}, b.Apply(op.Fusion, nil, []graph.RegionID{r}, q...)[0], b.NoTrap())
	if got := b.run(x, "f32[3]: 1 2 3", "f32[3]: 4 5 6"); got != "f32[3]: 8 15 24" {
		t.Errorf("got %s", got)
	}
}
