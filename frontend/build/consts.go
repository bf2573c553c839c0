package build

import (
	"errors"
	"fmt"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

// leafConst is one tensor of a constant. Its identity, not its content, decides
// which parameter of a region it is bound to: a region must not change because
// two weights happen to be equal.
type leafConst struct {
	typ  types.Type
	data []byte
}

func newLeaf(t types.Type, data []byte) *leafConst {
	c := &leafConst{t, append([]byte{}, data...)}
	graph.Canonicalise(t.DType, c.data)
	return c
}

// constVal is a constant's value: a leaf or components.
type constVal struct {
	leaf   *leafConst
	elems  []*constVal
	failed bool
}

// everyConst evaluates the constants that nothing used, for their mistakes, and
// reads what they embed.
func (bd *builder) everyConst(p *check.Program) {
	for _, m := range p.Modules {
		for _, c := range m.Consts {
			bd.constValue(c)
		}
	}
}

// constValue evaluates a constant once.
func (bd *builder) constValue(c *check.Const) *constVal {
	if v, ok := bd.consts[c]; ok {
		return v
	}
	v := &constVal{failed: true}
	bd.consts[c] = v
	if c.Type.IsBad() {
		return v
	}
	t, ok := bd.constType(c)
	if !ok {
		return v
	}
	if c.Embed != nil {
		*v = *bd.embed(c, c.Type, t, c.Embed.Array)
	} else {
		*v = *bd.evaluate(c)
	}
	return v
}

func (bd *builder) constType(c *check.Const) (t types.Type, ok bool) {
	f := &fn{builder: bd, in: &instance{}}
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(stop); !ours {
				panic(r)
			}
			ok = false
		}
	}()
	return f.typ(c.Type, c.At), true
}

// embed reads the arrays of a constant: a tensor is one array, the fields of a
// struct the arrays name.field.
func (bd *builder) embed(c *check.Const, ct *check.Type, t types.Type, array string) *constVal {
	if t.Kind == types.KindTuple {
		v := &constVal{}
		for i, ft := range ct.Fields() {
			name := fmt.Sprint(i)
			if ct.Kind == check.StructKind {
				name = ct.Struct.Fields[i].Name
			}
			if array != "" {
				name = array + "." + name
			}
			e := bd.embed(c, ft, t.Elems[i], name)
			v.failed = v.failed || e.failed
			v.elems = append(v.elems, e)
		}
		return v
	}
	what := c.Embed.File
	if array != "" {
		what += ", array " + array
	}
	if bd.opt.Embed == nil {
		bd.errorf(diag.EmbedRead, c.Embed.At, "%s cannot be read: no files are at hand here", what)
		return &constVal{failed: true}
	}
	got, data, err := bd.opt.Embed(c.Embed.File, array)
	if err != nil {
		bd.errorf(diag.EmbedRead, c.Embed.At, "%s cannot be read", what).Notef("%v", err)
		return &constVal{failed: true}
	}
	if !got.Equal(t) || int64(len(data)) != t.NumBytes() {
		bd.errorf(diag.EmbedType, c.Embed.At, "%s is %s, the constant %s", what, got, t).Related(c.At, "declared here")
		return &constVal{failed: true}
	}
	return &constVal{leaf: newLeaf(t, data)}
}

// evaluate computes a constant by building its expression and interpreting it.
func (bd *builder) evaluate(c *check.Const) *constVal {
	in := &instance{dims: map[*check.Atom]int64{}}
	bd.region(in, c.Name, nil, c.Value, &check.Type{Kind: check.StructKind, Struct: &check.Struct{}})
	if in.failed {
		return &constVal{failed: true}
	}
	args := make([]interp.Value, len(in.bound))
	for i, b := range in.bound {
		args[i] = interp.Value{Type: b.typ, Data: b.data}
	}
	out, err := bd.eval.EvalRegion(bd.ctx, in.region, args)
	switch {
	case errors.Is(err, interp.ErrLimit):
		bd.errorf(diag.BuildLimit, c.Value.Span(), "the value of `%s` takes too much to compute", c.Name).
			Notef("a constant may take %d steps and %d bytes", evalSteps, evalBytes)
		return &constVal{failed: true}
	case err != nil:
		if bd.ctx.Err() == nil {
			bd.errorf(diag.BuildLimit, c.Value.Span(), "the value of `%s` cannot be computed: %v", c.Name, err)
		}
		return &constVal{failed: true}
	}
	if code := op.TrapKind(out[1].Bits(0)); code != op.TrapNone {
		bd.errorf(diag.ConstTrap, c.Value.Span(), "computing the value of `%s` traps: %s", c.Name, code)
		return &constVal{failed: true}
	}
	return fromValue(out[0])
}

func fromValue(v interp.Value) *constVal {
	if v.Type.Kind != types.KindTuple {
		return &constVal{leaf: newLeaf(v.Type, v.Data)}
	}
	out := &constVal{}
	for _, e := range v.Elems {
		out.elems = append(out.elems, fromValue(e))
	}
	return out
}

// constant is a constant's value in the current frame.
func (f *fn) constant(c *check.Const) value {
	v := f.constValue(c)
	if v.failed {
		panic(stop{})
	}
	return f.constLeaves(v)
}

func (f *fn) constLeaves(v *constVal) value {
	if v.leaf == nil {
		out := value{fr: f.fr, agg: true}
		for _, e := range v.elems {
			out.elems = append(out.elems, f.constLeaves(e))
		}
		return out
	}
	if len(v.leaf.data) <= op.MaxRegionConst {
		return f.leaf(f.b.Const(v.leaf.typ, v.leaf.data))
	}
	return value{fr: f.fr, big: v.leaf}
}

// bigConst is a constant that enters the function as a trailing parameter.
func (f *fn) bigConst(c *leafConst) graph.Ref {
	root := f.fr
	for root.parent != nil {
		root = root.parent
	}
	r, ok := root.roots[c]
	if !ok {
		r = f.b.Param(len(root.params)+len(f.in.bound), c.typ)
		root.roots[c] = r
		f.in.bound = append(f.in.bound, c)
		root.caps.types = append(root.caps.types, c.typ)
	}
	return f.use(f.fr, value{fr: root, ref: r})
}
