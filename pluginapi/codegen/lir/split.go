package lir

import "fmt"

// Part is one phase: a function and the number of its tiles.
type Part struct {
	Func  *Func
	Tiles int64
}

// Split cuts a function at its outermost loops of independent trips: each such
// loop becomes a function whose tile number says which trips it runs, and what
// lies between becomes functions of one tile.
//
//	a; for i in 0..n (grain g) { b }; c     a | tile t: for i in tg..min(tg+g, n) { b } | c
//
// A value that a later part needs is computed again there if it is a constant
// or a splat of one, and otherwise passes through a slot of work memory from
// work onwards. It returns the parts, in order, and the work memory in bytes
// after adding the slots. Only the last part returns a trap code; the others
// return 0.
func Split(f *Func, work int64) ([]Part, int64) {
	s := &splitter{f: f, work: work, home: make([]int, len(f.Types)), def: map[Value]*Stmt{}, slot: map[Value]int64{}}
	s.cut()
	if len(s.pieces) == 1 {
		return []Part{{f, 1}}, work
	}
	return s.parts(), s.work
}

// piece is a run of top-level statements; loop is set where it is one loop to
// be tiled.
type piece struct {
	stmts []Stmt
	loop  bool
	lo    int64
	hi    int64
}

type splitter struct {
	f      *Func
	work   int64
	pieces []piece
	home   []int           // the piece that defines each top-level value, +1
	def    map[Value]*Stmt // its statement
	slot   map[Value]int64 // work offset of values that pass through memory
}

func (s *splitter) cut() {
	konst := map[Value]int64{}
	var run []Stmt
	flush := func() {
		if len(run) > 0 {
			s.pieces = append(s.pieces, piece{stmts: run})
			run = nil
		}
	}
	for i := range s.f.Body.Stmts {
		st := s.f.Body.Stmts[i]
		if st.Op == Const {
			konst[st.Results[0]] = st.Imm
		}
		if st.Op == For && st.Grain > 0 {
			lo, ok1 := konst[st.Args[0]]
			hi, ok2 := konst[st.Args[1]]
			if ok1 && ok2 && hi-lo > st.Grain*st.Imm {
				flush()
				s.pieces = append(s.pieces, piece{stmts: []Stmt{st}, loop: true, lo: lo, hi: hi})
				continue
			}
		}
		run = append(run, st)
	}
	flush()
	if n := len(s.pieces); n == 0 || s.pieces[n-1].loop {
		s.pieces = append(s.pieces, piece{}) // the part that returns the code
	}
	for p := range s.pieces {
		for i := range s.pieces[p].stmts {
			for _, r := range s.pieces[p].stmts[i].Results {
				s.home[r], s.def[r] = p+1, &s.pieces[p].stmts[i]
			}
		}
	}
}

// again reports whether a value is cheap to compute anew.
func (s *splitter) again(v Value) bool {
	d := s.def[v]
	switch d.Op {
	case Const, LaneIx:
		return true
	case Splat, Ne: // a mask cannot pass through memory
		if d.Op == Ne && s.f.Types[v].Elem != Mask {
			return false
		}
		return true
	}
	return s.f.Types[v].Elem == Mask && pure(d)
}

func (s *splitter) parts() []Part {
	needs := make([][]Value, len(s.pieces)) // imports, in order of first use
	for p := range s.pieces {
		seen := map[Value]bool{}
		need := func(v Value) {
			if h := s.home[v]; h > 0 && h != p+1 && !seen[v] {
				seen[v] = true
				s.require(v, p, seen, &needs[p])
			}
		}
		for i := range s.pieces[p].stmts {
			walkUses(&s.pieces[p].stmts[i], need)
		}
		if p == len(s.pieces)-1 {
			for _, y := range s.f.Body.Yield {
				need(y)
			}
		}
	}
	var out []Part
	for p := range s.pieces {
		// What only made constants for later parts has nothing left to do.
		if part := s.part(p, needs[p]); p == len(s.pieces)-1 || acts(part.Func.Body) {
			out = append(out, part)
		}
	}
	return out
}

// acts reports whether a block stores anything or returns early.
func acts(b *Block) bool {
	found := false
	Walk(b, func(st *Stmt) { found = found || st.Op.Writes() || st.Op == Return })
	return found
}

// require notes that piece p imports v, after what computing v again needs.
func (s *splitter) require(v Value, p int, seen map[Value]bool, list *[]Value) {
	if s.again(v) {
		for _, a := range s.def[v].Args {
			if !seen[a] && s.home[a] != p+1 {
				seen[a] = true
				s.require(a, p, seen, list)
			}
		}
	} else if _, ok := s.slot[v]; !ok {
		s.slot[v] = s.work
		s.work += slotBytes(s.f.Types[v])
	}
	*list = append(*list, v)
}

func walkUses(st *Stmt, need func(Value)) {
	for _, a := range st.Args {
		need(a)
	}
	if st.Op.HasAddr() && st.Addr.Index != NoValue {
		need(st.Addr.Index)
	}
	for _, b := range st.Blocks {
		for i := range b.Stmts {
			walkUses(&b.Stmts[i], need)
		}
		for _, y := range b.Yield {
			need(y)
		}
	}
}

