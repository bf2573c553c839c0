package regalloc

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// Check proves that g, an allocation of f, computes what f does. It interprets g
// abstractly: each register and slot holds a set of virtual registers known to have
// that value; paths that meet keep what both agree on; a new definition takes its
// register out of every set first, and an edge renames arguments to parameters. At
// the fixed point every original instruction must find its operands' values in the
// registers it reads, and meet the constraints of its table row. It knows nothing of
// how the allocator works, only what its inserted instructions do.
func Check(f, g *mir.Func) error {
	if len(f.Blocks) != len(g.Blocks) {
		return fmt.Errorf("regalloc: check: %s: %d blocks became %d", f.Name, len(f.Blocks), len(g.Blocks))
	}
	c := &checker{f: f, g: g, cfg: mir.BuildCFG(f)}
	c.slots = mir.MaxPhys - 1
	c.remat = map[mir.Reg]int32{}
	for i := range f.Insts {
		if canRemat(f, int32(i)) {
			c.remat[f.InstRegs(int32(i))[0]] = int32(i)
		}
	}
	c.state = make([]state, len(f.Blocks))
	c.places = make([]int32, len(f.VRegs))
	entry := make(state, mir.MaxPhys+len(g.Slots))
	for k, p := range f.BlockParams(0) {
		entry[f.EntryRegs[k]] = []mir.Reg{p}
	}
	c.state[0] = entry
	for changed := true; changed; {
		changed = false
		for _, b := range c.cfg.RPO {
			if c.state[b] == nil {
				continue
			}
			s := slices.Clone(c.state[b])
			if err := c.block(b, s, false); err != nil {
				return err
			}
			for _, e := range f.Succs(b) {
				changed = c.flow(s, e) || changed
			}
		}
	}
	for _, b := range c.cfg.RPO {
		if err := c.block(b, slices.Clone(c.state[b]), true); err != nil {
			return fmt.Errorf("regalloc: check: %s: b%d: %w", f.Name, b, err)
		}
	}
	return nil
}

// state is, per location, the sorted set of values it holds; sets are never changed in
// place, so states share them.
type state [][]mir.Reg

// put replaces what location l holds and keeps the count of places of each value.
func (c *checker) put(s state, l int, set []mir.Reg) {
	for _, v := range s[l] {
		c.places[v.Index()]--
	}
	for _, v := range set {
		c.places[v.Index()]++
	}
	s[l] = set
}

type checker struct {
	f, g  *mir.Func
	cfg   *mir.CFG
	slots int
	state []state
	// places counts, per value, the locations that hold it in the state being walked,
	// so that a definition need not search all of them for stale copies.
	places []int32
	remat  map[mir.Reg]int32 // value -> its rematerialisable definition
}

func (c *checker) slotIndex(i int32) int { return c.slots + int(c.g.Payload(i).Slot) }

// flow merges s, renamed along e, into the successor's entry state.
func (c *checker) flow(s state, e mir.Edge) bool {
	params, args := c.f.BlockParams(e.To), c.f.EdgeArgs(e)
	old := c.state[e.To]
	changed := old == nil
	out := make(state, len(s))
	for l, set := range s {
		if len(params) > 0 && len(set) > 0 {
			var n []mir.Reg
			for _, v := range set {
				if !slices.Contains(params, v) {
					n = append(n, v)
				}
			}
			for k, a := range args {
				if slices.Contains(set, a) {
					n = append(n, params[k])
				}
			}
			slices.Sort(n)
			set = slices.Compact(n)
		}
		if old != nil {
			kept := old[l][:0:0]
			for _, v := range old[l] {
				if slices.Contains(set, v) {
					kept = append(kept, v)
				}
			}
			changed = changed || len(kept) != len(old[l])
			set = kept
		}
		out[l] = set
	}
	if changed {
		c.state[e.To] = out
	}
	return changed
}

// block interprets block b of g on s; with final set it also checks every use.
func (c *checker) block(b mir.Block, s state, final bool) error {
	clear(c.places)
	for _, set := range s {
		for _, v := range set {
			c.places[v.Index()]++
		}
	}
	next := c.f.Blocks[b].First
	for i := c.g.Blocks[b].First; i < c.g.Blocks[b].End; i++ {
		in := &c.g.Insts[i]
		var err error
		switch {
		case in.Orig <= mir.OrigRemat:
			err = c.rematerialise(b, i, s)
		case in.Orig == mir.OrigMove:
			err = c.inserted(i, s)
		default:
			if in.Orig != next || c.f.Insts[next].Op != in.Op || c.f.Insts[next].Pay != in.Pay {
				return fmt.Errorf("%d %s: instructions lost or out of order", i, c.g.InstString(i))
			}
			err = c.original(i, next, s, final)
			next++
		}
		if err != nil {
			return fmt.Errorf("%d %s: %w", i, c.g.InstString(i), err)
		}
	}
	if next != c.f.Blocks[b].End {
		return fmt.Errorf("instructions lost at the end")
	}
	return nil
}

