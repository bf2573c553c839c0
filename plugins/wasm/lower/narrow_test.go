package lower

import (
	"math/rand"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// lanesCase is one operation on vectors of one shape.
type lanesCase struct {
	op       lir.Op
	from, to lir.Elem
	lanes    int // of the result
}

// module applies the operations in turn to every vector of two inputs of n bytes.
func lanesModule(cases []lanesCase, n int64) (*lir.Module, int64) {
	b := lir.NewFunc("lanes")
	x := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: n})
	y := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 1, Bytes: n})
	mem := map[int]lir.Mem{1: lir.M8U, 2: lir.M16U, 4: lir.M32, 8: lir.M64}
	type place struct {
		c       lanesCase
		at, out int64
	}
	var places []place
	size := int64(0)
	for _, c := range cases {
		w := int64(c.from.Size() * c.lanes)
		if c.op == lir.Dot2S {
			w *= 2
		}
		for at := int64(0); at+w <= n; at += w {
			places = append(places, place{c, at, size})
			size += int64(c.to.Size() * c.lanes)
		}
	}
	o := b.Buf(lir.Buf{Kind: lir.BufOut, Bytes: size})
	for _, p := range places {
		c := p.c
		t := lir.Vec(c.from, c.lanes)
		if c.op == lir.Dot2S {
			t.Lanes *= 2
		}
		v := b.Load(t, mem[c.from.Size()], lir.At(x, p.at))
		var r lir.Value
		switch {
		case lir.IsConversion(c.op):
			r = b.Conv(c.op, lir.Vec(c.to, c.lanes), v)
		case c.op == lir.Dot2S:
			r = b.Dot(c.op, v, b.Load(t, mem[c.from.Size()], lir.At(y, p.at)))
		case c.op == lir.IAbs:
			r = b.Op(c.op, v)
		case c.op == lir.Splat:
			r = b.Op(lir.Add, v, b.SplatAs(t, b.Load(lir.TI32, lir.M8S, lir.At(y, p.at))))
		case c.op == lir.Const:
			r = b.Op(lir.Add, v, b.Const(t, 0x5183))
		default:
			r = b.Op(c.op, v, b.Load(t, mem[c.from.Size()], lir.At(y, p.at)))
		}
		b.Store(mem[c.to.Size()], lir.At(o, p.out), r)
	}
	return &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}, size
}

// TestNarrowLanes compares every declared form on or with narrow lanes with the
// evaluator, over edges in all pairs of neighbours and random bytes.
func TestNarrowLanes(t *testing.T) {
	const n = 1024
	x, y := make([]byte, n), make([]byte, n)
	r := rand.New(rand.NewSource(1))
	edge := []byte{0, 1, 0x7f, 0x80, 0x81, 0xff, 0xfe, 2}
	for i := range x {
		x[i], y[i] = edge[i%8], edge[i/8%8]
		if i >= n/2 {
			x[i], y[i] = byte(r.Intn(256)), byte(r.Intn(256))
		}
	}
	for i := 512; i < 576; i += 2 { // the one sum of two products that wraps
		x[i], x[i+1], y[i], y[i+1] = 0, 0x80, 0, 0x80
	}
	ints := []lir.Elem{lir.I8, lir.I16, lir.I32, lir.I64}
	ops := []lir.Op{lir.Const, lir.Splat, lir.Add, lir.Sub, lir.Mul, lir.And, lir.Or, lir.Xor, lir.MinS, lir.MinU, lir.MaxS, lir.MaxU,
		lir.IAbs, lir.AddSatS, lir.AddSatU, lir.SubSatS, lir.SubSatU, lir.Dot2S, lir.ExtS, lir.ExtU}
	machine, vec := newMachine(t), Target().Vec
	{
		declared := map[lir.Op]int{}
		for _, op := range ops {
			var cases []lanesCase
			for _, to := range ints {
				for _, from := range ints {
					for lanes := 2; lanes <= 64; lanes *= 2 {
						q := from
						switch {
						case op == lir.Dot2S:
							if from != lir.I16 || to != lir.I32 {
								continue
							}
							q = lir.None
						case !lir.IsConversion(op):
							if from != to || (op == lir.Splat || op == lir.Const) && to.Size() > 2 {
								continue
							}
							q = lir.None
						}
						if lir.Defined(op, to, true) && vec(op, to, q, lanes) {
							cases = append(cases, lanesCase{op, from, to, lanes})
						}
					}
				}
			}
			declared[op] = len(cases)
			t.Run(op.String(), func(t *testing.T) {
				for _, c := range cases {
					m, size := lanesModule([]lanesCase{c}, n)
					if err := lir.Verify(m.Funcs[0]); err != nil {
						t.Fatalf("%v: %v", c, err)
					}
					p := &program{m: m, in: [][]byte{x, y}, outSize: []int{int(size)}, tiles: 1}
					p.check(t, machine, splitAbove)
				}
			})
		}
		for _, op := range ops {
			if declared[op] == 0 {
				t.Errorf("no form of %v is declared", op)
			}
		}
	}
}
