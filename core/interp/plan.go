package interp

import (
	"context"
	"fmt"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// exec computes one node on a frame.
type exec func(r *run, fr []val) error

// compiler turns a node into its closure.
type compiler func(m *Machine, n *node) (exec, error)

// node is what a compiler sees: the node with its types and slots resolved.
type node struct {
	id      graph.NodeID
	op      op.Code
	attrs   op.Attrs
	in, out []types.Type
	regions []graph.RegionID
	ins     []int32 // slots of the inputs
	o       int32   // slot of output 0; the others follow

	inPlace inPlace // for update
	element bool    // reads or writes one element (element.go)
	plan    *plan   // the region's, nil for a node on its own
}

// planKey names a plan: the first varying parameters change from run to run of
// a frame, the others do not. keep retains every value, for Locate.
type planKey struct {
	region  graph.RegionID
	varying int
	keep    bool
}

// plan is a compiled region. A region cannot contain itself, so one frame is
// enough; busy guards that.
type plan struct {
	once, each []instr
	params     []int32 // slot of each parameter, -1 where unused
	results    []int32
	bytes      int64 // most tensor data live at once, parameters left out
	slot       map[graph.NodeID]int32
	frame      []val
	busy       bool
	warm       bool    // a loop body past its first trip
	data       []int32 // slots of tensors and tuples
}

// instr is one node, or several quick ones in a row.
type instr struct {
	f     exec
	quick []quick // instead of f
	cost  int64
	free  []int32 // slots whose last use this is
}

func (m *Machine) node(id graph.NodeID) *node {
	n := &node{id: id, op: m.s.Op(id), attrs: m.s.Attrs(id), regions: m.s.Regions(id)}
	for _, r := range m.s.Ins(id) {
		n.in = append(n.in, m.s.Type(r))
	}
	for _, t := range m.s.OutTypes(id) {
		n.out = append(n.out, m.s.TypeByID(t))
	}
	return n
}

func (m *Machine) compile(n *node) (exec, error) {
	for _, ts := range [2][]types.Type{n.in, n.out} {
		for _, t := range ts {
			if !t.Static() {
				return nil, fmt.Errorf("node %d (%v): type %v has a free dimension", n.id, n.op, t)
			}
		}
	}
	var c compiler
	if n.op < op.MaxCode {
		c = m.table[n.op]
	}
	if c == nil {
		return nil, fmt.Errorf("node %d: %v cannot be interpreted on its own", n.id, n.op)
	}
	f, err := c(m, n)
	if err != nil {
		return nil, fmt.Errorf("node %d (%v): %w", n.id, n.op, err)
	}
	return f, nil
}

func (m *Machine) planOf(k planKey) (*plan, error) {
	if p, ok := m.plans[k]; ok {
		return p, nil
	}
	p, err := m.build(k)
	if err != nil {
		return nil, err
	}
	m.plans[k] = p
	return p, nil
}

// build compiles a region. Slots are numbered in topological order.
func (m *Machine) build(k planKey) (*plan, error) {
	order := m.s.Order(k.region)
	p := &plan{params: make([]int32, len(m.s.Params(k.region))), slot: map[graph.NodeID]int32{}}
	for i := range p.params {
		p.params[i] = -1
	}
	var ts []types.Type // per slot
	fixed := map[graph.NodeID]bool{}
	nodes := make([]*node, 0, len(order))
	for _, id := range order {
		n := m.node(id)
		n.o = int32(len(ts))
		p.slot[id] = n.o
		ts = append(ts, n.out...)
		if n.op == op.Param {
			i := n.attrs.Int(op.KIndex)
			p.params[i] = n.o
			fixed[id] = int(i) >= k.varying
			continue
		}
		all := true
		for _, r := range m.s.Ins(id) {
			n.ins = append(n.ins, p.slot[r.Node]+r.Out)
			all = all && fixed[r.Node]
		}
		fixed[id] = all
		nodes = append(nodes, n)
	}
	for _, r := range m.s.Results(k.region) {
		p.results = append(p.results, p.slot[r.Node]+r.Out)
	}
	short := !k.keep && !m.plain
	if short {
		nodes = joinElements(p, nodes)
	}
	free := lastUses(p, nodes, fixed, ts, k.keep)
	own := newOwners(p, nodes, fixed)
	live := int64(0)
	for _, n := range nodes {
		n.plan = p
		if n.op == op.Update && !k.keep {
			n.inPlace = own.mode(n)
		}
		in, err := m.instr(n, short)
		if err != nil {
			return nil, err
		}
		in.free = free[n.id]
		if fixed[n.id] {
			p.once = join(p.once, in)
		} else {
			p.each = join(p.each, in)
		}
		live += bytesOf(n.out)
		p.bytes = max(p.bytes, live)
		for _, s := range in.free {
			live -= bytesOf(ts[s : s+1])
		}
	}
	if !k.keep {
		p.slot = nil
	}
	p.frame = make([]val, len(ts))
	for i, t := range ts {
		if !t.IsScalar() {
			p.data = append(p.data, int32(i))
		}
	}
	return p, nil
}

// instr compiles n, to its quick form if it may be short and has one.
func (m *Machine) instr(n *node, short bool) (instr, error) {
	if n.element {
		return instr{quick: []quick{elementOf(n)}, cost: 2}, nil // the two nodes it stands for
	}
	f, err := m.compile(n)
	if err != nil {
		return instr{}, err
	}
	if short {
		if q := quickOf(n); q != nil {
			return instr{quick: []quick{q}, cost: n.cost()}, nil
		}
	}
	return instr{f: f, cost: n.cost()}, nil
}

// join appends in, to the last instruction if both are quick and nothing ends
// between them.
func join(is []instr, in instr) []instr {
	if k := len(is) - 1; k >= 0 && in.quick != nil && is[k].quick != nil && len(is[k].free) == 0 {
		is[k].quick = append(is[k].quick, in.quick...)
		is[k].cost += in.cost
		is[k].free = in.free
		return is
	}
	return append(is, in)
}

// lastUses gives per node the slots that hold data and are used no more after
// it. Results, fixed nodes and parameters stay.
func lastUses(p *plan, nodes []*node, fixed map[graph.NodeID]bool, ts []types.Type, keep bool) map[graph.NodeID][]int32 {
	out := map[graph.NodeID][]int32{}
	if keep {
		return out
	}
	done := make([]bool, len(ts))
	for _, s := range p.results {
		done[s] = true
	}
	for _, s := range p.params {
		if s >= 0 {
			done[s] = true
		}
	}
	for i := range ts {
		done[i] = done[i] || ts[i].IsScalar()
	}
	for _, n := range nodes {
		if fixed[n.id] {
			for i := range n.out {
				done[int(n.o)+i] = true
			}
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		if fixed[n.id] {
			continue // runs before the others, once
		}
		mark := func(s int32) {
			if !done[s] {
				done[s] = true
				out[n.id] = append(out[n.id], s)
			}
		}
		for _, s := range n.ins {
			mark(s)
		}
		for j := range n.out {
			mark(n.o + int32(j))
		}
	}
	return out
}

// bytesOf is the tensor data of values of these types; scalars live in slots.
func bytesOf(ts []types.Type) int64 {
	n := int64(0)
	for _, t := range ts {
		switch {
		case t.Kind == types.KindTuple:
			n += bytesOf(t.Elems)
		case t.Kind == types.KindTensor && t.Rank() > 0:
			n += t.NumBytes()
		}
	}
	return n
}

// cost is the work of a node in steps: one, and its elements. Nodes with
// regions pay as those run; contractions pay a row at a time.
func (n *node) cost() int64 {
	c := int64(1)
	for _, ts := range [2][]types.Type{n.in, n.out} {
		for _, t := range ts {
			if t.Kind == types.KindTensor && t.Rank() > 0 && n.op.Info().Class != op.Structure {
				c += t.NumElems()
			}
		}
	}
	return c
}

// setParams puts values in the slots of parameters from index i on.
func (p *plan) setParams(fr []val, i int, vs []val) {
	for j, v := range vs {
		if s := p.params[i+j]; s >= 0 {
			fr[s] = v
		}
	}
}

// setTrip puts a loop's trip number in parameter 0.
func (p *plan) setTrip(fr []val, trip int64) {
	if s := p.params[0]; s >= 0 {
		fr[s].bits = uint64(trip)
	}
}

// run is the state of one evaluation.
type run struct {
	m     *Machine
	ctx   context.Context
	live  int64
	steps int64
	poll  int64 // look at the context when steps passes this
}

func (m *Machine) newRun(ctx context.Context) *run { return &run{m: m, ctx: ctx} }

const pollEvery = 1 << 16

// spend counts work and stops the run when it is over its limit or cancelled.
func (r *run) spend(n int64) error {
	r.steps += n
	if r.steps < r.poll {
		return nil
	}
	r.poll = r.steps + pollEvery
	if err := context.Cause(r.ctx); err != nil {
		return fmt.Errorf("interrupted: %w", err)
	}
	if l := r.m.lim.Steps; l > 0 {
		if r.steps > l {
			return fmt.Errorf("%w: more than %d steps", ErrLimit, l)
		}
		r.poll = min(r.poll, l+1)
	}
	return nil
}

// reserve counts tensor data as live.
func (r *run) reserve(n int64) error {
	if l := r.m.lim.Bytes; l > 0 && (n > l || r.live > l-n) {
		return fmt.Errorf("%w: more than %d bytes of tensors", ErrLimit, l)
	}
	r.live += n
	return nil
}

func (r *run) release(n int64) { r.live -= n }

// enter takes the plan's frame; leave empties it.
func (r *run) enter(p *plan) ([]val, error) {
	if p.busy {
		panic("BUG: a region runs inside itself")
	}
	if err := r.reserve(p.bytes); err != nil {
		return nil, err
	}
	p.busy = true
	return p.frame, nil
}

func (r *run) leave(p *plan) {
	for _, s := range p.data {
		p.frame[s] = val{}
	}
	p.busy, p.warm = false, false
	r.release(p.bytes)
}

func (r *run) do(is []instr, fr []val) error {
	for i := range is {
		in := &is[i]
		if err := r.spend(in.cost); err != nil {
			return err
		}
		if in.quick == nil {
			if err := in.f(r, fr); err != nil {
				return err
			}
		} else {
			for _, q := range in.quick {
				q(fr)
			}
		}
		for _, s := range in.free {
			fr[s] = val{}
		}
	}
	return nil
}

// call runs a plan once and copies its results to out.
func (r *run) call(p *plan, set func(fr []val), out []val) error {
	fr, err := r.enter(p)
	if err != nil {
		return err
	}
	defer r.leave(p)
	set(fr)
	if err := r.do(p.once, fr); err != nil {
		return err
	}
	if err := r.do(p.each, fr); err != nil {
		return err
	}
	for i, s := range p.results {
		out[i] = fr[s]
	}
	return nil
}
