package regalloc

import "github.com/kera-lang/kera/pluginapi/codegen/mir"

// use is one value read by the current instruction, all its operands together.
type use struct {
	v       mir.Reg
	fixed   mir.Reg // first register it is pinned to
	nfixed  int
	any     bool // read by an unconstrained operand
	late    bool // read until the end
	dies    bool
	inFixed bool // lives in its pinned register at this instruction, no other home
	stolen  bool // its register was taken over by a two-operand definition
	was     mir.Reg
}

func (a *alloc) findUse(v mir.Reg) *use {
	for k := range a.uses {
		if a.uses[k].v == v {
			return &a.uses[k]
		}
	}
	return nil
}

// inst allocates instruction i: evictions, moves and reloads before it, then its
// operands.
func (a *alloc) inst(i int32) {
	d, rs, at := a.f.Desc(i), a.f.InstRegs(i), a.f.Insts[i].Ops
	fixed := d.Clobbers     // registers spoken for
	destroyed := d.Clobbers // of those, which change
	a.uses = a.uses[:0]
	for k, v := range rs {
		if v == mir.NoReg {
			continue
		}
		o := a.t.OperandSpec(d, k)
		if o.Constraint == mir.Fixed {
			fixed.Add(o.Reg)
			if o.Role != mir.Use {
				destroyed.Add(o.Reg)
			}
		}
		if o.Role != mir.Use {
			continue
		}
		u := a.findUse(v)
		if u == nil {
			a.uses = append(a.uses, use{v: v, was: a.loc[v.Index()], dies: a.after[at+int32(k)] == dead})
			u = &a.uses[len(a.uses)-1]
		}
		if o.Constraint == mir.Fixed {
			if u.nfixed == 0 {
				u.fixed = o.Reg
			}
			u.nfixed++
		} else {
			u.any = true
		}
		u.late = u.late || o.Late
	}
	for k := range a.uses {
		u := &a.uses[k]
		c := a.f.ClassOf(u.v)
		if u.nfixed > 0 {
			intact := !destroyed.Has(u.fixed)
			u.inFixed = u.dies && (!u.any || intact) ||
				!u.dies && intact && u.nfixed == 1 && a.allocatable[c].Has(u.fixed)
		}
	}
	a.makeRoom(d, rs, fixed)
	a.placeUses(i, d, rs, fixed)
	a.placeDefs(i, d, rs, fixed)
}

// makeRoom evicts until the instruction's registers fit. The count follows the order in
// which placeUses and placeDefs take registers outside the fixed set: values
// that live through, then at the early point dying uses, copies for two-operand forms
// and early definitions; at the late point all definitions and late uses.
func (a *alloc) makeRoom(d *mir.Desc, rs []mir.Reg, fixed mir.RegSet) {
	for c := range a.t.Classes {
		cls := mir.Class(c)
		through := a.count[c]
		early, late := int32(0), int32(0)
		for k := range a.uses {
			u := &a.uses[k]
			if a.f.ClassOf(u.v) != cls {
				continue
			}
			switch {
			case u.dies:
				if u.was != mir.NoReg {
					through--
				}
				if !u.inFixed {
					early++
					if u.late {
						late++
					}
				}
			case u.inFixed:
				if u.was != mir.NoReg {
					through--
				}
			case u.was == mir.NoReg:
				through++
			}
		}
		for k, o := range d.Operands {
			if o.Role == mir.Use || o.Class != cls || o.Constraint == mir.Fixed {
				continue
			}
			late++
			if o.Constraint == mir.Reuse {
				if !a.canSteal(d, rs, k) {
					early++
				}
			} else if o.Early || o.Role == mir.Temp {
				early++
			}
		}
		room := int32(a.allocatable[c].Len() - fixed.And(a.allocatable[c]).Len())
		for n := through + max(early, late) - room; n > 0; n-- {
			a.evict(cls)
		}
	}
}

// canSteal reports whether the two-operand definition k may take over its input's
// register: the value dies here, nothing reads it late, and no earlier definition of
// the same instruction takes it.
func (a *alloc) canSteal(d *mir.Desc, rs []mir.Reg, k int) bool {
	in := rs[d.Operands[k].Reuse]
	u := a.findUse(in)
	if !u.dies || u.late {
		return false
	}
	for j, o := range d.Operands[:k] {
		if o.Constraint == mir.Reuse && rs[d.Operands[j].Reuse] == in {
			return false
		}
	}
	return true
}

