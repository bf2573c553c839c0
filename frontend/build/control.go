package build

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

// ifExpr chooses between two arms. Small arms without statements, which cannot
// do harm because every op is total, are both computed and selected, the traps
// of the untaken one masked out; others become regions of a switch.
func (f *fn) ifExpr(e *check.If) value {
	cond := f.tensor(e.Cond)
	if e.Else != nil && e.T.IsTensor() && small(e.Then) && small(e.Else) {
		return f.leaf(f.selectArms(cond, e.Then, e.Else))
	}
	return f.branch(cond, e.Then, e.Else, assigned(e, f.env))
}

func (f *fn) selectArms(cond graph.Ref, then, els check.Expr) graph.Ref {
	before, none := f.fr.trap, f.b.NoTrap()
	arm := func(e check.Expr) (r, trap graph.Ref) {
		f.fr.trap = none
		r = f.tensor(e)
		return r, f.fr.trap
	}
	a, ta := arm(then)
	b, tb := arm(els)
	f.fr.trap = before
	if ta != none || tb != none {
		f.join(f.b.N(op.Select, nil, cond, ta, tb))
	}
	c := cond
	if t := f.b.Type(a); t.Rank() > 0 {
		c = f.b.Broadcast(cond, t.WithDType(types.Bool))
	}
	return f.b.N(op.Select, nil, c, a, b)
}

// logic is && or ||: the right side's traps count only if it is asked.
func (f *fn) logic(e *check.Logic) graph.Ref {
	x := f.tensor(e.X)
	if small(e.Y) {
		before, none := f.fr.trap, f.b.NoTrap()
		f.fr.trap = none
		y := f.tensor(e.Y)
		trap := f.fr.trap
		f.fr.trap = before
		code := op.And
		if !e.And {
			code = op.Or
		}
		if trap != none {
			a, b := trap, none
			if !e.And {
				a, b = none, trap
			}
			f.join(f.b.N(op.Select, nil, x, a, b))
		}
		return f.b.N(code, nil, x, y)
	}
	// false && y is false, true || y is true.
	lit := &check.Lit{Node: check.Node{T: e.T, At: e.At}}
	then, els := e.Y, check.Expr(lit)
	if !e.And {
		lit.Bits = 1
		then, els = els, e.Y
	}
	return f.ref(f.branch(x, then, els, assigned(e.Y, f.env)))
}

// branch makes a switch whose regions give the arm's value, then the variables
// that one of the arms assigns, then the trap code if one has any.
func (f *fn) branch(cond graph.Ref, then, els check.Expr, vars []*check.Local) value {
	caps := newCaptures()
	var shape value
	walk := func(e check.Expr) (*frame, []graph.Ref) {
		fr := f.inner(caps)
		var results []graph.Ref
		f.within(fr, func() {
			v := value{fr: fr, agg: true}
			if e != nil {
				v = f.lower(e)
			}
			shape = v
			results = f.leaves(v, nil)
			for _, l := range vars {
				results = f.leaves(f.env[l], results)
			}
		})
		return fr, results
	}
	fa, ra := walk(then)
	fb, rb := walk(els)
	none := f.b.NoTrap()
	traps := fa.trap != none || fb.trap != none
	if traps {
		ra, rb = append(ra, fa.trap), append(rb, fb.trap)
	}
	regions := []graph.RegionID{f.close(fb, rb), f.close(fa, ra)} // false, true
	if len(ra) == 0 {
		return value{fr: f.fr, agg: true}
	}
	outs := f.apply(op.Switch, nil, regions, append([]graph.Ref{cond}, caps.refs...)...)
	if traps {
		f.join(outs[len(outs)-1])
		outs = outs[:len(outs)-1]
	}
	v, outs := f.rebuild(shape, outs)
	f.take(vars, outs)
	return v
}

// take gives variables new values from leaves.
func (f *fn) take(vars []*check.Local, refs []graph.Ref) {
	for _, l := range vars {
		f.env[l], refs = f.rebuild(f.env[l], refs)
	}
}

