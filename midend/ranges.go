package midend

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// rangesPass finds the ranges of i64 scalars - indices of maps, trip numbers of
// loops with a constant bound, sums and products of such - and decides the
// comparisons and overflow predicates that they settle. A bounds check inside
// the loop that was written for those bounds so disappears.
//
// It is an interval analysis: forward, one visit per node, no widening, since a
// value carried by a loop is simply unknown. What must hold: an interval
// contains every value the node can take, and no bound has overflowed.
func rangesPass(o *optimiser, _ context.Context) regionFunc {
	p := &ranger{o: o, done: map[string]graph.RegionID{}}
	return func(r graph.RegionID) (graph.RegionID, error) { return p.region(r, nil) }
}

type interval struct{ lo, hi int64 }

type ranger struct {
	o    *optimiser
	done map[string]graph.RegionID
}

// region rewrites r knowing the ranges of some of its parameters.
func (p *ranger) region(r graph.RegionID, params map[int64]interval) (graph.RegionID, error) {
	key := fmt.Sprint(r, params) // fmt prints maps in key order
	if c, ok := p.done[key]; ok {
		return c, nil
	}
	g := p.o.g
	order := g.Order(r)
	env := make(map[graph.Ref]graph.Ref, len(order))
	known := map[graph.Ref]interval{}
	for _, n := range order {
		def := g.Def(n)
		ins := make([]graph.Ref, len(def.Ins))
		for i, x := range def.Ins {
			ins[i] = env[x]
		}
		def.Ins = ins
		regs, err := p.contained(&def, known)
		if err != nil {
			return graph.None, err
		}
		def.Regions = regs
		refs, err := p.node(n, def, params, known)
		if err != nil {
			return graph.None, err
		}
		for i, x := range refs {
			env[graph.Ref{Node: n, Out: int32(i)}] = x
			p.o.cameFrom(x.Node, n)
		}
	}
	results := make([]graph.Ref, len(g.Results(r)))
	for i, x := range g.Results(r) {
		results[i] = env[x]
	}
	c, err := g.AddRegion(g.ParamTypes(r), results)
	if err != nil {
		return graph.None, err
	}
	p.done[key] = c
	return c, nil
}

