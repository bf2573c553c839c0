package check

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// block checks a block; its value is that of its last expression.
func (b *body) block(e syntax.Block, want *Type) Expr {
	if e.Syntax() == nil {
		return b.bad(e.Span())
	}
	out := &Block{Node: Node{unitType, e.Span()}}
	b.inner(func() {
		stmts := e.Stmts()
		tail := e.Tail()
		for i, s := range stmts {
			if i == len(stmts)-1 && tail != nil {
				out.Tail = b.expr(tail, want)
				out.T = out.Tail.Type()
				return
			}
			if st := b.stmt(s); st != nil {
				out.Stmts = append(out.Stmts, st)
			}
		}
	})
	if e.HasErrors() && out.Tail == nil {
		out.T = badType
	}
	return out
}

func (b *body) stmt(s syntax.Stmt) Stmt {
	switch s := s.(type) {
	case syntax.LetStmt:
		return b.let(s)
	case syntax.AssignStmt:
		return b.assign(s)
	case syntax.AssertStmt:
		x := b.expr(s.Cond(), scalar(types.Bool))
		t := x.Type()
		if !t.IsBad() && (!t.IsTensor() || t.DType != types.Bool) {
			b.c.errorf(diag.Mismatch, x.Span(), "`assert` takes a bool or a tensor of bools, found %s", t)
			return nil
		}
		return &Assert{x, s.Span()}
	case syntax.ExprStmt:
		x := b.expr(s.Expr(), nil)
		if t := x.Type(); !t.IsBad() && !t.IsUnit() {
			b.c.warnf(diag.UnusedValue, x.Span(), "this value is not used").
				Notef("only the last expression of a block is its value; `let _ = ...` drops one on purpose")
		}
		return &Eval{x}
	}
	return nil
}

func (b *body) let(s syntax.LetStmt) Stmt {
	var x Expr
	if t := s.Type(); t != nil {
		x = b.check(s.Value(), b.typeExpr(t))
	} else {
		x = b.expr(s.Value(), nil)
	}
	t := x.Type()
	pat := b.pattern(s.Pattern(), t)
	if pat != nil && pat.Local != nil && !pat.Local.Mut {
		// What is known of an integer at compile time stays known under its name.
		if d, ok := b.polyOf(x); ok && !d.over && !d.changes() {
			pat.Local.dim, pat.Local.hasDim = d, true
		}
	}
	if pat == nil {
		pat = &Pattern{}
	}
	return &Let{*pat, x, s.Span()}
}

// pattern declares the variables of p for a value of type t; nil for `_`.
func (b *body) pattern(p syntax.Pattern, t *Type) *Pattern {
	switch p := p.(type) {
	case syntax.NamePat:
		if p.Name() == nil {
			return nil
		}
		return &Pattern{Local: b.declare(p.Name(), t, p.IsMut())}
	case syntax.WildPat:
		return nil
	case syntax.TuplePat:
		elems := p.Elems()
		if p.IsParen() {
			return b.pattern(elems[0], t)
		}
		if !t.IsBad() && (t.Kind != Tuple || len(t.Elems) != len(elems)) {
			b.c.errorf(diag.BadPattern, p.Span(), "this pattern takes a tuple of %s, the value is %s", count(len(elems), "component"), t)
			t = badType
		}
		out := &Pattern{Elems: make([]*Pattern, len(elems))}
		for i, q := range elems {
			et := badType
			if !t.IsBad() {
				et = t.Elems[i]
			}
			out.Elems[i] = b.pattern(q, et)
		}
		return out
	case syntax.StructPat:
		return b.structPattern(p, t)
	case syntax.BadPat:
		return nil
	}
	b.c.errorf(diag.BadPattern, p.Span(), "this pattern does not fit every value").Notef("`let` takes names, `_`, tuples and structs")
	return nil
}

func (b *body) structPattern(p syntax.StructPat, t *Type) *Pattern {
	segs := p.Path().Segments()
	if len(segs) == 0 {
		return nil
	}
	it, ok := b.itemAt(segs).(*structItem)
	if ok {
		it.resolve(b.c)
	}
	if ok && !t.IsBad() && (t.Kind != StructKind || t.Struct != it.def) {
		b.c.errorf(diag.BadPattern, p.Path().Span(), "this pattern takes a %s, the value is %s", it.name, t)
		ok = false
	}
	n := 0
	if ok {
		n = len(it.def.Fields)
	}
	out := &Pattern{Elems: make([]*Pattern, n)}
	seen := map[string]bool{}
	for _, f := range p.Fields() {
		if f.Name() == nil {
			continue
		}
		i, ft := -1, badType
		if ok && !t.IsBad() {
			var found *Type
			if i, found = b.componentOf(t, f.Name()); found == nil {
				i = -1
			} else {
				ft = found
			}
		}
		if seen[f.Name().Text()] {
			b.c.errorf(diag.DuplicateName, f.Name().Span(), "field `%s` stands here twice", f.Name().Text())
		}
		seen[f.Name().Text()] = true
		var q *Pattern
		if f.Pattern() != nil {
			q = b.pattern(f.Pattern(), ft)
		} else {
			q = &Pattern{Local: b.declare(f.Name(), ft, f.IsMut())}
		}
		if i >= 0 && i < n {
			out.Elems[i] = q
		}
	}
	if ok && !p.HasRest() {
		for _, f := range it.def.Fields {
			if !seen[f.Name] {
				b.c.errorf(diag.BadPattern, p.Span(), "field `%s` is left out", f.Name).Notef("`..` leaves out the rest")
				break
			}
		}
	}
	return out
}

