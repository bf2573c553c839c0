package build

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

// lower walks an expression in the current frame and gives its value.
func (f *fn) lower(e check.Expr) value {
	f.flush(f.at)
	first, outer := graph.NodeID(f.b.NumNodes()), f.at
	f.at = e.Span()
	if f.ctx.Err() != nil {
		panic(stop{})
	}
	v := f.expr(e)
	f.record(first, v, e.Span())
	f.at = outer
	return v
}

// tensor is lower for an expression that is a tensor.
func (f *fn) tensor(e check.Expr) graph.Ref { return f.ref(f.lower(e)) }

func (f *fn) expr(e check.Expr) value {
	switch e := e.(type) {
	case *check.Lit:
		return f.leaf(f.b.ScalarBits(e.T.DType, e.Bits))
	case *check.DimVal:
		return f.leaf(f.b.I64(f.number(e.Dim, e.At)))
	case *check.ConstRef:
		return f.constant(e.Const)
	case *check.LocalRef:
		v, ok := f.env[e.Local]
		if !ok {
			panic("BUG: variable " + e.Local.Name + " has no value")
		}
		return v
	case *check.Unary:
		return f.leaf(f.unary(e))
	case *check.Binary:
		x := f.tensor(e.X)
		y := f.tensor(e.Y)
		return f.leaf(f.binary(e.Op, x, y))
	case *check.Logic:
		return f.leaf(f.logic(e))
	case *check.If:
		return f.ifExpr(e)
	case *check.Block:
		return f.block(e)
	case *check.Call:
		return f.call(e)
	case *check.Prim:
		return f.leaf(f.prim(e))
	case *check.Aggregate:
		return f.aggregate(e)
	case *check.FieldRef:
		return f.field(f.lower(e.X), e.Index)
	case *check.Array:
		return f.leaf(f.array(e))
	case *check.Index:
		x := f.tensor(e.X)
		return f.leaf(f.read(x, f.window(x, e.Args), f.typ(e.T, e.At)))
	case *check.Broadcast:
		x := f.tensor(e.X)
		return f.leaf(f.stretch(x, f.typ(e.T, e.At)))
	case *check.Cast:
		return f.leaf(f.cast(e))
	case *check.Binder:
		return f.leaf(f.binder(e))
	case *check.For:
		f.forLoop(e)
		return value{fr: f.fr, agg: true}
	}
	panic("BUG: an erroneous expression reached the graph builder")
}

// number is the value of a dimension expression, which may be negative.
func (f *fn) number(d check.Dim, at diag.Span) int64 {
	v, ok := d.Eval(f.in.dims)
	if !ok {
		f.fail(diag.InstanceShape, at, "the dimension %s has no value here", d)
	}
	return v
}

func (f *fn) stretch(x graph.Ref, t types.Type) graph.Ref {
	if f.b.Type(x).Equal(t) {
		return x
	}
	return f.b.Broadcast(x, t)
}

func (f *fn) block(e *check.Block) value {
	for _, s := range e.Stmts {
		f.stmt(s)
	}
	if e.Tail == nil {
		return value{fr: f.fr, agg: true}
	}
	return f.lower(e.Tail)
}

func (f *fn) aggregate(e *check.Aggregate) value {
	v := value{fr: f.fr, agg: true, elems: make([]value, len(e.Elems))}
	if e.Order == nil {
		for i, x := range e.Elems {
			v.elems[i] = f.lower(x)
		}
		return v
	}
	for _, i := range e.Order {
		v.elems[i] = f.lower(e.Elems[i])
	}
	return v
}

// join joins a trap code to those so far.
func (f *fn) join(code graph.Ref) { f.fr.trap = f.b.TrapJoin(f.fr.trap, code) }

// check traps with kind where cond, a bool tensor, is true anywhere.
func (f *fn) check(kind op.TrapKind, cond graph.Ref) {
	f.join(f.b.TrapIf(kind, f.anyTrue(cond)))
}

