package numeric

// The reduction order. It is part of the semantics: every target combines the
// same operands in the same tree.
//
//	elements   0 .. 4095 | 4096 .. 8191 | ...          chunks
//	lane j     j, j+64, j+128, ...      left fold      64 lanes a chunk
//	halving    lane i (+) lane i+h      h = 32 .. 1    absent lanes are skipped
//	chunks     reduced by the same rule, recursively
const (
	ReduceChunk = 4096
	ReduceLanes = 64
)

// Ordered combines n > 0 elements in the reduction order: first starts a lane
// with element i, step continues it, and comb joins lanes and chunks.
func Ordered[T any](n int, first func(i int) T, step func(acc T, i int) T, comb func(a, b T) T) T {
	if n <= 0 {
		panic("BUG: reduction of nothing")
	}
	if n <= ReduceChunk {
		return chunk(0, n, first, step, comb)
	}
	parts := make([]T, 0, (n+ReduceChunk-1)/ReduceChunk)
	for lo := 0; lo < n; lo += ReduceChunk {
		parts = append(parts, chunk(lo, min(lo+ReduceChunk, n), first, step, comb))
	}
	return ReduceSlice(parts, comb)
}

// chunk folds elements lo..hi-1, at most ReduceChunk of them.
func chunk[T any](lo, hi int, first func(i int) T, step func(acc T, i int) T, comb func(a, b T) T) T {
	var lane [ReduceLanes]T
	live := min(hi-lo, ReduceLanes)
	for j := range live {
		acc := first(lo + j)
		for i := lo + j + ReduceLanes; i < hi; i += ReduceLanes {
			acc = step(acc, i)
		}
		lane[j] = acc
	}
	for h := ReduceLanes / 2; h >= 1; h /= 2 {
		for i := 0; i < h && i+h < live; i++ {
			lane[i] = comb(lane[i], lane[i+h])
		}
		live = min(live, h)
	}
	return lane[0]
}

// ReduceOrder combines at(0) .. at(n-1), n > 0, in the reduction order.
func ReduceOrder[T any](n int, at func(i int) T, comb func(a, b T) T) T {
	return Ordered(n, at, func(acc T, i int) T { return comb(acc, at(i)) }, comb)
}

// ReduceSlice combines the elements of xs, at least one, in the reduction order.
func ReduceSlice[T any](xs []T, comb func(a, b T) T) T {
	return ReduceOrder(len(xs), func(i int) T { return xs[i] }, comb)
}

// ReduceAny left-folds; for operations that give the same bits in any order
// (integers, min, max, bitwise).
func ReduceAny[T any](n int, at func(i int) T, comb func(a, b T) T) T {
	if n <= 0 {
		panic("BUG: reduction of nothing")
	}
	acc := at(0)
	for i := 1; i < n; i++ {
		acc = comb(acc, at(i))
	}
	return acc
}

// Dot32 is the dot op on float32: each lane starts with a rounded product and
// continues with fma; no elements give +0.
func Dot32(n int, x, y func(i int) float32) float32 {
	if n == 0 {
		return 0
	}
	return Ordered(n,
		func(i int) float32 { return float32(x(i) * y(i)) },
		func(acc float32, i int) float32 { return FMA32(x(i), y(i), acc) },
		func(a, b float32) float32 { return a + b })
}

// Dot64 is the dot op on float64.
func Dot64(n int, x, y func(i int) float64) float64 {
	if n == 0 {
		return 0
	}
	return Ordered(n,
		func(i int) float64 { return float64(x(i) * y(i)) },
		func(acc float64, i int) float64 { return FMA64(x(i), y(i), acc) },
		func(a, b float64) float64 { return a + b })
}

// ChainChunk is the number of terms after which a contraction starts a new
// chain.
const ChainChunk = 4096

// Chain contracts n terms in ascending order: chains of ChainChunk terms, each
// from zero (+0), whose results left-fold with plain add. No terms give zero.
// The fold starts with the first chain's result as it is.
func Chain[T any](n int, zero T, step func(acc T, i int) T, add func(a, b T) T) T {
	total := zero
	for lo := 0; lo < n; lo += ChainChunk {
		acc := zero
		for i := lo; i < min(lo+ChainChunk, n); i++ {
			acc = step(acc, i)
		}
		if lo == 0 {
			total = acc
		} else {
			total = add(total, acc)
		}
	}
	return total
}
