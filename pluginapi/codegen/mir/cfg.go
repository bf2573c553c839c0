package mir

// Loop is a natural loop.
type Loop struct {
	Header Block
	Parent int32 // index of the enclosing loop, -1 at the outermost level
	Depth  int32 // 1 for an outermost loop
}

// Pred is one incoming edge: successor number Succ of block From.
type Pred struct {
	From Block
	Succ int32
}

// CFG holds what the passes need to know about control flow. Dominators are Cooper,
// Harvey and Kennedy's iteration; loops are natural loops found from back edges in
// post-order, inner before outer. A cycle entered in the middle is not a loop here;
// that costs speed of the code, never correctness.
type CFG struct {
	RPO    []Block // reachable blocks in reverse post-order
	Num    []int32 // position in RPO, -1 if unreachable
	IDom   []Block
	Loops  []Loop  // outer loops before inner ones
	LoopOf []int32 // innermost loop of each block, -1 outside
	preds  []Pred
	predAt []int32
	// Pre-order numbers and subtree sizes in the dominator tree.
	domPre, domSize []int32
}

// Preds are the incoming edges of b from reachable blocks, by block number.
func (c *CFG) Preds(b Block) []Pred { return c.preds[c.predAt[b]:c.predAt[b+1]] }

// Depth is the loop depth of b, 0 outside loops.
func (c *CFG) Depth(b Block) int32 {
	if l := c.LoopOf[b]; l >= 0 {
		return c.Loops[l].Depth
	}
	return 0
}

// Dominates reports whether a dominates b.
func (c *CFG) Dominates(a, b Block) bool {
	if c.Num[a] < 0 || c.Num[b] < 0 {
		return false
	}
	return c.domPre[a] <= c.domPre[b] && c.domPre[b] < c.domPre[a]+c.domSize[a]
}

// numberDominators numbers the dominator tree in pre-order, so that a subtree
// is a range of numbers and Dominates takes constant time.
func (c *CFG) numberDominators() {
	n := len(c.IDom)
	c.domPre, c.domSize = make([]int32, n), make([]int32, n)
	next := make([]int32, n) // number of the next child
	for i := len(c.RPO) - 1; i >= 0; i-- {
		b := c.RPO[i]
		c.domSize[b]++
		if i > 0 {
			c.domSize[c.IDom[b]] += c.domSize[b]
		}
	}
	for i, b := range c.RPO {
		if i > 0 {
			d := c.IDom[b]
			c.domPre[b] = next[d]
			next[d] += c.domSize[b]
		}
		next[b] = c.domPre[b] + 1
	}
}

// InLoop reports whether block b is inside loop l.
func (c *CFG) InLoop(b Block, l int32) bool {
	k := c.LoopOf[b]
	for k >= 0 && c.Loops[k].Depth > c.Loops[l].Depth {
		k = c.Loops[k].Parent
	}
	return k == l
}

// IsHeader reports whether b heads a loop.
func (c *CFG) IsHeader(b Block) bool {
	l := c.LoopOf[b]
	return l >= 0 && c.Loops[l].Header == b
}

// BuildCFG analyses f.
func BuildCFG(f *Func) *CFG {
	n := len(f.Blocks)
	c := &CFG{Num: make([]int32, n), IDom: make([]Block, n), LoopOf: make([]int32, n)}
	c.order(f)
	c.predecessors(f)
	c.dominators()
	c.numberDominators()
	c.loops()
	return c
}

func (c *CFG) order(f *Func) {
	type frame struct {
		b    Block
		next int32
	}
	for i := range c.Num {
		c.Num[i] = -1
	}
	stack := []frame{{0, 0}}
	c.Num[0] = 0
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		es := f.Succs(t.b)
		if int(t.next) < len(es) {
			// Last successor first, so that the first one follows its block in RPO.
			to := es[len(es)-1-int(t.next)].To
			t.next++
			if c.Num[to] < 0 {
				c.Num[to] = 0
				stack = append(stack, frame{to, 0})
			}
			continue
		}
		c.RPO = append(c.RPO, t.b)
		stack = stack[:len(stack)-1]
	}
	for i, j := 0, len(c.RPO)-1; i < j; i, j = i+1, j-1 {
		c.RPO[i], c.RPO[j] = c.RPO[j], c.RPO[i]
	}
	for i, b := range c.RPO {
		c.Num[b] = int32(i)
	}
}

func (c *CFG) predecessors(f *Func) {
	c.predAt = make([]int32, len(f.Blocks)+1)
	each := func(visit func(p Pred, to Block)) {
		for b := range f.Blocks {
			if c.Num[b] < 0 {
				continue
			}
			for k, e := range f.Succs(Block(b)) {
				visit(Pred{Block(b), int32(k)}, e.To)
			}
		}
	}
	each(func(_ Pred, to Block) { c.predAt[to+1]++ })
	for i := range f.Blocks {
		c.predAt[i+1] += c.predAt[i]
	}
	c.preds = make([]Pred, c.predAt[len(f.Blocks)])
	at := append([]int32(nil), c.predAt...)
	each(func(p Pred, to Block) { c.preds[at[to]] = p; at[to]++ })
}

