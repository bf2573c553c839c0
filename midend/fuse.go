package midend

import (
	"context"
	"slices"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// fusePass groups nodes into fusions: "one loop nest, these intermediates never
// reach memory".
//
// Nodes are visited users first. A pointwise node joins the group of its users
// if they are all in one group; so a group has one root, everything else in it
// is used only inside, and no cycle through the outside can arise. A root is a
// pointwise node, a reduction (which computes what it folds on the way), or a
// contraction (which computes its operands while packing them). A contraction
// also joins the elementwise group that alone uses it: its epilogue.
func fusePass(o *optimiser, _ context.Context) regionFunc {
	f := &fuser{o: o, done: map[graph.RegionID]graph.RegionID{}}
	return f.region
}

// Limits of one fusion: enough for any real chain, small enough that a loop
// body fits the instruction cache.
const (
	maxFused  = 128
	maxInputs = 24
)

type fuser struct {
	o    *optimiser
	done map[graph.RegionID]graph.RegionID
}

// group is a fusion in the making.
type group struct {
	root    graph.NodeID
	members []graph.NodeID // descending
	ins     []graph.Ref    // what members use from outside, constants left out
	dot     bool           // holds a contraction as producer
	dotRoot bool           // the root is a contraction or a reduction
}

func (f *fuser) region(r graph.RegionID) (graph.RegionID, error) {
	if c, ok := f.done[r]; ok {
		return c, nil
	}
	g := f.o.g
	groups := f.group(r)
	order := g.Order(r)
	env := make(map[graph.Ref]graph.Ref, len(order))
	for _, n := range order {
		gr := groups[n]
		if gr != nil && !f.worthwhile(gr) {
			gr = nil
		}
		if gr != nil && gr.root != n {
			continue
		}
		var refs []graph.Ref
		var err error
		if gr != nil {
			refs, err = f.emit(gr, env)
		} else {
			refs, err = f.copyNode(n, env)
		}
		if err != nil {
			return graph.None, err
		}
		for i, x := range refs {
			env[graph.Ref{Node: n, Out: int32(i)}] = x
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
	f.done[r] = c
	return c, nil
}

// copyNode copies a node that is not fused. Bodies of loops and switches are
// fused in turn; bodies of maps are evaluated element by element as they are.
func (f *fuser) copyNode(n graph.NodeID, env map[graph.Ref]graph.Ref) ([]graph.Ref, error) {
	g := f.o.g
	def := g.Def(n)
	def.Ins = slices.Clone(def.Ins)
	for i, x := range def.Ins {
		def.Ins[i] = env[x]
	}
	def.Regions = slices.Clone(def.Regions)
	for i, r := range def.Regions {
		if def.Op == op.Map || def.Op == op.Fusion {
			continue
		}
		c, err := f.region(r)
		if err != nil {
			return nil, err
		}
		def.Regions[i] = c
	}
	id, err := g.AddFrom(n, def)
	if err != nil {
		return nil, err
	}
	f.o.cameFrom(id, n)
	return outputs(id, len(def.Outs)), nil
}

// pointwise reports whether n's one output is a tensor computed element by
// element.
func (f *fuser) pointwise(n graph.NodeID) bool {
	g := f.o.g
	if g.NumOuts(n) != 1 || g.Type(graph.Ref{Node: n}).Rank() == 0 || !g.Type(graph.Ref{Node: n}).IsTensor() {
		return false
	}
	switch c := g.Op(n); c {
	case op.Broadcast, op.Reshape, op.Transpose, op.Iota, op.Gather, op.Slice:
		return true
	case op.Map:
		return g.Attrs(n).Int(op.KTraps) == 0
	default:
		return c.Info().Class == op.Elementwise
	}
}

// group assigns groups to the nodes of r.
func (f *fuser) group(r graph.RegionID) map[graph.NodeID]*group {
	g := f.o.g
	order := g.Order(r)
	users := g.Users(r)
	external := map[graph.NodeID]bool{}
	for _, x := range g.Results(r) {
		external[x.Node] = true
	}
	of := make(map[graph.NodeID]*group, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		if !external[n] {
			if gr := f.sameGroup(of, users[n]); gr != nil && len(gr.members) < maxFused && f.joins(gr, n, users[n], users, of) {
				of[n] = gr
				gr.members = append(gr.members, n)
				gr.ins = f.inputsWith(gr, n)
				gr.dot = gr.dot || g.Op(n) == op.DotGeneral
				continue
			}
		}
		if heavyRoot(g.Op(n)) || f.pointwise(n) {
			gr := &group{root: n, members: []graph.NodeID{n}, dotRoot: heavyRoot(g.Op(n))}
			gr.ins = f.inputsWith(gr, n)
			of[n] = gr
		}
	}
	return of
}

func heavyRoot(c op.Code) bool {
	switch c {
	case op.Reduce, op.Dot, op.DotGeneral, op.ArgMin, op.ArgMax:
		return true
	}
	return false
}

func (f *fuser) sameGroup(of map[graph.NodeID]*group, users []graph.NodeID) *group {
	if len(users) == 0 {
		return nil
	}
	gr := of[users[0]]
	for _, u := range users[1:] {
		if of[u] != gr {
			return nil
		}
	}
	return gr
}

// joins reports whether n may join gr, the group of all its users.
func (f *fuser) joins(gr *group, n graph.NodeID, users []graph.NodeID, all map[graph.NodeID][]graph.NodeID, of map[graph.NodeID]*group) bool {
	if f.o.g.Op(n) == op.DotGeneral {
		return f.joinsAsDot(gr, n, all, of)
	}
	if !f.pointwise(n) || len(f.inputsWith(gr, n)) > maxInputs {
		return false
	}
	if f.moves(n) {
		return true
	}
	// What computes must not be computed again for every element of a larger
	// user; what only moves elements may.
	for _, u := range users {
		switch f.o.g.Op(u) {
		case op.Broadcast, op.Gather, op.Map:
			return false
		}
	}
	return true
}

// moves reports whether n only moves elements.
func (f *fuser) moves(n graph.NodeID) bool {
	switch f.o.g.Op(n) {
	case op.Broadcast, op.Reshape, op.Transpose, op.Iota, op.Slice:
		return true
	}
	return false
}

// joinsAsDot: from the contraction to the root everything is elementwise of its
// shape, so that the epilogue runs on elements in registers.
func (f *fuser) joinsAsDot(gr *group, n graph.NodeID, users map[graph.NodeID][]graph.NodeID, of map[graph.NodeID]*group) bool {
	g := f.o.g
	t := g.Type(graph.Ref{Node: n})
	if gr.dot || gr.dotRoot || t.Rank() == 0 {
		return false
	}
	seen := map[graph.NodeID]bool{}
	var up func(x graph.NodeID) bool
	up = func(x graph.NodeID) bool {
		for _, u := range users[x] {
			if of[u] != gr {
				continue
			}
			if seen[u] {
				continue
			}
			seen[u] = true
			if g.Op(u).Info().Class != op.Elementwise || !g.Type(graph.Ref{Node: u}).SameDims(t) || !up(u) {
				return false
			}
		}
		return true
	}
	return up(n)
}

// inputsWith lists what gr takes from outside with n in it. Members join in
// descending order, so nothing that n uses is one.
func (f *fuser) inputsWith(gr *group, n graph.NodeID) []graph.Ref {
	own := f.o.g.Ins(n)
	out := make([]graph.Ref, 0, len(gr.ins)+len(own))
	for _, x := range gr.ins {
		if x.Node != n {
			out = append(out, x)
		}
	}
	for _, x := range own {
		if f.o.g.Op(x.Node) != op.Const && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// inputs lists the outside values that members use, constants left out: those
// move into the fusion.
func (f *fuser) inputs(members []graph.NodeID) []graph.Ref {
	g := f.o.g
	in := map[graph.NodeID]bool{}
	for _, m := range members {
		in[m] = true
	}
	var out []graph.Ref
	for _, m := range members {
		for _, x := range g.Ins(m) {
			if !in[x.Node] && g.Op(x.Node) != op.Const && !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// worthwhile: a fusion has at least two nodes, one of which computes.
func (f *fuser) worthwhile(gr *group) bool {
	if len(gr.members) < 2 {
		return false
	}
	return slices.ContainsFunc(gr.members, func(n graph.NodeID) bool { return !f.moves(n) })
}

// emit inserts the fusion node of a group and returns the root's outputs.
func (f *fuser) emit(gr *group, env map[graph.Ref]graph.Ref) ([]graph.Ref, error) {
	g, b := f.o.g, f.o.b()
	members := slices.Clone(gr.members)
	slices.Sort(members)
	inner := map[graph.Ref]graph.Ref{}
	var params []types.Type
	var args []graph.Ref
	for _, x := range f.inputs(members) {
		inner[x] = b.Param(len(params), g.Type(x))
		params = append(params, g.Type(x))
		args = append(args, env[x])
	}
	for _, m := range members {
		def := g.Def(m)
		def.Ins = slices.Clone(def.Ins)
		for i, x := range def.Ins {
			if g.Op(x.Node) == op.Const {
				continue
			}
			def.Ins[i] = inner[x]
		}
		id, err := g.AddFrom(m, def)
		if err != nil {
			return nil, err
		}
		f.o.cameFrom(id, m)
		for i := range def.Outs {
			inner[graph.Ref{Node: m, Out: int32(i)}] = graph.Ref{Node: id, Out: int32(i)}
		}
	}
	var results []graph.Ref
	for i := range g.NumOuts(gr.root) {
		results = append(results, inner[graph.Ref{Node: gr.root, Out: int32(i)}])
	}
	r, err := g.AddRegion(params, results)
	if err != nil {
		return nil, err
	}
	id, err := g.Add(graph.NodeDef{Op: op.Fusion, Ins: args, Regions: []graph.RegionID{r}})
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		f.o.cameFrom(id, m)
	}
	return outputs(id, len(results)), nil
}
