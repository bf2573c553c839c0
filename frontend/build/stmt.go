package build

import (
	"slices"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

func (f *fn) stmt(s check.Stmt) {
	first := graph.NodeID(f.b.NumNodes())
	outer := f.at
	switch s := s.(type) {
	case *check.Let:
		f.at = s.At
		f.bindPattern(&s.Pattern, f.lower(s.Value))
	case *check.Assign:
		f.at = s.At
		f.assign(s)
		f.record(first, f.env[s.Local], s.At)
	case *check.Assert:
		f.at = s.At
		c := f.tensor(s.Cond)
		code := f.b.TrapIf(op.TrapAssert, f.anyTrue(f.b.N(op.Not, nil, c)))
		f.join(code)
		f.record(first, f.leaf(code), s.At)
	case *check.Eval:
		f.lower(s.X)
	}
	f.at = outer
}

func (f *fn) bindPattern(p *check.Pattern, v value) {
	switch {
	case p == nil:
	case p.Local != nil:
		f.env[p.Local] = v
	default:
		for i, q := range p.Elems {
			if q != nil {
				f.bindPattern(q, f.field(v, i))
			}
		}
	}
}

// assign replaces a variable's value. The place is evaluated, and its indices
// are checked, before the value.
func (f *fn) assign(s *check.Assign) {
	f.env[s.Local] = f.replace(f.env[s.Local], s.Path, s)
}

func (f *fn) replace(v value, path []check.Place, s *check.Assign) value {
	if len(path) == 0 {
		if s.Op == check.Invalid {
			return f.lower(s.Value)
		}
		old := f.ref(v)
		return f.leaf(f.binary(s.Op, old, f.tensor(s.Value)))
	}
	step := path[0]
	if step.Args == nil {
		out := value{fr: f.fr, agg: true, elems: slices.Clone(v.elems)}
		out.elems[step.Field] = f.replace(v.elems[step.Field], path[1:], s)
		return out
	}
	x := f.ref(v)
	w := f.window(x, step.Args)
	t := f.typ(step.T, s.At)
	var r graph.Ref
	if s.Op == check.Invalid {
		r = f.tensor(s.Value)
	} else {
		old := f.read(x, w, t)
		r = f.binary(s.Op, old, f.tensor(s.Value))
	}
	return f.leaf(f.write(x, w, r))
}

// window is a part of a tensor: where it starts and how large it is per axis.
type window struct {
	starts []graph.Ref
	sizes  []int64
	empty  bool // an index into an axis of size 0: it traps, nothing is there
}

// window evaluates the indices of x[args], then checks them, left to right.
func (f *fn) window(x graph.Ref, args []check.IndexArg) window {
	t := f.b.Type(x)
	var w window
	type pending struct {
		start graph.Ref
		limit int64
	}
	var checks []pending
	zero := f.b.I64(0)
	axis := 0
	for _, a := range args {
		if a.Kind == check.IndexNew {
			continue
		}
		n := t.Dims[axis].Size
		axis++
		switch a.Kind {
		case check.IndexAll:
			w.starts, w.sizes = append(w.starts, zero), append(w.sizes, n)
		case check.IndexAt:
			s := f.b.Convert(f.tensor(a.Lo), types.I64) // a u64 beyond i64 is negative here, so out of range
			if v, ok := f.constInt(s); !ok || v < 0 || v >= n {
				checks = append(checks, pending{s, n})
			}
			w.starts, w.sizes = append(w.starts, s), append(w.sizes, 1)
			w.empty = w.empty || n == 0
		case check.IndexRange:
			size := f.dim(a.Size, a.At)
			s := zero
			if a.LoDim != nil || a.Lo == nil {
				lo := int64(0)
				if a.LoDim != nil {
					lo = f.dim(*a.LoDim, a.At)
				}
				if lo > n || size > n-lo {
					f.fail(diag.InstanceShape, a.At, "this slice is %d..%d of an axis of size %d here", lo, lo+size, n)
				}
				s = f.b.I64(lo)
			} else {
				if size > n {
					f.fail(diag.InstanceShape, a.At, "this slice has %d elements of an axis of size %d here", size, n)
				}
				s = f.tensor(a.Lo)
				if a.Hi != nil {
					f.lower(a.Hi)
				}
				checks = append(checks, pending{s, n - size + 1})
			}
			w.starts, w.sizes = append(w.starts, s), append(w.sizes, size)
		}
	}
	for _, c := range checks {
		low := f.b.Compare(op.LT, c.start, zero)
		high := f.b.Compare(op.GE, c.start, f.b.I64(c.limit))
		f.check(op.TrapIndex, f.b.N(op.Or, nil, low, high))
	}
	return w
}

// constInt is the value of an i64 constant.
func (f *fn) constInt(r graph.Ref) (int64, bool) {
	if f.b.Op(r.Node) != op.Const {
		return 0, false
	}
	b, err := f.b.ConstBytes(r.Node)
	if err != nil || len(b) != 8 {
		return 0, false
	}
	v := uint64(0)
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return int64(v), true
}

// read is the window of x in the shape of t.
func (f *fn) read(x graph.Ref, w window, t types.Type) graph.Ref {
	r := x
	if !slices.Equal(w.sizes, f.b.Type(x).Shape()) {
		r = f.b.Slice(x, w.sizes, w.starts...)
	}
	return f.reshape(r, t)
}

func (f *fn) reshape(x graph.Ref, t types.Type) graph.Ref {
	if f.b.Type(x).Equal(t) {
		return x
	}
	return f.b.Reshape(x, t.Shape()...)
}

// write is x with the window replaced by v.
func (f *fn) write(x graph.Ref, w window, v graph.Ref) graph.Ref {
	if w.empty {
		return x
	}
	t := f.b.Type(x)
	part := f.reshape(v, t.WithShape(w.sizes...))
	if slices.Equal(w.sizes, t.Shape()) {
		return part
	}
	return f.b.N(op.Update, nil, append([]graph.Ref{x, part}, w.starts...)...)
}
