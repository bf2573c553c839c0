package isel

import "github.com/kera-lang/kera/pluginapi/codegen/lir"

// laneOps are the operations of which a level has what hasNarrow says.
var laneOps = map[lir.Op]bool{
	lir.MLoad: true, lir.MStore: true, lir.Gather: true, lir.Scatter: true,
	lir.MinS: true, lir.MinU: true, lir.MaxS: true, lir.MaxU: true, lir.IAbs: true,
	lir.AddSatS: true, lir.AddSatU: true, lir.SubSatS: true, lir.SubSatU: true,
	lir.Dot2S: true, lir.Dot4US: true, lir.MCast: true, lir.Wrap: true, lir.ExtS: true, lir.ExtU: true,
}

// hasNarrow reports which of the operations on or with narrow lanes exist.
func (l *Level) hasNarrow(lir.Op, lir.Elem, lir.Elem, int) bool { return false }
