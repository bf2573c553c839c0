package regalloc

import (
	"cmp"
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// span is the stretch of the laid out function in which a value's slot may be in use.
type span struct {
	loc        int32
	class      mir.Class
	start, end int32
}

// shareSlots gives every spilled location a frame slot. Values whose live ranges, taken
// as one stretch of the layout each, do not touch share a slot: a linear scan
// that takes the free slot of lowest number.
func (e *emitter) shareSlots() {
	a, f := e.a, e.a.f
	used := make([]bool, len(f.VRegs)+2*len(f.Target.Classes))
	// Only what is read needs a slot: stores to the others are dropped.
	note := func(code []out) {
		for _, o := range code {
			if o.kind != outOrig && o.src >= mir.MaxPhys {
				used[o.src-mir.MaxPhys] = true
			}
		}
	}
	for _, b := range a.cfg.RPO {
		note(a.body[b])
		for k := range f.Succs(b) {
			note(a.edge[int(f.Blocks[b].Edges)+k])
		}
	}
	spans := e.spans(used)
	slices.SortFunc(spans, func(x, y span) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.loc, y.loc))
	})
	free := make([][]int32, len(f.Target.Classes)) // descending, so that the last is lowest
	var active []span                              // ascending by end
	for _, s := range spans {
		n := 0
		for n < len(active) && active[n].end < s.start {
			c := active[n].class
			num := e.slot[active[n].loc]
			at, _ := slices.BinarySearchFunc(free[c], num, func(x, y int32) int { return cmp.Compare(y, x) })
			free[c] = slices.Insert(free[c], at, num)
			n++
		}
		active = active[n:]
		if fr := free[s.class]; len(fr) > 0 {
			e.slot[s.loc] = fr[len(fr)-1]
			free[s.class] = fr[:len(fr)-1]
		} else {
			ci := &f.Target.Classes[s.class]
			e.slot[s.loc] = e.g.NewSlot(ci.SlotSize, ci.SlotAlign)
		}
		at, _ := slices.BinarySearchFunc(active, s, func(x, y span) int { return cmp.Compare(x.end, y.end) })
		active = slices.Insert(active, at, s)
	}
}

// spans lists the used locations with their stretches. Emergency slots span everything.
func (e *emitter) spans(used []bool) []span {
	a, f := e.a, e.a.f
	nv := len(f.VRegs)
	lo, hi := make([]int32, nv), make([]int32, nv)
	for k := range lo {
		lo[k], hi[k] = 1<<30, -1
	}
	touch := func(v mir.Reg, at int32) {
		lo[v.Index()], hi[v.Index()] = min(lo[v.Index()], at), max(hi[v.Index()], at)
	}
	begin := make([]int32, len(f.Blocks))
	at := int32(0)
	for _, b := range f.Layout {
		begin[b] = at
		at += f.Blocks[b].End - f.Blocks[b].First + 2
	}
	for _, b := range a.cfg.RPO {
		bi := &f.Blocks[b]
		end := begin[b] + bi.End - bi.First + 1
		for _, v := range f.BlockParams(b) {
			touch(v, begin[b])
		}
		for i := bi.First; i < bi.End; i++ {
			for _, v := range f.InstRegs(i) {
				if v != mir.NoReg {
					touch(v, begin[b]+1+i-bi.First)
				}
			}
		}
		for _, v := range a.live.In[b] {
			touch(v, begin[b])
		}
		for _, v := range a.live.Out[b] {
			touch(v, end)
		}
		// Edge code runs at either end and touches both sides' slots.
		for _, ed := range f.Succs(b) {
			for _, v := range append(slices.Clone(f.EdgeArgs(ed)), f.BlockParams(ed.To)...) {
				touch(v, end)
				touch(v, begin[ed.To])
			}
		}
	}
	var out []span
	for k, u := range used {
		switch {
		case !u:
		case k < nv:
			out = append(out, span{int32(mir.MaxPhys + k), f.VRegs[k].Class, lo[k], hi[k]})
		default:
			out = append(out, span{int32(mir.MaxPhys + k), mir.Class((k - nv) / 2), -1, at})
		}
	}
	return out
}
