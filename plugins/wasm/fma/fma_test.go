package fma

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

const (
	pageSize = 1 << 16
	capacity = 1 << 15 // cases in one call
)

// form describes one kind for the harness: bytes of an element, lanes, the
// vector or scalar loads and stores.
type form struct {
	kind        Kind
	size, lanes int
	load, store string
	t           wenc.ValType
}

var forms = [...]form{
	{F32, 4, 1, "f32.load", "f32.store", wenc.F32},
	{F64, 8, 1, "f64.load", "f64.store", wenc.F64},
	{F32x4, 4, 4, "v128.load", "v128.store", wenc.V128},
	{F64x2, 8, 2, "v128.load", "v128.store", wenc.V128},
}

// harness is an instance with one loop per form: run_K(bytes) reads arrays a, b
// and c and writes the results over a.
type harness struct {
	mod api.Module
}

func buildHarness() []byte {
	m := wenc.NewModule(wenc.NewIndex())
	area := uint64(capacity * 8)
	m.Memory(uint32(3*area/pageSize), 0)
	m.ExportMemory("memory")
	idx := Add(m, F32, F64, F32x4, F64x2)
	for _, fm := range forms {
		f, n := m.Func(fmt.Sprintf("run_%d", fm.kind), []wenc.ValType{wenc.I32}, nil)
		i := f.Local(wenc.I32)
		top := f.Loop(wenc.BlockVoid)
		f.Get(i)
		for k := range uint64(3) {
			f.Get(i)
			f.I(fm.load, 0, k*area)
		}
		f.Call(idx[fm.kind])
		f.I(fm.store, 0, 0)
		f.Get(i)
		f.I32(int32(fm.size * fm.lanes))
		f.I("i32.add")
		f.Tee(i)
		f.Get(0)
		f.I("i32.lt_u")
		f.BrIf(top)
		f.End()
		m.ExportFunc(f.Name(), n)
	}
	b, _ := m.Encode()
	return b
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = rt.Close(ctx) })
	mod, err := rt.Instantiate(ctx, buildHarness())
	if err != nil {
		t.Fatal(err)
	}
	return &harness{mod}
}

// run computes the cases (a, b, c as bits) through one form.
func (h *harness) run(t testing.TB, fm form, cases [][3]uint64) []uint64 {
	t.Helper()
	out := make([]uint64, 0, len(cases))
	for len(cases) > 0 {
		n := min(len(cases), capacity)
		padded := (n + fm.lanes - 1) / fm.lanes * fm.lanes
		for k := range 3 {
			buf := make([]byte, padded*fm.size)
			for i := range n {
				putBits(buf[i*fm.size:], fm.size, cases[i][k])
			}
			h.mod.Memory().Write(uint32(k*capacity*8), buf)
		}
		if _, err := h.mod.ExportedFunction(fmt.Sprintf("run_%d", fm.kind)).Call(context.Background(), uint64(padded*fm.size)); err != nil {
			t.Fatal(err)
		}
		buf, _ := h.mod.Memory().Read(0, uint32(n*fm.size))
		for i := range n {
			out = append(out, getBits(buf[i*fm.size:], fm.size))
		}
		cases = cases[n:]
	}
	return out
}

func putBits(b []byte, size int, v uint64) {
	if size == 4 {
		binary.LittleEndian.PutUint32(b, uint32(v))
	} else {
		binary.LittleEndian.PutUint64(b, v)
	}
}

func getBits(b []byte, size int) uint64 {
	if size == 4 {
		return canonical(uint64(binary.LittleEndian.Uint32(b)), 4)
	}
	return canonical(binary.LittleEndian.Uint64(b), 8)
}

// canonical maps every NaN to the one visible NaN.
func canonical(v uint64, size int) uint64 {
	if size == 4 && v&0x7FFFFFFF > 0x7F800000 {
		return 0x7FC00000
	}
	if size == 8 && v&^(1<<63) > 0x7FF0000000000000 {
		return 0x7FF8000000000000
	}
	return v
}

func (h *harness) compare(t *testing.T, fm form, cases [][3]uint64, want []uint64) {
	t.Helper()
	bad := 0
	for i, got := range h.run(t, fm, cases) {
		if got != want[i] {
			if bad++; bad <= 5 {
				t.Errorf("form %d: fma(%#x, %#x, %#x) = %#x, want %#x", fm.kind, cases[i][0], cases[i][1], cases[i][2], got, want[i])
			}
		}
	}
	if bad > 0 {
		t.Errorf("form %d: %d of %d cases differ", fm.kind, bad, len(cases))
	}
}

