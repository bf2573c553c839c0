package plan

import (
	"fmt"
	"strings"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// affine is an index expression: c + sum of coef*v over Ix values, plus
// lane*(lane number) in vector code. Keeping indices affine is what lets an
// access be seen as contiguous, be vectorised and share address arithmetic.
type affine struct {
	terms []term // in order of first appearance, no zero coefficients
	c     int64
	lane  int64
	// lo and hi bound the value, of every lane, where known is set; clamps
	// inside the bounds disappear.
	known  bool
	lo, hi int64
}

type term struct {
	v    lir.Value
	coef int64
}

func fixed(c int64) affine { return affine{c: c, known: true, lo: c, hi: c} }

// counter is a loop counter in [0, n).
func counter(v lir.Value, n int64) affine {
	return affine{terms: []term{{v, 1}}, known: n > 0, lo: 0, hi: n - 1}
}

// opaque is an Ix value in [0, hi].
func opaque(v lir.Value, hi int64) affine {
	return affine{terms: []term{{v, 1}}, known: true, lo: 0, hi: hi}
}

// inLanes makes an index move with the lanes of an n-lane vector.
func (a affine) inLanes(n int64) affine {
	if n > 1 {
		a.lane = 1
		a.hi += n - 1
	}
	return a
}

// claim gives a the bounds of an index of an axis of size n, whatever a is: see
// mergeable.
func (a affine) claim(n int64) affine {
	a.known, a.lo, a.hi = n > 0, 0, n-1
	return a
}

func (a affine) isConst() bool { return len(a.terms) == 0 && a.lane == 0 }

// limit keeps bounds far from the overflow of a 32-bit Ix.
const limit = int64(1) << 31

func (a affine) scale(k int64) affine {
	if k == 0 {
		return fixed(0)
	}
	out := affine{c: a.c * k, lane: a.lane * k}
	for _, t := range a.terms {
		out.terms = append(out.terms, term{t.v, t.coef * k})
	}
	if a.known {
		lo, hi := a.lo*k, a.hi*k
		if k < 0 {
			lo, hi = hi, lo
		}
		out.known, out.lo, out.hi = lo > -limit && hi < limit, lo, hi
	}
	return out
}

func (a affine) add(b affine) affine {
	out := affine{c: a.c + b.c, lane: a.lane + b.lane}
	out.terms = append(out.terms, a.terms...)
next:
	for _, t := range b.terms {
		for i := range out.terms {
			if out.terms[i].v == t.v {
				out.terms[i].coef += t.coef
				continue next
			}
		}
		out.terms = append(out.terms, t)
	}
	kept := out.terms[:0:0]
	for _, t := range out.terms {
		if t.coef != 0 {
			kept = append(kept, t)
		}
	}
	out.terms = kept
	if a.known && b.known {
		out.known, out.lo, out.hi = true, a.lo+b.lo, a.hi+b.hi
	}
	return out
}

func (a affine) plus(c int64) affine { return a.add(fixed(c)) }

// coef returns the coefficient of v.
func (a affine) coef(v lir.Value) int64 {
	for _, t := range a.terms {
		if t.v == v {
			return t.coef
		}
	}
	return 0
}

// key identifies the expression, for memo tables.
func (a affine) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d,%d", a.c, a.lane)
	for _, t := range a.terms {
		fmt.Fprintf(&b, ",%d*%d", t.coef, t.v)
	}
	return b.String()
}

// ix materialises a as an Ix value, its lane part left out.
func (e *emitter) ix(a affine) lir.Value {
	v, disp := e.ixBase(a, 1)
	if v == lir.NoValue {
		return e.b.Ix(disp)
	}
	if disp == 0 {
		return v
	}
	return e.b.Op(lir.Add, v, e.b.Ix(disp))
}

// ixBase materialises the variable part of a, leaving the constant. Older
// values (defined further out) are added first, so that what a loop does not
// change can move out of it.
func (e *emitter) ixBase(a affine, scale int64) (lir.Value, int64) {
	ts := append([]term{}, a.terms...)
	for i := range ts { // insertion sort by definition order
		for j := i; j > 0 && ts[j].v < ts[j-1].v; j-- {
			ts[j], ts[j-1] = ts[j-1], ts[j]
		}
	}
	sum := lir.NoValue
	for _, t := range ts {
		v := t.v
		if k := t.coef * scale; k != 1 {
			v = e.b.Op(lir.Mul, v, e.b.Ix(k))
		}
		if sum == lir.NoValue {
			sum = v
		} else {
			sum = e.b.Op(lir.Add, sum, v)
		}
	}
	return sum, a.c * scale
}

// addr is the address of element a (an element offset) of buf.
func (e *emitter) addr(buf int, a affine, size int64) lir.Addr {
	v, c := e.ixBase(a, 1)
	return lir.Addr{Buf: buf, Index: v, Scale: uint8(size), Disp: c * size}
}
