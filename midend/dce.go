package midend

import (
	"context"
	"slices"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// dcePass removes what a region boundary keeps alive for nothing: invariants
// that no contained region reads, carried values that only feed themselves,
// outputs that nothing uses. (Nodes that nothing reaches are not part of a
// region to begin with.)
func dcePass(o *optimiser, _ context.Context) regionFunc {
	d := &pruner{o: o, done: map[graph.RegionID]graph.RegionID{}}
	return d.region
}

type pruner struct {
	o    *optimiser
	done map[graph.RegionID]graph.RegionID
}

func (d *pruner) region(r graph.RegionID) (graph.RegionID, error) {
	if c, ok := d.done[r]; ok {
		return c, nil
	}
	g := d.o.g
	uses := g.UseCounts(r)
	order := g.Order(r)
	env := make(map[graph.Ref]graph.Ref, len(order))
	for _, n := range order {
		def := g.Def(n)
		def.Ins = slices.Clone(def.Ins)
		for i, x := range def.Ins {
			def.Ins[i] = env[x]
		}
		def.Regions = slices.Clone(def.Regions)
		for i, c := range def.Regions {
			nr, err := d.region(c)
			if err != nil {
				return graph.None, err
			}
			def.Regions[i] = nr
		}
		keep := make([]bool, len(def.Outs))
		for i := range keep {
			keep[i] = uses[graph.Ref{Node: n, Out: int32(i)}] > 0
		}
		refs, err := d.node(n, def, keep)
		if err != nil {
			return graph.None, err
		}
		for i, x := range refs {
			env[graph.Ref{Node: n, Out: int32(i)}] = x
			d.o.cameFrom(x.Node, n)
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
	d.done[r] = c
	return c, nil
}

// node inserts def without its dead parts. It returns a reference per original
// output; those of dropped outputs are never looked at.
func (d *pruner) node(src graph.NodeID, def graph.NodeDef, keep []bool) ([]graph.Ref, error) {
	alive := keep
	var err error
	switch def.Op {
	case op.Loop:
		alive, err = d.loop(&def, keep)
	case op.Map:
		err = d.mapNode(&def, keep)
	case op.Switch:
		err = d.shrink(&def, 1, 0, keep)
	default:
		alive = nil
	}
	if err != nil {
		return nil, err
	}
	id, err := d.o.g.AddFrom(src, def)
	if err != nil {
		return nil, err
	}
	if alive == nil {
		return outputs(id, len(def.Outs)), nil
	}
	refs := make([]graph.Ref, len(alive))
	n := int32(0)
	for i, k := range alive {
		if k {
			refs[i] = graph.Ref{Node: id, Out: n}
			n++
		}
	}
	return refs, nil
}

// usedParams marks the parameters that refs reach.
func (d *pruner) usedParams(refs []graph.Ref, n int) []bool {
	used := make([]bool, n)
	for _, x := range d.o.g.Reach(refs) {
		if i, ok := paramIndex(d.o.g.Store, x); ok {
			used[i] = true
		}
	}
	return used
}

// remap copies r with only the kept parameters and results.
func (d *pruner) remap(r graph.RegionID, params, results []bool) (graph.RegionID, error) {
	g, b := d.o.g, d.o.b()
	ts := g.ParamTypes(r)
	args := make([]graph.Ref, len(ts))
	var kept []types.Type
	for i, t := range ts {
		if params[i] {
			args[i] = b.Param(len(kept), t)
			kept = append(kept, t)
		}
	}
	res, err := d.o.substituteRefs(filter(g.Results(r), results), args)
	if err != nil {
		return graph.None, err
	}
	return g.AddRegion(kept, res)
}

func filter[T any](xs []T, keep []bool) []T {
	var out []T
	for i, x := range xs {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}

func all(n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// shrink drops unused inputs from index first on, and unused outputs, of a node
// whose regions take lead own parameters followed by the inputs from first on.
func (d *pruner) shrink(def *graph.NodeDef, first, lead int, keep []bool) error {
	g := d.o.g
	live := make([]bool, len(def.Ins)-first)
	for _, r := range def.Regions {
		used := d.usedParams(filter(g.Results(r), keep), len(g.Params(r)))
		for i := range live {
			live[i] = live[i] || used[lead+i]
		}
	}
	if !slices.Contains(live, false) && !slices.Contains(keep, false) {
		return nil
	}
	params := append(all(lead), live...)
	for i, r := range def.Regions {
		c, err := d.remap(r, params, keep)
		if err != nil {
			return err
		}
		def.Regions[i] = c
	}
	def.Ins = append(slices.Clone(def.Ins[:first]), filter(def.Ins[first:], live)...)
	def.Outs = filter(def.Outs, keep)
	return nil
}

// mapNode drops unused outputs; an unused trap code makes a map without one.
func (d *pruner) mapNode(def *graph.NodeDef, keep []bool) error {
	lead := len(def.Attrs.Ints(op.KDims))
	if def.Attrs.Int(op.KTraps) == 1 && !keep[len(keep)-1] {
		def.Attrs = op.NewAttrs(op.Ints(op.KDims, def.Attrs.Ints(op.KDims)...), op.Int(op.KTraps, 0))
	}
	return d.shrink(def, 0, lead, keep)
}

// loop finds the carried values that an output in use, the condition or another
// live value needs, and drops the others with the invariants nobody reads. The
// trip count, the last output, always stays.
func (d *pruner) loop(def *graph.NodeDef, keep []bool) ([]bool, error) {
	g := d.o.g
	c := int(def.Attrs.Int(op.KCarried))
	n := len(def.Ins)
	cond, body := def.Regions[0], def.Regions[1]
	need := d.usedParams(g.Results(cond), n)
	for k := range c {
		need[1+k] = need[1+k] || keep[k]
	}
	for again := true; again; {
		again = false
		for k, res := range g.Results(body) {
			if !need[1+k] {
				continue
			}
			for i, u := range d.usedParams([]graph.Ref{res}, n) {
				if u && !need[i] {
					need[i], again = true, true
				}
			}
		}
	}
	need[0] = true
	alive := append(slices.Clone(need[1:1+c]), true)
	if !slices.Contains(need, false) {
		return alive, nil
	}
	var err error
	if def.Regions[0], err = d.remap(cond, need, []bool{true}); err != nil {
		return nil, err
	}
	if def.Regions[1], err = d.remap(body, need, need[1:1+c]); err != nil {
		return nil, err
	}
	def.Ins = filter(def.Ins, need)
	def.Outs = filter(def.Outs, alive)
	def.Attrs = op.Attrs{op.Int(op.KCarried, int64(len(g.Results(def.Regions[1]))))}
	return alive, nil
}

// unbind drops bound constants that the optimised region no longer reads.
func unbind(o *optimiser) (bool, error) {
	changed := false
	d := &pruner{o: o}
	for i := range o.g.Exports {
		x := &o.g.Exports[i]
		r := x.Optimised
		user := len(x.Params)
		used := d.usedParams(o.g.Results(r), len(o.g.Params(r)))
		bound := used[user:]
		if !slices.Contains(bound, false) {
			continue
		}
		c, err := d.remap(r, append(all(user), bound...), all(len(o.g.Results(r))))
		if err != nil {
			return false, err
		}
		x.Optimised, x.OptBound, changed = c, filter(x.OptBound, bound), true
	}
	return changed, nil
}
