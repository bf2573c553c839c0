package loop

import (
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Builder makes a Program statement by statement. Node is the graph node that
// what is built next belongs to.
type Builder struct {
	P    *Program
	Node int32
	blk  *Block
}

// NewBuilder starts a program.
func NewBuilder(name string) *Builder {
	p := &Program{Name: name, Body: &Block{}}
	return &Builder{P: p, blk: p.Body}
}

// Value declares a value of dtype d; the caller defines it.
func (b *Builder) Value(d types.DType) Value {
	b.P.Values = append(b.P.Values, ValueInfo{DType: d, Node: b.Node})
	return Value(len(b.P.Values) - 1)
}

// Param declares a given scalar.
func (b *Builder) Param(d types.DType) Value {
	v := b.Value(d)
	b.P.Params = append(b.P.Params, v)
	return v
}

// Buf declares a buffer and returns its number.
func (b *Builder) Buf(x Buffer) int {
	x.Node = b.Node
	b.P.Bufs = append(b.P.Bufs, x)
	return len(b.P.Bufs) - 1
}

// Emit appends a statement whose values have been declared.
func (b *Builder) Emit(s Stmt) { b.blk.Stmts = append(b.blk.Stmts, s) }

// Const is a constant of dtype d.
func (b *Builder) Const(d types.DType, bits uint64) Value {
	v := b.Value(d)
	b.Emit(&Const{v, bits})
	return v
}

// Op emits an operation with a result of dtype d.
func (b *Builder) Op(d types.DType, c op.Code, attrs op.Attrs, args ...Value) Value {
	v := b.Value(d)
	b.Emit(&Op{v, c, attrs, args})
	return v
}

// Index is an i64 that is affine in others; a lone value is itself.
func (b *Builder) Index(a Affine) Value {
	if a.C == 0 && len(a.Terms) == 1 && a.Terms[0].Coef == 1 {
		return a.Terms[0].Val
	}
	v := b.Value(types.I64)
	b.Emit(&Index{v, a})
	return v
}

// Clamp brings an integer into [0, hi].
func (b *Builder) Clamp(in Value, hi int64) Value {
	v := b.Value(types.I64)
	b.Emit(&Clamp{v, in, hi})
	return v
}

// Load reads an element.
func (b *Builder) Load(buf int, at Affine) Value {
	v := b.Value(b.P.Bufs[buf].DType)
	b.Emit(&Load{v, buf, at})
	return v
}

// Store writes an element.
func (b *Builder) Store(buf int, at Affine, v Value) { b.Emit(&Store{buf, at, v}) }

// Block builds a block of its own: what f emits and returns.
func (b *Builder) Block(f func() []Value) *Block {
	outer := b.blk
	inner := &Block{}
	b.blk = inner
	inner.Yield = f()
	b.blk = outer
	return inner
}

// For emits a nest over extents dims. body gets the axes' values and returns the
// operands of the folds; the folds' results are returned. Out of each fold is
// declared here.
func (b *Builder) For(dims []int64, folds []Fold, body func(idx []Value) []Value) []Value {
	s := &For{Axes: make([]Axis, len(dims)), Folds: folds}
	idx := make([]Value, len(dims))
	for i, n := range dims {
		idx[i] = b.Value(types.I64)
		s.Axes[i] = Axis{idx[i], n}
	}
	s.Body = b.Block(func() []Value { return body(idx) })
	outs := make([]Value, len(folds))
	for i := range folds {
		d := folds[i].DType
		if folds[i].Kind == ArgMin || folds[i].Kind == ArgMax {
			d = types.I64
		}
		outs[i] = b.Value(d)
		folds[i].Out = outs[i]
	}
	b.Emit(s)
	return outs
}

// Loop emits a loop that carries scalars. With cond nil it runs count trips,
// else while cond and trip < bound. It returns the final values and the number
// of trips.
func (b *Builder) Loop(count int64, bound Value, init []Value,
	cond func(trip Value, c []Value) Value, body func(trip Value, c []Value) []Value) ([]Value, Value) {
	s := &Loop{Trip: b.Value(types.I64), Count: count, Bound: bound}
	params := make([]Value, len(init))
	for i, v := range init {
		params[i] = b.Value(b.P.Values[v].DType)
		s.Carry = append(s.Carry, Carry{Init: v, Param: params[i]})
	}
	if cond != nil {
		s.Cond = b.Block(func() []Value { return []Value{cond(s.Trip, params)} })
	}
	s.Body = b.Block(func() []Value { return body(s.Trip, params) })
	outs := make([]Value, len(init))
	for i := range init {
		outs[i] = b.Value(b.P.Values[init[i]].DType)
		s.Carry[i].Out = outs[i]
	}
	s.Trips = b.Value(types.I64)
	b.Emit(s)
	return outs, s.Trips
}

// Switch emits a choice; arm k returns the results of arm k, of dtypes ds.
func (b *Builder) Switch(sel Value, ds []types.DType, n int, arm func(k int) []Value) []Value {
	s := &Switch{Sel: sel}
	for k := range n {
		s.Arms = append(s.Arms, b.Block(func() []Value { return arm(k) }))
	}
	for _, d := range ds {
		s.Out = append(s.Out, b.Value(d))
	}
	b.Emit(s)
	return s.Out
}

// Finish ends the program with its scalar results.
func (b *Builder) Finish(results ...Value) *Program {
	b.P.Body.Yield = results
	return b.P
}
