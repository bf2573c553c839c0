package numeric

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/types"
)

const (
	p0, m0   = 0x00000000, 0x80000000
	inf, nan = 0x7f800000, 0x7fc00000
	one      = 0x3f800000
)

func TestFloatEdges(t *testing.T) {
	const d = types.F32
	b := func(op Op) func(x ...uint64) uint64 {
		return func(x ...uint64) uint64 { return BinaryOf(op, d)(x[0], x[1]) }
	}
	u := func(op Op) func(x ...uint64) uint64 {
		return func(x ...uint64) uint64 { return UnaryOf(op, d)(x[0]) }
	}
	cmp := func(p Pred, total bool) func(x ...uint64) uint64 {
		return func(x ...uint64) uint64 { return CompareOf(p, total, d)(x[0], x[1]) }
	}
	for _, c := range []struct {
		name string
		f    func(x ...uint64) uint64
		in   []uint64
		want uint64
	}{
		{"min(-0,+0)", b(Min), []uint64{m0, p0}, m0},
		{"min(+0,-0)", b(Min), []uint64{p0, m0}, m0},
		{"max(-0,+0)", b(Max), []uint64{m0, p0}, p0},
		{"max(+0,-0)", b(Max), []uint64{p0, m0}, p0},
		{"min(1,nan)", b(Min), []uint64{one, 0xffc00001}, nan},
		{"max(nan,1)", b(Max), []uint64{0x7f800001, one}, nan},
		{"min(1,inf)", b(Min), []uint64{one, inf}, one},
		{"copysign(1,-nan)", b(CopySign), []uint64{one, 0xffc00000}, one},
		{"copysign(1,-0)", b(CopySign), []uint64{one, m0}, 0xbf800000},
		{"copysign(-nan,1)", b(CopySign), []uint64{0xffc00000, one}, nan},
		{"rem(inf,1)", b(Rem), []uint64{inf, one}, nan},
		{"rem(1,0)", b(Rem), []uint64{one, p0}, nan},
		{"rem(1,inf)", b(Rem), []uint64{one, inf}, one},
		{"rem(-0,1)", b(Rem), []uint64{m0, one}, m0},
		{"rem(-1,1)", b(Rem), []uint64{0xbf800000, one}, m0},
		{"rem(1,nan)", b(Rem), []uint64{one, nan}, nan},
		{"neg(nan)", u(Neg), []uint64{nan}, nan},
		{"neg(+0)", u(Neg), []uint64{p0}, m0},
		{"abs(-inf)", u(Abs), []uint64{0xff800000}, inf},
		{"sqrt(-0)", u(Sqrt), []uint64{m0}, m0},
		{"sqrt(-1)", u(Sqrt), []uint64{0xbf800000}, nan},
		{"round_even(2.5)", u(RoundEven), []uint64{0x40200000}, 0x40000000},
		{"round_even(-0.5)", u(RoundEven), []uint64{0xbf000000}, m0},
		{"ceil(-0.5)", u(Ceil), []uint64{0xbf000000}, m0},
		{"-0 == +0", cmp(EQ, false), []uint64{m0, p0}, 1},
		{"nan == nan", cmp(EQ, false), []uint64{nan, nan}, 0},
		{"nan != nan", cmp(NE, false), []uint64{nan, nan}, 1},
		{"1 < nan", cmp(LT, false), []uint64{one, nan}, 0},
		{"total -0 < +0", cmp(LT, true), []uint64{m0, p0}, 1},
		{"total inf < -nan", cmp(LT, true), []uint64{inf, 0xffc00000}, 1},
		{"total nan == nan", cmp(EQ, true), []uint64{nan, 0xff800001}, 1},
	} {
		if got := c.f(c.in...); got != c.want {
			t.Errorf("%s = %08x, want %08x", c.name, got, c.want)
		}
	}
}

