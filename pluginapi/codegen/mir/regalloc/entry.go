package regalloc

import (
	"cmp"
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// cand is a value that could be in a register at block entry.
type cand struct {
	v     mir.Reg
	tier  int8 // 0 wanted, 1 kept only where there is room
	dist  int32
	param bool
	from  mir.Reg // its register at the end of the main predecessor, or NoReg
}

// enter decides the register state at the start of b, records it in a.entry and makes
// it current.
func (a *alloc) enter(b mir.Block) {
	a.pos = 0
	if b == 0 {
		for k, p := range a.f.BlockParams(0) {
			if a.next[p.Index()] != dead {
				a.hold(b, p, a.f.EntryRegs[k], false)
			}
		}
		return
	}
	cands, slotted := a.candidates(b)
	slices.SortFunc(cands, func(x, y cand) int {
		return cmp.Or(cmp.Compare(x.tier, y.tier), cmp.Compare(x.dist, y.dist), cmp.Compare(x.v, y.v))
	})
	room := make([]int, len(a.t.Classes))
	spare := make([]int, len(a.t.Classes)) // for tier 1
	for c := range room {
		room[c] = a.allocatable[c].Len()
		spare[c] = room[c]
	}
	if a.isHeader(b) {
		for c := range spare {
			spare[c] = a.spareInLoop(b, mir.Class(c))
		}
	}
	chosen := cands[:0]
	for _, c := range cands {
		k := a.f.ClassOf(c.v)
		if room[k] == 0 || c.tier == 1 && spare[k] <= 0 {
			continue
		}
		room[k]--
		if c.tier == 1 {
			spare[k]--
		}
		chosen = append(chosen, c)
	}
	a.assignEntry(b, chosen, slotted)
	for _, p := range a.f.BlockParams(b) {
		if a.next[p.Index()] != dead && a.loc[p.Index()] == mir.NoReg {
			a.memParam[p.Index()] = true
			a.inSlot[p.Index()] = true
		}
	}
	if a.isHeader(b) {
		a.hintLatches(b)
	}
}

func (a *alloc) hold(b mir.Block, v, r mir.Reg, inSlot bool) {
	a.put(v, r)
	a.inSlot[v.Index()] = inSlot || a.remat[v.Index()]
	a.entry[b] = append(a.entry[b], held{v, r, a.inSlot[v.Index()]})
	if a.live.DefBlock[v.Index()] == b {
		a.defReg[v.Index()] = r
	}
}

// isHeader reports whether some predecessor is not allocated yet: a loop header, or
// any block of an irreducible cycle that is reached first.
func (a *alloc) isHeader(b mir.Block) bool {
	for _, p := range a.cfg.Preds(b) {
		if !a.done[p.From] {
			return true
		}
	}
	return false
}

// mainPred is the finished predecessor that runs most often, by loop depth.
func (a *alloc) mainPred(b mir.Block) mir.Pred {
	best := mir.Pred{From: mir.NoBlock}
	for _, p := range a.cfg.Preds(b) {
		if a.done[p.From] && (best.From == mir.NoBlock || a.cfg.Depth(p.From) > a.cfg.Depth(best.From)) {
			best = p
		}
	}
	return best
}

// candidates lists what may enter b in a register, and reports for each live-in
// whether its slot is valid at the end of every finished predecessor.
func (a *alloc) candidates(b mir.Block) ([]cand, map[mir.Reg]bool) {
	header := a.isHeader(b)
	main := a.mainPred(b)
	inReg := map[mir.Reg]int{} // in how many finished predecessors
	slotted := map[mir.Reg]bool{}
	from := map[mir.Reg]mir.Reg{}
	npred := 0
	for _, p := range a.cfg.Preds(b) {
		if !a.done[p.From] {
			continue
		}
		npred++
		for _, h := range a.exit[p.From] {
			if inReg[h.v] == 0 {
				slotted[h.v] = true
			}
			inReg[h.v]++
			slotted[h.v] = slotted[h.v] && h.inSlot
			if p == main {
				from[h.v] = h.reg
			}
		}
	}
	var out []cand
	for k, p := range a.f.BlockParams(b) {
		if d := a.next[p.Index()]; d != dead {
			arg := a.f.EdgeArgs(a.f.Succs(main.From)[main.Succ])[k]
			out = append(out, cand{v: p, dist: d, param: true, from: from[arg]})
		}
	}
	for _, v := range a.live.In[b] {
		d, n := a.next[v.Index()], inReg[v]
		c := cand{v: v, dist: d, from: from[v]}
		switch {
		case header && d < exitDist:
			// Wanted by the loop: load it before the loop if it is not there.
		case header:
			c.tier = 1
			if n < npred {
				continue
			}
		case n == npred:
		case n == 0 || d >= exitDist || a.remat[v.Index()]:
			continue
		default:
			c.tier = 1
		}
		out = append(out, c)
	}
	return out, slotted
}

// spareInLoop is how many live-through values may keep registers of class c in the loop
// that b heads without causing a spill inside.
func (a *alloc) spareInLoop(b mir.Block, c mir.Class) int {
	if !a.cfg.IsHeader(b) {
		return 0
	}
	through := 0
	for _, v := range a.live.In[b] {
		if a.f.ClassOf(v) == c && a.next[v.Index()] >= exitDist {
			through++
		}
	}
	peak := int(a.loopPress[int(a.cfg.LoopOf[b])*len(a.t.Classes)+int(c)])
	return a.allocatable[c].Len() - (peak - through)
}

// assignEntry gives the chosen values their registers: those of the main predecessor
// first, then parameters near their arguments, then what is free.
func (a *alloc) assignEntry(b mir.Block, chosen []cand, slotted map[mir.Reg]bool) {
	for _, c := range chosen {
		if !c.param && c.from != mir.NoReg {
			a.hold(b, c.v, c.from, slotted[c.v])
		}
	}
	for _, c := range chosen {
		if c.param {
			r := c.from
			if h := a.hint[c.v.Index()]; r == mir.NoReg || a.occ[r] != mir.NoReg ||
				h != mir.NoReg && a.occ[h] == mir.NoReg && a.allocatable[a.f.ClassOf(c.v)].Has(h) ||
				!a.allocatable[a.f.ClassOf(c.v)].Has(r) {
				r = a.pick(c.v, mir.RegSet{})
			}
			a.hold(b, c.v, r, false)
		}
	}
	for _, c := range chosen {
		if !c.param && c.from == mir.NoReg {
			s, seen := slotted[c.v]
			a.hold(b, c.v, a.pick(c.v, mir.RegSet{}), s || !seen)
		}
	}
}

// hintLatches makes values that a back edge passes to this header's parameters prefer
// the parameters' registers, so that the edge needs no moves.
func (a *alloc) hintLatches(b mir.Block) {
	ps := a.f.BlockParams(b)
	for _, p := range a.cfg.Preds(b) {
		if a.done[p.From] {
			continue
		}
		for k, v := range a.f.EdgeArgs(a.f.Succs(p.From)[p.Succ]) {
			r := a.loc[ps[k].Index()]
			if l := a.cfg.LoopOf[b]; r != mir.NoReg && l >= 0 {
				a.kept[l].Add(r)
			}
			// Follow two-operand chains back: the first link decides the register.
			for range 64 {
				d := a.live.DefInst[v.Index()]
				if r == mir.NoReg || a.hint[v.Index()] != mir.NoReg {
					break
				}
				a.hint[v.Index()] = r
				if d < 0 {
					break
				}
				rs, next := a.f.InstRegs(d), mir.NoReg
				for j, o := range a.f.Desc(d).Operands {
					if o.Constraint == mir.Reuse && rs[j] == v {
						next = rs[o.Reuse]
					}
				}
				if next == mir.NoReg {
					break
				}
				v = next
			}
		}
	}
}
