package opt

import (
	"math"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// ranges finds the range of every scalar integer and removes what ranges decide.
//
// The first walk takes for carried values of loops whatever their type holds, except
// for those that count; the second takes what they begin with and what the first
// found that a trip gives them, and rewrites. Both are sound and linear. Inside a
// while loop's body its condition holds: this is what bounds counters, and what
// shows that a trap code is still 0.
func ranges(f *lir.Func) {
	r := &ranger{f: f, r: make([]interval, len(f.Types)), def: make([]*lir.Stmt, len(f.Types)), rep: identity(len(f.Types)),
		turn: map[*lir.Block][]interval{}}
	r.r[f.Tile] = interval{0, math.MaxInt32}
	r.block(f.Body)
	r.rewriting = true
	r.block(f.Body)
	substitute(f, r.rep)
}

type ranger struct {
	f         *lir.Func
	r         []interval
	def       []*lir.Stmt // of pure operations, as they were
	rep       []lir.Value
	turn      map[*lir.Block][]interval // what a trip of a loop yields
	rewriting bool
}

func (r *ranger) value(t lir.Type) lir.Value {
	v := lir.Value(len(r.f.Types))
	r.f.Types = append(r.f.Types, t)
	r.r, r.def, r.rep = append(r.r, full(t.Elem)), append(r.def, nil), append(r.rep, v)
	return v
}

func integer(t lir.Type) bool {
	return t.Lanes == 1 && (t.Elem == lir.I32 || t.Elem == lir.I64 || t.Elem == lir.Ix)
}

// block walks b; what its statements become takes their place.
func (r *ranger) block(b *lir.Block) {
	var out []lir.Stmt
	for i := range b.Stmts {
		s := b.Stmts[i]
		if r.rewriting {
			for k, a := range s.Args {
				s.Args[k] = final(r.rep, a)
			}
		}
		switch s.Op {
		case lir.For:
			r.forLoop(&s)
		case lir.While:
			before, after := r.while(&s)
			if r.rewriting {
				out = append(append(append(out, before...), s), after...)
				continue
			}
		case lir.If:
			r.ifElse(&s)
		case lir.Load:
			r.r[s.Results[0]] = loaded(s.Mem, s.Type.Elem)
		case lir.Store, lir.Return:
		default:
			if !r.operation(&s) {
				continue
			}
		}
		if r.rewriting {
			out = append(out, s)
		}
	}
	if r.rewriting {
		b.Stmts = out
		for i, y := range b.Yield {
			b.Yield[i] = final(r.rep, y)
		}
	}
}

// operation computes the range of a pure operation, and in the second walk reports
// whether it is still there after what the range decides.
func (r *ranger) operation(s *lir.Stmt) bool {
	v := s.Results[0]
	if !r.rewriting {
		c := *s
		r.def[v] = &c
	}
	if s.Type.IsVec() || !integer(r.f.Types[v]) {
		if r.rewriting && s.Op == lir.Select && !s.Type.IsVec() {
			return r.selected(s)
		}
		r.r[v] = full(r.f.Types[v].Elem)
		return true
	}
	r.r[v] = r.rangeOf(s)
	if !r.rewriting {
		return true
	}
	if r.r[v].one() {
		*s = lir.Stmt{Op: lir.Const, Node: s.Node, Type: r.f.Types[v], Results: s.Results, Imm: r.r[v].lo}
		return true
	}
	if s.Op == lir.Select {
		return r.selected(s)
	}
	if x, ok := r.equals(s); ok {
		r.rep[v] = x
		return false
	}
	return true
}

// selected drops a choice whose condition is decided.
func (r *ranger) selected(s *lir.Stmt) bool {
	c := r.r[s.Args[0]]
	switch {
	case c == exactly(0):
		r.rep[s.Results[0]] = s.Args[2]
	case c.lo > 0 || c.hi < 0 || s.Args[1] == s.Args[2]:
		r.rep[s.Results[0]] = s.Args[1]
	default:
		return true
	}
	return false
}

// equals finds the operand, or the operand of an operand, that s equals.
func (r *ranger) equals(s *lir.Stmt) (lir.Value, bool) {
	x := s.Args[0]
	inner := func(op lir.Op) (lir.Value, bool) {
		if d := r.def[x]; d != nil && d.Op == op {
			return final(r.rep, d.Args[0]), true
		}
		return 0, false
	}
	switch s.Op {
	case lir.And:
		y := s.Args[1]
		switch {
		case r.masks(x, y):
			return x, true
		case r.masks(y, x):
			return y, true
		}
	case lir.Ne:
		if r.r[s.Args[1]] == exactly(0) && s.Type.Elem == lir.I32 && r.r[x].within(0, 1) {
			return x, true
		}
	case lir.IxToI64:
		if y, ok := inner(lir.I64ToIx); ok && r.r[y].within(0, math.MaxInt32) {
			return y, true
		}
	case lir.I64ToIx:
		return inner(lir.IxToI64)
	case lir.ExtU:
		if y, ok := inner(lir.Wrap); ok && r.r[y].within(0, math.MaxUint32) {
			return y, true
		}
	case lir.ExtS:
		if y, ok := inner(lir.Wrap); ok && r.r[y].within(math.MinInt32, math.MaxInt32) {
			return y, true
		}
	case lir.Wrap:
		if y, ok := inner(lir.ExtU); ok {
			return y, true
		}
		return inner(lir.ExtS)
	}
	return 0, false
}

// masks reports whether the constant m keeps all bits of x.
func (r *ranger) masks(x, m lir.Value) bool {
	k := r.r[m]
	return k.one() && k.lo >= 0 && k.lo&(k.lo+1) == 0 && r.r[x].within(0, k.lo)
}

func (r *ranger) rangeOf(s *lir.Stmt) interval {
	switch s.Op {
	case lir.Const:
		if s.Type.Elem == lir.I32 {
			return exactly(int64(int32(s.Imm)))
		}
		return exactly(s.Imm)
	case lir.Select:
		return r.choice(s)
	case lir.Eq, lir.Ne, lir.LtS, lir.LtU, lir.LeS, lir.LeU:
		return compare(s.Op, r.r[s.Args[0]], r.r[s.Args[1]])
	case lir.FEq, lir.FNe, lir.FLt, lir.FLe, lir.MAny:
		return interval{0, 1}
	case lir.Wrap, lir.ExtS, lir.ExtU, lir.IxToI64, lir.I64ToIx, lir.IxToI32, lir.I32ToIxU:
		return converted(s.Op, r.r[s.Args[0]])
	case lir.Add, lir.Sub, lir.Mul, lir.And, lir.Or, lir.Xor, lir.Shl, lir.ShrU, lir.ShrS, lir.DivU, lir.RemU:
		return arith(s.Op, s.Type.Elem, r.r[s.Args[0]], r.r[s.Args[1]])
	case lir.Clz, lir.Ctz, lir.Popcnt:
		return arith(s.Op, s.Type.Elem, interval{}, interval{})
	}
	return full(r.f.Types[s.Results[0]].Elem)
}

// choice is the range of a select; of the smaller or larger of two it is exact.
func (r *ranger) choice(s *lir.Stmt) interval {
	x, y := r.r[s.Args[1]], r.r[s.Args[2]]
	switch c := r.r[s.Args[0]]; {
	case c == exactly(0):
		return y
	case c.lo > 0 || c.hi < 0:
		return x
	}
	d := r.def[s.Args[0]]
	if d == nil || (d.Op != lir.LtS && d.Op != lir.LeS) || d.Type != s.Type {
		return x.hull(y)
	}
	switch a, b := final(r.rep, d.Args[0]), final(r.rep, d.Args[1]); {
	case a == s.Args[1] && b == s.Args[2]:
		return interval{min(x.lo, y.lo), min(x.hi, y.hi)}
	case a == s.Args[2] && b == s.Args[1]:
		return interval{max(x.lo, y.lo), max(x.hi, y.hi)}
	}
	return x.hull(y)
}

func (r *ranger) rangesOf(vs []lir.Value) []interval {
	out := make([]interval, len(vs))
	for i, v := range vs {
		out[i] = r.r[v]
	}
	return out
}

// carried is what a loop's carried values hold at the start of any trip.
func (r *ranger) carried(body *lir.Block, init []lir.Value, params []lir.Value) {
	turn := r.turn[body]
	for i, p := range params {
		if turn == nil || !integer(r.f.Types[p]) {
			r.r[p] = full(r.f.Types[p].Elem)
		} else {
			r.r[p] = r.r[init[i]].hull(turn[i])
		}
	}
}

func (r *ranger) forLoop(s *lir.Stmt) {
	body := s.Blocks[0]
	r.carried(body, s.Args[2:], body.Params[1:])
	lo, hi := r.r[s.Args[0]], r.r[s.Args[1]]
	r.r[body.Params[0]] = interval{lo.lo, max(hi.hi-1, lo.lo)}
	r.enter(body)
	for i, v := range s.Results {
		r.r[v] = r.r[s.Args[2+i]].hull(r.r[body.Yield[i]])
	}
	if r.rewriting {
		keep := r.changing(s.Args[2:], body.Params[1:], body.Yield)
		r.replace(keep, s.Args[2:], body.Params[1:], s.Results)
		s.Args = append(s.Args[:2:2], pick(s.Args[2:], keep)...)
		body.Params = append(body.Params[:1:1], pick(body.Params[1:], keep)...)
		s.Results, body.Yield = pick(s.Results, keep), pick(body.Yield, keep)
	}
}

func (r *ranger) ifElse(s *lir.Stmt) {
	for _, b := range s.Blocks {
		r.block(b)
	}
	for i, v := range s.Results {
		r.r[v] = r.r[s.Blocks[0].Yield[i]].hull(r.r[s.Blocks[1].Yield[i]])
	}
}

// enter walks a loop's body, with constants for parameters that have one value.
func (r *ranger) enter(b *lir.Block) {
	var consts []lir.Stmt
	if r.rewriting {
		for _, p := range b.Params {
			if integer(r.f.Types[p]) && r.r[p].one() {
				c := r.value(r.f.Types[p])
				consts = append(consts, lir.Stmt{Op: lir.Const, Type: r.f.Types[p], Results: []lir.Value{c}, Imm: r.r[p].lo})
				r.r[c], r.rep[p] = r.r[p], c
			}
		}
	}
	r.block(b)
	b.Stmts = append(consts, b.Stmts...)
	r.turn[b] = r.rangesOf(b.Yield)
}
