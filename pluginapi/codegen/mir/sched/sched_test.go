package sched

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/internal/toy"
)

// TestRandom reorders virtual programs and compares what they compute.
func TestRandom(t *testing.T) {
	for seed := range int64(80) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewSource(seed))
			f := toy.Random(toy.New(8, 8, 3), r, toy.Shape{Stmts: 5 + r.Intn(60), Depth: r.Intn(2), Live: 4 + r.Intn(10)})
			g := Run(f)
			if err := g.Verify(); err != nil {
				t.Fatalf("%v\n%s", err, g)
			}
			var mem [toy.MemCells]uint64
			for i := range mem {
				mem[i] = r.Uint64()
			}
			args := []uint64{r.Uint64(), r.Uint64(), 7}
			want, err := toy.Run(f, args, mem, 1<<18)
			if err != nil {
				t.Skip(err)
			}
			got, err := toy.Run(g, args, mem, 1<<18)
			if err != nil || got.Ret != want.Ret || got.Mem != want.Mem {
				t.Fatalf("results differ (%v)\n%s\n%s", err, f, g)
			}
		})
	}
}

// straight builds a one-block function from a body.
func straight(tg *mir.Target, body func(b *mir.Builder, p mir.Reg)) *mir.Func {
	b := mir.NewBuilder(tg, "f", toy.R(0))
	body(b, b.Params(0)[0])
	b.Ret(0, toy.Ret, b.Params(0)[0])
	f, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return f
}

// order lists the instructions of the entry block by node.
func order(f *mir.Func) string {
	var s []string
	for i := f.Blocks[0].First; i < f.Blocks[0].End-1; i++ {
		s = append(s, fmt.Sprint(f.Insts[i].Node))
	}
	return strings.Join(s, " ")
}

func TestOrder(t *testing.T) {
	at := func(p mir.Reg, disp, alias int32) mir.Addr { return mir.Addr{Base: p, Disp: disp, Alias: alias} }
	for _, c := range []struct {
		name, want string
		body       func(b *mir.Builder, p mir.Reg)
	}{
		{"long latency first", "2 1 3", func(b *mir.Builder, p mir.Reg) {
			x := b.Op(1, toy.Add, p, p)
			y := b.OpMem(2, toy.Load, at(p, 0, 0))
			b.Op(3, toy.Mul, x, y)
		}},
		{"load stays behind a store that may alias", "1 2 3", func(b *mir.Builder, p mir.Reg) {
			b.Store(1, toy.Store, at(p, 0, 0), p)
			x := b.OpMem(2, toy.Load, mir.Addr{Base: p, Index: p})
			b.Store(3, toy.Store, at(p, 8, 0), x)
		}},
		{"load passes a store to other bytes", "2 1 3", func(b *mir.Builder, p mir.Reg) {
			b.Store(1, toy.Store, at(p, 0, 0), b.F.BlockParams(0)[0])
			x := b.OpMem(2, toy.Load, at(p, 8, 0))
			b.Store(3, toy.Store, at(p, 16, 0), x)
		}},
		{"load passes a store to another buffer", "2 1 3", func(b *mir.Builder, p mir.Reg) {
			b.Store(1, toy.Store, mir.Addr{Base: p, Index: p, Alias: 1}, p)
			x := b.OpMem(2, toy.Load, at(p, 0, 2))
			b.Store(3, toy.Store, mir.Addr{Base: p, Alias: 1}, x)
		}},
		{"ties by index", "1 2 3 4", func(b *mir.Builder, p mir.Reg) {
			for n := range mir.Node(4) {
				b.Op(n+1, toy.Add, p, p)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := order(Run(straight(toy.New(8, 8, 3), c.body))); got != c.want {
				t.Errorf("order %s, want %s", got, c.want)
			}
		})
	}
}

// TestPressureCap: loads that would all be ready first are held back when their values
// would not fit the registers.
func TestPressureCap(t *testing.T) {
	f := straight(toy.New(8, 4, 2), func(b *mir.Builder, p mir.Reg) {
		sum := b.OpImm(0, toy.VSet, 1)
		for k := range int32(16) {
			x := b.OpMem(mir.Node(k), toy.VLoad, mir.Addr{Base: p, Disp: 8 * k})
			sum = b.Op(mir.Node(k), toy.VFma, sum, x, x)
		}
		b.Store(99, toy.VStore, mir.Addr{Base: p}, sum)
	})
	g := Run(f)
	last := map[mir.Reg]int32{}
	for i := range int32(len(g.Insts)) {
		for _, r := range g.InstRegs(i) {
			last[r] = i
		}
	}
	most := 0
	for i := range int32(len(g.Insts)) {
		n := 0
		for r, l := range last {
			if r.IsVirt() && g.ClassOf(r) == toy.Vec && l > i {
				for j := range i + 1 {
					if d := g.Desc(j); len(d.Operands) > 0 && d.Operands[0].Role == mir.Def && g.InstRegs(j)[0] == r {
						n++
					}
				}
			}
		}
		most = max(most, n)
	}
	if most > 4 || most < 3 {
		t.Errorf("%d vector values live at once, want 3 or 4 of 4 registers used\n%s", most, g)
	}
}
