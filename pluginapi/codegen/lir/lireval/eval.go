// Package lireval runs loop IR directly. It is the oracle for backends and for
// the loop plan: slow, simple, and exact to the bit. An Ix is 32 bits wide here,
// as on wasm32, so that plans that need more are caught.
package lireval

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// machine holds one run. A value is its lanes' bits.
type machine struct {
	f        *lir.Func
	in, out  [][]byte
	work     []byte
	consts   [][]byte
	v        [][]uint64
	steps    int
	returned bool
	code     uint64
}

// Run executes one tile of f over the given buffers and returns its trap code.
// It panics on an access outside a buffer and after MaxSteps statements.
func Run(f *lir.Func, consts, in, out [][]byte, work []byte, tile uint64) uint32 {
	m := &machine{f: f, in: in, out: out, work: work, consts: consts, v: make([][]uint64, len(f.Types))}
	m.v[f.Tile] = []uint64{tile}
	m.stmts(f.Body)
	if !m.returned {
		m.code = m.v[f.Body.Yield[0]][0]
	}
	return uint32(m.code)
}

// MaxSteps bounds a run, so that a loop that never ends fails.
const MaxSteps = 1 << 28

func (m *machine) stmts(b *lir.Block) {
	for i := range b.Stmts {
		if m.returned {
			return
		}
		m.stmt(&b.Stmts[i])
	}
}

func (m *machine) values(vs []lir.Value) [][]uint64 {
	out := make([][]uint64, len(vs))
	for i, v := range vs {
		out[i] = m.v[v]
	}
	return out
}

func (m *machine) set(vs []lir.Value, vals [][]uint64) {
	for i, v := range vs {
		m.v[v] = vals[i]
	}
}

func (m *machine) stmt(s *lir.Stmt) {
	if m.steps++; m.steps > MaxSteps {
		panic("the program does not end")
	}
	switch s.Op {
	case lir.For:
		lo, hi := int32(m.v[s.Args[0]][0]), int32(m.v[s.Args[1]][0])
		c := m.values(s.Args[2:])
		for i := lo; i < hi && !m.returned; i += int32(s.Imm) {
			m.v[s.Blocks[0].Params[0]] = []uint64{uint64(uint32(i))}
			m.set(s.Blocks[0].Params[1:], c)
			m.stmts(s.Blocks[0])
			c = m.values(s.Blocks[0].Yield)
		}
		m.set(s.Results, c)
	case lir.While:
		c := m.values(s.Args)
		for !m.returned {
			m.set(s.Blocks[0].Params, c)
			m.stmts(s.Blocks[0])
			if m.returned || m.v[s.Blocks[0].Yield[0]][0] == 0 {
				break
			}
			m.set(s.Blocks[1].Params, c)
			m.stmts(s.Blocks[1])
			c = m.values(s.Blocks[1].Yield)
		}
		m.set(s.Results, c)
	case lir.If:
		b := s.Blocks[0]
		if m.v[s.Args[0]][0] == 0 {
			b = s.Blocks[1]
		}
		m.stmts(b)
		m.set(s.Results, m.values(b.Yield))
	case lir.Return:
		m.returned, m.code = true, m.v[s.Args[0]][0]
	case lir.Store, lir.MStore, lir.Scatter:
		m.store(s)
	default:
		m.v[s.Results[0]] = m.op(s)
	}
}

func (m *machine) at(a lir.Addr, more int64, size int) []byte {
	b := m.f.Bufs[a.Buf]
	off := a.Disp + b.Offset + more
	if a.Index != lir.NoValue {
		off += int64(int32(m.v[a.Index][0])) * int64(a.Scale)
	}
	if rel := off - b.Offset; rel < 0 || rel+int64(size) > b.Bytes {
		panic(fmt.Sprintf("access at %d of buffer %d (%d bytes)", rel, a.Buf, b.Bytes))
	}
	switch b.Kind {
	case lir.BufIn:
		return m.in[b.Index][off:]
	case lir.BufOut:
		return m.out[b.Index][off:]
	case lir.BufWork:
		return m.work[off:]
	}
	return m.consts[b.Index][off:]
}

