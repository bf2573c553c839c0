package check

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

type opClass uint8

const (
	opNone    opClass = iota
	opArith           // integers and floats
	opIntOnly         // wrapping and saturating forms
	opBits            // integers and bool
	opShift
	opCompare
	opLogic
	opMatmul
)

type opRow struct {
	op    Op
	class opClass
}

// binops maps operator tokens to operators.
var binops = map[syntax.Kind]opRow{
	syntax.TPlus: {Add, opArith}, syntax.TMinus: {Sub, opArith}, syntax.TStar: {Mul, opArith},
	syntax.TSlash: {Div, opArith}, syntax.TPercent: {Rem, opArith},
	syntax.TPlusWrap: {AddWrap, opIntOnly}, syntax.TMinusWrap: {SubWrap, opIntOnly}, syntax.TStarWrap: {MulWrap, opIntOnly},
	syntax.TPlusSat: {AddSat, opIntOnly}, syntax.TMinusSat: {SubSat, opIntOnly}, syntax.TStarSat: {MulSat, opIntOnly},
	syntax.TAmp: {And, opBits}, syntax.TPipe: {Or, opBits}, syntax.TCaret: {Xor, opBits},
	syntax.TShl: {Shl, opShift}, syntax.TShr: {Shr, opShift},
	syntax.TEqEq: {CmpEQ, opCompare}, syntax.TNotEq: {CmpNE, opCompare}, syntax.TLess: {CmpLT, opCompare},
	syntax.TLessEq: {CmpLE, opCompare}, syntax.TGreater: {CmpGT, opCompare}, syntax.TGreaterEq: {CmpGE, opCompare},
	syntax.TAmpAmp: {And, opLogic}, syntax.TPipePipe: {Or, opLogic},
	syntax.TAt: {Invalid, opMatmul},
}

// takes says which element types the operators of a class take.
func (r opRow) takes(d types.DType) bool {
	switch r.class {
	case opArith:
		return d.IsInt() || d.IsFloat()
	case opIntOnly, opShift:
		return d.IsInt()
	case opBits:
		return d.IsInt() || d == types.Bool
	case opCompare:
		return d.IsInt() || d.IsFloat() || d == types.Bool && (r.op == CmpEQ || r.op == CmpNE)
	}
	return false
}

func (r opRow) wants() string {
	switch r.class {
	case opArith:
		return "integers and floats"
	case opIntOnly, opShift:
		return "integers"
	case opBits:
		return "integers and bools"
	}
	return "numbers"
}

func (b *body) binary(e syntax.BinaryExpr, want *Type) Expr {
	op := e.Op()
	row, ok := binops[op.Kind()]
	if !ok {
		return b.bad(e.Span())
	}
	switch row.class {
	case opLogic:
		x := b.check(e.Left(), scalar(types.Bool))
		y := b.check(e.Right(), scalar(types.Bool))
		return &Logic{Node{scalar(types.Bool), e.Span()}, row.op == And, x, y}
	case opMatmul:
		x, y := b.operands(e.Left(), e.Right(), want, false)
		return b.matmul(x, y, e.Span(), op.Span(), "fma")
	}
	x, y := b.operands(e.Left(), e.Right(), want, row.class == opCompare)
	return b.binaryOp(row, x, y, e.Span(), op)
}

// operands checks two operands of one element type: literals take it from the
// other side, else from the context.
func (b *body) operands(l, r syntax.Expr, want *Type, compare bool) (x, y Expr) {
	hint := want
	if compare || want != nil && !want.IsTensor() {
		hint = nil
	}
	lf, rf := b.flexible(l), b.flexible(r)
	switch {
	case lf && rf:
		if hint == nil && (b.hasFloat(l) || b.hasFloat(r)) {
			hint = scalar(types.F64)
		}
		return b.expr(l, hint), b.expr(r, hint)
	case lf:
		y = b.expr(r, hint)
		return b.expr(l, elemHint(y.Type())), y
	}
	x = b.expr(l, hint)
	return x, b.expr(r, elemHint(x.Type()))
}

// elemHint is the hint for an operand beside one of type t.
func elemHint(t *Type) *Type {
	if t.IsTensor() {
		return scalar(t.DType)
	}
	return nil
}

