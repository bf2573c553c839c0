package runner

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/kera-lang/kera/core/types"
)

// Generate makes the inputs of one verification case. Case 0 walks through the
// edge values of every type; later cases mix them with ordinary numbers, small
// integers and arbitrary bits, each case with its own share. The same seed and
// case give the same bytes for ever: PCG is fixed by its definition.
func Generate(ts []types.Type, seed uint64, number int) [][]byte {
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	style := styles[number%len(styles)]
	out := make([][]byte, len(ts))
	for i, t := range ts {
		out[i] = generate(rng, t, style)
	}
	return out
}

// style says how many of a hundred elements are of each kind; the rest are
// ordinary numbers.
type style struct {
	name             string
	edge, small, raw int
}

var styles = []style{
	{"edge values", 100, 0, 0},
	{"ordinary numbers", 0, 20, 0},
	{"a few edge values", 5, 15, 0},
	{"arbitrary bits", 0, 0, 100},
	{"mixed", 25, 25, 25},
}

func generate(rng *rand.Rand, t types.Type, s style) []byte {
	n, w := int(t.NumElems()), t.DType.Size()
	data := make([]byte, 0, n*w+8)
	edges := edgeValues(t.DType)
	at := rng.IntN(len(edges))
	for range n {
		var bits uint64
		switch k := rng.IntN(100); {
		case k < s.edge:
			// In turn, so that a large enough tensor meets all of them.
			bits = edges[at%len(edges)]
			at++
		case k < s.edge+s.small:
			bits = fromInt(t.DType, int64(rng.IntN(17))-8)
		case k < s.edge+s.small+s.raw:
			bits = rng.Uint64()
		default:
			bits = ordinary(rng, t.DType)
		}
		// The buffer has room for a whole word behind the last element.
		data = binary.LittleEndian.AppendUint64(data, canonicalBits(t.DType, bits))[:len(data)+w]
	}
	return data
}

// ordinary is a number of everyday size: floats around -2..2, integers of a few
// digits.
func ordinary(rng *rand.Rand, d types.DType) uint64 {
	switch d {
	case types.Bool:
		return rng.Uint64() & 1
	case types.F32:
		return uint64(math.Float32bits(float32(rng.IntN(1<<24)-1<<23) / (1 << 22)))
	case types.F64:
		return math.Float64bits(float64(rng.Int64N(1<<53)-1<<52) / (1 << 51))
	case types.F16:
		return rng.Uint64()&0x83ff | 0x3800
	case types.BF16:
		return rng.Uint64()&0x807f | 0x3f00
	}
	return fromInt(d, rng.Int64N(2001)-1000)
}

// fromInt gives the bits of a small integer; an unsigned type gets its magnitude.
func fromInt(d types.DType, v int64) uint64 {
	switch d.Class() {
	case types.ClassBool:
		return uint64(v) & 1
	case types.ClassUnsigned:
		return uint64(max(v, -v))
	case types.ClassSigned:
		return uint64(v)
	}
	switch d {
	case types.F32:
		return uint64(math.Float32bits(float32(v)))
	case types.F64:
		return math.Float64bits(float64(v))
	case types.BF16:
		return uint64(math.Float32bits(float32(v)) >> 16)
	}
	return []uint64{0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800}[max(v, -v)] | uint64(v)>>63<<15
}

// canonicalBits keeps to values that a tensor may hold: 0 or 1 for a bool, one NaN.
func canonicalBits(d types.DType, bits uint64) uint64 {
	switch d {
	case types.Bool:
		return bits & 1
	case types.F16:
		if bits&0x7fff > 0x7c00 {
			return 0x7e00
		}
	case types.BF16:
		if bits&0x7fff > 0x7f80 {
			return 0x7fc0
		}
	case types.F32:
		if bits&0x7fffffff > 0x7f800000 {
			return 0x7fc00000
		}
	case types.F64:
		if bits&math.MaxInt64 > 0x7ff0000000000000 {
			return 0x7ff8000000000000
		}
	}
	return bits
}

// edgeValues lists what breaks implementations: zeros of both signs, infinities,
// NaN, the largest, the least normal and subnormal, ones, halves between integers,
// the borders of integer conversion, and integer extremes.
func edgeValues(d types.DType) []uint64 {
	switch d {
	case types.Bool:
		return []uint64{0, 1}
	case types.F16:
		return []uint64{0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7bff, 0xfbff, 1, 0x8001, 0x03ff, 0x0400}
	case types.BF16:
		return []uint64{0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x7f7f, 0xff7f, 1, 0x8001, 0x007f, 0x0080}
	case types.F32:
		return []uint64{0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
			0xff7fffff, 1, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f000000, 0x40200000, 0xbf000000,
			0x4f000000, 0xcf000000, 0x5f000000, 0x3f7fffff, 0x3f800001, 0x34000000, 0x4b800000}
	case types.F64:
		return []uint64{0, 1 << 63, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
			0x7ff8000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 1, 1<<63 | 1, 0x000fffffffffffff,
			0x0010000000000000, 0x8010000000000000, 0x3fe0000000000000, 0x4004000000000000, 0xbfe0000000000000,
			0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000, 0x3fefffffffffffff, 0x3ff0000000000001,
			0x3cb0000000000000, 0x4340000000000000}
	}
	top := uint64(1)<<(d.Bits()-1) - 1
	return []uint64{0, 1, 2, math.MaxUint64, top, top + 1, top + 2, 3, 7, uint64(d.Bits()) - 1, uint64(d.Bits())}
}
