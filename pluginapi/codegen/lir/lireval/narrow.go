package lireval

import (
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// signed is x, the bits of an integer lane, with its sign.
func signed(e lir.Elem, x uint64) int64 {
	switch e {
	case lir.I8:
		return int64(int8(x))
	case lir.I16:
		return int64(int16(x))
	case lir.I64:
		return int64(x)
	}
	return int64(int32(x))
}

// saturated adds or subtracts lanes of w bits, given signed and unsigned.
func saturated(o lir.Op, sx, sy, ux, uy int64, w uint64) uint64 {
	top := int64(1) << (w - 1)
	switch o {
	case lir.AddSatS:
		return uint64(min(max(sx+sy, -top), top-1))
	case lir.SubSatS:
		return uint64(min(max(sx-sy, -top), top-1))
	case lir.AddSatU:
		return uint64(min(ux+uy, 2*top-1))
	}
	return uint64(max(ux-uy, 0))
}

// loadAs reads one lane of element e.
func loadAs(e lir.Elem, b []byte, form lir.Mem) uint64 {
	switch {
	case e == lir.Mask:
		return b2u(b[0] != 0)
	case form == lir.MF16:
		return numeric.ConvertOf(types.F16, types.F32)(load(b, lir.M16U))
	case form == lir.MBF16:
		return numeric.ConvertOf(types.BF16, types.F32)(load(b, lir.M16U))
	}
	return trunc(e, load(b, form))
}

// storedAs is what a store of lane x writes the low bytes of.
func storedAs(x uint64, form lir.Mem) uint64 {
	switch form {
	case lir.MF16:
		return numeric.ConvertOf(types.F32, types.F16)(x)
	case lir.MBF16:
		return numeric.ConvertOf(types.F32, types.BF16)(x)
	}
	return x
}

// lanes calls do for the lanes that a memory operation touches, with their
// memory: all of them, or those that the mask, its last argument, sets.
func (m *machine) lanes(s *lir.Stmt, do func(i int, p []byte)) {
	size := s.Mem.Size()
	for i := range int(s.Type.Lanes) {
		at := int64(i * size)
		if s.Op != lir.Load && s.Op != lir.Store {
			n := len(s.Args)
			if m.v[s.Args[n-1]][i] == 0 {
				continue
			}
			if s.Op == lir.Gather || s.Op == lir.Scatter {
				at = int64(m.v[s.Args[n-2]][i]) * s.Imm
			}
		}
		do(i, m.at(s.Addr, at, size))
	}
}

func (m *machine) store(s *lir.Stmt) {
	m.lanes(s, func(i int, p []byte) {
		x := storedAs(m.v[s.Args[0]][i], s.Mem)
		for k := range s.Mem.Size() {
			p[k] = byte(x >> (8 * k))
		}
	})
}

func (m *machine) someLanes(s *lir.Stmt) []uint64 {
	out := make([]uint64, s.Type.Lanes)
	m.lanes(s, func(i int, p []byte) { out[i] = loadAs(s.Type.Elem, p, s.Mem) })
	return out
}

// dot adds products of neighbouring lanes.
func (m *machine) dot(s *lir.Stmt) []uint64 {
	x, y := m.v[s.Args[0]], m.v[s.Args[1]]
	out := make([]uint64, s.Type.Lanes)
	n := len(x) / len(out)
	for i := range x {
		var p int64
		if s.Op == lir.Dot2S {
			p = signed(lir.I16, x[i]) * signed(lir.I16, y[i])
		} else {
			p = int64(x[i]) * signed(lir.I8, y[i])
		}
		out[i/n] = trunc(lir.I32, out[i/n]+uint64(p))
	}
	return out
}
