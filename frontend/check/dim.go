package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// atomKind says what an unknown of a dimension stands for.
type atomKind uint8

const (
	atomParam atomKind = iota // a generic parameter
	atomLocal                 // an i64 variable: never part of a type
	atomQuot
	atomRem
)

// Atom is an unknown of a dimension.
type Atom struct {
	Name string
	kind atomKind
	id   int  // declaration order, within one checker
	mut  bool // a variable that changes: equal to itself only within one expression
	a, b Dim  // of quotients and remainders
}

// term is coef times the product of vars, which ascend by atom order.
type term struct {
	coef int64
	vars []*Atom
}

// Dim is a dimension: a polynomial with integer coefficients in normal form.
// The zero Dim is the number 0.
type Dim struct {
	terms []term
	over  bool // arithmetic left int64, or the polynomial grew too large
}

// maxTerms bounds polynomials, so that no source text can blow them up.
const maxTerms = 64

// Num is the dimension n.
func Num(n int64) Dim {
	if n == 0 {
		return Dim{}
	}
	return Dim{terms: []term{{coef: n}}}
}

// AtomDim is the dimension that is just the atom.
func AtomDim(a *Atom) Dim { return Dim{terms: []term{{coef: 1, vars: []*Atom{a}}}} }

// Const returns the number d is, if it is one.
func (d Dim) Const() (int64, bool) {
	switch {
	case d.over:
		return 0, false
	case len(d.terms) == 0:
		return 0, true
	case len(d.terms) == 1 && len(d.terms[0].vars) == 0:
		return d.terms[0].coef, true
	}
	return 0, false
}

// key orders monomials: by order of declaration, quotients by their content.
func (a *Atom) key() string {
	switch a.kind {
	case atomQuot:
		return "(" + a.a.key() + ")/(" + a.b.key() + ")"
	case atomRem:
		return "(" + a.a.key() + ")%(" + a.b.key() + ")"
	}
	return fmt.Sprintf("%06d", a.id)
}

func sameAtom(x, y *Atom) bool {
	if x == y {
		return true
	}
	return x.kind == y.kind && (x.kind == atomQuot || x.kind == atomRem) && x.a.Equal(y.a) && x.b.Equal(y.b)
}

func sameVars(x, y []*Atom) bool {
	return slices.EqualFunc(x, y, sameAtom)
}

func varsKey(vs []*Atom) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = v.key()
	}
	return strings.Join(parts, "*")
}

func (d Dim) key() string {
	parts := make([]string, len(d.terms))
	for i, t := range d.terms {
		parts[i] = fmt.Sprint(t.coef, "*", varsKey(t.vars))
	}
	return strings.Join(parts, "+")
}

// compareTerms puts higher degrees first, then orders by name; numbers are last.
func compareTerms(x, y term) int {
	if len(x.vars) != len(y.vars) {
		return len(y.vars) - len(x.vars)
	}
	return strings.Compare(varsKey(x.vars), varsKey(y.vars))
}

