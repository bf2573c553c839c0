package regalloc

import "github.com/kera-lang/kera/pluginapi/codegen/mir"

const (
	dead     int32 = -1      // no further use
	exitDist int32 = 100_000 // distance added for each loop level an edge leaves
	farDist  int32 = 1 << 28 // saturation
)

func addDist(a, b int32) int32 { return min(a+b, farDist) }

// distances fills a.distOut: for every value live out of a block, the distance from the
// block's end to its next use. Two backward sweeps: the second sees the
// loops' back edges. It is a heuristic input; any value is correct.
func (a *alloc) distances() {
	n := len(a.f.Blocks)
	a.distOut = make([][]int32, n)
	distIn := make([][]int32, n)
	for _, b := range a.cfg.RPO {
		a.distOut[b] = make([]int32, len(a.live.Out[b]))
		distIn[b] = make([]int32, len(a.live.In[b]))
		for k := range distIn[b] {
			distIn[b][k] = farDist
		}
	}
	tmp := make([]int32, len(a.f.VRegs))
	for sweep := 0; sweep < 2; sweep++ {
		for x := len(a.cfg.RPO) - 1; x >= 0; x-- {
			b := a.cfg.RPO[x]
			for _, v := range a.live.Out[b] {
				tmp[v.Index()] = farDist
			}
			for _, e := range a.f.Succs(b) {
				w := a.exitLevels(b, e.To) * exitDist
				for k, v := range a.live.In[e.To] {
					tmp[v.Index()] = min(tmp[v.Index()], addDist(distIn[e.To][k], w))
				}
				for _, v := range a.f.EdgeArgs(e) {
					tmp[v.Index()] = 0
				}
			}
			for k, v := range a.live.Out[b] {
				a.distOut[b][k] = tmp[v.Index()]
			}
			bi := &a.f.Blocks[b]
			for _, v := range a.live.Out[b] {
				tmp[v.Index()] = addDist(tmp[v.Index()], bi.End-bi.First)
			}
			for i := bi.End - 1; i >= bi.First; i-- {
				for k, v := range a.f.InstRegs(i) {
					if v != mir.NoReg && a.isUse(i, k) {
						tmp[v.Index()] = i - bi.First
					}
				}
			}
			for k, v := range a.live.In[b] {
				distIn[b][k] = tmp[v.Index()]
			}
		}
	}
}

// exitLevels is how many loops the edge from b to to leaves.
func (a *alloc) exitLevels(b, to mir.Block) int32 {
	n := int32(0)
	for l := a.cfg.LoopOf[b]; l >= 0 && !a.cfg.InLoop(to, l); l = a.cfg.Loops[l].Parent {
		n++
	}
	return n
}

func (a *alloc) isUse(i int32, k int) bool {
	ops := a.f.Desc(i).Operands
	return k >= len(ops) || ops[k].Role == mir.Use
}

// scanBlock computes, for block b, a.after[operand]: the next use of that operand's value
// after its instruction, and leaves in a.next the next use at block entry of
// live-ins and parameters. Positions count from the block's start.
func (a *alloc) scanBlock(b mir.Block) {
	bi := &a.f.Blocks[b]
	size := bi.End - bi.First
	for k, v := range a.live.Out[b] {
		a.next[v.Index()] = addDist(size, a.distOut[b][k])
	}
	for i := bi.End - 1; i >= bi.First; i-- {
		rs, at := a.f.InstRegs(i), a.f.Insts[i].Ops
		for k, v := range rs {
			if v != mir.NoReg {
				a.after[at+int32(k)] = a.next[v.Index()]
			}
		}
		for k, v := range rs {
			if v != mir.NoReg && !a.isUse(i, k) {
				a.next[v.Index()] = dead
			}
		}
		for k, v := range rs {
			if v != mir.NoReg && a.isUse(i, k) {
				a.next[v.Index()] = i - bi.First
			}
		}
	}
}

// pressure records, per loop and class, the largest number of registers wanted at once
// anywhere inside.
func (a *alloc) pressure() {
	nc := len(a.t.Classes)
	a.loopPress = make([]int32, len(a.cfg.Loops)*nc)
	cnt := make([]int32, nc)
	peak := make([]int32, nc)
	live := make([]bool, len(a.f.VRegs))
	for _, b := range a.cfg.RPO {
		l := a.cfg.LoopOf[b]
		if l < 0 {
			continue
		}
		clear(cnt)
		clear(peak)
		for _, v := range a.live.Out[b] {
			live[v.Index()] = true
			cnt[a.f.ClassOf(v)]++
		}
		bi := &a.f.Blocks[b]
		for i := bi.End - 1; i >= bi.First; i-- {
			rs := a.f.InstRegs(i)
			for k, v := range rs {
				if v != mir.NoReg && !a.isUse(i, k) && !live[v.Index()] {
					live[v.Index()] = true
					cnt[a.f.ClassOf(v)]++
				}
			}
			for c := range cnt {
				peak[c] = max(peak[c], cnt[c]+int32(a.f.Desc(i).Clobbers.And(a.allocatable[c]).Len()))
			}
			for k, v := range rs {
				if v != mir.NoReg && !a.isUse(i, k) {
					live[v.Index()] = false
					cnt[a.f.ClassOf(v)]--
				}
			}
			for k, v := range rs {
				if v != mir.NoReg && a.isUse(i, k) && !live[v.Index()] {
					live[v.Index()] = true
					cnt[a.f.ClassOf(v)]++
				}
			}
			for c := range cnt {
				peak[c] = max(peak[c], cnt[c])
			}
		}
		for _, v := range a.live.In[b] {
			live[v.Index()] = false
		}
		for _, v := range a.f.BlockParams(b) {
			live[v.Index()] = false
		}
		for ; l >= 0; l = a.cfg.Loops[l].Parent {
			for c := range peak {
				p := &a.loopPress[int(l)*nc+c]
				*p = max(*p, peak[c])
			}
		}
	}
}
