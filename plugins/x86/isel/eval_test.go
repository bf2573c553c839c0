package isel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// eval is a direct reading of the loop IR's definition, lane by lane on bit
// patterns, that native code is compared with.
type eval struct {
	f      *lir.Func
	consts [][]byte
	in     [][]byte
	out    [][]byte
	work   []byte
	v      [][]uint64
	trap   uint32
	left   bool
}

func (e *eval) run(tile uint64) uint32 {
	e.v = make([][]uint64, len(e.f.Types))
	e.v[e.f.Tile] = []uint64{tile}
	y := e.block(e.f.Body)
	if !e.left {
		e.trap = uint32(y[0][0])
	}
	e.left = false
	return e.trap
}

func (e *eval) block(b *lir.Block) [][]uint64 {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		switch s.Op {
		case lir.For:
			carried := e.args(s.Args[2:])
			for i := int64(e.v[s.Args[0]][0]); i < int64(e.v[s.Args[1]][0]); i += s.Imm {
				e.bind(s.Blocks[0].Params, append([][]uint64{{uint64(i)}}, carried...))
				if carried = e.block(s.Blocks[0]); e.left {
					return nil
				}
			}
			e.bind(s.Results, carried)
		case lir.While:
			carried := e.args(s.Args)
			for {
				e.bind(s.Blocks[0].Params, carried)
				c := e.block(s.Blocks[0])
				if e.left || uint32(c[0][0]) == 0 {
					break
				}
				e.bind(s.Blocks[1].Params, carried)
				if carried = e.block(s.Blocks[1]); e.left {
					break
				}
			}
			if e.left {
				return nil
			}
			e.bind(s.Results, carried)
		case lir.If:
			k := 1
			if uint32(e.v[s.Args[0]][0]) != 0 {
				k = 0
			}
			y := e.block(s.Blocks[k])
			if e.left {
				return nil
			}
			e.bind(s.Results, y)
		case lir.Return:
			e.trap, e.left = uint32(e.v[s.Args[0]][0]), true
			return nil
		case lir.Store:
			n := s.Mem.Size()
			for k, x := range e.v[s.Args[0]] {
				p := e.mem(s)[k*n:]
				for j := 0; j < n; j++ {
					p[j] = byte(x >> (8 * j))
				}
			}
		default:
			e.v[s.Results[0]] = e.value(s)
		}
	}
	return e.args(b.Yield)
}

func (e *eval) args(vs []lir.Value) [][]uint64 {
	out := make([][]uint64, len(vs))
	for i, v := range vs {
		out[i] = e.v[v]
	}
	return out
}

func (e *eval) bind(vs []lir.Value, xs [][]uint64) {
	for i, v := range vs {
		e.v[v] = xs[i]
	}
}

func (e *eval) mem(s *lir.Stmt) []byte {
	b := e.f.Bufs[s.Addr.Buf]
	var base []byte
	switch b.Kind {
	case lir.BufIn:
		base = e.in[b.Index]
	case lir.BufOut:
		base = e.out[b.Index]
	case lir.BufWork:
		base = e.work
	default:
		base = e.consts[b.Index]
	}
	off := b.Offset + s.Addr.Disp
	if s.Addr.Index != lir.NoValue {
		off += int64(e.v[s.Addr.Index][0]) * int64(s.Addr.Scale)
	}
	return base[off:]
}