// TestFieldCases runs the rows of numeric.tsv that are single scalar operations
// or two of them.
func TestFieldCases(t *testing.T) {
	f, err := os.Open(filepath.Join(sharedDir(t, "cases"), "numeric.tsv"))
	if err != nil {
		t.Skip("not checked: no numeric.tsv")
	}
	defer f.Close()
	bin := func(op Op, d types.DType) func(x []uint64) uint64 {
		return func(x []uint64) uint64 { return BinaryOf(op, d)(x[0], x[1]) }
	}
	conv := func(from, to types.DType) func(x []uint64) uint64 {
		return func(x []uint64) uint64 { return ConvertOf(from, to)(x[0]) }
	}
	run := map[string]func(x []uint64) uint64{
		"div-self":  func(x []uint64) uint64 { return BinaryOf(Div, types.F32)(x[0], x[0]) },
		"div-exact": bin(Div, types.F32),
		"no-fuse": func(x []uint64) uint64 {
			return BinaryOf(Sub, types.F64)(math.Float64bits(1), BinaryOf(Mul, types.F64)(x[0], x[1]))
		},
		"unfused-chain": func(x []uint64) uint64 {
			return BinaryOf(Add, types.F32)(BinaryOf(Mul, types.F32)(x[0], x[1]), x[2])
		},
		"fused-chain":         func(x []uint64) uint64 { return TernaryOf(FMA, types.F32)(x[0], x[1], x[2]) },
		"fma-double-rounding": func(x []uint64) uint64 { return TernaryOf(FMA, types.F32)(x[0], x[1], x[2]) },
		"inf-times-denormal":  bin(Mul, types.F32),
		"inf-to-int":          conv(types.F32, types.I32),
		"neg-to-u8":           conv(types.F32, types.U8),
		"int-div-zero":        bin(Div, types.I32),
		"nan-sign": func(x []uint64) uint64 {
			return BitcastOf(types.F32, types.U32)(BinaryOf(Div, types.F32)(x[0], x[1]))
		},
	}
	seen := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		col := strings.Split(sc.Text(), "\t")
		g, ok := run[col[0]]
		if !ok {
			continue
		}
		seen++
		var in []uint64
		for _, s := range strings.Fields(col[2]) {
			in = append(in, hex(t, s))
		}
		if got, want := g(in), hex(t, col[3]); got != want {
			t.Errorf("%s: %s of %s = %x, want %s", col[0], col[1], col[2], got, col[3])
		}
	}
	if seen != len(run) {
		t.Errorf("%d of %d rows found", seen, len(run))
	}
	// Rows that list several values.
	for x, want := range map[uint64]uint64{0x40200000: 0x40000000, 0xbf000000: 0x80000000} {
		if got := UnaryOf(RoundEven, types.F32)(x); got != want {
			t.Errorf("round_even(%x) = %x", x, got)
		}
	}
	for x := range uint64(4) {
		if got := BinaryOf(Shr, types.I32)(x, 0xffffffff); got != 0 {
			t.Errorf("%d shr -1 = %x", x, got)
		}
	}
}

func hex(t *testing.T, s string) (v uint64) {
	t.Helper()
	for _, c := range s {
		i := strings.IndexRune("0123456789abcdef", c)
		if i < 0 {
			t.Fatalf("not hexadecimal: %q", s)
		}
		v = v<<4 | uint64(i)
	}
	return v
}

// TestOrder writes the tree of combinations out as text.
func TestOrder(t *testing.T) {
	tree := func(n int) string {
		return ReduceOrder(n, func(i int) string { return string(rune('a' + i)) },
			func(a, b string) string { return "(" + a + b + ")" })
	}
	for _, c := range []struct {
		n    int
		want string
	}{
		{1, "a"}, {2, "(ab)"}, {3, "((ac)b)"}, {4, "((ac)(bd))"}, {5, "(((ae)c)(bd))"},
		{6, "(((ae)c)((bf)d))"},
	} {
		if got := tree(c.n); got != c.want {
			t.Errorf("order of %d: %s, want %s", c.n, got, c.want)
		}
	}
}

// naive is the page's rule written a second way: explicit lists of lanes.
func naive(xs []float32) float32 {
	if len(xs) > 4096 {
		var parts []float32
		for c := range slices.Chunk(xs, 4096) {
			parts = append(parts, naive(c))
		}
		return naive(parts)
	}
	lanes := make([]*float32, 64)
	for i, x := range xs {
		if p := lanes[i%64]; p != nil {
			*p += x
		} else {
			lanes[i%64] = &x
		}
	}
	for len(lanes) > 1 {
		h := len(lanes) / 2
		for i := range h {
			if lanes[i+h] != nil {
				*lanes[i] += *lanes[i+h]
			}
		}
		lanes = lanes[:h]
	}
	return *lanes[0]
}

