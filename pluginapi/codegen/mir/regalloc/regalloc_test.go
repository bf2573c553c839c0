package regalloc

import (
	"flag"
	"fmt"
	"math/rand"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/internal/toy"
)

var seeds = flag.Int("seeds", 120, "number of random programs")

// agree allocates f, checks it symbolically, and compares runs of both forms.
func agree(t *testing.T, f *mir.Func) *Report {
	t.Helper()
	g, rep, err := Run(f, Options{Check: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	args := []uint64{3, 77, 5}
	var mem [toy.MemCells]uint64
	for i := range mem {
		mem[i] = uint64(i * i)
	}
	want, err := toy.Run(f, args, mem, 1<<20)
	if err != nil {
		t.Skip(err) // too long to run: the generator nested too many loops
	}
	got, err := toy.Run(g, args, mem, 1<<23)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, f, g)
	}
	if got.Ret != want.Ret || got.Mem != want.Mem {
		t.Fatalf("results differ: %d, want %d\n%s\n%s", got.Ret, want.Ret, f, g)
	}
	return rep
}

func TestRandom(t *testing.T) {
	targets := []*mir.Target{toy.New(6, 4, 2), toy.New(8, 5, 2), toy.New(16, 16, 7)}
	for seed := range *seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewSource(int64(seed)))
			s := toy.Shape{Stmts: 4 + r.Intn(20), Depth: r.Intn(4), Live: 3 + r.Intn(12)}
			agree(t, toy.Random(targets[seed%len(targets)], r, s))
		})
	}
}
