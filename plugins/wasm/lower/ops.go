package lower

import (
	"strings"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// plain maps operations to the semantic part of the instruction name, for
// scalars and for vectors. A vector name with a dot is complete; an empty one
// means that the form is made in custom or lane by lane.
var plain = [lir.NumOps]struct{ scalar, vec string }{
	lir.Add: {"add", "add"}, lir.Sub: {"sub", "sub"}, lir.Mul: {"mul", "mul"},
	lir.DivS: {"div_s", ""}, lir.DivU: {"div_u", ""}, lir.RemS: {"rem_s", ""}, lir.RemU: {"rem_u", ""},
	lir.And: {"and", "v128.and"}, lir.Or: {"or", "v128.or"}, lir.Xor: {"xor", "v128.xor"},
	lir.Shl: {"shl", ""}, lir.ShrS: {"shr_s", ""}, lir.ShrU: {"shr_u", ""},
	lir.Clz: {"clz", ""}, lir.Ctz: {"ctz", ""}, lir.Popcnt: {"popcnt", ""},
	lir.Ext8S: {"extend8_s", ""}, lir.Ext16S: {"extend16_s", ""},
	lir.Eq: {"eq", "eq"}, lir.Ne: {"ne", "ne"}, lir.LtS: {"lt_s", "lt_s"}, lir.LtU: {"lt_u", "lt_u"},
	lir.LeS: {"le_s", "le_s"}, lir.LeU: {"le_u", "le_u"},
	lir.FAdd: {"add", "add"}, lir.FSub: {"sub", "sub"}, lir.FMul: {"mul", "mul"}, lir.FDiv: {"div", "div"},
	lir.FSqrt: {"sqrt", "sqrt"}, lir.FNeg: {"neg", "neg"}, lir.FAbs: {"abs", "abs"},
	lir.FMin: {"min", "min"}, lir.FMax: {"max", "max"},
	lir.FFloor: {"floor", "floor"}, lir.FCeil: {"ceil", "ceil"}, lir.FTrunc: {"trunc", "trunc"},
	lir.FNearest: {"nearest", "nearest"}, lir.FCopysign: {"copysign", ""},
	lir.FEq: {"eq", "eq"}, lir.FNe: {"ne", "ne"}, lir.FLt: {"lt", "lt"}, lir.FLe: {"le", "le"},
	lir.MinS: {"", "min_s"}, lir.MinU: {"", "min_u"}, lir.MaxS: {"", "max_s"}, lir.MaxU: {"", "max_u"}, lir.IAbs: {"", "abs"},
	lir.AddSatS: {"", "add_sat_s"}, lir.AddSatU: {"", "add_sat_u"}, lir.SubSatS: {"", "sub_sat_s"}, lir.SubSatU: {"", "sub_sat_u"},
	lir.Dot2S: {"", "i32x4.dot_i16x8_s"},
	lir.MAnd:  {"", "v128.and"}, lir.MOr: {"", "v128.or"}, lir.MNot: {"", "v128.not"},
}

// conv maps conversions from one element type to another to instructions; an
// empty name is no code at all. Ix is i32 here. Vector conversions that are
// missing go lane by lane.
type convKey struct {
	op       lir.Op
	from, to lir.Elem
	vec      bool
}

var conv = map[convKey]string{
	{lir.Wrap, lir.I64, lir.I32, false}: "i32.wrap_i64",
	{lir.ExtS, lir.I32, lir.I64, false}: "i64.extend_i32_s", {lir.ExtU, lir.I32, lir.I64, false}: "i64.extend_i32_u",
	{lir.IxToI64, lir.Ix, lir.I64, false}: "i64.extend_i32_u", {lir.I64ToIx, lir.I64, lir.Ix, false}: "i32.wrap_i64",
	{lir.IxToI32, lir.Ix, lir.I32, false}: "", {lir.I32ToIxU, lir.I32, lir.Ix, false}: "",
	{lir.SToF, lir.I32, lir.F32, false}: "f32.convert_i32_s", {lir.SToF, lir.I64, lir.F32, false}: "f32.convert_i64_s",
	{lir.SToF, lir.I32, lir.F64, false}: "f64.convert_i32_s", {lir.SToF, lir.I64, lir.F64, false}: "f64.convert_i64_s",
	{lir.UToF, lir.I32, lir.F32, false}: "f32.convert_i32_u", {lir.UToF, lir.I64, lir.F32, false}: "f32.convert_i64_u",
	{lir.UToF, lir.I32, lir.F64, false}: "f64.convert_i32_u", {lir.UToF, lir.I64, lir.F64, false}: "f64.convert_i64_u",
	{lir.SToF, lir.I32, lir.F32, true}: "f32x4.convert_i32x4_s", {lir.UToF, lir.I32, lir.F32, true}: "f32x4.convert_i32x4_u",
	{lir.SToF, lir.I32, lir.F64, true}: "f64x2.convert_low_i32x4_s", {lir.UToF, lir.I32, lir.F64, true}: "f64x2.convert_low_i32x4_u",
	{lir.FToS, lir.F32, lir.I32, false}: "i32.trunc_sat_f32_s", {lir.FToS, lir.F64, lir.I32, false}: "i32.trunc_sat_f64_s",
	{lir.FToS, lir.F32, lir.I64, false}: "i64.trunc_sat_f32_s", {lir.FToS, lir.F64, lir.I64, false}: "i64.trunc_sat_f64_s",
	{lir.FToU, lir.F32, lir.I32, false}: "i32.trunc_sat_f32_u", {lir.FToU, lir.F64, lir.I32, false}: "i32.trunc_sat_f64_u",
	{lir.FToU, lir.F32, lir.I64, false}: "i64.trunc_sat_f32_u", {lir.FToU, lir.F64, lir.I64, false}: "i64.trunc_sat_f64_u",
	{lir.FToS, lir.F32, lir.I32, true}: "i32x4.trunc_sat_f32x4_s", {lir.FToU, lir.F32, lir.I32, true}: "i32x4.trunc_sat_f32x4_u",
	{lir.FToS, lir.F64, lir.I32, true}: "i32x4.trunc_sat_f64x2_s_zero", {lir.FToU, lir.F64, lir.I32, true}: "i32x4.trunc_sat_f64x2_u_zero",
	{lir.Promote, lir.F32, lir.F64, false}: "f64.promote_f32", {lir.Promote, lir.F32, lir.F64, true}: "f64x2.promote_low_f32x4",
	{lir.Demote, lir.F64, lir.F32, false}: "f32.demote_f64", {lir.Demote, lir.F64, lir.F32, true}: "f32x4.demote_f64x2_zero",
	{lir.BitsOf, lir.F32, lir.I32, false}: "i32.reinterpret_f32", {lir.BitsOf, lir.F64, lir.I64, false}: "i64.reinterpret_f64",
	{lir.FromBits, lir.I32, lir.F32, false}: "f32.reinterpret_i32", {lir.FromBits, lir.I64, lir.F64, false}: "f64.reinterpret_i64",
	{lir.BitsOf, lir.F32, lir.I32, true}: "", {lir.BitsOf, lir.F64, lir.I64, true}: "",
	{lir.FromBits, lir.I32, lir.F32, true}: "", {lir.FromBits, lir.I64, lir.F64, true}: "",
}

// shape is the simd128 name of a vector of that element.
func shape(e lir.Elem) string {
	switch e {
	case lir.I8:
		return "i8x16"
	case lir.I16:
		return "i16x8"
	case lir.I32:
		return "i32x4"
	case lir.I64:
		return "i64x2"
	case lir.F32:
		return "f32x4"
	case lir.F64:
		return "f64x2"
	}
	panic("BUG: lower: vector of " + e.String())
}

// compute pushes the result of an operation.
func (c *fn) compute(s *lir.Stmt) {
	// operands mark their own code, so the node is set last
	if m := c.makers[s.Op]; m != nil && m(c, s) {
		return
	}
	if len(s.Args) == 1 {
		from := c.src.TypeOf(s.Args[0])
		if name, ok := conv[convKey{s.Op, from.Elem, s.Type.Elem, s.Type.IsVec()}]; ok {
			c.push(s.Args[0])
			c.f.At(s.Node)
			if name != "" {
				c.f.I(name)
			}
			return
		}
	}
	row := plain[s.Op]
	vec := s.Type.IsVec() || s.Type.Elem == lir.Mask
	if vec && row.vec == "" {
		c.byLanes(s)
		return
	}
	name := row.vec
	switch {
	case !vec:
		name = wasmType(s.Type).String() + "." + row.scalar
	case !strings.Contains(name, "."):
		name = shape(s.Type.Elem) + "." + name
	}
	for _, a := range s.Args {
		c.push(a)
	}
	c.f.At(s.Node)
	c.f.I(name)
}

// byLanes computes a vector operation lane by lane with its scalar form.
func (c *fn) byLanes(s *lir.Stmt) {
	f := c.f
	temps := make([]uint32, len(s.Args))
	for i, a := range s.Args {
		c.push(a)
		temps[i] = f.Local(wenc.V128)
		f.Set(temps[i])
	}
	f.At(s.Node)
	to := shape(s.Type.Elem)
	for lane := range int(s.Type.Lanes) {
		for i, a := range s.Args {
			f.Get(temps[i])
			f.I(shape(c.src.TypeOf(a).Elem)+".extract_lane", uint64(lane))
		}
		c.scalarForm(s)
		if lane == 0 {
			f.I(to + ".splat")
		} else {
			f.I(to+".replace_lane", uint64(lane))
		}
	}
	for _, t := range temps {
		f.Free(t)
	}
}

// scalarForm applies the scalar instruction of a vector operation to operands
// on the stack. Replacing a lane keeps the vector below them.
func (c *fn) scalarForm(s *lir.Stmt) {
	if row := plain[s.Op]; row.scalar != "" {
		c.f.I(wasmType(s.Type.Scalar()).String() + "." + row.scalar)
		return
	}
	k := convKey{s.Op, c.src.TypeOf(s.Args[0]).Elem, s.Type.Elem, false}
	name, ok := conv[k]
	if !ok {
		panic("BUG: lower: no scalar form of " + s.Op.String() + " for " + s.Type.String())
	}
	if name != "" {
		c.f.I(name)
	}
}
