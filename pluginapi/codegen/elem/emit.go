// Package elem lowers the elementwise operations of the language to loop IR, on
// scalars or on the lanes of vectors: one rule for each operation, whoever plans
// the loops around it.
package elem

import (
	"fmt"

	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Emitter emits operations into B for Target. Operands may mix scalars and
// vectors of one length: scalars go to all lanes.
type Emitter struct {
	B      *lir.Builder
	Target *lir.Target
}

// NoVector says that code has no vector form on the target. It is raised with
// panic and meant to be recovered by whoever chose vectors, who then takes
// fewer lanes or none; it never leaves the code generator.
type NoVector struct{ Why string }

// Fail raises NoVector.
func (e *Emitter) Fail(format string, args ...any) {
	panic(NoVector{fmt.Sprintf(format, args...)})
}

// scalarOnly is called where an operation on vs has no vector form.
func (e *Emitter) scalarOnly(what string, vs ...lir.Value) {
	for _, v := range vs {
		if e.IsVec(v) {
			e.Fail("%s has no vector form", what)
		}
	}
}

// IsVec reports whether v has lanes.
func (e *Emitter) IsVec(v lir.Value) bool { return e.B.TypeOf(v).IsVec() }

// Uniform gives all values the lanes of the widest: scalars become vectors.
func (e *Emitter) Uniform(vs ...lir.Value) []lir.Value {
	n := 1
	for _, v := range vs {
		n = max(n, int(e.B.TypeOf(v).Lanes))
	}
	if n == 1 {
		return vs
	}
	out := make([]lir.Value, len(vs))
	for i, v := range vs {
		if e.IsVec(v) {
			out[i] = v
		} else {
			out[i] = e.Splat(v, n)
		}
	}
	return out
}

// Splat makes n lanes of v.
func (e *Emitter) Splat(v lir.Value, n int) lir.Value {
	t := e.B.TypeOf(v)
	e.HasVec(lir.Splat, t.Elem, lir.None, n)
	return e.B.Splat(v, n)
}

// HasVec fails unless the target has o for n lanes of el.
func (e *Emitter) HasVec(o lir.Op, el, from lir.Elem, n int) {
	size := max(el.Size(), from.Size())
	if size*n > e.Target.VecBytes || !e.Target.Vec(o, el, from, n) {
		e.Fail("%v of %v x%d", o, el, n)
	}
}

// Op emits an operation on operands of one type.
func (e *Emitter) Op(o lir.Op, args ...lir.Value) lir.Value {
	args = e.Uniform(args...)
	if t := e.B.TypeOf(args[0]); t.IsVec() && t.Elem != lir.Mask {
		e.HasVec(o, t.Elem, lir.None, int(t.Lanes))
	}
	return e.B.Op(o, args...)
}

// Conv emits a conversion to element el.
func (e *Emitter) Conv(o lir.Op, el lir.Elem, v lir.Value) lir.Value {
	t := e.B.TypeOf(v)
	if t.IsVec() {
		e.HasVec(o, el, t.Elem, int(t.Lanes))
	}
	return e.B.Conv(o, lir.Type{Elem: el, Lanes: t.Lanes}, v)
}

// K is a constant of the type of like (a vector constant for a vector).
func (e *Emitter) K(like lir.Value, bits int64) lir.Value {
	t := e.B.TypeOf(like)
	if t.IsVec() {
		e.HasVec(lir.Const, t.Elem, lir.None, int(t.Lanes))
	}
	return e.B.Const(t, bits)
}

// Sel is Select with a condition that is an I32 or a mask.
func (e *Emitter) Sel(c, x, y lir.Value) lir.Value {
	xy := e.Uniform(x, y)
	if e.IsVec(c) && !e.IsVec(xy[0]) {
		n := int(e.B.TypeOf(c).Lanes)
		xy = []lir.Value{e.Splat(x, n), e.Splat(y, n)}
	}
	t := e.B.TypeOf(xy[0])
	if !t.IsVec() {
		return e.B.Op(lir.Select, c, xy[0], xy[1])
	}
	if !e.IsVec(c) {
		c = e.MaskOf(c, t)
	}
	if ct := e.B.TypeOf(c); ct != lir.MaskOf(t) {
		e.Fail("select of %v by %v", t, ct)
	}
	e.HasVec(lir.Select, t.Elem, lir.None, int(t.Lanes))
	return e.B.Op(lir.Select, c, xy[0], xy[1])
}

// MaskOf turns a uniform condition into a mask for vectors of type t.
func (e *Emitter) MaskOf(c lir.Value, t lir.Type) lir.Value {
	if t.Elem.Size() == 8 {
		c = e.B.Conv(lir.ExtU, lir.TI64, c)
	}
	s := e.Splat(c, int(t.Lanes))
	return e.Op(lir.Ne, s, e.K(s, 0))
}

// Type is the scalar value type a dtype is computed in.
func Type(d types.DType) lir.Type {
	switch d {
	case types.F32:
		return lir.TF32
	case types.F64:
		return lir.TF64
	case types.I64, types.U64:
		return lir.TI64
	}
	return lir.TI32
}

// Mem is how a dtype lies in memory.
func Mem(d types.DType) lir.Mem {
	switch d {
	case types.I8:
		return lir.M8S
	case types.Bool, types.U8:
		return lir.M8U
	case types.I16:
		return lir.M16S
	case types.U16:
		return lir.M16U
	case types.I64, types.U64, types.F64:
		return lir.M64
	}
	return lir.M32
}
