package regalloc

import (
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// Options of Run.
type Options struct {
	// Check runs the symbolic checker on the result and fails if it finds a fault.
	Check bool
}

// Run allocates f, which stays as it is, and returns the allocated function.
func Run(f *mir.Func, o Options) (*mir.Func, *Report, error) {
	if err := f.Verify(); err != nil {
		return nil, nil, err
	}
	src := f.Clone()
	src.SplitCriticalEdges()
	a := newAlloc(src)
	for _, b := range a.cfg.RPO {
		a.block(b)
	}
	a.edges()
	g := a.emit()
	if o.Check {
		if err := Check(src, g); err != nil {
			return nil, nil, err
		}
	}
	rep := report(g, a.cfg)
	g.ThreadJumps()
	return g, rep, nil
}

// held is one value in a register at a block boundary.
type held struct {
	v      mir.Reg
	reg    mir.Reg
	inSlot bool
}

type alloc struct {
	f    *mir.Func
	t    *mir.Target
	cfg  *mir.CFG
	live *mir.Liveness

	distOut     [][]int32
	after       []int32 // per operand
	loopPress   []int32 // loop*classes+class
	allocatable []mir.RegSet

	// State at the current point.
	occ    [mir.MaxPhys]mir.Reg // value in each physical register
	loc    []mir.Reg            // register of each value, or NoReg
	inSlot []bool               // the value can be had without its register
	next   []int32              // position of the next use, or dead
	count  []int32              // values in registers, per class
	hint   []mir.Reg
	// kept are, per loop, the registers that its back edges' arguments prefer;
	// wanted is their union for the loops around the current block. Other
	// values take them last, so that a back edge rarely needs moves.
	kept   []mir.RegSet
	wanted mir.RegSet
	remat  []bool
	b      mir.Block
	pos    int32 // position in block
	node   mir.Node

	entry, exit [][]held
	done        []bool
	memParam    []bool // parameter whose value arrives in its slot

	asg    []mir.Reg // register of each operand
	defReg []mir.Reg // register of each value at its definition
	body   [][]out
	cur    []out
	edge   [][]out // per edge

	pm parallel

	// Scratch of one instruction.
	uses []use
	need []int32
}

// out is one instruction of the result: an original one, or inserted code.
type out struct {
	kind     outKind
	orig     int32
	node     mir.Node
	v        mir.Reg // value stored, reloaded or rematerialised
	dst, src int32   // locations
}

type outKind uint8

const (
	outOrig outKind = iota
	outMove
	outSwap
	outLoad
	outStore // spill of v, dropped when v is stored at its definition
	outKeep  // store that is always needed: slot of a parameter, cycle breaking
	outRemat
)

func newAlloc(f *mir.Func) *alloc {
	nv, nb := len(f.VRegs), len(f.Blocks)
	a := &alloc{f: f, t: f.Target, cfg: mir.BuildCFG(f)}
	a.live = mir.BuildLiveness(f, a.cfg)
	a.after = make([]int32, len(f.Regs))
	a.loc = make([]mir.Reg, nv)
	a.inSlot = make([]bool, nv)
	a.next = make([]int32, nv)
	a.hint = make([]mir.Reg, nv)
	a.kept = make([]mir.RegSet, len(a.cfg.Loops))
	a.remat = make([]bool, nv)
	a.memParam = make([]bool, nv)
	a.defReg = make([]mir.Reg, nv)
	a.count = make([]int32, len(f.Target.Classes))
	a.need = make([]int32, len(f.Target.Classes))
	a.entry, a.exit = make([][]held, nb), make([][]held, nb)
	a.done = make([]bool, nb)
	a.body = make([][]out, nb)
	a.edge = make([][]out, len(f.Edges))
	a.asg = make([]mir.Reg, len(f.Regs))
	a.pm.init(f)
	for _, ci := range f.Target.Classes {
		a.allocatable = append(a.allocatable, mir.Set(ci.Allocatable...))
	}
	for i := range a.next {
		a.next[i] = dead
		a.hint[i] = f.VRegs[i].Hint
		a.remat[i] = a.live.DefInst[i] >= 0 && canRemat(f, a.live.DefInst[i])
	}
	a.fixedHints()
	a.distances()
	a.pressure()
	return a
}

// canRemat reports whether instruction i gives the same value wherever it is executed:
// its row says so, it has no address registers, and it reads no frame slot.
func canRemat(f *mir.Func, i int32) bool {
	d := f.Desc(i)
	if !d.Remat || d.Effect != mir.MemNone && f.Payload(i).Slot != 0 {
		return false
	}
	for _, r := range f.InstRegs(i)[1:] {
		if r != mir.NoReg {
			return false
		}
	}
	return true
}

// fixedHints makes values prefer the register a later instruction pins them to, and
// passes hints back through two-operand forms.
func (a *alloc) fixedHints() {
	for i := len(a.f.Insts) - 1; i >= 0; i-- {
		rs := a.f.InstRegs(int32(i))
		for k, o := range a.f.Desc(int32(i)).Operands {
			v := rs[k].Index()
			switch {
			case o.Role == mir.Use && o.Constraint == mir.Fixed && a.hint[v] == mir.NoReg:
				a.hint[v] = o.Reg
			case o.Constraint == mir.Reuse && a.hint[v] != mir.NoReg:
				if u := rs[o.Reuse].Index(); a.hint[u] == mir.NoReg {
					a.hint[u] = a.hint[v]
				}
			}
		}
	}
}

// block allocates one block; all its predecessors but those of back edges are done.
func (a *alloc) block(b mir.Block) {
	a.b = b
	a.cur = nil
	bi := &a.f.Blocks[b]
	a.scanBlock(b)
	a.enter(b)
	a.wanted = mir.RegSet{}
	for l := a.cfg.LoopOf[b]; l >= 0; l = a.cfg.Loops[l].Parent {
		a.wanted = a.wanted.Or(a.kept[l])
	}
	for i := bi.First; i < bi.End; i++ {
		a.pos, a.node = i-bi.First, a.f.Insts[i].Node
		a.inst(i)
	}
	for r, v := range a.occ {
		if v != mir.NoReg {
			a.exit[b] = append(a.exit[b], held{v, mir.Reg(r), a.inSlot[v.Index()]})
			a.drop(v)
		}
	}
	for _, v := range a.live.Out[b] {
		a.next[v.Index()] = dead
	}
	for _, v := range a.live.In[b] {
		a.next[v.Index()] = dead
	}
	a.body[b] = a.cur
	a.done[b] = true
}

// put records that v is in r.
func (a *alloc) put(v, r mir.Reg) {
	a.occ[r], a.loc[v.Index()] = v, r
	a.count[a.f.ClassOf(v)]++
}

// drop forgets v's register.
func (a *alloc) drop(v mir.Reg) {
	if r := a.loc[v.Index()]; r != mir.NoReg {
		if a.occ[r] == v {
			a.occ[r] = mir.NoReg
		}
		a.loc[v.Index()] = mir.NoReg
		a.count[a.f.ClassOf(v)]--
	}
}

// pick chooses a free register for v outside avoid.
func (a *alloc) pick(v mir.Reg, avoid mir.RegSet) mir.Reg {
	c := a.f.ClassOf(v)
	if h := a.hint[v.Index()]; h != mir.NoReg && a.occ[h] == mir.NoReg && !avoid.Has(h) && a.allocatable[c].Has(h) {
		return h
	}
	last := mir.NoReg
	for _, r := range a.t.Classes[c].Allocatable {
		if a.occ[r] == mir.NoReg && !avoid.Has(r) {
			if !a.wanted.Has(r) {
				return r
			}
			if last == mir.NoReg {
				last = r
			}
		}
	}
	if last != mir.NoReg {
		return last
	}
	panic(fmt.Sprintf("BUG: regalloc: %s: no free %s register in b%d", a.f.Name, a.t.Classes[c].Name, a.b))
}

// evict takes the value of class c with the furthest next use out of its register,
// leaving the current instruction's operands alone.
func (a *alloc) evict(c mir.Class) {
	best, bestKey := mir.NoReg, int32(-1)
	for _, r := range a.allocatable[c].List() {
		v := a.occ[r]
		if v == mir.NoReg || a.findUse(v) != nil {
			continue
		}
		key := a.next[v.Index()] - a.pos
		if a.inSlot[v.Index()] {
			key += key / 2 // no store needed
		}
		if key > bestKey {
			best, bestKey = v, key
		}
	}
	if best == mir.NoReg {
		panic(fmt.Sprintf("BUG: regalloc: %s: an instruction in b%d needs more %s registers than there are: %s",
			a.f.Name, a.b, a.t.Classes[c].Name, a.f.InstString(a.f.Blocks[a.b].First+a.pos)))
	}
	a.spill(best)
	a.drop(best)
}

// spill makes v available in its slot if it is not yet.
func (a *alloc) spill(v mir.Reg) {
	if !a.inSlot[v.Index()] {
		a.cur = append(a.cur, out{kind: outStore, node: a.node, v: v, dst: slotLoc(v), src: regLoc(a.loc[v.Index()])})
		a.inSlot[v.Index()] = true
	}
}

// bring puts v, which is in no register, into r.
func (a *alloc) bring(v, r mir.Reg) out { return a.bringTo(v, r, a.node) }

func (a *alloc) bringTo(v, r mir.Reg, n mir.Node) out {
	if a.remat[v.Index()] {
		return out{kind: outRemat, node: a.f.Insts[a.live.DefInst[v.Index()]].Node, v: v, dst: regLoc(r)}
	}
	return out{kind: outLoad, node: n, v: v, dst: regLoc(r), src: slotLoc(v)}
}
