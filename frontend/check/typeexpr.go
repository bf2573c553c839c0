package check

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// typeExpr resolves a written type.
func (b *body) typeExpr(e syntax.TypeExpr) *Type {
	switch t := e.(type) {
	case syntax.PathType:
		return b.pathType(t)
	case syntax.TupleType:
		ts := t.Types()
		if t.IsParen() {
			return b.typeExpr(ts[0])
		}
		out := &Type{Kind: Tuple}
		for _, x := range ts {
			out.Elems = append(out.Elems, b.typeExpr(x))
		}
		return out
	case syntax.RefType:
		if t.IsMut() {
			b.c.unsupported(t.Span(), "`&mut` references").Notef("take the value and return the changed one")
			return badType
		}
		// Values cannot be observed to be shared: borrowing one is reading it.
		return b.typeExpr(t.Elem())
	case syntax.SpaceType:
		if s := t.Space(); s != nil && s.Text() != "host" {
			b.c.unsupported(s.Span(), "memory spaces other than `host`")
			return badType
		}
		return b.typeExpr(t.Elem())
	case syntax.FnType:
		b.c.unsupported(t.Span(), "function types")
	}
	return badType
}

func (b *body) pathType(t syntax.PathType) *Type {
	segs := t.Path().Segments()
	if len(segs) == 0 {
		return badType
	}
	if len(segs) == 1 {
		if _, user := b.mod.items[segs[0].Text()]; !user {
			if d, ok := types.ParseDType(segs[0].Text()); ok {
				return b.tensorType(d, t)
			}
		}
	}
	it := b.itemAt(segs)
	switch it := it.(type) {
	case nil:
	case *structItem:
		it.resolve(b.c)
		args, ok := b.dimArgs(t, it.name, len(it.def.Params))
		if !ok {
			return badType
		}
		return &Type{Kind: StructKind, Struct: it.def, Args: args}
	case *aliasItem:
		it.resolve(b.c)
		if len(it.params) == 0 && t.HasArgs() && it.typ.IsScalar() {
			return b.tensorType(it.typ.DType, t)
		}
		args, ok := b.dimArgs(t, it.name, len(it.params))
		if !ok {
			return badType
		}
		m := map[*Atom]Dim{}
		for i, p := range it.params {
			m[p] = args[i]
		}
		return it.typ.subst(m)
	case *enumItem:
		it.resolve(b.c)
	default:
		b.c.errorf(diag.NotAType, t.Path().Span(), "`%s` is not a type", t.Path()).Related(it.at(), "declared here")
	}
	return badType
}

// itemAt finds the item that a path of one name, or of a module and a name,
// stands for; nil, and reported, if there is none.
func (b *body) itemAt(segs []*syntax.Token) item {
	first := segs[0]
	if len(segs) == 1 {
		if it, ok := b.mod.items[first.Text()]; ok {
			return it
		}
		d := b.c.errorf(diag.UnknownName, first.Span(), "unknown type `%s`", first.Text())
		var names []string
		for n, it := range b.mod.items {
			switch it.(type) {
			case *structItem, *aliasItem:
				names = append(names, n)
			}
		}
		for _, dt := range types.DTypes() {
			names = append(names, dt.String())
		}
		if alt, ok := foreignTypes[first.Text()]; ok {
			d.FixBy("Kera's name is", first.Span(), alt)
			return nil
		}
		suggest(d, first.Text(), names)
		return nil
	}
	m, ok := b.mod.modules[first.Text()]
	if !ok || len(segs) > 2 {
		b.c.errorf(diag.UnknownName, first.Span(), "`%s` is not a module used here", first.Text()).
			Notef("write `use` at the top of the file")
		return nil
	}
	return b.c.member(m, segs[1].Text(), segs[1].Span())
}

var foreignTypes = map[string]string{
	"int": "i64", "float": "f64", "double": "f64", "usize": "i64", "isize": "i64", "uint": "u64", "boolean": "bool",
	"Int": "i64", "Float": "f64", "Bool": "bool", "byte": "u8", "i128": "i64", "u128": "u64",
}

func (b *body) tensorType(d types.DType, t syntax.PathType) *Type {
	out := scalar(d)
	if !t.HasArgs() {
		return out
	}
	ok := true
	for _, a := range t.Args() {
		n, good := b.dimArg(a)
		ok = ok && good
		out.Dims = append(out.Dims, n)
	}
	if len(out.Dims) == 0 {
		b.c.errorf(diag.BadTypeArgs, t.Span(), "a tensor type has at least one dimension").
			FixBy("a scalar is written", t.Span(), d.String())
		return badType
	}
	if len(out.Dims) > types.MaxRank {
		b.c.errorf(diag.BadTypeArgs, t.Span(), "a tensor has at most %d axes, this type has %d", types.MaxRank, len(out.Dims))
		return badType
	}
	if !ok {
		return badType
	}
	return out
}

func (b *body) dimArg(a syntax.Arg) (Dim, bool) {
	if a.Name() != nil {
		b.c.errorf(diag.BadTypeArgs, a.Span(), "dimensions are given by position")
		return Dim{over: true}, false
	}
	switch a.Value().(type) {
	case syntax.NewAxis, syntax.RangeExpr:
		b.c.errorf(diag.BadTypeArgs, a.Span(), "`%s` is not a dimension", a.Text())
		return Dim{over: true}, false
	}
	d, ok := b.dim(a.Value())
	if v, isNum := d.Const(); ok && isNum && v < 0 {
		b.c.errorf(diag.BadTypeArgs, a.Span(), "a dimension is not negative, this one is %d", v)
		return Dim{over: true}, false
	}
	return d, ok
}

func (b *body) dimArgs(t syntax.PathType, name string, want int) ([]Dim, bool) {
	args := t.Args()
	if len(args) != want {
		b.c.errorf(diag.BadTypeArgs, t.Span(), "`%s` takes %s, %d given", name, count(want, "dimension"), len(args))
		return nil, false
	}
	ok := true
	var out []Dim
	for _, a := range args {
		d, good := b.dimArg(a)
		ok = ok && good
		out = append(out, d)
	}
	return out, ok
}
