package midend

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// simplifyPass applies identities that hold for every bit pattern and folds
// nodes whose inputs are constants by asking the interpreter. Float identities
// are the exact ones only: x+0 is not x for -0, x-0 and x*1 are.
func simplifyPass(o *optimiser, ctx context.Context) regionFunc {
	s := &simplifier{optimiser: o, ctx: ctx}
	return o.local(func(_ *graph.Rewriter, _ graph.NodeID, def *graph.NodeDef) ([]graph.Ref, error) {
		if r, ok := s.identity(def); ok {
			return []graph.Ref{r}, nil
		}
		if refs, ok := s.structure(def); ok {
			return refs, nil
		}
		return s.fold(def)
	})
}

type simplifier struct {
	*optimiser
	ctx context.Context
}

// scalarBits returns the bits of a constant scalar, or of a broadcast of one.
func (o *optimiser) scalarBits(r graph.Ref) (uint64, types.DType, bool) {
	if o.g.Op(r.Node) == op.Broadcast {
		in := o.g.Ins(r.Node)[0]
		if o.g.Type(in).Rank() != 0 {
			return 0, 0, false
		}
		return o.scalarBits(in)
	}
	if o.g.Op(r.Node) != op.Const || o.g.Type(r).Rank() != 0 {
		return 0, 0, false
	}
	b, err := o.g.ConstBytes(r.Node)
	if err != nil {
		return 0, 0, false
	}
	var buf [8]byte
	copy(buf[:], b)
	return binary.LittleEndian.Uint64(buf[:]), o.g.Type(r).DType, true
}

// is reports whether r is uniformly the number v.
func (s *simplifier) is(r graph.Ref, v int64) bool {
	bits, d, ok := s.scalarBits(r)
	if !ok {
		return false
	}
	switch d {
	case types.F32:
		return uint32(bits) == math.Float32bits(float32(v))
	case types.F64:
		return bits == math.Float64bits(float64(v))
	}
	mask := uint64(math.MaxUint64) >> (64 - 8*d.Size())
	return bits == uint64(v)&mask
}

// negZero reports whether r is uniformly -0.
func (s *simplifier) negZero(r graph.Ref) bool {
	bits, d, ok := s.scalarBits(r)
	return ok && (d == types.F32 && uint32(bits) == 0x80000000 || d == types.F64 && bits == 1<<63)
}

// identity returns the existing value that def equals.
func (s *simplifier) identity(def *graph.NodeDef) (graph.Ref, bool) {
	in := def.Ins
	none := graph.Ref{}
	keep := func(ok bool, r graph.Ref) (graph.Ref, bool) {
		if ok {
			return r, true
		}
		return none, false
	}
	switch def.Op {
	case op.Add, op.Or, op.Xor:
		isFloat := def.Op == op.Add && s.g.Type(in[0]).DType.IsFloat()
		for i := range 2 {
			if !isFloat && s.is(in[i], 0) || isFloat && s.negZero(in[i]) {
				return in[1-i], true
			}
		}
		return keep(def.Op == op.Or && in[0] == in[1], in[0])
	case op.Sub, op.Shl, op.Shr:
		return keep(s.is(in[1], 0), in[0])
	case op.Mul:
		for i := range 2 {
			if s.is(in[i], 1) {
				return in[1-i], true
			}
			if !s.g.Type(in[0]).DType.IsFloat() && s.is(in[i], 0) {
				return in[i], true
			}
		}
	case op.Div:
		return keep(s.is(in[1], 1), in[0])
	case op.And:
		for i := range 2 {
			if s.is(in[i], 0) {
				return in[i], true
			}
			if s.is(in[i], -1) || s.g.Type(in[0]).DType == types.Bool && s.is(in[i], 1) {
				return in[1-i], true
			}
		}
		return keep(in[0] == in[1], in[0])
	case op.Min, op.Max:
		return keep(in[0] == in[1], in[0])
	case op.Neg, op.Not:
		return keep(s.g.Op(in[0].Node) == def.Op, s.inputOf(in[0], 0))
	case op.Select:
		switch {
		case in[1] == in[2], s.is(in[0], 1):
			return in[1], true
		case s.is(in[0], 0):
			return in[2], true
		}
	case op.TrapJoin:
		switch {
		case s.is(in[0], 0), in[0] == in[1]:
			return in[1], true
		case s.is(in[1], 0):
			return in[0], true
		}
	case op.Get:
		if s.g.Op(in[0].Node) == op.Tuple {
			return s.g.Ins(in[0].Node)[def.Attrs.Int(op.KIndex)], true
		}
	}
	return s.shapeIdentity(def)
}