// binaryOp types an elementwise operator on checked operands.
func (b *body) binaryOp(row opRow, x, y Expr, at diag.Span, op *syntax.Token) Expr {
	tx, ty := x.Type(), y.Type()
	if tx.IsBad() || ty.IsBad() {
		return b.bad(at)
	}
	if !tx.IsTensor() || !ty.IsTensor() || !row.takes(tx.DType) || !row.takes(ty.DType) {
		d := b.c.errorf(diag.BadOperand, op.Span(), "`%s` takes %s, not %s and %s", opText(op), row.wants(), tx, ty)
		if tx.IsTensor() && tx.DType == types.Bool && (op.Kind() == syntax.TPlus || op.Kind() == syntax.TStar) {
			d.Notef("bools combine with & | ^ and, one after the other, with && ||")
		}
		if tx.IsTensor() && (tx.DType == types.F16 || tx.DType == types.BF16) {
			d.Notef("%s is for storage only: compute in f32(...)", tx.DType)
		}
		return b.bad(at)
	}
	if tx.DType != ty.DType {
		b.c.errorf(diag.Mismatch, at, "`%s` takes two operands of one type, found %s and %s", opText(op), tx, ty).
			Related(x.Span(), "this is %s", tx).Related(y.Span(), "this is %s", ty).
			Notef("nothing is converted by itself: write %s(...) around one of them", tx.DType)
		return b.bad(at)
	}
	x, y, ok := b.broadcast2(x, y, at)
	if !ok {
		return b.bad(at)
	}
	t := x.Type()
	if row.class == opCompare {
		t = t.withDType(types.Bool)
	}
	return &Binary{Node{t, at}, row.op, x, y}
}

// opText is the operator of a binary expression or compound assignment.
func opText(op *syntax.Token) string {
	if base := op.Kind().BaseOp(); base != syntax.None {
		return op.Text()[:len(op.Text())-1]
	}
	return op.Text()
}

// broadcast2 gives two tensors one shape: a scalar or an axis of size 1 stretches.
func (b *body) broadcast2(x, y Expr, at diag.Span) (Expr, Expr, bool) {
	dims, ok := b.commonShape([]Expr{x, y}, at)
	if !ok {
		return x, y, false
	}
	return b.stretch(x, dims), b.stretch(y, dims), true
}

// commonShape is the shape that all of xs stretch to.
func (b *body) commonShape(xs []Expr, at diag.Span) ([]Dim, bool) {
	var dims []Dim
	var from Expr
	for _, x := range xs {
		t := x.Type()
		if t.Rank() == 0 {
			continue
		}
		if from == nil {
			dims, from = append([]Dim{}, t.Dims...), x
			continue
		}
		if len(dims) != t.Rank() {
			b.c.errorf(diag.ShapeMismatch, at, "shapes %s and %s have different numbers of axes", dimList(dims), dimList(t.Dims)).
				Related(from.Span(), "this is %s", from.Type()).Related(x.Span(), "this is %s", t).
				Notef("nothing is broadcast by itself: x[_, ..] adds an axis of size 1, which stretches")
			return nil, false
		}
		for i := range dims {
			switch {
			case b.sameDim(dims[i], t.Dims[i]) || isOne(t.Dims[i]):
			case isOne(dims[i]):
				dims[i] = t.Dims[i]
			default:
				b.c.errorf(diag.ShapeMismatch, at, "axis %d is %s on one side and %s on the other", i, dims[i], t.Dims[i]).
					Related(from.Span(), "this is %s", from.Type()).Related(x.Span(), "this is %s", t)
				return nil, false
			}
		}
	}
	return dims, true
}

func isOne(d Dim) bool { return d.Equal(Num(1)) }

// stretch broadcasts x to a shape it is known to fit.
func (b *body) stretch(x Expr, dims []Dim) Expr {
	if b.sameDims(x.Type().Dims, dims) {
		return x
	}
	return &Broadcast{Node{x.Type().withDims(dims), x.Span()}, x}
}

