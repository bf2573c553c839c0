package lir

import "fmt"

// Optimise cleans up what a naive lowering leaves: equal pure operations in
// scope of each other become one, index arithmetic on constants folds,
// operations that a loop does not change move out of it, and what nothing uses
// goes. Every rewrite keeps the bits of every value.
func Optimise(f *Func) {
	o := &optimiser{f: f, rep: make([]Value, len(f.Types)), konst: map[Value]int64{}}
	for i := range o.rep {
		o.rep[i] = Value(i)
	}
	o.block(f.Body, nil)
	hoist(f)
	// Moving operations out of loops brings equal ones together.
	o = &optimiser{f: f, rep: make([]Value, len(f.Types)), konst: map[Value]int64{}}
	for i := range o.rep {
		o.rep[i] = Value(i)
	}
	o.block(f.Body, nil)
	sweep(f)
}

// Walk calls fn for every statement of b, nested ones after their owner.
func Walk(b *Block, fn func(*Stmt)) {
	for i := range b.Stmts {
		fn(&b.Stmts[i])
		for _, c := range b.Stmts[i].Blocks {
			Walk(c, fn)
		}
	}
}

type optimiser struct {
	f     *Func
	rep   []Value // what each value was replaced by
	konst map[Value]int64
}

// pure reports whether s may be merged with an equal one, moved and removed.
func pure(s *Stmt) bool {
	switch s.Op {
	case Load, Store, MLoad, MStore, Gather, Scatter, For, While, If, Return:
		return false
	}
	return true
}

// scope is a chain of tables of available expressions.
type scope struct {
	tab   map[string]Value
	outer *scope
}

func (s *scope) find(k string) (Value, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.tab[k]; ok {
			return v, true
		}
	}
	return 0, false
}

func (o *optimiser) block(b *Block, outer *scope) {
	sc := &scope{tab: map[string]Value{}, outer: outer}
	kept := b.Stmts[:0]
	for i := range b.Stmts {
		s := b.Stmts[i]
		for j, a := range s.Args {
			s.Args[j] = o.rep[a]
		}
		if s.Addr.Index != NoValue && s.Op.HasAddr() {
			s.Addr.Index = o.rep[s.Addr.Index]
			o.foldAddr(&s.Addr)
		}
		for _, c := range s.Blocks {
			o.block(c, sc)
		}
		if pure(&s) {
			if v, ok := o.simplify(&s); ok {
				o.rep[s.Results[0]] = v
				continue
			}
			key := fmt.Sprint(s.Op, s.Type, s.Args, s.Imm)
			if v, ok := sc.find(key); ok && o.f.Types[v] == o.f.Types[s.Results[0]] {
				o.rep[s.Results[0]] = v
				continue
			}
			sc.tab[key] = s.Results[0]
			if s.Op == Const && !s.Type.IsVec() {
				o.konst[s.Results[0]] = s.Imm
			}
		}
		kept = append(kept, s)
	}
	b.Stmts = kept
	for i, y := range b.Yield {
		b.Yield[i] = o.rep[y]
	}
}

// foldAddr moves a constant index into the displacement.
func (o *optimiser) foldAddr(a *Addr) {
	if c, ok := o.konst[a.Index]; ok {
		a.Disp += c * int64(a.Scale)
		a.Index, a.Scale = NoValue, 1
	}
}

// hoist moves pure operations on values from outside out of loops, innermost
// loops first. Loads from inputs and constants move out of loops that certainly
// run, where they stand before any inner control flow.
func hoist(f *Func) {
	def := make([]*Block, len(f.Types))
	var define func(b *Block)
	define = func(b *Block) {
		for _, p := range b.Params {
			def[p] = b
		}
		for i := range b.Stmts {
			for _, r := range b.Stmts[i].Results {
				def[r] = b
			}
			for _, c := range b.Stmts[i].Blocks {
				define(c)
			}
		}
	}
	define(f.Body)
	konst := map[Value]int64{}
	Walk(f.Body, func(s *Stmt) {
		if s.Op == Const {
			konst[s.Results[0]] = s.Imm
		}
	})
	var visit func(b *Block)
	visit = func(b *Block) {
		var out []Stmt
		for i := range b.Stmts {
			s := b.Stmts[i]
			for _, c := range s.Blocks {
				visit(c)
			}
			if s.Op == For || s.Op == While {
				runs := false
				if s.Op == For {
					lo, lok := konst[s.Args[0]]
					hi, hok := konst[s.Args[1]]
					runs = lok && hok && lo < hi
				}
				for _, c := range s.Blocks {
					out = append(out, lift(f, c, b, def, runs)...)
				}
			}
			out = append(out, s)
		}
		b.Stmts = out
	}
	visit(f.Body)
}

// lift removes from loop block c what may move to the enclosing block b.
func lift(f *Func, c, b *Block, def []*Block, runs bool) []Stmt {
	var moved []Stmt
	kept := c.Stmts[:0]
	for _, s := range c.Stmts {
		ok := pure(&s) || (runs && s.Op == Load && readOnly(f, s.Addr.Buf))
		for _, a := range s.Args {
			ok = ok && def[a] != c
		}
		if s.Op == Load && s.Addr.Index != NoValue {
			ok = ok && def[s.Addr.Index] != c
		}
		if !ok {
			kept = append(kept, s)
			continue
		}
		for _, r := range s.Results {
			def[r] = b
		}
		moved = append(moved, s)
	}
	c.Stmts = kept
	return moved
}

func readOnly(f *Func, buf int) bool {
	k := f.Bufs[buf].Kind
	return k == BufIn || k == BufConst
}

// sweep removes pure operations and loads whose results nothing uses, and
// buffers nothing touches.
func sweep(f *Func) {
	used := make([]bool, len(f.Types))
	var live func(b *Block)
	live = func(b *Block) {
		for _, y := range b.Yield {
			used[y] = true
		}
		kept := make([]Stmt, 0, len(b.Stmts))
		for i := len(b.Stmts) - 1; i >= 0; i-- {
			s := b.Stmts[i]
			if (pure(&s) || s.Op.HasAddr() && !s.Op.Writes()) && !used[s.Results[0]] {
				continue
			}
			for _, c := range s.Blocks {
				live(c)
			}
			for _, a := range s.Args {
				used[a] = true
			}
			if s.Op.HasAddr() && s.Addr.Index != NoValue {
				used[s.Addr.Index] = true
			}
			kept = append(kept, s)
		}
		for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
			kept[i], kept[j] = kept[j], kept[i]
		}
		b.Stmts = kept
	}
	live(f.Body)
	compactBufs(f)
}

func compactBufs(f *Func) {
	renamed := make([]int, len(f.Bufs))
	for i := range renamed {
		renamed[i] = -1
	}
	var bufs []Buf
	Walk(f.Body, func(s *Stmt) {
		if !s.Op.HasAddr() {
			return
		}
		if renamed[s.Addr.Buf] < 0 {
			renamed[s.Addr.Buf] = len(bufs)
			bufs = append(bufs, f.Bufs[s.Addr.Buf])
		}
		s.Addr.Buf = renamed[s.Addr.Buf]
	})
	f.Bufs = bufs
}
