package regalloc

import "github.com/kera-lang/kera/pluginapi/codegen/mir"

// edges makes, for every edge, the code that turns the state at the predecessor's end
// into the state the successor expects: stores of values the successor wants in
// memory, then one parallel move of everything else.
func (a *alloc) edges() {
	inReg := make([]mir.Reg, len(a.f.VRegs))    // at the successor's entry
	wantSlot := make([]bool, len(a.f.VRegs))    // there too
	liveIn := make([]mir.Block, len(a.f.VRegs)) // stamp: last successor it is live into
	for k := range liveIn {
		liveIn[k] = mir.NoBlock
	}
	for _, b := range a.cfg.RPO {
		for _, p := range a.cfg.Preds(b) {
			for _, v := range a.live.In[b] {
				liveIn[v.Index()] = b
			}
			for _, h := range a.entry[b] {
				inReg[h.v.Index()], wantSlot[h.v.Index()] = h.reg, h.inSlot
			}
			a.edgeCode(b, p, inReg, wantSlot, liveIn)
			for _, h := range a.entry[b] {
				inReg[h.v.Index()], wantSlot[h.v.Index()] = mir.NoReg, false
			}
		}
	}
}

func (a *alloc) edgeCode(b mir.Block, p mir.Pred, inReg []mir.Reg, wantSlot []bool, liveIn []mir.Block) {
	node := a.f.Insts[a.f.Terminator(p.From)].Node
	var code []out
	var busy mir.RegSet
	for _, h := range a.exit[p.From] {
		i := h.v.Index()
		a.loc[i] = h.reg
		if liveIn[i] == b {
			busy.Add(h.reg)
			if !h.inSlot && (inReg[i] == mir.NoReg || wantSlot[i]) {
				code = append(code, out{kind: outStore, node: node, v: h.v, dst: slotLoc(h.v), src: regLoc(h.reg)})
			}
		}
	}
	pm := &a.pm
	pm.reset()
	for _, h := range a.entry[b] {
		busy.Add(h.reg)
		if liveIn[h.v.Index()] == b {
			pm.add(regLoc(h.reg), a.source(h.v), h.v)
		}
	}
	e := a.f.Succs(p.From)[p.Succ]
	args := a.f.EdgeArgs(e)
	for k, q := range a.f.BlockParams(b) {
		switch r := inReg[q.Index()]; {
		case r != mir.NoReg:
			pm.add(regLoc(r), a.source(args[k]), args[k])
		case a.memParam[q.Index()]:
			pm.add(slotLoc(q), a.source(args[k]), args[k])
		}
	}
	code = pm.resolve(code, busy, node)
	for k := range code {
		if code[k].kind == outRemat {
			code[k].node = a.f.Insts[a.live.DefInst[code[k].v.Index()]].Node
		}
	}
	for _, h := range a.exit[p.From] {
		a.loc[h.v.Index()] = mir.NoReg
	}
	a.edge[int(a.f.Blocks[p.From].Edges+p.Succ)] = code
}

// source is where v can be had at the predecessor's end.
func (a *alloc) source(v mir.Reg) int32 {
	switch r := a.loc[v.Index()]; {
	case r != mir.NoReg:
		return regLoc(r)
	case a.remat[v.Index()]:
		return rematLoc
	}
	return slotLoc(v)
}
