package opt

import (
	"cmp"
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// window bounds how many accesses of a block are remembered, so that the pass is
// linear.
const window = 32

// forward gives a load the value that a store or load of the same place left, where
// nothing between them in the block may have written there.
func forward(f *lir.Func) {
	rep := identity(len(f.Types))
	var block func(b *lir.Block)
	block = func(b *lir.Block) {
		var known []lir.Stmt // stores, and loads with their results
		kept := b.Stmts[:0]
		for _, s := range b.Stmts {
			if (s.Op == lir.Load || s.Op == lir.Store) && s.Addr.Index != lir.NoValue {
				s.Addr.Index = final(rep, s.Addr.Index)
			}
			switch {
			case s.Op == lir.Store:
				known = slices.DeleteFunc(known, func(k lir.Stmt) bool { return overlap(f, &k, &s) })
			case s.Op == lir.Load:
				if v, ok := find(f, known, &s); ok {
					rep[s.Results[0]] = v
					continue
				}
			case len(s.Blocks) > 0:
				known = nil
				for _, c := range s.Blocks {
					block(c)
				}
			}
			if s.Op == lir.Load || s.Op == lir.Store {
				if len(known) == window {
					known = known[1:]
				}
				known = append(known, s)
			}
			kept = append(kept, s)
		}
		b.Stmts = kept
	}
	block(f.Body)
	substitute(f, rep)
}

func find(f *lir.Func, known []lir.Stmt, s *lir.Stmt) (lir.Value, bool) {
	a, x := s.Addr, f.Bufs[s.Addr.Buf]
	for i := len(known) - 1; i >= 0; i-- {
		k := &known[i]
		b, y := k.Addr, f.Bufs[k.Addr.Buf]
		if x.Kind != y.Kind || x.Index != y.Index || x.Offset+a.Disp != y.Offset+b.Disp || a.Index != b.Index || a.Scale != b.Scale ||
			s.Mem != k.Mem || s.Type != k.Type {
			continue
		}
		if k.Op == lir.Load {
			return k.Results[0], true
		}
		return k.Args[0], s.Mem >= lir.M32 // a narrow store cuts its value
	}
	return 0, false
}

// overlap reports whether two accesses may touch the same byte.
func overlap(f *lir.Func, s, t *lir.Stmt) bool {
	x, y := f.Bufs[s.Addr.Buf], f.Bufs[t.Addr.Buf]
	if x.Kind != y.Kind || x.Index != y.Index {
		return false
	}
	alo, ahi := bytesOf(x, s)
	blo, bhi := bytesOf(y, t)
	return alo < bhi && blo < ahi
}

// bytesOf is the range of bytes an access stays within.
func bytesOf(b lir.Buf, s *lir.Stmt) (lo, hi int64) {
	if s.Addr.Index != lir.NoValue {
		return b.Offset, b.Offset + b.Bytes
	}
	lo = b.Offset + s.Addr.Disp
	return lo, lo + int64(s.Mem.Size())*int64(s.Type.Lanes)
}

// deadStores removes stores to work memory that nothing loads.
func deadStores(f *lir.Func) {
	type span struct{ lo, hi int64 }
	var loaded []span
	lir.Walk(f.Body, func(s *lir.Stmt) {
		if b := f.Bufs; s.Op == lir.Load && b[s.Addr.Buf].Kind == lir.BufWork {
			lo, hi := bytesOf(b[s.Addr.Buf], s)
			loaded = append(loaded, span{lo, hi})
		}
	})
	slices.SortFunc(loaded, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	var merged []span
	for _, x := range loaded {
		if n := len(merged); n > 0 && x.lo <= merged[n-1].hi {
			merged[n-1].hi = max(merged[n-1].hi, x.hi)
		} else {
			merged = append(merged, x)
		}
	}
	dead := func(s *lir.Stmt) bool {
		if s.Op != lir.Store || f.Bufs[s.Addr.Buf].Kind != lir.BufWork {
			return false
		}
		lo, hi := bytesOf(f.Bufs[s.Addr.Buf], s)
		i, _ := slices.BinarySearchFunc(merged, lo, func(x span, lo int64) int { return cmp.Compare(x.hi, lo+1) })
		return i == len(merged) || merged[i].lo >= hi
	}
	var block func(b *lir.Block)
	block = func(b *lir.Block) {
		kept := b.Stmts[:0]
		for i := range b.Stmts {
			if dead(&b.Stmts[i]) {
				continue
			}
			for _, c := range b.Stmts[i].Blocks {
				block(c)
			}
			kept = append(kept, b.Stmts[i])
		}
		b.Stmts = kept
	}
	block(f.Body)
}
