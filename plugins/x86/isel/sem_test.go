package isel

import (
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/x86/asm"
)

// semantics names, for operations that are one instruction, the semantic op
// that the instruction table declares.
var semantics = []struct {
	op       lir.Op
	from, to lir.Elem // from is None except for conversions
	sem      string
}{
	{lir.FAdd, lir.None, lir.F32, "fadd.f32"}, {lir.FAdd, lir.None, lir.F64, "fadd.f64"},
	{lir.FSub, lir.None, lir.F32, "fsub.f32"}, {lir.FSub, lir.None, lir.F64, "fsub.f64"},
	{lir.FMul, lir.None, lir.F32, "fmul.f32"}, {lir.FMul, lir.None, lir.F64, "fmul.f64"},
	{lir.FDiv, lir.None, lir.F32, "fdiv.f32"}, {lir.FDiv, lir.None, lir.F64, "fdiv.f64"},
	{lir.FSqrt, lir.None, lir.F32, "fsqrt.f32"}, {lir.FSqrt, lir.None, lir.F64, "fsqrt.f64"},
	{lir.FMA, lir.None, lir.F32, "fma231.f32"}, {lir.FMA, lir.None, lir.F64, "fma213.f64"},
	{lir.FFloor, lir.None, lir.F32, "round.f32"}, {lir.FNearest, lir.None, lir.F64, "round.f64"},
	{lir.Add, lir.None, lir.I32, "add.32"}, {lir.Add, lir.None, lir.I64, "add.64"},
	{lir.Sub, lir.None, lir.I32, "sub.32"}, {lir.Sub, lir.None, lir.I64, "sub.64"},
	{lir.Mul, lir.None, lir.I32, "mul.32"}, {lir.Mul, lir.None, lir.I64, "mul.64"},
	{lir.And, lir.None, lir.I32, "vand"}, {lir.Or, lir.None, lir.I64, "vor"}, {lir.Xor, lir.None, lir.I32, "vxor"},
	{lir.Shl, lir.None, lir.I32, "shl.32"}, {lir.Shl, lir.None, lir.I64, "shl.64"},
	{lir.ShrU, lir.None, lir.I32, "shru.32"}, {lir.ShrU, lir.None, lir.I64, "shru.64"},
	{lir.ShrS, lir.None, lir.I32, "shrs.32"}, {lir.ShrS, lir.None, lir.I64, "shrs.64"},
	{lir.SToF, lir.I32, lir.F32, "cvt.i32.f32"}, {lir.SToF, lir.I64, lir.F64, "cvt.i64.f64"},
	{lir.UToF, lir.I32, lir.F32, "cvt.u32.f32"}, {lir.UToF, lir.I64, lir.F64, "cvt.u64.f64"},
	{lir.FToS, lir.F32, lir.I32, "trunc.f32.i32"}, {lir.FToS, lir.F64, lir.I64, "trunc.f64.i64"},
	{lir.FToU, lir.F32, lir.I32, "trunc.f32.u32"}, {lir.FToU, lir.F64, lir.I64, "trunc.f64.u64"},
	{lir.Promote, lir.F32, lir.F64, "cvt.f32.f64"},
}

// TestSemantics: a level claims a vector operation exactly if its part of the
// instruction table has it.
func TestSemantics(t *testing.T) {
	for _, l := range levels() {
		have := map[string]bool{}
		for _, f := range asm.Instructions().Forms {
			if l.usable(f) && len(f.Ops) > 0 && f.Ops[0].Kind == asm.KVec && int(f.Ops[0].Size) == l.VecBytes {
				have[f.Sem] = true
			}
		}
		for _, s := range semantics {
			if got := l.hasVec(s.op, s.to, s.from, l.VecBytes/s.to.Size()); got != have[s.sem] {
				t.Errorf("%s: claims %v of %v: %v, the table has %s: %v", l.Name, s.op, s.to, got, s.sem, have[s.sem])
			}
		}
	}
}
