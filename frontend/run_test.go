package frontend

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/std"
)

func memFS(src string) fstest.MapFS { return fstest.MapFS{"main.kera": {Data: []byte(src)}} }

// compileText compiles one file held in memory.
func compileText(src string, o Options) (*Result, diag.List) {
	o.FS, o.Main = memFS(src), "main.kera"
	return Compile(context.Background(), o)
}

// show prints a value: scalars as numbers, tensors as shape and elements.
func show(v interp.Value) string {
	if v.Type.Kind == types.KindTuple {
		var parts []string
		for _, e := range v.Elems {
			parts = append(parts, show(e))
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	var parts []string
	for i := range int(v.Type.NumElems()) {
		parts = append(parts, showBits(v.Type.DType, v.Bits(i)))
	}
	if v.Type.Rank() == 0 {
		return parts[0]
	}
	s := "[" + strings.Join(parts, " ") + "]"
	if v.Type.Rank() > 1 || len(parts) == 0 {
		s = strings.ReplaceAll(fmt.Sprint(v.Type.Shape()), " ", "x") + s
	}
	return s
}

func showBits(d types.DType, b uint64) string {
	switch {
	case d == types.Bool:
		return fmt.Sprint(b == 1)
	case d == types.F32:
		return fmt.Sprint(math.Float32frombits(uint32(b)))
	case d == types.F64:
		return fmt.Sprint(math.Float64frombits(b))
	case d.IsSigned():
		return fmt.Sprint(int64(b<<(64-d.Bits())) >> (64 - d.Bits()))
	}
	return fmt.Sprint(b)
}

// runMain runs the entry `main` and prints its results, or the trap.
func runMain(g *graph.Graph, inputs ...interp.Value) string {
	x, ok := g.Export("main")
	if !ok {
		return "no entry"
	}
	out, trap, err := interp.Run(context.Background(), g, x, inputs)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case trap != op.TrapNone:
		return "trap " + trap.String()
	}
	var parts []string
	for _, v := range out {
		parts = append(parts, show(v))
	}
	return strings.Join(parts, "; ")
}

// program makes a file of a case: what has no `fn main` is the body of one.
func program(src string) string {
	if strings.Contains(src, "fn main") {
		return src
	}
	typ, body, _ := strings.Cut(src, ": ")
	return "pub fn main() -> " + typ + " {\n" + body + "\n}\n"
}

type runCase struct{ src, want string }

func runCases(t *testing.T, cases []runCase) {
	t.Helper()
	for i, c := range cases {
		res, ds := compileText(program(c.src), Options{})
		if res.Graph == nil {
			t.Errorf("%d: %s\ndoes not compile:\n%s", i, c.src, texts(ds))
			continue
		}
		if got := runMain(res.Graph); got != c.want {
			t.Errorf("%d: %s\ngives %s, want %s", i, c.src, got, c.want)
		}
	}
}

func texts(ds diag.List) string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.Text())
		b.WriteString("\n")
	}
	return b.String()
}

// TestStd compiles every module of the standard library as a program and runs
// its tests.
func TestStd(t *testing.T) {
	for _, m := range std.Modules() {
		t.Run(m.Name, func(t *testing.T) {
			res, ds := compileText(m.Text, Options{Tests: true})
			report(t, ds)
			if len(res.Tests) == 0 {
				t.Error("no tests")
			}
			runTests(t, res)
		})
	}
}