func (s *simplifier) inputOf(r graph.Ref, i int) graph.Ref {
	ins := s.g.Ins(r.Node)
	if i >= len(ins) {
		return graph.Ref{}
	}
	return ins[i]
}

// shapeIdentity: shape ops that change nothing.
func (s *simplifier) shapeIdentity(def *graph.NodeDef) (graph.Ref, bool) {
	if len(def.Ins) == 0 || len(def.Outs) != 1 {
		return graph.Ref{}, false
	}
	x := def.Ins[0]
	same := s.g.Type(x).Equal(def.Outs[0])
	switch def.Op {
	case op.Reshape, op.Broadcast:
		if same {
			return x, true
		}
	case op.Slice:
		// A window as large as its source starts at 0 wherever it is asked to.
		if same && s.g.Type(x).NumElems() > 0 {
			return x, true
		}
	case op.Update:
		if s.g.Type(def.Ins[1]).Equal(def.Outs[0]) {
			return def.Ins[1], true
		}
	case op.Concat:
		if len(def.Ins) == 1 {
			return x, true
		}
	case op.Transpose:
		for i, a := range def.Attrs.Ints(op.KAxes) {
			if int64(i) != a {
				return graph.Ref{}, false
			}
		}
		return x, true
	}
	return graph.Ref{}, false
}

// structure simplifies nodes with regions and chains of shape ops.
func (s *simplifier) structure(def *graph.NodeDef) ([]graph.Ref, bool) {
	b := s.b()
	switch def.Op {
	case op.Reshape:
		if x := def.Ins[0]; s.g.Op(x.Node) == op.Reshape {
			return []graph.Ref{b.Reshape(s.g.Ins(x.Node)[0], def.Outs[0].Shape()...)}, true
		}
		if bits, d, ok := s.scalarBits(def.Ins[0]); ok {
			return []graph.Ref{b.Broadcast(b.ScalarBits(d, bits), def.Outs[0])}, def.Outs[0].Rank() > 0
		}
	case op.Switch:
		if bits, _, ok := s.scalarBits(def.Ins[0]); ok {
			k := uint64(len(def.Regions) - 1)
			refs, err := s.substitute(def.Regions[min(bits, k)], def.Ins[1:])
			return refs, err == nil
		}
		for _, r := range def.Regions[1:] {
			if r != def.Regions[0] {
				return nil, false
			}
		}
		refs, err := s.substitute(def.Regions[0], def.Ins[1:])
		return refs, err == nil
	case op.Loop:
		if bits, _, ok := s.scalarBits(def.Ins[0]); ok && int64(bits) <= 0 {
			n := def.Attrs.Int(op.KCarried)
			return append(append([]graph.Ref{}, def.Ins[1:1+n]...), b.I64(0)), true
		}
	case op.Map:
		return s.untrap(def)
	}
	if def.Op.Info().Class == op.Elementwise {
		return s.sinkBroadcast(def)
	}
	return nil, false
}

