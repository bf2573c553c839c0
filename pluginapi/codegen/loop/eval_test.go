package loop

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestEvalRows: row sums and the place of the greatest element of each row.
func TestEvalRows(t *testing.T) {
	b := NewBuilder("rows")
	x := b.Buf(Buffer{Kind: In, DType: types.I32, Elems: 6})
	y := b.Buf(Buffer{Kind: Out, DType: types.I32, Elems: 2})
	z := b.Buf(Buffer{Kind: Out, DType: types.I64, Elems: 2})
	b.For([]int64{2}, nil, func(o []Value) []Value {
		r := b.For([]int64{3}, []Fold{{Kind: Reduce, Reduce: op.Sum, DType: types.I32}, {Kind: ArgMax, DType: types.I32}}, func(i []Value) []Value {
			v := b.Load(x, Of(o[0]).Scale(3).Add(Of(i[0])))
			return []Value{v, v}
		})
		b.Store(y, Of(o[0]), r[0])
		b.Store(z, Of(o[0]), r[1])
		return nil
	})
	p := b.Finish()
	in, out, ix := make([]byte, 24), make([]byte, 8), make([]byte, 16)
	for i, v := range []int32{1, 9, -3, -7, -5, -5} {
		binary.LittleEndian.PutUint32(in[4*i:], uint32(v))
	}
	if _, err := Eval(p, nil, [][]byte{in, out, ix}); err != nil {
		t.Fatal(err)
	}
	if want := []byte{7, 0, 0, 0, 0xef, 0xff, 0xff, 0xff}; !bytes.Equal(out, want) {
		t.Errorf("sums %x, want %x", out, want)
	}
	if ix[0] != 1 || ix[8] != 1 {
		t.Errorf("places %x", ix)
	}
	p.Bufs[x].Elems = 5
	if _, err := Eval(p, nil, [][]byte{in, out, ix}); err == nil {
		t.Error("an access outside its buffer was not noticed")
	}
}