func TestArithmetic(t *testing.T) {
	runCases(t, []runCase{
		{"i64: 1 + 2 * 3", "7"},
		{"i8: 100 + 27", "127"},
		{"i8: 100 + 28", "trap overflow"},
		{"i8: -100 - 28", "-128"},
		{"i8: -100 - 29", "trap overflow"},
		{"u8: 3 - 4", "trap overflow"},
		{"i16: 181 * 181", "32761"},
		{"i16: 182 * 182", "trap overflow"},
		{"i64: 9223372036854775807 + 1", "trap overflow"},
		{"i64: let x = i64.MIN; -x", "trap overflow"},
		{"u32: let x: u32 = 0; -x", "0"},
		{"u32: let x: u32 = 1; -x", "trap overflow"},
		{"i64: abs(i64.MIN)", "trap overflow"},
		{"i64: abs(-3)", "3"},
		{"i64: 7 / 2", "3"},
		{"i64: -7 / 2", "-3"},
		{"i64: -7 % 2", "-1"},
		{"i64: let z = 0; 1 / z", "trap division"},
		{"i64: let z = 0; 1 % z", "trap division"},
		{"i64: let m = -1; i64.MIN / m", "trap division"},
		{"i64: let m = -1; i64.MIN % m", "trap division"},
		{"u8: let a: u8 = 255; let b: u8 = 255; a / b", "1"},
		{"i8: 100 +% 100", "-56"},
		{"i8: 100 +| 100", "127"},
		{"i8: -100 -| 100", "-128"},
		{"i8: -100 *| 100", "-128"},
		{"i8: -100 *| -100", "127"},
		{"u8: 3 -| 4", "0"},
		{"u8: 200 +| 100", "255"},
		{"u8: 16 *| 16", "255"},
		{"u8: 16 *% 17", "16"},
		{"u8: 3 -% 4", "255"},
		{"i32: 1 << 31", "-2147483648"},
		{"i32: 1 << 32", "trap overflow"},
		{"i32: 1 << -1", "trap overflow"},
		{"u8: 255 >> 8", "trap overflow"},
		{"u8: 255 >> 7", "1"},
		{"i8: -128 >> 7", "-1"},
		{"u8: 12 & 10 | 1 ^ 3", "10"},
		{"u8: !15", "240"},
		{"bool: !true | (true ^ true) & false", "false"},
		{"f64: 1 / 3", "0.3333333333333333"},
		{"f32: 1 / 3", "0.33333334"},
		{"f64: 0.1 + 0.2", "0.30000000000000004"},
		{"f64: -7.5 % 2.0", "-1.5"},
		{"f64: 1.0 / 0.0", "+Inf"},
		{"f64: let x = f64.NAN; if x == x { 1.0 } else { 2.0 }", "2"},
		{"f64: min(-0.0, 0.0)", "-0"},
		{"f64: max(f64.NAN, 1.0)", "NaN"},
		{"f64: round_even(2.5) + round_even(-0.5)", "2"},
		{"f64: floor(-1.5) + ceil(1.25) + trunc(-1.75)", "-1"},
		{"f64: fma(0.1, 10.0, -1.0)", "5.551115123125783e-17"},
		{"f64: copysign(3.0, -0.0)", "-3"},
		{"f64: clamp(5, 0.0, 1.0)", "1"},
		{"i64: clamp(5, 0, 3)", "3"},
		{"u32: popcnt(u32.MAX) + clz(u32(1)) + ctz(u32(8))", "66"},
		{"i64: select(1 < 2, 10, 20)", "10"},
		{"f64: sqrt(2)", "1.4142135623730951"},
	})
}

func TestCasts(t *testing.T) {
	runCases(t, []runCase{
		{"i8: let x = 127; i8(x)", "127"},
		{"i8: let x = 128; i8(x)", "trap cast"},
		{"i8: let x = 128; i8.wrap(x)", "-128"},
		{"i8: let x = 128; i8.sat(x)", "127"},
		{"i8: let x = -129; i8.sat(x)", "-128"},
		{"u8: let x = -1; u8.sat(x)", "0"},
		{"u8: let x: i8 = -1; u8.sat(x)", "0"},
		{"i8: let x: u8 = 200; i8.sat(x)", "127"},
		{"i64: let x: u64 = 18446744073709551615; i64.sat(x)", "9223372036854775807"},
		{"u64: let x: i64 = -5; u64.sat(x)", "0"},
		{"u64: let x: i8 = -5; u64.wrap(x)", "18446744073709551611"},
		{"u64: let x: i64 = -5; u64(x)", "trap cast"},
		{"i32: i32(2.9)", "2"},
		{"i32: i32(-2147483648.5)", "-2147483648"},
		{"i32: i32(2147483648.0)", "trap cast"},
		{"i32: i32(f64.NAN)", "trap cast"},
		{"i32: i32.sat(f64.NAN)", "0"},
		{"u8: u8.sat(300.0)", "255"},
		{"f32: f32(16777217)", "1.6777216e+07"},
		{"f32: let x = 16777217; f32(x)", "1.6777216e+07"},
		{"f64: f64(true)", "1"},
		{"i64: i64(3 > 2) + i64(3 < 2)", "1"},
		{"u32: u32.bits(f32(1.0))", "1065353216"},
		{"f32: f32(f16(0.1))", "0.099975586"},
		{"u16: u16.bits(f16(65504.0))", "31743"},
		{"u16: u16.bits(1.00048828125f16)", "15360"},
		{"u16: u16.bits(1.000488281250000001f16)", "15361"},
		{"u16: u16.bits(0.1bf16)", "15821"},
		{"i8[3]: i8.sat([1, 200, -200])", "[1 127 -128]"},
		{"i8[2]: let x = [1, 200]; i8(x)", "trap cast"},
		{"i32: i32(f16(7.9))", "7"},
	})
}

