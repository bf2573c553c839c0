package numeric

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/kera-lang/kera/core/types"
)

// exactly computes with every digit kept; round then rounds once.
const allDigits = 4600 // covers the binary64 range of a product plus a sum

func exact(x float64) *big.Float { return new(big.Float).SetPrec(allDigits).SetFloat64(x) }

// round gives the bits of the nearest value of the format to x, ties to even,
// by comparing x with the neighbours it lies between. zero is the sign used
// when x is exactly zero.
func round(d types.DType, x *big.Float, negZero bool) uint64 {
	w := uint(d.Bits())
	sign := uint64(0)
	if x.Signbit() || x.Sign() == 0 && negZero {
		sign = 1 << (w - 1)
	}
	if x.Sign() == 0 {
		return sign
	}
	a := new(big.Float).SetPrec(allDigits).Abs(x)
	inf := map[types.DType]uint64{types.F16: 0x7c00, types.BF16: 0x7f80, types.F32: 0x7f800000, types.F64: 0x7ff << 52}[d]
	// Greatest finite-or-zero pattern whose value is <= a; patterns are ordered.
	lo, hi := uint64(0), inf
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if exact(ToF64(d, mid)).Cmp(a) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	below := exact(ToF64(d, lo))
	var above *big.Float
	if hi == inf { // as if the exponent range went on: the next value up
		above = new(big.Float).SetPrec(allDigits).Sub(below, exact(ToF64(d, lo-1)))
		above.Add(above, below)
	} else {
		above = exact(ToF64(d, hi))
	}
	down := new(big.Float).SetPrec(allDigits).Sub(a, below)
	up := new(big.Float).SetPrec(allDigits).Sub(above, a)
	switch c := down.Cmp(up); {
	case c < 0 || c == 0 && lo&1 == 0:
		return sign | lo
	}
	return sign | hi
}

// interesting draws a float pattern rich in edges.
func interesting(r *rand.Rand, d types.DType) uint64 {
	w, mant := uint(d.Bits()), map[types.DType]uint{types.F16: 10, types.BF16: 7, types.F32: 23, types.F64: 52}[d]
	mask := ^uint64(0) >> (64 - w)
	b := r.Uint64() & mask
	switch r.IntN(8) {
	case 0: // few mantissa bits
		b &= ^uint64(0) << (mant - uint(r.IntN(4)))
	case 1: // mantissa all ones but few
		b |= (1<<mant - 1) &^ (1 << uint(r.IntN(int(mant))))
	case 2: // subnormal or tiny
		b &= 1<<(w-1) | 3<<mant - 1
	case 3: // exponent near one: products and sums interact
		e := uint64(1)<<(w-mant-2) - 1 + uint64(r.IntN(int(mant)*2)) - uint64(mant)
		b = b&(1<<(w-1)|1<<mant-1) | e<<mant
	case 4:
		b |= (1<<(w-1-mant) - 2) << mant & mask // huge
	}
	return b & mask
}

func finite(d types.DType, b uint64) bool {
	x := ToF64(d, b)
	return !math.IsNaN(x) && !math.IsInf(x, 0)
}

func TestArithmeticAgainstExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []types.DType{types.F32, types.F64} {
		n := 6000
		for range n {
			a, b := interesting(r, d), interesting(r, d)
			if !finite(d, a) || !finite(d, b) {
				continue
			}
			xa, xb := exact(ToF64(d, a)), exact(ToF64(d, b))
			na, nb := ToF64(d, a), ToF64(d, b)
			prod := math.Signbit(na) != math.Signbit(nb)
			check := func(name string, got, want uint64) {
				t.Helper()
				if got != want {
					t.Fatalf("%s %s(%x, %x) = %x, want %x", d, name, a, b, got, want)
				}
			}
			z := new(big.Float).SetPrec(allDigits)
			check("add", BinaryOf(Add, d)(a, b), round(d, z.Add(xa, xb), math.Signbit(na) && math.Signbit(nb)))
			check("sub", BinaryOf(Sub, d)(a, b), round(d, z.Sub(xa, xb), math.Signbit(na) && !math.Signbit(nb)))
			check("mul", BinaryOf(Mul, d)(a, b), round(d, z.Mul(xa, xb), prod))
			if nb != 0 {
				// A quotient is never within 2^-allDigits of a tie unless it is one.
				check("div", BinaryOf(Div, d)(a, b), round(d, z.Quo(xa, xb), prod))
				check("rem", BinaryOf(Rem, d)(a, b), exactRem(d, na, nb))
			}
		}
	}
}

