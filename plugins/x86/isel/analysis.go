package isel

import "github.com/kera-lang/kera/pluginapi/codegen/lir"

// analysis is what one walk over a function finds out before lowering.
type analysis struct {
	uses  []int32
	local []bool // every use is in the block that defines the value
	// hoist lists the constants that code inside loops needs in registers, in
	// order of appearance.
	hoist []constKey
}

type analyser struct {
	*analysis
	f     *lir.Func
	block []int32 // defining block of each value
	blk   int32
	next  int32
	depth int
	konst []*lir.Stmt
	seen  map[constKey]bool
}

func analyse(f *lir.Func) *analysis {
	n := len(f.Types)
	a := &analyser{analysis: &analysis{uses: make([]int32, n), local: make([]bool, n)}, f: f,
		block: make([]int32, n), konst: make([]*lir.Stmt, n), seen: map[constKey]bool{}}
	a.walk(f.Body, 0)
	return a.analysis
}

func (a *analyser) define(v lir.Value) { a.block[v], a.local[v] = a.blk, true }

func (a *analyser) use(v lir.Value) {
	a.uses[v]++
	if a.block[v] != a.blk {
		a.local[v] = false
	}
	if s := a.konst[v]; s != nil && a.depth > 0 && (s.Type.IsVec() || s.Type.Elem.IsFloat()) {
		if k := keyOf(s); !a.seen[k] {
			a.seen[k] = true
			a.hoist = append(a.hoist, k)
		}
	}
}

func keyOf(s *lir.Stmt) constKey { return constKey{s.Type, s.Imm, s.Op == lir.LaneIx} }

func (a *analyser) walk(b *lir.Block, deeper int) {
	outer := a.blk
	a.next++
	a.blk = a.next
	a.depth += deeper
	for _, p := range b.Params {
		a.define(p)
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		for _, v := range s.Args {
			a.use(v)
		}
		if (s.Op == lir.Load || s.Op == lir.Store) && s.Addr.Index != lir.NoValue {
			a.use(s.Addr.Index)
		}
		inner := 0
		if s.Op == lir.For || s.Op == lir.While {
			inner = 1
		}
		for _, c := range s.Blocks {
			a.walk(c, inner)
		}
		for _, v := range s.Results {
			a.define(v)
			if s.Op == lir.Const || s.Op == lir.LaneIx {
				a.konst[v] = s
			}
		}
	}
	for _, v := range b.Yield {
		a.use(v)
	}
	a.depth -= deeper
	a.blk = outer
}
