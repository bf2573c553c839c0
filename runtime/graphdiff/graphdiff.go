// Package graphdiff says how two programs differ: which nodes, by digest, only one
// of them has, and where the difference starts.
//
// A node's digest covers everything below it, so a changed constant changes
// exactly the nodes above it. Compare walks both graphs down from equally named
// exports; where two nodes agree in opcode, attributes, types and number of inputs
// the difference lies below, otherwise the pair is a cause. What must hold: the
// lists depend only on the two graphs, never on map order; equal digests are never
// descended into, and a pair of nodes is visited once.
package graphdiff

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

// Node is a node that only one of the graphs has.
type Node struct {
	Digest digest.D
	Text   string // operation, attributes and type
	Spans  []Place
}

// Place is where a node was written, if its graph says so.
type Place struct {
	File       string
	Start, End int
}

// Cause is where a difference starts. Old or New is nil where only one graph has
// something; a cause that is no node (a name, a blob) has neither.
type Cause struct {
	Entry    string
	Reason   string
	Old, New *Node
}

// Diff is the difference between an old and a new graph.
type Diff struct {
	Old, New       digest.D // fingerprints
	Removed, Added []Node   // in the order of the graph that has them
	Common         int      // nodes both have
	Causes         []Cause
}

// Same reports whether the two are the same program.
func (d *Diff) Same() bool { return d.Old == d.New }

// Compare compares the source graphs of a and b.
func Compare(a, b *graph.Graph) (*Diff, error) {
	d := &Diff{}
	var err error
	if d.Old, err = a.Fingerprint(); err != nil {
		return nil, err
	}
	if d.New, err = b.Fingerprint(); err != nil {
		return nil, err
	}
	x, y := Nodes(a), Nodes(b)
	d.Removed, d.Common = only(a, x, y)
	d.Added, _ = only(b, y, x)
	if d.Same() {
		return d, nil
	}
	c := &comparer{a: a, b: b, seen: map[[2]graph.NodeID]bool{}, diff: d}
	c.exports()
	return d, nil
}

// Nodes maps the digest of every node that the exports of g reach, at any depth
// of regions, to its id.
func Nodes(g *graph.Graph) map[digest.D]graph.NodeID {
	out := map[digest.D]graph.NodeID{}
	roots := make([]graph.RegionID, len(g.Exports))
	for i := range g.Exports {
		roots[i] = g.Exports[i].Region
	}
	for _, r := range g.RegionsUnder(roots...) {
		for _, n := range g.Order(r) {
			out[g.Digest(n)] = n
		}
	}
	return out
}

// only lists the nodes of mine that theirs lacks, in topological order, and
// counts the shared ones.
func only(g *graph.Graph, mine, theirs map[digest.D]graph.NodeID) (list []Node, common int) {
	ids := []graph.NodeID{}
	for d, n := range mine {
		if _, both := theirs[d]; both {
			common++
		} else {
			ids = append(ids, n)
		}
	}
	slices.Sort(ids)
	list = make([]Node, len(ids))
	for i, n := range ids {
		list[i] = describe(g, n)
	}
	return list, common
}

func describe(g *graph.Graph, n graph.NodeID) Node {
	out := Node{Digest: g.Digest(n), Text: g.NodeText(n)}
	for _, s := range g.Prov.Spans[n] {
		if s.File >= 0 && int(s.File) < len(g.Prov.Files) {
			out.Spans = append(out.Spans, Place{g.Prov.Files[s.File], int(s.Start), int(s.End)})
		}
	}
	return out
}

type comparer struct {
	a, b *graph.Graph
	seen map[[2]graph.NodeID]bool
	diff *Diff
}

func (c *comparer) cause(entry, reason string, old, new *Node) {
	c.diff.Causes = append(c.diff.Causes, Cause{entry, reason, old, new})
}

func (c *comparer) exports() {
	for i := range c.a.Exports {
		x := &c.a.Exports[i]
		y, ok := c.b.Export(x.Name)
		if !ok {
			c.cause(x.Name, "the entry was removed", nil, nil)
			continue
		}
		c.ports(x.Name, "parameter", x.Params, y.Params)
		c.ports(x.Name, "result", x.Results, y.Results)
		c.bound(x, y)
		c.regions(x.Name, x.Region, y.Region)
	}
	for i := range c.b.Exports {
		if _, ok := c.a.Export(c.b.Exports[i].Name); !ok {
			c.cause(c.b.Exports[i].Name, "the entry was added", nil, nil)
		}
	}
}

