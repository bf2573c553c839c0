package regalloc

import (
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// emit builds the allocated function from the bodies and edge code, once it is known
// which values are stored at their definition.
func (a *alloc) emit() *mir.Func {
	f := a.f
	g := &mir.Func{
		Name: f.Name, Target: f.Target, EntryRegs: f.EntryRegs, Allocated: true,
		Payloads: slices.Clone(f.Payloads), Blocks: make([]mir.BlockInfo, len(f.Blocks)),
		Edges: slices.Clone(f.Edges), Slots: slices.Clone(f.Slots),
		Insts: make([]mir.Inst, 0, len(f.Insts)*5/4), Regs: make([]mir.Reg, 0, len(f.Regs)*5/4),
	}
	for k := range g.Edges {
		g.Edges[k].Args, g.Edges[k].NArgs = 0, 0
	}
	e := emitter{a: a, g: g, slot: map[int32]int32{}, atDef: a.storeAtDef()}
	e.shareSlots()
	for _, b := range f.Layout {
		if a.cfg.Num[b] < 0 {
			continue
		}
		g.Layout = append(g.Layout, b)
		bi := &g.Blocks[b]
		bi.First = int32(len(g.Insts))
		bi.Edges, bi.NEdges = f.Blocks[b].Edges, f.Blocks[b].NEdges
		e.block(b)
		bi.End = int32(len(g.Insts))
	}
	layFrame(g)
	return g
}

// storeAtDef decides, per value that needs its slot, between storing where it is
// evicted and storing once at the definition, by estimated executions.
func (a *alloc) storeAtDef() []bool {
	cost := make([]int64, len(a.f.VRegs))
	add := func(code []out, b mir.Block) {
		for _, o := range code {
			if o.kind == outStore {
				cost[o.v.Index()] += a.freq(b)
			}
		}
	}
	for _, b := range a.cfg.RPO {
		add(a.body[b], b)
		for k, e := range a.f.Succs(b) {
			place := b
			if a.f.Blocks[b].NEdges > 1 {
				place = e.To
			}
			add(a.edge[int(a.f.Blocks[b].Edges)+k], place)
		}
	}
	at := make([]bool, len(cost))
	for v, c := range cost {
		if c == 0 {
			continue
		}
		b, i := a.live.DefBlock[v], a.live.DefInst[v]
		// A terminator's result has no place after it in its own block.
		at[v] = a.freq(b) <= c && (i < 0 || a.f.Desc(i).Term == mir.TermNone)
	}
	return at
}

func (a *alloc) freq(b mir.Block) int64 { return 1 << (3 * min(a.cfg.Depth(b), 15)) }

type emitter struct {
	a     *alloc
	g     *mir.Func
	slot  map[int32]int32 // location -> frame slot
	atDef []bool
}

func (e *emitter) block(b mir.Block) {
	a, f := e.a, e.a.f
	for _, p := range a.cfg.Preds(b) {
		if f.Blocks[p.From].NEdges > 1 {
			e.code(a.edge[int(f.Blocks[p.From].Edges+p.Succ)]) // b's only predecessor
		}
	}
	first := f.Insts[f.Blocks[b].First].Node
	for _, h := range a.entry[b] {
		if e.atDef[h.v.Index()] && a.live.DefBlock[h.v.Index()] == b && a.live.DefInst[h.v.Index()] < 0 {
			e.store(first, h.v)
		}
	}
	body := a.body[b]
	e.code(body[:len(body)-1])
	if f.Blocks[b].NEdges == 1 {
		e.code(a.edge[f.Blocks[b].Edges])
	}
	e.code(body[len(body)-1:])
}

// store spills v from its register at its definition.
func (e *emitter) store(n mir.Node, v mir.Reg) {
	if e.slot[slotLoc(v)] == 0 {
		return
	}
	e.one(out{kind: outKeep, node: n, v: v, dst: slotLoc(v), src: regLoc(e.a.defReg[v.Index()])})
}

func (e *emitter) code(code []out) {
	for _, o := range code {
		if o.kind == outStore && e.atDef[o.v.Index()] {
			continue
		}
		if (o.kind == outStore || o.kind == outKeep) && e.slot[o.dst] == 0 {
			continue // never read
		}
		e.one(o)
		if o.kind != outOrig {
			continue
		}
		rs := e.a.f.InstRegs(o.orig)
		for k, s := range e.a.f.Desc(o.orig).Operands {
			if s.Role == mir.Def && e.atDef[rs[k].Index()] {
				e.store(o.node, rs[k])
			}
		}
	}
}

func (e *emitter) one(o out) {
	a, g := e.a, e.g
	in := mir.Inst{Node: o.node, Pay: -1, Orig: mir.OrigMove, Ops: int32(len(g.Regs))}
	ci := &g.Target.Classes[0]
	if o.kind != outOrig {
		ci = &g.Target.Classes[a.f.ClassOf(o.v)]
	}
	switch o.kind {
	case outOrig:
		src := a.f.Insts[o.orig]
		in.Op, in.Pay, in.Orig = src.Op, src.Pay, o.orig
		g.Regs = append(g.Regs, a.asg[src.Ops:src.Ops+int32(src.NOps)]...)
	case outMove, outSwap:
		in.Op = ci.Move
		if o.kind == outSwap {
			in.Op = ci.Swap
		}
		g.Regs = append(g.Regs, mir.Reg(o.dst), mir.Reg(o.src))
	case outLoad:
		in.Op, in.Pay = ci.Load, e.slotPayload(o.src)
		g.Regs = append(g.Regs, mir.Reg(o.dst), mir.NoReg, mir.NoReg)
	case outStore, outKeep:
		in.Op, in.Pay = ci.Store, e.slotPayload(o.dst)
		g.Regs = append(g.Regs, mir.Reg(o.src), mir.NoReg, mir.NoReg)
	case outRemat:
		src := a.f.Insts[a.live.DefInst[o.v.Index()]]
		in.Op, in.Pay, in.Orig = src.Op, src.Pay, mir.OrigRemat-int32(o.v.Index())
		g.Regs = append(g.Regs, mir.Reg(o.dst))
		for range src.NOps - 1 {
			g.Regs = append(g.Regs, mir.NoReg)
		}
	}
	in.NOps = uint16(int32(len(g.Regs)) - in.Ops)
	e.markUsed(o, in)
	g.Insts = append(g.Insts, in)
}

func (e *emitter) markUsed(o out, in mir.Inst) {
	d := e.g.Target.Desc(in.Op)
	e.g.Used = e.g.Used.Or(d.Clobbers)
	for k, s := range d.Operands {
		if s.Role != mir.Use || o.kind == outSwap {
			e.g.Used.Add(e.g.Regs[in.Ops+int32(k)])
		}
	}
}

func (e *emitter) slotPayload(loc int32) int32 {
	e.g.Payloads = append(e.g.Payloads, mir.Payload{Slot: e.slot[loc]})
	return int32(len(e.g.Payloads) - 1)
}

// layFrame gives every slot its offset from the frame base.
func layFrame(g *mir.Func) {
	g.FrameAlign = 1
	at := int32(0)
	for k := range g.Slots {
		s := &g.Slots[k]
		al := max(s.Align, 1)
		g.FrameAlign = max(g.FrameAlign, al)
		at = (at + al - 1) / al * al
		s.Offset = at
		at += s.Size
	}
	g.FrameSize = (at + g.FrameAlign - 1) / g.FrameAlign * g.FrameAlign
}
