package check

import (
	"math/rand/v2"
	"testing"
)

func vars() (n, m, k *Atom) {
	return &Atom{Name: "n", id: 1}, &Atom{Name: "m", id: 2}, &Atom{Name: "k", id: 3}
}

func TestDimStrings(t *testing.T) {
	an, am, ak := vars()
	n, m, k := AtomDim(an), AtomDim(am), AtomDim(ak)
	for _, c := range []struct {
		d    Dim
		want string
	}{
		{Num(0), "0"},
		{Num(-3), "-3"},
		{n.Sub(m).Add(Num(1)), "n - m + 1"},
		{m.Mul(Num(-1)).Add(n), "n - m"},
		{n.Mul(m).Add(n.Mul(Num(2))).Sub(Num(4)), "n * m + 2 * n - 4"},
		{n.Add(Num(1)).Mul(n.Sub(Num(1))), "n * n - 1"},
		{n.Mul(Num(6)).Div(Num(3)), "2 * n"},
		{n.Mul(Num(6)).Rem(Num(3)), "0"},
		{n.Add(Num(1)).Div(Num(2)).Add(k), "(n + 1) / 2 + k"},
		{n.Div(m).Sub(n.Div(m)), "0"},
		{n.Rem(Num(4)), "n % 4"},
		{Num(7).Div(Num(-2)), "-3"},
		{Num(1).Div(Num(0)), "?"},
		{Num(1 << 62).Mul(Num(4)), "?"},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestDimEval: a polynomial has the value of the expression that made it, and
// polynomials of equal expressions are equal.
func TestDimEval(t *testing.T) {
	an, am, ak := vars()
	atoms := []*Atom{an, am, ak}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		env := map[*Atom]int64{an: r.Int64N(20), am: r.Int64N(20), ak: r.Int64N(20)}
		var gen func(depth int) (Dim, int64)
		gen = func(depth int) (Dim, int64) {
			if depth == 0 || r.IntN(4) == 0 {
				if r.IntN(2) == 0 {
					v := r.Int64N(9) - 4
					return Num(v), v
				}
				a := atoms[r.IntN(3)]
				return AtomDim(a), env[a]
			}
			x, vx := gen(depth - 1)
			y, vy := gen(depth - 1)
			switch r.IntN(5) {
			case 0:
				return x.Add(y), vx + vy
			case 1:
				return x.Sub(y), vx - vy
			case 2:
				return x.Mul(y), vx * vy
			case 3:
				if vy != 0 && y.Equal(y) {
					return x.Div(y), vx / vy
				}
			default:
				if vy != 0 && y.Equal(y) {
					return x.Rem(y), vx % vy
				}
			}
			return x, vx
		}
		d, want := gen(4)
		if d.over {
			continue
		}
		if got, ok := d.Eval(env); !ok || got != want {
			t.Fatalf("%s is %d with %v, want %d", d, got, env, want)
		}
		e := AtomDim(an).Add(d).Sub(AtomDim(an))
		if !e.Equal(d) || !d.Sub(e).Equal(Num(0)) {
			t.Fatalf("%s and %s differ", d, e)
		}
	}
}

func TestSolveFor(t *testing.T) {
	an, am, _ := vars()
	n, m := AtomDim(an), AtomDim(am)
	for _, c := range []struct {
		zero Dim
		want string // of n
	}{
		{n.Sub(Num(3)), "3"},
		{Num(3).Sub(n), "3"},
		{n.Mul(Num(2)).Sub(m.Mul(Num(4))), "2 * m"},
		{n.Mul(Num(2)).Sub(m), ""},
		{n.Mul(n).Sub(Num(4)), ""},
		{n.Mul(m).Sub(Num(4)), ""},
		{n.Add(n.Div(Num(2))), ""},
		{m, ""},
	} {
		v, ok := c.zero.solveFor(an)
		if ok != (c.want != "") || ok && v.String() != c.want {
			t.Errorf("%s = 0 gives n = %s, %v; want %s", c.zero, v, ok, c.want)
		}
	}
}
