package check

import (
	"fmt"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// index checks x[...]. What stands before the brackets decides what they mean:
// a value is indexed; a function name here is not called, which is an error.
func (b *body) index(e syntax.IndexExpr) Expr {
	x := b.expr(e.Base(), nil)
	if x.Type().IsBad() {
		for _, a := range e.Args() {
			switch syntax.Unparen(a.Value()).(type) {
			case syntax.RangeExpr, syntax.NewAxis:
			default:
				b.expr(a.Value(), nil)
			}
		}
		return b.bad(e.Span())
	}
	args, t := b.indexArgs(e, x.Type())
	if t.IsBad() {
		return b.bad(e.Span())
	}
	return &Index{Node{t, e.Span()}, x, args}
}

// indexArgs checks the brackets on a value of type t and gives the result's type.
func (b *body) indexArgs(e syntax.IndexExpr, t *Type) ([]IndexArg, *Type) {
	if t.IsBad() {
		return nil, badType
	}
	if !t.IsTensor() {
		b.c.errorf(diag.NotIndexable, e.Base().Span(), "%s cannot be indexed", t).Notef("components are taken with a point: t.0, s.field")
		return nil, badType
	}
	var out []IndexArg
	var dims []Dim
	axis, ok := 0, true
	for _, a := range e.Args() {
		if a.Name() != nil {
			b.c.errorf(diag.NotIndexable, a.Span(), "an index has no name")
			ok = false
			continue
		}
		v := syntax.Unparen(a.Value())
		if _, isNew := v.(syntax.NewAxis); isNew {
			out = append(out, IndexArg{Kind: IndexNew, Size: Num(1), At: a.Span()})
			dims = append(dims, Num(1))
			continue
		}
		var d Dim
		if axis < t.Rank() {
			d = t.Dims[axis]
		} else {
			d = Dim{over: true}
		}
		axis++
		arg := IndexArg{Axis: d, At: a.Span()}
		if r, isRange := v.(syntax.RangeExpr); isRange {
			good := b.rangeArg(r, d, &arg)
			ok = ok && good
			dims = append(dims, arg.Size)
		} else {
			good := b.indexAt(a.Value(), d, &arg)
			ok = ok && good
		}
		out = append(out, arg)
	}
	if axis != t.Rank() {
		d := b.c.errorf(diag.NotIndexable, e.Span(), "%s has %s, %d indexed", t, axes(t.Rank()), axis)
		if axis < t.Rank() {
			d.Notef("every axis is named; `..` takes all of one")
		}
		return nil, badType
	}
	if len(dims) > types.MaxRank {
		b.c.errorf(diag.BadTypeArgs, e.Span(), "the result would have more than %d axes", types.MaxRank)
		return nil, badType
	}
	if !ok {
		return nil, badType
	}
	return out, t.withDims(dims)
}

func axes(n int) string {
	if n == 1 {
		return "1 axis"
	}
	return fmt.Sprintf("%d axes", n)
}

func (b *body) indexAt(e syntax.Expr, d Dim, arg *IndexArg) bool {
	x := b.expr(e, scalar(types.I64))
	t := x.Type()
	arg.Lo = x
	if t.IsBad() {
		return false
	}
	if !t.IsScalar() || !t.DType.IsInt() {
		b.c.errorf(diag.Mismatch, x.Span(), "an index is an integer, found %s", t)
		return false
	}
	if p, ok := b.polyOf(x); ok {
		// Provably outside for every instance: no need to wait for the run.
		if v, isNum := p.Const(); isNum && v < 0 {
			b.c.errorf(diag.IndexRange, x.Span(), "index %d is out of range", v).Notef("indices count from 0; the last one is n - 1")
			return false
		}
		if v, isNum := b.normal(d.Sub(p)).Const(); isNum && v <= 0 {
			b.c.errorf(diag.IndexRange, x.Span(), "index %s is out of range for an axis of size %s", p, d)
			return false
		}
	}
	return true
}

// rangeArg checks lo..hi on an axis of size d; the window's size must be known.
func (b *body) rangeArg(r syntax.RangeExpr, d Dim, arg *IndexArg) bool {
	if r.Low() == nil && r.High() == nil {
		arg.Kind, arg.Size = IndexAll, d
		return true
	}
	arg.Kind = IndexRange
	i64 := scalar(types.I64)
	lo, hi := Num(0), d
	ok := true
	part := func(e syntax.Expr) (Expr, Dim) {
		x := b.check(e, i64)
		if x.Type().IsBad() {
			ok = false
			return x, Dim{over: true}
		}
		p, known := b.polyOf(x)
		if !known {
			// A variable of its own: x[i..i] has size 0, x[i..j] is not known.
			p = AtomDim(b.c.newAtom("this bound", atomLocal))
		}
		return x, p
	}
	if r.Low() != nil {
		arg.Lo, lo = part(r.Low())
	}
	if r.High() != nil {
		arg.Hi, hi = part(r.High())
	}
	if !ok {
		return false
	}
	size := hi.Sub(lo)
	if !size.static() {
		b.c.errorf(diag.NotADim, r.Span(), "the length of this slice is not known when the program is built").
			Notef("write both ends over the same variable: x[i..i + 3]")
		return false
	}
	arg.Size = size
	if lo.static() {
		arg.LoDim = &lo
	}
	for _, p := range []Dim{size, lo} {
		if v, isNum := p.Const(); isNum && v < 0 {
			b.c.errorf(diag.IndexRange, r.Span(), "this slice is out of range")
			return false
		}
	}
	if v, isNum := b.normal(d.Sub(hi)).Const(); isNum && v < 0 {
		b.c.errorf(diag.IndexRange, r.Span(), "slice %s..%s is out of range for an axis of size %s", lo, hi, d)
		return false
	}
	return true
}
