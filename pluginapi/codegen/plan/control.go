package plan

import (
	"math"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Switch and loop. Scalars travel in SSA values, tensors in work memory that
// both sides of the control flow agree on.

// slots flattens operands to tensor leaves.
func slots(o operand, dst []operand) []operand {
	if o.kind != inTuple {
		return append(dst, o)
	}
	for _, x := range o.elems {
		dst = slots(x, dst)
	}
	return dst
}

// rebuild makes operands of types ts from flattened leaves.
func rebuild(ts []types.Type, leaves []operand) []operand {
	out := make([]operand, len(ts))
	var one func(t types.Type) operand
	one = func(t types.Type) operand {
		if t.Kind != types.KindTuple {
			o := leaves[0]
			leaves = leaves[1:]
			return o
		}
		o := operand{typ: t, kind: inTuple}
		for _, x := range t.Elems {
			o.elems = append(o.elems, one(x))
		}
		return o
	}
	for i, t := range ts {
		out[i] = one(t)
	}
	return out
}

func allSlots(os []operand) []operand {
	var out []operand
	for _, o := range os {
		out = slots(o, out)
	}
	return out
}

// selector turns a switch selector into an arm number.
func (e *emitter) selectorIs(o operand, arm int) lir.Value {
	v := e.eval(o, nil)
	return e.op(lir.Eq, v, e.k(v, int64(arm)))
}

func (e *emitter) switchNode(n graph.NodeID, ins []operand) []operand {
	regs := e.g.Regions(n)
	ts := e.g.ResultTypes(regs[0])
	if ins[0].known || (ins[0].kind == inAffine && ins[0].aff.isConst()) {
		k := ins[0].bits
		if ins[0].kind == inAffine {
			k = ins[0].aff.c
		}
		if k < 0 || k >= int64(len(regs)) {
			k = int64(len(regs)) - 1
		}
		return e.unretain(e.region(regs[k], ins[1:], false))
	}
	e.needScalar("a switch")
	leaves := flatten(ts)
	out := make([]operand, len(leaves))
	var scalarTypes []lir.Type
	for i, t := range leaves {
		if t.Rank() == 0 {
			scalarTypes = append(scalarTypes, lirType(t.DType))
			continue
		}
		j, ok := 0, false
		if len(leaves) == len(ts) {
			j, ok = e.adoptable(regs, ins, i)
		}
		if ok {
			out[i] = operand{typ: t, kind: inMemory, view: ins[j].view}
		} else {
			out[i] = operand{typ: t, kind: inMemory, view: e.allocBuf(t.DType, t.Shape())}
		}
		retain(out[i]) // so that no other result adopts the same input
	}
	var arm func(k int) []lir.Value
	arm = func(k int) []lir.Value {
		if k == len(regs)-1 {
			return e.armBody(regs[k], ins[1:], out)
		}
		return e.choose(e.selectorIs(ins[0], k), scalarTypes,
			func() []lir.Value { return e.armBody(regs[k], ins[1:], out) },
			func() []lir.Value { return arm(k + 1) })
	}
	vals := arm(0)
	e.unretain(out)
	for i, t := range leaves {
		if t.Rank() == 0 {
			out[i] = operand{typ: t, kind: inScalar, val: vals[0]}
			vals = vals[1:]
		}
	}
	return rebuild(ts, out)
}

// armBody runs one arm, stores its tensors and returns its scalars.
func (e *emitter) armBody(r graph.RegionID, ins, out []operand) []lir.Value {
	var vals []lir.Value
	e.give(out, func() {
		res := e.region(r, ins, false)
		vals = e.storeState(allSlots(res), out)
		e.releaseAll(res)
	})
	return vals
}

func flatten(ts []types.Type) []types.Type {
	var out []types.Type
	for _, t := range ts {
		out = t.Leaves(out)
	}
	return out
}

// loopNode: carried scalars are carried values, carried tensors live in one
// buffer each that every trip rewrites. A condition that is constantly true
// and a constant bound make a counted loop.
func (e *emitter) loopNode(n graph.NodeID, ins []operand) []operand {
	e.needScalar("a loop")
	regs := e.g.Regions(n)
	carriedN := int(e.g.Attrs(n).Int(op.KCarried))
	bound, carried, inv := ins[0], ins[1:1+carriedN], ins[1+carriedN:]
	ts := e.g.ResultTypes(regs[1])
	leaves := flatten(ts)
	init := allSlots(carried)
	state := make([]operand, len(leaves))
	var scalars []lir.Value
	for i, t := range leaves {
		if t.Rank() == 0 {
			scalars = append(scalars, e.eval(init[i], nil))
			continue
		}
		if len(leaves) == carriedN && e.donatable(1+i, init[i]) {
			state[i] = init[i]
			retain(state[i])
			continue
		}
		state[i] = operand{typ: t, kind: inMemory, view: e.allocBuf(t.DType, t.Shape())}
		retain(state[i])
		e.copyTo(init[i], state[i].view)
	}
	current := func(vals []lir.Value) []operand {
		s := append([]operand{}, state...)
		for i, t := range leaves {
			if t.Rank() == 0 {
				s[i] = operand{typ: t, kind: inScalar, val: vals[0]}
				vals = vals[1:]
			}
		}
		return rebuild(ts, s)
	}
	body := func(trip operand, vals []lir.Value) []lir.Value {
		params := append(append([]operand{trip}, current(vals)...), inv...)
		var next []lir.Value
		e.give(state, func() {
			res := e.region(regs[1], params, false)
			next = e.storeState(allSlots(res), state)
			e.releaseAll(res)
		})
		return next
	}
	var vals []lir.Value
	var trips operand
	if k, ok := e.countedBound(bound, regs[0]); ok {
		vals = scalars
		if k > 0 {
			vals = e.b.For(e.b.Ix(0), e.b.Ix(k), 1, scalars, func(i lir.Value, c []lir.Value) (out []lir.Value) {
				e.scope(func() {
					out = body(operand{typ: types.Scalar(types.I64), kind: inAffine, aff: counter(i, k)}, c)
				})
				return out
			})
		}
		trips = operand{typ: types.Scalar(types.I64), kind: inAffine, aff: fixed(max(k, 0))}
	} else {
		vals, trips = e.whileLoop(regs[0], bound, inv, scalars, current, body)
	}
	e.unretain(state)
	for i, t := range leaves {
		if t.Rank() == 0 {
			state[i] = operand{typ: t, kind: inScalar, val: vals[0]}
			vals = vals[1:]
		}
	}
	return append(rebuild(ts, state), trips)
}

func (e *emitter) whileLoop(cond graph.RegionID, bound operand, inv []operand, scalars []lir.Value,
	current func([]lir.Value) []operand, body func(operand, []lir.Value) []lir.Value) ([]lir.Value, operand) {
	limit := e.eval(bound, nil)
	init := append([]lir.Value{e.b.I64(0)}, scalars...)
	trip := func(v lir.Value) operand { return operand{typ: types.Scalar(types.I64), kind: inScalar, val: v} }
	out := e.b.While(init,
		func(c []lir.Value) (ok lir.Value) {
			e.scope(func() {
				params := append(append([]operand{trip(c[0])}, current(c[1:])...), inv...)
				res := e.region(cond, params, false)
				ok = e.op(lir.And, e.op(lir.LtS, c[0], limit), e.eval(res[0], nil))
				e.releaseAll(res)
			})
			return ok
		},
		func(c []lir.Value) (next []lir.Value) {
			e.scope(func() {
				vals := body(trip(c[0]), c[1:])
				next = append([]lir.Value{e.op(lir.Add, c[0], e.b.I64(1))}, vals...)
			})
			return next
		})
	return out[1:], trip(out[0])
}

// countedBound reports a constant trip count: the bound is a constant that an
// index can hold and the condition is constantly true.
func (e *emitter) countedBound(bound operand, cond graph.RegionID) (int64, bool) {
	if bound.kind != inAffine || !bound.aff.isConst() || bound.aff.c > math.MaxInt32 {
		return 0, false
	}
	res := e.g.Results(cond)[0]
	if e.g.Op(res.Node) != op.Const {
		return 0, false
	}
	data, err := e.g.ConstBytes(res.Node)
	return bound.aff.c, err == nil && data[0] == 1
}

// storeState writes the tensors of the next state and returns its scalars. A
// tensor that reads another's buffer is first copied aside, since all of them
// change at once.
func (e *emitter) storeState(next, state []operand) []lir.Value {
	owner := map[*alloc]int{}
	for i, s := range state {
		if s.kind == inMemory && s.view.alloc != nil {
			owner[s.view.alloc] = i
		}
	}
	vals := []lir.Value{}
	same := make([]bool, len(next))
	var moved []view
	for i, o := range next {
		if o.typ.Rank() == 0 {
			continue
		}
		if o.kind == inMemory && o.view.alloc == state[i].view.alloc && o.view.off.isConst() && o.view.off.c == 0 && o.view.contiguous(o.typ.Shape()) {
			same[i] = true
			continue
		}
		if o.kind == inMemory {
			if _, aliased := owner[o.view.alloc]; aliased {
				v := e.allocBuf(o.typ.DType, o.typ.Shape())
				e.copyTo(o, v)
				next[i] = operand{typ: o.typ, kind: inMemory, view: v}
				moved = append(moved, v)
			}
		}
	}
	for i, o := range next {
		switch {
		case o.typ.Rank() == 0:
			vals = append(vals, e.eval(o, nil))
		case !same[i]:
			e.copyTo(o, state[i].view)
		}
	}
	for _, v := range moved {
		e.free(v)
	}
	return vals
}
