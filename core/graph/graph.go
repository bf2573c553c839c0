package graph

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/types"
)

// Port names a parameter or result of an export and, for structs, its fields.
// The fields of a plain tuple are named "0", "1", ...
type Port struct {
	Name   string
	Fields []Port
}

// Bound is a constant over MaxRegionConst bytes, bound to a trailing parameter
// of an export's region.
type Bound struct {
	Type types.Type
	Blob digest.D
}

// Export is an entry of a graph. Its region's parameters are Params, then one
// per Bound; its results are Results, then the u32 trap code.
type Export struct {
	Name    string
	Params  []Port
	Results []Port
	Region  RegionID
	Bound   []Bound

	// Optimised is the mid-end's region for the same entry, or None, with the
	// constants bound to its trailing parameters.
	Optimised RegionID
	OptBound  []Bound
}

// Span is a place in a source file of Prov.Files, in byte offsets.
type Span struct {
	File       int32
	Start, End int32
}

// Prov says where nodes come from. It is never hashed.
type Prov struct {
	Files   []string            // paths relative to the package
	Spans   map[NodeID][]Span   // source nodes: where they were written
	Origins map[NodeID][]NodeID // optimised nodes: the source nodes they stand for
}

// Graph is a program: a store and its exported entries, ascending by name.
type Graph struct {
	*Store
	Exports []Export
	Prov    Prov
}

// New returns an empty graph over a new store.
func New() *Graph {
	return &Graph{Store: NewStore(), Prov: Prov{Spans: map[NodeID][]Span{}, Origins: map[NodeID][]NodeID{}}}
}

// Export returns the export named name.
func (g *Graph) Export(name string) (*Export, bool) {
	for i := range g.Exports {
		if g.Exports[i].Name == name {
			return &g.Exports[i], true
		}
	}
	return nil, false
}

// AddExport adds an entry, keeping exports ascending by name.
func (g *Graph) AddExport(x Export) error {
	i, found := slices.BinarySearchFunc(g.Exports, x.Name, func(e Export, n string) int {
		switch {
		case e.Name < n:
			return -1
		case e.Name > n:
			return 1
		}
		return 0
	})
	if found {
		return fmt.Errorf("export %q is declared twice", x.Name)
	}
	g.Exports = slices.Insert(g.Exports, i, x)
	return nil
}

// UserParams returns the types of x's own parameters, bound constants left out.
func (g *Graph) UserParams(x *Export) []types.Type { return g.ParamTypes(x.Region)[:len(x.Params)] }

// UserResults returns the types of x's results, the trap code left out.
func (g *Graph) UserResults(x *Export) []types.Type { return g.ResultTypes(x.Region)[:len(x.Results)] }

// Leaf is one flattened tensor of a port, with its dotted path.
type Leaf struct {
	Path string
	Type types.Type
}

// Leaves flattens ports to their tensors, left to right.
func Leaves(ports []Port, ts []types.Type) []Leaf {
	var out []Leaf
	var walk func(path string, p Port, t types.Type)
	walk = func(path string, p Port, t types.Type) {
		if t.Kind != types.KindTuple {
			out = append(out, Leaf{path, t})
			return
		}
		for i, ft := range t.Elems {
			f := Port{Name: fmt.Sprint(i)}
			if i < len(p.Fields) {
				f = p.Fields[i]
			}
			walk(path+"."+f.Name, f, ft)
		}
	}
	for i, p := range ports {
		walk(p.Name, p, ts[i])
	}
	return out
}

// ParamLeaves flattens x's own parameters.
func (g *Graph) ParamLeaves(x *Export) []Leaf { return Leaves(x.Params, g.UserParams(x)) }

// ResultLeaves flattens x's results, the trap code left out.
func (g *Graph) ResultLeaves(x *Export) []Leaf { return Leaves(x.Results, g.UserResults(x)) }