func (e *eval) value(s *lir.Stmt) []uint64 {
	lanes := int(s.Type.Lanes)
	out := make([]uint64, lanes)
	switch s.Op {
	case lir.Const:
		for i := range out {
			out[i] = trunc(s.Type.Elem, uint64(s.Imm))
		}
		return out
	case lir.LaneIx:
		for i := range out {
			out[i] = uint64(i)
		}
		return out
	case lir.Splat:
		for i := range out {
			out[i] = e.v[s.Args[0]][0]
		}
		return out
	case lir.Extract:
		return []uint64{e.v[s.Args[0]][s.Imm]}
	case lir.LaneDown:
		copy(out, e.v[s.Args[0]][s.Imm:])
		return out
	case lir.Zip:
		for i := range out {
			out[i] = e.v[s.Args[i%2]][int(s.Imm)*len(out)/2+i/2]
		}
		return out
	case lir.Load:
		p, n := e.mem(s), s.Mem.Size()
		for i := range out {
			var x uint64
			for j := 0; j < n; j++ {
				x |= uint64(p[i*n+j]) << (8 * j)
			}
			switch s.Mem {
			case lir.M8S:
				x = uint64(uint32(int8(x)))
			case lir.M16S:
				x = uint64(uint32(int16(x)))
			}
			out[i] = x
		}
		return out
	case lir.MAny:
		var any uint64
		for _, x := range e.v[s.Args[0]] {
			any |= x
		}
		return []uint64{any}
	}
	a := e.args(s.Args)
	for i := range out {
		var x [3]uint64
		for k := range a {
			if k == 0 && s.Op == lir.Select && !s.Type.IsVec() {
				x[k] = uint64(uint32(a[k][0]))
				continue
			}
			x[k] = a[k][i]
		}
		from := s.Type.Elem
		if len(s.Args) == 1 {
			from = e.f.TypeOf(s.Args[0]).Elem
		}
		out[i] = lane(s.Op, from, s.Type.Elem, x[0], x[1], x[2])
	}
	return out
}

func width64(e lir.Elem) bool { return e == lir.I64 || e == lir.F64 || e == lir.Ix }

func trunc(e lir.Elem, x uint64) uint64 {
	if width64(e) {
		return x
	}
	return uint64(uint32(x))
}

