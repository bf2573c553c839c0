package lir

import "math"

// Folding of scalar integer operations. Floats are left alone: the mid-end has
// folded what is constant in the program, and the plan makes no float constants
// of its own to compute with. An Ix folds only where 32 and 64 bits agree.

// simplify folds s where its operands are constants, or returns the value that
// s equals. It may rewrite s into a constant.
func (o *optimiser) simplify(s *Stmt) (Value, bool) {
	if s.Type.IsVec() {
		return 0, false
	}
	switch s.Op {
	case Select:
		return o.simplifySelect(s)
	case Wrap, ExtS, ExtU, IxToI64, I64ToIx, IxToI32, I32ToIxU, Ext8S, Ext16S:
		o.foldUnary(s)
		return 0, false
	}
	if len(s.Args) != 2 || !isInt(s.Type.Elem) {
		return 0, false
	}
	x, xok := o.constant(s.Args[0], s.Type.Elem)
	y, yok := o.constant(s.Args[1], s.Type.Elem)
	if xok && yok {
		if v, ok := foldBinary(s.Op, s.Type.Elem, x, y); ok {
			if s.Op.Info().sig == sCmp {
				s.Type = TI32
			}
			o.toConst(s, v)
		}
		return 0, false
	}
	if yok {
		return o.identity(s, s.Args[0], y, true)
	}
	if xok {
		return o.identity(s, s.Args[1], x, false)
	}
	return 0, false
}

func isInt(e Elem) bool { return e == I32 || e == I64 || e == Ix }

// constant returns the value of v, sign-extended from its width.
func (o *optimiser) constant(v Value, e Elem) (int64, bool) {
	c, ok := o.konst[v]
	if e == I32 {
		c = int64(int32(c))
	}
	return c, ok && (e != Ix || c > math.MinInt32 && c < math.MaxInt32)
}

func (o *optimiser) simplifySelect(s *Stmt) (Value, bool) {
	if s.Args[1] == s.Args[2] {
		return s.Args[1], true
	}
	c, ok := o.konst[s.Args[0]]
	switch {
	case !ok:
		return 0, false
	case int32(c) != 0:
		return s.Args[1], true
	}
	return s.Args[2], true
}

func (o *optimiser) foldUnary(s *Stmt) {
	from := o.f.Types[s.Args[0]].Elem
	x, ok := o.constant(s.Args[0], from)
	if !ok {
		return
	}
	switch s.Op {
	case Ext8S:
		x = int64(int8(x))
	case Ext16S:
		x = int64(int16(x))
	case Wrap, IxToI32:
		x = int64(int32(x))
	case ExtU:
		x = int64(uint32(x))
	case I32ToIxU, IxToI64, I64ToIx:
		if x < 0 || x >= math.MaxInt32 {
			return
		}
	}
	o.toConst(s, x)
}

// foldBinary computes an operation on constants of element e.
func foldBinary(op Op, e Elem, x, y int64) (int64, bool) {
	width := uint64(64)
	ux, uy := uint64(x), uint64(y)
	if e == I32 {
		width, ux, uy = 32, uint64(uint32(x)), uint64(uint32(y))
	}
	if e == Ix && op != Add && op != Sub && op != Mul && (x < 0 || y < 0 || op == Shl) {
		return 0, false
	}
	var v int64
	switch op {
	case Add:
		v = x + y
	case Sub:
		v = x - y
	case Mul:
		v = x * y
	case And:
		v = x & y
	case Or:
		v = x | y
	case Xor:
		v = x ^ y
	case Shl:
		v = x << (uy & (width - 1))
	case ShrS:
		v = x >> (uy & (width - 1))
	case ShrU:
		v = int64(ux >> (uy & (width - 1)))
	case Eq:
		return bit(x == y), true
	case Ne:
		return bit(x != y), true
	case LtS:
		return bit(x < y), true
	case LtU:
		return bit(ux < uy), true
	case LeS:
		return bit(x <= y), true
	case LeU:
		return bit(ux <= uy), true
	default:
		return 0, false
	}
	if e == I32 {
		v = int64(int32(v))
	}
	return v, true
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// identity returns what an operation of v and a constant equals; right says
// that the constant is the right operand.
func (o *optimiser) identity(s *Stmt, v Value, c int64, right bool) (Value, bool) {
	switch s.Op {
	case Add, Or, Xor:
		return v, c == 0
	case Sub, Shl, ShrS, ShrU:
		return v, c == 0 && right
	case Mul:
		if c == 0 {
			o.toConst(s, 0)
			return 0, false
		}
		return v, c == 1
	case And:
		if c == 0 {
			o.toConst(s, 0)
			return 0, false
		}
		return v, c == -1
	}
	return 0, false
}

func (o *optimiser) toConst(s *Stmt, v int64) {
	s.Op, s.Args, s.Imm = Const, nil, v
}
