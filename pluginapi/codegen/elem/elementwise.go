package elem

import (
	"fmt"
	"math"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Args is what the lowering of an elementwise op sees: In is the dtype of
// the data operands, Out that of the result, X the operand values.
//
// Integers narrower than 32 bits live extended in an I32 by their signedness;
// every lowering keeps that form (norm).
type Args struct {
	In, Out types.DType
	Attrs   op.Attrs
	X       []lir.Value
}

type elemRule func(e *Emitter, a Args) lir.Value

// elemTable lowers each elementwise op. A test checks that it is complete.
func elemTable() map[op.Code]elemRule {
	return map[op.Code]elemRule{
		op.Add: arith(lir.Add, lir.FAdd), op.Sub: arith(lir.Sub, lir.FSub), op.Mul: arith(lir.Mul, lir.FMul),
		op.Div: divRule, op.Rem: remRule, op.Neg: negRule, op.Abs: absRule,
		op.Min: minMax(lir.FMin, false), op.Max: minMax(lir.FMax, true),
		op.FMA: float(lir.FMA), op.Sqrt: float(lir.FSqrt), op.Floor: float(lir.FFloor), op.Ceil: float(lir.FCeil),
		op.Trunc: float(lir.FTrunc), op.RoundEven: float(lir.FNearest), op.Copysign: copysignRule,
		op.And: bitwise(lir.And), op.Or: bitwise(lir.Or), op.Xor: bitwise(lir.Xor), op.Not: notRule,
		op.Shl: shlRule, op.Shr: shrRule, op.Popcnt: popcntRule, op.Clz: clzRule, op.Ctz: ctzRule,
		op.Compare: compareRule, op.Select: selectRule, op.Convert: convertRule, op.Bitcast: bitcastRule,
		op.AddOverflow: addOverflow, op.SubOverflow: subOverflow, op.MulOverflow: mulOverflow,
		op.ConvertOverflow: convertOverflow,
	}
}

var elemRules = elemTable()

// Has reports whether there is a rule for c.
func Has(c op.Code) bool { _, ok := elemRules[c]; return ok }

// Elementwise emits operation c.
func (e *Emitter) Elementwise(c op.Code, a Args) lir.Value {
	r, ok := elemRules[c]
	if !ok {
		panic(fmt.Sprintf("BUG: elem: no lowering of %v", c))
	}
	return r(e, a)
}

// Wide reports whether d is a 64-bit integer.
func Wide(d types.DType) bool { return d == types.I64 || d == types.U64 }

// norm restores the extended form of a narrow integer.
func (e *Emitter) norm(d types.DType, v lir.Value) lir.Value {
	switch d {
	case types.I8:
		return e.Op(lir.Ext8S, v)
	case types.I16:
		return e.Op(lir.Ext16S, v)
	case types.U8:
		return e.Op(lir.And, v, e.K(v, 0xff))
	case types.U16:
		return e.Op(lir.And, v, e.K(v, 0xffff))
	case types.Bool:
		return e.Op(lir.And, v, e.K(v, 1))
	}
	return v
}

// zeroExt returns the unsigned bits of an integer in its own width.
func (e *Emitter) zeroExt(d types.DType, v lir.Value) lir.Value {
	switch d.Size() {
	case 1:
		return e.Op(lir.And, v, e.K(v, 0xff))
	case 2:
		return e.Op(lir.And, v, e.K(v, 0xffff))
	}
	return v
}

// To64 extends an integer of dtype d to I64 by its signedness.
func (e *Emitter) To64(d types.DType, v lir.Value) lir.Value {
	if Wide(d) {
		return v
	}
	if d.IsSigned() {
		return e.Conv(lir.ExtS, lir.I64, v)
	}
	return e.Conv(lir.ExtU, lir.I64, v)
}

func arith(i, f lir.Op) elemRule {
	return func(e *Emitter, a Args) lir.Value {
		if a.In.IsFloat() {
			return e.Op(f, a.X...)
		}
		return e.norm(a.In, e.Op(i, a.X...))
	}
}

func float(f lir.Op) elemRule {
	return func(e *Emitter, a Args) lir.Value { return e.Op(f, a.X...) }
}

func bitwise(o lir.Op) elemRule {
	return func(e *Emitter, a Args) lir.Value {
		if a.In == types.Bool {
			return e.Logic(o, a.X[0], a.X[1])
		}
		return e.Op(o, a.X...)
	}
}

// Logic combines bools, which are I32 or masks.
func (e *Emitter) Logic(o lir.Op, x, y lir.Value) lir.Value {
	if e.IsVec(x) || e.IsVec(y) {
		return e.maskLogic(o, x, y)
	}
	return e.Op(o, x, y)
}

// Not negates a bool.
func (e *Emitter) Not(x lir.Value) lir.Value {
	if e.IsVec(x) {
		return e.B.Op(lir.MNot, x)
	}
	return e.Op(lir.Xor, x, e.K(x, 1))
}

// maskLogic combines bools of which at least one is a mask.
func (e *Emitter) maskLogic(o lir.Op, x, y lir.Value) lir.Value {
	if !e.IsVec(x) || !e.IsVec(y) || e.B.TypeOf(x) != e.B.TypeOf(y) {
		e.Fail("a mask combined with a uniform bool")
	}
	switch o {
	case lir.And:
		return e.B.Op(lir.MAnd, x, y)
	case lir.Or:
		return e.B.Op(lir.MOr, x, y)
	}
	return e.B.Op(lir.MAnd, e.B.Op(lir.MOr, x, y), e.B.Op(lir.MNot, e.B.Op(lir.MAnd, x, y)))
}

func notRule(e *Emitter, a Args) lir.Value {
	if a.In == types.Bool {
		return e.Not(a.X[0])
	}
	return e.norm(a.In, e.Op(lir.Xor, a.X[0], e.K(a.X[0], -1)))
}

func negRule(e *Emitter, a Args) lir.Value {
	if a.In.IsFloat() {
		return e.Op(lir.FNeg, a.X[0])
	}
	return e.norm(a.In, e.Op(lir.Sub, e.K(a.X[0], 0), a.X[0]))
}

func absRule(e *Emitter, a Args) lir.Value {
	switch {
	case a.In.IsFloat():
		return e.Op(lir.FAbs, a.X[0])
	case !a.In.IsSigned():
		return a.X[0]
	}
	zero := e.K(a.X[0], 0)
	return e.norm(a.In, e.Sel(e.Op(lir.LtS, a.X[0], zero), e.Op(lir.Sub, zero, a.X[0]), a.X[0]))
}

// less compares integers of dtype d.
func (e *Emitter) less(d types.DType, x, y lir.Value) lir.Value {
	if d.IsSigned() {
		return e.Op(lir.LtS, x, y)
	}
	return e.Op(lir.LtU, x, y)
}

func minMax(f lir.Op, greatest bool) elemRule {
	return func(e *Emitter, a Args) lir.Value {
		if a.In.IsFloat() {
			return e.Op(f, a.X...)
		}
		c := e.less(a.In, a.X[0], a.X[1])
		if greatest {
			return e.Sel(c, a.X[1], a.X[0])
		}
		return e.Sel(c, a.X[0], a.X[1])
	}
}

// safeDivisor replaces divisors that have no quotient by 1, so that the machine's
// division never faults; MIN/1 and MIN rem 1 are then already right.
func (e *Emitter) safeDivisor(a Args) (divisor, isZero lir.Value) {
	x, y := a.X[0], a.X[1]
	isZero = e.Op(lir.Eq, y, e.K(y, 0))
	bad := isZero
	if a.In.IsSigned() && a.In.Size() >= 4 {
		lo := int64(math.MinInt32)
		if Wide(a.In) {
			lo = math.MinInt64
		}
		over := e.Op(lir.And, e.Op(lir.Eq, x, e.K(x, lo)), e.Op(lir.Eq, y, e.K(y, -1)))
		bad = e.Op(lir.Or, bad, over)
	}
	return e.Sel(bad, e.K(y, 1), y), isZero
}

func divRule(e *Emitter, a Args) lir.Value {
	if a.In.IsFloat() {
		return e.Op(lir.FDiv, a.X...)
	}
	e.scalarOnly("integer division", a.X...)
	d, zero := e.safeDivisor(a)
	o := lir.DivU
	if a.In.IsSigned() {
		o = lir.DivS
	}
	q := e.Op(o, a.X[0], d)
	return e.norm(a.In, e.Sel(zero, e.K(q, -1), q))
}

func remRule(e *Emitter, a Args) lir.Value {
	if a.In.IsFloat() {
		return e.fmod(a.In, a.X[0], a.X[1])
	}
	e.scalarOnly("integer division", a.X...)
	d, zero := e.safeDivisor(a)
	o := lir.RemU
	if a.In.IsSigned() {
		o = lir.RemS
	}
	return e.norm(a.In, e.Sel(zero, a.X[0], e.Op(o, a.X[0], d)))
}

func (e *Emitter) count(a Args) lir.Value {
	n := a.X[1]
	if a.In.Size() < 4 {
		n = e.Op(lir.And, n, e.K(n, int64(a.In.Bits()-1)))
	}
	return n
}

func shlRule(e *Emitter, a Args) lir.Value {
	return e.norm(a.In, e.Op(lir.Shl, a.X[0], e.count(a)))
}

func shrRule(e *Emitter, a Args) lir.Value {
	if a.In.IsSigned() {
		return e.Op(lir.ShrS, a.X[0], e.count(a))
	}
	return e.Op(lir.ShrU, a.X[0], e.count(a))
}

func popcntRule(e *Emitter, a Args) lir.Value {
	return e.Op(lir.Popcnt, e.zeroExt(a.In, a.X[0]))
}

func clzRule(e *Emitter, a Args) lir.Value {
	v := e.Op(lir.Clz, e.zeroExt(a.In, a.X[0]))
	if n := 32 - a.In.Bits(); n > 0 {
		v = e.Op(lir.Sub, v, e.K(v, int64(n)))
	}
	return v
}

func ctzRule(e *Emitter, a Args) lir.Value {
	v := a.X[0]
	if n := a.In.Bits(); n < 32 {
		v = e.Op(lir.Or, v, e.K(v, 1<<n))
	}
	return e.Op(lir.Ctz, v)
}

func copysignRule(e *Emitter, a Args) lir.Value {
	return e.Op(lir.FCopysign, a.X[0], e.Op(lir.Canon, a.X[1]))
}

func selectRule(e *Emitter, a Args) lir.Value {
	if a.Out != types.Bool {
		return e.Sel(a.X[0], a.X[1], a.X[2])
	}
	if e.IsVec(a.X[0]) || e.IsVec(a.X[1]) || e.IsVec(a.X[2]) {
		t := e.maskLogic(lir.And, a.X[0], a.X[1])
		return e.maskLogic(lir.Or, t, e.maskLogic(lir.And, e.B.Op(lir.MNot, a.X[0]), a.X[2]))
	}
	return e.B.Op(lir.Select, a.X...)
}

func bitcastRule(e *Emitter, a Args) lir.Value {
	x := a.X[0]
	if a.In.IsFloat() {
		x = e.bits(a.In, e.Op(lir.Canon, x))
	}
	if a.Out.IsFloat() {
		return e.Conv(lir.FromBits, Type(a.Out).Elem, x)
	}
	return e.norm(a.Out, x)
}

// bits returns the raw bits of a float.
func (e *Emitter) bits(d types.DType, x lir.Value) lir.Value {
	if d == types.F64 {
		return e.Conv(lir.BitsOf, lir.I64, x)
	}
	return e.Conv(lir.BitsOf, lir.I32, x)
}
