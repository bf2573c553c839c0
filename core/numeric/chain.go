package numeric

// The contraction steps over strided operands, one function per accumulator,
// so that a matrix product in the interpreter costs no call per term. a[i*sa]
// and b[i*sb] are the i-th pair. All follow the order of Chain.

// Acc names the accumulator of a contraction.
type Acc uint8

// The accumulators of docs/spec/numerics.md.
const (
	AccFMA Acc = iota
	AccUnfused
	AccF64
	AccI32
	AccI64
)

// chains runs body over each chain and folds the results.
func chains[T Float](n int, body func(lo, hi int) T) T {
	total := T(0)
	for lo := 0; lo < n; lo += ChainChunk {
		acc := body(lo, min(lo+ChainChunk, n))
		if lo == 0 {
			total = acc
		} else {
			total += acc
		}
	}
	return total
}

// ChainFMA32 contracts with one rounding a term.
func ChainFMA32(n int, a []float32, sa int, b []float32, sb int) float32 {
	return chains(n, func(lo, hi int) float32 {
		acc := float32(0)
		for i := lo; i < hi; i++ {
			acc = FMA32(a[i*sa], b[i*sb], acc)
		}
		return acc
	})
}

// ChainFMA64 contracts with one rounding a term.
func ChainFMA64(n int, a []float64, sa int, b []float64, sb int) float64 {
	return chains(n, func(lo, hi int) float64 {
		acc := float64(0)
		for i := lo; i < hi; i++ {
			acc = FMA64(a[i*sa], b[i*sb], acc)
		}
		return acc
	})
}

// ChainUnfused contracts with two roundings a term.
func ChainUnfused[T Float](n int, a []T, sa int, b []T, sb int) T {
	return chains(n, func(lo, hi int) T {
		acc := T(0)
		for i := lo; i < hi; i++ {
			acc += T(a[i*sa] * b[i*sb])
		}
		return acc
	})
}

// ChainF64 contracts float32 terms exactly multiplied and added in float64,
// and rounds once at the end.
func ChainF64(n int, a []float32, sa int, b []float32, sb int) float32 {
	return float32(chains(n, func(lo, hi int) float64 {
		acc := float64(0)
		for i := lo; i < hi; i++ {
			acc += float64(float64(a[i*sa]) * float64(b[i*sb]))
		}
		return acc
	}))
}

// ChainInt is the exact integer sum of products, modulo 2^64: the low bits are
// the wrapped sum in any narrower type. Operands are sign- or zero-extended.
func ChainInt(n int, a []int64, sa int, b []int64, sb int) int64 {
	var acc int64
	for i := range n {
		acc += a[i*sa] * b[i*sb]
	}
	return acc
}

// ChainFMA32x4 is ChainFMA32 of a with each of four operands, dense. The four
// chains are independent, so the processor overlaps them.
func ChainFMA32x4(n int, a []float32, b [4][]float32) [4]float32 {
	var total [4]float32
	for lo := 0; lo < n; lo += ChainChunk {
		x := a[lo:min(lo+ChainChunk, n)]
		y0, y1, y2, y3 := b[0][lo:][:len(x)], b[1][lo:][:len(x)], b[2][lo:][:len(x)], b[3][lo:][:len(x)]
		var r0, r1, r2, r3 float32
		for i, v := range x {
			// FMA32 by hand: it is too large for the compiler to inline.
			w := float64(v)
			s0 := float64(w*float64(y0[i])) + float64(r0)
			s1 := float64(w*float64(y1[i])) + float64(r1)
			s2 := float64(w*float64(y2[i])) + float64(r2)
			s3 := float64(w*float64(y3[i])) + float64(r3)
			if delicate(s0) {
				r0 = fma32Odd(v, y0[i], r0)
			} else {
				r0 = float32(s0)
			}
			if delicate(s1) {
				r1 = fma32Odd(v, y1[i], r1)
			} else {
				r1 = float32(s1)
			}
			if delicate(s2) {
				r2 = fma32Odd(v, y2[i], r2)
			} else {
				r2 = float32(s2)
			}
			if delicate(s3) {
				r3 = fma32Odd(v, y3[i], r3)
			} else {
				r3 = float32(s3)
			}
		}
		if lo == 0 {
			total = [4]float32{r0, r1, r2, r3}
		} else {
			total = [4]float32{total[0] + r0, total[1] + r1, total[2] + r2, total[3] + r3}
		}
	}
	return total
}