func TestReduceLengths(t *testing.T) {
	for _, n := range []int{1, 2, 31, 63, 64, 65, 127, 128, 4095, 4096, 4097, 9000, 4096*65 + 3, 4096 * 130} {
		xs := make([]float32, n)
		for i := range xs {
			xs[i] = float32(i%977)*0.37 - float32(i%13)*11.1
		}
		got := ReduceSlice(xs, func(a, b float32) float32 { return a + b })
		if want := naive(xs); math.Float32bits(got) != math.Float32bits(want) {
			t.Errorf("sum of %d: %x, want %x", n, math.Float32bits(got), math.Float32bits(want))
		}
	}
}

func TestDotAndChain(t *testing.T) {
	n := 4096*2 + 100
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i%101)*0.313-15.7, float32(i%89)*0.171-7.6
	}
	step := func(acc float32, i int) float32 { return FMA32(x[i], y[i], acc) }
	add := func(a, b float32) float32 { return a + b }
	want := Chain(n, 0, step, add)
	if got := ChainFMA32(n, x, 1, y, 1); got != want {
		t.Errorf("ChainFMA32 = %v, want %v", got, want)
	}
	if got := ChainFMA32x4(n, x, [4][]float32{y, x, y, y}); got[0] != want || got[3] != want || got[1] != ChainFMA32(n, x, 1, x, 1) {
		t.Errorf("ChainFMA32x4 = %v, want %v", got, want)
	}
	unf := Chain(n, 0, func(acc float32, i int) float32 { return acc + float32(x[i]*y[i]) }, add)
	if got := ChainUnfused(n, x, 1, y, 1); got != unf {
		t.Errorf("ChainUnfused = %v, want %v", got, unf)
	}
	if want == unf {
		t.Error("the data does not tell fused from unfused")
	}
	// A chain starts from +0, so a single product of -0 gives +0; dot keeps -0.
	z := []float32{float32(math.Copysign(0, -1))}
	w := []float32{1}
	if got := ChainFMA32(1, z, 1, w, 1); math.Signbit(float64(got)) {
		t.Error("chain of -0 gave -0")
	}
	at := func(s []float32) func(int) float32 { return func(i int) float32 { return s[i] } }
	if got := Dot32(1, at(z), at(w)); !math.Signbit(float64(got)) {
		t.Error("dot of -0 gave +0")
	}
	if got := Dot32(0, at(z), at(w)); math.Float32bits(got) != 0 {
		t.Error("empty dot is not +0")
	}
	// One term: dot rounds the product; two terms: the second is fused.
	if got, want := Dot32(65, at(x), at(y)), laneDot(x[:65], y[:65]); got != want {
		t.Errorf("Dot32 = %v, want %v", got, want)
	}
}

func laneDot(x, y []float32) float32 {
	prods := make([]float32, 64)
	for i := range x {
		if i < 64 {
			prods[i] = float32(x[i] * y[i])
		} else {
			prods[i-64] = FMA32(x[i], y[i], prods[i-64])
		}
	}
	return naive(prods)
}

// TestTablesAgree: every function of the tables ignores bits above the width
// and returns none.
func TestTablesAgree(t *testing.T) {
	for _, d := range types.DTypes() {
		w := uint(d.Bits())
		junk := ^(^uint64(0) >> (64 - w))
		for op := Op(0); op < numOps; op++ {
			if f := UnaryOf(op, d); f != nil {
				if a, b := f(1), f(1|junk); a != b || a != zeroExtend(d, a) {
					t.Errorf("%s unary %d: %x, %x", d, op, a, b)
				}
			}
			if f := BinaryOf(op, d); f != nil {
				if a, b := f(1, 1), f(1|junk, 1|junk); a != b || a != zeroExtend(d, a) {
					t.Errorf("%s binary %d: %x, %x", d, op, a, b)
				}
			}
		}
		for _, to := range types.DTypes() {
			f, g := ConvertOf(d, to), ConvertOvfOf(d, to)
			if a, b := f(1), f(1|junk); a != b || a != zeroExtend(to, a) {
				t.Errorf("convert %s to %s: %x, %x", d, to, a, b)
			}
			if g(1) != g(1|junk) {
				t.Errorf("convert_overflow %s to %s reads junk", d, to)
			}
		}
	}
}

func BenchmarkFMA32(b *testing.B) {
	x, y, acc := float32(1.25), float32(0.75), float32(0)
	for b.Loop() {
		acc = FMA32(x, y, acc)
		x += 0.001
	}
	if acc < 0 {
		b.Fatal()
	}
}