func (c *comparer) ports(entry, what string, old, new []graph.Port) {
	if len(old) != len(new) {
		c.cause(entry, fmt.Sprintf("it has %d %ss instead of %d", len(new), what, len(old)), nil, nil)
		return
	}
	for i := range old {
		if old[i].Name != new[i].Name {
			c.cause(entry, fmt.Sprintf("%s %q is now called %q", what, old[i].Name, new[i].Name), nil, nil)
		}
		c.ports(entry, what+" "+new[i].Name+": field", old[i].Fields, new[i].Fields)
	}
}

func (c *comparer) bound(x, y *graph.Export) {
	if len(x.Bound) != len(y.Bound) {
		c.cause(x.Name, fmt.Sprintf("it has %d large constants instead of %d", len(y.Bound), len(x.Bound)), nil, nil)
		return
	}
	for i := range x.Bound {
		o, n := x.Bound[i], y.Bound[i]
		switch {
		case !o.Type.Equal(n.Type):
			c.cause(x.Name, fmt.Sprintf("large constant %d is %v instead of %v", i, n.Type, o.Type), nil, nil)
		case o.Blob != n.Blob:
			c.cause(x.Name, fmt.Sprintf("large constant %d (%v) holds other numbers: blob %s instead of %s", i, o.Type, n.Blob.Short(), o.Blob.Short()), nil, nil)
		}
	}
}

func (c *comparer) regions(entry string, r, s graph.RegionID) {
	if c.a.RegionDigest(r) == c.b.RegionDigest(s) {
		return
	}
	p, q := c.a.ParamTypes(r), c.b.ParamTypes(s)
	if len(p) != len(q) {
		c.cause(entry, fmt.Sprintf("a region takes %d values instead of %d", len(q), len(p)), nil, nil)
	} else {
		for i := range p {
			if !p[i].Equal(q[i]) {
				c.cause(entry, fmt.Sprintf("value %d of a region is %v instead of %v", i, q[i], p[i]), nil, nil)
			}
		}
	}
	x, y := c.a.Results(r), c.b.Results(s)
	if len(x) != len(y) {
		c.cause(entry, fmt.Sprintf("a region gives %d values instead of %d", len(y), len(x)), nil, nil)
		return
	}
	for i := range x {
		c.refs(entry, x[i], y[i])
	}
}

func (c *comparer) refs(entry string, x, y graph.Ref) {
	if x.Out != y.Out && c.a.Digest(x.Node) == c.b.Digest(y.Node) {
		c.cause(entry, fmt.Sprintf("output %d instead of %d is used of %s", y.Out, x.Out, c.b.NodeText(y.Node)), nil, nil)
		return
	}
	c.nodes(entry, x.Node, y.Node)
}

func (c *comparer) nodes(entry string, x, y graph.NodeID) {
	pair := [2]graph.NodeID{x, y}
	if c.a.Digest(x) == c.b.Digest(y) || c.seen[pair] {
		return
	}
	c.seen[pair] = true
	if why := c.unlike(x, y); why != "" {
		old, new := describe(c.a, x), describe(c.b, y)
		c.cause(entry, why, &old, &new)
		return
	}
	p, q := c.a.Ins(x), c.b.Ins(y)
	for i := range p {
		c.refs(entry, p[i], q[i])
	}
	r, s := c.a.Regions(x), c.b.Regions(y)
	for i := range r {
		c.regions(entry, r[i], s[i])
	}
}

// unlike says in what two nodes themselves differ, or "" if only what they use does.
func (c *comparer) unlike(x, y graph.NodeID) string {
	switch {
	case c.a.Op(x) != c.b.Op(y):
		return "another operation"
	case c.a.Version(x) != c.b.Version(y):
		return "another version of the operation"
	case !bytes.Equal(attrBytes(c.a, x), attrBytes(c.b, y)):
		return "other attributes"
	case len(c.a.Ins(x)) != len(c.b.Ins(y)) || len(c.a.Regions(x)) != len(c.b.Regions(y)):
		return "another number of operands"
	}
	p, q := c.a.OutTypes(x), c.b.OutTypes(y)
	if !slices.EqualFunc(p, q, func(t, u graph.TypeID) bool { return c.a.TypeDigest(t) == c.b.TypeDigest(u) }) &&
		len(c.a.Ins(x)) == 0 {
		return "another type"
	}
	return ""
}

func attrBytes(g *graph.Graph, n graph.NodeID) []byte {
	var e digest.Enc
	g.Attrs(n).Encode(&e)
	return e.B
}
