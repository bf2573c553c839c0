package interp

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestGen: every case is well formed and canonical, repeats exactly, and the
// cases together reach the values where rules change.
func TestGen(t *testing.T) {
	for _, d := range types.DTypes() {
		tt := types.Tensor(d, 40)
		seen := map[uint64]bool{}
		var last []byte
		for n := range 2 * genKinds {
			v := Gen(tt, 7, n)
			if err := v.check(tt); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(v.Data, Gen(tt, 7, n).Data) {
				t.Errorf("%s case %d does not repeat", d, n)
			}
			if !bytes.Equal(v.Data, Canonical(d, v.Data)) {
				t.Errorf("%s case %d is not canonical", d, n)
			}
			if n == genMixed+genKinds && d != types.Bool && bytes.Equal(v.Data, last) {
				t.Errorf("%s: a second round repeats the first", d)
			}
			if n == genMixed {
				last = v.Data
			}
			for i := range 40 {
				seen[v.Bits(i)] = true
			}
		}
		missing := 0
		for _, e := range Edges(d) {
			if !seen[numeric.Canon(d, e)] {
				missing++
			}
		}
		if missing > len(Edges(d))/3 {
			t.Errorf("%s: %d of %d edges never drawn", d, missing, len(Edges(d)))
		}
	}
	// Part of the contract: the bytes do not change from release to release.
	if got := show(Gen(types.Tensor(types.I16, 4), 1, genOrdinary)); got != goldenGen {
		t.Errorf("Gen changed: %s", got)
	}
	pair := Gen(types.Tuple(types.Scalar(types.F32), types.Tensor(types.I8, 2)), 1, 0)
	if len(pair.Elems) != 2 || len(pair.Elems[1].Data) != 2 {
		t.Errorf("tuple came out as %v", pair)
	}
}

const goldenGen = "i16[4]: -8 26 42 12"

// TestLongReductions checks lanes and chunks through the graph, on transposed
// axes too, against core/numeric on the same numbers.
func TestLongReductions(t *testing.T) {
	n := int64(9001)
	tt := types.Tensor(types.F32, n, 2)
	v := Gen(tt, 3, genOrdinary)
	b := newTB(t)
	p := b.Param(0, tt)
	flat := b.Reduce(op.Sum, p, 0, 1)
	col := b.Reduce(op.Sum, p, 0)
	dot := b.N(op.Dot, op.Attrs{op.Int(op.KAxis, 0)}, p, p)
	gen := b.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, 0), op.Ints(op.KLhsBatch, 1), op.Ints(op.KRhsBatch, 1),
		op.Ints(op.KLhsContract, 0), op.Ints(op.KRhsContract, 0)), p, p)
	x := b.export([]string{tt.String()}, flat, col, dot, gen, b.NoTrap())
	out, _, err := Run(context.Background(), b.g, x, []Value{v})
	if err != nil {
		t.Fatal(err)
	}
	add := func(a, b float32) float32 { return a + b }
	at := func(i int) float32 { return math.Float32frombits(uint32(v.Bits(i))) }
	check := func(name string, got uint64, want float32) {
		if uint32(got) != math.Float32bits(want) {
			t.Errorf("%s: %x, want %x", name, got, math.Float32bits(want))
		}
	}
	check("flat", out[0].Bits(0), numeric.ReduceOrder(int(2*n), at, add))
	for j := range 2 {
		col := func(i int) float32 { return at(2*i + j) }
		check("column", out[1].Bits(j), numeric.ReduceOrder(int(n), col, add))
		check("dot", out[2].Bits(j), numeric.Dot32(int(n), col, col))
		check("chain", out[3].Bits(j), numeric.Chain(int(n), 0,
			func(acc float32, i int) float32 { return numeric.FMA32(col(i), col(i), acc) }, add))
	}
}

func matmul(t testing.TB, n int64) (*tb, *graph.Export, []Value) {
	b := newTB(t)
	tt := types.Tensor(types.F32, n, n)
	mm := op.NewAttrs(op.Int(op.KAcc, 0), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch), op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0))
	x := b.export([]string{tt.String(), tt.String()}, b.N(op.DotGeneral, mm, b.Param(0, tt), b.Param(1, tt)), b.NoTrap())
	return b, x, GenAll([]types.Type{tt, tt}, 1, 0)
}

func BenchmarkMatmul256(b *testing.B) {
	g, x, in := matmul(b, 256)
	for b.Loop() {
		if _, _, err := Run(context.Background(), g.g, x, in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScalarLoop measures the cost of a node in a loop body.
func BenchmarkScalarLoop(b *testing.B) {
	g := newTB(b)
	x := loopSum(g)
	in := []Value{ScalarValue(types.I64, 1e6), ScalarValue(types.I64, 0), ScalarValue(types.I64, 1e7)}
	for b.Loop() {
		if _, _, err := Run(context.Background(), g.g, x, in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChain1M(b *testing.B) {
	g := newTB(b)
	tt := types.Tensor(types.F32, 1<<20)
	p := g.Param(0, tt)
	v := g.N(op.Add, nil, g.N(op.Mul, nil, p, p), p)
	x := g.export([]string{tt.String()}, g.N(op.Max, nil, g.N(op.Neg, nil, v), p), g.Reduce(op.Sum, v, 0), g.NoTrap())
	in := []Value{Gen(tt, 1, 0)}
	for b.Loop() {
		if _, _, err := Run(context.Background(), g.g, x, in); err != nil {
			b.Fatal(err)
		}
	}
}
