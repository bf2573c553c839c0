package check

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

func (b *body) ifExpr(e syntax.IfExpr, want *Type) Expr {
	cond := b.check(e.Cond(), scalar(types.Bool))
	if e.Else() == nil {
		then := b.expr(e.Then(), unitType)
		if t := then.Type(); !t.IsBad() && !t.IsUnit() {
			b.c.errorf(diag.Mismatch, then.Span(), "an `if` without `else` has no value, but this block has one of %s", t).
				Notef("add an `else`, or drop the value with `let _ = ...`")
			return b.bad(e.Span())
		}
		return &If{Node{unitType, e.Span()}, cond, then, nil}
	}
	var then, els Expr
	if want == nil && b.flexible(e.Then()) && !b.flexible(e.Else()) {
		els = b.expr(e.Else(), want)
		then = b.expr(e.Then(), els.Type())
	} else {
		if want == nil && b.flexible(e) && b.hasFloat(e) {
			want = scalar(types.F64)
		}
		then = b.expr(e.Then(), want)
		hint := want
		if hint == nil {
			hint = then.Type()
		}
		els = b.expr(e.Else(), hint)
	}
	if then.Type().IsBad() || els.Type().IsBad() {
		return &If{Node{badType, e.Span()}, cond, then, els}
	}
	if !b.same(then.Type(), els.Type()) {
		b.c.errorf(diag.Mismatch, e.Span(), "the arms of `if` have different types: %s and %s", then.Type(), els.Type()).
			Related(tailSpan(then), "this is %s", then.Type()).Related(tailSpan(els), "this is %s", els.Type())
		return b.bad(e.Span())
	}
	return &If{Node{then.Type(), e.Span()}, cond, then, els}
}

func tailSpan(x Expr) diag.Span {
	if blk, ok := x.(*Block); ok && blk.Tail != nil {
		return blk.Tail.Span()
	}
	return x.Span()
}

// head checks the range of a binding; lo and hi are i64 scalars.
func (b *body) head(n syntax.Binding) (lo, hi Expr, ok bool) {
	r, isRange := syntax.Unparen(n.Range()).(syntax.RangeExpr)
	if !isRange || r.Low() == nil || r.High() == nil {
		if _, bad := n.Range().(syntax.BadExpr); !bad {
			b.c.errorf(diag.BadRange, n.Range().Span(), "expected a range").Notef("write %s in 0..n", bindingName(n))
			if !isRange {
				b.expr(n.Range(), nil)
			}
		}
		return nil, nil, false
	}
	i64 := scalar(types.I64)
	lo, hi = b.check(r.Low(), i64), b.check(r.High(), i64)
	return lo, hi, !lo.Type().IsBad() && !hi.Type().IsBad()
}

func bindingName(n syntax.Binding) string {
	if n.Name() == nil {
		return "_"
	}
	return n.Name().Text()
}

// forExpr checks a loop; several variables are loops in one another.
func (b *body) forExpr(e syntax.ForExpr) Expr {
	binds := e.Bindings()
	if e.While() != nil && len(binds) > 1 {
		b.c.errorf(diag.BadRange, e.While().Span(), "`while` stands in a loop over one variable").Notef("write one loop inside of the other")
	}
	var out Expr
	b.inner(func() { out = b.forOver(e, binds) })
	return out
}