// exactRem is fmod over the rationals.
func exactRem(d types.DType, a, b float64) uint64 {
	ra, rb := new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b)
	q := new(big.Rat).Quo(ra, rb)
	n := new(big.Int).Quo(q.Num(), q.Denom())
	ra.Sub(ra, new(big.Rat).Mul(rb, new(big.Rat).SetInt(n)))
	x, _ := ra.Float64()
	if x == 0 {
		x = math.Copysign(0, a)
	}
	if d == types.F32 {
		return b32(float32(x))
	}
	return b64(x)
}

// exactFMA is fma for finite operands.
func exactFMA(d types.DType, a, b, c uint64) uint64 {
	na, nb, nc := ToF64(d, a), ToF64(d, b), ToF64(d, c)
	neg := math.Signbit(na) != math.Signbit(nb) && math.Signbit(nc)
	z := exact(na)
	z.Mul(z, exact(nb))
	return round(d, z.Add(z, exact(nc)), neg)
}

func TestFMAAgainstExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range []types.DType{types.F32, types.F64} {
		f := TernaryOf(FMA, d)
		for range 6000 {
			a, b, c := interesting(r, d), interesting(r, d), interesting(r, d)
			if r.IntN(2) == 0 { // near cancellation: c close to -a*b
				c = BinaryOf(Mul, d)(a, b) ^ 1<<(uint(d.Bits())-1) ^ r.Uint64N(4)
			} else if d == types.F32 && r.IntN(2) == 0 {
				// The product is half an ulp of c, or a last bit more or less: the
				// float64 sum is half way, or was rounded to it.
				c = c&0x807fffff | uint64(60+r.IntN(180))<<23
				a = uint64(f32Exp(c)-24) << 23
				b = b&0x80000000 | 0x3f800000 + uint64(r.IntN(3)) - 1
				if r.IntN(2) == 0 { // the same with a subnormal result: 2^-150 (1 - j^2 2^-46)
					j := uint64(1 + r.IntN(3))
					a, b, c = 52<<23|j, b&0x80000000|51<<23|(1<<23-2*j), c&0x807fffff
				}
			}
			if !finite(d, a) || !finite(d, b) || !finite(d, c) {
				continue
			}
			if got, want := f(a, b, c), exactFMA(d, a, b, c); got != want {
				t.Fatalf("%s fma(%x, %x, %x) = %x, want %x", d, a, b, c, got, want)
			}
		}
	}
}

// f32Exp is the exponent field.
func f32Exp(b uint64) uint64 { return b >> 23 & 0xff }

func FuzzFMA32(f *testing.F) {
	f.Add(uint32(0xea968000), uint32(0x38e3ad00), uint32(0x8b6d2a5a))
	f.Add(uint32(0xc445c000), uint32(0x3a01f1c2), uint32(0x3ee66029))
	f.Fuzz(func(t *testing.T, a, b, c uint32) {
		fuzzFMA(t, types.F32, uint64(a), uint64(b), uint64(c))
	})
}

func FuzzFMA64(f *testing.F) {
	f.Add(uint64(0x4024000000000000), uint64(0x3fb999999999999a), uint64(0xbff0000000000000))
	f.Fuzz(func(t *testing.T, a, b, c uint64) { fuzzFMA(t, types.F64, a, b, c) })
}