func (b *body) unary(e syntax.UnaryExpr, want *Type) Expr {
	op := e.Op()
	if op.Kind() == syntax.TAmp {
		if e.IsMut() {
			b.c.unsupported(e.Span(), "`&mut` references").Notef("take the value and return the changed one")
			return b.bad(e.Span())
		}
		return b.expr(e.Operand(), want)
	}
	if want != nil && !want.IsTensor() {
		want = nil
	}
	x := b.expr(e.Operand(), want)
	t := x.Type()
	if t.IsBad() {
		return b.bad(e.Span())
	}
	o, ok, wants := Neg, t.IsTensor() && (t.DType.IsFloat() || t.DType.IsInt()), "a number"
	if op.Kind() == syntax.TBang {
		o, ok, wants = Not, t.IsTensor() && (t.DType == types.Bool || t.DType.IsInt()), "a bool or an integer"
	}
	if !ok {
		b.c.errorf(diag.BadOperand, op.Span(), "`%s` takes %s, not %s", op.Text(), wants, t)
		return b.bad(e.Span())
	}
	return &Unary{Node{t, e.Span()}, o, x}
}

// matmul types `@` on checked operands: the last axis of x is contracted with
// the last but one of y (its only one, if y is a vector); leading axes before
// the last two are a batch, which both have or only x.
func (b *body) matmul(x, y Expr, at, opAt diag.Span, acc string) Expr {
	tx, ty := x.Type(), y.Type()
	if tx.IsBad() || ty.IsBad() {
		return b.bad(at)
	}
	if !tx.IsTensor() || !ty.IsTensor() || tx.Rank() == 0 || ty.Rank() == 0 {
		b.c.errorf(diag.BadOperand, opAt, "a matrix product takes tensors of at least one axis, not %s and %s", tx, ty)
		return b.bad(at)
	}
	out, ok := b.accType(tx.DType, ty.DType, acc)
	if !ok {
		b.c.errorf(diag.BadOperand, opAt, "a matrix product does not take %s and %s (acc = %s)", tx.DType, ty.DType, acc).
			Notef("it takes two tensors of f32, f64, f16 or bf16, or of integers up to 32 bits, whose exact sums are i64")
		return b.bad(at)
	}
	kx, ky := tx.Rank()-1, max(ty.Rank()-2, 0)
	batch := max(ty.Rank()-2, 0)
	if batch > 0 && tx.Rank() != ty.Rank() {
		b.c.errorf(diag.ShapeMismatch, at, "the batch axes of %s and %s differ", tx, ty)
		return b.bad(at)
	}
	if !b.sameDim(tx.Dims[kx], ty.Dims[ky]) {
		b.c.errorf(diag.ShapeMismatch, at, "the inner axes of a matrix product differ: %s and %s", tx.Dims[kx], ty.Dims[ky]).
			Related(x.Span(), "this is %s", tx).Related(y.Span(), "this is %s", ty)
		return b.bad(at)
	}
	for i := range batch {
		if !b.sameDim(tx.Dims[i], ty.Dims[i]) {
			b.c.errorf(diag.ShapeMismatch, at, "batch axis %d is %s on one side and %s on the other", i, tx.Dims[i], ty.Dims[i])
			return b.bad(at)
		}
	}
	dims := append([]Dim{}, tx.Dims[:kx]...)
	if ty.Rank() > 1 {
		dims = append(dims, ty.Dims[ty.Rank()-1])
	}
	if len(dims) > types.MaxRank {
		b.c.errorf(diag.BadTypeArgs, at, "the result would have more than %d axes", types.MaxRank)
		return b.bad(at)
	}
	return &Prim{Node: Node{tensorOf(out, dims...), at}, Row: matmulRow, Args: []Expr{x, y}, Ints: []int64{int64(batch)}, Mode: acc}
}

// accType is the element type of a matrix product.
func (b *body) accType(x, y types.DType, acc string) (types.DType, bool) {
	small := func(d types.DType) bool { return d.IsInt() && d.Bits() <= 32 }
	switch acc {
	case "fma", "unfused":
		switch {
		case x == y && x.IsFloat():
			return x, true
		case x == y && x.IsFloating():
			return types.F32, true
		case acc == "fma" && x == y && small(x):
			return types.I64, true
		}
	case "f64":
		return types.F32, x == y && x.IsFloating() && x != types.F64
	case "i64":
		return types.I64, small(x) && small(y)
	case "i32":
		return types.I32, x.IsInt() && y.IsInt() && x.Bits() == 8 && y.Bits() == 8
	}
	return types.Invalid, false
}
