package isel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// edges are the values worth testing in each element type.
func edges(e lir.Elem) []uint64 {
	switch e {
	case lir.I32:
		return []uint64{0, 1, 2, 31, 32, 33, 255, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x12345678, 0xdeadbeef}
	case lir.I64:
		return []uint64{0, 1, 2, 31, 63, 64, 65, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64, math.MaxUint64 - 1023, 0x123456789abcdef0}
	case lir.Ix: // addresses are never negative and stay far from overflow
		return []uint64{0, 1, 2, 3, 7, 8, 63, 64, 1000, 1 << 20, 1<<31 - 1, 1 << 31, 1 << 40}
	}
	fs := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, 2.5, -2.5, 0.5, -0.5, 0.49999999, 3.4e38, -3.4e38, 1e-40, -1e-40, math.Inf(1), math.Inf(-1), math.NaN(),
		2147483647, 2147483648, -2147483648, -2147483649, 4294967295, 4294967296, 9223372036854775807, -9223372036854775808, 18446744073709551616, 18446744073709549568, 8388609, 0.1, math.Pi}
	if e == lir.F64 {
		fs = append(fs, 5e-324, 1.7e308, 4503599627370497.5, 1<<53)
	}
	var out []uint64
	for _, f := range fs {
		if e == lir.F32 {
			out = append(out, uint64(math.Float32bits(float32(f))))
		} else {
			out = append(out, math.Float64bits(f))
		}
	}
	if e == lir.F32 { // NaNs with sign and payload, quiet and signalling
		return append(out, 0xffc00001, 0x7f800001)
	}
	return append(out, 0xfff8000000000001, 0x7ff0000000000001)
}

var elems = []lir.Elem{lir.I32, lir.I64, lir.Ix, lir.F32, lir.F64}

// operands makes columns of n operands that cover the edges in all pairs.
func operands(op lir.Op, e lir.Elem, arity, lanes int) [][]uint64 {
	ed := edges(e)
	rnd := rand.New(rand.NewSource(int64(op)))
	var cols [3][]uint64
	add := func(a, b, c uint64) {
		switch op {
		case lir.DivS, lir.RemS:
			if b == 0 || sext(e, b) == -1 {
				b = 3
			}
		case lir.DivU, lir.RemU:
			b = max(b, 1)
		}
		cols[0], cols[1], cols[2] = append(cols[0], a), append(cols[1], b), append(cols[2], c)
	}
	for i, a := range ed {
		for j, b := range ed {
			add(a, b, ed[(i+j*3)%len(ed)])
		}
	}
	for len(cols[0])%lanes != 0 || len(cols[0]) < 1400 && op == lir.FMA {
		add(ed[rnd.Intn(len(ed))], ed[rnd.Intn(len(ed))], ed[rnd.Intn(len(ed))])
	}
	return cols[:arity]
}

// opCase is one operation at one type.
type opCase struct {
	op       lir.Op
	from, to lir.Elem // operand and result
	lanes    int
	twice    bool // operands are used again, so that they cannot be folded
}

func (c opCase) String() string {
	return fmt.Sprintf("%v %v->%v x%d twice=%v", c.op, c.from, c.to, c.lanes, c.twice)
}

// build makes the function: for every row, load the operands, apply the
// operation, store the result (as I32 for comparisons).
func (c opCase) build(n, arity int) *lir.Module {
	b := lir.NewFunc("op")
	size := func(e lir.Elem) int64 {
		if width64(e) {
			return 8
		}
		return 4
	}
	memOf := func(e lir.Elem) lir.Mem {
		if width64(e) {
			return lir.M64
		}
		return lir.M32
	}
	// Ix cannot be loaded: it travels as I64.
	carrier := func(e lir.Elem) lir.Elem {
		if e == lir.Ix {
			return lir.I64
		}
		return e
	}
	typ := func(e lir.Elem) lir.Type { return lir.Type{Elem: e, Lanes: uint8(c.lanes)} }
	var in []int
	for k := 0; k < arity; k++ {
		in = append(in, b.Buf(lir.Buf{Kind: lir.BufIn, Index: k, Bytes: int64(n) * size(c.from)}))
	}
	res := c.to
	if isPredicate(c.op) {
		res = lir.I32
		if c.lanes > 1 {
			res = map[bool]lir.Elem{false: lir.I32, true: lir.I64}[width64(c.from)]
		}
	}
	out := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: int64(n) * size(res)})
	side := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 1, Bytes: int64(n) * 8})
	b.For(b.Ix(0), b.Ix(int64(n)), int64(c.lanes), nil, func(i lir.Value, _ []lir.Value) []lir.Value {
		var args []lir.Value
		for k := 0; k < arity; k++ {
			v := b.Load(typ(carrier(c.from)), memOf(c.from), lir.Addr{Buf: in[k], Index: i, Scale: uint8(size(c.from))})
			if c.twice {
				b.Store(memOf(c.from), lir.Addr{Buf: side, Index: i, Scale: uint8(size(c.from))}, v)
			}
			if c.from == lir.Ix {
				v = b.Conv(lir.I64ToIx, lir.TIx, v)
			}
			args = append(args, v)
		}
		var v lir.Value
		switch {
		case c.op == lir.Select:
			if c.lanes > 1 {
				zero := b.Const(typ(c.from), 0)
				cmp := lir.Ne
				if c.from.IsFloat() {
					cmp = lir.FNe
				}
				args[0] = b.Op(cmp, args[0], zero)
			} else {
				args[0] = b.Load(lir.TI32, lir.M32, lir.Addr{Buf: in[0], Index: i, Scale: uint8(size(c.from))})
			}
			v = b.Op(lir.Select, args...)
		case isConv(c.op):
			v = b.Conv(c.op, typ(c.to), args[0])
		default:
			v = b.Op(c.op, args...)
		}
		if isPredicate(c.op) && c.lanes > 1 {
			t := lir.Vec(res, c.lanes)
			v = b.Op(lir.Select, v, b.Const(t, 1), b.Const(t, 0))
		}
		if res.IsFloat() {
			v = b.Op(lir.Canon, v)
		}
		if res == lir.Ix {
			v = b.Conv(lir.IxToI64, lir.TI64, v)
		}
		b.Store(memOf(res), lir.Addr{Buf: out, Index: i, Scale: uint8(size(res))}, v)
		return nil
	})
	return &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}
}

