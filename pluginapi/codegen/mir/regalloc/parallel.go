package regalloc

import "github.com/kera-lang/kera/pluginapi/codegen/mir"

// Locations are numbers: physical registers, then one spill slot per virtual register,
// then two emergency slots per class. rematLoc is no place: the value is recomputed.
const rematLoc int32 = -1

func regLoc(r mir.Reg) int32  { return int32(r) }
func slotLoc(v mir.Reg) int32 { return mir.MaxPhys + int32(v.Index()) }

// isReg reports whether a location is a register.
func isReg(l int32) bool { return l > 0 && l < mir.MaxPhys }

// parallel sequentialises a parallel move between registers and slots. A move is
// emitted once no other pending move reads its destination; what remains are disjoint
// cycles, broken through a free register, else a swap, else an emergency slot. Each
// move is queued once, so the cost is linear.
type parallel struct {
	f       *mir.Func
	moves   []pmove
	readers []int32 // pending moves that read a location
	writer  []int32 // 1 + index of the pending move that writes it
	queue   []int32
	out     []out
	busy    mir.RegSet
	node    mir.Node
}

type pmove struct {
	dst, src int32
	v        mir.Reg
	done     bool
}

func (p *parallel) init(f *mir.Func) {
	n := mir.MaxPhys + len(f.VRegs) + 2*len(f.Target.Classes)
	p.f, p.readers, p.writer = f, make([]int32, n), make([]int32, n)
}

func (p *parallel) emergency(c mir.Class, k int) int32 {
	return int32(mir.MaxPhys + len(p.f.VRegs) + 2*int(c) + k)
}

func (p *parallel) reset() { p.moves = p.moves[:0] }

func (p *parallel) add(dst, src int32, v mir.Reg) {
	if dst != src {
		p.moves = append(p.moves, pmove{dst: dst, src: src, v: v})
	}
}

// resolve appends the moves added since reset to code. Registers outside busy, and not
// part of a move, are free for use as scratch.
func (p *parallel) resolve(code []out, busy mir.RegSet, node mir.Node) []out {
	if len(p.moves) == 0 {
		return code
	}
	p.out, p.busy, p.node, p.queue = code, busy, node, p.queue[:0]
	for k, m := range p.moves {
		if m.src != rematLoc {
			p.readers[m.src]++
		}
		p.writer[m.dst] = int32(k) + 1
		for _, l := range [2]int32{m.dst, m.src} {
			if isReg(l) {
				p.busy.Add(mir.Reg(l))
			}
		}
	}
	for k, m := range p.moves {
		if p.readers[m.dst] == 0 {
			p.queue = append(p.queue, int32(k))
		}
	}
	p.drain()
	for k := range p.moves {
		for !p.moves[k].done {
			p.breakCycle(int32(k))
			p.drain()
		}
	}
	return p.out
}

func (p *parallel) drain() {
	for h := 0; h < len(p.queue); h++ {
		k := p.queue[h]
		m := &p.moves[k]
		p.move(m.dst, m.src, m.v)
		p.finish(k)
	}
	p.queue = p.queue[:0]
}

// finish retires move k and queues the move that waited for its source.
func (p *parallel) finish(k int32) {
	m := &p.moves[k]
	m.done = true
	p.writer[m.dst] = 0
	if m.src == rematLoc {
		return
	}
	p.readers[m.src]--
	if w := p.writer[m.src]; p.readers[m.src] == 0 && w != 0 {
		p.queue = append(p.queue, w-1)
	}
}

func (p *parallel) scratch(c mir.Class) mir.Reg {
	for _, r := range p.f.Target.Classes[c].Allocatable {
		if !p.busy.Has(r) {
			return r
		}
	}
	return mir.NoReg
}

// breakCycle frees the destination of move k, which one other move still reads.
func (p *parallel) breakCycle(k int32) {
	m := &p.moves[k]
	q := k
	for p.moves[q].src != m.dst { // walk the cycle: writer of our source, and so on
		q = p.writer[p.moves[q].src] - 1
	}
	c := p.f.ClassOf(m.v)
	if tmp := p.scratch(c); tmp != mir.NoReg {
		p.redirect(q, regLoc(tmp))
		return
	}
	if isReg(m.dst) && isReg(m.src) {
		p.out = append(p.out, out{kind: outSwap, node: p.node, v: m.v, dst: m.dst, src: m.src})
		// m's value has arrived; what m.dst held is now where m read.
		other := &p.moves[q]
		p.readers[m.dst]--
		p.readers[m.src]++
		other.src = m.src
		p.finish(k)
		if other.src == other.dst {
			p.finish(q)
		}
		return
	}
	p.redirect(q, p.emergency(c, 1))
}

// redirect saves the source of move q in a place of its own and lets q read that.
func (p *parallel) redirect(q int32, to int32) {
	m := &p.moves[q]
	from := m.src
	p.move(to, from, m.v)
	if isReg(to) {
		p.busy.Add(mir.Reg(to))
	}
	m.src = to
	p.readers[to]++
	p.readers[from]--
	if w := p.writer[from]; p.readers[from] == 0 && w != 0 {
		p.queue = append(p.queue, w-1)
	}
}

// move emits one move between any two places.
func (p *parallel) move(dst, src int32, v mir.Reg) {
	o := out{node: p.node, v: v, dst: dst, src: src}
	switch {
	case isReg(dst) && src == rematLoc:
		o.kind = outRemat
	case isReg(dst) && isReg(src):
		o.kind = outMove
	case isReg(dst):
		o.kind = outLoad
	case isReg(src):
		o.kind = outKeep
	default:
		p.memMove(dst, src, v)
		return
	}
	p.out = append(p.out, o)
}

// memMove goes through a free register, or through one saved in the first emergency slot.
func (p *parallel) memMove(dst, src int32, v mir.Reg) {
	c := p.f.ClassOf(v)
	r := p.scratch(c)
	saved := r == mir.NoReg
	if saved {
		r = p.f.Target.Classes[c].Allocatable[0]
		p.move(p.emergency(c, 0), regLoc(r), v)
	}
	p.move(regLoc(r), src, v)
	p.move(dst, regLoc(r), v)
	if saved {
		p.move(regLoc(r), p.emergency(c, 0), v)
	}
}
