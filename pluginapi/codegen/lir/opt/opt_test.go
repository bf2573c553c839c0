package opt

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/lir/lireval"
)

// counting is a loop as the plan lowers it: a while over a counter and a trap code,
// a clamped index, and an element that goes through a buffer of its own.
func counting() *lir.Func {
	b := lir.NewFunc("counting")
	x := b.Buf(lir.Buf{Kind: lir.BufIn, Bytes: 400})
	tmp := b.Buf(lir.Buf{Kind: lir.BufWork, Offset: 0, Bytes: 64})
	y := b.Buf(lir.Buf{Kind: lir.BufOut, Bytes: 400})
	zero, last, n := b.I64(0), b.I64(99), b.I64(100)
	out := b.While([]lir.Value{zero, b.I32(0), b.I32(0)}, func(c []lir.Value) lir.Value {
		return b.Op(lir.And, b.Op(lir.LtS, c[0], n), b.Op(lir.Eq, c[1], b.I32(0)))
	}, func(c []lir.Value) []lir.Value {
		low := b.Op(lir.Select, b.Op(lir.LtS, last, c[0]), last, c[0])
		at := b.Conv(lir.I64ToIx, lir.TIx, b.Op(lir.Select, b.Op(lir.LtS, low, zero), zero, low))
		sum := b.Op(lir.Add, c[2], b.Load(lir.TI32, lir.M32, lir.Addr{Buf: x, Index: at, Scale: 4}))
		b.Store(lir.M32, lir.At(tmp, 0), sum)
		b.Store(lir.M32, lir.Addr{Buf: y, Index: at, Scale: 4}, b.Load(lir.TI32, lir.M32, lir.At(tmp, 0)))
		bad := b.Op(lir.Select, b.Op(lir.LtS, c[0], zero), b.I32(3), b.I32(0))
		return []lir.Value{b.Op(lir.Add, c[0], b.I64(1)), b.Op(lir.Select, c[1], c[1], bad), sum}
	})
	return b.Finish(out[1])
}

func TestLoopOverState(t *testing.T) {
	in := make([]byte, 400)
	for i := range 100 {
		binary.LittleEndian.PutUint32(in[4*i:], uint32(i*i))
	}
	run := func(f *lir.Func) []byte {
		out := make([]byte, 400)
		if code := lireval.Run(f, nil, [][]byte{in}, [][]byte{out}, make([]byte, 64), 0); code != 0 {
			t.Fatalf("code %d\n%s", code, f)
		}
		return out
	}
	want := run(counting())
	f := counting()
	lir.Optimise(f)
	for round := range 2 {
		for _, p := range passes {
			p.run(f)
			if err := lir.Verify(f); err != nil {
				t.Fatalf("round %d, %s: %v\n%s", round, p.name, err, f)
			}
			if got := run(f); !bytes.Equal(got, want) {
				t.Fatalf("round %d, %s: other bytes\n%s", round, p.name, f)
			}
		}
	}
	ops := map[lir.Op]int{}
	lir.Walk(f.Body, func(s *lir.Stmt) { ops[s.Op]++ })
	if ops[lir.While] != 0 || ops[lir.For] != 1 || ops[lir.Load] != 1 || ops[lir.Store] != 1 || ops[lir.Select] != 0 {
		t.Errorf("%v\n%s", ops, f)
	}
}
