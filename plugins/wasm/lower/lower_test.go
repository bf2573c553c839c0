package lower

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/lir/lireval"
	"github.com/kera-lang/kera/plugins/wasm/exec"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// program is a module of one function on byte buffers.
type program struct {
	m       *lir.Module
	in      [][]byte
	outSize []int
	work    uint64
	tiles   uint64
}

func bytesBuf(n int) section.Buffer {
	return section.Buffer{DType: types.U8, Dims: []int64{int64(n)}, Align: 64}
}

func (p *program) entry() section.Entry {
	e := section.Entry{Name: "e", Work: p.work, WorkAlign: 64, Phases: []section.Phase{{Symbol: p.m.Funcs[0].Name, Tiles: p.tiles}}}
	for _, b := range p.in {
		e.Inputs = append(e.Inputs, bytesBuf(len(b)))
	}
	for _, n := range p.outSize {
		e.Outputs = append(e.Outputs, bytesBuf(n))
	}
	return e
}

func (p *program) buffers() [][]byte {
	out := make([][]byte, len(p.outSize))
	for i, n := range p.outSize {
		out[i] = make([]byte, n)
	}
	return out
}

// run compiles and executes p, in parts if it has more statements than split.
func (p *program) run(t testing.TB, machine *exec.Machine, split int) (uint32, [][]byte) {
	t.Helper()
	ctx := context.Background()
	code, err := compile(wenc.NewIndex(), p.m, split, max(split/4, 1))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := machine.Load(ctx, &section.Descriptor{Triple: "wasm32", Kind: section.KindWasm, Entries: []section.Entry{p.entry()}}, code.Bytes)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.m.Funcs[0])
	}
	defer func() { _ = mod.Close(ctx) }()
	out := p.buffers()
	trap, _, err := mod.Run(ctx, "e", p.in, out)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.m.Funcs[0])
	}
	return trap, out
}

// check compares a run with the evaluation of the IR.
func (p *program) check(t *testing.T, machine *exec.Machine, split int) {
	t.Helper()
	trap, got := p.run(t, machine, split)
	want := p.buffers()
	wantTrap := uint32(0)
	work := make([]byte, p.work)
	for tile := range p.tiles {
		if wantTrap = lireval.Run(p.m.Funcs[0], p.m.Consts, p.in, want, work, tile); wantTrap != 0 {
			break
		}
	}
	if trap != wantTrap {
		t.Errorf("trap %d, want %d\n%s", trap, wantTrap, p.m.Funcs[0])
		return
	}
	for i := range got {
		if wantTrap == 0 && !bytes.Equal(got[i], want[i]) {
			t.Errorf("output %d:\n got %x\nwant %x\n%s", i, got[i], want[i], p.m.Funcs[0])
		}
	}
}

