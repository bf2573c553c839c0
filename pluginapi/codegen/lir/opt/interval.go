package opt

import (
	"math"
	"math/bits"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// interval holds every value that a scalar integer takes, sign-extended.
type interval struct{ lo, hi int64 }

// full is what is known of any value of an element.
func full(e lir.Elem) interval {
	if e == lir.I64 {
		return interval{math.MinInt64, math.MaxInt64}
	}
	return interval{math.MinInt32, math.MaxInt32}
}

func exactly(v int64) interval { return interval{v, v} }

func (r interval) one() bool                  { return r.lo == r.hi }
func (r interval) within(lo, hi int64) bool   { return lo <= r.lo && r.hi <= hi }
func (r interval) hull(s interval) interval   { return interval{min(r.lo, s.lo), max(r.hi, s.hi)} }
func (r interval) clip(lo, hi int64) interval { return interval{max(r.lo, lo), min(r.hi, hi)} }

// fits gives r if it lies within element e and no bound overflowed, else anything.
func fits(r interval, ok bool, e lir.Elem) interval {
	if a := full(e); !ok || !r.within(a.lo, a.hi) {
		return a
	}
	return r
}

// arith gives the range of an integer operation on ranges.
func arith(op lir.Op, e lir.Elem, x, y interval) interval {
	any := full(e)
	switch op {
	case lir.Add:
		lo, ok := addTo(x.lo, y.lo)
		hi, ok2 := addTo(x.hi, y.hi)
		return fits(interval{lo, hi}, ok && ok2, e)
	case lir.Sub:
		lo, ok := subFrom(x.lo, y.hi)
		hi, ok2 := subFrom(x.hi, y.lo)
		return fits(interval{lo, hi}, ok && ok2, e)
	case lir.Mul:
		if x.lo >= 0 && y.lo >= 0 {
			over, hi := bits.Mul64(uint64(x.hi), uint64(y.hi))
			return fits(interval{x.lo * y.lo, int64(hi)}, over == 0 && int64(hi) >= 0, e)
		}
	case lir.And:
		switch {
		case x.lo >= 0 && y.lo >= 0:
			return interval{0, min(x.hi, y.hi)}
		case x.lo >= 0:
			return interval{0, x.hi}
		case y.lo >= 0:
			return interval{0, y.hi}
		}
	case lir.Or, lir.Xor:
		if x.lo >= 0 && y.lo >= 0 {
			return interval{0, 1<<bits.Len64(uint64(x.hi|y.hi)) - 1}
		}
	case lir.Shl:
		if y.one() && y.lo >= 0 && y.lo < 31 && x.lo >= 0 && x.hi <= math.MaxInt64>>y.lo {
			return fits(interval{x.lo << y.lo, x.hi << y.lo}, true, e)
		}
	case lir.ShrU:
		width := int64(32)
		if e == lir.I64 {
			width = 64
		}
		switch {
		case !y.one() || y.lo <= 0 || y.lo >= width:
		case x.lo >= 0:
			return interval{x.lo >> y.lo, x.hi >> y.lo}
		case e != lir.Ix:
			return interval{0, int64(uint64(math.MaxUint64) >> (64 - width) >> y.lo)}
		}
	case lir.ShrS:
		if y.one() && y.lo >= 0 && y.lo < 32 {
			return interval{x.lo >> y.lo, x.hi >> y.lo}
		}
	case lir.DivU:
		if y.one() && y.lo > 0 && x.lo >= 0 {
			return interval{x.lo / y.lo, x.hi / y.lo}
		}
	case lir.RemU:
		if y.one() && y.lo > 0 {
			return interval{0, y.lo - 1}
		}
	case lir.Clz, lir.Ctz, lir.Popcnt:
		return interval{0, 64}
	}
	return any
}

func addTo(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func subFrom(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0)
}

// compare decides a comparison of ranges: 0, 1 or either.
func compare(op lir.Op, x, y interval) interval {
	either := interval{0, 1}
	decided := func(yes, no bool) interval {
		switch {
		case yes:
			return exactly(1)
		case no:
			return exactly(0)
		}
		return either
	}
	switch op {
	case lir.Eq, lir.Ne:
		same, differ := x.one() && x == y, x.hi < y.lo || y.hi < x.lo
		if op == lir.Ne {
			same, differ = differ, same
		}
		return decided(same, differ)
	case lir.LtU, lir.LeU:
		if x.lo < 0 || y.lo < 0 {
			return either
		}
	}
	if op == lir.LtS || op == lir.LtU {
		return decided(x.hi < y.lo, x.lo >= y.hi)
	}
	return decided(x.hi <= y.lo, x.lo > y.hi)
}

// loaded is the range of what a load of a narrow form gives.
func loaded(m lir.Mem, e lir.Elem) interval {
	switch m {
	case lir.M8S:
		return interval{math.MinInt8, math.MaxInt8}
	case lir.M8U:
		return interval{0, math.MaxUint8}
	case lir.M16S:
		return interval{math.MinInt16, math.MaxInt16}
	case lir.M16U:
		return interval{0, math.MaxUint16}
	}
	return full(e)
}

// converted is the range of a conversion between integers.
func converted(op lir.Op, x interval) interval {
	switch op {
	case lir.Wrap, lir.IxToI32:
		return fits(x, true, lir.I32)
	case lir.ExtS:
		return x
	case lir.ExtU:
		if x.lo < 0 {
			return interval{0, math.MaxUint32}
		}
		return x
	case lir.IxToI64:
		return interval{max(x.lo, 0), max(x.hi, 0)}
	case lir.I64ToIx, lir.I32ToIxU:
		if x.lo < 0 {
			return full(lir.Ix)
		}
		return fits(x, true, lir.Ix)
	}
	panic("BUG: opt: not a conversion of integers: " + op.String())
}
