package isel

import (
	"fmt"
	"math/bits"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// rule lowers one statement and returns the register of its result.
type rule func(lo *lowering, s *lir.Stmt) mir.Reg

// rules has an entry for every op that computes a value; deferral and
// structure are handled before.
var rules = [lir.NumOps]rule{
	lir.Splat:    func(lo *lowering, s *lir.Stmt) mir.Reg { return lo.splat(s) },
	lir.Extract:  extract,
	lir.LaneDown: laneDown,
	lir.Zip:      zipOp,
	lir.Load:     func(lo *lowering, s *lir.Stmt) mir.Reg { return lo.load(s) },

	lir.Add: addOp, lir.Sub: intOp, lir.Mul: mulOp, lir.And: intOp, lir.Or: intOp, lir.Xor: intOp,
	lir.DivS: divOp, lir.DivU: divOp, lir.RemS: divOp, lir.RemU: divOp,
	lir.Shl: shiftOp, lir.ShrS: shiftOp, lir.ShrU: shiftOp,
	lir.Clz: bitOp, lir.Ctz: bitOp, lir.Popcnt: bitOp,
	lir.MulHiS: mulHi, lir.MulHiU: mulHi,
	lir.Ext8S: extOp, lir.Ext16S: extOp,
	lir.MinS: laneOp, lir.MinU: laneOp, lir.MaxS: laneOp, lir.MaxU: laneOp, lir.IAbs: laneOp,
	lir.AddSatS: laneOp, lir.AddSatU: laneOp, lir.SubSatS: laneOp, lir.SubSatU: laneOp, lir.Dot2S: laneOp,

	lir.Eq: compareOp, lir.Ne: compareOp, lir.LtS: compareOp, lir.LtU: compareOp, lir.LeS: compareOp, lir.LeU: compareOp,
	lir.FEq: compareOp, lir.FNe: compareOp, lir.FLt: compareOp, lir.FLe: compareOp,

	lir.FAdd: floatOp, lir.FSub: floatOp, lir.FMul: floatOp, lir.FDiv: floatOp, lir.FSqrt: sqrtOp,
	lir.FNeg: signOp, lir.FAbs: signOp, lir.FCopysign: copysign,
	lir.FMin: minMax, lir.FMax: minMax, lir.FMA: fmaOp,
	lir.FFloor: roundOp, lir.FCeil: roundOp, lir.FTrunc: roundOp, lir.FNearest: roundOp,
	lir.Canon: canon,

	lir.Select: selectOp,
	lir.MAnd:   maskOp, lir.MOr: maskOp, lir.MNot: maskOp, lir.MAny: compareOp,

	lir.Wrap: wrapOp, lir.IxToI64: sameReg, lir.I64ToIx: sameReg, lir.IxToI32: sameReg,
	lir.ExtS: extOp, lir.ExtU: extOp, lir.I32ToIxU: extOp,
	lir.SToF: toFloat, lir.UToF: toFloat, lir.FToS: toInt, lir.FToU: toInt,
	lir.Promote: promote, lir.Demote: demote, lir.BitsOf: moveBits, lir.FromBits: moveBits,
}

// stmt lowers a statement that is not a structure: it is deferred, or its
// rule emits it now.
func (lo *lowering) stmt(s *lir.Stmt) {
	switch s.Op {
	case lir.Store:
		lo.store(s)
		return
	case lir.Const, lir.LaneIx:
		lo.postpone(s)
		return
	}
	v := s.Results[0]
	once := lo.an.uses[v] == 1 && lo.an.local[v]
	switch {
	case lo.an.uses[v] == 0:
		lo.drop(s)
		return
	case s.Op == lir.Load && once:
		lo.postpone(s)
		lo.late = append(lo.late, v)
		return
	case lo.partOfCanon(s):
		lo.postpone(s)
		return
	case isCompare(s):
		if once {
			lo.postpone(s)
			return
		}
		lo.def[v] = s // known to be 0 or 1
	case s.Type.IsVec() && intCond[s.Op] != [2]uint8{} && once:
		lo.postpone(s)
		return
	case s.Op == lir.Splat && lo.isConst(s.Args[0]):
		lo.postpone(uniform(s, lo.def[s.Args[0]]))
		return
	case s.Op == lir.Splat && lo.splatOfLoad(s):
		lo.postpone(s)
		for i, x := range lo.late {
			if x == s.Args[0] {
				lo.late[i] = v
			}
		}
		return
	}
	r := rules[s.Op]
	if r == nil {
		panic(fmt.Sprintf("BUG: no lowering of %v", s.Op))
	}
	lo.reg[v] = r(lo, s)
}

// splatOfLoad reports whether s can become a broadcast operand: a splat of a
// deferred load, used once. With two uses a register is better: multiply-adds
// are limited by the load ports before they are by instructions.
func (lo *lowering) splatOfLoad(s *lir.Stmt) bool {
	v := s.Results[0]
	ld := lo.deferred(s.Args[0], lir.Load)
	return ld != nil && s.Type.Elem.Size() >= 4 && ld.Mem >= lir.M32 && lo.an.local[v] && lo.an.uses[v] == 1
}

func (lo *lowering) isConst(v lir.Value) bool {
	s := lo.def[v]
	return s != nil && s.Op == lir.Const
}

// drop forgets the operands of a statement nobody uses.
func (lo *lowering) drop(s *lir.Stmt) {
	for _, v := range s.Args {
		lo.left[v]--
	}
}

func sameReg(lo *lowering, s *lir.Stmt) mir.Reg { return lo.use(s.Args[0]) }

func compareOp(lo *lowering, s *lir.Stmt) mir.Reg {
	if isCompare(s) {
		return lo.set(lo.compare(s))
	}
	return vecCompare(lo, s)
}

// gpName is the key suffix of a scalar integer type.
func gpName(t lir.Type) string {
	if t.Elem == lir.I32 {
		return "r32"
	}
	return "r64"
}

func gpMem(t lir.Type) string {
	if t.Elem == lir.I32 {
		return "m32"
	}
	return "m64"
}

// dies reports whether this is the last use of v, so that a two-operand form
// may overwrite it without a copy.
func (lo *lowering) dies(v lir.Value) bool { return lo.left[v] == 1 && lo.an.local[v] }

// addImm64 adds a constant to an address-sized value.
func (lo *lowering) addImm64(r mir.Reg, c int64) mir.Reg {
	if fits32(c) {
		return lo.b.OpImm(lo.node, lo.l.form("add r64,i"), c, r)
	}
	return lo.b.Op(lo.node, lo.l.form("add r64,r64"), r, lo.gpConst(lir.TI64, c))
}

// addOp uses lea where the left operand lives on.
func addOp(lo *lowering, s *lir.Stmt) mir.Reg {
	if s.Type.IsVec() {
		return intOp(lo, s)
	}
	a, b := s.Args[0], s.Args[1]
	if _, ok := lo.constOf(a); ok {
		a, b = b, a
	}
	if lo.dies(a) || lo.deferred(b, lir.Load) != nil || lo.deferred(a, lir.Load) != nil {
		return lo.binary("add", s.Type, a, b, true)
	}
	if lo.dies(b) {
		return lo.binary("add", s.Type, b, a, true)
	}
	lea := lo.l.form("lea " + gpName(s.Type) + "," + gpMem(s.Type))
	if c, ok := lo.imm(b); ok {
		return lo.b.OpMem(lo.node, lea, mir.Addr{Base: lo.use(a), Disp: int32(c)})
	}
	x, y := lo.use(a), lo.use(b)
	return lo.b.OpMem(lo.node, lea, mir.Addr{Base: x, Index: y, Scale: 1})
}

var intNames = map[lir.Op]string{lir.Add: "add", lir.Sub: "sub", lir.And: "and", lir.Or: "or", lir.Xor: "xor", lir.Mul: "imul"}

// vecIntNames are the packed forms for 32 and 64-bit lanes; the last two are
// the ones with EVEX encodings.
var vecIntNames = map[lir.Op][4]string{
	lir.Add: {"vpaddd", "vpaddq", "vpaddd", "vpaddq"},
	lir.Sub: {"vpsubd", "vpsubq", "vpsubd", "vpsubq"},
	lir.Mul: {"vpmulld", "", "vpmulld", "vpmullq"},
	lir.And: {"vpand", "vpand", "vpandd", "vpandq"},
	lir.Or:  {"vpor", "vpor", "vpord", "vporq"},
	lir.Xor: {"vpxor", "vpxor", "vpxord", "vpxorq"},
}

func (lo *lowering) vecIntName(op lir.Op, e lir.Elem) string { return lo.l.vecIntName(op, e) }

func (l *Level) vecIntName(op lir.Op, e lir.Elem) string {
	i := 0
	if l.Masks {
		i = 2
	}
	if e.Size() == 8 {
		i++
	}
	return vecIntNames[op][i]
}

func intOp(lo *lowering, s *lir.Stmt) mir.Reg {
	comm := s.Op != lir.Sub
	if s.Type.IsVec() && s.Type.Elem.Size() < 4 {
		return laneOp(lo, s)
	}
	if s.Type.IsVec() {
		return lo.vecBinary(lo.vecIntName(s.Op, s.Type.Elem), s.Type, s.Args[0], s.Args[1], comm)
	}
	a, b := s.Args[0], s.Args[1]
	if comm {
		if _, ok := lo.constOf(a); ok || !lo.dies(a) && lo.dies(b) && lo.deferred(b, lir.Load) == nil {
			a, b = b, a
		}
	}
	return lo.binary(intNames[s.Op], s.Type, a, b, comm)
}

// binary emits a two-operand scalar integer instruction.
func (lo *lowering) binary(name string, t lir.Type, a, b lir.Value, comm bool) mir.Reg {
	r := name + " " + gpName(t) + ","
	if c, ok := lo.imm(b); ok {
		if name == "imul" {
			return lo.b.OpImm(lo.node, lo.l.form(r+gpName(t)+",i"), c, lo.use(a))
		}
		return lo.b.OpImm(lo.node, lo.l.form(r+"i"), c, lo.use(a))
	}
	if comm && lo.deferred(a, lir.Load) != nil && lo.deferred(b, lir.Load) == nil {
		a, b = b, a
	}
	x := lo.use(a)
	if s := lo.deferred(b, lir.Load); s != nil && s.Mem >= lir.M32 {
		lo.left[b]--
		return lo.b.OpMem(lo.node, lo.l.form(r+gpMem(t)), lo.addr(s.Addr), x)
	}
	return lo.b.Op(lo.node, lo.l.form(r+gpName(t)), x, lo.use(b))
}

// vecBinary emits a three-operand vector instruction with its second operand
// in memory or broadcast where that is possible.
func (lo *lowering) vecBinary(name string, t lir.Type, a, b lir.Value, comm bool) mir.Reg {
	w := vecBytes(t)
	if comm && a != b && lo.foldable(a) && !lo.foldable(b) {
		a, b = b, a
	}
	x := lo.use(a)
	return lo.vecLast(name, "V,V", t, w, b, x)
}

// foldable reports whether memOf or bcastOf would consume v.
func (lo *lowering) foldable(v lir.Value) bool {
	if lo.deferred(v, lir.Load) != nil {
		return true
	}
	s := lo.deferred(v, lir.Splat)
	return s != nil && lo.l.Masks && lo.deferred(s.Args[0], lir.Load) != nil
}

// vecLast emits name with its last source v folded if possible; regs are the
// sources before it and shape what they look like.
func (lo *lowering) vecLast(name, shape string, t lir.Type, w uint8, v lir.Value, regs ...mir.Reg) mir.Reg {
	if op, ok := lo.l.shape(name, shape+memShape, w); ok {
		if m, ok := lo.memOf(v); ok {
			return lo.b.OpMem(lo.node, op, m, regs...)
		}
	}
	b := bcast32
	if t.Elem.Size() == 8 {
		b = bcast64
	}
	if op, ok := lo.l.shape(name, shape+b, w); ok {
		if m, ok := lo.bcastOf(v); ok {
			return lo.b.OpMem(lo.node, op, m, regs...)
		}
	}
	return lo.b.Op(lo.node, lo.l.vop(name, shape+",V", w), append(regs, lo.use(v))...)
}

const memShape, bcast32, bcast64 = ",M", ",b32", ",b64"

func mulOp(lo *lowering, s *lir.Stmt) mir.Reg {
	if s.Type.IsVec() {
		return intOp(lo, s)
	}
	a, b := s.Args[0], s.Args[1]
	if _, ok := lo.constOf(a); ok {
		a, b = b, a
	}
	if c, ok := lo.constOf(b); ok && c > 0 && c&(c-1) == 0 {
		lo.left[b]--
		return lo.b.OpImm(lo.node, lo.l.form("shl "+gpName(s.Type)+",i"), int64(bits.TrailingZeros64(uint64(c))), lo.use(a))
	}
	return lo.binary("imul", s.Type, a, b, true)
}

// divOp divides rdx:rax. The plan guards the divisor.
func divOp(lo *lowering, s *lir.Stmt) mir.Reg {
	n, r := lo.node, gpName(s.Type)
	signed := s.Op == lir.DivS || s.Op == lir.RemS
	if c, ok := lo.constOf(s.Args[1]); ok && !signed && c > 0 && c&(c-1) == 0 {
		lo.left[s.Args[1]]--
		x := lo.use(s.Args[0])
		if s.Op == lir.DivU {
			return lo.b.OpImm(n, lo.l.form("shr "+r+",i"), int64(bits.TrailingZeros64(uint64(c))), x)
		}
		if fits32(c - 1) {
			return lo.b.OpImm(n, lo.l.form("and "+r+",i"), c-1, x)
		}
		return lo.b.Op(n, lo.l.form("and r64,r64"), x, lo.gpConst(lir.TI64, c-1))
	}
	x, y := lo.use(s.Args[0]), lo.use(s.Args[1])
	var high mir.Reg
	name := "div "
	switch {
	case !signed:
		high = lo.b.Op(n, lo.l.pseudo["zero.gp"])
	case r == "r32":
		name, high = "idiv ", lo.b.Op(n, lo.l.form("cdq"), x)
	default:
		name, high = "idiv ", lo.b.Op(n, lo.l.form("cqo"), x)
	}
	i := lo.b.Emit(n, lo.l.form(name+r), mir.Args{Uses: []mir.Reg{x, high, y}})
	if s.Op == lir.DivS || s.Op == lir.DivU {
		return lo.b.DefK(i, 0)
	}
	return lo.b.DefK(i, 1)
}

func mulHi(lo *lowering, s *lir.Stmt) mir.Reg {
	key := "mul r64"
	if s.Op == lir.MulHiS {
		key = "imul r64"
	}
	i := lo.b.Emit(lo.node, lo.l.form(key), mir.Args{Uses: []mir.Reg{lo.use(s.Args[0]), lo.use(s.Args[1])}})
	return lo.b.DefK(i, 1)
}

var shiftNames = map[lir.Op]struct{ imm, reg, vec string }{
	lir.Shl: {"shl", "shlx", "vpsll"}, lir.ShrS: {"sar", "sarx", "vpsra"}, lir.ShrU: {"shr", "shrx", "vpsrl"},
}

// shiftOp: scalar shifts mask their count in hardware, vector ones do not.
func shiftOp(lo *lowering, s *lir.Stmt) mir.Reg {
	n, names := lo.node, shiftNames[s.Op]
	width := int64(s.Type.Elem.Size() * 8)
	if s.Type.Elem == lir.Ix {
		width = 64
	}
	if !s.Type.IsVec() {
		r := gpName(s.Type)
		if c, ok := lo.constOf(s.Args[1]); ok {
			lo.left[s.Args[1]]--
			return lo.b.OpImm(n, lo.l.form(names.imm+" "+r+",i"), c&(width-1), lo.use(s.Args[0]))
		}
		x := lo.use(s.Args[0])
		return lo.b.Op(n, lo.l.form(names.reg+" "+r+","+r+","+r), x, lo.use(s.Args[1]))
	}
	w := vecBytes(s.Type)
	suffix := "d"
	if width == 64 {
		suffix = "q"
	}
	x := lo.use(s.Args[0])
	if c := lo.def[s.Args[1]]; c != nil && c.Op == lir.Const {
		lo.left[s.Args[1]]--
		return lo.b.OpImm(n, lo.l.vop(names.vec+suffix, "V,V,i", w), c.Imm&(width-1), x)
	}
	count := lo.b.Op(n, lo.l.vop(lo.vecIntName(lir.And, s.Type.Elem), "V,V,V", w), lo.use(s.Args[1]), lo.vecConst(s.Type, width-1))
	return lo.b.Op(n, lo.l.vop(names.vec+"v"+suffix, "V,V,V", w), x, count)
}

var bitNames = map[lir.Op]string{lir.Clz: "lzcnt", lir.Ctz: "tzcnt", lir.Popcnt: "popcnt"}

func bitOp(lo *lowering, s *lir.Stmt) mir.Reg {
	r := gpName(s.Type)
	return lo.b.Op(lo.node, lo.l.form(bitNames[s.Op]+" "+r+","+r), lo.use(s.Args[0]))
}

var extNames = map[lir.Op]string{lir.Ext8S: "movsx r32,r8", lir.Ext16S: "movsx r32,r16", lir.ExtS: "movsxd r64,r32",
	lir.ExtU: "mov r32,r32", lir.I32ToIxU: "mov r32,r32"}

func extOp(lo *lowering, s *lir.Stmt) mir.Reg {
	if s.Type.IsVec() {
		return widen(lo, s)
	}
	return lo.b.Op(lo.node, lo.l.form(extNames[s.Op]), lo.use(s.Args[0]))
}

// maskOp lowers the logic of masks.
func maskOp(lo *lowering, s *lir.Stmt) mir.Reg {
	a := lo.use(s.Args[0])
	if lo.l.Masks {
		switch s.Op {
		case lir.MNot: // bits above the lanes are arbitrary
			return lo.b.Op(lo.node, lo.l.form("knotw k,k"), a)
		case lir.MAnd:
			return lo.b.Op(lo.node, lo.l.form("kandw k,k,k"), a, lo.use(s.Args[1]))
		}
		return lo.b.Op(lo.node, lo.l.form("korw k,k,k"), a, lo.use(s.Args[1]))
	}
	w := vecBytes(s.Type)
	switch s.Op {
	case lir.MNot:
		ones := lo.vecConst(lir.Vec(lir.I32, int(w)/4), -1)
		return lo.b.Op(lo.node, lo.l.vop("vpxor", "V,V,V", w), a, ones)
	case lir.MAnd:
		return lo.b.Op(lo.node, lo.l.vop("vpand", "V,V,V", w), a, lo.use(s.Args[1]))
	}
	return lo.b.Op(lo.node, lo.l.vop("vpor", "V,V,V", w), a, lo.use(s.Args[1]))
}
