package pipeline

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/internal/toy"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/regalloc"
)

// run takes f through the pipeline and compares what both forms compute.
func run(t *testing.T, f *mir.Func, o Options) (*mir.Func, *regalloc.Report) {
	t.Helper()
	before := f.String()
	o.Check = true
	g, rep, err := Run(context.Background(), f, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	if f.String() != before {
		t.Fatal("the input function was changed")
	}
	args := []uint64{3, 77, 5, 9}
	var mem [toy.MemCells]uint64
	for i := range mem {
		mem[i] = uint64(i * i)
	}
	want, err := toy.Run(f, args, mem, 1<<18)
	if err != nil {
		return g, rep // nested loops ran for too long; the checker has seen it
	}
	got, err := toy.Run(g, args, mem, 1<<21)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, f, g)
	}
	if got.Ret != want.Ret || got.Mem != want.Mem {
		t.Fatalf("results differ: %d, want %d\n%s\n%s", got.Ret, want.Ret, f, g)
	}
	return g, rep
}

func targets() []*mir.Target {
	return []*mir.Target{toy.New(6, 4, 2), toy.New(8, 5, 2), toy.New(16, 16, 7)}
}

func randomProgram(seed int64) *mir.Func {
	r := rand.New(rand.NewSource(seed))
	s := toy.Shape{Stmts: 3 + r.Intn(14), Depth: r.Intn(4), Live: 3 + r.Intn(12)}
	return toy.Random(targets()[uint64(seed)%3], r, s)
}

func TestRandomPrograms(t *testing.T) {
	for seed := range int64(80) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { run(t, randomProgram(seed), Options{}) })
	}
}

func FuzzPipeline(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) { run(t, randomProgram(seed), Options{}) })
}

func TestDeterministic(t *testing.T) {
	for seed := range int64(10) {
		a, ra := run(t, randomProgram(seed), Options{})
		b, rb := run(t, randomProgram(seed), Options{})
		if a.String() != b.String() || ra.String() != rb.String() {
			t.Fatalf("seed %d: two runs differ", seed)
		}
	}
}

// matmul builds the inner kernel of a rows x cols matmul tile: accumulators live across
// a k-loop unrolled by unroll, one load per column and step, the row from memory.
func matmul(tg *mir.Target, rows, cols, unroll int) *mir.Func {
	b := mir.NewBuilder(tg, "matmul", toy.R(0), toy.R(1), toy.R(2), toy.R(3))
	ap, bp, cp, k := b.Params(0)[0], b.Params(0)[1], b.Params(0)[2], b.Params(0)[3]
	cs := []mir.Class{toy.GP, toy.GP, toy.GP}
	args := []mir.Reg{ap, bp, k}
	zero := b.OpImm(1, toy.VSet, 0)
	for range rows * cols {
		cs, args = append(cs, toy.Vec), append(args, zero)
	}
	loop, done := b.Block(cs...), b.Block()
	b.Jump(1, loop, args...)
	b.Start(loop)
	p := append([]mir.Reg(nil), b.Params(loop)...)
	acc := p[3:]
	for u := range unroll {
		var col []mir.Reg
		for c := range cols {
			col = append(col, b.OpMem(2, toy.VLoad, mir.Addr{Base: p[1], Disp: int32(8 * (u*cols + c)), Alias: 1}))
		}
		for r := range rows {
			for c := range cols {
				x := r*cols + c
				acc[x] = b.OpMem(3, toy.VFmaM, mir.Addr{Base: p[0], Disp: int32(8 * (u*rows + r)), Alias: 2}, acc[x], col[c])
			}
		}
	}
	p[0] = b.OpMem(4, toy.Lea, mir.Addr{Base: p[0], Disp: int32(8 * rows * unroll)})
	p[1] = b.OpMem(4, toy.Lea, mir.Addr{Base: p[1], Disp: int32(8 * cols * unroll)})
	latch := b.Block()
	i := b.F.NumInsts()
	b.Branch(4, toy.DecBr, mir.Args{Uses: []mir.Reg{p[2]}}, mir.To(latch), mir.To(done))
	p[2] = b.DefK(int32(i), 0)
	b.Start(latch)
	b.Jump(4, loop, p...)
	b.Start(done)
	for x, v := range acc {
		b.Store(5, toy.VStore, mir.Addr{Base: cp, Disp: int32(8 * x), Alias: 3}, v)
	}
	b.Ret(5, toy.Ret, cp)
	f, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return f
}

func TestMatmulHasNoSpills(t *testing.T) {
	for _, c := range []struct{ rows, cols, unroll, vec int }{
		{14, 2, 1, 32}, {14, 2, 4, 32}, {6, 2, 8, 16}, {7, 4, 4, 32}, {15, 2, 2, 32},
	} {
		t.Run(fmt.Sprintf("%dx%dx%d", c.rows, c.cols, c.unroll), func(t *testing.T) {
			_, rep := run(t, matmul(toy.New(16, c.vec, 7), c.rows, c.cols, c.unroll), Options{})
			l := rep.Loops[0]
			if rep.SpillsInInnerLoops() != 0 || l.Moves != 0 || l.Remats != 0 || rep.Total.Spills != 0 {
				t.Errorf("inserted code in the inner loop:\n%s", rep)
			}
		})
	}
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name string
		f    *mir.Func
	}{
		{"matmul_3x2", matmul(toy.New(8, 9, 2), 3, 2, 2)},
		{"matmul_spill", matmul(toy.New(6, 4, 2), 3, 1, 2)},
		{"random_7", toy.Random(toy.New(6, 4, 2), rand.New(rand.NewSource(7)), toy.Shape{Stmts: 6, Depth: 1, Live: 8})},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, rep := run(t, c.f, Options{})
			golden(t, c.name, c.f.String()+"\n"+g.String()+"\n"+rep.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("KERA_UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("%s line %d: got %q, want %q (KERA_UPDATE=1 rewrites it)", path, i+1, g[i], w[i])
			}
		}
		t.Fatalf("%s: %d lines, want %d", path, len(g), len(w))
	}
}

// TestLinear: ten times the instructions cost about ten times the time. The bound is
// loose because the machine is shared.
func TestLinear(t *testing.T) {
	cost := func(stmts int) time.Duration {
		f := toy.Random(toy.New(16, 16, 7), rand.New(rand.NewSource(3)), toy.Shape{Stmts: stmts, Live: 20})
		best := time.Hour
		for range 5 {
			at := time.Now()
			if _, _, err := Run(context.Background(), f, Options{}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(at))
		}
		return best
	}
	small, big := cost(1000), cost(10000)
	t.Logf("1k: %v, 10k: %v, ratio %.1f", small, big, float64(big)/float64(small))
	if big > 30*small {
		t.Errorf("10k instructions took %v, 1k took %v", big, small)
	}
}
