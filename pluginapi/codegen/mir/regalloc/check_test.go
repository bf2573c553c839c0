package regalloc

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/internal/toy"
)

// TestCheckerFindsFaults damages good allocations in many ways: whatever changes what
// the program computes must be found. A damage that the simulator cannot tell from
// the original may pass (it may be harmless).
func TestCheckerFindsFaults(t *testing.T) {
	found, missed := 0, 0
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		f := toy.Random(toy.New(6, 4, 2), r, toy.Shape{Stmts: 12, Depth: 1, Live: 8})
		src := f.Clone()
		src.SplitCriticalEdges()
		a := newAlloc(src)
		for _, b := range a.cfg.RPO {
			a.block(b)
		}
		a.edges()
		good := a.emit()
		if err := Check(src, good); err != nil {
			t.Fatal(err)
		}
		for range 40 {
			bad := good.Clone()
			i := damage(bad, r)
			if Check(src, bad) != nil {
				found++
				continue
			}
			missed++
			var mem [toy.MemCells]uint64
			for k := range mem {
				mem[k] = r.Uint64()
			}
			args := []uint64{r.Uint64(), r.Uint64(), r.Uint64()}
			want, err1 := toy.Run(f, args, mem, 1<<18)
			got, err2 := toy.Run(bad, args, mem, 1<<20)
			if err1 == nil && (err2 != nil || got.Ret != want.Ret || got.Mem != want.Mem) {
				t.Fatalf("seed %d: damage at %d, %s, was not found", seed, i, bad.InstString(i))
			}
		}
	}
	t.Logf("%d found, %d harmless", found, missed)
	if found < missed {
		t.Errorf("only %d faults found, %d passed", found, missed)
	}
}

// damage changes one register of one instruction, or loses one inserted instruction.
func damage(g *mir.Func, r *rand.Rand) int32 {
	for {
		i := int32(r.Intn(len(g.Insts)))
		rs := g.InstRegs(i)
		if len(rs) == 0 || rs[0] == mir.NoReg {
			continue
		}
		if in := &g.Insts[i]; in.Orig == mir.OrigMove && r.Intn(2) == 0 {
			// Turn it into a move of a register to itself.
			ci := g.Target.Classes[g.ClassOf(rs[0])]
			in.Op, in.Pay, in.NOps = ci.Move, -1, 2
			in.Ops = int32(len(g.Regs))
			g.Regs = append(g.Regs, rs[0], rs[0])
			return i
		}
		k := r.Intn(len(rs))
		if rs[k] == mir.NoReg {
			continue
		}
		all := g.Target.Classes[g.ClassOf(rs[k])].Allocatable
		if n := all[r.Intn(len(all))]; n != rs[k] {
			rs[k] = n
			return i
		}
	}
}

// TestIrreducible allocates a cycle with two entries, which has no header.
func TestIrreducible(t *testing.T) {
	tg := toy.New(6, 4, 2)
	b := mir.NewBuilder(tg, "irreducible", toy.R(0), toy.R(1), toy.R(2))
	p := b.Params(0)
	left, right, out := b.Block(toy.GP, toy.GP), b.Block(toy.GP, toy.GP), b.Block()
	long := make([]mir.Reg, 9) // more than there are registers
	for k := range long {
		long[k] = b.Op(0, toy.Add, p[k%3], p[(k+1)%3])
	}
	n := b.OpImm(0, toy.Const, 5)
	b.Branch(0, toy.Br, mir.Args{Uses: []mir.Reg{p[0], p[1]}}, mir.To(left, n, p[2]), mir.To(right, n, p[0]))
	b.Start(left)
	x := b.Op(1, toy.Add, b.Params(left)[1], long[0])
	b.Jump(1, right, b.Params(left)[0], x)
	b.Start(right)
	y := b.Op(2, toy.Mul, b.Params(right)[1], long[1])
	m := b.Op(2, toy.Add, b.Params(right)[0], b.OpImm(2, toy.Const, -1))
	zero := b.OpImm(2, toy.Const, 0)
	b.Branch(2, toy.Br, mir.Args{Uses: []mir.Reg{zero, m}}, mir.To(left, m, y), mir.To(out))
	b.Start(out)
	sum := y
	for _, v := range long {
		sum = b.Op(3, toy.Add, sum, v)
	}
	b.Ret(3, toy.Ret, sum)
	f, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	agree(t, f)
}