func newMachine(t testing.TB) *exec.Machine {
	m := exec.Open(context.Background(), false)
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// edges are operands that matter, by element.
func edges(e lir.Elem) []uint64 {
	switch e {
	case lir.I32, lir.Ix:
		return []uint64{0, 1, 2, 7, 31, 32, 33, 127, 128, 255, 0x7FFF, 0x8000, 0xFFFF, 0x12345678, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF}
	case lir.I64:
		return []uint64{0, 1, 3, 31, 63, 64, 65, 0xFFFFFFFF, 0x100000000, 0x123456789ABCDEF0, math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64,
			1<<53 + 1, 1<<24 + 1, 0xFFFFFF8000000001}
	case lir.F32:
		var out []uint64
		for _, f := range []float32{0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 1e10, -1e10, 2147483648, -2147483904, 4294967296, 9223372036854775807, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 0.1, 16777217, 8388609.5} {
			out = append(out, uint64(math.Float32bits(f)))
		}
		return append(out, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x80000001, 0x00800000, 0x007FFFFF)
	case lir.F64:
		var out []uint64
		for _, f := range []float64{0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 1e10, -1e10, 2147483648, -2147483649, 4294967296, 9223372036854775807, 18446744073709551615, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1 << 52, 1<<52 + 0.5, 1.0000000596046448} {
			out = append(out, math.Float64bits(f))
		}
		return append(out, 1<<63, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000001, 1<<63|1, 0x0010000000000000, 0x36A0000000000000)
	}
	panic("edges of " + e.String())
}

// tuples are all pairs of edges, or for three operands a shuffled selection,
// laid out operand by operand.
func tuples(e lir.Elem, arity int, keep func(a []uint64) bool) [][]uint64 {
	ed := edges(e)
	out := make([][]uint64, arity)
	add := func(a ...uint64) {
		if keep == nil || keep(a) {
			for k := range arity {
				out[k] = append(out[k], a[k])
			}
		}
	}
	for i, x := range ed {
		for j, y := range ed {
			if arity < 2 && j > 0 {
				break
			}
			add(x, y, ed[(i*7+j*3+1)%len(ed)])
		}
	}
	for len(out[0])%4 != 0 {
		for k := range arity {
			out[k] = append(out[k], out[k][0])
		}
	}
	return out
}

func pack(e lir.Elem, xs []uint64) []byte {
	var b []byte
	for _, x := range xs {
		if e.Size() == 8 {
			b = binary.LittleEndian.AppendUint64(b, x)
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
	}
	return b
}

func memOf(e lir.Elem) lir.Mem {
	if e.Size() == 8 {
		return lir.M64
	}
	return lir.M32
}

func divisible(o lir.Op, e lir.Elem) func(a []uint64) bool {
	switch o {
	case lir.DivU, lir.RemU:
		return func(a []uint64) bool { return a[1] != 0 }
	case lir.DivS, lir.RemS:
		least, ones := uint64(1<<63), uint64(math.MaxUint64)
		if e != lir.I64 {
			least, ones = 1<<31, math.MaxUint32
		}
		return func(a []uint64) bool { return a[1] != 0 && (a[0] != least || a[1] != ones) }
	}
	return nil
}

// opProgram applies one operation to all cases. Results that are floats go
// through Canon, masks through Select.
func opProgram(o lir.Op, e, to lir.Elem, lanes int) *program {
	arity := o.Info().Arity
	cases := tuples(e, arity, divisible(o, e))
	n := int64(len(cases[0]))
	b := lir.NewFunc("f")
	mem := e
	if e == lir.Ix {
		mem = lir.I32
	}
	typ := func(e lir.Elem) lir.Type {
		if lanes == 1 {
			return lir.Type{Elem: e, Lanes: 1}
		}
		return lir.Vec(e, lanes)
	}
	p := &program{tiles: 1}
	for k := range arity {
		p.in = append(p.in, pack(mem, cases[k]))
		b.Buf(lir.Buf{Kind: lir.BufIn, Index: k, Bytes: n * 8})
	}
	out := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: n * 8})
	scale := func(e lir.Elem) uint8 { return uint8(max(e.Size(), 4)) }
	var res lir.Elem
	b.For(b.Ix(0), b.Ix(n), int64(lanes), nil, func(i lir.Value, _ []lir.Value) []lir.Value {
		b.Node++
		args := make([]lir.Value, arity)
		for k := range args {
			args[k] = b.Load(typ(mem), memOf(mem), lir.Addr{Buf: k, Index: i, Scale: scale(mem)})
			if e == lir.Ix {
				args[k] = b.Conv(lir.I32ToIxU, lir.TIx, args[k])
			}
		}
		var r lir.Value
		if lir.IsConversion(o) {
			r = b.Conv(o, typ(to), args[0])
		} else {
			r = b.Op(o, args...)
		}
		t := b.F.Types[r]
		switch {
		case t.Elem == lir.Mask:
			ones, zero := b.Const(typ(e), 1), b.Const(typ(e), 0)
			r = b.Op(lir.Select, r, ones, zero)
		case t.Elem == lir.Ix:
			r = b.Conv(lir.IxToI32, lir.TI32, r)
		case t.Elem.IsFloat():
			r = b.Op(lir.Canon, r)
		}
		t = b.F.Types[r]
		res = t.Elem
		b.Store(memOf(t.Elem), lir.Addr{Buf: out, Index: i, Scale: scale(t.Elem)}, r)
		return nil
	})
	p.outSize = []int{int(n) * res.Size()}
	p.m = &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}
	return p
}