func addInt(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func mulInt(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p := a * b
	return p, p/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

func normal(ts []term) Dim {
	slices.SortStableFunc(ts, compareTerms)
	var out []term
	for _, t := range ts {
		if n := len(out); n > 0 && sameVars(out[n-1].vars, t.vars) {
			s, ok := addInt(out[n-1].coef, t.coef)
			if !ok {
				return Dim{over: true}
			}
			out[n-1].coef = s
			continue
		}
		out = append(out, t)
	}
	out = slices.DeleteFunc(out, func(t term) bool { return t.coef == 0 })
	if len(out) > maxTerms {
		return Dim{over: true}
	}
	return Dim{terms: out}
}

// Add is d + e.
func (d Dim) Add(e Dim) Dim {
	if d.over || e.over {
		return Dim{over: true}
	}
	return normal(append(slices.Clone(d.terms), e.terms...))
}

// Sub is d - e.
func (d Dim) Sub(e Dim) Dim { return d.Add(e.Mul(Num(-1))) }

// Mul is d * e.
func (d Dim) Mul(e Dim) Dim {
	if d.over || e.over || len(d.terms)*len(e.terms) > maxTerms*maxTerms {
		return Dim{over: true}
	}
	var ts []term
	for _, x := range d.terms {
		for _, y := range e.terms {
			c, ok := mulInt(x.coef, y.coef)
			vars := append(slices.Clone(x.vars), y.vars...)
			if !ok || len(vars) > 16 {
				return Dim{over: true}
			}
			slices.SortStableFunc(vars, func(a, b *Atom) int { return strings.Compare(a.key(), b.key()) })
			ts = append(ts, term{c, vars})
		}
	}
	return normal(ts)
}

// Div is the quotient truncated towards zero; division by 0 gives a dimension
// that has no value.
func (d Dim) Div(e Dim) Dim { return quotient(atomQuot, d, e) }

// Rem is the remainder with the sign of d.
func (d Dim) Rem(e Dim) Dim { return quotient(atomRem, d, e) }

func quotient(kind atomKind, d, e Dim) Dim {
	if d.over || e.over {
		return Dim{over: true}
	}
	n, isNum := e.Const()
	if isNum && n == 0 {
		return Dim{over: true}
	}
	if isNum {
		if v, ok := d.Const(); ok {
			if v == math.MinInt64 && n == -1 {
				return Dim{over: true}
			}
			if kind == atomRem {
				return Num(v % n)
			}
			return Num(v / n)
		}
		if q, ok := d.divExact(n); ok {
			if kind == atomRem {
				return Num(0)
			}
			return q
		}
	}
	if len(d.key())+len(e.key()) > 400 {
		return Dim{over: true}
	}
	return AtomDim(&Atom{Name: "", kind: kind, a: d, b: e})
}

// divExact divides every coefficient by n, if all of them are multiples.
func (d Dim) divExact(n int64) (Dim, bool) {
	if n == 0 || n == math.MinInt64 {
		return Dim{}, false
	}
	out := slices.Clone(d.terms)
	for i := range out {
		if out[i].coef == math.MinInt64 || out[i].coef%n != 0 {
			return Dim{}, false
		}
		out[i].coef /= n
	}
	return Dim{terms: out}, true
}

// Equal reports whether d and e are the same polynomial.
func (d Dim) Equal(e Dim) bool {
	if d.over || e.over || len(d.terms) != len(e.terms) {
		return false
	}
	for i := range d.terms {
		if d.terms[i].coef != e.terms[i].coef || !sameVars(d.terms[i].vars, e.terms[i].vars) {
			return false
		}
	}
	return true
}

// Subst replaces parameters. Atoms that are not in m stay.
func (d Dim) Subst(m map[*Atom]Dim) Dim {
	if d.over || len(m) == 0 {
		return d
	}
	sum := Dim{}
	for _, t := range d.terms {
		p := Num(t.coef)
		for _, v := range t.vars {
			p = p.Mul(v.subst(m))
		}
		sum = sum.Add(p)
	}
	return sum
}

func (a *Atom) subst(m map[*Atom]Dim) Dim {
	if d, ok := m[a]; ok {
		return d
	}
	if a.kind == atomQuot || a.kind == atomRem {
		return quotient(a.kind, a.a.Subst(m), a.b.Subst(m))
	}
	return AtomDim(a)
}

// Eval gives the value of d for given parameters; ok is false if it has none.
func (d Dim) Eval(env map[*Atom]int64) (v int64, ok bool) {
	m := make(map[*Atom]Dim, len(env))
	for a, n := range env {
		m[a] = Num(n)
	}
	return d.Subst(m).Const()
}

// Atoms appends the atoms that d mentions, quotients opened.
func (d Dim) Atoms(dst []*Atom) []*Atom {
	for _, t := range d.terms {
		for _, v := range t.vars {
			if v.kind == atomQuot || v.kind == atomRem {
				dst = v.b.Atoms(v.a.Atoms(dst))
			} else if !slices.Contains(dst, v) {
				dst = append(dst, v)
			}
		}
	}
	return dst
}

// solveFor solves d == 0 for atom a, which must occur once, alone and linearly.
func (d Dim) solveFor(a *Atom) (Dim, bool) {
	if d.over {
		return Dim{}, false
	}
	var coef int64
	var rest []term
	for _, t := range d.terms {
		if len(t.vars) == 1 && t.vars[0] == a {
			coef = t.coef
			continue
		}
		if slices.Contains((Dim{terms: []term{t}}).Atoms(nil), a) {
			return Dim{}, false
		}
		rest = append(rest, t)
	}
	if coef == 0 || coef == math.MinInt64 {
		return Dim{}, false
	}
	return Dim{terms: rest}.divExact(-coef)
}

// String is the source form.
func (d Dim) String() string {
	if d.over {
		return "?"
	}
	if len(d.terms) == 0 {
		return "0"
	}
	var b strings.Builder
	ts := slices.Clone(d.terms)
	slices.SortStableFunc(ts, func(x, y term) int { // n - t + 1, not -t + n + 1
		return cmp.Compare(len(y.vars), len(x.vars))*2 + cmp.Compare(btoi(x.coef < 0), btoi(y.coef < 0))
	})
	for i, t := range ts {
		c := t.coef
		switch {
		case i > 0 && c < 0:
			b.WriteString(" - ")
			c = -c
		case i > 0:
			b.WriteString(" + ")
		case c < 0 && len(t.vars) > 0:
			b.WriteString("-")
			c = -c
		}
		var fs []string
		if c != 1 || len(t.vars) == 0 {
			fs = append(fs, fmt.Sprint(c))
		}
		for _, v := range t.vars {
			fs = append(fs, v.String())
		}
		b.WriteString(strings.Join(fs, " * "))
	}
	return b.String()
}

func (a *Atom) String() string {
	switch a.kind {
	case atomQuot:
		return a.a.operand() + " / " + a.b.operand()
	case atomRem:
		return a.a.operand() + " % " + a.b.operand()
	}
	return a.Name
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (d Dim) operand() string {
	if len(d.terms) > 1 {
		return "(" + d.String() + ")"
	}
	return d.String()
}
