package lir

import "testing"

// count returns how often each op stands at loop depth 0 and deeper.
func count(f *Func) (flat, nested map[Op]int) {
	flat, nested = map[Op]int{}, map[Op]int{}
	for i := range f.Body.Stmts {
		s := &f.Body.Stmts[i]
		flat[s.Op]++
		for _, b := range s.Blocks {
			Walk(b, func(s *Stmt) { nested[s.Op]++ })
		}
	}
	return flat, nested
}

// scaled builds y[i] = x[i] * (c * c) for 100 elements, computing c*c and the
// index arithmetic anew in each trip, and a value that nobody uses.
func scaled() *Func {
	b := NewFunc("scaled")
	x := b.Buf(Buf{Kind: BufIn, Index: 0, Bytes: 400})
	c := b.Buf(Buf{Kind: BufIn, Index: 1, Bytes: 4})
	y := b.Buf(Buf{Kind: BufOut, Index: 0, Bytes: 400})
	b.Buf(Buf{Kind: BufWork, Bytes: 64}) // never touched
	b.For(b.Ix(0), b.Ix(100), 1, nil, func(i Value, _ []Value) []Value {
		k := b.Load(TF32, M32, At(c, 0))
		sq := b.Op(FMul, k, k)
		sq2 := b.Op(FMul, k, k)
		at := b.Op(Add, b.Op(Mul, i, b.Ix(1)), b.Op(Mul, b.Ix(0), b.Ix(7)))
		v := b.Load(TF32, M32, Addr{Buf: x, Index: at, Scale: 4})
		b.Op(FAdd, v, sq2) // unused
		b.Store(M32, Addr{Buf: y, Index: i, Scale: 4}, b.Op(FMul, v, sq))
		return nil
	})
	return b.Finish(b.I32(0))
}

func TestOptimise(t *testing.T) {
	f := scaled()
	Optimise(f)
	if err := Verify(f); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	flat, nested := count(f)
	want := map[Op]int{Load: 1, FMul: 1, Store: 1}
	for op, n := range nested {
		if n != want[op] {
			t.Errorf("%v stands %d times in the loop, want %d", op, n, want[op])
		}
	}
	if flat[Load] != 1 || flat[FMul] != 1 || flat[FAdd] != 0 {
		t.Errorf("outside the loop: %v", flat)
	}
	if len(f.Bufs) != 3 {
		t.Errorf("%d buffers are left, want 3", len(f.Bufs))
	}
	if t.Failed() {
		t.Log(f)
	}
}

func TestSplit(t *testing.T) {
	b := NewFunc("split")
	x := b.Buf(Buf{Kind: BufIn, Index: 0, Bytes: 400})
	y := b.Buf(Buf{Kind: BufOut, Index: 0, Bytes: 400})
	k := b.Load(TF32, M32, At(x, 0)) // k reaches the end, k*k the loop: two slots
	b.For(b.Ix(3), b.Ix(100), 2, nil, func(i Value, _ []Value) []Value {
		b.Store(M32, Addr{Buf: y, Index: i, Scale: 4}, b.Op(FMul, k, k))
		return nil
	})
	b.Independent(10)
	f := b.Finish(b.Op(FEq, k, k))
	Optimise(f)
	parts, work := Split(f, 128)
	if len(parts) != 3 || work != 256 {
		t.Fatalf("%d parts and %d bytes of work, want 3 and 256", len(parts), work)
	}
	// 49 trips of step 2, ten a tile.
	for i, tiles := range []int64{1, 5, 1} {
		if parts[i].Tiles != tiles {
			t.Errorf("part %d has %d tiles, want %d", i, parts[i].Tiles, tiles)
		}
		if err := Verify(parts[i].Func); err != nil {
			t.Errorf("part %d: %v\n%s", i, err, parts[i].Func)
		}
	}
	if again, _ := Split(scaled(), 0); len(again) != 1 || again[0].Tiles != 1 {
		t.Error("a function without marked loops was cut")
	}
}
