package sched

import (
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// Run returns f with the instructions of each block reordered. It works before
// allocation, with the pressure cap, and after it.
func Run(f *mir.Func) *mir.Func {
	g := f.Clone()
	s := &scheduler{f: g, g: newGraph(g)}
	if !g.Allocated {
		s.live = mir.BuildLiveness(g, mir.BuildCFG(g))
		s.uses = make([]int32, len(g.VRegs))
		s.out = make([]bool, len(g.VRegs))
		for _, c := range g.Target.Classes {
			s.limit = append(s.limit, int32(len(c.Allocatable)))
		}
		s.press = make([]int32, len(s.limit))
		s.delta = make([]int32, len(s.limit))
	}
	for _, b := range g.Layout {
		s.block(b)
	}
	return g
}

type scheduler struct {
	f    *mir.Func
	g    *graph
	live *mir.Liveness // nil after allocation

	height, ready []int32
	earliest      []int32
	order         []int32
	portFree      [16]int32

	limit []int32
	press []int32 // values live now, per class
	delta []int32
	uses  []int32 // reads left in the block, per value
	out   []bool  // live out of the block
}

func (s *scheduler) block(b mir.Block) {
	bi := &s.f.Blocks[b]
	if s.live != nil {
		s.startPressure(b)
	}
	for at := bi.First; at < bi.End-1; at += maxRegion {
		s.region(at, min(maxRegion, bi.End-1-at))
	}
	if s.live != nil {
		for _, v := range s.live.Out[b] {
			s.out[v.Index()] = false
		}
		s.eachUse(bi.End-1, func(v mir.Reg) { s.uses[v.Index()]-- })
	}
}

// eachUse visits the virtual registers instruction i reads.
func (s *scheduler) eachUse(i int32, visit func(mir.Reg)) {
	d := s.f.Desc(i)
	for k, r := range s.f.InstRegs(i) {
		if r.IsVirt() && (k >= len(d.Operands) || d.Operands[k].Role == mir.Use) {
			visit(r)
		}
	}
}

func (s *scheduler) startPressure(b mir.Block) {
	clear(s.press)
	bi := &s.f.Blocks[b]
	for _, v := range s.live.Out[b] {
		s.out[v.Index()] = true
	}
	for i := bi.First; i < bi.End; i++ {
		s.eachUse(i, func(v mir.Reg) { s.uses[v.Index()]++ })
	}
	for _, v := range s.live.In[b] {
		s.press[s.f.ClassOf(v)]++
	}
	for _, v := range s.f.BlockParams(b) {
		if s.uses[v.Index()] > 0 || s.out[v.Index()] {
			s.press[s.f.ClassOf(v)]++
		}
	}
}

// effect puts into s.delta what instruction i does to the pressure after it, and returns
// the worst excess over the limits at it.
func (s *scheduler) effect(i int32) int32 {
	clear(s.delta)
	d, rs := s.f.Desc(i), s.f.InstRegs(i)
	over := int32(0)
	// Count each dying value once: take its reads away, look, and put them back.
	s.eachUse(i, func(v mir.Reg) {
		if s.uses[v.Index()]--; s.uses[v.Index()] == 0 && !s.out[v.Index()] {
			s.delta[s.f.ClassOf(v)]--
		}
	})
	s.eachUse(i, func(v mir.Reg) { s.uses[v.Index()]++ })
	for _, o := range d.Operands {
		if o.Role != mir.Use {
			s.delta[o.Class]++
			over = max(over, s.press[o.Class]+s.delta[o.Class]-s.limit[o.Class])
		}
	}
	for k, o := range d.Operands {
		if o.Role != mir.Use && s.uses[rs[k].Index()] == 0 && !s.out[rs[k].Index()] {
			s.delta[o.Class]-- // never read
		}
	}
	return over
}

// apply makes the effect of i current and returns the worst excess.
func (s *scheduler) apply(i int32) int32 {
	over := s.effect(i)
	for c, d := range s.delta {
		s.press[c] += d
	}
	s.eachUse(i, func(v mir.Reg) { s.uses[v.Index()]-- })
	return over
}

func (s *scheduler) undo(first, n int32) {
	for i := first; i < first+n; i++ {
		s.eachUse(i, func(v mir.Reg) { s.uses[v.Index()]++ })
	}
}

// region schedules Insts[first:first+n].
func (s *scheduler) region(first, n int32) {
	s.g.build(first, n)
	s.heights(n)
	var saved []int32
	var before int32
	if s.live != nil {
		// Walk the original order first, for its own excess.
		saved = slices.Clone(s.press)
		for i := first; i < first+n; i++ {
			before = max(before, s.apply(i))
		}
		s.undo(first, n)
		copy(s.press, saved)
	}
	after := s.list(n)
	if s.live != nil && after > before {
		s.undo(first, n)
		copy(s.press, saved)
		for i := first; i < first+n; i++ {
			s.apply(i)
		}
		return
	}
	old := slices.Clone(s.f.Insts[first : first+n])
	for k, o := range s.order {
		s.f.Insts[first+int32(k)] = old[o]
	}
}

func (s *scheduler) heights(n int32) {
	s.height = slices.Grow(s.height[:0], int(n))[:n]
	for k := n - 1; k >= 0; k-- {
		h := s.g.latency(k)
		for x := s.g.head[k]; x >= 0; x = s.g.arcs[x].next {
			h = max(h, s.g.arcs[x].lat+s.height[s.g.arcs[x].to])
		}
		s.height[k] = h
	}
}

// list issues the region's instructions into s.order and returns the worst excess of
// pressure over the limits.
func (s *scheduler) list(n int32) int32 {
	s.order, s.ready = s.order[:0], s.ready[:0]
	s.earliest = slices.Grow(s.earliest[:0], int(n))[:n]
	clear(s.earliest)
	clear(s.portFree[:])
	for k := range n {
		if s.g.npred[k] == 0 {
			s.ready = append(s.ready, k)
		}
	}
	worst := int32(0)
	width := int32(max(1, s.f.Target.IssueWidth))
	for cycle := int32(0); int32(len(s.order)) < n; cycle++ {
		for issued := int32(0); issued < width; issued++ {
			x := s.choose(cycle)
			if x < 0 {
				break
			}
			k := s.ready[x]
			s.ready = slices.Delete(s.ready, x, x+1)
			s.order = append(s.order, k)
			s.takePort(k, cycle)
			if s.live != nil {
				worst = max(worst, s.apply(s.g.first+k))
			}
			for a := s.g.head[k]; a >= 0; a = s.g.arcs[a].next {
				to := s.g.arcs[a].to
				s.earliest[to] = max(s.earliest[to], cycle+s.g.arcs[a].lat)
				if s.g.npred[to]--; s.g.npred[to] == 0 {
					s.ready = append(s.ready, to)
				}
			}
		}
	}
	return worst
}

// choose picks the position in the ready list of the instruction to issue now, or -1.
// Lower excess wins, then height, then index.
func (s *scheduler) choose(cycle int32) int {
	best, bestOver, bestDelta := -1, int32(0), int32(0)
	waiting := false
	for x, k := range s.ready {
		over, delta := int32(0), int32(0)
		if s.live != nil {
			if over = s.effect(s.g.first + k); over > 0 {
				for _, d := range s.delta {
					delta += d
				}
			}
		}
		if s.earliest[k] > cycle || !s.portReady(k, cycle) {
			waiting = waiting || over == 0
			continue
		}
		if best >= 0 {
			b := s.ready[best]
			switch {
			case over != bestOver:
				if over > bestOver {
					continue
				}
			case delta != bestDelta:
				if delta > bestDelta {
					continue
				}
			case s.height[k] != s.height[b]:
				if s.height[k] < s.height[b] {
					continue
				}
			case k > b:
				continue
			}
		}
		best, bestOver, bestDelta = x, over, delta
	}
	if bestOver > 0 && waiting {
		return -1 // something that fits is about to become ready
	}
	return best
}

func (s *scheduler) portReady(k, cycle int32) bool {
	ports := s.f.Desc(s.g.first + k).Ports
	if ports == 0 {
		return true
	}
	for p := range s.portFree {
		if ports>>p&1 != 0 && s.portFree[p] <= cycle {
			return true
		}
	}
	return false
}

// takePort occupies the allowed port that has been free longest.
func (s *scheduler) takePort(k, cycle int32) {
	d := s.f.Desc(s.g.first + k)
	best := -1
	for p := range s.portFree {
		if d.Ports>>p&1 != 0 && (best < 0 || s.portFree[p] < s.portFree[best]) {
			best = p
		}
	}
	if best >= 0 {
		s.portFree[best] = max(cycle, s.portFree[best]) + max(1, int32(d.Uops))
	}
}
