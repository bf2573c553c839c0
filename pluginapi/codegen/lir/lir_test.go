package lir

import (
	"strings"
	"testing"
)

// dot16 builds an f32 dot product of 16 elements over 4-lane vectors.
func dot16() *Func {
	b := NewFunc("dot16")
	x := b.Buf(Buf{Kind: BufIn, Index: 0, Bytes: 64})
	y := b.Buf(Buf{Kind: BufIn, Index: 1, Bytes: 64})
	o := b.Buf(Buf{Kind: BufOut, Index: 0, Bytes: 4})
	v4 := Vec(F32, 4)
	acc := b.For(b.Ix(0), b.Ix(16), 4, []Value{b.Const(v4, 0x80000000)}, func(i Value, c []Value) []Value {
		p := b.Load(v4, M32, Addr{Buf: x, Index: i, Scale: 4})
		q := b.Load(v4, M32, Addr{Buf: y, Index: i, Scale: 4})
		return []Value{b.Op(FMA, p, q, c[0])}
	})
	s := b.Op(FAdd, acc[0], b.LaneDown(acc[0], 2))
	s = b.Op(FAdd, s, b.LaneDown(s, 1))
	b.Store(M32, At(o, 0), b.Op(Canon, b.Extract(s, 0)))
	return b.Finish(b.I32(0))
}

func TestVerify(t *testing.T) {
	if err := Verify(dot16()); err != nil {
		t.Fatalf("%v\n%s", err, dot16())
	}
	bad := []struct {
		name string
		do   func(f *Func)
		want string
	}{
		{"type", func(f *Func) { f.Body.Stmts[3].Blocks[0].Stmts[2].Type = Vec(I32, 4) }, "not defined on"},
		{"scope", func(f *Func) { f.Body.Yield[0] = f.Body.Stmts[3].Blocks[0].Params[0] }, "not defined"},
		{"bounds", func(f *Func) { f.Bufs[2].Bytes = 3 }, "bytes 0..4"},
		{"read only", func(f *Func) { f.Bufs[2].Kind = BufIn }, "read-only"},
	}
	for _, c := range bad {
		f := dot16()
		c.do(f)
		if err := Verify(f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestTableComplete(t *testing.T) {
	for o := OpInvalid + 1; o < NumOps; o++ {
		if opTable[o].Name == "" {
			t.Errorf("op %d has no row", o)
		}
	}
}