func (s *splitter) part(p int, imports []Value) Part {
	f := &Func{Name: fmt.Sprintf("%s.%d", s.f.Name, p), Bufs: append([]Buf{}, s.f.Bufs...),
		Types: append([]Type{}, s.f.Types...), Tile: s.f.Tile}
	b := &Builder{F: f, cur: &Block{}}
	f.Body = b.cur
	for _, v := range imports {
		s.load(b, v)
	}
	tiles := int64(1)
	if pc := &s.pieces[p]; pc.loop {
		tiles = s.tile(b, pc)
	} else {
		b.cur.Stmts = append(b.cur.Stmts, pc.stmts...)
	}
	for i := range s.pieces[p].stmts {
		for _, v := range s.pieces[p].stmts[i].Results {
			if at, ok := s.slot[v]; ok {
				s.store(b, v, at)
			}
		}
	}
	if p == len(s.pieces)-1 {
		b.Finish(s.f.Body.Yield[0])
	} else {
		b.Finish(b.I32(0))
	}
	f.renumber()
	sweep(f)
	return Part{f, tiles}
}

// tile emits the loop over the trips of one tile.
func (s *splitter) tile(b *Builder, pc *piece) int64 {
	st := pc.stmts[0]
	span := st.Grain * st.Imm
	b.Node = st.Node
	lo := b.Op(Mul, b.F.Tile, b.Ix(span))
	if pc.lo != 0 {
		lo = b.Op(Add, lo, b.Ix(pc.lo))
	}
	end := b.Ix(pc.hi)
	hi := b.Op(Add, lo, b.Ix(span))
	hi = b.Op(Select, b.Op(LtS, hi, end), hi, end)
	st.Args = []Value{lo, hi}
	st.Grain = 0
	b.cur.Stmts = append(b.cur.Stmts, st)
	return (pc.hi - pc.lo + span - 1) / span
}

func (s *splitter) slotBuf(b *Builder, at int64, t Type) int {
	return b.Buf(Buf{Kind: BufWork, Offset: at, Bytes: slotBytes(t)})
}

// slotBytes is the room a value takes, in whole cache lines.
func slotBytes(t Type) int64 { return max(64, int64(t.Elem.Size())*int64(t.Lanes)) }

func slotMem(t Type) Mem {
	switch t.Elem.Size() {
	case 1:
		return M8U
	case 2:
		return M16U
	case 8:
		return M64
	}
	return M32
}

// store puts v into its slot; an Ix goes as an I64.
func (s *splitter) store(b *Builder, v Value, at int64) {
	b.Node = s.def[v].Node
	if b.F.Types[v] == TIx {
		v = b.Conv(IxToI64, TI64, v)
	}
	b.Store(slotMem(b.F.Types[v]), At(s.slotBuf(b, at, b.F.Types[v]), 0), v)
}

// load defines v in another part.
func (s *splitter) load(b *Builder, v Value) {
	d := s.def[v]
	b.Node = d.Node
	if at, ok := s.slot[v]; ok {
		t := b.F.Types[v]
		addr := At(s.slotBuf(b, at, t), 0)
		if t == TIx {
			x := b.Load(TI64, M64, addr)
			b.emit(Stmt{Op: I64ToIx, Type: TIx, Args: []Value{x}, Results: []Value{v}})
			return
		}
		b.emit(Stmt{Op: Load, Type: t, Mem: slotMem(t), Addr: addr, Results: []Value{v}})
		return
	}
	st := *d
	st.Args = append([]Value{}, d.Args...)
	st.Results = []Value{v}
	b.emit(st)
}

// renumber makes a part's values its own: statements that several parts share
// are copied, and values that it does not have lose their numbers.
func (f *Func) renumber() {
	ids := map[Value]Value{}
	var ts []Type
	name := func(v Value) Value {
		n, ok := ids[v]
		if !ok {
			n = Value(len(ts))
			ids[v] = n
			ts = append(ts, f.Types[v])
		}
		return n
	}
	list := func(vs []Value) []Value {
		if vs == nil {
			return nil
		}
		out := make([]Value, len(vs))
		for i, v := range vs {
			out[i] = name(v)
		}
		return out
	}
	var block func(b *Block) *Block
	block = func(b *Block) *Block {
		c := &Block{Params: list(b.Params), Stmts: make([]Stmt, len(b.Stmts))}
		for i, s := range b.Stmts {
			s.Args = list(s.Args)
			if s.Op.HasAddr() && s.Addr.Index != NoValue {
				s.Addr.Index = name(s.Addr.Index)
			}
			blocks := make([]*Block, len(s.Blocks))
			for k, x := range s.Blocks {
				blocks[k] = block(x)
			}
			s.Blocks = blocks
			s.Results = list(s.Results)
			c.Stmts[i] = s
		}
		c.Yield = list(b.Yield)
		return c
	}
	f.Tile = name(f.Tile)
	f.Body = block(f.Body)
	f.Types = ts
}