func (m *machine) op(s *lir.Stmt) []uint64 {
	lanes := make([]uint64, s.Type.Lanes)
	switch s.Op {
	case lir.Extract:
		return []uint64{m.v[s.Args[0]][s.Imm]}
	case lir.MLoad, lir.Gather:
		return m.someLanes(s)
	case lir.Dot2S, lir.Dot4US:
		return m.dot(s)
	case lir.MCast:
		return m.v[s.Args[0]]
	case lir.MAny:
		any := uint64(0)
		for _, x := range m.v[s.Args[0]] {
			any |= x
		}
		return []uint64{any}
	case lir.LaneDown:
		for i := range lanes {
			lanes[i] = m.v[s.Args[0]][(i+int(s.Imm))%len(lanes)]
		}
		return lanes
	case lir.Zip:
		for i := range lanes {
			lanes[i] = m.v[s.Args[i%2]][(int(s.Imm)*len(lanes)+i)/2]
		}
		return lanes
	}
	for i := range lanes {
		switch s.Op {
		case lir.Const:
			lanes[i] = trunc(s.Type.Elem, uint64(s.Imm))
		case lir.LaneIx:
			lanes[i] = uint64(i)
		case lir.Splat:
			lanes[i] = trunc(s.Type.Elem, m.v[s.Args[0]][0])
		case lir.Load:
			lanes[i] = loadAs(s.Type.Elem, m.at(s.Addr, int64(i*s.Mem.Size()), s.Mem.Size()), s.Mem)
		default:
			args := make([]uint64, len(s.Args))
			for k, a := range s.Args {
				args[k] = m.v[a][i]
			}
			lanes[i] = scalar(s.Op, m.f.TypeOf(s.Args[len(s.Args)-1]).Elem, s.Type.Elem, args)
		}
	}
	return lanes
}

