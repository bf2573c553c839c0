package isel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// TestMinMaxWithConstants puts every edge value on either side of every edge
// value, as a scalar, a vector constant and a splat.
func TestMinMaxWithConstants(t *testing.T) {
	for _, l := range levels() {
		t.Run(l.Name, func(t *testing.T) {
			runner(t, l)
			for _, e := range []lir.Elem{lir.F32, lir.F64} {
				lanes := l.VecBytes / e.Size()
				xs := edges(e)
				for len(xs)%lanes != 0 {
					xs = append(xs, xs[len(xs)%7])
				}
				var in []byte
				for _, x := range xs {
					in = putLane(in, e, x)
				}
				b := lir.NewFunc("minmax")
				src := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: int64(len(in))})
				n := 0
				consts := edges(e)
				total := int64(len(consts)*2*2*2) * int64(len(in))
				dst := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: total})
				for _, c := range consts {
					for _, op := range []lir.Op{lir.FMin, lir.FMax} {
						for _, typ := range []lir.Type{{Elem: e, Lanes: 1}, lir.Vec(e, lanes)} {
							k := b.Const(typ, int64(c))
							if typ.IsVec() && n%3 == 0 {
								k = b.Splat(b.Const(typ.Scalar(), int64(c)), lanes)
							}
							for swap := 0; swap < 2; swap++ {
								b.For(b.Ix(0), b.Ix(int64(len(xs))), int64(typ.Lanes), nil, func(i lir.Value, _ []lir.Value) []lir.Value {
									x := b.Load(typ, memOf(typ), lir.Addr{Buf: src, Index: i, Scale: uint8(e.Size())})
									args := []lir.Value{x, k}
									if swap == 1 {
										args = []lir.Value{k, x}
									}
									b.Store(memOf(typ), lir.Addr{Buf: dst, Index: i, Scale: uint8(e.Size()), Disp: int64(n * len(in))}, b.Op(lir.Canon, b.Op(op, args...)))
									return nil
								})
								n++
							}
						}
					}
				}
				same(t, l, &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}, fmt.Sprint(e), [][]byte{in}, []int{int(total)}, 0, 1)
			}
		})
	}
}

// TestIntMinMax compares and selects in every way that may become one
// instruction, on all pairs of edge values.
func TestIntMinMax(t *testing.T) {
	for _, l := range levels() {
		t.Run(l.Name, func(t *testing.T) {
			runner(t, l)
			for _, e := range []lir.Elem{lir.I32, lir.I64} {
				lanes := l.VecBytes / e.Size()
				cols := operands(lir.Select, e, 2, lanes)
				var in [][]byte
				for _, col := range cols {
					var b []byte
					for _, x := range col {
						b = putLane(b, e, x)
					}
					in = append(in, b)
				}
				typ, size := lir.Vec(e, lanes), int64(len(in[0]))
				b := lir.NewFunc("minmax")
				x := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: size})
				y := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 1, Bytes: size})
				o := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: size * 24})
				b.For(b.Ix(0), b.Ix(int64(len(cols[0]))), int64(lanes), nil, func(i lir.Value, _ []lir.Value) []lir.Value {
					at := lir.Addr{Buf: x, Index: i, Scale: uint8(e.Size())}
					p := b.Load(typ, memOf(typ), at)
					at.Buf = y
					q := b.Load(typ, memOf(typ), at)
					at.Buf = o
					for _, op := range comparisons {
						for k := 0; k < 4; k++ {
							args := [][2]lir.Value{{p, q}, {q, p}}
							c, r := args[k&1], args[k>>1]
							b.Store(memOf(typ), at, b.Op(lir.Select, b.Op(op, c[0], c[1]), r[0], r[1]))
							at.Disp += size
						}
					}
					return nil
				})
				m := &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}
				same(t, l, m, fmt.Sprint(e), in, []int{int(size * 24)}, 0, 1)
				if !hasObjdump {
					t.Log("the instructions are not checked: objdump is not installed")
				} else if text := disassemble(t, compile(t, l, m)); (e == lir.I32 || l.Masks) && (!strings.Contains(text, "vpminu") || !strings.Contains(text, "vpmaxs")) {
					t.Errorf("%s: no minimum or maximum instruction", l.Name)
				}
			}
		})
	}
}
