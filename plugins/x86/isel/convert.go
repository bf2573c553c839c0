package isel

import (
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// zeroVec is the first source of scalar conversions, whose upper lanes nobody
// reads: a fresh zero breaks the dependency on an old value.
func (lo *lowering) zeroVec() mir.Reg { return lo.vecConst(lir.TF64, 0) }

// vecConversions names the packed conversions at the AVX-512 level by op,
// operand and result. At the AVX2 level those of 32-bit signed integers
// exist.
var vecConversions = map[[3]uint8]string{
	{uint8(lir.SToF), uint8(lir.I32), uint8(lir.F32)}: "vcvtdq2ps",
	{uint8(lir.SToF), uint8(lir.I32), uint8(lir.F64)}: "vcvtdq2pd",
	{uint8(lir.SToF), uint8(lir.I64), uint8(lir.F32)}: "vcvtqq2ps",
	{uint8(lir.SToF), uint8(lir.I64), uint8(lir.F64)}: "vcvtqq2pd",
	{uint8(lir.UToF), uint8(lir.I32), uint8(lir.F32)}: "vcvtudq2ps",
	{uint8(lir.UToF), uint8(lir.I32), uint8(lir.F64)}: "vcvtudq2pd",
	{uint8(lir.UToF), uint8(lir.I64), uint8(lir.F32)}: "vcvtuqq2ps",
	{uint8(lir.UToF), uint8(lir.I64), uint8(lir.F64)}: "vcvtuqq2pd",
	{uint8(lir.FToS), uint8(lir.F32), uint8(lir.I32)}: "vcvttps2dq",
	{uint8(lir.FToS), uint8(lir.F64), uint8(lir.I32)}: "vcvttpd2dq",
	{uint8(lir.FToS), uint8(lir.F32), uint8(lir.I64)}: "vcvttps2qq",
	{uint8(lir.FToS), uint8(lir.F64), uint8(lir.I64)}: "vcvttpd2qq",
	{uint8(lir.FToU), uint8(lir.F32), uint8(lir.I32)}: "vcvttps2udq",
	{uint8(lir.FToU), uint8(lir.F64), uint8(lir.I32)}: "vcvttpd2udq",
	{uint8(lir.FToU), uint8(lir.F32), uint8(lir.I64)}: "vcvttps2uqq",
	{uint8(lir.FToU), uint8(lir.F64), uint8(lir.I64)}: "vcvttpd2uqq",
}

// vecConvert finds the packed conversion of lanes lanes and its width.
func (l *Level) vecConvert(op lir.Op, from, to lir.Elem, lanes int) (mir.Op, bool) {
	name := vecConversions[[3]uint8{uint8(op), uint8(from), uint8(to)}]
	shape, w := "V,V", lanes*from.Size()
	switch {
	case from.Size() < to.Size():
		shape, w = "V,H", lanes*to.Size()
	case from.Size() > to.Size():
		shape = "H,V"
	}
	return l.shape(name, shape, uint8(w))
}

func promote(lo *lowering, s *lir.Stmt) mir.Reg {
	x := lo.use(s.Args[0])
	if s.Type.IsVec() {
		return lo.b.Op(lo.node, lo.l.vop("vcvtps2pd", "V,H", vecBytes(s.Type)), x)
	}
	return lo.b.Op(lo.node, lo.l.form("vcvtss2sd x,x,x"), x, x)
}

func demote(lo *lowering, s *lir.Stmt) mir.Reg {
	x := lo.use(s.Args[0])
	if s.Type.IsVec() {
		return lo.b.Op(lo.node, lo.l.vop("vcvtpd2ps", "H,V", 2*vecBytes(s.Type)), x)
	}
	return lo.b.Op(lo.node, lo.l.form("vcvtsd2ss x,x,x"), x, x)
}

// moveBits moves between register files; vectors stay where they are.
func moveBits(lo *lowering, s *lir.Stmt) mir.Reg {
	x := lo.use(s.Args[0])
	if s.Type.IsVec() {
		return x
	}
	key := map[lir.Elem]string{lir.I32: "vmovd r32,x", lir.I64: "vmovq r64,x", lir.F32: "vmovd x,r32", lir.F64: "vmovq x,r64"}[s.Type.Elem]
	return lo.b.Op(lo.node, lo.l.form(key), x)
}

// toFloat lowers SToF and UToF.
func toFloat(lo *lowering, s *lir.Stmt) mir.Reg {
	n, from, to := lo.node, lo.f.TypeOf(s.Args[0]), s.Type
	x := lo.use(s.Args[0])
	if to.IsVec() {
		op, ok := lo.l.vecConvert(s.Op, from.Elem, to.Elem, int(to.Lanes))
		if !ok {
			panic("BUG: vector conversion the target does not declare")
		}
		return lo.b.Op(n, op, x)
	}
	cvt := "vcvtsi2" + suffix(to) + " x,x,"
	switch {
	case s.Op == lir.SToF:
		return lo.b.Op(n, lo.l.form(cvt+gpName(from)), lo.zeroVec(), x)
	case from.Elem == lir.I32:
		return lo.b.Op(n, lo.l.form(cvt+"r64"), lo.zeroVec(), lo.b.Op(n, lo.l.form("mov r32,r32"), x))
	case lo.l.Masks:
		return lo.b.Op(n, lo.l.form("vcvtusi2"+suffix(to)+" x,x,r64"), lo.zeroVec(), x)
	}
	// Above 2^63: halve, keeping the lost bit sticky, convert and double.
	half := lo.b.OpImm(n, lo.l.form("shr r64,i"), 1, x)
	odd := lo.b.OpImm(n, lo.l.form("and r64,i"), 1, x)
	half = lo.b.Op(n, lo.l.form("or r64,r64"), half, odd)
	c := lo.cond("cmp64i", ccL, 0, x)
	small := lo.b.DefK(lo.b.Emit(n, c.cmov, mir.Args{Uses: []mir.Reg{x, half, x}, Cond: ccL}), 0)
	f := lo.b.Op(n, lo.l.form(cvt+"r64"), lo.zeroVec(), small)
	twice := lo.b.Op(n, lo.l.form("vadd"+suffix(to)+" x,x,x"), f, f)
	m := lo.bitMask(to, lo.set(c))
	return lo.blend(to, m, twice, f)
}

// twoTo returns the bits of 2^p in a float type.
func twoTo(e lir.Elem, p int64) int64 {
	if e == lir.F32 {
		return (127 + p) << 23
	}
	return (1023 + p) << 52
}

// toInt lowers FToS and FToU: truncate, saturate, NaN gives 0.
func toInt(lo *lowering, s *lir.Stmt) mir.Reg {
	from := lo.f.TypeOf(s.Args[0])
	x := lo.use(s.Args[0])
	if s.Type.IsVec() {
		return lo.vecToInt(s, from, x)
	}
	if s.Op == lir.FToU {
		return lo.scalarToUnsigned(s.Type, from, x)
	}
	// The instruction gives MIN for what does not fit, which is right below;
	// above, MIN is turned into MAX by inverting it.
	n := lo.node
	bits := int64(63)
	if s.Type.Elem == lir.I32 {
		bits = 31
	}
	limit := lo.vecConst(from, twoTo(from.Elem, bits))
	y := lo.orZero(from, x)
	r := lo.b.Op(n, lo.l.form("vcvtt"+suffix(from)+"2si "+gpName(s.Type)+",x"), y)
	above := lo.set(lo.cond("ucomi"+suffix(from), ccAE, 0, y, limit))
	neg := lo.b.Op(n, lo.l.form("neg r64"), above)
	return lo.b.Op(n, lo.l.form("xor r64,r64"), r, neg)
}

// orZero replaces NaN by 0.
func (lo *lowering) orZero(t lir.Type, x mir.Reg) mir.Reg {
	m := lo.floatMaskPred(predOrdered, t, x, x)
	if lo.l.Masks {
		return lo.blend(t, m, x, lo.vecConst(t, 0))
	}
	return lo.logic(lir.And, t, x, m)
}

// notBelowZero replaces NaN and negative numbers by 0: max gives its second
// operand for NaN.
func (lo *lowering) notBelowZero(t lir.Type, x mir.Reg) mir.Reg {
	zero := lo.vecConst(t, 0)
	if t.IsVec() {
		return lo.b.Op(lo.node, lo.l.vop("vmax"+suffix(t), "V,V,V", vecBytes(t)), x, zero)
	}
	return lo.b.Op(lo.node, lo.l.form("vmax"+suffix(t)+" x,x,x"), x, zero)
}

func (lo *lowering) scalarToUnsigned(to, from lir.Type, x mir.Reg) mir.Reg {
	n := lo.node
	y := lo.notBelowZero(from, x)
	if lo.l.Masks { // all ones for what does not fit
		return lo.b.Op(n, lo.l.form("vcvtt"+suffix(from)+"2usi "+gpName(to)+",x"), y)
	}
	signed := func(v mir.Reg) mir.Reg { return lo.b.Op(n, lo.l.form("vcvtt"+suffix(from)+"2si r64,x"), v) }
	bits := int64(64)
	var r mir.Reg
	if to.Elem == lir.I32 {
		bits, r = 32, signed(y)
	} else {
		// Below 2^63 the first conversion is right; from there on it gives
		// the top bit and the second one the rest.
		top := lo.vecConst(from, twoTo(from.Elem, 63))
		low := signed(y)
		high := signed(lo.b.Op(n, lo.l.form("vsub"+suffix(from)+" x,x,x"), y, top))
		is := lo.b.OpImm(n, lo.l.form("sar r64,i"), 63, low)
		r = lo.b.Op(n, lo.l.form("or r64,r64"), low, lo.b.Op(n, lo.l.form("and r64,r64"), high, is))
	}
	above := lo.set(lo.cond("ucomi"+suffix(from), ccAE, 0, y, lo.vecConst(from, twoTo(from.Elem, bits))))
	return lo.b.Op(n, lo.l.form("or r64,r64"), r, lo.b.Op(n, lo.l.form("neg r64"), above))
}

func (lo *lowering) vecToInt(s *lir.Stmt, from lir.Type, x mir.Reg) mir.Reg {
	n := lo.node
	op, ok := lo.l.vecConvert(s.Op, from.Elem, s.Type.Elem, int(s.Type.Lanes))
	if !ok {
		panic("BUG: vector conversion the target does not declare")
	}
	if s.Op == lir.FToU {
		return lo.b.Op(n, op, lo.notBelowZero(from, x))
	}
	y := lo.orZero(from, x)
	r := lo.b.Op(n, op, y)
	bits := int64(s.Type.Elem.Size()*8 - 1)
	above := lo.floatMaskPred(predGE, from, y, lo.vecConst(from, twoTo(from.Elem, bits)))
	if lo.l.Masks {
		return lo.blend(s.Type, above, lo.vecConst(s.Type, 1<<bits-1), r)
	}
	return lo.b.Op(n, lo.l.vop("vpxor", "V,V,V", vecBytes(s.Type)), r, above)
}

// extract takes one lane to a scalar.
func extract(lo *lowering, s *lir.Stmt) mir.Reg {
	t := lo.f.TypeOf(s.Args[0])
	size := t.Elem.Size()
	x := lo.lanesFrom(lo.use(s.Args[0]), int(vecBytes(t)), int(s.Imm)*size, size)
	switch t.Elem {
	case lir.I32:
		return lo.b.Op(lo.node, lo.l.form("vmovd r32,x"), x)
	case lir.I64:
		return lo.b.Op(lo.node, lo.l.form("vmovq r64,x"), x)
	}
	return x
}

func laneDown(lo *lowering, s *lir.Stmt) mir.Reg {
	w, n := int(vecBytes(s.Type)), int(s.Imm)*s.Type.Elem.Size()
	return lo.lanesFrom(lo.use(s.Args[0]), w, n, min(n, w-n))
}

// zipKey is the constant that picks the lanes of a Zip: those of the second
// vector count on from those of the first.
func zipKey(s *lir.Stmt) constKey { return constKey{t: bitsVec(s.Type), bits: s.Imm, zip: true} }

// zipPair remembers the two interleavings within 128 bits that both halves of a
// zip are made of.
type zipPair struct {
	a, b   lir.Value
	lo, hi mir.Reg
}

func zipOp(lo *lowering, s *lir.Stmt) mir.Reg {
	n, w := lo.node, vecBytes(s.Type)
	e := "ps"
	if s.Type.Elem.Size() == 8 {
		e = "pd"
	}
	x, y := lo.use(s.Args[0]), lo.use(s.Args[1])
	switch {
	case lo.l.Masks:
		return lo.b.Op(n, lo.l.vop("vpermt2"+e, "V,V,V", w), x, lo.keyed(zipKey(s)), y)
	case w == 16:
		return lo.b.Op(n, lo.l.vop("vunpck"+[2]string{"l", "h"}[s.Imm]+e, "V,V,V", w), x, y)
	}
	z := &lo.zipped
	if z.a != s.Args[0] || z.b != s.Args[1] || z.lo == mir.NoReg {
		*z = zipPair{s.Args[0], s.Args[1], lo.b.Op(n, lo.l.vop("vunpckl"+e, "V,V,V", w), x, y), lo.b.Op(n, lo.l.vop("vunpckh"+e, "V,V,V", w), x, y)}
	}
	return lo.b.OpImm(n, lo.l.form("vperm2f128 y,y,y,i"), [2]int64{0x20, 0x31}[s.Imm], z.lo, z.hi)
}

// lanesFrom brings n bytes at offset off of a w-byte vector down to offset 0.
// Within 128 bits n is the size of a lane or divides the rest.
func (lo *lowering) lanesFrom(x mir.Reg, w, off, n int) mir.Reg {
	if w == 64 && off >= 32 {
		x = lo.b.OpImm(lo.node, lo.l.form("vextractf64x4 y,z,i"), 1, x)
		off, w = off-32, 32
	}
	if off >= 16 {
		switch {
		case w == 64 && n > 16:
			panic("BUG: lanes move down by no half of the vector")
		case w == 64:
			x = lo.b.OpImm(lo.node, lo.l.form("vextractf32x4 x,z,i"), 1, x)
		case lo.l.Masks:
			x = lo.b.OpImm(lo.node, lo.l.form("vextractf32x4 x,y,i"), 1, x)
		default:
			x = lo.b.OpImm(lo.node, lo.l.form("vextractf128 x,y,i"), 1, x)
		}
		off -= 16
	}
	if off == 0 {
		return x
	}
	// Rotate the four 32-bit parts of the low 128 bits.
	k := int64(off / 4)
	sel := k&3 | (k+1)&3<<2 | (k+2)&3<<4 | (k+3)&3<<6
	return lo.b.OpImm(lo.node, lo.l.form("vpshufd x,x,i"), sel, x)
}