func load(b []byte, form lir.Mem) uint64 {
	switch form {
	case lir.M8S:
		return uint64(uint32(int8(b[0])))
	case lir.M8U:
		return uint64(b[0])
	case lir.M16S:
		return uint64(uint32(int16(binary.LittleEndian.Uint16(b))))
	case lir.M16U:
		return uint64(binary.LittleEndian.Uint16(b))
	case lir.M32:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func trunc(e lir.Elem, x uint64) uint64 {
	if e == lir.I64 || e == lir.F64 {
		return x
	}
	switch e {
	case lir.I8:
		return x & math.MaxUint8
	case lir.I16:
		return x & math.MaxUint16
	}
	return x & math.MaxUint32
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// scalar is the meaning of one lane of an operation on elements from, giving to.
func scalar(o lir.Op, from, to lir.Elem, a []uint64) uint64 {
	switch {
	case o == lir.Select:
		if a[0] != 0 {
			return a[1]
		}
		return a[2]
	case o == lir.MAnd:
		return a[0] & a[1]
	case o == lir.MOr:
		return a[0] | a[1]
	case o == lir.MNot:
		return 1 - a[0]
	case len(a) == 1 && lir.IsConversion(o):
		return convert(o, from, to, a[0])
	case from.IsFloat():
		return float(o, from, a)
	}
	return trunc(from, integer(o, from, a))
}

func convert(o lir.Op, from, to lir.Elem, x uint64) uint64 {
	dt := map[lir.Elem]types.DType{lir.I32: types.I32, lir.I64: types.I64, lir.F32: types.F32, lir.F64: types.F64}
	un := map[lir.Elem]types.DType{lir.I32: types.U32, lir.I64: types.U64, lir.F32: types.F32, lir.F64: types.F64}
	switch o {
	case lir.ExtS:
		return trunc(to, uint64(signed(from, x)))
	case lir.SToF, lir.FToS, lir.Promote, lir.Demote:
		return numeric.ConvertOf(dt[from], dt[to])(x)
	case lir.UToF, lir.FToU:
		return numeric.ConvertOf(un[from], un[to])(x)
	case lir.ExtU, lir.BitsOf, lir.FromBits, lir.IxToI64, lir.IxToI32, lir.I32ToIxU:
		return x
	case lir.Wrap:
		return trunc(to, x)
	case lir.I64ToIx:
		return x & math.MaxUint32
	}
	panic(fmt.Sprint("conversion ", o))
}

// integer computes on sign-extended and zero-extended copies.
func integer(o lir.Op, e lir.Elem, a []uint64) uint64 {
	w := uint64(64)
	s := func(x uint64) int64 { return int64(x) }
	if e != lir.I64 {
		w = 32
		if e == lir.I8 || e == lir.I16 {
			w = uint64(8 * e.Size())
		}
		s = func(x uint64) int64 { return signed(e, x) }
	}
	x, y := a[0], uint64(0)
	if len(a) > 1 {
		y = a[1]
	}
	switch o {
	case lir.Add:
		return x + y
	case lir.Sub:
		return x - y
	case lir.Mul:
		return x * y
	case lir.DivS:
		return uint64(s(x) / s(y))
	case lir.DivU:
		return x / y
	case lir.RemS:
		return uint64(s(x) % s(y))
	case lir.RemU:
		return x % y
	case lir.And:
		return x & y
	case lir.Or:
		return x | y
	case lir.Xor:
		return x ^ y
	case lir.Shl:
		return x << (y % w)
	case lir.ShrS:
		return uint64(s(x) >> (y % w))
	case lir.ShrU:
		return x >> (y % w)
	case lir.Clz:
		return uint64(bits.LeadingZeros64(x)) - (64 - w)
	case lir.Ctz:
		return min(uint64(bits.TrailingZeros64(x)), w)
	case lir.Popcnt:
		return uint64(bits.OnesCount64(x))
	case lir.MulHiU:
		h, _ := bits.Mul64(x, y)
		return h
	case lir.MulHiS:
		h, _ := bits.Mul64(x, y)
		if int64(x) < 0 {
			h -= y
		}
		if int64(y) < 0 {
			h -= x
		}
		return h
	case lir.MinS:
		return uint64(min(s(x), s(y)))
	case lir.MaxS:
		return uint64(max(s(x), s(y)))
	case lir.MinU:
		return min(x, y)
	case lir.MaxU:
		return max(x, y)
	case lir.IAbs:
		return uint64(max(s(x), -s(x)))
	case lir.AddSatS, lir.SubSatS, lir.AddSatU, lir.SubSatU:
		return saturated(o, s(x), s(y), int64(x), int64(y), w)
	case lir.Ext8S:
		return uint64(int64(int8(x)))
	case lir.Ext16S:
		return uint64(int64(int16(x)))
	case lir.Eq:
		return b2u(x == y)
	case lir.Ne:
		return b2u(x != y)
	case lir.LtS:
		return b2u(s(x) < s(y))
	case lir.LtU:
		return b2u(x < y)
	case lir.LeS:
		return b2u(s(x) <= s(y))
	case lir.LeU:
		return b2u(x <= y)
	}
	panic(fmt.Sprint("integer op ", o))
}

// float goes through f64, which is exact for one f32 operation of + - * / sqrt
// (twice the precision and two bits more), and through numeric for fma.
func float(o lir.Op, e lir.Elem, a []uint64) uint64 {
	get := func(i int) float64 {
		if i >= len(a) {
			return 0
		}
		if e == lir.F32 {
			return float64(math.Float32frombits(uint32(a[i])))
		}
		return math.Float64frombits(a[i])
	}
	sign := uint64(1) << 63
	dt := types.F64
	put := math.Float64bits
	if e == lir.F32 {
		sign, dt = 1<<31, types.F32
		put = func(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }
	}
	x, y := get(0), get(1)
	switch o {
	case lir.FAdd:
		return put(x + y)
	case lir.FSub:
		return put(x - y)
	case lir.FMul:
		return put(x * y)
	case lir.FDiv:
		return put(x / y)
	case lir.FSqrt:
		return put(math.Sqrt(x))
	case lir.FNeg:
		return a[0] ^ sign
	case lir.FAbs:
		return a[0] &^ sign
	case lir.FMin:
		return put(numeric.MinFloat(x, y))
	case lir.FMax:
		return put(numeric.MaxFloat(x, y))
	case lir.FMA:
		if e == lir.F32 {
			return uint64(math.Float32bits(numeric.FMA32(float32(x), float32(y), float32(get(2)))))
		}
		return put(math.FMA(x, y, get(2)))
	case lir.FFloor:
		return put(math.Floor(x))
	case lir.FCeil:
		return put(math.Ceil(x))
	case lir.FTrunc:
		return put(math.Trunc(x))
	case lir.FNearest:
		return put(math.RoundToEven(x))
	case lir.FCopysign:
		return a[0]&^sign | a[1]&sign
	case lir.FEq:
		return b2u(x == y)
	case lir.FNe:
		return b2u(x != y)
	case lir.FLt:
		return b2u(x < y)
	case lir.FLe:
		return b2u(x <= y)
	case lir.Canon:
		return numeric.Canon(dt, a[0])
	}
	panic(fmt.Sprint("float op ", o))
}
