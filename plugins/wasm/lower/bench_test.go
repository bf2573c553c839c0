package lower

import (
	"context"
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// tileProgram is the inner loop of a contraction: rows x vecs accumulators over
// k steps, the tile repeated for every tile number.
func tileProgram(e lir.Elem, rows, vecs, k int) *program {
	lanes := 16 / e.Size()
	b := lir.NewFunc("tile")
	n := int64(vecs * lanes * e.Size())
	x := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: int64(rows * k * e.Size())})
	y := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 1, Bytes: int64(k) * n})
	o := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: int64(rows) * n})
	vt, st := lir.Vec(e, lanes), lir.Type{Elem: e, Lanes: 1}
	var acc []lir.Value
	for range rows * vecs {
		acc = append(acc, b.Const(vt, 0))
	}
	mem := memOf(e)
	acc = b.For(b.Ix(0), b.Ix(int64(k)), 1, acc, func(i lir.Value, c []lir.Value) []lir.Value {
		row := b.Op(lir.Mul, i, b.Ix(n))
		var ys []lir.Value
		for v := range vecs {
			ys = append(ys, b.Load(vt, mem, lir.Addr{Buf: y, Index: row, Scale: 1, Disp: int64(v) * 16}))
		}
		next := make([]lir.Value, len(c))
		for r := range rows {
			xs := b.Splat(b.Load(st, mem, lir.Addr{Buf: x, Index: i, Scale: uint8(e.Size()), Disp: int64(r * k * e.Size())}), lanes)
			for v := range vecs {
				next[r*vecs+v] = b.Op(lir.FMA, xs, ys[v], c[r*vecs+v])
			}
		}
		return next
	})
	for i, v := range acc {
		b.Store(mem, lir.At(o, int64(i)*16), b.Op(lir.Canon, v))
	}
	data := func(n int) []byte {
		xs := make([]uint64, n/e.Size())
		for i := range xs {
			xs[i] = 0x3F800000 + uint64(i*7919)%(1<<20)
			if e == lir.F64 {
				xs[i] = 0x3FF<<52 + uint64(i*7919)<<20
			}
		}
		return pack(e, xs)
	}
	return &program{m: &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}},
		in: [][]byte{data(rows * k * e.Size()), data(k * int(n))}, outSize: []int{rows * int(n)}, tiles: 1}
}

func TestTile(t *testing.T) {
	machine := newMachine(t)
	for _, e := range []lir.Elem{lir.F32, lir.F64} {
		tileProgram(e, 4, 2, 100).check(t, machine, splitAbove)
	}
}

func BenchmarkTile(b *testing.B) {
	ctx := context.Background()
	const k, tiles = 256, 256
	for _, e := range []lir.Elem{lir.F32, lir.F64} {
		b.Run(fmt.Sprint(e), func(b *testing.B) {
			p := tileProgram(e, 4, 2, k)
			p.tiles = tiles
			code, err := Module(wenc.NewIndex(), p.m)
			if err != nil {
				b.Fatal(err)
			}
			mod, err := newMachine(b).Load(ctx, &section.Descriptor{Triple: "wasm32", Kind: section.KindWasm, Entries: []section.Entry{p.entry()}}, code.Bytes)
			if err != nil {
				b.Fatal(err)
			}
			out := p.buffers()
			for b.Loop() {
				if _, _, err := mod.Run(ctx, "e", p.in, out); err != nil {
					b.Fatal(err)
				}
			}
			lanes := 8 * 16 / e.Size()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tiles*k*lanes), "ns/lane")
		})
	}
}
