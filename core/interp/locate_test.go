package interp

import (
	"bytes"
	"context"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestLocateThroughData follows a code through tuples, arms, selects, a code
// passed down into a region, and codes that no trap_if made.
func TestLocateThroughData(t *testing.T) {
	b := newTB(t)
	q := b.params("u32", "bool")
	// Arm 0 hands its parameter back in a tuple, arm 1 makes a code of its own.
	wrap := func(code graph.Ref) graph.Ref { return b.N(op.Tuple, nil, code, b.F64(1)) }
	arm0 := b.region([]string{"u32", "bool"}, wrap(q[0]))
	arm1 := b.region([]string{"u32", "bool"}, wrap(b.TrapIf(op.TrapCast, q[1])))
	p := b.params("bool", "bool", "u32")
	down := b.TrapIf(op.TrapLoopBound, p[1])
	sw := b.Apply(op.Switch, nil, []graph.RegionID{arm0, arm1}, p[0], down, p[1])
	code := b.N(op.Get, op.Attrs{op.Int(op.KIndex, 0)}, sw[0])
	last := b.N(op.Select, nil, p[1], code, p[2])
	x := b.export([]string{"bool", "bool", "u32"}, last)
	for _, c := range []struct {
		in   [3]string
		want string
	}{
		{[3]string{"0", "1", "0"}, "trap loop bound at trap_if"},
		{[3]string{"1", "1", "0"}, "trap cast at switch[] trap_if"},
		{[3]string{"0", "0", "4"}, "trap assert at param"},
		{[3]string{"0", "0", "0"}, ""},
	} {
		if got := b.run(x, "bool: "+c.in[0], "bool: "+c.in[1], "u32: "+c.in[2]); got != c.want {
			t.Errorf("%v: %s, want %s", c.in, got, c.want)
		}
	}
	place, err := Locate(context.Background(), b.g, x, []Value{lit(t, "bool: 1"), lit(t, "bool: 1"), lit(t, "u32: 0")})
	if err != nil || len(place.Path) != 1 || place.Path[0].Region != arm1 {
		t.Errorf("%v, %v", place, err)
	}
	t.Log(place)
}

// TestLocateCarriedTuple: the code is a field of a carried tuple and was
// already set when the loop began, or is set in a later trip.
func TestLocateCarriedTuple(t *testing.T) {
	b := newTB(t)
	pair := types.Tuple(types.Scalar(types.I64), types.Trap())
	ts := []types.Type{types.Scalar(types.I64), pair}
	q := b.Params(ts...)
	old := b.N(op.Get, op.Attrs{op.Int(op.KIndex, 1)}, q[1])
	hit := b.TrapIf(op.TrapDivision, b.Compare(op.EQ, q[0], b.I64(2)))
	body := b.Region(ts, b.N(op.Tuple, nil, q[0], b.TrapJoin(old, hit)))
	cond := b.Region(ts, b.Bool(true))
	p := b.params("i64", "bool")
	start := b.N(op.Tuple, nil, b.I64(0), b.TrapIf(op.TrapAssert, p[1]))
	loop := b.Apply(op.Loop, carried(1), []graph.RegionID{cond, body}, p[0], start)
	x := b.export([]string{"i64", "bool"}, b.N(op.Get, op.Attrs{op.Int(op.KIndex, 1)}, loop[0]))
	for _, c := range []struct{ trips, set, want string }{
		{"2", "0", ""},
		{"5", "0", "trap division at loop[2] trap_if"},
		{"5", "1", "trap assert at trap_if"},
	} {
		if got := b.run(x, "i64: "+c.trips, "bool: "+c.set); got != c.want {
			t.Errorf("%v: %s, want %s", c, got, c.want)
		}
	}
}

func TestLeavesAndDigest(t *testing.T) {
	ts := []types.Type{types.Tuple(types.Scalar(types.F32), types.Tuple(typ(t, "i8[2]"))), typ(t, "bool")}
	vs := GenAll(ts, 5, genMixed)
	var leaves []Value
	for _, v := range vs {
		leaves = v.Leaves(leaves)
	}
	var data [][]byte
	for _, l := range leaves {
		data = append(data, l.Data)
	}
	back, err := FromLeaves(ts, data)
	if err != nil || len(leaves) != 3 || Digest(back) != Digest(vs) {
		t.Errorf("leaves do not round-trip: %v, %v", back, err)
	}
	if Digest(vs) == Digest(vs[:1]) {
		t.Error("the digest ignores the count")
	}
	for _, bad := range [][][]byte{data[:2], append(data[:3:3], data[0]), {data[0], data[0], data[2]}} {
		if _, err := FromLeaves(ts, bad); err == nil {
			t.Errorf("FromLeaves took %v", bad)
		}
	}
	if z := Zero(ts[0]); len(z.Elems) != 2 || !bytes.Equal(z.Elems[0].Data, make([]byte, 4)) {
		t.Errorf("zero came out as %v", z)
	}
}

func TestRunOptimised(t *testing.T) {
	b := newTB(t)
	p := b.params("i64")
	x := b.export([]string{"i64"}, b.N(op.Add, nil, p[0], b.I64(0)), b.NoTrap())
	in := []Value{lit(t, "i64: 3")}
	if _, _, err := RunOptimised(context.Background(), b.g, x, in); err == nil {
		t.Error("ran an optimised region that is not there")
	}
	x.Optimised = b.region([]string{"i64"}, p[0], b.NoTrap())
	out, code, err := RunOptimised(context.Background(), b.g, x, in)
	if err != nil || code != op.TrapNone || show(out[0]) != "i64: 3" {
		t.Errorf("%v, %v, %v", out, code, err)
	}
}
