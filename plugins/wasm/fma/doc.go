// Package fma computes fused multiply-add, one rounding to nearest even, with
// WebAssembly's plain simd128, which has no such instruction. The functions are
// text (fma.wat), assembled into the module that uses them.
//
//   - f32: the product of two f32 is exact in f64; the addend is added in f64,
//     and the error of that sum (Knuth's TwoSum) is folded in by rounding to odd,
//     so the single demotion rounds as if from the exact value. The f32x4 form
//     does so only when a lane lies where it matters; elsewhere the demotion of
//     the plain sum is already right.
//   - f64: Dekker's product and two TwoSums give the exact sum in three parts,
//     and the two lower ones, rounded to odd, decide the last rounding (Boldo and
//     Melquiond, "Emulation of FMA and correctly rounded sums", 2008). This holds
//     while |a|, |b|, |c| and |ab| stay below 2^990 and |ab| above 2^-960, which
//     is tested first. Otherwise 128-bit integers do the work.
//
// What must hold: bit-exact for every input, except that a NaN result may carry
// any payload.
package fma

import (
	_ "embed"

	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// Text is the source of the functions, in the WebAssembly text format.
//
//go:embed fma.wat
var Text string

// Kind selects one form.
type Kind int

// The forms; each but the last takes a, b, c of its type and returns a*b+c.
const (
	F32 Kind = iota
	F64
	F32x4
	F64x2
	OddSumF64x2 // takes a and b only: a+b rounded to odd, for code that inlines F32x4
	NumKinds
)

var names = [NumKinds]string{"$fma_f32", "$fma_f64", "$fma_f32x4", "$fma_f64x2", "$odd_sum_f64x2"}

// Add puts the wanted forms and what they need into a module and returns their
// function indices by Kind.
func Add(m *wenc.Module, kinds ...Kind) [NumKinds]uint32 {
	var out [NumKinds]uint32
	if len(kinds) == 0 {
		return out
	}
	roots := make([]string, len(kinds))
	for i, k := range kinds {
		roots[i] = names[k]
	}
	funcs := m.Assemble(Text, roots...)
	for _, k := range kinds {
		out[k] = funcs[names[k]]
	}
	return out
}
