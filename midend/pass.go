package midend

import (
	"context"

	"github.com/kera-lang/kera/core/graph"
)

// regionFunc rewrites one region.
type regionFunc func(r graph.RegionID) (graph.RegionID, error)

// pass is one row of the pipeline.
type pass struct {
	name   string
	doc    string
	repeat bool // part of the fixed point; the others run once, after it
	make   func(o *optimiser, ctx context.Context) regionFunc
	after  func(o *optimiser) (bool, error)
}

// passes is the pipeline, in order. Constraints: inline comes first, since the
// others look only inside one region; ranges before simplify, which removes the
// checks it settles; order after simplify, which may put constants to the
// right; fuse last, because nothing looks inside a fusion.
func passes() []pass {
	return []pass{
		{name: "inline", doc: "calls become the callee's body", repeat: true, make: inlinePass},
		{name: "ranges", doc: "comparisons that index ranges decide become constants", repeat: true, make: rangesPass},
		{name: "simplify", doc: "exact identities; folding of constants by the interpreter", repeat: true, make: simplifyPass},
		{name: "order", doc: "operands of commutative ops in one order, so that equal nodes meet", repeat: true, make: orderPass},
		{name: "dce", doc: "parameters, carried values and outputs that nothing uses go", repeat: true, make: dcePass, after: unbind},
		{name: "fuse", doc: "pointwise chains, with the reduction or contraction they feed or follow, become one loop nest", make: fusePass},
	}
}

// Passes lists the pipeline's names and what each does.
func Passes() [][2]string {
	var out [][2]string
	for _, p := range passes() {
		out = append(out, [2]string{p.name, p.doc})
	}
	return out
}

func passNamed(name string) (pass, bool) {
	for _, p := range passes() {
		if p.name == name {
			return p, true
		}
	}
	return pass{}, false
}

// nodeFunc may replace a node: it gets the source node and its definition with
// inputs and regions rewritten, and returns what stands for its outputs, or nil
// to keep def.
type nodeFunc func(w *graph.Rewriter, src graph.NodeID, def *graph.NodeDef) ([]graph.Ref, error)

// local makes a pass of a function on nodes that needs no context. Regions are
// rewritten once each, contained ones first.
func (o *optimiser) local(f nodeFunc) regionFunc {
	w := &graph.Rewriter{Src: o.g.Store, Dst: o.g.Store}
	w.Node = func(src graph.NodeID, def *graph.NodeDef) ([]graph.Ref, error) {
		refs, err := f(w, src, def)
		if err != nil {
			return nil, err
		}
		if refs == nil {
			id, err := o.g.AddFrom(src, *def)
			if err != nil {
				return nil, err
			}
			refs = outputs(id, len(def.Outs))
		}
		for _, r := range refs {
			o.cameFrom(r.Node, src)
		}
		return refs, nil
	}
	return w.Region
}

func outputs(id graph.NodeID, n int) []graph.Ref {
	out := make([]graph.Ref, n)
	for i := range out {
		out[i] = graph.Ref{Node: id, Out: int32(i)}
	}
	return out
}

// b is the builder of the store being optimised.
func (o *optimiser) b() graph.B { return graph.B{Store: o.g.Store} }

// substitute copies the body of region r with its parameters replaced by args
// and returns its results.
func (o *optimiser) substitute(r graph.RegionID, args []graph.Ref) ([]graph.Ref, error) {
	return o.substituteRefs(o.g.Results(r), args)
}

// substituteRefs does the same for some values of a region.
func (o *optimiser) substituteRefs(refs []graph.Ref, args []graph.Ref) ([]graph.Ref, error) {
	env := map[graph.Ref]graph.Ref{}
	for _, n := range o.g.Reach(refs) {
		if i, ok := paramIndex(o.g.Store, n); ok {
			env[graph.Ref{Node: n}] = args[i]
		}
	}
	w := &graph.Rewriter{Src: o.g.Store, Dst: o.g.Store}
	w.Node = func(src graph.NodeID, def *graph.NodeDef) ([]graph.Ref, error) {
		def.Regions = o.g.Regions(src) // contained regions are closed: nothing in them changes
		id, err := o.g.AddFrom(src, *def)
		if err != nil {
			return nil, err
		}
		o.cameFrom(id, src)
		return outputs(id, len(def.Outs)), nil
	}
	return w.Refs(refs, env)
}
