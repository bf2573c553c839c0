package lir

import "math"

// Builder makes a Func statement by statement. Node is the graph node that
// what is built next belongs to.
type Builder struct {
	F    *Func
	Node int32
	cur  *Block
}

// NewFunc starts a function.
func NewFunc(name string) *Builder {
	f := &Func{Name: name, Body: &Block{}}
	b := &Builder{F: f, cur: f.Body}
	f.Tile = b.value(TIx)
	return b
}

// Finish ends the function, returning trap code v.
func (b *Builder) Finish(v Value) *Func {
	if b.cur != b.F.Body {
		panic("BUG: lir: function finished inside a nested block")
	}
	b.cur.Yield = []Value{v}
	return b.F
}

// Buf declares a buffer and returns its number.
func (b *Builder) Buf(x Buf) int {
	b.F.Bufs = append(b.F.Bufs, x)
	return len(b.F.Bufs) - 1
}

func (b *Builder) value(t Type) Value {
	b.F.Types = append(b.F.Types, t)
	return Value(len(b.F.Types) - 1)
}

func (b *Builder) emit(s Stmt) { s.Node = b.Node; b.cur.Stmts = append(b.cur.Stmts, s) }

func (b *Builder) emit1(s Stmt, t Type) Value {
	v := b.value(t)
	s.Results = []Value{v}
	b.emit(s)
	return v
}

// Const is a constant of type t with the given lane bits.
func (b *Builder) Const(t Type, bits int64) Value {
	return b.emit1(Stmt{Op: Const, Type: t, Imm: bits}, t)
}

// I32 is an I32 constant.
func (b *Builder) I32(v int32) Value { return b.Const(TI32, int64(v)) }

// I64 is an I64 constant.
func (b *Builder) I64(v int64) Value { return b.Const(TI64, v) }

// Ix is an address-sized constant.
func (b *Builder) Ix(v int64) Value { return b.Const(TIx, v) }

// F32 is an F32 constant.
func (b *Builder) F32(v float32) Value { return b.Const(TF32, int64(math.Float32bits(v))) }

// F64 is an F64 constant.
func (b *Builder) F64(v float64) Value { return b.Const(TF64, int64(math.Float64bits(v))) }

// Op emits an operation on operands of one type whose result has that type,
// or, for comparisons, I32 or a Mask.
func (b *Builder) Op(o Op, args ...Value) Value {
	t := b.F.Types[args[0]]
	res := t
	switch o.Info().sig {
	case sCmp:
		res = TI32
		if t.IsVec() {
			res = MaskOf(t)
		}
	case sSelect:
		t = b.F.Types[args[1]]
		res = t
	case sMask:
		if o == MAny {
			res = TI32
		}
	}
	return b.emit1(Stmt{Op: o, Type: t, Args: args}, res)
}

// Conv emits a conversion to type t.
func (b *Builder) Conv(o Op, t Type, v Value) Value {
	return b.emit1(Stmt{Op: o, Type: t, Args: []Value{v}}, t)
}

// Splat makes a vector of n lanes of v.
func (b *Builder) Splat(v Value, n int) Value {
	t := Vec(b.F.Types[v].Elem, n)
	return b.emit1(Stmt{Op: Splat, Type: t, Args: []Value{v}}, t)
}

// SplatAs makes a vector of type t, of narrow lanes, of the low bits of v, an I32.
func (b *Builder) SplatAs(t Type, v Value) Value {
	return b.emit1(Stmt{Op: Splat, Type: t, Args: []Value{v}}, t)
}

// LaneIx is the vector 0, 1, 2, ... of type t.
func (b *Builder) LaneIx(t Type) Value { return b.emit1(Stmt{Op: LaneIx, Type: t}, t) }

// Extract is lane i of v.
func (b *Builder) Extract(v Value, i int) Value {
	t := b.F.Types[v].Scalar()
	return b.emit1(Stmt{Op: Extract, Type: t, Args: []Value{v}, Imm: int64(i)}, t)
}

// LaneDown moves lanes n.. of v down to 0...
func (b *Builder) LaneDown(v Value, n int) Value {
	t := b.F.Types[v]
	return b.emit1(Stmt{Op: LaneDown, Type: t, Args: []Value{v}, Imm: int64(n)}, t)
}

// Zip takes the lanes of the lower (half 0) or upper (half 1) halves of x and y
// in turn.
func (b *Builder) Zip(x, y Value, half int) Value {
	t := b.F.Types[x]
	return b.emit1(Stmt{Op: Zip, Type: t, Args: []Value{x, y}, Imm: int64(half)}, t)
}

// Load reads a value of type t.
func (b *Builder) Load(t Type, m Mem, a Addr) Value {
	return b.emit1(Stmt{Op: Load, Type: t, Mem: m, Addr: norm(a)}, t)
}

// Store writes v.
func (b *Builder) Store(m Mem, a Addr, v Value) {
	b.emit(Stmt{Op: Store, Type: b.F.Types[v], Mem: m, Addr: norm(a), Args: []Value{v}})
}

// MLoad reads the lanes of a vector of type t that mask sets; the others are 0.
func (b *Builder) MLoad(t Type, m Mem, a Addr, mask Value) Value {
	return b.emit1(Stmt{Op: MLoad, Type: t, Mem: m, Addr: norm(a), Args: []Value{mask}}, t)
}

// MStore writes the lanes of v that mask sets.
func (b *Builder) MStore(m Mem, a Addr, v, mask Value) {
	b.emit(Stmt{Op: MStore, Type: b.F.Types[v], Mem: m, Addr: norm(a), Args: []Value{v, mask}})
}

