package mir

// Liveness of virtual registers at block boundaries, by walking from each use back to
// the definition (Appel's method for SSA): the cost is the size of the result. Block
// parameters are defined on entry and so are not live-in; arguments are used at the
// end of the predecessor and so are live-out there.
type Liveness struct {
	In, Out [][]Reg // ascending
	// DefBlock and DefInst give each virtual register's definition; DefInst is -1 for
	// a block parameter.
	DefBlock []Block
	DefInst  []int32
}

// BuildLiveness computes liveness of a virtual function.
func BuildLiveness(f *Func, c *CFG) *Liveness {
	nv := len(f.VRegs)
	l := &Liveness{
		In: make([][]Reg, len(f.Blocks)), Out: make([][]Reg, len(f.Blocks)),
		DefBlock: make([]Block, nv), DefInst: make([]int32, nv),
	}
	for i := range l.DefBlock {
		l.DefBlock[i], l.DefInst[i] = NoBlock, -1
	}
	at := make([]int32, nv+1)
	each := func(visit func(v Reg, b Block, out bool)) {
		for _, b := range c.RPO {
			bi := &f.Blocks[b]
			for i := bi.First; i < bi.End; i++ {
				d := f.Desc(i)
				for k, r := range f.InstRegs(i) {
					if r.IsVirt() && (k >= len(d.Operands) || d.Operands[k].Role == Use) {
						visit(r, b, false)
					}
				}
			}
			for _, e := range f.Succs(b) {
				for _, r := range f.EdgeArgs(e) {
					visit(r, b, true)
				}
			}
		}
	}
	for _, b := range c.RPO {
		for _, p := range f.BlockParams(b) {
			l.DefBlock[p.Index()] = b
		}
		bi := &f.Blocks[b]
		for i := bi.First; i < bi.End; i++ {
			for k, o := range f.Desc(i).Operands {
				if o.Role != Use {
					v := f.InstRegs(i)[k].Index()
					l.DefBlock[v], l.DefInst[v] = b, i
				}
			}
		}
	}
	// Bucket the uses by register so that each register is walked in one go.
	type use struct {
		b   Block
		out bool
	}
	each(func(v Reg, _ Block, _ bool) { at[v.Index()+1]++ })
	for i := 0; i < nv; i++ {
		at[i+1] += at[i]
	}
	uses := make([]use, at[nv])
	fill := append([]int32(nil), at...)
	each(func(v Reg, b Block, out bool) {
		uses[fill[v.Index()]] = use{b, out}
		fill[v.Index()]++
	})
	last := func(s []Reg, v Reg) bool { return len(s) > 0 && s[len(s)-1] == v }
	var work []Block
	for i := 0; i < nv; i++ {
		v, def := VirtReg(i), l.DefBlock[i]
		for _, u := range uses[at[i]:at[i+1]] {
			if u.out && !last(l.Out[u.b], v) {
				l.Out[u.b] = append(l.Out[u.b], v)
			}
			work = append(work[:0], u.b)
			for len(work) > 0 {
				b := work[len(work)-1]
				work = work[:len(work)-1]
				if b == def || last(l.In[b], v) {
					continue
				}
				l.In[b] = append(l.In[b], v)
				for _, p := range c.Preds(b) {
					if !last(l.Out[p.From], v) {
						l.Out[p.From] = append(l.Out[p.From], v)
					}
					work = append(work, p.From)
				}
			}
		}
	}
	return l
}