// contained rewrites the regions of a node, telling each what is known of its
// parameters.
func (p *ranger) contained(def *graph.NodeDef, known map[graph.Ref]interval) ([]graph.RegionID, error) {
	out := make([]graph.RegionID, len(def.Regions))
	for i, r := range def.Regions {
		params := map[int64]interval{}
		pass := func(first int64, ins []graph.Ref) {
			for k, x := range ins {
				if iv, ok := known[x]; ok {
					params[first+int64(k)] = iv
				}
			}
		}
		switch def.Op {
		case op.Map:
			dims := def.Attrs.Ints(op.KDims)
			for k, d := range dims {
				if d > 0 {
					params[int64(k)] = interval{0, d - 1}
				}
			}
			pass(int64(len(dims)), def.Ins)
		case op.Loop:
			c := def.Attrs.Int(op.KCarried)
			if iv, ok := known[def.Ins[0]]; ok && iv.hi > 0 {
				// The condition may be asked once more, at the bound itself.
				params[0] = interval{0, iv.hi}
				if i == 1 {
					params[0] = interval{0, iv.hi - 1}
				}
			}
			pass(1+c, def.Ins[1+c:])
		case op.Switch:
			pass(0, def.Ins[1:])
		default:
			pass(0, def.Ins)
		}
		c, err := p.region(r, params)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

func (p *ranger) node(src graph.NodeID, def graph.NodeDef, params map[int64]interval, known map[graph.Ref]interval) ([]graph.Ref, error) {
	g, b := p.o.g, p.o.b()
	if v, ok := p.decide(&def, known); ok {
		if v {
			return []graph.Ref{b.Bool(true)}, nil
		}
		return []graph.Ref{b.Bool(false)}, nil
	}
	id, err := g.AddFrom(src, def)
	if err != nil {
		return nil, err
	}
	refs := outputs(id, len(def.Outs))
	if len(def.Outs) == 1 && def.Outs[0].IsScalar(types.I64) {
		if iv, ok := p.interval(id, &def, params, known); ok {
			known[refs[0]] = iv
		}
	}
	return refs, nil
}

// interval computes the range of an i64 scalar node.
func (p *ranger) interval(id graph.NodeID, def *graph.NodeDef, params map[int64]interval, known map[graph.Ref]interval) (interval, bool) {
	switch def.Op {
	case op.Param:
		iv, ok := params[def.Attrs.Int(op.KIndex)]
		return iv, ok
	case op.Const:
		v, _, ok := p.o.scalarBits(graph.Ref{Node: id})
		return interval{int64(v), int64(v)}, ok
	}
	var x, y interval
	var ok bool
	if len(def.Ins) > 0 {
		if x, ok = known[def.Ins[0]]; !ok {
			return interval{}, false
		}
	}
	if len(def.Ins) > 1 {
		if y, ok = known[def.Ins[1]]; !ok {
			return interval{}, false
		}
	}
	switch def.Op {
	case op.Add:
		return addIntervals(x, y)
	case op.Sub:
		if y.lo == math.MinInt64 {
			return interval{}, false
		}
		return addIntervals(x, interval{-y.hi, -y.lo})
	case op.Mul:
		return mulIntervals(x, y)
	case op.Min:
		return interval{min(x.lo, y.lo), min(x.hi, y.hi)}, true
	case op.Max:
		return interval{max(x.lo, y.lo), max(x.hi, y.hi)}, true
	case op.Div:
		if x.lo >= 0 && y.lo > 0 {
			return interval{x.lo / y.hi, x.hi / y.lo}, true
		}
	case op.Rem:
		if x.lo >= 0 && y.lo > 0 {
			return interval{0, min(x.hi, y.hi-1)}, true
		}
	}
	return interval{}, false
}

func addIntervals(x, y interval) (interval, bool) {
	lo, c1 := addChecked(x.lo, y.lo)
	hi, c2 := addChecked(x.hi, y.hi)
	return interval{lo, hi}, c1 && c2
}

func addChecked(a, b int64) (int64, bool) {
	c := a + b
	return c, (a^c)&(b^c) >= 0
}

func mulIntervals(x, y interval) (interval, bool) {
	out := interval{math.MaxInt64, math.MinInt64}
	for _, a := range [2]int64{x.lo, x.hi} {
		for _, b := range [2]int64{y.lo, y.hi} {
			c, ok := mulChecked(a, b)
			if !ok {
				return interval{}, false
			}
			out.lo, out.hi = min(out.lo, c), max(out.hi, c)
		}
	}
	return out, true
}

func mulChecked(a, b int64) (int64, bool) {
	if a == math.MinInt64 || b == math.MinInt64 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	return a * b, hi == 0 && lo <= math.MaxInt64
}

// decide settles a scalar comparison or overflow predicate.
func (p *ranger) decide(def *graph.NodeDef, known map[graph.Ref]interval) (value, ok bool) {
	if len(def.Ins) == 0 || len(def.Outs) != 1 || !def.Outs[0].IsScalar(types.Bool) {
		return false, false
	}
	x, ok := known[def.Ins[0]]
	if !ok {
		return false, false
	}
	var y interval
	if len(def.Ins) == 2 {
		if y, ok = known[def.Ins[1]]; !ok {
			return false, false
		}
	}
	switch def.Op {
	case op.Compare:
		return decideCompare(op.CompareKind(def.Attrs.Int(op.KKind)), x, y)
	case op.AddOverflow:
		_, fits := addIntervals(x, y)
		return false, fits
	case op.SubOverflow:
		if y.lo == math.MinInt64 {
			return false, false
		}
		_, fits := addIntervals(x, interval{-y.hi, -y.lo})
		return false, fits
	case op.MulOverflow:
		_, fits := mulIntervals(x, y)
		return false, fits
	case op.ConvertOverflow:
		d := types.DType(def.Attrs.Int(op.KTo))
		lo, hi := int64(0), uint64(math.MaxUint64)>>(64-d.Bits())
		if d.IsSigned() {
			lo, hi = -1<<(d.Bits()-1), hi>>1
		}
		return false, x.lo >= lo && (x.hi < 0 || uint64(x.hi) <= hi)
	}
	return false, false
}

func decideCompare(k op.CompareKind, x, y interval) (value, ok bool) {
	switch k {
	case op.LT:
		return x.hi < y.lo, x.hi < y.lo || x.lo >= y.hi
	case op.LE:
		return x.hi <= y.lo, x.hi <= y.lo || x.lo > y.hi
	case op.GT:
		return decideCompare(op.LT, y, x)
	case op.GE:
		return decideCompare(op.LE, y, x)
	case op.EQ:
		return x == y && x.lo == x.hi, x == y && x.lo == x.hi || x.hi < y.lo || y.hi < x.lo
	}
	v, ok := decideCompare(op.EQ, x, y)
	return !v, ok
}
