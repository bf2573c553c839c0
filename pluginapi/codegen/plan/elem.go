package plan

import (
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/elem"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// The elementwise rules are package elem's; these are its names in this one.

type vecFail = elem.NoVector

func (e *emitter) elem() *elem.Emitter { return &elem.Emitter{B: e.b, Target: e.tgt} }

func (e *emitter) failVec(format string, args ...any) { e.elem().Fail(format, args...) }

func (e *emitter) elementwise(c op.Code, a elem.Args) lir.Value { return e.elem().Elementwise(c, a) }

func (e *emitter) convert(from, to types.DType, v lir.Value) lir.Value {
	return e.elem().Convert(from, to, v)
}

func (e *emitter) totalKey(d types.DType, v lir.Value) lir.Value    { return e.elem().TotalKey(d, v) }
func (e *emitter) to64(d types.DType, v lir.Value) lir.Value        { return e.elem().To64(d, v) }
func (e *emitter) isVec(v lir.Value) bool                           { return e.b.TypeOf(v).IsVec() }
func (e *emitter) splat(v lir.Value, n int) lir.Value               { return e.elem().Splat(v, n) }
func (e *emitter) hasVec(o lir.Op, el, from lir.Elem, n int)        { e.elem().HasVec(o, el, from, n) }
func (e *emitter) op(o lir.Op, args ...lir.Value) lir.Value         { return e.elem().Op(o, args...) }
func (e *emitter) conv(o lir.Op, t lir.Elem, v lir.Value) lir.Value { return e.elem().Conv(o, t, v) }
func (e *emitter) k(like lir.Value, bits int64) lir.Value           { return e.elem().K(like, bits) }
func (e *emitter) sel(c, x, y lir.Value) lir.Value                  { return e.elem().Sel(c, x, y) }

func lirType(d types.DType) lir.Type { return elem.Type(d) }
func memOf(d types.DType) lir.Mem    { return elem.Mem(d) }
func wide(d types.DType) bool        { return elem.Wide(d) }

func intRange(d types.DType) (int64, uint64) { return elem.IntRange(d) }
