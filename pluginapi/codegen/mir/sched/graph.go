package sched

import "github.com/kera-lang/kera/pluginapi/codegen/mir"

// maxRegion bounds what is scheduled at once.
const maxRegion = 256

// arc is a dependence on a later instruction of the region, in a list per source.
type arc struct {
	to, lat int32
	next    int32 // index of the source's next arc, -1 at the end
}

// access is one memory operation and how its address was formed.
type access struct {
	k           int32
	effect      mir.Effect
	base, index mir.Reg
	baseV       int32 // definitions seen when the address was read: equal registers with
	indexV      int32 // equal versions hold equal values
	p           mir.Payload
	size        int32
	spill       bool
}

type graph struct {
	f     *mir.Func
	first int32 // of the region
	n     int32
	arcs  []arc
	head  []int32 // first arc of each instruction
	npred []int32
	mem   []access

	// becomes is, per value, the block parameter some edge passes it to. A definition
	// waits for earlier readers of that parameter, so that both can share a register
	// and a loop's pointer increments cost no moves on the back edge.
	becomes []mir.Reg

	// Per register, valid where stamp equals the region's.
	stamp   []int32
	gen     int32
	lastDef []int32
	readers []int32 // head of a list in rd
	rd      []arc

	resDef [32]int32
	resUse [32][]int32
}

func newGraph(f *mir.Func) *graph {
	n := int(mir.FirstVirt) + len(f.VRegs)
	g := &graph{f: f, stamp: make([]int32, n), lastDef: make([]int32, n), readers: make([]int32, n)}
	if !f.Allocated {
		g.becomes = make([]mir.Reg, len(f.VRegs))
		for b := range f.Blocks {
			for _, e := range f.Succs(mir.Block(b)) {
				for k, v := range f.EdgeArgs(e) {
					if g.becomes[v.Index()] == mir.NoReg {
						g.becomes[v.Index()] = f.BlockParams(e.To)[k]
					}
				}
			}
		}
	}
	return g
}

func (g *graph) touch(r mir.Reg) {
	if g.stamp[r] != g.gen {
		g.stamp[r], g.lastDef[r], g.readers[r] = g.gen, -1, -1
	}
}

// arcTo adds a dependence of k on from.
func (g *graph) arcTo(from, k, lat int32) {
	if from < 0 || from == k {
		return
	}
	g.arcs = append(g.arcs, arc{k, lat, g.head[from]})
	g.head[from] = int32(len(g.arcs) - 1)
	g.npred[k]++
}

func (g *graph) latency(k int32) int32 { return max(1, int32(g.f.Desc(g.first+k).Latency)) }

// build makes the dependence graph of Insts[first:first+n].
func (g *graph) build(first, n int32) {
	g.first, g.n = first, n
	g.gen++
	g.arcs, g.mem, g.rd = g.arcs[:0], g.mem[:0], g.rd[:0]
	g.head, g.npred = g.head[:0], g.npred[:0]
	for range n {
		g.head, g.npred = append(g.head, -1), append(g.npred, 0)
	}
	for i := range g.resDef {
		g.resDef[i], g.resUse[i] = -1, g.resUse[i][:0]
	}
	for k := range n {
		g.inst(k)
	}
}

func (g *graph) read(r mir.Reg, k int32) {
	g.touch(r)
	if d := g.lastDef[r]; d >= 0 {
		g.arcTo(d, k, g.latency(d))
	}
	g.rd = append(g.rd, arc{to: k, next: g.readers[r]})
	g.readers[r] = int32(len(g.rd) - 1)
}

// after makes k follow every reader of r so far.
func (g *graph) after(r mir.Reg, k int32) {
	g.touch(r)
	for x := g.readers[r]; x >= 0; x = g.rd[x].next {
		g.arcTo(g.rd[x].to, k, 0)
	}
}

func (g *graph) write(r mir.Reg, k int32) {
	g.after(r, k)
	g.arcTo(g.lastDef[r], k, 1)
	g.lastDef[r], g.readers[r] = k, -1
}

