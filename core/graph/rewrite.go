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
	results, err := w.Refs(w.Src.Results(r), map[Ref]Ref{})
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
	for _, n := range w.Src.reach(roots) {
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
	w := &Rewriter{Src: g.Store, Dst: out.Store, Type: types.Type.Erased}
	for _, x := range g.Exports {
		r, err := w.Region(x.Region)
		if err != nil {
			return nil, fmt.Errorf("export %q: erasing memory spaces: %w", x.Name, err)
		}
		x.Region, x.Optimised, x.OptBound = r, None, nil
		x.Bound = append([]Bound{}, x.Bound...)
		for i := range x.Bound {
			x.Bound[i].Type = x.Bound[i].Type.Erased()
		}
		out.Exports = append(out.Exports, x)
	}
	return out, nil
}
