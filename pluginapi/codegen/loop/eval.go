package loop

import (
	"fmt"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Eval runs p directly, with the rules of core/numeric: params are the bits of
// its Params, bufs the bytes of its Bufs. It returns the bits of the results, or
// an error for an access outside a buffer or an operation that does not exist.
func Eval(p *Program, params []uint64, bufs [][]byte) ([]uint64, error) {
	if len(params) != len(p.Params) || len(bufs) != len(p.Bufs) {
		return nil, fmt.Errorf("%d params and %d buffers given, want %d and %d", len(params), len(bufs), len(p.Params), len(p.Bufs))
	}
	m := &evaluator{p: p, v: make([]uint64, len(p.Values)), bufs: bufs}
	for i, v := range p.Params {
		m.v[v] = params[i]
	}
	return m.block(p.Body)
}

type evaluator struct {
	p    *Program
	v    []uint64
	bufs [][]byte
}

func (m *evaluator) dtype(v Value) types.DType { return m.p.Values[v].DType }

func (m *evaluator) block(b *Block) ([]uint64, error) {
	for _, s := range b.Stmts {
		if err := m.stmt(s); err != nil {
			return nil, err
		}
	}
	out := make([]uint64, len(b.Yield))
	for i, v := range b.Yield {
		out[i] = m.v[v]
	}
	return out, nil
}

func (m *evaluator) affine(a Affine) int64 {
	n := a.C
	for _, t := range a.Terms {
		n += t.Coef * int64(m.v[t.Val])
	}
	return n
}

// at gives the bytes of an element.
func (m *evaluator) at(buf int, a Affine) ([]byte, error) {
	b, i := m.p.Bufs[buf], m.affine(a)
	size := int64(b.DType.Size())
	if i < 0 || i >= b.Elems || (i+1)*size > int64(len(m.bufs[buf])) {
		return nil, fmt.Errorf("element %d of buffer %d, which has %d", i, buf, b.Elems)
	}
	return m.bufs[buf][i*size : (i+1)*size], nil
}

func (m *evaluator) stmt(s Stmt) (err error) {
	switch s := s.(type) {
	case *Const:
		m.v[s.Out] = s.Bits
	case *Index:
		m.v[s.Out] = uint64(m.affine(s.At))
	case *Clamp:
		x := numeric.ConvertOf(m.dtype(s.In), types.I64)(m.v[s.In])
		if m.dtype(s.In) == types.U64 && int64(x) < 0 {
			x = uint64(s.Hi)
		}
		m.v[s.Out] = uint64(min(max(int64(x), 0), s.Hi))
	case *Load:
		b, err := m.at(s.Buf, s.At)
		if err != nil {
			return err
		}
		x := uint64(0)
		for i := len(b) - 1; i >= 0; i-- {
			x = x<<8 | uint64(b[i])
		}
		m.v[s.Out] = x
	case *Store:
		b, err := m.at(s.Buf, s.At)
		if err != nil {
			return err
		}
		x := m.v[s.Val]
		if m.p.Bufs[s.Buf].DType.IsFloating() {
			x = numeric.Canon(m.p.Bufs[s.Buf].DType, x)
		}
		for i := range b {
			b[i] = byte(x >> (8 * i))
		}
	case *Op:
		m.v[s.Out], err = m.op(s)
	case *For:
		return m.nest(s)
	case *Loop:
		return m.loop(s)
	case *Switch:
		k := m.v[s.Sel]
		if k >= uint64(len(s.Arms)) {
			k = uint64(len(s.Arms)) - 1
		}
		out, err := m.block(s.Arms[k])
		if err != nil {
			return err
		}
		for i, v := range s.Out {
			m.v[v] = out[i]
		}
	}
	return err
}

func (m *evaluator) loop(s *Loop) error {
	c := make([]uint64, len(s.Carry))
	for i, x := range s.Carry {
		c[i] = m.v[x.Init]
	}
	bound := s.Count
	if s.Cond != nil {
		bound = int64(m.v[s.Bound])
	}
	trip := int64(0)
	for ; trip < bound; trip++ {
		m.v[s.Trip] = uint64(trip)
		for i, x := range s.Carry {
			m.v[x.Param] = c[i]
		}
		if s.Cond != nil {
			ok, err := m.block(s.Cond)
			if err != nil {
				return err
			}
			if ok[0] == 0 {
				break
			}
		}
		var err error
		if c, err = m.block(s.Body); err != nil {
			return err
		}
	}
	for i, x := range s.Carry {
		m.v[x.Out] = c[i]
	}
	m.v[s.Trips] = uint64(trip)
	return nil
}

var evalOps = map[op.Code]numeric.Op{
	op.Add: numeric.Add, op.Sub: numeric.Sub, op.Mul: numeric.Mul, op.Div: numeric.Div, op.Rem: numeric.Rem,
	op.Min: numeric.Min, op.Max: numeric.Max, op.And: numeric.And, op.Or: numeric.Or, op.Xor: numeric.Xor,
	op.Shl: numeric.Shl, op.Shr: numeric.Shr, op.Copysign: numeric.CopySign, op.AddOverflow: numeric.AddOvf,
	op.SubOverflow: numeric.SubOvf, op.MulOverflow: numeric.MulOvf, op.Neg: numeric.Neg, op.Abs: numeric.Abs,
	op.Sqrt: numeric.Sqrt, op.Floor: numeric.Floor, op.Ceil: numeric.Ceil, op.Trunc: numeric.Trunc,
	op.RoundEven: numeric.RoundEven, op.Not: numeric.Not, op.Popcnt: numeric.Popcnt, op.Clz: numeric.Clz,
	op.Ctz: numeric.Ctz, op.FMA: numeric.FMA,
}

var evalPreds = [op.NumCompareKinds]numeric.Pred{op.EQ: numeric.EQ, op.NE: numeric.NE, op.LT: numeric.LT, op.LE: numeric.LE, op.GT: numeric.GT, op.GE: numeric.GE}

func (m *evaluator) op(s *Op) (uint64, error) {
	x := make([]uint64, len(s.Args))
	for i, a := range s.Args {
		x[i] = m.v[a]
	}
	d := m.dtype(s.Args[0])
	var one numeric.Unary
	var two numeric.Binary
	switch s.Code {
	case op.Select:
		if x[0] != 0 {
			return x[1], nil
		}
		return x[2], nil
	case op.TrapIf:
		return x[0] * uint64(s.Attrs.Int(op.KKind)), nil
	case op.TrapJoin:
		if x[0] != 0 {
			return x[0], nil
		}
		return x[1], nil
	case op.Compare:
		two = numeric.CompareOf(evalPreds[s.Attrs.Int(op.KKind)], op.Order(s.Attrs.Int(op.KOrder)) == op.Total, d)
	case op.Convert:
		one = numeric.ConvertOf(d, m.dtype(s.Out))
	case op.Bitcast:
		one = numeric.BitcastOf(d, m.dtype(s.Out))
	case op.ConvertOverflow:
		one = numeric.ConvertOvfOf(d, types.DType(s.Attrs.Int(op.KTo)))
	default:
		k, ok := evalOps[s.Code]
		if ok && len(x) == 3 {
			if f := numeric.TernaryOf(k, d); f != nil {
				return f(x[0], x[1], x[2]), nil
			}
		} else if ok && len(x) == 2 {
			two = numeric.BinaryOf(k, d)
		} else if ok {
			one = numeric.UnaryOf(k, d)
		}
	}
	switch {
	case one != nil && len(x) == 1:
		return one(x[0]), nil
	case two != nil && len(x) == 2:
		return two(x[0], x[1]), nil
	}
	return 0, fmt.Errorf("no operation %v on %v", s.Code, d)
}