// TestParallelMoves sequentialises random parallel moves, with and without free
// registers, and replays them.
func TestParallelMoves(t *testing.T) {
	tg := toy.New(6, 4, 2)
	b := mir.NewBuilder(tg, "moves", toy.R(0))
	for range 8 {
		b.OpImm(0, toy.Const, 0)
	}
	f := b.F
	var p parallel
	p.init(f)
	locs := []int32{1, 2, 3, 4, 5, 6}
	for v := range 5 {
		locs = append(locs, slotLoc(mir.VirtReg(v)))
	}
	for seed := range int64(3000) {
		r := rand.New(rand.NewSource(seed))
		perm := r.Perm(len(locs))[:1+r.Intn(len(locs))]
		p.reset()
		was := map[int32]int32{} // location -> original location of its content
		for _, l := range locs {
			was[l] = l
		}
		want := map[int32]int32{}
		busy := mir.RegSet{}
		for _, l := range locs[:6] {
			if seed%2 == 0 || r.Intn(2) == 0 {
				busy.Add(mir.Reg(l))
			}
		}
		for _, d := range perm {
			src := locs[r.Intn(len(locs))]
			want[locs[d]] = src
			if isReg(locs[d]) {
				busy.Add(mir.Reg(locs[d]))
			}
			p.add(locs[d], src, mir.VirtReg(0))
		}
		for _, l := range locs {
			if _, ok := want[l]; !ok && (!isReg(l) || busy.Has(mir.Reg(l))) {
				want[l] = l
			}
		}
		for _, o := range p.resolve(nil, busy, 0) {
			if o.kind == outSwap {
				was[o.dst], was[o.src] = was[o.src], was[o.dst]
			} else {
				was[o.dst] = was[o.src]
			}
		}
		for l, src := range want {
			if was[l] != src {
				t.Fatalf("seed %d: location %d holds %d, want %d", seed, l, was[l], src)
			}
		}
		for k := range p.readers {
			if p.readers[k] != 0 || p.writer[k] != 0 {
				t.Fatalf("seed %d: state left behind at %d", seed, k)
			}
		}
	}
}

// TestReport finds the spill code of a loop that cannot fit, and where it is.
func TestReport(t *testing.T) {
	tg := toy.New(6, 4, 2)
	b := mir.NewBuilder(tg, "pressure", toy.R(0))
	loop, latch, done := b.Block(toy.GP), b.Block(), b.Block()
	var vs []mir.Reg
	for k := range 6 {
		vs = append(vs, b.Op(0, toy.VCvt, b.OpImm(0, toy.Const, int64(k))))
	}
	b.Jump(0, loop, b.OpImm(0, toy.Const, 3))
	b.Start(loop)
	for _, v := range vs {
		b.Store(1, toy.VStore, mir.Addr{Base: b.Params(0)[0]}, v)
	}
	i := int32(b.F.NumInsts())
	b.Branch(1, toy.DecBr, mir.Args{Uses: []mir.Reg{b.Params(loop)[0]}}, mir.To(latch), mir.To(done))
	b.Start(latch)
	b.Jump(1, loop, b.DefK(i, 0))
	b.Start(done)
	b.Ret(2, toy.Ret, b.Params(0)[0])
	f, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	rep := agree(t, f)
	if rep.Loops[0].Spills != 0 || rep.Loops[0].Reloads == 0 || rep.SpillsInInnerLoops() != rep.Loops[0].Reloads {
		t.Errorf("want reloads in the loop and the stores outside:\n%s", rep)
	}
	if !strings.Contains(rep.String(), "loop b1 depth=1") || !slices.ContainsFunc(rep.Loops, func(l LoopCounts) bool { return l.Inner }) {
		t.Errorf("report:\n%s", rep)
	}
}