// forLoop makes a loop that carries the variables its body assigns, the trap
// code if there can be one, and for `while` whether to go on. The body's
// parameters are the trip, the carried values and what it uses from outside.
func (f *fn) forLoop(e *check.For) {
	lo, trips := f.trips(e)
	vars := assigned(e, f.env)
	traps := mayTrap(e.Body) || e.While != nil && mayTrap(e.While)
	index := func(trip graph.Ref, start value) {
		if e.Var == nil {
			return
		}
		s := f.ref(start)
		if s == f.b.I64(0) {
			f.env[e.Var] = f.leaf(trip)
		} else {
			f.env[e.Var] = f.leaf(f.b.N(op.Add, nil, s, trip))
		}
	}
	var goOn0 graph.Ref
	if e.While != nil {
		// The condition is asked before the first turn and after every one.
		if e.Var != nil {
			f.env[e.Var] = lo
		}
		goOn0 = f.tensor(e.While)
	}
	var carried []graph.Ref
	for _, l := range vars {
		carried = f.leaves(f.env[l], carried)
	}
	nvars := len(carried)
	if e.While != nil {
		carried = append(carried, goOn0)
	}
	if traps {
		carried = append(carried, f.fr.trap)
	}
	if len(carried) == 0 {
		return // changes nothing
	}
	params := []types.Type{types.Scalar(types.I64)}
	for _, r := range carried {
		params = append(params, f.b.Type(r))
	}
	caps := newCaptures()
	body := f.inner(caps, params...)
	var results []graph.Ref
	f.within(body, func() {
		ps := f.b.Params(params...)
		trip, ps := ps[0], ps[1:]
		f.take(vars, ps)
		if traps {
			body.trap = ps[len(ps)-1]
		}
		index(trip, lo)
		f.lower(e.Body)
		var again graph.Ref
		if e.While != nil {
			index(f.b.N(op.Add, nil, trip, f.b.I64(1)), lo)
			again = f.tensor(e.While)
		}
		for _, l := range vars {
			results = f.leaves(f.env[l], results)
		}
		if e.While != nil {
			results = append(results, again)
		}
		if traps {
			results = append(results, body.trap)
		}
	})
	cond := f.inner(caps, params...)
	var goOn graph.Ref
	f.within(cond, func() {
		ps := f.b.Params(params...)
		goOn = f.b.Bool(true)
		if traps {
			goOn = f.b.Compare(op.EQ, ps[len(ps)-1], f.b.NoTrap())
		}
		if e.While != nil {
			w := ps[1+nvars]
			if traps {
				w = f.b.N(op.And, nil, w, goOn)
			}
			goOn = w
		}
	})
	rb := f.close(body, results)
	rc := f.close(cond, []graph.Ref{goOn})
	ins := append([]graph.Ref{trips}, carried...)
	attrs := op.Attrs{op.Int(op.KCarried, int64(len(carried)))}
	outs := f.apply(op.Loop, attrs, []graph.RegionID{rc, rb}, append(ins, caps.refs...)...)
	f.take(vars, outs[:nvars])
	if traps {
		f.fr.trap = outs[len(carried)-1]
	}
	if e.While != nil {
		f.check(op.TrapLoopBound, outs[nvars])
	}
}

// trips is the start of a loop and the number of its turns, 0 if it ends before
// it begins. A number of turns that is no i64 traps.
func (f *fn) trips(e *check.For) (lo value, trips graph.Ref) {
	if e.LoDim != nil && e.HiDim != nil {
		l, h := f.number(*e.LoDim, e.At), f.number(*e.HiDim, e.At)
		if h <= l {
			return f.leaf(f.b.I64(l)), f.b.I64(0)
		}
		if n := h - l; n > 0 { // it does not overflow
			return f.leaf(f.b.I64(l)), f.b.I64(n)
		}
	}
	l := f.tensor(e.Lo)
	h := f.tensor(e.Hi)
	zero := f.b.I64(0)
	if l == zero {
		return f.leaf(l), f.b.N(op.Max, nil, h, zero)
	}
	runs := f.b.Compare(op.LT, l, h)
	f.check(op.TrapOverflow, f.b.N(op.And, nil, runs, f.b.N(op.SubOverflow, nil, h, l)))
	return f.leaf(l), f.b.N(op.Select, nil, runs, f.b.N(op.Sub, nil, h, l), zero)
}

// binder makes a map over the index space and, but for `map`, reduces its axes.
func (f *fn) binder(e *check.Binder) graph.Ref {
	starts := make([]value, len(e.Vars))
	dims := make([]int64, len(e.Vars))
	params := make([]types.Type, len(e.Vars))
	for i, v := range e.Vars {
		if v.LoDim != nil {
			starts[i] = f.leaf(f.b.I64(f.number(*v.LoDim, v.At)))
		} else {
			starts[i] = f.lower(v.Lo)
			f.lower(v.Hi)
		}
		dims[i] = f.dim(v.Size, v.At)
		params[i] = types.Scalar(types.I64)
	}
	caps := newCaptures()
	fr := f.inner(caps, params...)
	var result graph.Ref
	f.within(fr, func() {
		for i, v := range e.Vars {
			if v.Local == nil {
				continue
			}
			x, s := f.b.Param(i, params[i]), f.ref(starts[i])
			if s != f.b.I64(0) {
				x = f.b.N(op.Add, nil, s, x)
			}
			f.env[v.Local] = f.leaf(x)
		}
		result = f.tensor(e.Body)
	})
	traps := fr.trap != f.b.NoTrap()
	results := []graph.Ref{result}
	if traps {
		results = append(results, fr.trap)
	}
	r := f.close(fr, results)
	t := f.b.Type(result)
	t = t.WithShape(append(append([]int64{}, dims...), t.Shape()...)...)
	f.possible(t, e.At)
	attrs := op.NewAttrs(op.Ints(op.KDims, dims...), op.Bool(op.KTraps, traps))
	outs := f.apply(op.Map, attrs, []graph.RegionID{r}, caps.refs...)
	if traps {
		f.join(outs[1])
	}
	return f.reduce(e.Kind, outs[0], axesTo(len(dims)), e.At)
}
