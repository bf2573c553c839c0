package check

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// flexible reports an expression whose element type comes from its context
// alone: made of literals without suffixes. The answers are kept, so that a
// long chain of operators is looked at once, not once per operator.
func (b *body) flexible(e syntax.Expr) bool { return b.c.nature(e).flexible }

// hasFloat reports whether a flexible expression holds a float literal.
func (b *body) hasFloat(e syntax.Expr) bool { return b.c.nature(e).float }

type nature struct{ flexible, float bool }

// and combines parts that all have to be flexible.
func (n nature) and(m nature) nature { return nature{n.flexible && m.flexible, n.float || m.float} }

func (c *checker) nature(e syntax.Expr) nature {
	e = syntax.Unparen(e)
	if n, ok := c.natures[e.Syntax()]; ok {
		return n
	}
	n := c.natureOf(e)
	c.natures[e.Syntax()] = n
	return n
}

func (c *checker) natureOf(e syntax.Expr) nature {
	switch e := e.(type) {
	case syntax.LiteralExpr:
		if k := e.Token().Kind(); k != syntax.TInt && k != syntax.TFloat {
			return nature{}
		}
		n, ok := syntax.ParseNumber(e.Token().Text())
		return nature{ok && n.Suffix == "", ok && n.IsFloat}
	case syntax.UnaryExpr:
		n := c.nature(e.Operand())
		n.flexible = n.flexible && e.Op().Kind() == syntax.TMinus
		return n
	case syntax.BinaryExpr:
		n := c.nature(e.Left()).and(c.nature(e.Right()))
		row, ok := binops[e.Op().Kind()]
		n.flexible = n.flexible && ok && row.class != opCompare && row.class != opLogic
		return n
	case syntax.ArrayExpr:
		n := nature{flexible: true}
		for _, x := range e.Elems() {
			n = n.and(c.nature(x))
		}
		return n
	case syntax.Block:
		if e.Tail() != nil {
			return c.nature(e.Tail())
		}
	case syntax.IfExpr:
		if e.Else() != nil {
			return c.nature(e.Then()).and(c.nature(e.Else()))
		}
	}
	return nature{}
}

// literal gives a number the type its context wants, else i64 or f64.
func (b *body) literal(e syntax.LiteralExpr, want *Type) Expr {
	tok := e.Token()
	switch tok.Kind() {
	case syntax.TKwTrue, syntax.TKwFalse:
		return boolLit(e.Span(), tok.Kind() == syntax.TKwTrue)
	case syntax.TString:
		b.c.errorf(diag.NotAValue, e.Span(), "a string is not a value").Notef("strings stand in `embed`, `assert` and `test`")
		return b.bad(e.Span())
	case syntax.None:
		return b.bad(e.Span())
	}
	n, ok := syntax.ParseNumber(tok.Text())
	if !ok {
		return b.bad(e.Span())
	}
	d := types.I64
	if n.IsFloat {
		d = types.F64
	}
	if n.Suffix != "" {
		d, _ = types.ParseDType(n.Suffix)
	} else if want != nil && want.IsTensor() && (want.DType.IsFloating() || want.DType.IsInt() && !n.IsFloat) {
		d = want.DType
	}
	bits, problem := literalBits(n.Digits, e.IsNegative(), d)
	if problem != "" {
		diagnostic := b.c.errorf(diag.LiteralRange, e.Span(), "%s is not %s: %s", e.Text(), article(d), problem)
		if d.IsInt() {
			diagnostic.Notef("%s holds %s", d, rangeText(d))
		}
		return b.bad(e.Span())
	}
	return &Lit{Node{scalar(d), e.Span()}, bits}
}

func article(d types.DType) string {
	switch d {
	case types.I8, types.I16, types.I32, types.I64, types.F16, types.F32, types.F64:
		if d == types.I8 || d.IsFloating() || d.IsInt() {
			return "an " + d.String()
		}
	}
	return "a " + d.String()
}

// literalBits encodes a number of type d, or says why it cannot.
func literalBits(digits string, neg bool, d types.DType) (bits uint64, problem string) {
	if d.IsInt() {
		v, ok := new(big.Int).SetString(digits, 0)
		if !ok {
			return 0, "it is not an integer"
		}
		if neg {
			v.Neg(v)
		}
		lo, hi := intRange(d)
		if v.Cmp(lo) < 0 || v.Cmp(hi) > 0 {
			return 0, "it is out of range"
		}
		if v.Sign() < 0 {
			return uint64(v.Int64()) & (1<<d.Bits() - 1), ""
		}
		return v.Uint64(), ""
	}
	v, ok := bigFloat(digits)
	if !ok {
		return 0, "it is out of range"
	}
	if neg {
		v.Neg(v)
	}
	switch d {
	case types.F64:
		f, _ := v.Float64()
		bits = math.Float64bits(f)
	case types.F32:
		f, _ := v.Float32()
		bits = uint64(math.Float32bits(f))
	default:
		// Round to odd at f64's precision, then once to nearest: no double rounding.
		f := roundOdd(v)
		if d == types.F16 {
			bits = uint64(numeric.NarrowF16(f))
		} else {
			bits = uint64(numeric.NarrowBF16(f))
		}
	}
	if isInf(bits, d) {
		return 0, "it would round to infinity"
	}
	return bits, ""
}

var infBits = map[types.DType]uint64{types.F16: 0x7c00, types.BF16: 0x7f80, types.F32: 0x7f800000, types.F64: 0x7ff0000000000000}

func isInf(bits uint64, d types.DType) bool {
	return bits&(1<<(d.Bits()-1)-1) == infBits[d]
}

// bigFloat reads a number exactly enough for every format: the value rounded to
// 4096 bits lies on the same side of every rounding boundary as the number
// unless it has more digits than any boundary (at most about 770).
func bigFloat(digits string) (*big.Float, bool) {
	if len(digits) > 2000 {
		return nil, false
	}
	if f, err := strconv.ParseFloat(digits, 64); err == nil && f == 0 {
		// Exponents beyond all formats: 0 or, as an error, infinity.
		return new(big.Float).SetPrec(4096), true
	} else if err != nil && math.IsInf(f, 0) {
		return nil, false
	}
	v, _, err := big.ParseFloat(digits, 0, 4096, big.ToNearestEven)
	return v, err == nil && !v.IsInf()
}

func roundOdd(v *big.Float) float64 {
	f, acc := v.Float64()
	if acc == big.Exact || math.IsInf(f, 0) {
		return f
	}
	b := math.Float64bits(f)
	if b&1 == 0 { // step towards the exact value, onto the odd neighbour
		away := (acc == big.Below) == (f >= 0 && !math.Signbit(f))
		if away {
			b++
		} else if b&^(1<<63) != 0 {
			b--
		}
	}
	return math.Float64frombits(b)
}

func intRange(d types.DType) (lo, hi *big.Int) {
	one := big.NewInt(1)
	if d.IsSigned() {
		hi = new(big.Int).Lsh(one, uint(d.Bits()-1))
		lo = new(big.Int).Neg(hi)
		return lo, hi.Sub(hi, one)
	}
	hi = new(big.Int).Lsh(one, uint(d.Bits()))
	return new(big.Int), hi.Sub(hi, one)
}

func rangeText(d types.DType) string {
	lo, hi := intRange(d)
	return lo.String() + " to " + hi.String()
}
