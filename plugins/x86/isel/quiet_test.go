package isel

import (
	"fmt"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// TestCanonOfQuiet makes canonical what arithmetic and what moves or signs its
// results gives for every pair of edge values, NaNs of all kinds among them.
func TestCanonOfQuiet(t *testing.T) {
	shapes := []func(b *lir.Builder, x, y lir.Value) lir.Value{
		func(b *lir.Builder, x, y lir.Value) lir.Value { return b.Op(lir.FAdd, x, y) },
		func(b *lir.Builder, x, y lir.Value) lir.Value { return b.Op(lir.FAbs, b.Op(lir.FMul, x, y)) },
		func(b *lir.Builder, x, y lir.Value) lir.Value { return b.Op(lir.FAbs, x) },
		func(b *lir.Builder, x, y lir.Value) lir.Value { return b.Op(lir.FNeg, b.Op(lir.FSqrt, x)) },
		func(b *lir.Builder, x, y lir.Value) lir.Value {
			return b.Op(lir.FAbs, b.Op(lir.FNeg, b.Op(lir.FDiv, x, y)))
		},
		func(b *lir.Builder, x, y lir.Value) lir.Value { return b.Op(lir.FCopysign, b.Op(lir.FSub, x, y), y) },
		func(b *lir.Builder, x, y lir.Value) lir.Value {
			return b.Op(lir.FMax, b.Op(lir.FNearest, x), b.Op(lir.FFloor, y))
		},
		func(b *lir.Builder, x, y lir.Value) lir.Value {
			return b.Op(lir.Select, b.Op(lir.FLt, x, y), b.Op(lir.FMA, x, y, x), b.Op(lir.FCeil, y))
		},
		func(b *lir.Builder, x, y lir.Value) lir.Value { // quiet only after the first trip
			return b.For(b.Ix(0), b.Ix(1), 1, []lir.Value{x}, func(_ lir.Value, c []lir.Value) []lir.Value {
				return []lir.Value{b.Op(lir.FMA, x, y, c[0])}
			})[0]
		},
		func(b *lir.Builder, x, y lir.Value) lir.Value { // never computed
			return b.For(b.Ix(0), b.Ix(2), 1, []lir.Value{x}, func(_ lir.Value, c []lir.Value) []lir.Value {
				return []lir.Value{b.Op(lir.Select, b.Op(lir.FEq, x, y), c[0], y)}
			})[0]
		},
	}
	for _, l := range levels() {
		t.Run(l.Name, func(t *testing.T) {
			runner(t, l)
			for _, e := range []lir.Elem{lir.F32, lir.F64} {
				var xs, ys []byte
				n := 0
				for _, x := range edges(e) {
					for _, y := range edges(e) {
						xs, ys = putLane(xs, e, x), putLane(ys, e, y)
						n++
					}
				}
				lanes := l.VecBytes / e.Size()
				n -= n % lanes
				b := lir.NewFunc("quiet")
				src := [2]int{b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: int64(len(xs))}), b.Buf(lir.Buf{Kind: lir.BufIn, Index: 1, Bytes: int64(len(ys))})}
				total := 2 * len(shapes) * len(xs)
				dst := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: int64(total)})
				at := int64(0)
				for _, shape := range shapes {
					for _, typ := range []lir.Type{{Elem: e, Lanes: 1}, lir.Vec(e, lanes)} {
						b.For(b.Ix(0), b.Ix(int64(n)), int64(typ.Lanes), nil, func(i lir.Value, _ []lir.Value) []lir.Value {
							load := func(k int) lir.Value {
								return b.Load(typ, memOf(typ), lir.Addr{Buf: src[k], Index: i, Scale: uint8(e.Size())})
							}
							r := b.Op(lir.Canon, shape(b, load(0), load(1)))
							b.Store(memOf(typ), lir.Addr{Buf: dst, Index: i, Scale: uint8(e.Size()), Disp: at}, r)
							return nil
						})
						at += int64(len(xs))
					}
				}
				same(t, l, &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}, fmt.Sprint(e), [][]byte{xs, ys}, []int{total}, 0, 1)
			}
		})
	}
}
