package lireval

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// unit builds a function over two inputs of 64 bytes and one output, and runs it.
func unit(t *testing.T, x, y []byte, body func(b *lir.Builder, x, y, o int)) []byte {
	t.Helper()
	b := lir.NewFunc("unit")
	bx := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: int64(len(x))})
	by := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 1, Bytes: int64(len(y))})
	o := b.Buf(lir.Buf{Kind: lir.BufOut, Bytes: 64})
	body(b, bx, by, o)
	f := b.Finish(b.I32(0))
	if err := lir.Verify(f); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	lir.Optimise(f)
	if err := lir.Verify(f); err != nil {
		t.Fatalf("optimised: %v\n%s", err, f)
	}
	out := make([]byte, 64)
	if code := Run(f, nil, [][]byte{x, y}, [][]byte{out}, nil, 0); code != 0 {
		t.Fatalf("trap %d", code)
	}
	return out
}

func TestNarrowLanes(t *testing.T) {
	x, y := []byte{0x7f, 0x80, 0xff, 5}, []byte{1, 0xff, 2, 0x83}
	for _, c := range []struct {
		op   lir.Op
		want []byte
	}{
		{lir.Add, []byte{0x80, 0x7f, 1, 0x88}}, {lir.Mul, []byte{0x7f, 0x80, 0xfe, 0x8f}},
		{lir.AddSatS, []byte{0x7f, 0x80, 1, 0x88}}, {lir.AddSatU, []byte{0x80, 0xff, 0xff, 0x88}},
		{lir.SubSatS, []byte{0x7e, 0x81, 0xfd, 0x7f}}, {lir.SubSatU, []byte{0x7e, 0, 0xfd, 0}},
		{lir.MinS, []byte{1, 0x80, 0xff, 0x83}}, {lir.MinU, []byte{1, 0x80, 2, 5}},
		{lir.MaxS, []byte{0x7f, 0xff, 2, 5}}, {lir.MaxU, []byte{0x7f, 0xff, 0xff, 0x83}},
		{lir.ShrS, []byte{0x3f, 0xff, 0xff, 0}}, {lir.ShrU, []byte{0x3f, 1, 0x3f, 0}},
	} {
		got := unit(t, x, y, func(b *lir.Builder, x, y, o int) {
			v := lir.Vec(lir.I8, 4)
			b.Store(lir.M8U, lir.At(o, 0), b.Op(c.op, b.Load(v, lir.M8U, lir.At(x, 0)), b.Load(v, lir.M8S, lir.At(y, 0))))
		})
		if !bytes.Equal(got[:4], c.want) {
			t.Errorf("%v: %x, want %x", c.op, got[:4], c.want)
		}
	}
}

func TestDots(t *testing.T) {
	x, y := []byte{0, 0x80, 0, 0x80, 255, 255, 255, 255}, []byte{0, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80}
	got := unit(t, x, y, func(b *lir.Builder, x, y, o int) {
		v, w := lir.Vec(lir.I16, 4), lir.Vec(lir.I8, 8)
		b.Store(lir.M32, lir.At(o, 0), b.Dot(lir.Dot2S, b.Load(v, lir.M16S, lir.At(x, 0)), b.Load(v, lir.M16S, lir.At(y, 0))))
		b.Store(lir.M32, lir.At(o, 8), b.Dot(lir.Dot4US, b.Load(w, lir.M8U, lir.At(x, 0)), b.Load(w, lir.M8U, lir.At(y, 0))))
	})
	want := []int32{-1 << 31, 2 * 32640, 2 * 128 * -128, 4 * 255 * -128}
	for i, w := range want {
		if g := int32(binary.LittleEndian.Uint32(got[4*i:])); g != w {
			t.Errorf("sum %d: %d, want %d", i, g, w)
		}
	}
}

func TestMaskedMemory(t *testing.T) {
	bools, data := []byte{1, 0, 7, 0}, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}
	got := unit(t, bools, data, func(b *lir.Builder, x, y, o int) {
		v := lir.Vec(lir.I32, 4)
		m := b.Load(lir.MaskOf(v), lir.M8U, lir.At(x, 0))
		ix := b.Op(lir.Sub, b.Const(v, 3), b.LaneIx(v))
		b.Store(lir.M32, lir.At(o, 0), b.Gather(v, lir.M32, lir.At(y, 0), 4, ix, m))
		b.MStore(lir.M32, lir.At(o, 16), b.MLoad(v, lir.M32, lir.At(y, 0), m), m)
		b.Scatter(lir.M32, lir.At(o, 32), 4, b.LaneIx(v), ix, m)
		b.Store(lir.M8U, lir.At(o, 48), b.MCast(lir.Vec(lir.I8, 4), b.Op(lir.MNot, m)))
	})
	want := []uint32{4, 0, 2, 0, 1, 0, 3, 0, 0, 2, 0, 0, 0x01000100}
	for i, w := range want {
		if g := binary.LittleEndian.Uint32(got[4*i:]); g != w {
			t.Errorf("word %d: %#x, want %#x", i, g, w)
		}
	}
}

func TestHalfFloats(t *testing.T) {
	// 1+2^-11 is a tie at f16, 1+2^-8 at bf16; a NaN with a payload; a subnormal f16.
	in := binary.LittleEndian.AppendUint32(nil, 0x3f801000)
	for _, x := range []uint32{0x3f808000, 0xff800001, 0x33800000} {
		in = binary.LittleEndian.AppendUint32(in, x)
	}
	got := unit(t, in, nil, func(b *lir.Builder, x, _, o int) {
		v := b.Load(lir.Vec(lir.F32, 4), lir.M32, lir.At(x, 0))
		b.Store(lir.MF16, lir.At(o, 0), v)
		b.Store(lir.MBF16, lir.At(o, 8), v)
	})
	for i, w := range []uint16{0x3c00, 0x3c04, 0x7e00, 1, 0x3f80, 0x3f80, 0x7fc0, 0x3380} {
		if g := binary.LittleEndian.Uint16(got[2*i:]); g != w {
			t.Errorf("half %d: %#x, want %#x", i, g, w)
		}
	}
}

func TestVerifyWide(t *testing.T) {
	b := lir.NewFunc("bad")
	x := b.Buf(lir.Buf{Kind: lir.BufIn, Bytes: 64})
	v := lir.Vec(lir.I32, 4)
	m := b.Op(lir.Eq, b.Const(v, 0), b.Const(v, 0))
	b.MStore(lir.M32, lir.At(x, 0), b.Const(v, 1), m)
	if err := lir.Verify(b.Finish(b.I32(0))); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a masked store to an input: %v", err)
	}
}