// sharedFile walks up from the test's directory to the vectors that other
// projects' oracles wrote.
func sharedFile(name string) (string, bool) {
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		p := filepath.Join(dir, "shared", "vectors", "testfloat", name)
		if _, err := os.Stat(p); err == nil {
			return p, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

func readVectors(t *testing.T, path string) (cases [][3]uint64, want []uint64) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(z)
	for sc.Scan() {
		var v [4]uint64
		col := 0
		for _, w := range bytes.Fields(sc.Bytes()) {
			for _, d := range w {
				v[col] = v[col]<<4 | uint64(hexDigit(d))
			}
			col++
		}
		if col != 4 {
			t.Fatalf("%s: bad line %q", path, sc.Text())
		}
		cases, want = append(cases, [3]uint64(v[:3])), append(want, v[3])
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return cases, want
}

func hexDigit(d byte) byte {
	if d <= '9' {
		return d - '0'
	}
	return d&^0x20 - 'A' + 10
}

func TestVectors(t *testing.T) {
	h := newHarness(t)
	for _, v := range []struct {
		name string
		size int
	}{{"f32_mulAdd.txt.gz", 4}, {"f64_mulAdd.txt.gz", 8}} {
		path, ok := sharedFile(v.name)
		if !ok {
			t.Logf("not checked: %s is not present", v.name)
			continue
		}
		cases, want := readVectors(t, path)
		t.Logf("%s: %d cases", v.name, len(cases))
		for _, fm := range forms {
			if fm.size == v.size {
				h.compare(t, fm, cases, want)
			}
		}
	}
}

// exactF32 rounds a*b+c once, with exact arithmetic; finite arguments only.
func exactF32(a, b, c float32) float32 {
	exact := func(x float32) *big.Float { return new(big.Float).SetPrec(1200).SetFloat64(float64(x)) }
	s := exact(a)
	s.Mul(s, exact(b))
	s.Add(s, exact(c))
	if s.Sign() == 0 { // the signs of zeros follow IEEE's own sum
		return float32(a*b) + c
	}
	r, _ := s.Float32()
	return r
}

func wantF32(a, b, c uint64) uint64 {
	x, y, z := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)), math.Float32frombits(uint32(c))
	for _, v := range []float64{float64(x), float64(y), float64(z)} {
		if math.IsInf(v, 0) || math.IsNaN(v) { // exact in f64: no finite product overflows there
			r := float32(float64(float64(x)*float64(y)) + float64(z))
			return canonical(uint64(math.Float32bits(r)), 4)
		}
	}
	return canonical(uint64(math.Float32bits(exactF32(x, y, z))), 4)
}

func wantF64(a, b, c uint64) uint64 {
	r := math.FMA(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c))
	return canonical(math.Float64bits(r), 8)
}

// generator makes operands that provoke: edge values, extreme and close
// exponents, short mantissas (exact ties), cancelling addends.
type generator struct {
	r         *rand.Rand
	size      int
	man, bits uint // mantissa bits, all bits
}

func newGenerator(size int, seed uint64) *generator {
	g := &generator{rand.New(rand.NewPCG(seed, 7)), size, 52, 64}
	if size == 4 {
		g.man, g.bits = 23, 32
	}
	return g
}

func (g *generator) value() uint64 {
	expMax := uint64(1)<<(g.bits-1-g.man) - 1
	sign := g.r.Uint64() & 1 << (g.bits - 1)
	man := g.r.Uint64() & (1<<g.man - 1)
	switch g.r.IntN(6) {
	case 0: // few bits at the top
		man &^= 1<<(g.man-uint(g.r.IntN(6))) - 1
	case 1: // few bits at the bottom
		man &= 1<<uint(g.r.IntN(5)) - 1
	case 2: // a run of ones
		man = (1<<g.man - 1) &^ (1<<uint(g.r.IntN(int(g.man))) - 1)
	}
	exp := g.r.Uint64N(expMax)
	switch g.r.IntN(12) {
	case 0:
		exp = g.r.Uint64N(3) // zero, subnormal, least normal
	case 1:
		exp = expMax - g.r.Uint64N(3) // infinity, NaN, greatest
	case 2, 3, 4, 5, 6, 7:
		exp = expMax/2 + g.r.Uint64N(60) - 30
	}
	return sign | exp<<g.man | man
}

