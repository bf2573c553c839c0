package build

import (
	"maps"
	"slices"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

// value is what an expression or variable is: a reference of a frame, or the
// components of a tuple or struct, which stay apart as long as they can.
//
//	outer frame                       inner frame (an arm, a loop or map body)
//	  %5 = mul $0, %3   --- use --->    $2, and %5 becomes the body's input 2
type value struct {
	fr    *frame
	ref   graph.Ref
	agg   bool
	elems []value
	whole *graph.Ref // the tuple the components came from, in fr
	big   *leafConst // a constant that becomes a parameter where it is used
}

// frame is a region under construction. Its parameters are fixed ones, then one
// per value used from outside, in order of first use; frames that become
// regions of one node share that list.
type frame struct {
	parent *frame
	params []types.Type
	caps   *captures
	trap   graph.Ref // the code so far

	// roots are the big constants of a function's own frame.
	roots map[*leafConst]graph.Ref
}

type captures struct {
	index map[graph.Ref]int
	refs  []graph.Ref // in the parent frame
	types []types.Type
}

// fn builds one region tree: a function instance, a test or a constant.
type fn struct {
	*builder
	in   *instance
	name string
	fr   *frame
	env  map[*check.Local]value
	at   diag.Span
}

// stop is thrown to leave a function that is already reported as wrong.
type stop struct{}

// region builds the region of in; what goes wrong is reported and marked.
func (bd *builder) region(in *instance, name string, params []*check.Local, body check.Expr, result *check.Type) {
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(stop); !ours {
				panic(r)
			}
			in.failed = true
		}
	}()
	f := &fn{builder: bd, in: in, name: name, env: map[*check.Local]value{}, at: body.Span()}
	f.fr = &frame{trap: bd.b.NoTrap(), caps: &captures{index: map[graph.Ref]int{}}, roots: map[*leafConst]graph.Ref{}}
	for i, p := range params {
		t := f.typ(p.Type, p.At)
		f.fr.params = append(f.fr.params, t)
		f.env[p] = f.unpack(bd.b.Param(i, t))
	}
	v := f.lower(body)
	var results []graph.Ref
	if result.Kind == check.Tuple {
		for i := range result.Elems {
			results = append(results, f.pack(f.field(v, i)))
		}
	} else {
		results = []graph.Ref{f.pack(v)}
	}
	results = append(results, f.fr.trap)
	in.quiet = f.fr.trap == bd.b.NoTrap()
	in.region = f.close(f.fr, results)
	f.flush(body.Span())
}

// fail reports a problem of this instance and leaves it.
func (f *fn) fail(code diag.Code, at diag.Span, format string, args ...any) {
	d := f.errorf(code, at, format, args...)
	if f.in.fn != nil && len(f.in.fn.Dims) > 0 {
		d.Notef("in the instance %s", f.name)
	}
	panic(stop{})
}

// close makes the region of a frame.
func (f *fn) close(fr *frame, results []graph.Ref) graph.RegionID {
	params := append(append([]types.Type{}, fr.params...), fr.caps.types...)
	r := f.b.Region(params, results...)
	if f.b.RegionDepth(r) >= graph.MaxRegionDepth {
		f.fail(diag.BuildLimit, f.at, "calls, loops and parallel bodies nest more than %d deep", graph.MaxRegionDepth)
	}
	return r
}

// inner opens a frame with the given fixed parameters. Frames with the same
// caps become regions of one node.
func (f *fn) inner(caps *captures, params ...types.Type) *frame {
	return &frame{parent: f.fr, params: params, caps: caps, trap: f.b.NoTrap()}
}

func newCaptures() *captures { return &captures{index: map[graph.Ref]int{}} }

// within walks do in frame fr; assignments in it do not reach the outside.
func (f *fn) within(fr *frame, do func()) {
	outer, env := f.fr, f.env
	f.fr, f.env = fr, maps.Clone(env)
	do()
	f.fr, f.env = outer, env
}

// ref is the reference of a leaf in the current frame.
func (f *fn) ref(v value) graph.Ref {
	if v.big != nil {
		return f.bigConst(v.big)
	}
	return f.use(f.fr, v)
}

func (f *fn) use(fr *frame, v value) graph.Ref {
	if v.fr == fr || f.isConst(v.ref) {
		return v.ref
	}
	if fr.parent == nil {
		panic("BUG: a value of a frame that is not around")
	}
	outer := f.use(fr.parent, v)
	if f.isConst(outer) {
		return outer
	}
	i, ok := fr.caps.index[outer]
	if !ok {
		i = len(fr.caps.refs)
		fr.caps.index[outer] = i
		fr.caps.refs = append(fr.caps.refs, outer)
		fr.caps.types = append(fr.caps.types, f.b.Type(outer))
	}
	return f.b.Param(len(fr.params)+i, f.b.Type(outer))
}

