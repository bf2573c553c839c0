package opt

import (
	"math"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// changing says which carried values of a loop a trip may change.
func (r *ranger) changing(init, params, yield []lir.Value) []bool {
	keep := make([]bool, len(params))
	for i, p := range params {
		y := yield[i]
		same := y == p || y == init[i] || integer(r.f.Types[p]) && r.r[y].one() && r.r[y] == r.r[init[i]]
		keep[i] = !same
	}
	return keep
}

// replace gives parameters and results that do not change their first value.
func (r *ranger) replace(keep []bool, init []lir.Value, lists ...[]lir.Value) {
	for i, k := range keep {
		for _, vs := range lists {
			if !k && r.rep[vs[i]] == vs[i] {
				r.rep[vs[i]] = init[i]
			}
		}
	}
}

func pick(vs []lir.Value, keep []bool) []lir.Value {
	var out []lir.Value
	for i, v := range vs {
		if keep[i] {
			out = append(out, v)
		}
	}
	return out
}

// while walks a while loop, and makes it a counted one if its condition only counts.
// It returns what has to stand before and after the loop.
func (r *ranger) while(s *lir.Stmt) (before, after []lir.Stmt) {
	cond, body := s.Blocks[0], s.Blocks[1]
	r.carried(body, s.Args, cond.Params)
	if r.rewriting {
		for i, p := range cond.Params {
			if k, ok := r.counts(s, i); ok {
				r.r[p] = r.counter(cond, i, r.r[s.Args[i]], k)
			}
		}
	}
	r.block(cond)
	for i, p := range body.Params {
		r.r[p] = r.r[cond.Params[i]]
	}
	r.assume(cond, body, cond.Yield[0])
	r.enter(body)
	for i, v := range s.Results {
		r.r[v] = r.r[cond.Params[i]]
	}
	if !r.rewriting {
		return nil, nil
	}
	keep := r.changing(s.Args, body.Params, body.Yield)
	r.replace(keep, s.Args, cond.Params, body.Params, s.Results)
	s.Args, s.Results = pick(s.Args, keep), pick(s.Results, keep)
	cond.Params, body.Params, body.Yield = pick(cond.Params, keep), pick(body.Params, keep), pick(body.Yield, keep)
	return r.count(s)
}

// assume narrows the body's parameters by a condition that holds in it.
func (r *ranger) assume(cond, body *lir.Block, c lir.Value) {
	d := r.def[c]
	if d == nil {
		return
	}
	if d.Op == lir.And {
		for _, a := range d.Args { // an and of truth values: each holds
			if !r.r[d.Args[0]].within(0, 1) || !r.r[d.Args[1]].within(0, 1) {
				return
			}
			r.assume(cond, body, a)
		}
		return
	}
	for i, p := range cond.Params {
		if !integer(r.f.Types[p]) || len(d.Args) != 2 || d.Args[0] != p {
			continue
		}
		q, y := &r.r[body.Params[i]], r.r[d.Args[1]]
		n := *q
		switch d.Op {
		case lir.Eq:
			n = n.clip(y.lo, y.hi)
		case lir.LtS:
			if y.hi > math.MinInt64 {
				n.hi = min(n.hi, y.hi-1)
			}
		case lir.LeS:
			n.hi = min(n.hi, y.hi)
		}
		if n.lo <= n.hi {
			*q = n
		}
	}
}

// counts reports whether carried value i grows by a positive constant each trip.
func (r *ranger) counts(s *lir.Stmt, i int) (int64, bool) {
	body := s.Blocks[1]
	d := r.def[body.Yield[i]]
	if d == nil || d.Op != lir.Add || d.Args[0] != body.Params[i] {
		return 0, false
	}
	k := r.r[d.Args[1]]
	return k.lo, k.one() && k.lo > 0 && k.lo < math.MaxInt32
}

// counter is the range of carried value i, which grows by step: it begins at init,
// and no trip begins where the condition's bound is reached.
func (r *ranger) counter(cond *lir.Block, i int, init interval, step int64) interval {
	p := cond.Params[i]
	any := full(r.f.Types[p].Elem)
	bound, ok := r.bound(cond.Params, p, cond.Yield[0])
	if !ok {
		return any
	}
	hi, ok := addTo(bound-1, step)
	if !ok || hi > any.hi {
		return any
	}
	return interval{init.lo, max(init.hi, hi)}
}

// bound finds what p is less than where condition c holds.
func (r *ranger) bound(params []lir.Value, p, c lir.Value) (int64, bool) {
	d := r.def[c]
	switch {
	case d == nil:
	case d.Op == lir.And && r.r[d.Args[0]].within(0, 1) && r.r[d.Args[1]].within(0, 1):
		x, ok := r.bound(params, p, d.Args[0])
		if !ok {
			x, ok = r.bound(params, p, d.Args[1])
		}
		return x, ok
	case d.Op == lir.LtS && d.Args[0] == p:
		y := r.r[d.Args[1]]
		return y.hi, y.hi > math.MinInt64
	}
	return 0, false
}

// count turns a while loop whose condition is that a counter is below a bound into a
// counted loop.
func (r *ranger) count(s *lir.Stmt) (before, after []lir.Stmt) {
	cond, body := s.Blocks[0], s.Blocks[1]
	if len(cond.Stmts) != 1 || cond.Yield[0] != cond.Stmts[0].Results[0] || cond.Stmts[0].Op != lir.LtS || cond.Stmts[0].Type != lir.TI64 {
		return nil, nil
	}
	at, limit := -1, cond.Stmts[0].Args[1]
	for i, p := range cond.Params {
		switch p {
		case cond.Stmts[0].Args[0]:
			at = i
		case limit:
			return nil, nil
		}
	}
	if at < 0 {
		return nil, nil
	}
	step, ok := r.counts(s, at)
	first, last := r.r[s.Args[at]], r.r[limit]
	if !ok || step != 1 || first.lo < 0 || !last.within(0, math.MaxInt32-1) || first.hi > math.MaxInt32-1 {
		return nil, nil
	}
	conv := func(op lir.Op, t lir.Type, v lir.Value) lir.Value {
		x := r.value(t)
		before = append(before, lir.Stmt{Op: op, Node: s.Node, Type: t, Args: []lir.Value{v}, Results: []lir.Value{x}})
		return x
	}
	init, i := s.Args[at], r.value(lir.TIx)
	lo, hi := conv(lir.I64ToIx, lir.TIx, init), conv(lir.I64ToIx, lir.TIx, limit)
	keep := make([]bool, len(s.Args))
	for k := range keep {
		keep[k] = k != at
	}
	old := body.Params[at]
	wide := lir.Stmt{Op: lir.IxToI64, Node: s.Node, Type: lir.TI64, Args: []lir.Value{i}, Results: []lir.Value{old}}
	// The counter ends at the bound, or where it began if that is past it.
	less := r.value(lir.TI32)
	after = []lir.Stmt{
		{Op: lir.LtS, Node: s.Node, Type: lir.TI64, Args: []lir.Value{init, limit}, Results: []lir.Value{less}},
		{Op: lir.Select, Node: s.Node, Type: lir.TI64, Args: []lir.Value{less, limit, init}, Results: []lir.Value{s.Results[at]}},
	}
	*s = lir.Stmt{Op: lir.For, Node: s.Node, Type: lir.TIx, Imm: 1,
		Args: append([]lir.Value{lo, hi}, pick(s.Args, keep)...), Results: pick(s.Results, keep),
		Blocks: []*lir.Block{{Params: append([]lir.Value{i}, pick(body.Params, keep)...),
			Stmts: append([]lir.Stmt{wide}, body.Stmts...), Yield: pick(body.Yield, keep)}}}
	return before, after
}