// triple makes c independent, or close to -ab, or at the last places of ab.
func (g *generator) triple() [3]uint64 {
	a, b, c := g.value(), g.value(), g.value()
	if k := g.r.IntN(4); k > 0 {
		p := g.product(a, b)
		switch k {
		case 1:
			c = p ^ 1<<(g.bits-1) ^ g.r.Uint64N(4)
		case 2: // tiny beside ab, or ab tiny beside it
			shift := g.r.Uint64N(2*uint64(g.man)+8) << g.man
			c = (p + shift - g.r.Uint64N(2)*2*shift) & (1<<g.bits - 1)
		}
	}
	return [3]uint64{a, b, c}
}

func (g *generator) product(a, b uint64) uint64 {
	if g.size == 4 {
		return uint64(math.Float32bits(math.Float32frombits(uint32(a)) * math.Float32frombits(uint32(b))))
	}
	return math.Float64bits(math.Float64frombits(a) * math.Float64frombits(b))
}

// fixed are cases from the field and the borders of the fast paths.
var fixed = map[int][][3]uint64{
	4: {{0xea968000, 0x38e3ad00, 0x8b6d2a5a}, {0xc445c000, 0x3a01f1c2, 0x3ee66029}, {1, 1, 1}, {1, 0x80000001, 0},
		{0, 0x80000000, 0x80000000}, {0x7f800000, 0, 0x3f800000}, {0x00800000, 0x3f7fffff, 0x00000000}},
	8: {{1, 1, 1}, {1, 1 << 63, 0}, {0x7fefffffffffffff, 0x4000000000000000, 0xffefffffffffffff},
		{0x7fefffffffffffff, 0x7fefffffffffffff, 0xfff0000000000000}, {0x0010000000000000, 0x3fefffffffffffff, 1},
		{0x0010000000000000, 0x3fe0000000000001, 0x8000000000000001}, {0, 0x8000000000000000, 0x8000000000000000}},
}

func TestOracle(t *testing.T) {
	h := newHarness(t)
	n := 60000
	for _, fm := range forms {
		g := newGenerator(fm.size, uint64(n))
		cases := append([][3]uint64{}, fixed[fm.size]...)
		for len(cases) < n {
			cases = append(cases, g.triple())
		}
		want := make([]uint64, len(cases))
		for i, c := range cases {
			if fm.size == 4 {
				want[i] = wantF32(c[0], c[1], c[2])
			} else {
				want[i] = wantF64(c[0], c[1], c[2])
			}
		}
		h.compare(t, fm, cases, want)
	}
}

// TestTextIsStandard gives the text to another assembler.
func TestTextIsStandard(t *testing.T) {
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("not checked: wat2wasm (Debian wabt) is not installed")
	}
	dir := t.TempDir()
	wat, wasm := filepath.Join(dir, "f.wat"), filepath.Join(dir, "f.wasm")
	if err := os.WriteFile(wat, []byte("(module "+Text+")"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, wat, "-o", wasm).CombinedOutput(); err != nil {
		t.Fatalf("wat2wasm: %v\n%s", err, out)
	}
	want, err := os.ReadFile(wasm)
	if err != nil {
		t.Fatal(err)
	}
	m := wenc.NewModule(wenc.NewIndex())
	m.Assemble(Text)
	if got, _ := m.Encode(); !bytes.HasPrefix(got, want) {
		t.Error("wat2wasm assembles the text differently")
	}
}

func BenchmarkFMA(b *testing.B) {
	h := newHarness(b)
	for _, fm := range forms {
		b.Run(fmt.Sprint(fm.kind), func(b *testing.B) {
			g := newGenerator(fm.size, 1)
			cases := make([][3]uint64, capacity)
			for i := range cases {
				x := uint64(g.r.Uint32N(1<<20)) | 0x3f800000
				if fm.size == 8 {
					x = x << 29 &^ (7 << 61)
					x |= 0x3ff << 52
				}
				cases[i] = [3]uint64{x, x + 5, x + 9}
			}
			h.run(b, fm, cases)
			fn := h.mod.ExportedFunction(fmt.Sprintf("run_%d", fm.kind))
			b.ResetTimer()
			for range b.N {
				if _, err := fn.Call(context.Background(), uint64(capacity*fm.size)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/capacity, "ns/lane")
		})
	}
}