func TestTensors(t *testing.T) {
	runCases(t, []runCase{
		{"i64[3]: [1, 2, 3] + 10", "[11 12 13]"},
		{"i64[2, 2]: [[1], [2]] * [[10, 20]]", "[2x2][10 20 20 40]"},
		{"i8[2]: [100, 100] + [27, 28]", "trap overflow"},
		{"f32[2, 2]: let a: f32[2, 3] = [[1, 2, 3], [4, 5, 6]]; a @ transpose(a)", "[2x2][14 32 32 77]"},
		{"f64: [1.0, 2.0] @ [3.0, 4.0]", "11"},
		{"f64[2]: [[1.0, 2.0], [3.0, 4.0]] @ [1.0, -1.0]", "[-1 -1]"},
		{"f64[2]: [1.0, -1.0] @ [[1.0, 2.0], [3.0, 4.0]]", "[-2 -2]"},
		{"f64[2, 1, 1]: let a = [[[1.0, 2.0]], [[3.0, 4.0]]]; a @ [[[1.0], [1.0]], [[1.0], [2.0]]]", "[2x1x1][3 11]"},
		{"f64[2, 1, 1]: let a = [[[1.0, 2.0]], [[3.0, 4.0]]]; a @ [[1.0], [10.0]]", "[2x1x1][21 43]"},
		{"i64: let a: i8[2] = [100, 100]; a @ a", "20000"},
		{"i64: let a: i32[2] = [2147483647, -2147483648]; a @ a", "9223372032559808513"},
		{"i64: let a: i32[3] = [-2147483648, -2147483648, 0]; a @ a", "trap overflow"},
		{"i64: let a: u32[2] = [4294967295, 1]; let b: u32[2] = [2147483648, 7]; a @ b", "9223372034707292167"},
		{"i32: let a: u8[2] = [255, 255]; let b: i8[2] = [-128, -128]; matmul(a, b, acc = i32)", "-65280"},
		{"f32: let a: f32[2] = [16777216, 1]; matmul(a, [1, 1], acc = f64)", "1.6777216e+07"},
		{"i64: let x = [[1, 2, 3], [4, 5, 6]]; x[1, 2]", "6"},
		{"i64[3]: let x = [[1, 2, 3], [4, 5, 6]]; x[1, ..]", "[4 5 6]"},
		{"i64[2, 2]: let x = [[1, 2, 3], [4, 5, 6]]; x[.., 1..3]", "[2x2][2 3 5 6]"},
		{"i64[1, 2, 1]: let x = [1, 2]; x[_, .., _]", "[1x2x1][1 2]"},
		{"i64[2]: let x = [1, 2, 3]; x[1..]", "[2 3]"},
		{"i64[2]: let x = [1, 2, 3]; x[..2]", "[1 2]"},
		{"i64[2]: let x = [1, 2, 3]; let mut i = 1; x[i..i + 2]", "[2 3]"},
		{"i64[0]: let x = [1, 2, 3]; x[1..1]", "[0][]"},
		{"i64: let x = [1, 2, 3]; let mut i = 3; x[i]", "trap index"},
		{"i64: let x = [1, 2, 3]; let mut i = -1; x[i]", "trap index"},
		{"i64: let x = [1, 2, 3]; let i: u64 = 18446744073709551615; x[i]", "trap index"},
		{"i64: let x = [1, 2, 3]; let i: u8 = 2; x[i]", "3"},
		{"i64[3]: sort([3, 1, 2])", "[1 2 3]"},
		{"i64[3]: sort([3, 1, 2], descending = true)", "[3 2 1]"},
		{"i64[3]: argsort([3, 1, 2])", "[1 2 0]"},
		{"i64[2]: argmax([[1, 5, 5], [7, 2, 3]], axis = 1)", "[1 0]"},
		{"i64: argmin([3.0, f64.NAN, 1.0])", "1"},
		{"i64: sum([[1, 2], [3, 4]])", "10"},
		{"i64[2]: sum([[1, 2], [3, 4]], axis = 0)", "[4 6]"},
		{"i64[2]: prod([[1, 2], [3, 4]], axis = 1)", "[2 12]"},
		{"i64: max([3, 9, 2]) - min([3, 9, 2])", "7"},
		{"bool: any([false, true]) && !all([false, true])", "true"},
		{"f64: dot([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])", "32"},
		{"i64[3, 2]: reshape([1, 2, 3, 4, 5, 6], [3, 2])", "[3x2][1 2 3 4 5 6]"},
		{"i64[5]: concat([1, 2], [3], [4, 5])", "[1 2 3 4 5]"},
		{"i64[2, 2]: concat([[1], [2]], [[3], [4]], axis = 1)", "[2x2][1 3 2 4]"},
		{"i64[3]: gather([10, 20, 30], [2, 0, 2])", "[30 10 30]"},
		{"i64[3]: gather([10, 20, 30], [2, 0, 3])", "trap index"},
		{"i64[4]: iota(4)", "[0 1 2 3]"},
		{"i64: len([[1, 2, 3]], axis = 1)", "3"},
		{"f64[2, 2]: broadcast(1.5, [2, 2])", "[2x2][1.5 1.5 1.5 1.5]"},
		{"bool: all([1, 2] == [1, 2])", "true"},
		{"i64[0]: let x: i64[0] = []; x", "[0][]"},
		{"f32[2]: [1, 2.5]", "[1 2.5]"},
	})
}
