package interp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

// Step is one region entered on the way to a trap: the node that contains it
// and, for a map or loop, the index or trip it was at.
type Step struct {
	Node   graph.NodeID   // in the region before
	Op     op.Code        // call, fusion, switch, map or loop
	Region graph.RegionID // the region entered
	Index  []int64        // a map's index, a loop's trip; nil otherwise
}

// Place says where a trap code was made.
type Place struct {
	Code op.TrapKind
	Node graph.NodeID // the node that made the code, usually a trap_if
	Path []Step       // regions entered from the entry's, outermost first
}

// String gives the path for people: "loop 12 [trip 3] > map 40 [1 2] > node 7".
func (p *Place) String() string {
	var b strings.Builder
	for _, s := range p.Path {
		fmt.Fprintf(&b, "%v %d", s.Op, s.Node)
		if s.Index != nil {
			fmt.Fprintf(&b, " %v", s.Index)
		}
		b.WriteString(" > ")
	}
	fmt.Fprintf(&b, "node %d", p.Node)
	return b.String()
}

// Locate replays entry x on the inputs and finds the node that made the trap
// code it reports. It follows the code from the entry's last result back:
// trap_join to the side it kept, calls and arms inwards, maps to the first
// trapped index in row-major order, loops to the trip in which the carried code
// became non-zero. It returns nil if the run does not trap.
func Locate(ctx context.Context, g *graph.Graph, x *graph.Export, inputs []Value) (*Place, error) {
	return New(g.Store, DefaultLimits()).Locate(ctx, x, inputs)
}

// Locate replays entry x; see the function Locate.
func (m *Machine) Locate(ctx context.Context, x *graph.Export, inputs []Value) (*Place, error) {
	args, err := m.entryArgs(x, x.Region, x.Bound, inputs)
	if err != nil {
		return nil, err
	}
	in, err := checkArgs(m.s.ParamTypes(x.Region), args)
	if err != nil {
		return nil, err
	}
	l := &locator{m: m, r: m.newRun(ctx)}
	f, err := l.eval(x.Region, in)
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", x.Name, err)
	}
	results := m.s.Results(x.Region)
	last := results[len(results)-1]
	if f.val(last).bits == 0 {
		return nil, nil
	}
	return l.follow(f, last, nil)
}

// kept is a region's evaluation with every value retained.
type kept struct {
	p  *plan
	fr []val

	// Where the region was entered from, for going back out of a parameter.
	up   *kept
	args []graph.Ref // the outer reference of each parameter; Node < 0 where there is none
}

func (f *kept) val(r graph.Ref) val { return f.fr[f.p.slot[r.Node]+r.Out] }

type locator struct {
	m    *Machine
	r    *run
	path []Step
}

// eval runs a region once on args and keeps its frame.
func (l *locator) eval(region graph.RegionID, args []val) (*kept, error) {
	p, err := l.m.planOf(planKey{region: region, varying: len(args), keep: true})
	if err != nil {
		return nil, err
	}
	f := &kept{p: p, fr: make([]val, len(p.frame))}
	p.setParams(f.fr, 0, args)
	if err := l.r.do(p.once, f.fr); err != nil {
		return nil, err
	}
	return f, l.r.do(p.each, f.fr)
}

// enter evaluates a region contained in node n of f and records the step.
func (l *locator) enter(f *kept, n graph.NodeID, region graph.RegionID, args []val, refs []graph.Ref, index []int64) (*kept, error) {
	in, err := l.eval(region, args)
	if err != nil {
		return nil, err
	}
	in.up, in.args = f, refs
	l.path = append(l.path, Step{Node: n, Op: l.m.s.Op(n), Region: region, Index: index})
	return in, nil
}

var noRef = graph.Ref{Node: -1}