// Gather reads lane i of type t from a + index[i]*stride bytes where mask is set.
func (b *Builder) Gather(t Type, m Mem, a Addr, stride int64, index, mask Value) Value {
	return b.emit1(Stmt{Op: Gather, Type: t, Mem: m, Addr: norm(a), Imm: stride, Args: []Value{index, mask}}, t)
}

// Scatter writes lane i of v to a + index[i]*stride bytes where mask is set, in
// the order of the lanes.
func (b *Builder) Scatter(m Mem, a Addr, stride int64, v, index, mask Value) {
	b.emit(Stmt{Op: Scatter, Type: b.F.Types[v], Mem: m, Addr: norm(a), Imm: stride, Args: []Value{v, index, mask}})
}

// Dot adds the products of 2 lanes of I16 or 4 of I8 side by side.
func (b *Builder) Dot(o Op, x, y Value) Value {
	n := 2
	if o == Dot4US {
		n = 4
	}
	t := Vec(I32, int(b.F.Types[x].Lanes)/n)
	return b.emit1(Stmt{Op: o, Type: t, Args: []Value{x, y}}, t)
}

// MCast makes a mask one for lanes of the width of t.
func (b *Builder) MCast(t Type, m Value) Value {
	t = MaskOf(t)
	return b.emit1(Stmt{Op: MCast, Type: t, Args: []Value{m}}, t)
}

func norm(a Addr) Addr {
	if a.Scale == 0 {
		a.Scale = 1
	}
	return a
}

// At is an address without an index.
func At(buf int, disp int64) Addr { return Addr{Buf: buf, Index: NoValue, Scale: 1, Disp: disp} }

func (b *Builder) block(params []Type, body func(ps []Value) []Value) *Block {
	outer := b.cur
	blk := &Block{}
	for _, t := range params {
		blk.Params = append(blk.Params, b.value(t))
	}
	b.cur = blk
	blk.Yield = body(blk.Params)
	b.cur = outer
	return blk
}

func (b *Builder) typesOf(vs []Value) []Type {
	out := make([]Type, len(vs))
	for i, v := range vs {
		out[i] = b.F.Types[v]
	}
	return out
}

func (b *Builder) results(ts []Type) []Value {
	out := make([]Value, len(ts))
	for i, t := range ts {
		out[i] = b.value(t)
	}
	return out
}

// For emits a counted loop from lo below hi by step with carried values; body
// gets the counter and the carried values and returns the next ones.
func (b *Builder) For(lo, hi Value, step int64, carried []Value, body func(i Value, c []Value) []Value) []Value {
	ts := b.typesOf(carried)
	blk := b.block(append([]Type{TIx}, ts...), func(ps []Value) []Value { return body(ps[0], ps[1:]) })
	res := b.results(ts)
	b.emit(Stmt{Op: For, Type: TIx, Args: append([]Value{lo, hi}, carried...), Results: res, Imm: step, Blocks: []*Block{blk}})
	return res
}

// While emits a loop that runs body while cond gives non-zero.
func (b *Builder) While(carried []Value, cond func(c []Value) Value, body func(c []Value) []Value) []Value {
	ts := b.typesOf(carried)
	cb := b.block(ts, func(ps []Value) []Value { return []Value{cond(ps)} })
	bb := b.block(ts, body)
	res := b.results(ts)
	b.emit(Stmt{Op: While, Type: TI32, Args: carried, Results: res, Blocks: []*Block{cb, bb}})
	return res
}

// If emits a choice; both sides return values of the types ts.
func (b *Builder) If(cond Value, ts []Type, then, els func() []Value) []Value {
	side := func(f func() []Value) *Block {
		return b.block(nil, func([]Value) []Value {
			if f == nil {
				return nil
			}
			return f()
		})
	}
	tb, eb := side(then), side(els)
	res := b.results(ts)
	b.emit(Stmt{Op: If, Type: TI32, Args: []Value{cond}, Results: res, Blocks: []*Block{tb, eb}})
	return res
}

// Return leaves the function with trap code v.
func (b *Builder) Return(v Value) { b.emit(Stmt{Op: Return, Type: TI32, Args: []Value{v}}) }

// Mark is a point in the building of a function to which Reset returns.
type Mark struct {
	cur          *Block
	stmts, types int
	node         int32
}

// Mark remembers the present state.
func (b *Builder) Mark() Mark {
	return Mark{b.cur, len(b.cur.Stmts), len(b.F.Types), b.Node}
}

// Reset forgets what was built since m, except for declared buffers.
func (b *Builder) Reset(m Mark) {
	b.cur = m.cur
	b.cur.Stmts = b.cur.Stmts[:m.stmts]
	b.F.Types = b.F.Types[:m.types]
	b.Node = m.node
}

// TypeOf returns the type of v.
func (b *Builder) TypeOf(v Value) Type { return b.F.Types[v] }

// Len returns the number of statements in the block being built.
func (b *Builder) Len() int { return len(b.cur.Stmts) }

// Independent marks the statement that is last in the block being built, if it
// is a loop without carried values, as one whose trips may run in any order.
func (b *Builder) Independent(grain int64) {
	if n := len(b.cur.Stmts); n > 0 {
		if s := &b.cur.Stmts[n-1]; s.Op == For && len(s.Results) == 0 && grain > 0 {
			s.Grain = grain
		}
	}
}

// Since counts the statements built since m, nested ones included.
func (b *Builder) Since(m Mark) int {
	n := 0
	Walk(&Block{Stmts: m.cur.Stmts[m.stmts:]}, func(*Stmt) { n++ })
	return n
}