func (g *graph) inst(k int32) {
	i := g.first + k
	d, rs := g.f.Desc(i), g.f.InstRegs(i)
	isDef := func(j int) bool { return j < len(d.Operands) && d.Operands[j].Role != mir.Use }
	for j, r := range rs {
		if r != mir.NoReg && !isDef(j) {
			g.read(r, k)
		}
	}
	if d.Effect != mir.MemNone {
		g.memory(k, d, rs)
	}
	for j, o := range d.Operands {
		// A two-operand form overwrites its input: keep earlier readers before it, or
		// the allocator has to copy.
		if o.Constraint == mir.Reuse && rs[o.Reuse].IsVirt() {
			g.after(rs[o.Reuse], k)
		}
		if isDef(j) {
			if rs[j].IsVirt() && g.becomes[rs[j].Index()] != mir.NoReg {
				g.after(g.becomes[rs[j].Index()], k)
			}
			g.write(rs[j], k)
		}
	}
	if g.f.Allocated {
		for _, r := range d.Clobbers.List() {
			g.write(r, k)
		}
		if g.isSwap(i) {
			g.write(rs[0], k)
			g.write(rs[1], k)
		}
	}
	for b := 0; b < 32; b++ {
		bit := mir.Resource(1) << b
		if d.ResUse&bit != 0 {
			if g.resDef[b] >= 0 {
				g.arcTo(g.resDef[b], k, g.latency(g.resDef[b]))
			}
			g.resUse[b] = append(g.resUse[b], k)
		}
		if d.ResDef&bit != 0 {
			for _, u := range g.resUse[b] {
				g.arcTo(u, k, 0)
			}
			g.arcTo(g.resDef[b], k, 0)
			g.resDef[b], g.resUse[b] = k, g.resUse[b][:0]
		}
	}
}

func (g *graph) isSwap(i int32) bool {
	rs := g.f.InstRegs(i)
	return g.f.Insts[i].Orig == mir.OrigMove && len(rs) == 2 &&
		g.f.Insts[i].Op == g.f.Target.Classes[g.f.ClassOf(rs[0])].Swap
}

// version identifies the value r has before instruction k.
func (g *graph) version(r mir.Reg) int32 {
	if r == mir.NoReg || g.stamp[r] != g.gen {
		return -1
	}
	return g.lastDef[r]
}

func (g *graph) memory(k int32, d *mir.Desc, rs []mir.Reg) {
	i := g.first + k
	a := access{k: k, effect: d.Effect, size: int32(d.MemSize), p: g.f.Payload(i), spill: g.f.Insts[i].Orig == mir.OrigMove}
	if d.HasAddr {
		n := len(d.Operands)
		a.base, a.index = rs[n], rs[n+1]
		a.baseV, a.indexV = g.version(a.base), g.version(a.index)
	}
	for x := range g.mem {
		if o := &g.mem[x]; conflict(o, &a) {
			lat := int32(0)
			if o.effect&mir.MemWrite != 0 {
				lat = g.latency(o.k)
			}
			g.arcTo(o.k, k, lat)
		}
	}
	g.mem = append(g.mem, a)
}

// conflict reports whether two accesses must keep their order.
func conflict(a, b *access) bool {
	if a.effect == mir.MemBarrier || b.effect == mir.MemBarrier {
		return true
	}
	if (a.effect|b.effect)&mir.MemWrite == 0 {
		return false
	}
	if a.spill || b.spill {
		return a.p.Slot == b.p.Slot // spill slots are nobody else's
	}
	if a.p.Label != 0 || b.p.Label != 0 {
		return a.p.Label == b.p.Label && (a.base != mir.NoReg || b.base != mir.NoReg) // constants, unless indexed oddly
	}
	if a.p.Alias != 0 && b.p.Alias != 0 && a.p.Alias != b.p.Alias {
		return false
	}
	same := a.base == b.base && a.index == b.index && a.baseV == b.baseV && a.indexV == b.indexV &&
		a.p.Slot == b.p.Slot && (a.index == mir.NoReg || a.p.Scale == b.p.Scale)
	if !same || a.size == 0 || b.size == 0 {
		return true
	}
	return a.p.Disp < b.p.Disp+b.size && b.p.Disp < a.p.Disp+a.size
}
