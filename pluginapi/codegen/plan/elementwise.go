package plan

import (
	"fmt"
	"math"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// elemArgs is what the lowering of an elementwise op sees: in is the dtype of
// the data operands, out that of the result, x the operand values.
//
// Integers narrower than 32 bits live extended in an I32 by their signedness;
// every lowering keeps that form (norm).
type elemArgs struct {
	in, out types.DType
	attrs   op.Attrs
	x       []lir.Value
}

type elemRule func(e *emitter, a elemArgs) lir.Value

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

func (e *emitter) elementwise(c op.Code, a elemArgs) lir.Value {
	r, ok := elemRules[c]
	if !ok {
		panic(fmt.Sprintf("BUG: plan: no lowering of %v", c))
	}
	return r(e, a)
}

func wide(d types.DType) bool { return d == types.I64 || d == types.U64 }

// norm restores the extended form of a narrow integer.
func (e *emitter) norm(d types.DType, v lir.Value) lir.Value {
	switch d {
	case types.I8:
		return e.op(lir.Ext8S, v)
	case types.I16:
		return e.op(lir.Ext16S, v)
	case types.U8:
		return e.op(lir.And, v, e.k(v, 0xff))
	case types.U16:
		return e.op(lir.And, v, e.k(v, 0xffff))
	case types.Bool:
		return e.op(lir.And, v, e.k(v, 1))
	}
	return v
}

// zeroExt returns the unsigned bits of an integer in its own width.
func (e *emitter) zeroExt(d types.DType, v lir.Value) lir.Value {
	switch d.Size() {
	case 1:
		return e.op(lir.And, v, e.k(v, 0xff))
	case 2:
		return e.op(lir.And, v, e.k(v, 0xffff))
	}
	return v
}

// to64 extends an integer of dtype d to I64 by its signedness.
func (e *emitter) to64(d types.DType, v lir.Value) lir.Value {
	if wide(d) {
		return v
	}
	if d.IsSigned() {
		return e.conv(lir.ExtS, lir.I64, v)
	}
	return e.conv(lir.ExtU, lir.I64, v)
}

func arith(i, f lir.Op) elemRule {
	return func(e *emitter, a elemArgs) lir.Value {
		if a.in.IsFloat() {
			return e.op(f, a.x...)
		}
		return e.norm(a.in, e.op(i, a.x...))
	}
}

func float(f lir.Op) elemRule {
	return func(e *emitter, a elemArgs) lir.Value { return e.op(f, a.x...) }
}

func bitwise(o lir.Op) elemRule {
	return func(e *emitter, a elemArgs) lir.Value {
		if a.in == types.Bool {
			return e.logic(o, a.x[0], a.x[1])
		}
		return e.op(o, a.x...)
	}
}

// logic combines bools, which are I32 or masks.
func (e *emitter) logic(o lir.Op, x, y lir.Value) lir.Value {
	if e.isVec(x) || e.isVec(y) {
		return e.maskLogic(o, x, y)
	}
	return e.op(o, x, y)
}

// not negates a bool.
func (e *emitter) not(x lir.Value) lir.Value {
	if e.isVec(x) {
		return e.b.Op(lir.MNot, x)
	}
	return e.op(lir.Xor, x, e.k(x, 1))
}

// maskLogic combines bools of which at least one is a mask.
func (e *emitter) maskLogic(o lir.Op, x, y lir.Value) lir.Value {
	if !e.isVec(x) || !e.isVec(y) || e.b.TypeOf(x) != e.b.TypeOf(y) {
		e.failVec("a mask combined with a uniform bool")
	}
	switch o {
	case lir.And:
		return e.b.Op(lir.MAnd, x, y)
	case lir.Or:
		return e.b.Op(lir.MOr, x, y)
	}
	return e.b.Op(lir.MAnd, e.b.Op(lir.MOr, x, y), e.b.Op(lir.MNot, e.b.Op(lir.MAnd, x, y)))
}

func notRule(e *emitter, a elemArgs) lir.Value {
	if a.in == types.Bool {
		return e.not(a.x[0])
	}
	return e.norm(a.in, e.op(lir.Xor, a.x[0], e.k(a.x[0], -1)))
}

func negRule(e *emitter, a elemArgs) lir.Value {
	if a.in.IsFloat() {
		return e.op(lir.FNeg, a.x[0])
	}
	return e.norm(a.in, e.op(lir.Sub, e.k(a.x[0], 0), a.x[0]))
}

func absRule(e *emitter, a elemArgs) lir.Value {
	switch {
	case a.in.IsFloat():
		return e.op(lir.FAbs, a.x[0])
	case !a.in.IsSigned():
		return a.x[0]
	}
	zero := e.k(a.x[0], 0)
	return e.norm(a.in, e.sel(e.op(lir.LtS, a.x[0], zero), e.op(lir.Sub, zero, a.x[0]), a.x[0]))
}

// less compares integers of dtype d.
func (e *emitter) less(d types.DType, x, y lir.Value) lir.Value {
	if d.IsSigned() {
		return e.op(lir.LtS, x, y)
	}
	return e.op(lir.LtU, x, y)
}

func minMax(f lir.Op, greatest bool) elemRule {
	return func(e *emitter, a elemArgs) lir.Value {
		if a.in.IsFloat() {
			return e.op(f, a.x...)
		}
		c := e.less(a.in, a.x[0], a.x[1])
		if greatest {
			return e.sel(c, a.x[1], a.x[0])
		}
		return e.sel(c, a.x[0], a.x[1])
	}
}

// safeDivisor replaces divisors that have no quotient by 1, so that the machine's
// division never faults; MIN/1 and MIN rem 1 are then already right.
func (e *emitter) safeDivisor(a elemArgs) (divisor, isZero lir.Value) {
	x, y := a.x[0], a.x[1]
	isZero = e.op(lir.Eq, y, e.k(y, 0))
	bad := isZero
	if a.in.IsSigned() && a.in.Size() >= 4 {
		lo := int64(math.MinInt32)
		if wide(a.in) {
			lo = math.MinInt64
		}
		over := e.op(lir.And, e.op(lir.Eq, x, e.k(x, lo)), e.op(lir.Eq, y, e.k(y, -1)))
		bad = e.op(lir.Or, bad, over)
	}
	return e.sel(bad, e.k(y, 1), y), isZero
}

func divRule(e *emitter, a elemArgs) lir.Value {
	if a.in.IsFloat() {
		return e.op(lir.FDiv, a.x...)
	}
	e.needScalar("integer division")
	d, zero := e.safeDivisor(a)
	o := lir.DivU
	if a.in.IsSigned() {
		o = lir.DivS
	}
	q := e.op(o, a.x[0], d)
	return e.norm(a.in, e.sel(zero, e.k(q, -1), q))
}

func remRule(e *emitter, a elemArgs) lir.Value {
	if a.in.IsFloat() {
		return e.fmod(a.in, a.x[0], a.x[1])
	}
	e.needScalar("integer division")
	d, zero := e.safeDivisor(a)
	o := lir.RemU
	if a.in.IsSigned() {
		o = lir.RemS
	}
	return e.norm(a.in, e.sel(zero, a.x[0], e.op(o, a.x[0], d)))
}

func (e *emitter) count(a elemArgs) lir.Value {
	n := a.x[1]
	if a.in.Size() < 4 {
		n = e.op(lir.And, n, e.k(n, int64(a.in.Bits()-1)))
	}
	return n
}

func shlRule(e *emitter, a elemArgs) lir.Value {
	return e.norm(a.in, e.op(lir.Shl, a.x[0], e.count(a)))
}

func shrRule(e *emitter, a elemArgs) lir.Value {
	if a.in.IsSigned() {
		return e.op(lir.ShrS, a.x[0], e.count(a))
	}
	return e.op(lir.ShrU, a.x[0], e.count(a))
}

func popcntRule(e *emitter, a elemArgs) lir.Value {
	return e.op(lir.Popcnt, e.zeroExt(a.in, a.x[0]))
}

func clzRule(e *emitter, a elemArgs) lir.Value {
	v := e.op(lir.Clz, e.zeroExt(a.in, a.x[0]))
	if n := 32 - a.in.Bits(); n > 0 {
		v = e.op(lir.Sub, v, e.k(v, int64(n)))
	}
	return v
}

func ctzRule(e *emitter, a elemArgs) lir.Value {
	v := a.x[0]
	if n := a.in.Bits(); n < 32 {
		v = e.op(lir.Or, v, e.k(v, 1<<n))
	}
	return e.op(lir.Ctz, v)
}

func copysignRule(e *emitter, a elemArgs) lir.Value {
	return e.op(lir.FCopysign, a.x[0], e.op(lir.Canon, a.x[1]))
}

func selectRule(e *emitter, a elemArgs) lir.Value {
	if a.out != types.Bool {
		return e.sel(a.x[0], a.x[1], a.x[2])
	}
	if e.isVec(a.x[0]) || e.isVec(a.x[1]) || e.isVec(a.x[2]) {
		t := e.maskLogic(lir.And, a.x[0], a.x[1])
		return e.maskLogic(lir.Or, t, e.maskLogic(lir.And, e.b.Op(lir.MNot, a.x[0]), a.x[2]))
	}
	return e.b.Op(lir.Select, a.x...)
}

func bitcastRule(e *emitter, a elemArgs) lir.Value {
	x := a.x[0]
	if a.in.IsFloat() {
		x = e.bits(a.in, e.op(lir.Canon, x))
	}
	if a.out.IsFloat() {
		return e.conv(lir.FromBits, lirType(a.out).Elem, x)
	}
	return e.norm(a.out, x)
}

// bits returns the raw bits of a float.
func (e *emitter) bits(d types.DType, x lir.Value) lir.Value {
	if d == types.F64 {
		return e.conv(lir.BitsOf, lir.I64, x)
	}
	return e.conv(lir.BitsOf, lir.I32, x)
}