func (f *fn) anyTrue(cond graph.Ref) graph.Ref {
	r := f.b.Type(cond).Rank()
	if r == 0 {
		return cond
	}
	return f.b.Reduce(op.ROr, cond, axesTo(r)...)
}

// axesTo is 0, 1, ... n-1.
func axesTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func (f *fn) call(e *check.Call) value {
	args := make([]graph.Ref, len(e.Args), len(e.Args)+4)
	for i := range e.Args {
		if e.Order != nil {
			i = e.Order[i]
		}
		args[i] = f.pack(f.lower(e.Args[i]))
	}
	dims := map[*check.Atom]int64{}
	for i, a := range e.Fn.Dims {
		dims[a] = f.dim(e.Dims[i], e.At)
	}
	in := f.callee(e, dims)
	for _, c := range in.bound {
		args = append(args, f.bigConst(c))
	}
	outs := f.apply(op.Call, nil, []graph.RegionID{in.region}, args...)
	n := len(outs) - 1
	if !in.quiet {
		f.join(outs[n])
	}
	if e.Fn.Result.Kind == check.Tuple {
		v := value{fr: f.fr, agg: true}
		for _, o := range outs[:n] {
			v.elems = append(v.elems, f.unpack(o))
		}
		return v
	}
	return f.unpack(outs[0])
}

func (f *fn) callee(e *check.Call, dims map[*check.Atom]int64) *instance {
	before := len(f.diags)
	if !f.whereHolds(e.Fn, dims, e.At, instanceName(e.Fn, dims)) {
		f.explain(before)
		panic(stop{})
	}
	in := f.instance(e.Fn, dims, e.At)
	if in.failed {
		f.explain(before)
		panic(stop{})
	}
	return in
}

// explain adds to the diagnostics made since before which call led to them.
func (f *fn) explain(before int) {
	for _, d := range f.diags[before:] {
		if len(d.Labels) < 8 && (d.Primary != f.at) {
			d.Related(f.at, "in this call")
		}
		if f.in.fn != nil && len(f.in.fn.Dims) > 0 && len(d.Notes) < 8 {
			d.Notef("from the instance %s", f.name)
		}
	}
}

// apply inserts a node with regions, within the limit on their depth.
func (f *fn) apply(c op.Code, attrs op.Attrs, regions []graph.RegionID, ins ...graph.Ref) []graph.Ref {
	for _, r := range regions {
		if f.b.RegionDepth(r)+1 >= graph.MaxRegionDepth {
			f.fail(diag.BuildLimit, f.at, "calls, loops and parallel bodies nest more than %d deep", graph.MaxRegionDepth)
		}
	}
	return f.b.Apply(c, attrs, regions, ins...)
}

// array stacks elements along a new first axis.
func (f *fn) array(e *check.Array) graph.Ref {
	t := f.typ(e.T, e.At)
	if data, ok := literalBytes(e, t); ok {
		if len(data) <= op.MaxRegionConst {
			return f.b.Const(t, data)
		}
		c, known := f.arrays[e]
		if !known {
			c = newLeaf(t, data)
			f.arrays[e] = c
		}
		return f.bigConst(c)
	}
	parts := make([]graph.Ref, len(e.Elems))
	for i, x := range e.Elems {
		r := f.tensor(x)
		parts[i] = f.b.Reshape(r, append([]int64{1}, f.b.Type(r).Shape()...)...)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return f.b.N(op.Concat, op.Attrs{op.Int(op.KAxis, 0)}, parts...)
}

// literalBytes is the data of an array made of literals alone.
func literalBytes(e *check.Array, t types.Type) ([]byte, bool) {
	var data []byte
	var walk func(x check.Expr) bool
	walk = func(x check.Expr) bool {
		switch x := x.(type) {
		case *check.Lit:
			for i := range t.DType.Size() {
				data = append(data, byte(x.Bits>>(8*i)))
			}
			return true
		case *check.Array:
			for _, y := range x.Elems {
				if !walk(y) {
					return false
				}
			}
			return true
		}
		return false
	}
	return data, walk(e)
}
