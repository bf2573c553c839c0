package isel

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// A value is quiet if no lane can be a signalling NaN: arithmetic makes every
// NaN quiet, while loads, bit casts, and what only moves or chooses lanes pass
// them on. The quiet bit then is set in every NaN, which makes Canon cheaper.

// quietOps are the operations whose result is quiet whatever their operands.
var quietOps = map[lir.Op]bool{
	lir.FAdd: true, lir.FSub: true, lir.FMul: true, lir.FDiv: true, lir.FSqrt: true, lir.FMA: true,
	lir.FFloor: true, lir.FCeil: true, lir.FTrunc: true, lir.FNearest: true,
	lir.SToF: true, lir.UToF: true, lir.Promote: true, lir.Demote: true, lir.Canon: true,
}

// quieten fills in what the analysis knows of NaNs, in one walk: a value
// carried around a loop counts as quiet if it starts as one and every trip
// computes it anew.
func (a *analyser) quieten(f *lir.Func) {
	n := len(f.Types)
	a.quiet, a.plain, a.canon = make([]bool, n), make([]bool, n), make([]bool, n)
	fresh := make([]bool, n) // the result of a quiet operation
	lir.Walk(f.Body, func(s *lir.Stmt) {
		if len(s.Results) == 1 && quietOps[s.Op] {
			fresh[s.Results[0]] = true
		}
	})
	lir.Walk(f.Body, func(s *lir.Stmt) {
		switch s.Op {
		case lir.For:
			body := s.Blocks[0]
			for i, v := range s.Results {
				q := a.quiet[s.Args[2+i]] && fresh[body.Yield[i]]
				a.quiet[v], a.quiet[body.Params[1+i]] = q, q
			}
			return
		case lir.Canon:
			a.canon[s.Args[0]] = true
		}
		if len(s.Blocks) > 0 || len(s.Results) != 1 {
			return
		}
		v := s.Results[0]
		a.quiet[v] = fresh[v] || a.passesQuiet(s)
		a.plain[v] = s.Op == lir.FAbs && a.quiet[v]
	})
}

// passesQuiet reports whether s only moves, chooses or signs quiet values.
func (a *analyser) passesQuiet(s *lir.Stmt) bool {
	args := s.Args
	switch s.Op {
	case lir.Const:
		return s.Type.Elem.IsFloat() && !signalling(s.Type.Elem, s.Imm)
	case lir.FNeg, lir.FAbs, lir.Splat, lir.Extract, lir.LaneDown, lir.Zip:
	case lir.FCopysign:
		args = args[:1]
	case lir.FMin, lir.FMax:
	case lir.Select:
		args = args[1:]
	default:
		return false
	}
	for _, v := range args {
		if !a.quiet[v] {
			return false
		}
	}
	return true
}

func signalling(e lir.Elem, bits int64) bool {
	inf, quiet := int64(0x7f800000), int64(1<<22)
	if e == lir.F64 {
		inf, quiet = 0x7ff<<52, 1<<51
	}
	mag := bits &^ signBit(e)
	if e == lir.F32 {
		mag &= 1<<31 - 1
	}
	return mag > inf && mag&quiet == 0
}

func canonBits(e lir.Elem) int64 {
	if e == lir.F32 {
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}

// The immediate of vrange for the maximum with its own sign or with none. Of a
// quiet NaN and a number vrange gives the number, of two quiet NaNs the first.
const (
	rangeMax    = 5
	rangeMaxAbs = 9
)

// canon replaces NaNs by the one NaN. Of quiet values,
//
//	vrange with the one NaN does it at once, clearing the sign too if asked to;
//	magnitudes are NaN exactly where, as integers, they reach the one NaN;
//	a NaN has all bits of the one NaN, and only the others are to be cleared.
func canon(lo *lowering, s *lir.Stmt) mir.Reg {
	t, v := s.Type, s.Args[0]
	if !lo.an.quiet[v] {
		x := lo.use(v)
		m := lo.floatMaskPred(predUnordered, t, x, x)
		return lo.blend(t, m, lo.vecConst(t, canonBits(t.Elem)), x)
	}
	w := width(t)
	switch {
	case lo.l.Masks:
		imm := int64(rangeMax)
		if abs := lo.deferred(v, lir.FAbs); abs != nil {
			lo.left[v]--
			v, imm = abs.Args[0], rangeMaxAbs
		}
		return lo.b.OpImm(lo.node, lo.l.vop("vrange"+packed(t), "V,V,V,i", w), imm, lo.vecConst(t, canonBits(t.Elem)), lo.use(v))
	case lo.an.plain[v] && t.Elem == lir.F32:
		return lo.b.Op(lo.node, lo.l.vop("vpminud", "V,V,V", w), lo.use(v), lo.vecConst(t, canonBits(t.Elem)))
	}
	x := lo.use(v)
	m := lo.floatMaskPred(predUnordered, t, x, x)
	extra := lo.logic(lir.And, t, m, lo.vecConst(t, ^canonBits(t.Elem)))
	return lo.b.Op(lo.node, lo.l.vop("vpandn", "V,V,V", w), extra, x)
}

// partOfCanon reports whether s is an absolute value that Canon will take.
func (lo *lowering) partOfCanon(s *lir.Stmt) bool {
	v := s.Results[0]
	return lo.l.Masks && s.Op == lir.FAbs && lo.an.plain[v] && lo.an.canon[v] && lo.an.uses[v] == 1 && lo.an.local[v]
}
