package isel

import "github.com/kera-lang/kera/pluginapi/codegen/lir"

// analysis is what one walk over a function finds out before lowering.
type analysis struct {
	uses  []int32
	local []bool // every use is in the block that defines the value
	quiet []bool // see quiet.go
	plain []bool // the sign is clear too: the magnitude of a quiet value
	canon []bool // an operand of Canon
	// hoist lists the constants that code inside loops needs in registers, in
	// order of appearance.
	hoist []constKey
}

type analyser struct {
	*analysis
	l     *Level
	f     *lir.Func
	block []int32 // defining block of each value
	blk   int32
	next  int32
	depth int
	konst []*lir.Stmt
	seen  map[constKey]bool
}

func analyse(l *Level, f *lir.Func) *analysis {
	n := len(f.Types)
	a := &analyser{l: l, analysis: &analysis{uses: make([]int32, n), local: make([]bool, n)}, f: f,
		block: make([]int32, n), konst: make([]*lir.Stmt, n), seen: map[constKey]bool{}}
	a.quieten(f)
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
		a.want(keyOf(s))
	}
}

func (a *analyser) want(k constKey) {
	if !a.seen[k] {
		a.seen[k] = true
		a.hoist = append(a.hoist, k)
	}
}

func keyOf(s *lir.Stmt) constKey { return constKey{t: s.Type, bits: s.Imm, lane: s.Op == lir.LaneIx} }

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
		if s.Op.HasAddr() && s.Addr.Index != lir.NoValue {
			a.use(s.Addr.Index)
		}
		if a.depth > 0 {
			for _, k := range a.l.helpers(a.f, s, a.analysis) {
				a.want(k)
			}
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
			switch {
			case s.Op == lir.Const || s.Op == lir.LaneIx:
				a.konst[v] = s
			case s.Op == lir.Splat && a.konst[s.Args[0]] != nil:
				a.konst[v] = uniform(s, a.konst[s.Args[0]])
			}
		}
	}
	for _, v := range b.Yield {
		a.use(v)
	}
	a.depth -= deeper
	a.blk = outer
}

// uniform is the vector constant that a splat of a constant is.
func uniform(splat, c *lir.Stmt) *lir.Stmt {
	return &lir.Stmt{Op: lir.Const, Node: splat.Node, Type: splat.Type, Results: splat.Results, Imm: c.Imm}
}

// helpers lists the constants that the lowering of s adds, so that they can
// be made before a loop. One that is left out costs a load per iteration.
func (l *Level) helpers(f *lir.Func, s *lir.Stmt, a *analysis) []constKey {
	t := s.Type
	k := func(t lir.Type, bits int64) constKey { return constKey{t: t, bits: bits} }
	from := lir.Type{}
	if len(s.Args) > 0 {
		from = f.TypeOf(s.Args[0])
	}
	switch s.Op {
	case lir.FNeg, lir.FCopysign:
		return []constKey{k(bitsVec(t), signBit(t.Elem))}
	case lir.FAbs:
		if l.Masks && a.plain[s.Results[0]] && a.canon[s.Results[0]] {
			return nil // most likely part of Canon
		}
		return []constKey{k(bitsVec(t), ^signBit(t.Elem))}
	case lir.Zip:
		if l.Masks {
			return []constKey{zipKey(s)}
		}
	case lir.FMax:
		if l.Masks {
			return []constKey{k(t, canonBits(t.Elem))}
		}
	case lir.Canon:
		if v := s.Args[0]; !l.Masks && a.quiet[v] && !(a.plain[v] && t.Elem == lir.F32) {
			return []constKey{k(t, ^canonBits(t.Elem))}
		}
		return []constKey{k(t, canonBits(t.Elem))}
	case lir.Shl, lir.ShrS, lir.ShrU:
		if t.IsVec() {
			return []constKey{k(t, int64(t.Elem.Size()*8-1))}
		}
	case lir.Ne, lir.LeS, lir.LtU, lir.LeU:
		if t.IsVec() && !l.Masks {
			return []constKey{k(t, signBit(t.Elem)), k(t, -1)}
		}
	case lir.SToF, lir.UToF:
		if !t.IsVec() {
			return []constKey{k(lir.TF64, 0)}
		}
	case lir.FToS, lir.FToU:
		bits := int64(t.Elem.Size()*8 - 1)
		ks := []constKey{k(from, 0), k(from, twoTo(from.Elem, bits))}
		if s.Op == lir.FToS && t.IsVec() {
			ks = append(ks, k(t, 1<<bits-1))
		}
		return ks
	}
	return nil
}
