package interp

import (
	"testing"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestEveryOpHasACompiler checks the table against the op table.
func TestEveryOpHasACompiler(t *testing.T) {
	table := compilers()
	for _, row := range op.All() {
		if row.Code == op.Param {
			continue // resolved by the plan
		}
		if table[row.Code] == nil {
			t.Errorf("%s has no interpreter entry", row.Name)
		}
	}
	for c, f := range table {
		if _, ok := op.Lookup(op.Code(c)); f != nil && !ok {
			t.Errorf("interpreter entry for opcode %d, which is not declared", c)
		}
	}
}

func TestOps(t *testing.T) {
	at := op.NewAttrs
	i, is := op.Int, op.Ints
	cmp := func(k op.CompareKind, o op.Order) op.Attrs {
		return at(i(op.KKind, int64(k)), i(op.KOrder, int64(o)))
	}
	to := func(d types.DType) op.Attrs { return at(i(op.KTo, int64(d))) }
	axis := func(a int64) op.Attrs { return at(i(op.KAxis, a)) }
	axes := func(a ...int64) op.Attrs { return at(is(op.KAxes, a...)) }
	red := func(k op.ReduceKind, a ...int64) op.Attrs { return at(i(op.KKind, int64(k)), is(op.KAxes, a...)) }
	win := func(sizes, strides []int64) op.Attrs {
		return at(is(op.KSizes, sizes...), is(op.KStrides, strides...))
	}
	type l = []int64
	sort := func(a, desc int64) op.Attrs { return at(i(op.KAxis, a), i(op.KDescending, desc)) }
	dg := func(acc op.Acc, xb, yb, xc, yc []int64) op.Attrs {
		return at(i(op.KAcc, int64(acc)), is(op.KLhsBatch, xb...), is(op.KRhsBatch, yb...),
			is(op.KLhsContract, xc...), is(op.KRhsContract, yc...))
	}
	s := func(x ...string) []string { return x }
	for _, c := range []struct {
		name  string
		op    op.Code
		out   string
		attrs op.Attrs
		in    []string
		want  string
	}{
		// Elementwise.
		{"add", op.Add, "", nil, s("i8[3]: 127 -1 5", "i8[3]: 1 1 1"), "i8[3]: -128 0 6"},
		{"add scalar", op.Add, "", nil, s("f32: 0.1", "f32: 0.2"), "f32: 0.3"},
		{"sub", op.Sub, "", nil, s("u8[2]: 0 9", "u8[2]: 1 1"), "u8[2]: 255 8"},
		{"mul", op.Mul, "", nil, s("f32[2]: 0x1 2", "f32[2]: inf 3"), "f32[2]: +Inf 6"},
		{"div", op.Div, "", nil, s("i32[4]: 1 -7 -2147483648 7", "i32[4]: 0 2 -1 -2"), "i32[4]: -1 -3 -2147483648 -3"},
		{"div u", op.Div, "", nil, s("u16: 7", "u16: 0"), "u16: 65535"},
		{"rem", op.Rem, "", nil, s("i32[3]: 7 -7 -2147483648", "i32[3]: 0 2 -1"), "i32[3]: 7 -1 0"},
		{"rem f", op.Rem, "", nil, s("f64[3]: 5.5 -5.5 1", "f64[3]: 2 2 0"), "f64[3]: 1.5 -1.5 NaN"},
		{"neg", op.Neg, "", nil, s("i8[2]: -128 1"), "i8[2]: -128 -1"},
		{"abs", op.Abs, "", nil, s("f32[3]: -0 nan -2"), "f32[3]: 0 NaN 2"},
		{"min", op.Min, "", nil, s("f32[3]: -0 nan 1", "f32[3]: 0 1 2"), "f32[3]: -0 NaN 1"},
		{"max", op.Max, "", nil, s("f32[3]: -0 1 1", "f32[3]: 0 nan 2"), "f32[3]: 0 NaN 2"},
		{"fma", op.FMA, "", nil, s("f32[1]: 0xea968000", "f32[1]: 0x38e3ad00", "f32[1]: 0x8b6d2a5a"), show(lit(t, "f32[1]: 0xe405d935"))},
		{"fma scalar", op.FMA, "", nil, s("f64: 2", "f64: 3", "f64: 1"), "f64: 7"},
		{"sqrt", op.Sqrt, "", nil, s("f32[3]: 2 -1 -0"), "f32[3]: 1.4142135 NaN -0"},
		{"floor", op.Floor, "", nil, s("f64[2]: -0.5 1.5"), "f64[2]: -1 1"},
		{"ceil", op.Ceil, "", nil, s("f64[2]: -0.5 1.5"), "f64[2]: -0 2"},
		{"trunc", op.Trunc, "", nil, s("f64[2]: -0.5 1.5"), "f64[2]: -0 1"},
		{"round_even", op.RoundEven, "", nil, s("f32[4]: 2.5 3.5 -0.5 nan"), "f32[4]: 2 4 -0 NaN"},
		{"and", op.And, "", nil, s("bool[2]: 1 1", "bool[2]: 0 1"), "bool[2]: 0 1"},
		{"or", op.Or, "", nil, s("u8: 12", "u8: 10"), "u8: 14"},
		{"xor", op.Xor, "", nil, s("u8: 12", "u8: 10"), "u8: 6"},
		{"not", op.Not, "", nil, s("bool[2]: 1 0"), "bool[2]: 0 1"},
		{"not i", op.Not, "", nil, s("i8: 0"), "i8: -1"},
		{"shl", op.Shl, "", nil, s("i8[2]: 1 1", "i8[2]: 7 9"), "i8[2]: -128 2"},
		{"shr", op.Shr, "", nil, s("i32[3]: 1 2 3", "i32[3]: -1 -1 -1"), "i32[3]: 0 0 0"},
		{"shr signed", op.Shr, "", nil, s("i8: -128", "i8: 7"), "i8: -1"},
		{"popcnt", op.Popcnt, "", nil, s("i16: -1"), "i16: 16"},
		{"clz", op.Clz, "", nil, s("u32[2]: 0 1"), "u32[2]: 32 31"},
		{"ctz", op.Ctz, "", nil, s("u32[2]: 0 8"), "u32[2]: 32 3"},
		{"eq", op.Compare, "", cmp(op.EQ, op.IEEE), s("f32[2]: nan -0", "f32[2]: nan 0"), "bool[2]: 0 1"},
		{"total eq", op.Compare, "", cmp(op.EQ, op.Total), s("f32[2]: nan -0", "f32[2]: nan 0"), "bool[2]: 1 0"},
		{"total lt", op.Compare, "", cmp(op.LT, op.Total), s("f32[2]: inf -0", "f32[2]: nan 0"), "bool[2]: 1 1"},
		{"lt i", op.Compare, "", cmp(op.LT, op.IEEE), s("i8[2]: -1 1", "i8[2]: 1 -1"), "bool[2]: 1 0"},
		{"ge u", op.Compare, "", cmp(op.GE, op.IEEE), s("u8: 255", "u8: 1"), "bool: 1"},
		{"select", op.Select, "", nil, s("bool[2]: 1 0", "f32[2]: 1 2", "f32[2]: 3 4"), "f32[2]: 1 4"},
		{"select scalar", op.Select, "", nil, s("bool: 0", "u8: 1", "u8: 2"), "u8: 2"},
		{"convert", op.Convert, "u8[4]", nil, s("f32[4]: -2 300 nan 1.9"), "u8[4]: 0 255 0 1"},
		{"convert f16", op.Convert, "f16[2]", nil, s("f64[2]: 65520 1.00048828125"), "f16[2]: +Inf 1"},
		{"convert wraps", op.Convert, "i8", nil, s("i32: 200"), "i8: -56"},
		{"bitcast", op.Bitcast, "u32", nil, s("f32: 0xffc00001"), "u32: 2143289344"},
		{"bitcast back", op.Bitcast, "f32[2]", nil, s("u32[2]: 4290772993 1065353216"), "f32[2]: NaN 1"},
		{"copysign", op.Copysign, "", nil, s("f32[2]: -1 1", "f32[2]: 0xffc00000 -0"), "f32[2]: 1 -1"},
		{"add_overflow", op.AddOverflow, "", nil, s("i8[2]: 127 126", "i8[2]: 1 1"), "bool[2]: 1 0"},
		{"sub_overflow", op.SubOverflow, "", nil, s("u8[2]: 0 1", "u8[2]: 1 1"), "bool[2]: 1 0"},
		{"mul_overflow", op.MulOverflow, "", nil, s("i8[3]: -128 16 -16", "i8[3]: -1 8 8"), "bool[3]: 1 1 0"},
		{"convert_overflow", op.ConvertOverflow, "", to(types.I8), s("f32[4]: 127.9 128 nan -128.5"), "bool[4]: 0 1 1 0"},

		// Shape.
		{"iota", op.Iota, "i32[2,3]", axis(1), nil, "i32[2,3]: 0 1 2 0 1 2"},
		{"iota axis 0", op.Iota, "f32[2,3]", axis(0), nil, "f32[2,3]: 0 0 0 1 1 1"},
		{"reshape", op.Reshape, "i8[3,2]", nil, s("i8[2,3]: 1 2 3 4 5 6"), "i8[3,2]: 1 2 3 4 5 6"},
		{"reshape scalar", op.Reshape, "i8", nil, s("i8[1,1]: 7"), "i8: 7"},
		{"reshape to rank 1", op.Reshape, "f32[1]", nil, s("f32: 7"), "f32[1]: 7"},
		{"broadcast", op.Broadcast, "i8[2,3]", axes(1), s("i8[3]: 1 2 3"), "i8[2,3]: 1 2 3 1 2 3"},
		{"broadcast stretch", op.Broadcast, "i8[2,3]", axes(0, 1), s("i8[2,1]: 1 2"), "i8[2,3]: 1 1 1 2 2 2"},
		{"broadcast scalar", op.Broadcast, "i64[2]", axes(), s("i64: 9"), "i64[2]: 9 9"},
		{"broadcast to empty", op.Broadcast, "i64[0]", axes(), s("i64: 9"), "i64[0]:"},
		{"transpose", op.Transpose, "", axes(1, 0), s("i16[2,3]: 1 2 3 4 5 6"), "i16[3,2]: 1 4 2 5 3 6"},
		{"transpose 3", op.Transpose, "", axes(2, 0, 1), s("u8[2,2,2]: 0 1 2 3 4 5 6 7"), "u8[2,2,2]: 0 2 4 6 1 3 5 7"},
		{"slice", op.Slice, "", win(l{2}, l{1}), s("i8[4]: 1 2 3 4", "i64: 1"), "i8[2]: 2 3"},
		{"slice clamps high", op.Slice, "", win(l{2}, l{1}), s("i8[4]: 1 2 3 4", "i64: 9"), "i8[2]: 3 4"},
		{"slice clamps low", op.Slice, "", win(l{2}, l{1}), s("i8[4]: 1 2 3 4", "i64: -9"), "i8[2]: 1 2"},
		{"slice strided", op.Slice, "", win(l{2}, l{2}), s("i8[4]: 1 2 3 4", "i64: 3"), "i8[2]: 2 4"},
		{"slice 2d", op.Slice, "", win(l{1, 2}, l{1, 1}), s("i8[2,3]: 1 2 3 4 5 6", "i64: 1", "i64: 1"), "i8[1,2]: 5 6"},
		{"slice of empty", op.Slice, "", win(l{2}, l{1}), s("f32[0]:", "i64: 0"), "f32[2]: 0 0"},
		{"slice to empty", op.Slice, "", win(l{0}, l{1}), s("f32[2]: 1 2", "i64: 5"), "f32[0]:"},
		{"update", op.Update, "", nil, s("i8[4]: 1 2 3 4", "i8[2]: 8 9", "i64: 1"), "i8[4]: 1 8 9 4"},
		{"update clamps high", op.Update, "", nil, s("i8[4]: 1 2 3 4", "i8[2]: 8 9", "i64: 4"), "i8[4]: 1 2 8 9"},
		{"update clamps low", op.Update, "", nil, s("i8[4]: 1 2 3 4", "i8[2]: 8 9", "i64: -1"), "i8[4]: 8 9 3 4"},
		{"update 2d", op.Update, "", nil, s("i8[2,2]: 1 2 3 4", "i8[2,1]: 8 9", "i64: 0", "i64: 1"), "i8[2,2]: 1 8 3 9"},
		{"concat", op.Concat, "", axis(1), s("i8[2,1]: 1 2", "i8[2,2]: 3 4 5 6", "i8[2,0]:"), "i8[2,3]: 1 3 4 2 5 6"},
		{"gather", op.Gather, "", axis(0), s("i8[3]: 7 8 9", "i64[4]: 2 -1 9 1"), "i8[4]: 9 7 9 8"},
		{"gather axis 1", op.Gather, "", axis(1), s("i8[2,3]: 1 2 3 4 5 6", "i32[2,1]: 2 0"), "i8[2,2,1]: 3 1 6 4"},
		{"gather scalar", op.Gather, "", axis(0), s("f32[2]: 5 6", "u64: 18446744073709551615"), "f32: 6"},
		{"gather row", op.Gather, "", axis(0), s("i8[2,2]: 1 2 3 4", "u8: 1"), "i8[2]: 3 4"},
		{"gather of empty", op.Gather, "", axis(0), s("f32[0]:", "i64[2]: 0 1"), "f32[2]: 0 0"},

		// Reductions.
		{"sum", op.Reduce, "", red(op.Sum, 1), s("i32[2,3]: 1 2 3 4 5 6"), "i32[2]: 6 15"},
		{"sum axis 0", op.Reduce, "", red(op.Sum, 0), s("i32[2,3]: 1 2 3 4 5 6"), "i32[3]: 5 7 9"},
		{"sum all", op.Reduce, "", red(op.Sum, 0, 1), s("f32[2,2]: 1 2 3 4"), "f32: 10"},
		{"sum of -0", op.Reduce, "", red(op.Sum, 0), s("f32[1]: -0"), "f32: -0"},
		{"sum with initial value", op.Reduce, "", red(op.Sum, 0), s("f32[1]: -0", "f32: 0"), "f32: 0"},
		{"empty sum", op.Reduce, "", red(op.Sum, 0), s("f32[0]:"), "f32: 0"},
		{"empty sum with initial", op.Reduce, "", red(op.Sum, 0), s("f32[0]:", "f32: -0"), "f32: -0"},
		{"prod", op.Reduce, "", red(op.Prod, 0), s("i8[3]: 100 2 1"), "i8: -56"},
		{"empty prod", op.Reduce, "", red(op.Prod, 0), s("f64[0]:"), "f64: 1"},
		{"min", op.Reduce, "", red(op.RMin, 0), s("f32[3]: 1 nan -1"), "f32: NaN"},
		{"min zeros", op.Reduce, "", red(op.RMin, 0), s("f32[2]: 0 -0"), "f32: -0"},
		{"empty min", op.Reduce, "", red(op.RMin, 0), s("f32[0]:"), "f32: +Inf"},
		{"empty min i", op.Reduce, "", red(op.RMin, 1), s("i8[2,0]:"), "i8[2]: 127 127"},
		{"empty max u", op.Reduce, "", red(op.RMax, 0), s("u8[0]:"), "u8: 0"},
		{"empty max i", op.Reduce, "", red(op.RMax, 0), s("i64[0]:"), "i64: -9223372036854775808"},
		{"max", op.Reduce, "", red(op.RMax, 0), s("i8[3]: -1 -2 -3"), "i8: -1"},
		{"and", op.Reduce, "", red(op.RAnd, 0), s("bool[2]: 1 0"), "bool: 0"},
		{"empty and", op.Reduce, "", red(op.RAnd, 0), s("bool[0]:"), "bool: 1"},
		{"empty and u", op.Reduce, "", red(op.RAnd, 0), s("u16[0]:"), "u16: 65535"},
		{"or", op.Reduce, "", red(op.ROr, 0), s("u8[2]: 1 4"), "u8: 5"},
		{"xor", op.Reduce, "", red(op.RXor, 0), s("u8[3]: 1 4 5"), "u8: 0"},
		{"dot", op.Dot, "", axis(0), s("f32[2]: 1 2", "f32[2]: 3 4"), "f32: 11"},
		{"dot keeps -0", op.Dot, "", axis(0), s("f64[1]: -0", "f64[1]: 1"), "f64: -0"},
		{"dot batch", op.Dot, "", axis(0), s("f32[2,2]: 1 2 3 4", "f32[2,2]: 1 1 1 1"), "f32[2]: 4 6"},
		{"dot empty", op.Dot, "", axis(0), s("f32[0]:", "f32[0]:"), "f32: 0"},

		// Contractions.
		{"matmul", op.DotGeneral, "", dg(op.AccFMA, nil, nil, l{1}, l{0}), s("f32[2,2]: 1 2 3 4", "f32[2,2]: 5 6 7 8"), "f32[2,2]: 19 22 43 50"},
		{"chain drops -0", op.DotGeneral, "", dg(op.AccFMA, nil, nil, l{0}, l{0}), s("f32[1]: -0", "f32[1]: 1"), "f32: 0"},
		{"K = 0", op.DotGeneral, "", dg(op.AccFMA, nil, nil, l{1}, l{0}), s("f64[2,0]:", "f64[0,1]:"), "f64[2,1]: 0 0"},
		{"fused", op.DotGeneral, "", dg(op.AccFMA, nil, nil, l{0}, l{0}), s("f32[2]: 0x3ee66029 0xc445c000", "f32[2]: 1 0x3a01f1c2"), show(lit(t, "f32: 0x3d6cf94e"))},
		{"unfused", op.DotGeneral, "", dg(op.AccUnfused, nil, nil, l{0}, l{0}), s("f32[2]: 0x3ee66029 0xc445c000", "f32[2]: 1 0x3a01f1c2"), show(lit(t, "f32: 0x3d6cf950"))},
		{"acc f64", op.DotGeneral, "", dg(op.AccF64, nil, nil, l{0}, l{0}), s("f32[3]: 16777216 1 -16777216", "f32[3]: 1 1 1"), "f32: 1"},
		{"acc fma loses", op.DotGeneral, "", dg(op.AccFMA, nil, nil, l{0}, l{0}), s("f32[3]: 16777216 1 -16777216", "f32[3]: 1 1 1"), "f32: 0"},
		{"f16 in", op.DotGeneral, "", dg(op.AccFMA, nil, nil, l{0}, l{0}), s("f16[2]: 1.5 2", "f16[2]: 2 4"), "f32: 11"},
		{"bf16 in", op.DotGeneral, "", dg(op.AccF64, nil, nil, l{0}, l{0}), s("bf16[2]: 1.5 2", "bf16[2]: 2 4"), "f32: 11"},
		{"acc i32", op.DotGeneral, "", dg(op.AccI32, nil, nil, l{0}, l{0}), s("i8[2]: -128 -1", "u8[2]: 255 1"), "i32: -32641"},
		{"acc i64 wraps", op.DotGeneral, "", dg(op.AccI64, nil, nil, l{0}, l{0}), s("i64[2]: 9223372036854775807 1", "i64[2]: 1 1"), "i64: -9223372036854775808"},
		{"batch and transpose", op.DotGeneral, "", dg(op.AccFMA, l{0}, l{1}, l{1}, l{0}),
			s("f32[2,2,1]: 1 2 3 4", "f32[2,2]: 1 10 100 1000"), "f32[2,1]: 201 4030"},
		{"outer product", op.DotGeneral, "", dg(op.AccFMA, nil, nil, nil, nil), s("f32[2]: 1 2", "f32[2]: 3 4"), "f32[2,2]: 3 4 6 8"},

		// Order.
		{"sort", op.Sort, "", sort(0, 0), s("f32[5]: nan 1 0 -0 -inf"), "f32[5]: -Inf -0 0 1 NaN"},
		{"sort descending", op.Sort, "", sort(0, 1), s("f32[5]: 1 nan -0 0 -inf"), "f32[5]: NaN 1 0 -0 -Inf"},
		{"sort stable", op.Sort, "", sort(0, 0), s("i8[4]: 2 1 2 1", "u8[4]: 0 1 2 3"), "i8[4]: 1 1 2 2 | u8[4]: 1 3 0 2"},
		{"sort stable descending", op.Sort, "", sort(0, 1), s("i8[4]: 1 2 1 2", "u8[4]: 0 1 2 3"), "i8[4]: 2 2 1 1 | u8[4]: 1 3 0 2"},
		{"sort axis 0", op.Sort, "", sort(0, 0), s("i8[2,2]: 3 1 2 4"), "i8[2,2]: 2 1 3 4"},
		{"argmax", op.ArgMax, "", axis(0), s("f32[4]: 1 3 3 2"), "i64: 1"},
		{"argmax nan", op.ArgMax, "", axis(0), s("f32[4]: 9 nan inf nan"), "i64: 1"},
		{"argmin nan", op.ArgMin, "", axis(0), s("f32[3]: 0 nan -inf"), "i64: 1"},
		{"argmin zeros", op.ArgMin, "", axis(0), s("f32[3]: 0 -0 -0"), "i64: 1"},
		{"argmin", op.ArgMin, "", axis(1), s("i8[2,3]: 1 -5 -5 3 2 9"), "i64[2]: 1 1"},
		{"argmax u", op.ArgMax, "", axis(0), s("u64[2]: 1 18446744073709551615"), "i64: 1"},

		// Traps.
		{"trap_if", op.TrapIf, "", at(i(op.KKind, int64(op.TrapIndex))), s("bool: 1"), "u32: 3"},
		{"trap_if not", op.TrapIf, "", at(i(op.KKind, int64(op.TrapIndex))), s("bool: 0"), "u32: 0"},
		{"trap_join left", op.TrapJoin, "", nil, s("u32: 2", "u32: 3"), "u32: 2"},
		{"trap_join right", op.TrapJoin, "", nil, s("u32: 0", "u32: 3"), "u32: 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := evalOp(t, c.op, c.out, c.attrs, c.in...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
