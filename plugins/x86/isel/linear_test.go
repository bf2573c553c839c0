package isel

import (
	"context"
	"testing"
	"time"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// longFunc is straight code and small loops of about n statements.
func longFunc(l *Level, n int) *lir.Module {
	b := lir.NewFunc("long")
	in := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: 4096})
	out := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: 4096})
	v := lir.Vec(lir.F32, l.VecBytes/4)
	for i := 0; i < n/10; i++ {
		b.Node = int32(i)
		b.For(b.Ix(0), b.Ix(64), int64(v.Lanes), nil, func(ix lir.Value, _ []lir.Value) []lir.Value {
			at := lir.Addr{Buf: in, Index: ix, Scale: 4, Disp: int64(i % 32 * 64)}
			x := b.Load(v, lir.M32, at)
			y := b.Op(lir.FAdd, x, b.Const(v, int64(i%7)<<23))
			y = b.Op(lir.FMul, y, x)
			at.Buf = out
			b.Store(lir.M32, at, b.Op(lir.Canon, y))
			return nil
		})
	}
	return &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}
}

// TestCompileIsLinear: ten times the code may cost about ten times the time.
func TestCompileIsLinear(t *testing.T) {
	l := AVX2()
	cost := func(n int) time.Duration {
		m := longFunc(l, n)
		best := time.Hour
		for i := 0; i < 3; i++ {
			start := time.Now()
			if _, err := l.Compile(context.Background(), m, Options{}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	small, large := cost(2000), cost(20000)
	t.Logf("2000 statements %v, 20000 statements %v", small, large)
	if large > 25*small { // noise of a shared machine included
		t.Errorf("ten times the code costs %.1f times the time", float64(large)/float64(small))
	}
}

func BenchmarkCompile(b *testing.B) {
	l := AVX512()
	m := longFunc(l, 10000)
	for b.Loop() {
		if _, err := l.Compile(context.Background(), m, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		(&Level{Name: "avx512", VecBytes: 64, Masks: true, have: AVX512().have}).prepare()
	}
}
