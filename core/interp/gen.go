package interp

import (
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/types"
)

// The kinds of generated input, by case number modulo genKinds.
const (
	genOrdinary = iota // moderate values: what a program expects
	genMixed           // moderate values with edges among them
	genEdges           // edges only
	genRandom          // any bits
	genTiny            // subnormals, signed zeros; 0 and ones
	genHuge            // near the ends of the range
	genZero
	genKinds
)

// rng is splitmix64: small, seedable and the same in every Go release.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) below(n uint64) uint64 { return r.next() % n }

// Gen makes an input of type t for differential testing. The same arguments
// give the same bytes everywhere. Case 0 holds moderate values (floats of
// magnitude below 16, integers from -8 to 56, so that they make sense as
// indices too); the next cases bring in NaN, infinities, signed zeros,
// subnormals and extremes; after six cases the kinds repeat with other values.
func Gen(t types.Type, seed uint64, n int) Value {
	r := rng(seed*0x2545f4914f6cdd1d + uint64(n)*0x9e3779b97f4a7c15 + 1)
	r.next()
	return gen(&r, t, uint(n)%genKinds)
}

// GenAll makes one value per type, each from its own stream.
func GenAll(ts []types.Type, seed uint64, n int) []Value {
	out := make([]Value, len(ts))
	for i, t := range ts {
		out[i] = Gen(t, seed+uint64(i)<<32, n)
	}
	return out
}

func gen(r *rng, t types.Type, kind uint) Value {
	v := Value{Type: t}
	if t.Kind == types.KindTuple {
		for _, e := range t.Elems {
			v.Elems = append(v.Elems, gen(r, e, kind))
		}
		return v
	}
	size := t.DType.Size()
	v.Data = make([]byte, t.NumBytes())
	edges := Edges(t.DType)
	for i := range int(t.NumElems()) {
		putBits(v.Data, size, i, numeric.Canon(t.DType, genBits(r, t.DType, kind, edges)))
	}
	return v
}

func genBits(r *rng, d types.DType, kind uint, edges []uint64) uint64 {
	switch kind {
	case genMixed:
		if r.below(4) == 0 {
			return edges[r.below(uint64(len(edges)))]
		}
	case genEdges:
		return edges[r.below(uint64(len(edges)))]
	case genRandom:
		return r.next()
	case genTiny:
		if d.IsFloating() {
			w := uint(d.Bits())
			return r.next()>>(64-mantBits(d)) | r.next()>>63<<(w-1)
		}
		return r.next() & 1
	case genHuge:
		w := uint(d.Bits())
		if d.IsFloating() {
			// The greatest exponents of finite values, either sign.
			e := uint64(1)<<(w-1-mantBits(d)) - 2 - r.below(2)
			return e<<mantBits(d) | r.next()>>(64-mantBits(d)) | r.next()>>63<<(w-1)
		}
		if d.IsSigned() {
			return uint64(1)<<(w-1) + r.below(4) - 2 // about MIN and MAX
		}
		return -r.below(4)
	case genZero:
		return 0
	}
	return ordinary(r, d)
}

func ordinary(r *rng, d types.DType) uint64 {
	switch {
	case d.IsFloating():
		// Multiples of 2^-20 in (-16, 16): sums and products round, nothing overflows.
		x := int64(r.below(1<<25)) - 1<<24
		f := numeric.BinaryOf(numeric.Mul, types.F64)
		c := numeric.ConvertOf(types.I64, types.F64)
		return numeric.ConvertOf(types.F64, d)(f(c(uint64(x)), 0x3eb0000000000000)) // x * 2^-20
	case d.IsSigned():
		return r.below(65) - 8
	}
	return r.below(57)
}

// mantBits is the number of stored mantissa bits.
func mantBits(d types.DType) uint {
	return [types.F64 + 1]uint{types.F16: 10, types.BF16: 7, types.F32: 23, types.F64: 52}[d]
}

// Edges lists the values of a dtype where rules change: both zeros, ones, the
// least and greatest subnormal and normal, the integers' ends as floats,
// infinities and NaN; for integers the ends, the values next to them and -1, 0, 1.
func Edges(d types.DType) []uint64 {
	w := uint(d.Bits())
	top := uint64(1) << (w - 1)
	switch {
	case d == types.Bool:
		return []uint64{0, 1}
	case d.IsSigned():
		return []uint64{0, 1, 2*top - 1, top, top + 1, top - 1, top - 2, uint64(w - 1), uint64(w), 2}
	case !d.IsFloating():
		return []uint64{0, 1, 2*top - 1, 2*top - 2, top, top - 1, uint64(w - 1), uint64(w), 2}
	}
	m := mantBits(d)
	inf := top - 1<<m
	conv := numeric.ConvertOf(types.F64, d)
	out := []uint64{0, 1, 1<<m - 1, 1 << m, inf - 1, inf}
	for _, x := range []uint64{
		0x3ff0000000000000, // 1
		0x3fe0000000000000, // 1/2
		0x3ff8000000000000, // 3/2
		0x4004000000000000, // 5/2
		0x3fb999999999999a, // 1/10
		0x41dfffffffc00000, // 2^31 - 1
		0x41e0000000000000, // 2^31
		0x43e0000000000000, // 2^63
		0x4340000000000000, // 2^53
	} {
		out = append(out, conv(x))
	}
	for _, x := range out[:len(out):len(out)] {
		out = append(out, x|top)
	}
	return append(out, numeric.Canon(d, inf|1))
}