// untrap drops the trap result of a map whose checks all went away.
func (s *simplifier) untrap(def *graph.NodeDef) ([]graph.Ref, bool) {
	r := def.Regions[0]
	if def.Attrs.Int(op.KTraps) != 1 {
		return nil, false
	}
	res := s.g.Results(r)
	last := len(res) - 1
	if !s.is(res[last], 0) {
		return nil, false
	}
	b := s.b()
	body := b.Region(s.g.ParamTypes(r), res[:last]...)
	attrs := op.NewAttrs(op.Ints(op.KDims, def.Attrs.Ints(op.KDims)...), op.Int(op.KTraps, 0))
	if last == 0 {
		return []graph.Ref{b.NoTrap()}, true
	}
	return append(b.Apply(op.Map, attrs, []graph.RegionID{body}, def.Ins...), b.NoTrap()), true
}

// sinkBroadcast computes on the scalar where every operand is a broadcast of
// one: op(broadcast a, broadcast b) = broadcast op(a, b).
func (s *simplifier) sinkBroadcast(def *graph.NodeDef) ([]graph.Ref, bool) {
	if len(def.Ins) == 0 || def.Outs[0].Rank() == 0 {
		return nil, false
	}
	scalars := make([]graph.Ref, len(def.Ins))
	for i, x := range def.Ins {
		if s.g.Op(x.Node) != op.Broadcast || s.g.Type(s.inputOf(x, 0)).Rank() != 0 {
			return nil, false
		}
		scalars[i] = s.inputOf(x, 0)
	}
	b := s.b()
	out := types.Scalar(def.Outs[0].DType)
	out.Space = def.Outs[0].Space
	id, err := s.g.Add(graph.NodeDef{Op: def.Op, Outs: []types.Type{out}, Ins: scalars, Attrs: def.Attrs})
	if err != nil {
		return nil, false
	}
	return []graph.Ref{b.Broadcast(graph.Ref{Node: id}, def.Outs[0])}, true
}

// foldable are the ops worth folding: not those that make data from nothing.
func foldable(c op.Code) bool {
	switch c {
	case op.Const, op.Param, op.Tuple, op.Get, op.Iota, op.Broadcast, op.Reshape:
		return false
	}
	return true
}

// fold evaluates def where all its inputs are constants and its outputs are
// small tensors. What exceeds the folder's limits stays.
func (s *simplifier) fold(def *graph.NodeDef) ([]graph.Ref, error) {
	if !foldable(def.Op) || len(def.Ins) == 0 {
		return nil, nil
	}
	vals := make([]interp.Value, len(def.Ins))
	for i, x := range def.Ins {
		v, ok := s.value(x)
		if !ok {
			return nil, nil
		}
		vals[i] = v
	}
	for _, t := range def.Outs {
		if !t.IsTensor() || !t.Static() || t.NumBytes() > op.MaxRegionConst {
			return nil, nil
		}
	}
	id, err := s.g.Add(*def)
	if err != nil {
		return nil, err
	}
	out, err := s.folder.EvalNode(s.ctx, id, vals)
	if err != nil {
		return nil, s.ctx.Err() // over a limit: leave the node to the run
	}
	b := s.b()
	refs := make([]graph.Ref, len(out))
	for i, v := range out {
		refs[i] = b.Const(def.Outs[i], v.Data)
	}
	return refs, nil
}

// value returns the value of a constant or of a small broadcast of one.
func (s *simplifier) value(r graph.Ref) (interp.Value, bool) {
	t := s.g.Type(r)
	switch s.g.Op(r.Node) {
	case op.Const:
		b, err := s.g.ConstBytes(r.Node)
		return interp.Value{Type: t, Data: b}, err == nil
	case op.Broadcast:
		if !s.constant(r) || t.NumBytes() > op.MaxRegionConst {
			return interp.Value{}, false
		}
		in, ok := s.value(s.g.Ins(r.Node)[0])
		if !ok {
			return interp.Value{}, false
		}
		out, err := s.folder.EvalNode(s.ctx, r.Node, []interp.Value{in})
		if err != nil {
			return interp.Value{}, false
		}
		return out[0], true
	}
	return interp.Value{}, false
}
