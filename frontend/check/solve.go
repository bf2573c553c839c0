package check

import (
	"github.com/kera-lang/kera/core/diag"
)

// solver finds the dimension parameters of a function or struct from the types
// of the arguments: each parameter type's dimension is an equation. An equation
// with one unknown that occurs linearly gives it; what cannot be solved yet
// waits until the others have been; at the end every equation must hold.
type solver struct {
	b      *body
	params []*Atom
	m      map[*Atom]Dim
	wait   []equation
}

type equation struct {
	param, arg Dim
	axis       int
	at         diag.Span
}

func (b *body) newSolver(params []*Atom) *solver {
	return &solver{b: b, params: params, m: map[*Atom]Dim{}}
}

// unify matches an argument's type with a parameter's; false if they differ in
// more than dimensions.
func (s *solver) unify(param, arg *Type, at diag.Span) bool {
	if param.IsBad() || arg.IsBad() {
		return true
	}
	if param.Kind != arg.Kind || param.DType != arg.DType || param.Struct != arg.Struct ||
		len(param.Dims) != len(arg.Dims) || len(param.Elems) != len(arg.Elems) || len(param.Args) != len(arg.Args) {
		return false
	}
	for i := range param.Dims {
		s.wait = append(s.wait, equation{param.Dims[i], arg.Dims[i], i, at})
	}
	for i := range param.Args {
		s.wait = append(s.wait, equation{param.Args[i], arg.Args[i], -1, at})
	}
	for i := range param.Elems {
		if !s.unify(param.Elems[i], arg.Elems[i], at) {
			return false
		}
	}
	return true
}

// open reports whether d mentions a parameter that has no value yet.
func (s *solver) open(d Dim) bool {
	for _, a := range d.Atoms(nil) {
		for _, p := range s.params {
			if _, solved := s.m[p]; p == a && !solved {
				return true
			}
		}
	}
	return false
}

// solve works off the equations that have one unknown.
func (s *solver) solve() {
	for progress := true; progress; {
		progress = false
		for i, e := range s.wait {
			if e.arg.over || !s.open(e.param) {
				continue
			}
			d := e.param.Subst(s.m).Sub(e.arg)
			for _, p := range s.params {
				if _, solved := s.m[p]; solved {
					continue
				}
				v, ok := d.solveFor(p)
				if ok && !s.open(v) {
					s.m[p] = v
					s.wait = append(s.wait[:i:i], s.wait[i+1:]...)
					progress = true
					break
				}
			}
			if progress {
				break
			}
		}
	}
}

// hint is a parameter's type as far as it is known: open dimensions are unknown.
func (s *solver) hint(t *Type) *Type {
	m := make(map[*Atom]Dim, len(s.params))
	for _, p := range s.params {
		m[p] = Dim{over: true}
	}
	for p, d := range s.m {
		m[p] = d
	}
	return t.subst(m)
}

// fromResult solves what the arguments left open from the type the context
// wants. A hint binds nothing: equations it does not help with are dropped.
func (s *solver) fromResult(result, want *Type) {
	s.solve()
	if len(s.m) == len(s.params) || want.IsBad() {
		return
	}
	own := s.wait
	s.wait = nil
	if s.unify(result, want, diag.Span{}) {
		s.solve()
	}
	s.wait = own
}

// finish solves the rest and checks every equation; what is the name of what is
// being applied.
func (s *solver) finish(what string, at diag.Span, def diag.Span) bool {
	s.solve()
	for _, p := range s.params {
		if _, ok := s.m[p]; ok {
			continue
		}
		for _, e := range s.wait {
			if e.arg.over {
				return false // reported where the dimension arose
			}
		}
		s.b.c.errorf(diag.CannotInfer, at, "the dimension `%s` of `%s` does not follow from the arguments", p.Name, what).
			Related(def, "declared here").Notef("give the dimensions in brackets: %s[...]", what)
		return false
	}
	for _, e := range s.wait {
		got := e.param.Subst(s.m)
		if s.b.sameDim(got, e.arg) {
			continue
		}
		d := s.b.c.errorf(diag.ShapeMismatch, e.at, "")
		if e.axis >= 0 {
			d.Message = "axis " + itoa(e.axis) + " is " + e.arg.String() + ", expected " + got.String()
		} else {
			d.Message = "the struct's dimension is " + e.arg.String() + ", expected " + got.String()
		}
		if e.param.String() != got.String() {
			d.Notef("`%s` declares it as %s", what, e.param)
		}
		for _, a := range e.param.Atoms(nil) {
			if v, ok := s.m[a]; ok {
				d.Notef("%s is %s", a.Name, v)
			}
		}
		d.Related(def, "declared here")
		return false
	}
	return true
}

func (s *solver) dims() []Dim {
	out := make([]Dim, len(s.params))
	for i, p := range s.params {
		out[i] = s.m[p]
	}
	return out
}