func (c *CFG) dominators() {
	for i := range c.IDom {
		c.IDom[i] = NoBlock
	}
	c.IDom[0] = 0
	for changed := true; changed; {
		changed = false
		for _, b := range c.RPO[1:] {
			d := NoBlock
			for _, p := range c.Preds(b) {
				switch {
				case c.IDom[p.From] == NoBlock:
				case d == NoBlock:
					d = p.From
				default:
					d = c.meet(d, p.From)
				}
			}
			if c.IDom[b] != d {
				c.IDom[b], changed = d, true
			}
		}
	}
}

func (c *CFG) meet(a, b Block) Block {
	for a != b {
		for c.Num[a] > c.Num[b] {
			a = c.IDom[a]
		}
		for c.Num[b] > c.Num[a] {
			b = c.IDom[b]
		}
	}
	return a
}

// loops finds loop bodies by walking back from each latch. Headers are taken in
// reverse RPO (inner first); a block keeps the first, innermost, loop that claims it,
// and a claimed inner loop is hung under the outer one and skipped as a whole.
func (c *CFG) loops() {
	for i := range c.LoopOf {
		c.LoopOf[i] = -1
	}
	var work []Block
	for i := len(c.RPO) - 1; i >= 0; i-- {
		h := c.RPO[i]
		work = work[:0]
		for _, p := range c.Preds(h) {
			if c.Dominates(h, p.From) {
				work = append(work, p.From)
			}
		}
		if len(work) == 0 {
			continue
		}
		l := int32(len(c.Loops))
		c.Loops = append(c.Loops, Loop{Header: h, Parent: -1})
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			k := c.LoopOf[b]
			for k >= 0 && k != l && c.Loops[k].Parent >= 0 {
				k = c.Loops[k].Parent
			}
			from := b
			switch {
			case k == l:
				continue
			case k >= 0:
				c.Loops[k].Parent = l
				from = c.Loops[k].Header
			default:
				c.LoopOf[b] = l
			}
			if from == h {
				continue
			}
			for _, p := range c.Preds(from) {
				if c.Dominates(h, p.From) {
					work = append(work, p.From)
				}
			}
		}
		if c.LoopOf[h] < 0 {
			c.LoopOf[h] = l
		}
	}
	// Renumber so that outer loops come first, then depths in one pass.
	n := int32(len(c.Loops))
	out := make([]Loop, n)
	for i, l := range c.Loops {
		if l.Parent >= 0 {
			l.Parent = n - 1 - l.Parent
		}
		out[n-1-int32(i)] = l
	}
	for i := range out {
		out[i].Depth = 1
		if p := out[i].Parent; p >= 0 {
			out[i].Depth = out[p].Depth + 1
		}
	}
	c.Loops = out
	for i, l := range c.LoopOf {
		if l >= 0 {
			c.LoopOf[i] = n - 1 - l
		}
	}
}

// SplitCriticalEdges puts a block with a plain jump on every edge from a block with
// several successors to a block with several predecessors, so that every edge has a
// place for moves. The allocator removes those that stay empty.
func (f *Func) SplitCriticalEdges() {
	npred := make([]int32, len(f.Blocks))
	npred[0]++ // the entry has an edge from outside
	for b := range f.Blocks {
		for _, e := range f.Succs(Block(b)) {
			npred[e.To]++
		}
	}
	layout := make([]Block, 0, len(f.Layout))
	for _, b := range f.Layout {
		layout = append(layout, b)
		es := f.Succs(b)
		if len(es) < 2 {
			continue
		}
		for k := range es {
			e := es[k]
			if npred[e.To] < 2 {
				continue
			}
			nb := Block(len(f.Blocks))
			t := f.Insts[f.Terminator(b)]
			at := int32(len(f.Insts))
			f.Insts = append(f.Insts, Inst{Op: f.Target.Jump, Node: t.Node, Ops: int32(len(f.Regs)), Pay: -1, Orig: OrigJump})
			f.Blocks = append(f.Blocks, BlockInfo{First: at, End: at + 1, Params: int32(len(f.Params)), Edges: int32(len(f.Edges)), NEdges: 1})
			f.Edges = append(f.Edges, e)
			// f.Edges may have moved: write through the function, not through es.
			f.Edges[f.Blocks[b].Edges+int32(k)] = Edge{To: nb, Args: int32(len(f.Args))}
			layout = append(layout, nb)
		}
	}
	f.Layout = layout
}

// ThreadJumps drops blocks that only jump, in an allocated function, and blocks that
// cannot be reached. Edges no longer carry arguments then, so any such block is empty.
func (f *Func) ThreadJumps() {
	to := make([]Block, len(f.Blocks))
	for b := range to {
		to[b] = Block(b)
		if bi := &f.Blocks[b]; b != 0 && bi.End-bi.First == 1 && f.Desc(bi.First).Term == TermJump {
			to[b] = f.Succs(Block(b))[0].To
		}
	}
	final := func(b Block) Block {
		// A ring of empty blocks is an endless loop the program asked for: stop after
		// as many steps as there are blocks.
		for range to {
			if to[b] == b {
				return b
			}
			b = to[b]
		}
		return b
	}
	reached := make([]bool, len(f.Blocks))
	reached[0] = true
	work := []Block{0}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		es := f.Succs(b)
		for k := range es {
			es[k].To = final(es[k].To)
			if t := es[k].To; !reached[t] {
				reached[t] = true
				work = append(work, t)
			}
		}
	}
	layout := f.Layout[:0]
	for _, b := range f.Layout {
		if reached[b] {
			layout = append(layout, b)
		}
	}
	f.Layout = layout
}