func (b *body) assign(s syntax.AssignStmt) Stmt {
	op := s.Op()
	l, path, t := b.place(s.Place())
	row := opRow{op: Invalid}
	if base := op.Kind().BaseOp(); base != syntax.None {
		row = binops[base]
	}
	var hint *Type
	if t != nil {
		hint = t
		if row.class == opCompare || row.class == opLogic {
			hint = nil
		}
	}
	if l == nil || t.IsBad() {
		b.expr(s.Value(), nil)
		return nil
	}
	v := b.expr(s.Value(), hint)
	if v.Type().IsBad() {
		return nil
	}
	if row.op != Invalid {
		// The operator is typed on a stand-in for the old value.
		old := &LocalRef{Node{t, s.Place().Span()}, l}
		r := b.binaryOp(row, old, v, s.Span(), op)
		bin, ok := r.(*Binary)
		if !ok {
			return nil
		}
		if !b.same(bin.T, t) {
			b.mismatch(bin, t)
			return nil
		}
		return &Assign{Local: l, Path: path, Op: row.op, Value: bin.Y, T: t, At: s.Span()}
	}
	if !b.same(v.Type(), t) {
		b.mismatch(v, t)
		return nil
	}
	return &Assign{Local: l, Path: path, Value: v, T: t, At: s.Span()}
}

// place resolves the left side of an assignment: a variable and the steps into it.
func (b *body) place(e syntax.Expr) (*Local, []Place, *Type) {
	switch e := syntax.Unparen(e).(type) {
	case syntax.NameExpr:
		x := b.name(e)
		ref, ok := x.(*LocalRef)
		if !ok {
			if !x.Type().IsBad() {
				b.c.errorf(diag.NotMutable, e.Span(), "`%s` cannot be assigned to: it is not a variable", e.Text())
			}
			return nil, nil, badType
		}
		l := ref.Local
		if !l.Mut {
			d := b.c.errorf(diag.NotMutable, e.Span(), "`%s` cannot be assigned to", l.Name).Related(l.At, "declared here without `mut`")
			d.FixBy("declare it", diag.Span{File: l.At.File, Start: l.At.Start, End: l.At.Start}, "mut ")
			if b.isParam(l) {
				d.Fix = nil
				d.Notef("a parameter is copied into a variable first: let mut %s = %s", l.Name, l.Name)
			}
			return nil, nil, badType
		}
		if l.par != b.par {
			b.c.errorf(diag.ParallelWrite, e.Span(), "`%s` is assigned to from a parallel body", l.Name).
				Related(l.At, "declared outside of it").Notef("the elements of map, sum and their kin are computed in any order: use `for`, or return the value")
			return nil, nil, badType
		}
		return l, nil, l.Type
	case syntax.FieldExpr:
		l, path, t := b.place(e.Base())
		if l == nil || e.Field() == nil {
			return nil, nil, badType
		}
		i, ft := b.componentOf(t, e.Field())
		if ft == nil {
			return nil, nil, badType
		}
		return l, append(path, Place{Field: i, T: ft}), ft
	case syntax.IndexExpr:
		l, path, t := b.place(e.Base())
		if l == nil {
			for _, a := range e.Args() {
				if _, isName := syntax.Unparen(a.Value()).(syntax.NameExpr); isName {
					b.expr(a.Value(), nil)
				}
			}
			return nil, nil, badType
		}
		if len(path) > 0 && path[len(path)-1].Args != nil {
			b.c.errorf(diag.BadPlace, e.Span(), "a place is indexed once").Notef("write the indices in one bracket: x[i, j]")
			return nil, nil, badType
		}
		args, rt := b.indexArgs(e, t)
		if rt.IsBad() {
			return nil, nil, badType
		}
		for _, a := range args {
			if a.Kind == IndexNew {
				b.c.errorf(diag.BadPlace, a.At, "`_` adds an axis, which a place cannot have")
				return nil, nil, badType
			}
		}
		return l, append(path, Place{Args: args, T: rt}), rt
	case syntax.BadExpr:
		return nil, nil, badType
	}
	b.c.errorf(diag.BadPlace, e.Span(), "this cannot be assigned to").Notef("a name, a field or an indexed name can")
	return nil, nil, badType
}

func (b *body) isParam(l *Local) bool {
	if b.fn == nil {
		return false
	}
	for _, p := range b.fn.Params {
		if p == l {
			return true
		}
	}
	return false
}