func isPredicate(op lir.Op) bool {
	return op >= lir.Eq && op <= lir.LeU || op >= lir.FEq && op <= lir.FLe
}

func isConv(op lir.Op) bool { return op >= lir.Wrap && op <= lir.FromBits }

// opCases enumerates every operation, element, vector length and folding
// variant of a level.
func opCases(l *Level) []opCase {
	var out []opCase
	for op := lir.Add; op <= lir.FromBits; op++ {
		switch op {
		case lir.MAnd, lir.MOr, lir.MNot, lir.MAny:
			continue // TestMasks
		}
		for _, from := range elems {
			for _, to := range elems {
				if !isConv(op) && from != to {
					continue
				}
				for _, bytes := range []int{0, l.VecBytes / 2, l.VecBytes} {
					e := to
					if isConv(op) && from.Size() > to.Size() && bytes != 0 {
						e = from
					}
					lanes := 1
					if bytes > 0 {
						if e == lir.Ix {
							continue
						}
						lanes = bytes / e.Size()
					}
					if !valid(l, op, from, to, lanes) {
						continue
					}
					out = append(out, opCase{op, from, to, lanes, false}, opCase{op, from, to, lanes, true})
				}
			}
		}
	}
	return out
}

// valid asks lir.Verify and the level whether the operation exists.
func valid(l *Level, op lir.Op, from, to lir.Elem, lanes int) bool {
	if !lir.Defined(op, to, lanes > 1) || lanes > 1 && laneOps[op] { // those are in TestNarrowLanes
		return false
	}
	conv := lir.None
	if isConv(op) {
		conv = from
		c := opCase{op, from, to, lanes, false}
		if lir.Verify(c.build(lanes, 1).Funcs[0]) != nil {
			return false
		}
	}
	return lanes == 1 || l.hasVec(op, to, conv, lanes)
}

func TestEveryOp(t *testing.T) {
	for _, l := range levels() {
		t.Run(l.Name, func(t *testing.T) {
			runner(t, l)
			n := 0
			for _, c := range opCases(l) {
				n++
				arity := max(c.op.Info().Arity, 1)
				cols := operands(c.op, c.from, arity, c.lanes)
				rows := len(cols[0])
				m := c.build(rows, arity)
				var in [][]byte
				for _, col := range cols {
					var b []byte
					for _, x := range col {
						b = putLane(b, c.from, x)
					}
					in = append(in, b)
				}
				same(t, l, m, c.String(), in, []int{8 * rows, 8 * rows}, 0, 1)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d operations", n)
		})
	}
}

// same runs m natively and on eval and compares outputs and trap codes.
func same(t *testing.T, l *Level, m *lir.Module, name string, in [][]byte, outs []int, work, tiles int) {
	t.Helper()
	var got, want [][]byte
	for _, n := range outs {
		got, want = append(got, make([]byte, n)), append(want, make([]byte, n))
	}
	e := &eval{f: m.Funcs[0], consts: m.Consts, in: in, out: want, work: make([]byte, work)}
	wantTrap := uint32(0)
	for k := 0; k < tiles; k++ {
		if tr := e.run(uint64(k)); tr != 0 && wantTrap == 0 {
			wantTrap = tr
		}
	}
	trap := run(t, l, m, uint64(work), tiles, in, got)
	if trap != wantTrap {
		t.Errorf("%s %s: trap %d, want %d\n%v\n%s", l.Name, name, trap, wantTrap, m.Funcs[0], disassemble(t, compile(t, l, m)))
		return
	}
	for k := range got {
		if !bytes.Equal(got[k], want[k]) {
			at := 0
			for got[k][at] == want[k][at] {
				at++
			}
			at &^= 7
			t.Errorf("%s %s: output %d at byte %d: %x, want %x\n%v\n%s", l.Name, name, k, at,
				got[k][at:at+8], want[k][at:at+8], m.Funcs[0], disassemble(t, compile(t, l, m)))
			for i, b := range in {
				if at+8 <= len(b) {
					t.Logf("input %d there: %x", i, b[at:at+8])
				}
			}
			return
		}
	}
}
