package lower

import (
	"math"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// maker pushes the result of an operation that is not one instruction on its
// operands, or returns false to leave the form to the tables.
type maker func(c *fn, s *lir.Stmt) bool

// makers is a function because makers compute their operands with the table.
func makers() [lir.NumOps]maker {
	return [lir.NumOps]maker{
		lir.Const:     func(c *fn, s *lir.Stmt) bool { c.constant(s); return true },
		lir.LaneIx:    laneIx,
		lir.Splat:     splat,
		lir.Extract:   extract,
		lir.LaneDown:  laneDown,
		lir.Zip:       zip,
		lir.Load:      func(c *fn, s *lir.Stmt) bool { c.f.At(s.Node); c.memLoad(s); return true },
		lir.ExtS:      widen,
		lir.ExtU:      widen,
		lir.Shl:       shift,
		lir.ShrS:      shift,
		lir.ShrU:      shift,
		lir.MulHiS:    mulHigh,
		lir.MulHiU:    mulHigh,
		lir.LtU:       compareUnsigned,
		lir.LeU:       compareUnsigned,
		lir.FMA:       fusedMulAdd,
		lir.FCopysign: copysign,
		lir.Canon:     canon,
		lir.Select:    choose,
		lir.MAny:      anyLane,
	}
}

// constant pushes a constant.
func (c *fn) constant(s *lir.Stmt) {
	f := c.f
	f.At(s.Node)
	if s.Type.IsVec() {
		c.uniform(laneBytes(s.Type), uint64(s.Imm))
		return
	}
	f.I(wasmType(s.Type).String()+".const", uint64(s.Imm))
}

// uniform pushes a vector with the same bits in every lane.
func (c *fn) uniform(size int, b uint64) {
	for w := 8 * size; w < 64; w *= 2 {
		b = b&(1<<w-1) | b<<w
	}
	c.f.I("v128.const", b, b)
}

func laneIx(c *fn, s *lir.Stmt) bool {
	c.f.At(s.Node)
	if s.Type.Elem == lir.I32 {
		c.f.I("v128.const", 1<<32, 3<<32|2)
	} else {
		c.f.I("v128.const", 0, 1)
	}
	return true
}

func splat(c *fn, s *lir.Stmt) bool {
	c.push(s.Args[0])
	c.f.At(s.Node)
	c.f.I(shape(s.Type.Elem) + ".splat")
	return true
}

func extract(c *fn, s *lir.Stmt) bool {
	c.push(s.Args[0])
	c.f.At(s.Node)
	c.f.I(shape(s.Type.Elem)+".extract_lane", uint64(s.Imm))
	return true
}

// laneDown rotates the bytes, so the lanes above are those from below.
func laneDown(c *fn, s *lir.Stmt) bool {
	f := c.f
	c.push(s.Args[0])
	f.At(s.Node)
	t := f.Local(wasmType(s.Type))
	f.Tee(t)
	f.Get(t)
	var w [2]uint64
	for j := range uint64(16) {
		w[j/8] |= (j + uint64(s.Imm)*uint64(laneBytes(s.Type))) % 16 << (8 * (j % 8))
	}
	f.I("i8x16.shuffle", w[0], w[1])
	f.Free(t)
	return true
}

// zip takes the lanes of two vectors in turn.
func zip(c *fn, s *lir.Stmt) bool {
	c.push(s.Args[0])
	c.push(s.Args[1])
	c.f.At(s.Node)
	size, lanes := uint64(laneBytes(s.Type)), uint64(s.Type.Lanes)
	var w [2]uint64
	for j := range uint64(16) {
		i := j / size % lanes
		from := (uint64(s.Imm)*lanes+i)/2*size + j%size + i%2*16
		w[j/8] |= from << (8 * (j % 8))
	}
	c.f.I("i8x16.shuffle", w[0], w[1])
	return true
}

// shift handles vectors by a uniform count; simd128 has no others.
func shift(c *fn, s *lir.Stmt) bool {
	if !s.Type.IsVec() {
		return false
	}
	count := c.operands(s)[1]
	uniform := count != s.Args[1]
	k, isConst := int64(0), false
	if d := c.v[count].def; d != nil && d.Op == lir.Const {
		k, isConst = d.Imm, true
	}
	if !uniform && !isConst {
		return false
	}
	c.push(s.Args[0])
	switch {
	case isConst:
		c.release(count)
		c.f.At(s.Node)
		c.f.I32(int32(k))
	default:
		c.push(count)
		c.f.At(s.Node)
		if s.Type.Elem == lir.I64 {
			c.f.I("i32.wrap_i64")
		}
	}
	c.f.I(shape(s.Type.Elem) + "." + plain[s.Op].scalar)
	return true
}

func mulHigh(c *fn, s *lir.Stmt) bool {
	c.push(s.Args[0])
	c.push(s.Args[1])
	c.f.At(s.Node)
	if s.Op == lir.MulHiS {
		c.f.Call(c.h.mulHiS)
	} else {
		c.f.Call(c.h.mulHiU)
	}
	return true
}

// compareUnsigned makes the 64-bit vector forms from signed comparisons with
// both sides moved by 2^63.
func compareUnsigned(c *fn, s *lir.Stmt) bool {
	if !s.Type.IsVec() || s.Type.Elem != lir.I64 {
		return false
	}
	for _, a := range s.Args {
		c.push(a)
		c.f.At(s.Node)
		c.uniform(8, 1<<63)
		c.f.I("v128.xor")
	}
	if s.Op == lir.LtU {
		c.f.I("i64x2.lt_s")
	} else {
		c.f.I("i64x2.le_s")
	}
	return true
}

// copysign takes the sign bits of the second operand.
func copysign(c *fn, s *lir.Stmt) bool {
	if !s.Type.IsVec() {
		return false
	}
	c.push(s.Args[1])
	c.push(s.Args[0])
	c.f.At(s.Node)
	if n := laneBytes(s.Type); n == 4 {
		c.uniform(n, 1<<31)
	} else {
		c.uniform(n, 1<<63)
	}
	c.f.I("v128.bitselect")
	return true
}

// canon keeps what equals itself and puts the one NaN elsewhere.
func canon(c *fn, s *lir.Stmt) bool {
	f := c.f
	c.push(s.Args[0])
	f.At(s.Node)
	t := f.Local(wasmType(s.Type))
	nan := uint64(0x7FC00000)
	if s.Type.Elem == lir.F64 {
		nan = 0x7FF8000000000000
	}
	if s.Type.IsVec() {
		f.Tee(t)
		c.uniform(laneBytes(s.Type), nan)
		f.Get(t)
		f.Get(t)
		f.I(shape(s.Type.Elem) + ".eq")
		f.I("v128.bitselect")
	} else {
		name := wasmType(s.Type).String()
		f.Set(t)
		c.selectFloat(s.Type.Elem, func() { f.Get(t) }, func() { f.I(name+".const", nan) }, func() {
			f.Get(t)
			f.Get(t)
			f.I(name + ".eq")
		})
	}
	f.Free(t)
	return true
}

func choose(c *fn, s *lir.Stmt) bool {
	if s.Type.Elem.IsFloat() && !s.Type.IsVec() {
		c.selectFloat(s.Type.Elem, func() { c.push(s.Args[1]) }, func() { c.push(s.Args[2]) }, func() {
			c.push(s.Args[0])
			c.f.At(s.Node)
		})
		return true
	}
	c.push(s.Args[1])
	c.push(s.Args[2])
	c.push(s.Args[0])
	c.f.At(s.Node)
	if s.Type.IsVec() {
		c.f.I("v128.bitselect")
	} else {
		c.f.I("select")
	}
	return true
}

// selectFloat chooses between floats as integers. wazero (1.8 to 1.12 at least)
// compiles a select of floats so that its register allocator takes the move of
// the first value for the only definition: where registers are short the second
// value is lost before the move that would keep it. A select of integers is
// right. TestPinnedPrograms keeps programs that showed it.
func (c *fn) selectFloat(e lir.Elem, a, b, cond func()) {
	i, f := "i32", "f32"
	if e == lir.F64 {
		i, f = "i64", "f64"
	}
	for _, v := range []func(){a, b} {
		v()
		c.f.I(i + ".reinterpret_" + f)
	}
	cond()
	c.f.I("select")
	c.f.I(f + ".reinterpret_" + i)
}

// anyLane looks at the lanes that exist; what lies above them is arbitrary.
func anyLane(c *fn, s *lir.Stmt) bool {
	c.push(s.Args[0])
	c.f.At(s.Node)
	if half(s.Type) {
		c.f.I("v128.const", math.MaxUint64, 0)
		c.f.I("v128.and")
	}
	c.f.I("v128.any_true")
	return true
}
