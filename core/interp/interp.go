// Package interp is the reference interpreter: the executable meaning of a
// graph, against which every backend is checked.
//
// A region is compiled once to a plan, a list of closures over numbered slots
// in topological order; maps and loops run their plan again and again on one
// frame, and nodes that depend only on invariant inputs run once per map or
// loop. Every scalar rule comes from core/numeric.
//
// What must hold:
//   - The result depends on the graph and the inputs alone; nothing runs in map
//     order, and work spread over threads writes disjoint elements.
//   - Every float a frame holds is canonical (the one NaN), so outputs, bitcasts
//     and hashes need no further step.
//   - A buffer is not written after the node that made it is done, but by an
//     update that is its last reader (inplace.go).
//   - No input makes it panic or run past its limits: a graph that Store.Add
//     accepts has a result, an exceeded limit or a cancelled context is an error.
package interp

import (
	"context"
	"errors"
	"fmt"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// ErrLimit is wrapped by the errors of a run that exceeds its Limits.
var ErrLimit = errors.New("limit exceeded")

// Limits bound a run. A zero field means no limit.
type Limits struct {
	Bytes int64 // live tensor data
	Steps int64 // nodes executed plus elements computed
}

// DefaultLimits are those of Run: 8 GiB of live tensors, any number of steps.
func DefaultLimits() Limits { return Limits{Bytes: 8 << 30} }

// Machine interprets the regions of one store and keeps their plans. It is not
// safe for concurrent use. The store may grow between calls.
type Machine struct {
	s     *graph.Store
	lim   Limits
	table [op.MaxCode]compiler
	plans map[planKey]*plan
	plain bool // no short forms: every node by its exec
}

// New returns a machine over s.
func New(s *graph.Store, lim Limits) *Machine {
	return &Machine{s: s, lim: lim, table: compilers(), plans: map[planKey]*plan{}}
}

// NewPlain returns a machine that runs every node by its plain definition, one
// at a time, without the short forms of quick.go and element.go. Tests hold the
// short forms against it.
func NewPlain(s *graph.Store, lim Limits) *Machine {
	m := New(s, lim)
	m.plain = true
	return m
}

// Run runs entry x of g on the inputs, one per parameter, and returns its
// results, or the trap code and no results.
func Run(ctx context.Context, g *graph.Graph, x *graph.Export, inputs []Value) ([]Value, op.TrapKind, error) {
	return New(g.Store, DefaultLimits()).Run(ctx, x, inputs)
}

// RunOptimised is Run on the entry's optimised region.
func RunOptimised(ctx context.Context, g *graph.Graph, x *graph.Export, inputs []Value) ([]Value, op.TrapKind, error) {
	return New(g.Store, DefaultLimits()).RunOptimised(ctx, x, inputs)
}

// Run runs entry x; see the function Run.
func (m *Machine) Run(ctx context.Context, x *graph.Export, inputs []Value) ([]Value, op.TrapKind, error) {
	return m.runEntry(ctx, x, x.Region, x.Bound, inputs)
}

// RunOptimised runs entry x's optimised region.
func (m *Machine) RunOptimised(ctx context.Context, x *graph.Export, inputs []Value) ([]Value, op.TrapKind, error) {
	if x.Optimised == graph.None {
		return nil, op.TrapNone, fmt.Errorf("entry %s has no optimised region", x.Name)
	}
	return m.runEntry(ctx, x, x.Optimised, x.OptBound, inputs)
}

func (m *Machine) runEntry(ctx context.Context, x *graph.Export, r graph.RegionID, bound []graph.Bound, inputs []Value) ([]Value, op.TrapKind, error) {
	args, err := m.entryArgs(x, r, bound, inputs)
	if err != nil {
		return nil, op.TrapNone, err
	}
	out, err := m.EvalRegion(ctx, r, args)
	if err != nil {
		return nil, op.TrapNone, fmt.Errorf("entry %s: %w", x.Name, err)
	}
	last := len(out) - 1
	if last < 0 || !out[last].Type.Equal(types.Trap()) {
		panic("BUG: entry " + x.Name + " does not end in a trap code")
	}
	if code := op.TrapKind(out[last].Bits(0)); code != op.TrapNone {
		return nil, code, nil
	}
	return out[:last], op.TrapNone, nil
}

// entryArgs checks the inputs and appends the bound constants.
func (m *Machine) entryArgs(x *graph.Export, r graph.RegionID, bound []graph.Bound, inputs []Value) ([]Value, error) {
	ts := m.s.ParamTypes(r)
	if len(inputs) != len(x.Params) || len(ts) != len(x.Params)+len(bound) {
		return nil, fmt.Errorf("entry %s takes %d inputs, has %d", x.Name, len(x.Params), len(inputs))
	}
	args := append([]Value(nil), inputs...)
	for i, v := range inputs {
		if err := v.check(ts[i]); err != nil {
			return nil, fmt.Errorf("entry %s: input %s: %w", x.Name, x.Params[i].Name, err)
		}
	}
	for i, b := range bound {
		data, ok := m.s.Blob(b.Blob)
		if !ok {
			return nil, fmt.Errorf("entry %s: bound constant %d: blob %s is missing", x.Name, i, b.Blob.Short())
		}
		args = append(args, Value{Type: b.Type, Data: data})
	}
	return args, nil
}

// EvalRegion evaluates region r of s on the arguments, within DefaultLimits.
func EvalRegion(ctx context.Context, s *graph.Store, r graph.RegionID, args []Value) ([]Value, error) {
	return New(s, DefaultLimits()).EvalRegion(ctx, r, args)
}

// EvalRegion evaluates region r on the arguments.
func (m *Machine) EvalRegion(ctx context.Context, r graph.RegionID, args []Value) ([]Value, error) {
	in, err := checkArgs(m.s.ParamTypes(r), args)
	if err != nil {
		return nil, err
	}
	run := m.newRun(ctx)
	p, err := m.planOf(planKey{region: r, varying: len(in)})
	if err != nil {
		return nil, err
	}
	out := make([]val, len(p.results))
	if err := run.call(p, func(fr []val) { p.setParams(fr, 0, in) }, out); err != nil {
		return nil, err
	}
	return fromVals(out, m.s.ResultTypes(r)), nil
}

// EvalNode evaluates one node of s on values for its inputs, within
// DefaultLimits.
func EvalNode(ctx context.Context, s *graph.Store, n graph.NodeID, ins []Value) ([]Value, error) {
	return New(s, DefaultLimits()).EvalNode(ctx, n, ins)
}

// EvalNode evaluates one node, any but param, on values for its inputs.
func (m *Machine) EvalNode(ctx context.Context, n graph.NodeID, ins []Value) ([]Value, error) {
	node := m.node(n)
	in, err := checkArgs(node.in, ins)
	if err != nil {
		return nil, err
	}
	fr := make([]val, len(in)+len(node.out))
	for i, v := range in {
		fr[i] = v
		node.ins = append(node.ins, int32(i))
	}
	node.o = int32(len(in))
	f, err := m.compile(node)
	if err != nil {
		return nil, err
	}
	run := m.newRun(ctx)
	if err := run.reserve(bytesOf(node.out)); err != nil {
		return nil, err
	}
	if err := run.spend(node.cost()); err != nil {
		return nil, err
	}
	if err := f(run, fr); err != nil {
		return nil, err
	}
	return fromVals(fr[len(in):], node.out), nil
}

func checkArgs(ts []types.Type, args []Value) ([]val, error) {
	if len(args) != len(ts) {
		return nil, fmt.Errorf("%d arguments, wants %d", len(args), len(ts))
	}
	in := make([]val, len(args))
	for i, v := range args {
		if err := v.check(ts[i]); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		in[i] = toVal(v)
	}
	return in, nil
}

func fromVals(xs []val, ts []types.Type) []Value {
	out := make([]Value, len(xs))
	for i, x := range xs {
		out[i] = fromVal(x, ts[i])
	}
	return out
}
