package numeric

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/kera-lang/kera/core/types"
)

// exactInt computes an integer operation over big integers.
func exactInt(op Op, d types.DType, a, b uint64) uint64 {
	x, y := decBig(d, a), decBig(d, b)
	z := new(big.Int)
	w := uint(d.Bits())
	wrapped := func(z *big.Int) uint64 { return encBig(d, z) }
	over := func(z *big.Int) uint64 {
		lo, hi := bounds(d)
		return bit(z.Cmp(lo) < 0 || z.Cmp(hi) > 0)
	}
	n := uint(b & uint64(w-1))
	switch op {
	case Add:
		return wrapped(z.Add(x, y))
	case Sub:
		return wrapped(z.Sub(x, y))
	case Mul:
		return wrapped(z.Mul(x, y))
	case Div:
		if y.Sign() == 0 {
			return ^uint64(0) >> (64 - w)
		}
		return wrapped(z.Quo(x, y))
	case Rem:
		if y.Sign() == 0 {
			return a
		}
		return wrapped(z.Rem(x, y))
	case Min:
		if x.Cmp(y) <= 0 {
			return a
		}
		return b
	case Max:
		if x.Cmp(y) >= 0 {
			return a
		}
		return b
	case And:
		return a & b
	case Or:
		return a | b
	case Xor:
		return a ^ b
	case Shl:
		return wrapped(z.Lsh(x, n))
	case Shr:
		return wrapped(z.Rsh(x, n)) // floors: arithmetic
	case AddOvf:
		return over(z.Add(x, y))
	case SubOvf:
		return over(z.Sub(x, y))
	case MulOvf:
		return over(z.Mul(x, y))
	case Neg:
		return wrapped(z.Neg(x))
	case Abs:
		return wrapped(z.Abs(x))
	case Not:
		return wrapped(z.Not(x))
	case Popcnt:
		return uint64(bits.OnesCount64(a))
	case Clz:
		return uint64(int(w) - bits.Len64(a))
	case Ctz:
		if a == 0 {
			return uint64(w)
		}
		return uint64(bits.TrailingZeros64(a))
	}
	panic("no oracle")
}

var (
	intBinary = []Op{Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr, AddOvf, SubOvf, MulOvf}
	intUnary  = []Op{Neg, Abs, Not, Popcnt, Clz, Ctz}
)

func checkInt(t *testing.T, d types.DType, a, b uint64) {
	t.Helper()
	for _, op := range intBinary {
		if got, want := BinaryOf(op, d)(a, b), exactInt(op, d, a, b); got != want {
			t.Fatalf("%s op %d (%x, %x) = %x, want %x", d, op, a, b, got, want)
		}
	}
	for _, op := range intUnary {
		if got, want := UnaryOf(op, d)(a), exactInt(op, d, a, 0); got != want {
			t.Fatalf("%s op %d (%x) = %x, want %x", d, op, a, got, want)
		}
	}
}

func TestIntegersExhaustive8(t *testing.T) {
	for _, d := range []types.DType{types.I8, types.U8} {
		for a := range uint64(256) {
			for b := range uint64(256) {
				checkInt(t, d, a, b)
			}
		}
	}
}

func TestIntegersAgainstExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, d := range []types.DType{types.I16, types.I32, types.I64, types.U16, types.U32, types.U64} {
		for i := range 2000 {
			checkInt(t, d, draw(r, d, d, i), draw(r, d, d, i+r.IntN(2)))
		}
	}
}

func TestBool(t *testing.T) {
	for a := range uint64(2) {
		for b := range uint64(2) {
			for _, c := range []struct {
				op   Op
				want uint64
			}{{And, a & b}, {Or, a | b}, {Xor, a ^ b}, {Min, min(a, b)}, {Max, max(a, b)}} {
				if got := BinaryOf(c.op, types.Bool)(a, b); got != c.want {
					t.Errorf("bool op %d (%d, %d) = %d", c.op, a, b, got)
				}
			}
			if got := CompareOf(LT, false, types.Bool)(a, b); got != bit(a < b) {
				t.Errorf("bool %d < %d = %d", a, b, got)
			}
		}
		if got := UnaryOf(Not, types.Bool)(a); got != 1-a {
			t.Errorf("not %d = %d", a, got)
		}
	}
}