// conversions lists the operand elements by operation and result.
var conversions = map[lir.Op][][2]lir.Elem{
	lir.Wrap: {{lir.I64, lir.I32}}, lir.ExtS: {{lir.I32, lir.I64}}, lir.ExtU: {{lir.I32, lir.I64}},
	lir.IxToI64: {{lir.Ix, lir.I64}}, lir.I64ToIx: {{lir.I64, lir.Ix}}, lir.IxToI32: {{lir.Ix, lir.I32}}, lir.I32ToIxU: {{lir.I32, lir.Ix}},
	lir.SToF:    {{lir.I32, lir.F32}, {lir.I64, lir.F32}, {lir.I32, lir.F64}, {lir.I64, lir.F64}},
	lir.UToF:    {{lir.I32, lir.F32}, {lir.I64, lir.F32}, {lir.I32, lir.F64}, {lir.I64, lir.F64}},
	lir.FToS:    {{lir.F32, lir.I32}, {lir.F64, lir.I32}, {lir.F32, lir.I64}, {lir.F64, lir.I64}},
	lir.FToU:    {{lir.F32, lir.I32}, {lir.F64, lir.I32}, {lir.F32, lir.I64}, {lir.F64, lir.I64}},
	lir.Promote: {{lir.F32, lir.F64}}, lir.Demote: {{lir.F64, lir.F32}},
	lir.BitsOf: {{lir.F32, lir.I32}, {lir.F64, lir.I64}}, lir.FromBits: {{lir.I32, lir.F32}, {lir.I64, lir.F64}},
}

// TestEveryOp runs every operation on every element, scalar and vector, over
// edge operands.
func TestEveryOp(t *testing.T) {
	machine := newMachine(t)
	vec := Target().Vec
	covered := map[lir.Op]bool{}
	for o := lir.OpInvalid + 1; o < lir.NumOps; o++ {
		for _, e := range []lir.Elem{lir.I32, lir.I64, lir.F32, lir.F64, lir.Ix} {
			for _, lanes := range []int{1, 2, 4} {
				for _, pair := range pairsOf(o, e) {
					from, to := pair[0], pair[1]
					ok := lir.Defined(o, to, lanes > 1)
					if lanes > 1 {
						ok = vec(o, to, from, lanes) && lanes*from.Size() <= 16
					}
					if !ok {
						continue
					}
					covered[o] = true
					t.Run(fmt.Sprintf("%v/%v-%v/%d", o, from, to, lanes), func(t *testing.T) {
						opProgram(o, from, to, lanes).check(t, machine, splitAbove)
					})
				}
			}
		}
	}
	for o := lir.OpInvalid + 1; o < lir.NumOps; o++ {
		if !covered[o] && !elsewhere[o] && !laneOps[o] {
			t.Errorf("%v is not covered", o)
		}
	}
}

// elsewhere are operations that the structured programs cover.
var elsewhere = map[lir.Op]bool{lir.Const: true, lir.LaneIx: true, lir.Splat: true, lir.Extract: true, lir.LaneDown: true, lir.Zip: true,
	lir.Load: true, lir.Store: true, lir.Select: true, lir.MAnd: true, lir.MOr: true, lir.MNot: true, lir.MAny: true,
	lir.For: true, lir.While: true, lir.If: true, lir.Return: true}

func pairsOf(o lir.Op, e lir.Elem) [][2]lir.Elem {
	if elsewhere[o] {
		return nil
	}
	if !lir.IsConversion(o) {
		return [][2]lir.Elem{{e, e}}
	}
	var out [][2]lir.Elem
	for _, p := range conversions[o] {
		if p[1] == e {
			out = append(out, p)
		}
	}
	return out
}

func compileBytes(t *testing.T, seed uint64) []byte {
	t.Helper()
	code, err := Module(wenc.NewIndex(), randomProgram(seed, true).m)
	if err != nil {
		t.Fatal(err)
	}
	return code.Bytes
}
