package isel

import (
	"encoding/binary"
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

func fits32(v int64) bool { return v == int64(int32(v)) }

// postpone remembers s for its consumer instead of emitting it.
func (lo *lowering) postpone(s *lir.Stmt) { lo.def[s.Results[0]] = s }

// deferred returns the statement of a value that has no register yet.
func (lo *lowering) deferred(v lir.Value, op lir.Op) *lir.Stmt {
	if s := lo.def[v]; s != nil && s.Op == op && lo.reg[v] == mir.NoReg {
		return s
	}
	return nil
}

// use returns the register of v and counts the use.
func (lo *lowering) use(v lir.Value) mir.Reg {
	lo.left[v]--
	return lo.materialise(v)
}

// materialise gives v a register.
func (lo *lowering) materialise(v lir.Value) mir.Reg {
	if r := lo.reg[v]; r != mir.NoReg {
		return r
	}
	s := lo.def[v]
	if s == nil {
		panic(fmt.Sprintf("BUG: value %d of %s has no register", v, lo.f.Name))
	}
	switch s.Op {
	case lir.Const, lir.LaneIx:
		return lo.constant(s) // shared through the cache, not tied to v
	case lir.Load:
		lo.reg[v] = lo.load(s)
	case lir.Splat:
		lo.reg[v] = lo.splat(s)
	default:
		lo.reg[v] = compareOp(lo, s)
	}
	return lo.reg[v]
}

// flush materialises deferred loads that a write to an alias set may change;
// 0 is every set.
func (lo *lowering) flush(set int32) {
	keep := lo.late[:0]
	for _, v := range lo.late {
		s := lo.def[v]
		if s.Op == lir.Splat {
			s = lo.def[s.Args[0]]
		}
		switch {
		case lo.reg[v] != mir.NoReg || lo.left[v] <= 0:
		case set == 0 || lo.alias[s.Addr.Buf] == set:
			lo.materialise(v)
		default:
			keep = append(keep, v)
		}
	}
	lo.late = keep
}

// constOf returns the value of an integer constant.
func (lo *lowering) constOf(v lir.Value) (int64, bool) {
	s := lo.def[v]
	if s == nil || s.Op != lir.Const || s.Type.IsVec() || s.Type.Elem.IsFloat() {
		return 0, false
	}
	if s.Type.Elem == lir.I32 {
		return int64(int32(s.Imm)), true
	}
	return s.Imm, true
}

// imm consumes v as a 32-bit immediate if it is one.
func (lo *lowering) imm(v lir.Value) (int64, bool) {
	c, ok := lo.constOf(v)
	if !ok || !fits32(c) {
		return 0, false
	}
	lo.left[v]--
	return c, true
}

// hoist materialises in the entry block the constants that loops use.
func (lo *lowering) hoist() {
	for _, k := range lo.an.hoist {
		lo.cache[k] = lo.makeConst(k)
	}
}

// constant returns a register with a constant.
func (lo *lowering) constant(s *lir.Stmt) mir.Reg {
	if lo.class(s.Type) == gp {
		return lo.gpConst(s.Type, s.Imm)
	}
	return lo.keyed(keyOf(s))
}

// keyed returns a register with a vector constant, shared where that reaches.
func (lo *lowering) keyed(k constKey) mir.Reg {
	if r, ok := lo.cache[k]; ok {
		return r
	}
	r := lo.makeConst(k)
	lo.cache[k] = r
	lo.undo = append(lo.undo, k)
	return r
}

// vecConst is a constant the lowering itself needs: a uniform vector, or a
// scalar float, by the bits of one lane.
func (lo *lowering) vecConst(t lir.Type, bits int64) mir.Reg {
	return lo.constant(&lir.Stmt{Op: lir.Const, Type: t, Imm: bits})
}

func (lo *lowering) gpConst(t lir.Type, v int64) mir.Reg {
	if t.Elem == lir.I32 {
		v = int64(int32(v))
	}
	switch {
	case v == 0:
		return lo.b.Op(lo.node, lo.l.pseudo["zero.gp"])
	case t.Elem == lir.I32 || v == int64(uint32(v)):
		return lo.b.OpImm(lo.node, lo.l.form("const mov r32,i"), int64(uint32(v)))
	case fits32(v):
		return lo.b.OpImm(lo.node, lo.l.form("const mov r64,i"), v)
	}
	return lo.b.OpImm(lo.node, lo.l.form("const movabs r64,i"), v)
}

// makeConst emits a constant vector or scalar float.
func (lo *lowering) makeConst(k constKey) mir.Reg {
	n := lo.node
	size := k.t.Elem.Size()
	w := uint8(size * int(k.t.Lanes))
	if k.lane || k.zip {
		data := make([]byte, 0, w)
		for i := range int64(k.t.Lanes) {
			x := i
			if k.zip {
				x = i%2*int64(k.t.Lanes) + (k.bits*int64(k.t.Lanes)+i)/2
			}
			data = appendLane(data, size, x)
		}
		return lo.b.OpMem(n, lo.l.form("const vmovups "+vecLetter[w]+","+vecBits[w]), lo.poolAddr(data))
	}
	lane := appendLane(nil, size, k.bits)
	for size < 4 { // repeated to a lane that broadcasts take
		lane, size = append(lane, lane...), 2*size
	}
	w = max(w, 16)
	switch {
	case allBytes(lane, 0):
		return lo.b.Op(n, lo.l.pseudo["zero.vec"])
	case k.t.IsVec() && allBytes(lane, 0xff):
		return lo.b.Op(n, lo.l.pseudo["ones.vec"])
	}
	key := map[int]string{4: "const vmovss x,m32", 8: "const vmovsd x,m64"}[size]
	if k.t.IsVec() {
		key = map[int]string{4: "const vbroadcastss " + vecLetter[w] + ",m32", 8: "const vbroadcastsd " + vecLetter[w] + ",m64"}[size]
		if size == 8 && w == 16 {
			key = "const vmovddup x,m64"
		}
	}
	return lo.b.OpMem(n, lo.l.form(key), lo.poolAddr(lane))
}

func appendLane(b []byte, size int, v int64) []byte {
	switch size {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, uint64(v))
}

func allBytes(b []byte, c byte) bool {
	for _, x := range b {
		if x != c {
			return false
		}
	}
	return true
}

// poolAddr is the address of pooled bytes.
func (lo *lowering) poolAddr(data []byte) mir.Addr {
	return mir.Addr{Label: int32(lo.buf.Const(data)) + 1}
}

// addr resolves the address of a load or store; it counts the index's use.
func (lo *lowering) addr(a lir.Addr) mir.Addr {
	x := &lo.f.Bufs[a.Buf]
	m := mir.Addr{Scale: a.Scale, Alias: lo.alias[a.Buf]}
	disp := x.Offset + a.Disp
	if a.Index != lir.NoValue {
		if c, ok := lo.constOf(a.Index); ok {
			lo.left[a.Index]--
			disp += c * int64(a.Scale)
		} else {
			m.Index = lo.use(a.Index)
		}
	}
	if x.Kind == lir.BufConst && m.Index == mir.NoReg && fits32(disp) {
		m.Label, m.Disp = int32(lo.pool[x.Index])+1, int32(disp)
		return m
	}
	m.Base = lo.base[baseKey{x.Kind, x.Index}]
	if !fits32(disp) {
		far := lo.gpConst(lir.TI64, disp)
		m.Base = lo.b.OpMem(lo.node, lo.l.form("lea r64,m64"), mir.Addr{Base: m.Base, Index: far, Scale: 1})
		disp = 0
	}
	m.Disp = int32(disp)
	return m
}

// loadForms are the plain loads by memory form and class.
var loadGP = [...]string{lir.M8S: "movsx r32,m8", lir.M8U: "movzx r32,m8", lir.M16S: "movsx r32,m16", lir.M16U: "movzx r32,m16",
	lir.M32: "mov r32,m32", lir.M64: "mov r64,m64"}

var storeGP = [...]string{lir.M8S: "mov m8,r8", lir.M8U: "mov m8,r8", lir.M16S: "mov m16,r16", lir.M16U: "mov m16,r16",
	lir.M32: "mov m32,r32", lir.M64: "mov m64,r64"}

func (lo *lowering) load(s *lir.Stmt) mir.Reg {
	var op mir.Op
	switch t := s.Type; {
	case t.IsVec():
		op = lo.l.vecMove(t, false)
	case t.Elem == lir.F32:
		op = lo.l.form("vmovss x,m32")
	case t.Elem == lir.F64:
		op = lo.l.form("vmovsd x,m64")
	default:
		op = lo.l.form(loadGP[s.Mem])
	}
	m := lo.addr(s.Addr)
	return lo.b.OpMem(lo.node, op, m)
}

func (lo *lowering) store(s *lir.Stmt) {
	lo.flush(lo.alias[s.Addr.Buf])
	t := s.Type
	var op mir.Op
	switch {
	case t.IsVec():
		op = lo.l.vecMove(t, true)
	case t.Elem == lir.F32:
		op = lo.l.form("vmovss m32,x")
	case t.Elem == lir.F64:
		op = lo.l.form("vmovsd m64,x")
	default:
		if c, ok := lo.constOf(s.Args[0]); ok && fits32(c) && s.Mem >= lir.M32 {
			lo.left[s.Args[0]]--
			op = lo.l.form(map[lir.Mem]string{lir.M32: "mov m32,i", lir.M64: "mov m64,i"}[s.Mem])
			lo.b.Emit(lo.node, op, mir.Args{Mem: lo.addr(s.Addr), Imm: c})
			return
		}
		op = lo.l.form(storeGP[s.Mem])
	}
	v := lo.use(s.Args[0])
	lo.b.Store(lo.node, op, lo.addr(s.Addr), v)
}

func vecBytes(t lir.Type) uint8 {
	if t.Elem == lir.Mask {
		return t.Lanes * (t.Bits / 8)
	}
	return t.Lanes * uint8(t.Elem.Size())
}

// memOf consumes v as a memory operand if it is a deferred load of its whole
// type, or (where that beats a register) a constant of the pool.
func (lo *lowering) memOf(v lir.Value) (mir.Addr, bool) {
	if s := lo.deferred(v, lir.Load); s != nil && s.Mem >= lir.M32 {
		lo.left[v]--
		return lo.addr(s.Addr), true
	}
	s := lo.def[v]
	if s == nil || s.Op != lir.Const || lo.class(s.Type) != vec || s.Type.Elem.Size() < 4 {
		return mir.Addr{}, false
	}
	if _, ok := lo.cache[keyOf(s)]; ok || lo.depth > 0 {
		return mir.Addr{}, false
	}
	size := s.Type.Elem.Size()
	lane := appendLane(nil, size, s.Imm)
	if allBytes(lane, 0) || s.Type.IsVec() && (lo.l.Masks || allBytes(lane, 0xff)) {
		return mir.Addr{}, false
	}
	var data []byte
	for i := 0; i < int(s.Type.Lanes); i++ {
		data = append(data, lane...)
	}
	lo.left[v]--
	return lo.poolAddr(data), true
}

// bcastOf consumes v as a broadcast memory element: a deferred splat of a
// deferred load, or a uniform constant outside loops.
func (lo *lowering) bcastOf(v lir.Value) (mir.Addr, bool) {
	if !lo.l.Masks {
		return mir.Addr{}, false
	}
	if s := lo.deferred(v, lir.Splat); s != nil {
		if ld := lo.deferred(s.Args[0], lir.Load); ld != nil && ld.Mem >= lir.M32 {
			lo.left[v]--
			return lo.addr(ld.Addr), true
		}
	}
	s := lo.def[v]
	if s == nil || s.Op != lir.Const || !s.Type.IsVec() || lo.depth > 0 || s.Type.Elem.Size() < 4 {
		return mir.Addr{}, false
	}
	lane := appendLane(nil, s.Type.Elem.Size(), s.Imm)
	if _, ok := lo.cache[keyOf(s)]; ok || allBytes(lane, 0) || allBytes(lane, 0xff) {
		return mir.Addr{}, false
	}
	lo.left[v]--
	return lo.poolAddr(lane), true
}

// splat emits a vector of equal lanes.
func (lo *lowering) splat(s *lir.Stmt) mir.Reg {
	w, t, v := vecBytes(s.Type), s.Type, s.Args[0]
	size := t.Elem.Size()
	if size < 4 {
		return lo.splatNarrow(s)
	}
	if ld := lo.deferred(v, lir.Load); ld != nil && ld.Mem >= lir.M32 {
		lo.left[v]--
		return lo.b.OpMem(lo.node, lo.broadcast(w, size, true), lo.addr(ld.Addr))
	}
	r := lo.use(v)
	if t.Elem.IsFloat() {
		return lo.b.Op(lo.node, lo.broadcast(w, size, false), r)
	}
	if lo.l.Masks {
		if size == 4 {
			return lo.b.Op(lo.node, lo.l.vop("vpbroadcastd", "V,r32", w), r)
		}
		return lo.b.Op(lo.node, lo.l.vop("vpbroadcastq", "V,r64", w), r)
	}
	x := lo.b.Op(lo.node, lo.l.form(map[int]string{4: "vmovd x,r32", 8: "vmovq x,r64"}[size]), r)
	return lo.b.Op(lo.node, lo.broadcast(w, size, false), x)
}

// broadcast is the instruction that repeats a lane of size bytes.
func (lo *lowering) broadcast(w uint8, size int, mem bool) mir.Op {
	shape, wide := "V,x", "x,x"
	if mem {
		shape, wide = map[int]string{4: "V,m32", 8: "V,m64"}[size], "x,m64"
	}
	switch {
	case size == 4:
		return lo.l.vop("vbroadcastss", shape, w)
	case w == 16:
		return lo.l.form("vmovddup " + wide)
	}
	return lo.l.vop("vbroadcastsd", shape, w)
}