func fuzzFMA(t *testing.T, d types.DType, a, b, c uint64) {
	if !finite(d, a) || !finite(d, b) || !finite(d, c) {
		return
	}
	if got, want := TernaryOf(FMA, d)(a, b, c), exactFMA(d, a, b, c); got != want {
		t.Fatalf("%s fma(%x, %x, %x) = %x, want %x", d, a, b, c, got, want)
	}
}

// TestConvertAgainstExact covers every pair of types.
func TestConvertAgainstExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, from := range types.DTypes() {
		for _, to := range types.DTypes() {
			f, ovf := ConvertOf(from, to), ConvertOvfOf(from, to)
			for i := range 400 {
				b := draw(r, from, to, i)
				want, wantOvf := exactConvert(from, to, b)
				if got := f(b); got != want {
					t.Fatalf("convert %s %x to %s = %x, want %x", from, b, to, got, want)
				}
				if got := ovf(b) == 1; got != wantOvf {
					t.Fatalf("convert_overflow %s %x to %s = %v, want %v", from, b, to, got, wantOvf)
				}
			}
		}
	}
}

// draw picks a source value, often near the borders of the target.
func draw(r *rand.Rand, from, to types.DType, i int) uint64 {
	mask := ^uint64(0) >> (64 - uint(from.Bits()))
	if from.IsFloating() {
		if i%2 == 0 && !to.IsFloating() {
			x := math.Ldexp(1, r.IntN(to.Bits()+2))
			x += float64(r.IntN(9)-4) / 4
			if r.IntN(2) == 0 {
				x = -x
			}
			return encFloat[from](x)
		}
		return interesting(r, from)
	}
	x := uint64(1)<<uint(r.IntN(64)) + uint64(r.IntN(5)) - 2
	if i%3 == 0 {
		x = r.Uint64() >> uint(r.IntN(64))
	}
	if i%2 == 0 {
		x = -x
	}
	return x & mask
}

// exactConvert converts through big integers and exact floats.
func exactConvert(from, to types.DType, b uint64) (uint64, bool) {
	if from.IsFloating() && !finite(from, b) {
		x := ToF64(from, b)
		switch {
		case to.IsFloating():
			return encFloat[to](x), false
		case x != x:
			return 0, true
		case to == types.Bool:
			return 1, true
		}
		lo, hi := bounds(to)
		if x > 0 {
			return encBig(to, hi), true
		}
		return encBig(to, lo), true
	}
	if to.IsFloating() {
		if from.IsFloating() {
			return round(to, exact(ToF64(from, b)), math.Signbit(ToF64(from, b))), false
		}
		return round(to, new(big.Float).SetPrec(allDigits).SetInt(decBig(from, b)), false), false
	}
	var n *big.Int
	if from.IsFloating() {
		n, _ = exact(ToF64(from, b)).Int(nil)
	} else {
		n = decBig(from, b)
	}
	lo, hi := bounds(to)
	over := n.Cmp(lo) < 0 || n.Cmp(hi) > 0
	switch {
	case to == types.Bool && from.IsFloating():
		return bit(ToF64(from, b) != 0), over
	case to == types.Bool:
		return bit(n.Sign() != 0), over
	case over && from.IsFloating() && n.Sign() < 0:
		n = lo
	case over && from.IsFloating():
		n = hi
	}
	return encBig(to, n), over
}

func bounds(d types.DType) (lo, hi *big.Int) {
	one := big.NewInt(1)
	w := uint(d.Bits())
	if d.IsSigned() {
		hi = new(big.Int).Lsh(one, w-1)
		return new(big.Int).Neg(hi), new(big.Int).Sub(hi, one)
	}
	return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, w), one)
}

func decBig(d types.DType, b uint64) *big.Int {
	if d.IsSigned() {
		return big.NewInt(signExtend(d, b))
	}
	return new(big.Int).SetUint64(b)
}

func encBig(d types.DType, n *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(d.Bits()))
	return new(big.Int).Mod(n, m).Uint64()
}
