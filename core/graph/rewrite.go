package graph

import (
	"fmt"

	"github.com/kera-lang/kera/core/types"
)

// Rewriter copies regions of one store into another (or the same) store, node
// by node in topological order. A nil hook copies as is.
type Rewriter struct {
	Src, Dst *Store

	// Type, if set, maps every type.
	Type func(types.Type) types.Type

	// Node, if set, may replace a node: it gets the source node and its
	// definition with inputs and regions already mapped, and returns the
	// references that stand for the node's outputs, or nil to insert def as is.
	Node func(src NodeID, def *NodeDef) ([]Ref, error)

	regions map[RegionID]RegionID
}

func (w *Rewriter) typ(t types.Type) types.Type {
	if w.Type != nil {
		return w.Type(t)
	}
	return t
}

// Def returns the definition of n with its inputs and regions as they are in s.
func (s *Store) Def(n NodeID) NodeDef {
	return NodeDef{Op: s.Op(n), Outs: s.typeList(s.OutTypes(n)), Ins: s.Ins(n), Attrs: s.Attrs(n), Regions: s.Regions(n)}
}

// Region returns the copy of r in Dst.
func (w *Rewriter) Region(r RegionID) (RegionID, error) {
	if c, ok := w.regions[r]; ok {
		return c, nil
	}
	params := w.Src.ParamTypes(r)
	for i := range params {
		params[i] = w.typ(params[i])
	}
	order := w.Src.Order(r)
	env := make(map[Ref]Ref, len(order))
	results, err := w.refs(order, w.Src.Results(r), env)
	if err != nil {
		return None, err
	}
	c, err := w.Dst.AddRegion(params, results)
	if err != nil {
		return None, err
	}
	if w.regions == nil {
		w.regions = map[RegionID]RegionID{}
	}
	w.regions[r] = c
	return c, nil
}

// Refs copies everything that roots reach and returns what they became. Env
// holds what references already stand for, and receives the rest.
func (w *Rewriter) Refs(roots []Ref, env map[Ref]Ref) ([]Ref, error) {
	return w.refs(w.Src.reach(roots), roots, env)
}

// refs is Refs where the caller has the nodes that roots reach.
func (w *Rewriter) refs(order []NodeID, roots []Ref, env map[Ref]Ref) ([]Ref, error) {
	for _, n := range order {
		if err := w.node(n, env); err != nil {
			return nil, fmt.Errorf("node %d: %w", n, err)
		}
	}
	out := make([]Ref, len(roots))
	for i, r := range roots {
		out[i] = env[r]
	}
	return out, nil
}

func (w *Rewriter) node(n NodeID, env map[Ref]Ref) error {
	if _, ok := env[Ref{n, 0}]; ok && w.Src.NumOuts(n) > 0 {
		return nil
	}
	def := w.Src.Def(n)
	for i := range def.Outs {
		def.Outs[i] = w.typ(def.Outs[i])
	}
	ins := make([]Ref, len(def.Ins))
	for i, r := range def.Ins {
		m, ok := env[r]
		if !ok {
			return fmt.Errorf("input %d was not mapped", i)
		}
		ins[i] = m
	}
	def.Ins = ins
	regs := make([]RegionID, len(def.Regions))
	for i, r := range def.Regions {
		c, err := w.Region(r)
		if err != nil {
			return err
		}
		regs[i] = c
	}
	def.Regions = regs
	if w.Node != nil {
		refs, err := w.Node(n, &def)
		if err != nil {
			return err
		}
		if refs != nil {
			for i, r := range refs {
				env[Ref{n, int32(i)}] = r
			}
			return nil
		}
	}
	for _, t := range def.Outs {
		w.Dst.InternType(t)
	}
	id, err := w.Dst.Add(def)
	if err != nil {
		return err
	}
	for i := range def.Outs {
		env[Ref{n, int32(i)}] = Ref{id, int32(i)}
	}
	return nil
}

// CopyBlobs makes every blob of src known to dst, sharing the bytes.
func CopyBlobs(dst, src *Store) {
	if dst == src {
		return
	}
	for _, d := range src.blobSeq {
		dst.putBlob(d, src.blobs[d])
	}
}

// Erased returns g with every memory space set to host; g itself if it names
// no other.
func (g *Graph) Erased() (*Graph, error) {
	plain := true
	for _, t := range g.types {
		if !t.Erased().Equal(t) {
			plain = false
			break
		}
	}
	if plain {
		return g, nil
	}
	out := New()
	CopyBlobs(out.Store, g.Store)
	e := &eraser{src: g.Store, dst: out.Store, node: make([]NodeID, g.NumNodes()), region: make([]RegionID, g.NumRegions())}
	if err := e.all(); err != nil {
		return nil, fmt.Errorf("erasing memory spaces: %w", err)
	}
	for _, x := range g.Exports {
		r := e.region[x.Region]
		x.Region, x.Optimised, x.OptBound = r, None, nil
		x.Bound = append([]Bound{}, x.Bound...)
		for i := range x.Bound {
			x.Bound[i].Type = x.Bound[i].Type.Erased()
		}
		out.Exports = append(out.Exports, x)
	}
	return out, nil
}

// eraser copies a whole store with spaces erased, each node and region once.
type eraser struct {
	src, dst *Store
	node     []NodeID
	region   []RegionID
	done     RegionID // regions before it are copied
}

func (e *eraser) all() error {
	for i := range e.node {
		def := e.src.Def(NodeID(i))
		for k := range def.Outs {
			def.Outs[k] = def.Outs[k].Erased()
		}
		def.Ins = e.refs(def.Ins)
		def.Regions = append([]RegionID{}, def.Regions...)
		for k, r := range def.Regions {
			if err := e.until(r + 1); err != nil {
				return err
			}
			def.Regions[k] = e.region[r]
		}
		id, err := e.dst.Add(def)
		if err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		e.node[i] = id
	}
	return e.until(RegionID(len(e.region)))
}

// until copies the regions before r, whose results are copied already: regions
// are in the order of their insertion, and all of these precede some node.
func (e *eraser) until(r RegionID) error {
	for ; e.done < r; e.done++ {
		ps := e.src.ParamTypes(e.done)
		for i := range ps {
			ps[i] = ps[i].Erased()
		}
		c, err := e.dst.AddRegion(ps, e.refs(e.src.Results(e.done)))
		if err != nil {
			return fmt.Errorf("region %d: %w", e.done, err)
		}
		e.region[e.done] = c
	}
	return nil
}

func (e *eraser) refs(rs []Ref) []Ref {
	out := make([]Ref, len(rs))
	for i, r := range rs {
		out[i] = Ref{e.node[r.Node], r.Out}
	}
	return out
}