func (c *checker) inserted(i int32, s state) error {
	rs, op := c.g.InstRegs(i), c.g.Insts[i].Op
	ci := &c.g.Target.Classes[c.g.ClassOf(rs[0])]
	switch op {
	case ci.Move:
		c.put(s, int(rs[0]), s[rs[1]])
	case ci.Swap:
		s[rs[0]], s[rs[1]] = s[rs[1]], s[rs[0]]
	case ci.Load:
		c.put(s, int(rs[0]), s[c.slotIndex(i)])
	case ci.Store:
		if int(c.g.Payload(i).Slot) <= len(c.f.Slots) {
			return fmt.Errorf("spill to a slot of the program's own")
		}
		c.put(s, c.slotIndex(i), s[rs[0]])
	default:
		return fmt.Errorf("unknown inserted instruction")
	}
	if op != ci.Store && !slices.Contains(ci.Allocatable, rs[0]) && !c.pinned(i, rs[0]) {
		return fmt.Errorf("writes %s, which is not allocatable", c.g.RegString(rs[0]))
	}
	return nil
}

// pinned reports whether r is a fixed operand of the next original instruction.
func (c *checker) pinned(i int32, r mir.Reg) bool {
	for ; c.g.Insts[i].Orig < 0; i++ {
		if c.g.Desc(i).Term != mir.TermNone {
			return false
		}
	}
	for _, o := range c.g.Desc(i).Operands {
		if o.Constraint == mir.Fixed && o.Reg == r {
			return true
		}
	}
	return false
}

func (c *checker) rematerialise(b mir.Block, i int32, s state) error {
	in := &c.g.Insts[i]
	v := mir.VirtReg(int(mir.OrigRemat - in.Orig))
	j, ok := c.remat[v]
	if !ok || c.f.Insts[j].Op != in.Op || c.f.Insts[j].Pay != in.Pay {
		return fmt.Errorf("not the rematerialisable definition of %s", c.f.RegString(v))
	}
	for _, r := range c.g.InstRegs(i)[1:] {
		if r != mir.NoReg {
			return fmt.Errorf("rematerialisation with an operand")
		}
	}
	set := []mir.Reg{v}
	// v is a constant, so a parameter that only ever gets v equals it: edge code at the
	// start of a block makes parameters this way, after the renaming.
	if ps := c.cfg.Preds(b); len(ps) == 1 {
		for k, a := range c.f.EdgeArgs(c.f.Succs(ps[0].From)[ps[0].Succ]) {
			if a == v {
				set = append(set, c.f.BlockParams(b)[k])
			}
		}
	}
	slices.Sort(set)
	c.put(s, int(c.g.InstRegs(i)[0]), set)
	return nil
}

func (c *checker) original(i, orig int32, s state, final bool) error {
	d, vs, rs := c.f.Desc(orig), c.f.InstRegs(orig), c.g.InstRegs(i)
	if final {
		if err := c.constraints(d, vs, rs); err != nil {
			return err
		}
		for k, v := range vs {
			if v == mir.NoReg || k < len(d.Operands) && d.Operands[k].Role != mir.Use {
				continue
			}
			if !slices.Contains(s[rs[k]], v) {
				return fmt.Errorf("operand %d: %s does not hold %s", k, c.g.RegString(rs[k]), c.f.RegString(v))
			}
		}
	}
	for _, r := range d.Clobbers.List() {
		c.put(s, int(r), nil)
	}
	for k, o := range d.Operands {
		if o.Role == mir.Use {
			continue
		}
		for l := 0; l < len(s) && c.places[vs[k].Index()] > 0; l++ {
			if set := s[l]; slices.Contains(set, vs[k]) {
				c.put(s, l, slices.DeleteFunc(slices.Clone(set), func(v mir.Reg) bool { return v == vs[k] }))
			}
		}
	}
	for k, o := range d.Operands {
		if o.Role != mir.Use {
			c.put(s, int(rs[k]), []mir.Reg{vs[k]})
		}
	}
	return nil
}

// constraints checks the registers of one instruction against its table row.
func (c *checker) constraints(d *mir.Desc, vs, rs []mir.Reg) error {
	t := c.g.Target
	for k, r := range rs {
		if vs[k] == mir.NoReg {
			if r != mir.NoReg {
				return fmt.Errorf("operand %d appeared from nowhere", k)
			}
			continue
		}
		o := t.OperandSpec(d, k)
		if !r.IsPhys() || t.Regs[r].Class != o.Class {
			return fmt.Errorf("operand %d has no register of its class", k)
		}
		switch {
		case o.Constraint == mir.Fixed && r != o.Reg:
			return fmt.Errorf("operand %d is in %s, not in %s", k, t.Regs[r].Name, t.Regs[o.Reg].Name)
		case o.Constraint == mir.Reuse && r != rs[o.Reuse]:
			return fmt.Errorf("operand %d does not reuse operand %d", k, o.Reuse)
		case o.Constraint != mir.Fixed && d.Clobbers.Has(r):
			return fmt.Errorf("operand %d is in clobbered %s", k, t.Regs[r].Name)
		case o.Constraint == mir.Any && o.Role != mir.Use && !slices.Contains(t.Classes[o.Class].Allocatable, r):
			return fmt.Errorf("operand %d is in %s, which is not allocatable", k, t.Regs[r].Name)
		}
		if o.Role == mir.Use {
			continue
		}
		for j, q := range rs {
			if j == k || vs[j] == mir.NoReg || q != r {
				continue
			}
			p := t.OperandSpec(d, j)
			if p.Role != mir.Use {
				return fmt.Errorf("results %d and %d share %s", j, k, t.Regs[r].Name)
			}
			reused := o.Constraint == mir.Reuse && vs[o.Reuse] == vs[j]
			if p.Late || o.Early && !reused && !(o.Constraint == mir.Fixed && p.Constraint == mir.Fixed) {
				return fmt.Errorf("result %d overwrites operand %d too early", k, j)
			}
		}
	}
	return nil
}
