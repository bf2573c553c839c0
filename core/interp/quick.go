package interp

import (
	"cmp"
	"math"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// A quick is a node on scalars whose operation and dtype are written out: one
// call, no error, no allocation. What it must give is what the node's exec
// gives, for every operand; ops that have none keep their exec. A plan runs
// neighbouring quicks as one instruction.
type quick func(fr []val)

// quickOf returns the quick form of n, nil where it has none.
func quickOf(n *node) quick {
	if len(n.out) != 1 || !n.out[0].IsScalar() {
		return nil
	}
	for _, t := range n.in {
		if !t.IsScalar() {
			return nil
		}
	}
	switch n.op {
	case op.Select:
		return quickSelect(n)
	case op.TrapIf:
		return quickTrapIf(n)
	case op.TrapJoin:
		return quickTrapJoin(n)
	case op.Compare:
		return quickCompare(n)
	case op.Convert:
		return quickConvert(n)
	}
	if len(n.in) == 0 {
		return nil
	}
	switch d := n.in[0].DType; d {
	case types.F32:
		return quickF32(n)
	case types.F64:
		return quickF64(n)
	case types.I8:
		return orElse(quickBits[uint8](n), n, quickOrder[int8, uint8])
	case types.I16:
		return orElse(quickBits[uint16](n), n, quickOrder[int16, uint16])
	case types.I32:
		return orElse(quickBits[uint32](n), n, quickOrder[int32, uint32])
	case types.I64:
		return orElse(quickBits[uint64](n), n, quickOrder[int64, uint64])
	case types.U8:
		return orElse(quickBits[uint8](n), n, quickOrder[uint8, uint8])
	case types.U16:
		return orElse(quickBits[uint16](n), n, quickOrder[uint16, uint16])
	case types.U32:
		return orElse(quickBits[uint32](n), n, quickOrder[uint32, uint32])
	case types.U64:
		return orElse(quickBits[uint64](n), n, quickOrder[uint64, uint64])
	case types.Bool:
		return quickBool(n)
	}
	return nil
}

func orElse(q quick, n *node, f func(n *node) quick) quick {
	if q != nil {
		return q
	}
	return f(n)
}

func quickSelect(n *node) quick {
	c, a, b, o := n.ins[0], n.ins[1], n.ins[2], n.o
	return func(fr []val) {
		x := fr[b].bits
		if fr[c].bits != 0 {
			x = fr[a].bits
		}
		fr[o].bits = x
	}
}

func quickTrapIf(n *node) quick {
	code, a, o := uint64(n.attrs.Int(op.KKind)), n.ins[0], n.o
	return func(fr []val) {
		x := uint64(0)
		if fr[a].bits != 0 {
			x = code
		}
		fr[o].bits = x
	}
}

func quickTrapJoin(n *node) quick {
	a, b, o := n.ins[0], n.ins[1], n.o
	return func(fr []val) {
		x := fr[a].bits
		if x == 0 {
			x = fr[b].bits
		}
		fr[o].bits = x
	}
}

func quickBool(n *node) quick {
	o := n.o
	switch n.op {
	case op.And:
		a, b := n.ins[0], n.ins[1]
		return func(fr []val) { fr[o].bits = fr[a].bits & fr[b].bits & 1 }
	case op.Or:
		a, b := n.ins[0], n.ins[1]
		return func(fr []val) { fr[o].bits = (fr[a].bits | fr[b].bits) & 1 }
	case op.Xor:
		a, b := n.ins[0], n.ins[1]
		return func(fr []val) { fr[o].bits = (fr[a].bits ^ fr[b].bits) & 1 }
	case op.Not:
		a := n.ins[0]
		return func(fr []val) { fr[o].bits = ^fr[a].bits & 1 }
	}
	return nil
}

// quickBits serves the integer ops that treat both signs alike, in the
// unsigned type of the width, whose conversion to 64 bits extends with zeros.
func quickBits[U numeric.Unsigned](n *node) quick {
	a, o := n.ins[0], n.o
	switch n.op {
	case op.Neg:
		return func(fr []val) { fr[o].bits = uint64(-U(fr[a].bits)) }
	case op.Not:
		return func(fr []val) { fr[o].bits = uint64(^U(fr[a].bits)) }
	}
	if len(n.ins) != 2 {
		return nil
	}
	b := n.ins[1]
	switch n.op {
	case op.Add:
		return func(fr []val) { fr[o].bits = uint64(U(fr[a].bits) + U(fr[b].bits)) }
	case op.Sub:
		return func(fr []val) { fr[o].bits = uint64(U(fr[a].bits) - U(fr[b].bits)) }
	case op.Mul:
		return func(fr []val) { fr[o].bits = uint64(U(fr[a].bits) * U(fr[b].bits)) }
	case op.And:
		return func(fr []val) { fr[o].bits = uint64(U(fr[a].bits) & U(fr[b].bits)) }
	case op.Or:
		return func(fr []val) { fr[o].bits = uint64(U(fr[a].bits) | U(fr[b].bits)) }
	case op.Xor:
		return func(fr []val) { fr[o].bits = uint64(U(fr[a].bits) ^ U(fr[b].bits)) }
	case op.Shl:
		return func(fr []val) { fr[o].bits = uint64(numeric.ShlInt(U(fr[a].bits), U(fr[b].bits))) }
	}
	return nil
}

// quickOrder serves the integer ops that see the sign: T is the type, U the
// unsigned one of its width.
func quickOrder[T numeric.Int, U numeric.Unsigned](n *node) quick {
	if len(n.ins) != 2 {
		return nil
	}
	a, b, o := n.ins[0], n.ins[1], n.o
	switch n.op {
	case op.Min:
		return func(fr []val) { fr[o].bits = uint64(U(min(T(fr[a].bits), T(fr[b].bits)))) }
	case op.Max:
		return func(fr []val) { fr[o].bits = uint64(U(max(T(fr[a].bits), T(fr[b].bits)))) }
	case op.Shr:
		return func(fr []val) { fr[o].bits = uint64(U(numeric.ShrInt(T(fr[a].bits), T(fr[b].bits)))) }
	case op.Div:
		return func(fr []val) { fr[o].bits = uint64(U(numeric.DivInt(T(fr[a].bits), T(fr[b].bits)))) }
	case op.Rem:
		return func(fr []val) { fr[o].bits = uint64(U(numeric.RemInt(T(fr[a].bits), T(fr[b].bits)))) }
	case op.AddOverflow:
		return func(fr []val) { fr[o].bits = bit(numeric.AddOverflow(T(fr[a].bits), T(fr[b].bits))) }
	case op.SubOverflow:
		return func(fr []val) { fr[o].bits = bit(numeric.SubOverflow(T(fr[a].bits), T(fr[b].bits))) }
	case op.MulOverflow:
		return func(fr []val) { fr[o].bits = bit(numeric.MulOverflow(T(fr[a].bits), T(fr[b].bits))) }
	}
	return nil
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func f32(b uint64) float32 { return math.Float32frombits(uint32(b)) }
func f64(b uint64) float64 { return math.Float64frombits(b) }
func b32(x float32) uint64 { return uint64(numeric.CanonF32(x)) }
func b64(x float64) uint64 { return numeric.CanonF64(x) }

func quickF32(n *node) quick {
	a, o := n.ins[0], n.o
	switch n.op {
	case op.Neg:
		return func(fr []val) { fr[o].bits = b32(-f32(fr[a].bits)) }
	case op.FMA:
		b, c := n.ins[1], n.ins[2]
		return func(fr []val) { fr[o].bits = b32(numeric.FMA32(f32(fr[a].bits), f32(fr[b].bits), f32(fr[c].bits))) }
	}
	if len(n.ins) != 2 {
		return nil
	}
	b := n.ins[1]
	switch n.op {
	case op.Add:
		return func(fr []val) { fr[o].bits = b32(f32(fr[a].bits) + f32(fr[b].bits)) }
	case op.Sub:
		return func(fr []val) { fr[o].bits = b32(f32(fr[a].bits) - f32(fr[b].bits)) }
	case op.Mul:
		return func(fr []val) { fr[o].bits = b32(float32(f32(fr[a].bits) * f32(fr[b].bits))) }
	case op.Div:
		return func(fr []val) { fr[o].bits = b32(f32(fr[a].bits) / f32(fr[b].bits)) }
	case op.Min:
		return func(fr []val) { fr[o].bits = b32(numeric.MinFloat(f32(fr[a].bits), f32(fr[b].bits))) }
	case op.Max:
		return func(fr []val) { fr[o].bits = b32(numeric.MaxFloat(f32(fr[a].bits), f32(fr[b].bits))) }
	}
	return nil
}

func quickF64(n *node) quick {
	a, o := n.ins[0], n.o
	switch n.op {
	case op.Neg:
		return func(fr []val) { fr[o].bits = b64(-f64(fr[a].bits)) }
	case op.FMA:
		b, c := n.ins[1], n.ins[2]
		return func(fr []val) { fr[o].bits = b64(numeric.FMA64(f64(fr[a].bits), f64(fr[b].bits), f64(fr[c].bits))) }
	}
	if len(n.ins) != 2 {
		return nil
	}
	b := n.ins[1]
	switch n.op {
	case op.Add:
		return func(fr []val) { fr[o].bits = b64(f64(fr[a].bits) + f64(fr[b].bits)) }
	case op.Sub:
		return func(fr []val) { fr[o].bits = b64(f64(fr[a].bits) - f64(fr[b].bits)) }
	case op.Mul:
		return func(fr []val) { fr[o].bits = b64(float64(f64(fr[a].bits) * f64(fr[b].bits))) }
	case op.Div:
		return func(fr []val) { fr[o].bits = b64(f64(fr[a].bits) / f64(fr[b].bits)) }
	case op.Min:
		return func(fr []val) { fr[o].bits = b64(numeric.MinFloat(f64(fr[a].bits), f64(fr[b].bits))) }
	case op.Max:
		return func(fr []val) { fr[o].bits = b64(numeric.MaxFloat(f64(fr[a].bits), f64(fr[b].bits))) }
	}
	return nil
}

func quickCompare(n *node) quick {
	if op.Order(n.attrs.Int(op.KOrder)) == op.Total && n.in[0].DType.IsFloating() {
		return nil
	}
	k := op.CompareKind(n.attrs.Int(op.KKind))
	a, b, o := n.ins[0], n.ins[1], n.o
	switch n.in[0].DType {
	case types.Bool, types.U8:
		return compareInts[uint8](k, a, b, o)
	case types.U16:
		return compareInts[uint16](k, a, b, o)
	case types.U32:
		return compareInts[uint32](k, a, b, o)
	case types.U64:
		return compareInts[uint64](k, a, b, o)
	case types.I8:
		return compareInts[int8](k, a, b, o)
	case types.I16:
		return compareInts[int16](k, a, b, o)
	case types.I32:
		return compareInts[int32](k, a, b, o)
	case types.I64:
		return compareInts[int64](k, a, b, o)
	case types.F32:
		return func(fr []val) { fr[o].bits = bit(holds(k, f32(fr[a].bits), f32(fr[b].bits))) }
	case types.F64:
		return func(fr []val) { fr[o].bits = bit(holds(k, f64(fr[a].bits), f64(fr[b].bits))) }
	}
	return nil
}

func compareInts[T numeric.Int](k op.CompareKind, a, b, o int32) quick {
	switch k {
	case op.EQ:
		return func(fr []val) { fr[o].bits = bit(T(fr[a].bits) == T(fr[b].bits)) }
	case op.NE:
		return func(fr []val) { fr[o].bits = bit(T(fr[a].bits) != T(fr[b].bits)) }
	case op.LT:
		return func(fr []val) { fr[o].bits = bit(T(fr[a].bits) < T(fr[b].bits)) }
	case op.LE:
		return func(fr []val) { fr[o].bits = bit(T(fr[a].bits) <= T(fr[b].bits)) }
	case op.GT:
		return func(fr []val) { fr[o].bits = bit(T(fr[a].bits) > T(fr[b].bits)) }
	case op.GE:
		return func(fr []val) { fr[o].bits = bit(T(fr[a].bits) >= T(fr[b].bits)) }
	}
	return nil
}

// holds: Go's operators are the IEEE predicates, NE the negation of EQ.
func holds[T cmp.Ordered](k op.CompareKind, a, b T) bool {
	switch k {
	case op.EQ:
		return a == b
	case op.NE:
		return a != b
	case op.LT:
		return a < b
	case op.LE:
		return a <= b
	case op.GT:
		return a > b
	}
	return a >= b
}

// quickConvert serves the conversions that are one call of numeric's.
func quickConvert(n *node) quick {
	f := numeric.ConvertOf(n.in[0].DType, n.out[0].DType)
	if f == nil {
		return nil
	}
	a, o := n.ins[0], n.o
	return func(fr []val) { fr[o].bits = f(fr[a].bits) }
}
