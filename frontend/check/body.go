package check

import (
	"maps"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// body checks expressions in one place: a function, a constant, a test or a
// signature (which has no variables).
type body struct {
	c     *checker
	mod   *Module
	fn    *Func // nil outside of functions
	owner any   // the *Func or *Const whose value is checked, or nil
	dims  map[string]*Atom
	scope map[string]*Local
	par   int // how many parallel bodies are around
	depth int
}

// maxDepth bounds the recursion over a tree; the parser's own bounds are below.
const maxDepth = 4096

func (c *checker) bodyOf(m *Module, fn *Func, dims map[string]*Atom) *body {
	return &body{c: c, mod: m, fn: fn, dims: dims, scope: map[string]*Local{}}
}

// inner runs do in a scope of its own.
func (b *body) inner(do func()) {
	saved := maps.Clone(b.scope)
	do()
	b.scope = saved
}

func (b *body) bad(at diag.Span) Expr { return &BadExpr{Node{badType, at}} }

// declare makes a variable visible from here on.
func (b *body) declare(name *syntax.Token, t *Type, mut bool) *Local {
	l := &Local{Name: name.Text(), Type: t, Mut: mut, At: name.Span(), par: b.par}
	if t.IsScalar(types.I64) {
		l.atom = b.c.newAtom(l.Name, atomLocal)
		l.atom.mut = mut
	}
	b.scope[l.Name] = l
	return l
}

// normal rewrites d by the equalities of `where`.
func (b *body) normal(d Dim) Dim {
	if b.fn == nil || len(b.fn.facts) == 0 {
		return d
	}
	return d.Subst(b.fn.facts)
}

func (b *body) sameDim(x, y Dim) bool {
	if x.over || y.over {
		return true // reported where it arose
	}
	return b.normal(x).Equal(b.normal(y))
}

func (b *body) sameDims(x, y []Dim) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !b.sameDim(x[i], y[i]) {
			return false
		}
	}
	return true
}

// same reports whether two types are equal; the error type equals all.
func (b *body) same(x, y *Type) bool {
	if x.IsBad() || y.IsBad() {
		return true
	}
	if x.Kind != y.Kind || x.DType != y.DType || x.Struct != y.Struct || len(x.Elems) != len(y.Elems) {
		return false
	}
	for i := range x.Elems {
		if !b.same(x.Elems[i], y.Elems[i]) {
			return false
		}
	}
	return b.sameDims(x.Dims, y.Dims) && b.sameDims(x.Args, y.Args)
}

// check is expr for a place that takes exactly want.
func (b *body) check(e syntax.Expr, want *Type) Expr {
	x := b.expr(e, want)
	if b.same(x.Type(), want) {
		return x
	}
	b.mismatch(x, want)
	return b.bad(x.Span())
}

// mismatch reports that x is not of type want.
func (b *body) mismatch(x Expr, want *Type) {
	t := x.Type()
	found, expected := t.String(), want.String()
	if found == expected {
		found, expected = qualified(t), qualified(want)
	}
	at := x.Span()
	if blk, ok := x.(*Block); ok {
		if blk.Tail != nil {
			at = blk.Tail.Span()
		} else {
			at = diag.Span{File: at.File, Start: max(at.Start, at.End-1), End: at.End}
		}
	}
	d := b.c.errorf(diag.Mismatch, at, "expected %s, found %s", expected, found)
	switch {
	case want.IsTensor() && t.IsTensor() && want.DType != t.DType && want.Rank() == t.Rank():
		if want.DType != types.Bool {
			d.Notef("nothing is converted by itself: write %s(...)", want.DType)
		}
	case want.IsTensor() && t.IsTensor() && want.Rank() == t.Rank():
		for i := range want.Dims {
			if !b.sameDim(want.Dims[i], t.Dims[i]) {
				d.Notef("axis %d is %s and should be %s", i, t.Dims[i], want.Dims[i])
			}
		}
	case t.IsUnit():
		d.Notef("a block's value is its last expression")
	}
}

func qualified(t *Type) string {
	if t.Kind == StructKind {
		return t.Struct.Module.Name + "." + t.String()
	}
	if t.Kind == Tuple {
		s := "("
		for i, e := range t.Elems {
			if i > 0 {
				s += ", "
			}
			s += qualified(e)
		}
		return s + ")"
	}
	return t.String()
}

