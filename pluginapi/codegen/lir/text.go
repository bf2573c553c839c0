package lir

import (
	"fmt"
	"strings"
)

// String is the text form of f: stable, for dumps and golden tests.
func (f *Func) String() string {
	p := &printer{f: f}
	fmt.Fprintf(&p.b, "func %s(tile v%d)\n", f.Name, f.Tile)
	for i, x := range f.Bufs {
		fmt.Fprintf(&p.b, "  buf%d = %v[%d]+%d, %d bytes\n", i, x.Kind, x.Index, x.Offset, x.Bytes)
	}
	p.block(f.Body, 1)
	return p.b.String()
}

type printer struct {
	f *Func
	b strings.Builder
}

func (p *printer) values(vs []Value) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = fmt.Sprintf("v%d", v)
	}
	return strings.Join(out, ", ")
}

func (p *printer) block(b *Block, depth int) {
	pad := strings.Repeat("  ", depth)
	if len(b.Params) > 0 {
		fmt.Fprintf(&p.b, "%s(%s)\n", pad, p.values(b.Params))
	}
	for i := range b.Stmts {
		p.stmt(&b.Stmts[i], depth)
	}
	if len(b.Yield) > 0 {
		fmt.Fprintf(&p.b, "%syield %s\n", pad, p.values(b.Yield))
	}
}

func (p *printer) stmt(s *Stmt, depth int) {
	p.b.WriteString(strings.Repeat("  ", depth))
	if len(s.Results) > 0 {
		p.b.WriteString(p.values(s.Results) + " = ")
	}
	fmt.Fprintf(&p.b, "%v %v", s.Op, s.Type)
	if len(s.Args) > 0 {
		p.b.WriteString(" " + p.values(s.Args))
	}
	switch s.Op {
	case Load, Store, MLoad, MStore, Gather, Scatter:
		fmt.Fprintf(&p.b, " m%v buf%d", s.Mem, s.Addr.Buf)
		if s.Addr.Index != NoValue {
			fmt.Fprintf(&p.b, "+v%d*%d", s.Addr.Index, s.Addr.Scale)
		}
		fmt.Fprintf(&p.b, "%+d", s.Addr.Disp)
		if s.Op == Gather || s.Op == Scatter {
			fmt.Fprintf(&p.b, " stride %d", s.Imm)
		}
	case Const:
		fmt.Fprintf(&p.b, " %#x", uint64(s.Imm))
	case Extract, LaneDown, Zip, For:
		fmt.Fprintf(&p.b, " %d", s.Imm)
	}
	if s.Grain > 0 {
		fmt.Fprintf(&p.b, " grain=%d", s.Grain)
	}
	fmt.Fprintf(&p.b, " ;n%d\n", s.Node)
	names := map[Op][]string{For: {"body"}, While: {"cond", "body"}, If: {"then", "else"}}[s.Op]
	for i, b := range s.Blocks {
		fmt.Fprintf(&p.b, "%s%s:\n", strings.Repeat("  ", depth), names[i])
		p.block(b, depth+1)
	}
}
