package loop

import "slices"

// Affine is C plus a sum of Coef times the i64 value Val. Terms ascend by
// value, each value once, no coefficient 0.
type Affine struct {
	C     int64
	Terms []Term
}

// Term is one summand of an Affine.
type Term struct {
	Val  Value
	Coef int64
}

// Fixed is a constant.
func Fixed(c int64) Affine { return Affine{C: c} }

// Of is the value v itself.
func Of(v Value) Affine { return Affine{Terms: []Term{{v, 1}}} }

// IsConst reports whether a has no terms.
func (a Affine) IsConst() bool { return len(a.Terms) == 0 }

// Coef returns the coefficient of v.
func (a Affine) Coef(v Value) int64 {
	for _, t := range a.Terms {
		if t.Val == v {
			return t.Coef
		}
	}
	return 0
}

// Add returns a + b.
func (a Affine) Add(b Affine) Affine {
	out := Affine{C: a.C + b.C, Terms: make([]Term, 0, len(a.Terms)+len(b.Terms))}
	i, j := 0, 0
	for i < len(a.Terms) || j < len(b.Terms) {
		var t Term
		switch {
		case j == len(b.Terms) || i < len(a.Terms) && a.Terms[i].Val < b.Terms[j].Val:
			t = a.Terms[i]
			i++
		case i == len(a.Terms) || b.Terms[j].Val < a.Terms[i].Val:
			t = b.Terms[j]
			j++
		default:
			t = Term{a.Terms[i].Val, a.Terms[i].Coef + b.Terms[j].Coef}
			i, j = i+1, j+1
		}
		if t.Coef != 0 {
			out.Terms = append(out.Terms, t)
		}
	}
	return out
}

// Plus returns a + c.
func (a Affine) Plus(c int64) Affine { a.C += c; return a }

// Scale returns a * k.
func (a Affine) Scale(k int64) Affine {
	if k == 0 {
		return Affine{}
	}
	out := Affine{C: a.C * k, Terms: slices.Clone(a.Terms)}
	for i := range out.Terms {
		out.Terms[i].Coef *= k
	}
	return out
}

// Subst returns a with v replaced by b.
func (a Affine) Subst(v Value, b Affine) Affine {
	k := a.Coef(v)
	if k == 0 {
		return a
	}
	rest := Affine{C: a.C}
	for _, t := range a.Terms {
		if t.Val != v {
			rest.Terms = append(rest.Terms, t)
		}
	}
	return rest.Add(b.Scale(k))
}

// Equal reports whether a and b are the same expression.
func (a Affine) Equal(b Affine) bool { return a.C == b.C && slices.Equal(a.Terms, b.Terms) }