func (b *body) forOver(e syntax.ForExpr, binds []syntax.Binding) Expr {
	if len(binds) == 0 {
		body := b.expr(e.Body(), unitType)
		if t := body.Type(); !t.IsBad() && !t.IsUnit() {
			b.c.errorf(diag.Mismatch, tailSpan(body), "the body of a loop has no value, but this is %s", t).
				Notef("a loop changes variables: let mut s = 0 before it, s += ... in it")
			return b.bad(body.Span())
		}
		return body
	}
	lo, hi, ok := b.head(binds[0])
	out := &For{Node: Node{unitType, e.Span()}, Lo: lo, Hi: hi}
	if ok {
		out.LoDim, out.HiDim = b.known(lo), b.known(hi)
	}
	if n := binds[0].Name(); n != nil {
		out.Var = b.declare(n, scalar(types.I64), false)
	}
	if e.While() != nil && len(binds) == 1 {
		out.While = b.check(e.While(), scalar(types.Bool))
		ok = ok && !out.While.Type().IsBad()
	}
	out.Body = b.forOver(e, binds[1:])
	if !ok || out.Body.Type().IsBad() {
		return b.bad(e.Span())
	}
	return out
}

var binderKinds = map[string]Reduction{"map": Stack, "sum": Sum, "prod": Prod, "min": MinOf, "max": MaxOf, "any": Any, "all": All}

// binder checks map|sum|... i in a..b, j in c..d { e }.
func (b *body) binder(e syntax.BinderExpr, want *Type) Expr {
	word := e.Op().Text()
	kind := binderKinds[word]
	binds := e.Bindings()
	out := &Binder{Node: Node{badType, e.Span()}, Kind: kind}
	ok := len(binds) > 0
	var hint *Type
	switch {
	case want == nil || !want.IsTensor():
	case kind == Stack && want.Rank() >= len(binds):
		hint = want.withDims(want.Dims[len(binds):])
	case kind != Any && kind != All:
		hint = want
	}
	if kind == Any || kind == All {
		hint = scalar(types.Bool)
	}
	b.inner(func() {
		// Heads are outside of the parallel body.
		for _, n := range binds {
			lo, hi, good := b.head(n)
			v := BinderVar{Lo: lo, Hi: hi, At: n.Span()}
			if good {
				v.Size, good = b.rangeSize(lo, hi, n.Range().Span())
				v.LoDim = b.known(lo)
			}
			ok = ok && good
			if n.Name() != nil {
				v.Local = b.declare(n.Name(), scalar(types.I64), false)
				v.Local.par = b.par + 1
			}
			out.Vars = append(out.Vars, v)
		}
		b.par++
		out.Body = b.expr(e.Body(), hint)
		b.par--
	})
	t := out.Body.Type()
	if t.IsBad() || !ok {
		return out
	}
	good, wants := t.IsTensor(), "a scalar or tensor"
	switch {
	case !good || kind == Stack:
	case kind == Any || kind == All:
		good, wants = t.DType == types.Bool, "a bool"
	default:
		good, wants = t.DType.IsInt() || t.DType.IsFloat(), "a number"
	}
	if !good {
		b.c.errorf(diag.BadOperand, tailSpan(out.Body), "the body of `%s` gives %s, not %s", word, wants, t)
		return out
	}
	if kind != Stack {
		out.T = t
		return out
	}
	var dims []Dim
	for _, v := range out.Vars {
		dims = append(dims, v.Size)
	}
	if dims = append(dims, t.Dims...); len(dims) > types.MaxRank {
		b.c.errorf(diag.BadTypeArgs, e.Span(), "the result would have more than %d axes", types.MaxRank)
		return out
	}
	out.T = t.withDims(dims)
	return out
}

// rangeSize is hi - lo, which must be known at compile time.
func (b *body) rangeSize(lo, hi Expr, at diag.Span) (Dim, bool) {
	l, lok := b.polyOf(lo)
	h, hok := b.polyOf(hi)
	if lok && hok {
		d := h.Sub(l)
		static := d.static()
		if v, isNum := d.Const(); static && isNum && v < 0 {
			b.c.errorf(diag.BadRange, at, "this range ends before it begins")
			return d, false
		}
		if static {
			return d, true
		}
	}
	b.c.errorf(diag.NotADim, at, "the length of this range is not known when the program is built").
		Notef("it is made of numbers, integer constants and dimension parameters; a `for` takes any range")
	return Dim{over: true}, false
}
