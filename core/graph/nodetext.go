package graph

import (
	"fmt"
	"strings"
)

// NodeText describes one node by itself, without its inputs: the operation, its
// attributes and its output types, spelt as in Text.
func (g *Graph) NodeText(n NodeID) string {
	p := &printer{g: g}
	var b strings.Builder
	fmt.Fprintf(&b, "%v", g.Op(n))
	for _, a := range g.Attrs(n) {
		fmt.Fprintf(&b, " %v=%s", a.Key, p.attr(n, a))
	}
	fmt.Fprintf(&b, " : %s", typeNames(g.typeList(g.OutTypes(n))))
	return b.String()
}
