package graph

import (
	"fmt"
	"io"
	"strings"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Text writes the text form of g's source graph, or of its optimised graph:
// one entry after another, each region once, contained ones before.
func (g *Graph) Text(w io.Writer, optimised bool) error {
	p := &printer{g: g, names: map[RegionID]string{}}
	for i := range g.Exports {
		x := &g.Exports[i]
		r, bound := x.Region, x.Bound
		if optimised {
			r, bound = x.Optimised, x.OptBound
		}
		if r == None {
			return fmt.Errorf("export %q has no optimised region", x.Name)
		}
		p.regions(r)
		fmt.Fprintf(&p.b, "export %s = %s", x.Name, p.names[r])
		for j, b := range bound {
			fmt.Fprintf(&p.b, " bind param(%d) : %v = blob %s", len(x.Params)+j, b.Type, b.Blob.Short())
		}
		p.b.WriteString("\n\n")
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct {
	g     *Graph
	b     strings.Builder
	names map[RegionID]string
}

func (p *printer) regions(root RegionID) {
	for _, r := range p.g.RegionsUnder(root) {
		if _, ok := p.names[r]; ok {
			continue
		}
		p.names[r] = fmt.Sprintf("@r%d", len(p.names))
		p.region(r)
	}
}

func (p *printer) region(r RegionID) {
	fmt.Fprintf(&p.b, "region %s(%s) # %s\n", p.names[r], typeNames(p.g.ParamTypes(r)), p.g.RegionDigest(r).Short())
	ids := map[NodeID]int{}
	for _, n := range p.g.Order(r) {
		if p.g.Op(n) == op.Param {
			continue
		}
		ids[n] = len(ids)
		p.node(ids, n)
	}
	p.b.WriteString("  return")
	for i, x := range p.g.Results(r) {
		if i > 0 {
			p.b.WriteByte(',')
		}
		p.b.WriteByte(' ')
		p.b.WriteString(p.ref(ids, x))
	}
	p.b.WriteString("\n\n")
}

func (p *printer) ref(ids map[NodeID]int, r Ref) string {
	if p.g.Op(r.Node) == op.Param {
		return fmt.Sprintf("$%d", p.g.Attrs(r.Node).Int(op.KIndex))
	}
	if p.g.NumOuts(r.Node) == 1 {
		return fmt.Sprintf("%%%d", ids[r.Node])
	}
	return fmt.Sprintf("%%%d.%d", ids[r.Node], r.Out)
}

func (p *printer) node(ids map[NodeID]int, n NodeID) {
	fmt.Fprintf(&p.b, "  %%%d = %v", ids[n], p.g.Op(n))
	for i, in := range p.g.Ins(n) {
		if i > 0 {
			p.b.WriteByte(',')
		}
		p.b.WriteByte(' ')
		p.b.WriteString(p.ref(ids, in))
	}
	for _, a := range p.g.Attrs(n) {
		fmt.Fprintf(&p.b, " %v=%s", a.Key, p.attr(n, a))
	}
	for _, r := range p.g.Regions(n) {
		p.b.WriteByte(' ')
		p.b.WriteString(p.names[r])
	}
	fmt.Fprintf(&p.b, " : %s\n", typeNames(p.g.typeList(p.g.OutTypes(n))))
}

func (p *printer) attr(n NodeID, a op.Attr) string {
	switch {
	case a.Kind == op.AInt && a.Key == op.KKind:
		return kindName(p.g.Op(n), a.Int)
	case a.Kind == op.AInt && a.Key == op.KAcc:
		return op.Acc(a.Int).String()
	case a.Kind == op.AInt && a.Key == op.KTo:
		return types.DType(a.Int).String()
	case a.Kind == op.AInt:
		return fmt.Sprint(a.Int)
	case a.Kind == op.AInts:
		return strings.ReplaceAll(fmt.Sprint(a.Ints), " ", ",")
	case a.Kind == op.ABytes:
		return fmt.Sprintf("0x%x", a.Bytes)
	}
	return "blob:" + a.Blob.Short()
}

func kindName(c op.Code, v int64) string {
	switch c {
	case op.Reduce:
		return op.ReduceKind(v).String()
	case op.Compare:
		return op.CompareKind(v).String()
	}
	return strings.ReplaceAll(op.TrapKind(v).String(), " ", "_")
}

func typeNames(ts []types.Type) string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.String()
	}
	return strings.Join(out, ", ")
}
