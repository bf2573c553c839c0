package isel

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// laneOps are the operations of which a level has what hasNarrow says.
var laneOps = map[lir.Op]bool{
	lir.MLoad: true, lir.MStore: true, lir.Gather: true, lir.Scatter: true,
	lir.MinS: true, lir.MinU: true, lir.MaxS: true, lir.MaxU: true, lir.IAbs: true,
	lir.AddSatS: true, lir.AddSatU: true, lir.SubSatS: true, lir.SubSatU: true,
	lir.Dot2S: true, lir.Dot4US: true, lir.MCast: true, lir.Wrap: true, lir.ExtS: true, lir.ExtU: true,
}

// laneNames are the instructions of operations that are one instruction on
// lanes of 8, 16, 32 and 64 bits; those of logic are chosen by laneName.
var laneNames = map[lir.Op][4]string{
	lir.Add: {"vpaddb", "vpaddw"}, lir.Sub: {"vpsubb", "vpsubw"}, lir.Mul: {"", "vpmullw"},
	lir.And: {"vpand", "vpand"}, lir.Or: {"vpor", "vpor"}, lir.Xor: {"vpxor", "vpxor"},
	lir.MinS: {"vpminsb", "vpminsw", "vpminsd", "vpminsq"}, lir.MinU: {"vpminub", "vpminuw", "vpminud", "vpminuq"},
	lir.MaxS: {"vpmaxsb", "vpmaxsw", "vpmaxsd", "vpmaxsq"}, lir.MaxU: {"vpmaxub", "vpmaxuw", "vpmaxud", "vpmaxuq"},
	lir.IAbs:    {"vpabsb", "vpabsw", "vpabsd", "vpabsq"},
	lir.AddSatS: {"vpaddsb", "vpaddsw"}, lir.AddSatU: {"vpaddusb", "vpaddusw"},
	lir.SubSatS: {"vpsubsb", "vpsubsw"}, lir.SubSatU: {"vpsubusb", "vpsubusw"},
	lir.Dot2S: {"", "", "vpmaddwd"},
}

func sizeIndex(e lir.Elem) int { return map[int]int{1: 0, 2: 1, 4: 2, 8: 3}[e.Size()] }

func (l *Level) laneName(o lir.Op, e lir.Elem) string {
	name := laneNames[o][sizeIndex(e)]
	if l.Masks && (o == lir.And || o == lir.Or || o == lir.Xor) {
		name += "d" // the EVEX forms have a lane width, which does not matter here
	}
	return name
}

// laneBytes is the size of the register form for a vector: one of less than 16
// bytes lies at the bottom of an xmm register, what is above it is arbitrary.
func laneBytes(t lir.Type) uint8 { return max(vecBytes(t), 16) }

// hasNarrow reports which of the operations on or with narrow lanes exist, on
// vectors of 4 bytes up to a full register.
func (l *Level) hasNarrow(o lir.Op, e, from lir.Elem, lanes int) bool {
	l.prepare()
	fits := func(e lir.Elem) bool { w := lanes * e.Size(); return w >= 4 && w <= l.VecBytes && w&(w-1) == 0 }
	wide := func(e lir.Elem) bool { return e.Size() < 4 || lanes*e.Size() >= l.VecBytes/2 }
	if !fits(e) || !wide(e) || from != lir.None && (!fits(from) || !wide(from)) {
		return false
	}
	switch o {
	case lir.Load, lir.Store, lir.Const, lir.Splat:
		return true
	case lir.ExtS, lir.ExtU:
		_, ok := l.widening(o, from, e, lanes)
		return ok
	case lir.Wrap:
		_, ok := l.truncating(from, e, lanes)
		return ok
	}
	shape := "V,V,V"
	if o == lir.IAbs {
		shape = "V,V"
	}
	_, ok := l.shape(l.laneName(o, e), shape, laneBytes(lir.Vec(e, lanes)))
	return ok
}

// vecMove is the load or store of a vector.
func (l *Level) vecMove(t lir.Type, store bool) mir.Op {
	i := 0
	if store {
		i = 1
	}
	switch w := vecBytes(t); w {
	case 4:
		return l.form([2]string{"vmovd x,m32", "vmovd m32,x"}[i])
	case 8:
		return l.form([2]string{"vmovq x,m64", "vmovq m64,x"}[i])
	default:
		return l.vop("vmovups", [2]string{"V,M", "M,V"}[i], w)
	}
}

func laneOp(lo *lowering, s *lir.Stmt) mir.Reg {
	w, name := laneBytes(s.Type), lo.l.laneName(s.Op, s.Type.Elem)
	x := lo.use(s.Args[0])
	if len(s.Args) == 1 {
		return lo.b.Op(lo.node, lo.l.vop(name, "V,V", w), x)
	}
	return lo.b.Op(lo.node, lo.l.vop(name, "V,V,V", w), x, lo.use(s.Args[1]))
}

// splatNarrow repeats the low bits of a general register.
func (lo *lowering) splatNarrow(s *lir.Stmt) mir.Reg {
	x := lo.b.Op(lo.node, lo.l.form("vmovd x,r32"), lo.use(s.Args[0]))
	name := [2]string{"vpbroadcastb", "vpbroadcastw"}[sizeIndex(s.Type.Elem)]
	return lo.b.Op(lo.node, lo.l.vop(name, "V,x", laneBytes(s.Type)), x)
}

const sizeLetters = "bwdq"

// widening finds the extension of lanes lanes.
func (l *Level) widening(o lir.Op, from, to lir.Elem, lanes int) (mir.Op, bool) {
	name := "vpmovsx"
	if o == lir.ExtU {
		name = "vpmovzx"
	}
	i, k := sizeIndex(from), sizeIndex(to)
	if i >= k {
		return 0, false
	}
	w := laneBytes(lir.Vec(to, lanes))
	part := vecLetter[max(w>>(k-i), 16)]
	op, ok := l.byKey[name+sizeLetters[i:i+1]+sizeLetters[k:k+1]+" "+vecLetter[w]+","+part]
	return op, ok
}

func widen(lo *lowering, s *lir.Stmt) mir.Reg {
	op, ok := lo.l.widening(s.Op, lo.f.TypeOf(s.Args[0]).Elem, s.Type.Elem, int(s.Type.Lanes))
	if !ok {
		panic("BUG: widening the target does not declare")
	}
	return lo.b.Op(lo.node, op, lo.use(s.Args[0]))
}

// truncating finds the narrowing of lanes lanes, at the AVX-512 level.
func (l *Level) truncating(from, to lir.Elem, lanes int) (mir.Op, bool) {
	i, k := sizeIndex(to), sizeIndex(from)
	if i >= k {
		return 0, false
	}
	w := laneBytes(lir.Vec(from, lanes))
	part := vecLetter[max(w>>(k-i), 16)]
	op, ok := l.byKey["vpmov"+sizeLetters[k:k+1]+sizeLetters[i:i+1]+" "+part+","+vecLetter[w]]
	return op, ok
}

// wrapOp keeps the low bits: of a general register by looking at less of it.
func wrapOp(lo *lowering, s *lir.Stmt) mir.Reg {
	if !s.Type.IsVec() {
		return sameReg(lo, s)
	}
	op, ok := lo.l.truncating(lo.f.TypeOf(s.Args[0]).Elem, s.Type.Elem, int(s.Type.Lanes))
	if !ok {
		panic("BUG: narrowing the target does not declare")
	}
	return lo.b.Op(lo.node, op, lo.use(s.Args[0]))
}