func sext(e lir.Elem, x uint64) int64 {
	if width64(e) {
		return int64(x)
	}
	return int64(int32(x))
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func toF(e lir.Elem, x uint64) float64 {
	if e == lir.F32 {
		return float64(math.Float32frombits(uint32(x)))
	}
	return math.Float64frombits(x)
}

// lane computes one lane of an operation.
func lane(op lir.Op, from, e lir.Elem, a, b, c uint64) uint64 {
	w := uint64(32)
	if width64(from) {
		w = 64
	}
	sa, sb := sext(from, a), sext(from, b)
	switch op {
	case lir.Add:
		return trunc(e, a+b)
	case lir.Sub:
		return trunc(e, a-b)
	case lir.Mul:
		return trunc(e, a*b)
	case lir.DivS:
		return trunc(e, uint64(sa/sb))
	case lir.DivU:
		return a / b
	case lir.RemS:
		return trunc(e, uint64(sa%sb))
	case lir.RemU:
		return a % b
	case lir.And, lir.MAnd:
		return a & b
	case lir.Or, lir.MOr:
		return a | b
	case lir.Xor:
		return a ^ b
	case lir.MNot:
		return a ^ 1
	case lir.Shl:
		return trunc(e, a<<(b&(w-1)))
	case lir.ShrS:
		return trunc(e, uint64(sa>>(b&(w-1))))
	case lir.ShrU:
		return a >> (b & (w - 1))
	case lir.Clz:
		return uint64(bits.LeadingZeros64(a)) - (64 - w)
	case lir.Ctz:
		return min(uint64(bits.TrailingZeros64(a)), w)
	case lir.Popcnt:
		return uint64(bits.OnesCount64(a))
	case lir.MulHiS, lir.MulHiU:
		x, y := big.NewInt(sa), big.NewInt(sb)
		if op == lir.MulHiU {
			x, y = new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
		}
		z := new(big.Int).Rsh(x.Mul(x, y), 64)
		if op == lir.MulHiU {
			return z.Uint64()
		}
		return uint64(z.Int64())
	case lir.Ext8S:
		return uint64(uint32(int8(a)))
	case lir.Ext16S:
		return uint64(uint32(int16(a)))
	case lir.Eq:
		return b2u(a == b)
	case lir.Ne:
		return b2u(a != b)
	case lir.LtS:
		return b2u(sa < sb)
	case lir.LtU:
		return b2u(a < b)
	case lir.LeS:
		return b2u(sa <= sb)
	case lir.LeU:
		return b2u(a <= b)
	case lir.Select:
		if a != 0 {
			return b
		}
		return c
	case lir.Wrap, lir.IxToI32:
		return uint64(uint32(a))
	case lir.ExtS:
		return uint64(int64(int32(a)))
	case lir.ExtU, lir.I32ToIxU, lir.IxToI64, lir.I64ToIx, lir.BitsOf, lir.FromBits:
		return a
	}
	return laneFloat(op, from, e, a, b, c)
}

func laneFloat(op lir.Op, from, e lir.Elem, a, b, c uint64) uint64 {
	x, y, z := toF(from, a), toF(from, b), toF(from, c)
	enc := func(v float64) uint64 {
		if e == lir.F32 {
			return uint64(math.Float32bits(float32(v)))
		}
		return math.Float64bits(v)
	}
	sign := uint64(1) << 63
	if from == lir.F32 {
		sign = 1 << 31
	}
	switch op {
	case lir.FAdd, lir.FSub, lir.FMul, lir.FDiv:
		if from == lir.F32 { // double rounding is harmless for one operation
			f, g := float32(x), float32(y)
			switch op {
			case lir.FAdd:
				return uint64(math.Float32bits(f + g))
			case lir.FSub:
				return uint64(math.Float32bits(f - g))
			case lir.FMul:
				return uint64(math.Float32bits(float32(f * g)))
			}
			return uint64(math.Float32bits(f / g))
		}
		switch op {
		case lir.FAdd:
			return enc(x + y)
		case lir.FSub:
			return enc(x - y)
		case lir.FMul:
			return enc(float64(x * y))
		}
		return enc(x / y)
	case lir.FSqrt:
		return enc(math.Sqrt(x))
	case lir.FNeg:
		return a ^ sign
	case lir.FAbs:
		return a &^ sign
	case lir.FCopysign:
		return a&^sign | b&sign
	case lir.FMin:
		return enc(numeric.MinFloat(x, y))
	case lir.FMax:
		return enc(numeric.MaxFloat(x, y))
	case lir.FMA:
		if from == lir.F32 {
			return uint64(math.Float32bits(numeric.FMA32(float32(x), float32(y), float32(z))))
		}
		return enc(math.FMA(x, y, z))
	case lir.FFloor:
		return enc(math.Floor(x))
	case lir.FCeil:
		return enc(math.Ceil(x))
	case lir.FTrunc:
		return enc(math.Trunc(x))
	case lir.FNearest:
		return enc(math.RoundToEven(x))
	case lir.FEq:
		return b2u(x == y)
	case lir.FNe:
		return b2u(x != y)
	case lir.FLt:
		return b2u(x < y)
	case lir.FLe:
		return b2u(x <= y)
	case lir.Canon:
		if x != x {
			return uint64(canonBits(e))
		}
		return a
	case lir.Promote, lir.Demote:
		return enc(x)
	case lir.SToF:
		if e == lir.F32 {
			return uint64(math.Float32bits(float32(sext(from, a))))
		}
		return enc(float64(sext(from, a)))
	case lir.UToF:
		if e == lir.F32 {
			return uint64(math.Float32bits(float32(a)))
		}
		return enc(float64(a))
	case lir.FToS, lir.FToU:
		return saturate(x, e, op == lir.FToS)
	}
	panic(fmt.Sprintf("no rule for %v", op))
}

func saturate(x float64, e lir.Elem, signed bool) uint64 {
	if x != x {
		return 0
	}
	w := uint(32)
	if e == lir.I64 {
		w = 64
	}
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), w)
	if signed {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	var v *big.Int
	switch {
	case math.IsInf(x, 1):
		v = hi
	case math.IsInf(x, -1):
		v = lo
	default:
		v, _ = new(big.Float).SetFloat64(math.Trunc(x)).Int(nil)
		if v.Cmp(lo) < 0 {
			v = lo
		}
		if v.Cmp(hi) > 0 {
			v = hi
		}
	}
	if v.Sign() < 0 {
		return trunc(e, uint64(v.Int64()))
	}
	return trunc(e, v.Uint64())
}

func putLane(b []byte, e lir.Elem, x uint64) []byte {
	if width64(e) {
		return binary.LittleEndian.AppendUint64(b, x)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(x))
}