// follow walks back from ref, whose field at path fields is a non-zero code.
func (l *locator) follow(f *kept, ref graph.Ref, fields []int64) (*Place, error) {
	s := l.m.s
	for {
		v := f.val(ref)
		for _, i := range slices.Backward(fields) {
			v = v.tup[i]
		}
		here := &Place{Code: op.TrapKind(v.bits), Node: ref.Node, Path: slices.Clone(l.path)}
		ins, regions := s.Ins(ref.Node), s.Regions(ref.Node)
		vals := make([]val, len(ins))
		for i, r := range ins {
			vals[i] = f.val(r)
		}
		var err error
		switch c := s.Op(ref.Node); c {
		case op.TrapJoin:
			ref = ins[1]
			if vals[0].bits != 0 {
				ref = ins[0]
			}
		case op.Select:
			if !s.Type(ref).IsScalar() {
				return here, nil
			}
			ref = ins[2]
			if vals[0].bits != 0 {
				ref = ins[1]
			}
		case op.Get:
			fields = append(fields, s.Attrs(ref.Node).Int(op.KIndex))
			ref = ins[0]
		case op.Tuple:
			if len(fields) == 0 {
				return here, nil
			}
			ref = ins[fields[len(fields)-1]]
			fields = fields[:len(fields)-1]
		case op.Call, op.Fusion:
			f, err = l.enter(f, ref.Node, regions[0], vals, ins, nil)
			ref = resultOf(s, regions[0], ref.Out)
		case op.Switch:
			arm := regions[armOf(s.Type(ins[0]).DType, len(regions))(vals[0].bits)]
			f, err = l.enter(f, ref.Node, arm, vals[1:], ins[1:], nil)
			ref = resultOf(s, arm, ref.Out)
		case op.Map:
			if s.Attrs(ref.Node).Int(op.KTraps) != 1 || int(ref.Out) != s.NumOuts(ref.Node)-1 {
				return here, nil
			}
			f, err = l.inMap(f, ref, vals)
			ref = resultOf(s, regions[0], ref.Out)
		case op.Loop:
			var next *kept
			next, err = l.inLoop(f, ref, vals, fields)
			if err == nil && next == nil {
				if int64(ref.Out) >= s.Attrs(ref.Node).Int(op.KCarried) {
					return here, nil // the trip count
				}
				ref = ins[1+ref.Out] // non-zero before the first trip
				continue
			}
			f = next
			ref = resultOf(s, regions[1], ref.Out)
		case op.Param:
			i := s.Attrs(ref.Node).Int(op.KIndex)
			if f.up == nil || f.args[i] == noRef {
				return here, nil
			}
			f, ref = f.up, f.args[i]
			l.path = l.path[:len(l.path)-1]
		default:
			return here, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func resultOf(s *graph.Store, r graph.RegionID, i int32) graph.Ref { return s.Results(r)[i] }

// inMap enters the first index, in row-major order, whose code is non-zero.
func (l *locator) inMap(f *kept, ref graph.Ref, vals []val) (*kept, error) {
	s, region := l.m.s, l.m.s.Regions(ref.Node)[0]
	dims := s.Attrs(ref.Node).Ints(op.KDims)
	refs := slices.Concat(slices.Repeat([]graph.Ref{noRef}, len(dims)), s.Ins(ref.Node))
	code := resultOf(s, region, ref.Out)
	index := make([]int64, len(dims))
	for range product(dims) {
		args := make([]val, 0, len(refs))
		for _, i := range index {
			args = append(args, val{bits: uint64(i)})
		}
		args = append(args, vals...)
		in, err := l.eval(region, args)
		if err != nil {
			return nil, err
		}
		if in.val(code).bits != 0 {
			return l.enter(f, ref.Node, region, args, refs, slices.Clone(index))
		}
		next(index, dims)
	}
	panic("BUG: a map trapped at no index")
}

// inLoop enters the body at the trip after which the value became non-zero, or
// returns nil if it was so from the start.
func (l *locator) inLoop(f *kept, ref graph.Ref, vals []val, fields []int64) (*kept, error) {
	s, regions := l.m.s, l.m.s.Regions(ref.Node)
	carried := int(s.Attrs(ref.Node).Int(op.KCarried))
	if int(ref.Out) >= carried {
		return nil, nil
	}
	set := func(v val) bool {
		for _, i := range slices.Backward(fields) {
			v = v.tup[i]
		}
		return v.bits != 0
	}
	if set(vals[1+ref.Out]) {
		return nil, nil
	}
	refs := slices.Clone(s.Ins(ref.Node))
	for i := range 1 + carried {
		refs[i] = noRef
	}
	args := slices.Clone(vals)
	for trip := int64(0); ; trip++ {
		args[0] = val{bits: uint64(trip)}
		in, err := l.eval(regions[1], args)
		if err != nil {
			return nil, err
		}
		if set(in.val(resultOf(s, regions[1], ref.Out))) {
			return l.enter(f, ref.Node, regions[1], args, refs, []int64{trip})
		}
		for i := range carried {
			args[1+i] = in.val(resultOf(s, regions[1], int32(i)))
		}
	}
}