// isConst reports references that mean the same in every region.
func (f *fn) isConst(r graph.Ref) bool {
	switch f.b.Op(r.Node) {
	case op.Const:
		return true
	case op.Broadcast:
		return f.b.Op(f.b.Ins(r.Node)[0].Node) == op.Const
	}
	return false
}

func (f *fn) leaf(r graph.Ref) value { return value{fr: f.fr, ref: r} }

// unpack takes a reference of the current frame apart.
func (f *fn) unpack(r graph.Ref) value {
	t := f.b.Type(r)
	if t.Kind != types.KindTuple {
		return f.leaf(r)
	}
	v := value{fr: f.fr, agg: true, whole: &r}
	for i := range t.Elems {
		v.elems = append(v.elems, f.unpack(f.b.N(op.Get, op.Attrs{op.Int(op.KIndex, int64(i))}, r)))
	}
	return v
}

// pack is v as one reference of the current frame.
func (f *fn) pack(v value) graph.Ref {
	if !v.agg {
		return f.ref(v)
	}
	if v.whole != nil && v.fr == f.fr {
		return *v.whole
	}
	ins := make([]graph.Ref, len(v.elems))
	for i, e := range v.elems {
		ins[i] = f.pack(e)
	}
	return f.b.N(op.Tuple, nil, ins...)
}

func (f *fn) field(v value, i int) value {
	if !v.agg {
		panic("BUG: component of a value that has none")
	}
	return v.elems[i]
}

// leaves appends the references of v, left to right.
func (f *fn) leaves(v value, dst []graph.Ref) []graph.Ref {
	if !v.agg {
		return append(dst, f.ref(v))
	}
	for _, e := range v.elems {
		dst = f.leaves(e, dst)
	}
	return dst
}

// rebuild makes a value of v's form from leaves of the current frame; it
// returns those left over.
func (f *fn) rebuild(v value, refs []graph.Ref) (value, []graph.Ref) {
	if !v.agg {
		return f.leaf(refs[0]), refs[1:]
	}
	out := value{fr: f.fr, agg: true, elems: make([]value, len(v.elems))}
	for i, e := range v.elems {
		out.elems[i], refs = f.rebuild(e, refs)
	}
	return out, refs
}

// flush gives the nodes that have no place yet the place at.
func (f *fn) flush(at diag.Span) {
	first := f.recorded
	f.recorded = graph.NodeID(f.b.NumNodes())
	file, ok := f.files[at.File]
	if !ok {
		return
	}
	s := graph.Span{File: file, Start: int32(at.Start), End: int32(at.End)}
	for n := first; n < f.recorded; n++ {
		if f.b.Op(n) != op.Param {
			f.g.Prov.Spans[n] = append(f.g.Prov.Spans[n], s)
		}
	}
}

// record notes where the nodes made since first came from, and that v, which
// may be older, is also the value of what stands at at.
func (f *fn) record(first graph.NodeID, v value, at diag.Span) {
	f.flush(at)
	file, ok := f.files[at.File]
	if !ok || v.agg || v.big != nil || v.fr != f.fr || v.ref.Node >= first || f.b.Op(v.ref.Node) == op.Param {
		return
	}
	s := graph.Span{File: file, Start: int32(at.Start), End: int32(at.End)}
	have := f.g.Prov.Spans[v.ref.Node]
	if len(have) < maxSpans && !slices.Contains(have, s) {
		f.g.Prov.Spans[v.ref.Node] = append(have, s)
	}
}

// maxSpans bounds the places kept of one shared node.
const maxSpans = 8

// typ is a type with this instance's dimensions.
func (f *fn) typ(t *check.Type, at diag.Span) types.Type {
	out := f.plainType(t, at)
	if err := out.Check(); err != nil {
		f.fail(diag.InstanceShape, at, "%s is not possible: %v", out, err)
	}
	return out
}

func (f *fn) plainType(t *check.Type, at diag.Span) types.Type {
	switch t.Kind {
	case check.Tensor:
		out := types.Scalar(t.DType)
		for _, d := range t.Dims {
			out.Dims = append(out.Dims, types.Num(f.dim(d, at)))
		}
		return out
	case check.Tuple, check.StructKind:
		out := types.Type{Kind: types.KindTuple}
		for _, e := range t.Fields() {
			out.Elems = append(out.Elems, f.plainType(e, at))
		}
		return out
	}
	panic("BUG: a type that was not accepted reached the graph builder")
}

// dim is a dimension of this instance.
func (f *fn) dim(d check.Dim, at diag.Span) int64 {
	v, ok := d.Eval(f.in.dims)
	switch {
	case !ok:
		f.fail(diag.InstanceShape, at, "the dimension %s has no value here", d)
	case v < 0:
		f.fail(diag.InstanceShape, at, "the dimension %s is %d here", d, v)
	}
	return v
}
