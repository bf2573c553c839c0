package lower

import (
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// laneOps are the operations, other than those on narrow lanes, of whose vector
// forms narrowWidths says which exist.
var laneOps = map[lir.Op]bool{
	lir.MLoad: true, lir.MStore: true, lir.Gather: true, lir.Scatter: true,
	lir.MinS: true, lir.MinU: true, lir.MaxS: true, lir.MaxU: true, lir.IAbs: true,
	lir.AddSatS: true, lir.AddSatU: true, lir.SubSatS: true, lir.SubSatU: true,
	lir.Dot2S: true, lir.Dot4US: true, lir.MCast: true, lir.Wrap: true, lir.ExtS: true, lir.ExtU: true,
}

// narrowWidths are the lanes, in bytes, that simd128 has an instruction for.
var narrowWidths = map[lir.Op][]int{
	lir.Const: {1, 2}, lir.Splat: {1, 2}, lir.Load: {1, 2}, lir.Store: {1, 2},
	lir.Add: {1, 2}, lir.Sub: {1, 2}, lir.Mul: {2}, lir.And: {1, 2}, lir.Or: {1, 2}, lir.Xor: {1, 2},
	lir.MinS: {1, 2, 4}, lir.MinU: {1, 2, 4}, lir.MaxS: {1, 2, 4}, lir.MaxU: {1, 2, 4}, lir.IAbs: {1, 2, 4, 8},
	lir.AddSatS: {1, 2}, lir.AddSatU: {1, 2}, lir.SubSatS: {1, 2}, lir.SubSatU: {1, 2},
	lir.Dot2S: {4}, lir.ExtS: {2, 4, 8}, lir.ExtU: {2, 4, 8},
}

// narrow reports whether the form is for hasNarrow to judge.
func narrow(o lir.Op, e, from lir.Elem) bool {
	small := func(e lir.Elem) bool { return e == lir.I8 || e == lir.I16 }
	return small(e) || small(from) || laneOps[o]
}

// hasNarrow reports which forms on or with narrow lanes exist: on vectors of 4,
// 8 or 16 bytes.
func hasNarrow(o lir.Op, e, from lir.Elem, lanes int) bool {
	fits := func(e lir.Elem) bool { w := lanes * e.Size(); return w == 4 || w == 8 || w == 16 }
	if lanes < 2 || !lir.Defined(o, e, true) || !fits(e) || e.Size() >= 4 && lanes*e.Size() < 8 || from != lir.None && (!fits(from) || from.Size() >= e.Size()) {
		return false
	}
	for _, w := range narrowWidths[o] {
		if w == e.Size() {
			return true
		}
	}
	return false
}

// widen doubles the width of the lowest lanes until it is that of the result.
func widen(c *fn, s *lir.Stmt) bool {
	if !s.Type.IsVec() {
		return false
	}
	from := c.src.TypeOf(s.Args[0]).Elem
	c.push(s.Args[0])
	c.f.At(s.Node)
	sign := "s"
	if s.Op == lir.ExtU {
		sign = "u"
	}
	steps := []lir.Elem{lir.I8, lir.I16, lir.I32, lir.I64}
	for i, e := range steps[1:] {
		if e.Size() > from.Size() && e.Size() <= s.Type.Elem.Size() {
			c.f.I(fmt.Sprintf("%s.extend_low_%s_%s", shape(e), shape(steps[i]), sign))
		}
	}
	return true
}