// constraint reads one expression of a `where`: comparisons joined by &&.
func (b *body) constraint(e syntax.Expr) {
	bin, ok := syntax.Unparen(e).(syntax.BinaryExpr)
	if ok && bin.Op().Kind() == syntax.TAmpAmp {
		b.constraint(bin.Left())
		b.constraint(bin.Right())
		return
	}
	if _, isBad := e.(syntax.BadExpr); isBad {
		return
	}
	row := binops[bin0(bin, ok)]
	if !ok || row.class != opCompare {
		b.c.errorf(diag.BadWhere, e.Span(), "a constraint compares two dimensions").Notef("write for example n >= 2 or n %% 4 == 0")
		return
	}
	l, lok := b.dim(bin.Left())
	r, rok := b.dim(bin.Right())
	if lok && rok {
		b.fn.Where = append(b.fn.Where, Constraint{row.op, l, r, e.Span()})
	}
}

func bin0(e syntax.BinaryExpr, ok bool) syntax.Kind {
	if !ok {
		return syntax.None
	}
	return e.Op().Kind()
}

// facts turns the equalities of `where` into replacements of parameters.
func (b *body) facts() {
	b.fn.facts = map[*Atom]Dim{}
	for _, w := range b.fn.Where {
		if w.Op != CmpEQ {
			continue
		}
		d := w.L.Sub(w.R).Subst(b.fn.facts)
		// The last declared parameter that can be solved for is replaced.
		for i := len(b.fn.Dims) - 1; i >= 0; i-- {
			a := b.fn.Dims[i]
			v, ok := d.solveFor(a)
			if !ok {
				continue
			}
			one := map[*Atom]Dim{a: v}
			for _, k := range b.fn.Dims {
				if f, has := b.fn.facts[k]; has {
					b.fn.facts[k] = f.Subst(one)
				}
			}
			b.fn.facts[a] = v
			break
		}
	}
}

// dim checks an expression that must be a dimension.
func (b *body) dim(e syntax.Expr) (Dim, bool) {
	x := b.check(e, scalar(types.I64))
	if x.Type().IsBad() {
		return Dim{over: true}, false
	}
	return b.staticDim(x)
}

// staticDim is the value of x as a dimension; reported if it is not one.
func (b *body) staticDim(x Expr) (Dim, bool) {
	d, ok := b.polyOf(x)
	if !ok || d.over {
		b.c.errorf(diag.NotADim, x.Span(), "this is not a dimension").
			Notef("a dimension is made of numbers, integer constants and dimension parameters with + - * / %%")
		return Dim{over: true}, false
	}
	for _, a := range d.Atoms(nil) { // as static, but naming the variable
		if a.kind == atomLocal {
			b.c.errorf(diag.NotADim, x.Span(), "the value of `%s` is only known when the program runs", a.Name).
				Notef("shapes are fixed when a program is built: use dimension parameters")
			return Dim{over: true}, false
		}
	}
	return d, true
}

// polyOf is x as a polynomial over parameters and variables.
func (b *body) polyOf(x Expr) (Dim, bool) {
	if !x.Type().IsScalar(types.I64) {
		return Dim{}, false
	}
	switch x := x.(type) {
	case *Lit:
		return Num(int64(x.Bits)), true
	case *DimVal:
		return x.Dim, true
	case *ConstRef:
		if it, ok := x.Const.Module.items[x.Const.Name].(*constItem); ok && it.ok {
			return it.num, true
		}
	case *LocalRef:
		switch {
		case x.Local.hasDim:
			return x.Local.dim, true
		case x.Local.atom != nil:
			return AtomDim(x.Local.atom), true
		}
	case *Block:
		if x.Tail != nil && len(x.Stmts) == 0 { // statements can trap and assign
			return b.polyOf(x.Tail)
		}
	case *Unary:
		if d, ok := b.polyOf(x.X); ok && x.Op == Neg {
			return Num(0).Sub(d), true
		}
	case *Binary:
		l, ok := b.polyOf(x.X)
		if !ok {
			return Dim{}, false
		}
		r, ok := b.polyOf(x.Y)
		if !ok {
			return Dim{}, false
		}
		switch x.Op {
		case Add:
			return l.Add(r), true
		case Sub:
			return l.Sub(r), true
		case Mul:
			return l.Mul(r), true
		case Div:
			return l.Div(r), true
		case Rem:
			return l.Rem(r), true
		}
	}
	return Dim{}, false
}

// known is the value of x if it is a dimension, else nil.
func (b *body) known(x Expr) *Dim {
	d, ok := b.polyOf(x)
	if !ok || !d.static() {
		return nil
	}
	return &d
}

// static reports a dimension without unknowns of the run.
func (d Dim) static() bool {
	for _, a := range d.Atoms(nil) {
		if a.kind == atomLocal {
			return false
		}
	}
	return !d.over
}

// changes reports a dimension that mentions a variable that may be assigned to.
func (d Dim) changes() bool {
	for _, a := range d.Atoms(nil) {
		if a.mut {
			return true
		}
	}
	return false
}
