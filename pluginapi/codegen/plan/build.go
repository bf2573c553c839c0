package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/lir/opt"
)

func build(ctx context.Context, g *graph.Graph, opts Options) (*Plan, error) {
	if refused := support(g, opts); len(refused) > 0 {
		r := refused[0]
		return nil, fmt.Errorf("entry %q: node %d (%v): %s (%d nodes refused)", r.Entry, r.Node, g.Op(r.Node), r.Reason, len(refused))
	}
	p := &Plan{Module: &lir.Module{}}
	nodes := map[graph.NodeID]int32{}
	p.Nodes = append(p.Nodes, [32]byte{})
	coded := map[int32]bool{}
	for i := range g.Exports {
		x := &g.Exports[i]
		if !wanted(opts, x.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := planEntry(g, x, p, &opts.Target, nodes, coded); err != nil {
			return nil, fmt.Errorf("entry %q: %w", x.Name, err)
		}
	}
	p.recordFolded(g, opts, nodes, coded)
	return p, nil
}

func wanted(opts Options, name string) bool {
	return len(opts.Entries) == 0 || slices.Contains(opts.Entries, name)
}

// entryRegion is the region to compile and the constants bound to it.
func entryRegion(x *graph.Export) (graph.RegionID, []graph.Bound) {
	if x.Optimised != graph.None {
		return x.Optimised, x.OptBound
	}
	return x.Region, x.Bound
}

func planEntry(g *graph.Graph, x *graph.Export, p *Plan, tgt *lir.Target, nodes map[graph.NodeID]int32, coded map[int32]bool) error {
	r, _ := entryRegion(x)
	e := &emitter{g: g, b: lir.NewFunc(fmt.Sprintf("entry%d", len(p.Entries))), tgt: tgt, mem: &arena{}, out: p,
		heavy: heavyTable(), nodeIx: nodes, consts: map[graph.NodeID]int{}, given: map[*alloc]int{}, lanes: 1, grain: cmp.Or(tgt.Grain, lir.DefaultGrain), memo: []memoTab{{}}}
	scratch := e.mem.get(maxVecBytes)
	scratch.refs = 1
	e.tailBuf = e.b.Buf(lir.Buf{Kind: lir.BufWork, Offset: scratch.off, Bytes: scratch.size})

	ent := Entry{Name: x.Name, Region: g.RegionDigest(r)}
	params := e.inputs(&ent, g.ParamTypes(r))
	places, outs := e.outputs(&ent, r)
	res := e.regionInto(r, params, false, places)
	trap := res[len(res)-1]
	for i, o := range allSlots(res[:len(res)-1]) {
		if o.kind != inMemory || o.view.buf != outs[i].buf {
			e.copyTo(o, outs[i])
		}
	}
	f := e.b.Finish(e.eval(trap, nil))
	lir.Optimise(f)
	opt.Run(f)
	if err := lir.Verify(f); err != nil {
		return err
	}
	parts, work := lir.Split(f, e.mem.high)
	for _, part := range parts {
		if err := lir.Verify(part.Func); err != nil {
			return err
		}
		lir.Walk(part.Func.Body, func(s *lir.Stmt) { coded[s.Node] = true })
		ent.Phases = append(ent.Phases, Phase{Func: len(p.Module.Funcs), Tiles: part.Tiles})
		p.Module.Funcs = append(p.Module.Funcs, part.Func)
	}
	ent.Work, ent.Flops = work, e.flops
	p.Entries = append(p.Entries, ent)
	return nil
}

// outputs declares a buffer for every flattened result leaf and offers those of
// tensor results to the nodes that compute them.
func (e *emitter) outputs(ent *Entry, r graph.RegionID) (map[graph.Ref]*view, []view) {
	places := map[graph.Ref]*view{}
	var outs []view
	refs := e.g.Results(r)
	for _, ref := range refs[:len(refs)-1] {
		t := e.g.Type(ref)
		for _, leaf := range t.Leaves(nil) {
			buf := e.b.Buf(lir.Buf{Kind: lir.BufOut, Index: len(outs), Bytes: leaf.NumBytes()})
			ent.Outputs = append(ent.Outputs, leaf)
			ent.Bytes += float64(leaf.NumBytes())
			outs = append(outs, view{buf: buf, strides: dense(leaf.Shape())})
		}
		if places[ref] == nil && t.IsTensor() && t.Rank() > 0 {
			v := outs[len(outs)-1]
			places[ref] = &v
		}
	}
	return places, outs
}

// inputs declares a buffer for every flattened parameter leaf.
func (e *emitter) inputs(ent *Entry, ts []types.Type) []operand {
	var leaves []operand
	for _, t := range flatten(ts) {
		buf := e.b.Buf(lir.Buf{Kind: lir.BufIn, Index: len(ent.Inputs), Bytes: t.NumBytes()})
		ent.Inputs = append(ent.Inputs, t)
		ent.Bytes += float64(t.NumBytes())
		o := operand{typ: t, kind: inMemory, view: view{buf: buf, strides: dense(t.Shape())}}
		if t.Rank() == 0 {
			o = operand{typ: t, kind: inScalar, val: e.loadAt(o.view, t.DType, fixed(0))}
		}
		leaves = append(leaves, o)
	}
	return rebuild(ts, leaves)
}

// recordFolded lists the nodes reachable from the entries that no statement
// carries: constants, parameters, views, and what was proved away.
func (p *Plan) recordFolded(g *graph.Graph, opts Options, nodes map[graph.NodeID]int32, coded map[int32]bool) {
	var roots []graph.RegionID
	for i := range g.Exports {
		if wanted(opts, g.Exports[i].Name) {
			r, _ := entryRegion(&g.Exports[i])
			roots = append(roots, r)
		}
	}
	seen := map[graph.NodeID]bool{}
	for _, r := range g.RegionsUnder(roots...) {
		for _, n := range g.Order(r) {
			if seen[n] {
				continue
			}
			seen[n] = true
			ix, ok := nodes[n]
			if !ok {
				ix = int32(len(p.Nodes))
				p.Nodes = append(p.Nodes, g.Digest(n))
				nodes[n] = ix
			}
			if !coded[ix] {
				p.Folded = append(p.Folded, uint32(ix))
			}
		}
	}
	slices.Sort(p.Folded)
}