// placeUses brings every used value to a register that satisfies its operand, moves
// bystanders out of the fixed registers, and takes registers for copies and early
// definitions.
func (a *alloc) placeUses(i int32, d *mir.Desc, rs []mir.Reg, fixed mir.RegSet) {
	at := a.f.Insts[i].Ops
	pm := &a.pm
	pm.reset()
	var pending []mir.Reg
	if fixed != (mir.RegSet{}) {
		pending = a.clearFixed(fixed)
	}
	for k := range a.uses {
		u := &a.uses[k]
		if u.inFixed && u.was != mir.NoReg && u.was != u.fixed {
			if a.occ[u.was] == u.v {
				a.occ[u.was] = mir.NoReg
			}
			a.occ[u.fixed], a.loc[u.v.Index()] = u.v, u.fixed
			pm.add(regLoc(u.fixed), regLoc(u.was), u.v)
		}
	}
	for _, v := range pending {
		was := a.loc[v.Index()]
		r := a.pick(v, fixed)
		a.occ[r], a.loc[v.Index()] = v, r
		pm.add(regLoc(r), regLoc(was), v)
	}
	var loads, copies []out
	for k := range a.uses {
		u := &a.uses[k]
		if u.was != mir.NoReg {
			continue
		}
		r := u.fixed
		if !u.inFixed {
			r = a.pick(u.v, fixed)
		}
		a.put(u.v, r)
		loads = append(loads, a.bring(u.v, r))
	}
	// Operands: pinned copies beside the home register, and two-operand copies.
	for k, v := range rs {
		if v == mir.NoReg || !a.isUse(i, k) {
			continue
		}
		u := a.findUse(v)
		a.asg[at+int32(k)] = a.loc[v.Index()]
		if o := a.t.OperandSpec(d, k); o.Constraint == mir.Fixed && o.Reg != a.loc[v.Index()] {
			a.asg[at+int32(k)] = o.Reg
			if u.was != mir.NoReg {
				pm.add(regLoc(o.Reg), regLoc(u.was), v)
			} else {
				copies = append(copies, out{kind: outMove, node: a.node, v: v, dst: regLoc(o.Reg), src: regLoc(a.loc[v.Index()])})
			}
		}
	}
	for k, o := range d.Operands {
		if o.Role == mir.Use {
			continue
		}
		v := rs[k]
		r := mir.NoReg
		switch {
		case o.Constraint == mir.Fixed:
			r = o.Reg
		case o.Constraint == mir.Reuse && a.canSteal(d, rs, k):
			u := a.findUse(rs[o.Reuse])
			u.stolen = true
			r = a.loc[u.v.Index()]
		case o.Constraint == mir.Reuse:
			in := rs[o.Reuse]
			r = a.pick(v, fixed)
			a.occ[r] = v
			a.asg[at+int32(o.Reuse)] = r
			if u := a.findUse(in); u.was != mir.NoReg {
				pm.add(regLoc(r), regLoc(u.was), in)
			} else {
				copies = append(copies, out{kind: outMove, node: a.node, v: in, dst: regLoc(r), src: regLoc(a.loc[in.Index()])})
			}
		case o.Early || o.Role == mir.Temp:
			r = a.pick(v, fixed)
			a.occ[r] = v
		}
		a.asg[at+int32(k)] = r
	}
	busy := fixed
	for r, v := range a.occ {
		if v != mir.NoReg {
			busy.Add(mir.Reg(r))
		}
	}
	a.cur = pm.resolve(a.cur, busy, a.node)
	a.cur = append(append(a.cur, loads...), copies...)
}

// clearFixed empties the fixed registers of everything that may not be there and
// returns the values that need another home, in register order.
func (a *alloc) clearFixed(fixed mir.RegSet) []mir.Reg {
	var pending []mir.Reg
	for _, r := range fixed.List() {
		v := a.occ[r]
		if v == mir.NoReg {
			continue
		}
		if u := a.findUse(v); u != nil && u.inFixed {
			if u.fixed != r {
				a.occ[r] = mir.NoReg
			}
			continue
		}
		a.occ[r] = mir.NoReg
		pending = append(pending, v)
	}
	return pending
}

// placeDefs emits the instruction, frees what dies and registers the definitions.
func (a *alloc) placeDefs(i int32, d *mir.Desc, rs []mir.Reg, fixed mir.RegSet) {
	at := a.f.Insts[i].Ops
	a.cur = append(a.cur, out{kind: outOrig, orig: i, node: a.node})
	for k := range a.uses {
		if u := &a.uses[k]; u.dies && !u.late {
			a.drop(u.v)
		}
	}
	// A stolen register must not be handed out again below.
	for k, o := range d.Operands {
		if o.Role != mir.Use && a.asg[at+int32(k)] != mir.NoReg {
			a.occ[a.asg[at+int32(k)]] = rs[k]
		}
	}
	for k, o := range d.Operands {
		if o.Role != mir.Use && a.asg[at+int32(k)] == mir.NoReg {
			r := a.pick(rs[k], fixed)
			a.occ[r] = rs[k]
			a.asg[at+int32(k)] = r
		}
	}
	for k := range a.uses {
		if u := &a.uses[k]; u.dies {
			a.drop(u.v)
		}
	}
	for k, v := range rs {
		if v != mir.NoReg && a.isUse(i, k) {
			a.next[v.Index()] = a.after[at+int32(k)]
		}
	}
	for k, o := range d.Operands {
		if o.Role == mir.Use {
			continue
		}
		v, r := rs[k], a.asg[at+int32(k)]
		a.next[v.Index()] = a.after[at+int32(k)]
		a.inSlot[v.Index()] = a.remat[v.Index()]
		a.defReg[v.Index()] = r
		if a.next[v.Index()] == dead {
			a.occ[r] = mir.NoReg
		} else {
			a.put(v, r)
		}
	}
}
