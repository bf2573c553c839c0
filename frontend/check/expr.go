package check

import (
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// expr checks an expression. want, if not nil, is what the context would like:
// literals adopt it, nothing else does; the caller compares.
func (b *body) expr(e syntax.Expr, want *Type) Expr {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > maxDepth {
		return b.bad(e.Span())
	}
	if want.IsBad() {
		want = nil
	}
	switch e := e.(type) {
	case syntax.LiteralExpr:
		return b.literal(e, want)
	case syntax.NameExpr:
		return b.name(e)
	case syntax.ParenExpr:
		return b.expr(e.Inner(), want)
	case syntax.TupleExpr:
		return b.tuple(e, want)
	case syntax.ArrayExpr:
		return b.array(e, want)
	case syntax.UnaryExpr:
		return b.unary(e, want)
	case syntax.BinaryExpr:
		return b.binary(e, want)
	case syntax.CallExpr:
		return b.call(e, want)
	case syntax.IndexExpr:
		return b.index(e)
	case syntax.FieldExpr:
		return b.field(e)
	case syntax.StructExpr:
		return b.structExpr(e)
	case syntax.Block:
		return b.block(e, want)
	case syntax.IfExpr:
		return b.ifExpr(e, want)
	case syntax.ForExpr:
		return b.forExpr(e)
	case syntax.BinderExpr:
		return b.binder(e, want)
	case syntax.MatchExpr:
		b.c.unsupported(e.Subject().Span(), "`match` expressions").Notef("write if ... else if ... else")
	case syntax.LambdaExpr:
		b.c.unsupported(e.Span(), "functions as values").Notef("declare a function, or write a binder form: map i in 0..n { ... }")
	case syntax.RangeExpr:
		b.c.errorf(diag.NotAValue, e.Span(), "a range is not a value").Notef("ranges stand in `for` and binder heads and in brackets")
	case syntax.NewAxis:
		b.c.errorf(diag.NotAValue, e.Span(), "`_` is not a value")
	}
	return b.bad(e.Span())
}

func (b *body) name(e syntax.NameExpr) Expr {
	tok := e.Name()
	if tok == nil {
		return b.bad(e.Span())
	}
	name, at := tok.Text(), e.Span()
	if l, ok := b.scope[name]; ok {
		return &LocalRef{Node{l.Type, at}, l}
	}
	if a, ok := b.dims[name]; ok {
		return &DimVal{Node{scalar(types.I64), at}, AtomDim(a)}
	}
	if it, ok := b.mod.items[name]; ok {
		return b.itemValue(it, at)
	}
	what := ""
	if _, ok := types.ParseDType(name); ok {
		what = "a type"
	} else if _, ok := b.c.builtins[name]; ok {
		what = "a function"
	} else if _, ok := b.mod.modules[name]; ok {
		what = "a module"
	}
	if what != "" {
		b.c.errorf(diag.NotAValue, at, "`%s` is %s, not a value", name, what)
		return b.bad(at)
	}
	d := b.c.errorf(diag.UnknownName, at, "unknown name `%s`", name)
	for _, m := range sortedModules(b.mod.modules) {
		if strings.HasPrefix(b.mod.modules[m].Name, name+".") {
			d.Notef("module %s is called `%s` here", b.mod.modules[m].Name, m)
			return b.bad(at)
		}
	}
	suggest(d, name, b.valueNames())
	return b.bad(at)
}

func sortedModules(m map[string]*Module) []string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (b *body) valueNames() []string {
	var names []string
	for n := range b.scope {
		names = append(names, n)
	}
	for n := range b.dims {
		names = append(names, n)
	}
	for n := range b.mod.items {
		names = append(names, n)
	}
	for n := range b.c.builtins {
		names = append(names, n)
	}
	return names
}

// itemValue is an item used as a value.
func (b *body) itemValue(it item, at diag.Span) Expr {
	switch it := it.(type) {
	case *constItem:
		it.resolve(b.c)
		if it.def.Type.IsBad() {
			return b.bad(at)
		}
		b.uses(it.def, it.name, it.span, at)
		return &ConstRef{Node{it.def.Type, at}, it.def}
	case *funcItem:
		b.c.errorf(diag.NotAValue, at, "`%s` is a function, not a value", it.name).Notef("functions are called: %s(...)", it.name)
	case *enumItem:
		it.resolve(b.c)
	default:
		b.c.errorf(diag.NotAValue, at, "a type is not a value").Related(it.at(), "declared here")
	}
	return b.bad(at)
}

func (b *body) tuple(e syntax.TupleExpr, want *Type) Expr {
	out := &Aggregate{Node: Node{&Type{Kind: Tuple}, e.Span()}}
	for i, x := range e.Elems() {
		var hint *Type
		if want != nil && want.Kind == Tuple && i < len(want.Elems) {
			hint = want.Elems[i]
		}
		v := b.expr(x, hint)
		out.Elems = append(out.Elems, v)
		out.T.Elems = append(out.T.Elems, v.Type())
	}
	if out.T.IsBad() {
		return b.bad(e.Span())
	}
	return out
}

func (b *body) array(e syntax.ArrayExpr, want *Type) Expr {
	hint := elementHint(want)
	elems := e.Elems()
	if len(elems) == 0 {
		if want == nil || !want.IsTensor() {
			b.c.errorf(diag.NotAValue, e.Span(), "the type of an empty array is not known here").Notef("give it one: let x: f64[0] = []")
			return b.bad(e.Span())
		}
		dims := []Dim{Num(0)}
		if want.Rank() > 1 {
			dims = append(dims, want.Dims[1:]...)
		}
		return &Array{Node{tensorOf(want.DType, dims...), e.Span()}, nil}
	}
	out := &Array{Node: Node{T: badType, At: e.Span()}, Elems: make([]Expr, len(elems))}
	if hint == nil && b.flexible(e) && b.hasFloat(e) {
		hint = scalar(types.F64)
	}
	// The first element that is not made of literals decides for those that are.
	first := -1
	for i, x := range elems {
		if !b.flexible(x) {
			first = i
			break
		}
	}
	if first >= 0 {
		out.Elems[first] = b.expr(elems[first], hint)
		hint = out.Elems[first].Type()
	}
	for i, x := range elems {
		if out.Elems[i] == nil {
			out.Elems[i] = b.expr(x, hint)
			if hint == nil {
				hint = out.Elems[i].Type()
			}
		}
	}
	t := out.Elems[0].Type()
	for _, x := range out.Elems {
		if x.Type().IsBad() {
			return b.bad(e.Span())
		}
	}
	if !t.IsTensor() || t.Rank() >= types.MaxRank {
		b.c.errorf(diag.BadOperand, e.Span(), "an array holds scalars or tensors, not %s", t)
		return b.bad(e.Span())
	}
	for _, x := range out.Elems[1:] {
		if !b.same(x.Type(), t) {
			b.c.errorf(diag.Mismatch, x.Span(), "the elements of an array have one type: expected %s, found %s", t, x.Type()).
				Related(out.Elems[0].Span(), "the first one is %s", t)
			return b.bad(e.Span())
		}
	}
	out.T = tensorOf(t.DType, append([]Dim{Num(int64(len(elems)))}, t.Dims...)...)
	return out
}

// elementHint is the hint for the elements of an array wanted as want.
func elementHint(want *Type) *Type {
	if want == nil || !want.IsTensor() {
		return nil
	}
	if want.Rank() > 0 {
		return want.withDims(want.Dims[1:])
	}
	return want
}

func (b *body) field(e syntax.FieldExpr) Expr {
	tok := e.Field()
	if tok == nil {
		return b.bad(e.Span())
	}
	if x := b.qualified(e); x != nil {
		return x
	}
	x := b.expr(e.Base(), nil)
	return b.component(x, tok, e.Span())
}

// component is x.name or x.0.
func (b *body) component(x Expr, tok *syntax.Token, at diag.Span) Expr {
	i, t := b.componentOf(x.Type(), tok)
	if t == nil {
		return b.bad(at)
	}
	return &FieldRef{Node{t, at}, x, i}
}

func (b *body) componentOf(t *Type, tok *syntax.Token) (int, *Type) {
	if t.IsBad() {
		return 0, nil
	}
	name := tok.Text()
	switch {
	case t.Kind == StructKind && tok.Kind() == syntax.TIdent:
		var names []string
		for i, f := range t.Struct.Fields {
			if f.Name == name {
				return i, t.Fields()[i]
			}
			names = append(names, f.Name)
		}
		d := b.c.errorf(diag.NoField, tok.Span(), "%s has no field `%s`", t, name).Related(t.Struct.At, "declared here")
		suggest(d, name, names)
		return 0, nil
	case t.Kind == Tuple && tok.Kind() == syntax.TInt:
		if n, ok := syntax.ParseNumber(name); ok && len(n.Digits) < 6 {
			i := 0
			for _, c := range n.Digits {
				i = i*10 + int(c-'0')
			}
			if i < len(t.Elems) {
				return i, t.Elems[i]
			}
		}
	}
	d := b.c.errorf(diag.NoField, tok.Span(), "%s has no field `%s`", t, name)
	if _, ok := b.c.builtins[name]; ok && tok.Kind() == syntax.TIdent {
		d.Notef("`%s` is a function: write %s(...)", name, name)
	}
	return 0, nil
}

// qualified resolves module.name and dtype.NAME; nil if e is neither.
func (b *body) qualified(e syntax.FieldExpr) Expr {
	base, ok := e.Base().(syntax.NameExpr)
	if !ok || base.Name() == nil || e.Field().Kind() != syntax.TIdent {
		return nil
	}
	name := base.Name().Text()
	if b.shadowed(name) {
		return nil
	}
	if m, ok := b.mod.modules[name]; ok {
		it := b.c.member(m, e.Field().Text(), e.Field().Span())
		if it == nil {
			return b.bad(e.Span())
		}
		return b.itemValue(it, e.Span())
	}
	if d, ok := b.dtypeNamed(name); ok {
		return b.dtypeConst(d, e)
	}
	return nil
}

// shadowed reports a name that is a variable or dimension here.
func (b *body) shadowed(name string) bool {
	_, local := b.scope[name]
	_, dim := b.dims[name]
	return local || dim
}

// dtypeNamed is the element type that a name stands for: its own or an alias.
func (b *body) dtypeNamed(name string) (types.DType, bool) {
	if b.shadowed(name) {
		return 0, false
	}
	if it, ok := b.mod.items[name]; ok {
		a, ok := it.(*aliasItem)
		if !ok {
			return 0, false
		}
		a.resolve(b.c)
		return a.typ.DType, a.typ.IsScalar()
	}
	return types.ParseDType(name)
}

// dtypeConst is i64.MAX and its kin.
func (b *body) dtypeConst(d types.DType, e syntax.FieldExpr) Expr {
	row, ok := dtypeConsts[e.Field().Text()]
	if !ok || row(d) == nil {
		b.c.errorf(diag.NoField, e.Field().Span(), "%s has no `%s`", d, e.Field().Text()).
			Notef("integers have MIN and MAX, floats have MIN, MAX, EPSILON, MIN_POSITIVE, INFINITY and NAN")
		return b.bad(e.Span())
	}
	return &Lit{Node{scalar(d), e.Span()}, *row(d)}
}

// floatForm describes a float format: the bits of 1.0's exponent and the mantissa's width.
var floatForm = map[types.DType]struct{ one, mant uint64 }{
	types.F16: {0x3c00, 10}, types.BF16: {0x3f80, 7}, types.F32: {0x3f800000, 23}, types.F64: {0x3ff0000000000000, 52},
}

// dtypeConsts are the named values of element types; nil where a type has none.
var dtypeConsts = map[string]func(types.DType) *uint64{
	"MAX": func(d types.DType) *uint64 {
		switch {
		case d.IsSigned():
			return bitsOf(1<<(d.Bits()-1) - 1)
		case d.IsInt():
			return bitsOf(1<<d.Bits() - 1)
		case d.IsFloating():
			return bitsOf(infBits[d] - 1)
		}
		return nil
	},
	"MIN": func(d types.DType) *uint64 {
		switch {
		case d.IsSigned():
			return bitsOf(1 << (d.Bits() - 1))
		case d.IsInt():
			return bitsOf(0)
		case d.IsFloating():
			return bitsOf(infBits[d] - 1 | 1<<(d.Bits()-1))
		}
		return nil
	},
	"INFINITY":     floatConst(func(d types.DType) uint64 { return infBits[d] }),
	"NAN":          floatConst(func(d types.DType) uint64 { return infBits[d] | 1<<(floatForm[d].mant-1) }),
	"MIN_POSITIVE": floatConst(func(d types.DType) uint64 { return 1 << floatForm[d].mant }),
	"EPSILON": floatConst(func(d types.DType) uint64 {
		return floatForm[d].one - floatForm[d].mant<<floatForm[d].mant
	}),
}

func bitsOf(v uint64) *uint64 { return &v }

func floatConst(f func(types.DType) uint64) func(types.DType) *uint64 {
	return func(d types.DType) *uint64 {
		if !d.IsFloating() {
			return nil
		}
		return bitsOf(f(d))
	}
}
