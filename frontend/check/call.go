package check

import (
	"strconv"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

func itoa(n int) string { return strconv.Itoa(n) }

// isEmbed reports a call of the builtin `embed`.
func (b *body) isEmbed(e syntax.CallExpr) bool {
	n, ok := e.Callee().(syntax.NameExpr)
	return ok && n.Name().Text() == "embed" && b.mod.items["embed"] == nil
}

// call checks f(...): a function, a cast, or a builtin.
func (b *body) call(e syntax.CallExpr, want *Type) Expr {
	callee := syntax.Unparen(e.Callee())
	var generic []syntax.Arg
	hasGeneric := false
	if ix, ok := callee.(syntax.IndexExpr); ok {
		callee, generic, hasGeneric = syntax.Unparen(ix.Base()), ix.Args(), true
	}
	switch f := callee.(type) {
	case syntax.NameExpr:
		name := f.Name().Text()
		if b.shadowed(name) {
			break
		}
		if d, ok := b.dtypeNamed(name); ok && !hasGeneric {
			return b.cast(e, d, Trapping)
		}
		if it, ok := b.mod.items[name]; ok {
			return b.callItem(e, it, f.Span(), generic, hasGeneric, want)
		}
		if row, ok := b.c.builtins[name]; ok && !hasGeneric {
			return b.builtin(row, e, want)
		}
		if name == "embed" {
			b.c.errorf(diag.NotAValue, f.Span(), "`embed` stands only as the value of a `const`")
			return b.bad(e.Span())
		}
		if !hasGeneric && b.mod.modules[name] == nil {
			d := b.c.errorf(diag.UnknownName, f.Span(), "unknown function `%s`", name)
			suggest(d, name, b.valueNames())
			b.argsAnyway(e)
			return b.bad(e.Span())
		}
	case syntax.FieldExpr:
		if x, done := b.callQualified(e, f, generic, hasGeneric, want); done {
			return x
		}
	}
	x := b.expr(callee, nil)
	b.argsAnyway(e)
	if !x.Type().IsBad() {
		b.c.errorf(diag.NotCallable, x.Span(), "%s is not a function", x.Type())
	}
	return b.bad(e.Span())
}

// argsAnyway checks the arguments of a call that makes no sense.
func (b *body) argsAnyway(e syntax.CallExpr) {
	for _, a := range e.Args() {
		b.expr(a.Value(), nil)
	}
}

// castModes are the ways to convert besides calling the type.
var castModes = map[string]CastMode{"wrap": Wrapping, "sat": Saturating}

func (b *body) callQualified(e syntax.CallExpr, f syntax.FieldExpr, generic []syntax.Arg, hasGeneric bool, want *Type) (Expr, bool) {
	base, ok := f.Base().(syntax.NameExpr)
	if ok && f.Field().Kind() == syntax.TIdent && base.Name() != nil && !b.shadowed(base.Name().Text()) {
		name, field := base.Name().Text(), f.Field().Text()
		if m, isMod := b.mod.modules[name]; isMod {
			it := b.c.member(m, field, f.Field().Span())
			if it == nil {
				b.argsAnyway(e)
				return b.bad(e.Span()), true
			}
			return b.callItem(e, it, f.Span(), generic, hasGeneric, want), true
		}
		if d, isType := b.dtypeNamed(name); isType {
			if mode, known := castModes[field]; known {
				return b.cast(e, d, mode), true
			}
			if field == "bits" {
				return b.bitcast(e, d), true
			}
			b.c.errorf(diag.NoField, f.Field().Span(), "%s has no function `%s`", d, field).
				Notef("%s(x) converts and traps, %s.wrap(x) wraps, %s.sat(x) saturates, %s.bits(x) keeps the bits", d, d, d, d)
			b.argsAnyway(e)
			return b.bad(e.Span()), true
		}
	}
	if _, isBuiltin := b.c.builtins[f.Field().Text()]; isBuiltin && ok {
		x := b.expr(f.Base(), nil)
		if !x.Type().IsBad() {
			b.c.errorf(diag.NotCallable, f.Field().Span(), "`%s` is a function, not a method", f.Field().Text()).
				FixBy("write", e.Span(), asFunction(f, e))
		}
		b.argsAnyway(e)
		return b.bad(e.Span()), true
	}
	return nil, false
}

// asFunction is the text of x.f(args) as f(x, args).
func asFunction(f syntax.FieldExpr, e syntax.CallExpr) string {
	text := f.Field().Text() + "(" + f.Base().Text()
	for _, a := range e.Args() {
		text += ", " + a.Text()
	}
	return text + ")"
}

func (b *body) callItem(e syntax.CallExpr, it item, at diag.Span, generic []syntax.Arg, hasGeneric bool, want *Type) Expr {
	switch it := it.(type) {
	case *funcItem:
		it.resolve(b.c)
		return b.callFunc(e, it, at, generic, hasGeneric, want)
	case *aliasItem:
		it.resolve(b.c)
		if it.typ.IsScalar() && !hasGeneric {
			return b.cast(e, it.typ.DType, Trapping)
		}
		if it.typ.IsBad() {
			b.argsAnyway(e)
			return b.bad(e.Span())
		}
	case *structItem:
		b.argsAnyway(e)
		b.c.errorf(diag.NotCallable, at, "a struct is made with braces").Notef("write %s { field: value, ... }", it.name)
		return b.bad(e.Span())
	}
	x := b.itemValue(it, at)
	b.argsAnyway(e)
	if !x.Type().IsBad() {
		b.c.errorf(diag.NotCallable, at, "%s is not a function", x.Type()).Related(it.at(), "declared here")
	}
	return b.bad(e.Span())
}

// slots orders arguments by the parameters' names; nil where none is given.
func (b *body) slots(args []syntax.Arg, names []string, what string, at, def diag.Span) ([]syntax.Arg, bool) {
	out := make([]syntax.Arg, len(names))
	next, ok := 0, true
	for _, a := range args {
		i := next
		if n := a.Name(); n != nil {
			i = -1
			for k, name := range names {
				if name == n.Text() && name != "" {
					i = k
				}
			}
			if i < 0 {
				d := b.c.errorf(diag.ArgCount, n.Span(), "`%s` has no parameter `%s`", what, n.Text())
				suggest(d, n.Text(), names)
				ok = false
				continue
			}
		} else {
			next++
		}
		if i >= len(names) {
			d := b.c.errorf(diag.ArgCount, a.Span(), "`%s` takes %s, %d given", what, count(len(names), "argument"), len(args))
			if def.IsValid() {
				d.Related(def, "declared here")
			}
			return out, false
		}
		if out[i].Syntax() != nil {
			b.c.errorf(diag.ArgCount, a.Span(), "parameter `%s` of `%s` is given twice", names[i], what)
			ok = false
			continue
		}
		out[i] = a
	}
	return out, ok
}

// written is the order in which the arguments in slots were written; nil if
// that is the order of the slots.
func written(args, slots []syntax.Arg) []int {
	var order []int
	moved := false
	for at, a := range args {
		for i, s := range slots {
			if s.Syntax() == a.Syntax() {
				order = append(order, i)
				moved = moved || i != at
			}
		}
	}
	if !moved {
		return nil
	}
	return order
}

func (b *body) callFunc(e syntax.CallExpr, it *funcItem, at diag.Span, generic []syntax.Arg, hasGeneric bool, want *Type) Expr {
	fn := it.fn
	b.uses(fn, fn.Name, fn.At, at)
	names := make([]string, len(fn.Params))
	for i, p := range fn.Params {
		names[i] = p.Name
	}
	s := b.newSolver(fn.Dims)
	ok := true
	if hasGeneric {
		ok = b.explicitDims(s, it, generic, at)
	}
	slots, good := b.slots(e.Args(), names, it.name, at, fn.At)
	if !good {
		b.argsAnyway(e)
		return b.bad(e.Span())
	}
	out := &Call{Node: Node{badType, e.Span()}, Fn: fn, Args: make([]Expr, len(fn.Params)), Order: written(e.Args(), slots)}
	for i, a := range slots {
		p := fn.Params[i]
		if a.Syntax() == nil {
			b.c.errorf(diag.ArgCount, e.Span(), "`%s` takes %s, %d given", it.name, count(len(names), "argument"), len(e.Args())).
				Related(p.At, "`%s` is missing", p.Name)
			return b.bad(e.Span())
		}
		x := b.expr(a.Value(), s.hint(p.Type))
		out.Args[i] = x
		if x.Type().IsBad() {
			ok = false
			continue
		}
		if !s.unify(p.Type, x.Type(), x.Span()) {
			b.mismatch(x, p.Type)
			ok = false
			continue
		}
		s.solve()
	}
	if !ok {
		return b.bad(e.Span())
	}
	s.fromResult(fn.Result, want)
	if !s.finish(it.name, e.Span(), fn.At) {
		return b.bad(e.Span())
	}
	out.Dims = s.dims()
	out.T = fn.Result.subst(s.m)
	if !b.whereHolds(fn, s.m, e.Span()) {
		return b.bad(e.Span())
	}
	return out
}

// whereHolds reports constraints that no instance of this call can meet; those
// that depend on the caller's own dimensions are asked again per instance.
func (b *body) whereHolds(fn *Func, m map[*Atom]Dim, at diag.Span) bool {
	for _, w := range fn.Where {
		l, lok := b.normal(w.L.Subst(m)).Const()
		r, rok := b.normal(w.R.Subst(m)).Const()
		if lok && rok && !CompareInts(w.Op, l, r) {
			b.c.errorf(diag.WhereFails, at, "`%s` needs %s, which does not hold here", fn.Name, w.At.Text()).
				Related(w.At, "%d and %d", l, r)
			return false
		}
	}
	return true
}

// CompareInts evaluates a comparison.
func CompareInts(op Op, l, r int64) bool {
	switch op {
	case CmpEQ:
		return l == r
	case CmpNE:
		return l != r
	case CmpLT:
		return l < r
	case CmpLE:
		return l <= r
	case CmpGT:
		return l > r
	}
	return l >= r
}

func (b *body) explicitDims(s *solver, it *funcItem, generic []syntax.Arg, at diag.Span) bool {
	if len(generic) != len(it.fn.Dims) {
		b.c.errorf(diag.BadTypeArgs, at, "`%s` has %s, %d given", it.name, count(len(it.fn.Dims), "dimension"), len(generic)).
			Related(it.fn.At, "declared here")
		return false
	}
	ok := true
	for i, a := range generic {
		d, good := b.dimArg(a)
		ok = ok && good
		s.m[it.fn.Dims[i]] = d
	}
	return ok
}

func (b *body) structExpr(e syntax.StructExpr) Expr {
	var segs []*syntax.Token
	var generic []syntax.Arg
	hasGeneric := false
	typ := e.Type()
	if ix, ok := typ.(syntax.IndexExpr); ok {
		typ, generic, hasGeneric = ix.Base(), ix.Args(), true
	}
	switch t := typ.(type) {
	case syntax.NameExpr:
		segs = []*syntax.Token{t.Name()}
	case syntax.FieldExpr:
		if base, ok := t.Base().(syntax.NameExpr); ok && t.Field() != nil {
			segs = []*syntax.Token{base.Name(), t.Field()}
		}
	}
	if len(segs) == 0 || segs[0] == nil {
		return b.bad(e.Span())
	}
	found := b.itemAt(segs)
	it, ok := found.(*structItem)
	if !ok {
		if a, isAlias := found.(*aliasItem); isAlias {
			a.resolve(b.c)
			if a.typ.Kind == StructKind && len(a.params) == 0 && !hasGeneric {
				return b.structFields(e, a.typ.Struct, a.typ.Args)
			}
		}
		if found != nil {
			b.c.errorf(diag.NotAType, typ.Span(), "`%s` is not a struct", typ.Text()).Related(found.at(), "declared here")
		}
		for _, f := range e.Fields() {
			if f.Value() != nil {
				b.expr(f.Value(), nil)
			}
		}
		return b.bad(e.Span())
	}
	it.resolve(b.c)
	var args []Dim
	if hasGeneric {
		if len(generic) != len(it.def.Params) {
			b.c.errorf(diag.BadTypeArgs, typ.Span(), "`%s` takes %s, %d given", it.name, count(len(it.def.Params), "dimension"), len(generic))
			return b.bad(e.Span())
		}
		for _, a := range generic {
			d, _ := b.dimArg(a)
			args = append(args, d)
		}
	}
	return b.structFields(e, it.def, args)
}

func (b *body) structFields(e syntax.StructExpr, def *Struct, args []Dim) Expr {
	s := b.newSolver(def.Params)
	for i, d := range args {
		s.m[def.Params[i]] = d
	}
	out := &Aggregate{Node: Node{badType, e.Span()}, Elems: make([]Expr, len(def.Fields))}
	ok := true
	var names []string
	for _, f := range def.Fields {
		names = append(names, f.Name)
	}
	for _, f := range e.Fields() {
		n := f.Name()
		if n == nil {
			ok = false
			continue
		}
		i := -1
		for k, name := range names {
			if name == n.Text() {
				i = k
			}
		}
		var hint *Type
		if i >= 0 {
			hint = s.hint(def.Fields[i].Type)
		}
		var x Expr
		if f.Value() != nil {
			x = b.expr(f.Value(), hint)
		} else {
			x = b.variable(n)
		}
		switch {
		case i < 0:
			d := b.c.errorf(diag.NoField, n.Span(), "`%s` has no field `%s`", def.Name, n.Text()).Related(def.At, "declared here")
			suggest(d, n.Text(), names)
			ok = false
		case out.Elems[i] != nil:
			b.c.errorf(diag.FieldInit, n.Span(), "field `%s` is given twice", n.Text()).Related(out.Elems[i].Span(), "the first time here")
			ok = false
		default:
			out.Elems[i] = x
			out.Order = append(out.Order, i)
			if x.Type().IsBad() {
				ok = false
			} else if !s.unify(def.Fields[i].Type, x.Type(), x.Span()) {
				b.mismatch(x, def.Fields[i].Type)
				ok = false
			} else {
				s.solve()
			}
		}
	}
	for i, x := range out.Elems {
		if x == nil {
			if !ok {
				return b.bad(e.Span())
			}
			b.c.errorf(diag.FieldInit, e.Type().Span(), "field `%s` is missing", names[i]).Related(def.Fields[i].At, "declared here")
			return b.bad(e.Span())
		}
	}
	if !ok || !s.finish(def.Name, e.Span(), def.At) {
		return b.bad(e.Span())
	}
	out.T = &Type{Kind: StructKind, Struct: def, Args: s.dims()}
	return out
}

// variable is the value of the short form `Pid { acc }`.
func (b *body) variable(n *syntax.Token) Expr {
	if l, ok := b.scope[n.Text()]; ok {
		return &LocalRef{Node{l.Type, n.Span()}, l}
	}
	if a, ok := b.dims[n.Text()]; ok {
		return &DimVal{Node{scalar(types.I64), n.Span()}, AtomDim(a)}
	}
	if it, ok := b.mod.items[n.Text()]; ok {
		return b.itemValue(it, n.Span())
	}
	d := b.c.errorf(diag.UnknownName, n.Span(), "unknown name `%s`", n.Text())
	suggest(d, n.Text(), b.valueNames())
	return b.bad(n.Span())
}

// cast checks dtype(x), dtype.wrap(x) and dtype.sat(x).
func (b *body) cast(e syntax.CallExpr, d types.DType, mode CastMode) Expr {
	args := e.Args()
	if len(args) != 1 || args[0].Name() != nil {
		b.c.errorf(diag.ArgCount, e.Span(), "a cast takes 1 argument, %d given", len(args))
		b.argsAnyway(e)
		return b.bad(e.Span())
	}
	var hint *Type
	if mode == Trapping && b.flexible(args[0].Value()) && (d.IsFloating() || d.IsInt() && !b.hasFloat(args[0].Value())) {
		hint = scalar(d)
	}
	x := b.expr(args[0].Value(), hint)
	t := x.Type()
	if t.IsBad() {
		return b.bad(e.Span())
	}
	switch {
	case !t.IsTensor():
		b.c.errorf(diag.BadOperand, x.Span(), "%s cannot be converted to %s", t, d)
		return b.bad(e.Span())
	case t.DType == d:
		return x
	case d == types.Bool:
		b.c.errorf(diag.BadOperand, e.Span(), "%s cannot be converted to bool", t).Notef("compare it: x != 0")
		return b.bad(e.Span())
	case mode != Trapping && !(d.IsInt() && (t.DType.IsInt() || mode == Saturating && t.DType.IsFloating())):
		b.c.errorf(diag.BadOperand, e.Span(), "%s cannot be converted to %s in this way", t, d).
			Notef("`wrap` and `sat` give integers; `wrap` takes only integers")
		return b.bad(e.Span())
	}
	return &Cast{Node{t.withDType(d), e.Span()}, mode, x}
}

// bitcast checks dtype.bits(x).
func (b *body) bitcast(e syntax.CallExpr, d types.DType) Expr {
	args := e.Args()
	if len(args) != 1 {
		b.c.errorf(diag.ArgCount, e.Span(), "`bits` takes 1 argument, %d given", len(args))
		b.argsAnyway(e)
		return b.bad(e.Span())
	}
	x := b.expr(args[0].Value(), nil)
	t := x.Type()
	if t.IsBad() {
		return b.bad(e.Span())
	}
	if !t.IsTensor() || t.DType.Size() != d.Size() || t.DType == types.Bool || d == types.Bool {
		b.c.errorf(diag.BadOperand, e.Span(), "the bits of %s are not those of %s", t, d).Notef("both have the same width")
		return b.bad(e.Span())
	}
	if t.DType == d {
		return x
	}
	return &Prim{Node: Node{t.withDType(d), e.Span()}, Row: bitsRow, Args: []Expr{x}}
}
