package graph

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// B builds nodes of a store for callers that have already checked their
// types (the frontend, passes, tests). A broken rule is a bug of the caller
// and panics; use Store.Add where input is not trusted.
type B struct{ *Store }

// N inserts a node whose output types are implied and returns its first output.
func (b B) N(c op.Code, attrs op.Attrs, ins ...Ref) Ref {
	return b.Must(NodeDef{Op: c, Attrs: attrs, Ins: ins})
}

// Must inserts d and returns its first output.
func (b B) Must(d NodeDef) Ref {
	id, err := b.Add(d)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return Ref{Node: id}
}

// Outs returns every output of the node that r belongs to.
func (b B) Outs(r Ref) []Ref {
	out := make([]Ref, b.NumOuts(r.Node))
	for i := range out {
		out[i] = Ref{r.Node, int32(i)}
	}
	return out
}

// Param refers to parameter i of the enclosing region.
func (b B) Param(i int, t types.Type) Ref {
	return b.Must(NodeDef{Op: op.Param, Outs: []types.Type{t}, Attrs: op.Attrs{op.Int(op.KIndex, int64(i))}})
}

// Params refers to all parameters of a region with the given types.
func (b B) Params(ts ...types.Type) []Ref {
	out := make([]Ref, len(ts))
	for i, t := range ts {
		out[i] = b.Param(i, t)
	}
	return out
}

// Region inserts a region.
func (b B) Region(params []types.Type, results ...Ref) RegionID {
	r, err := b.AddRegion(params, results)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return r
}

// Const inserts a constant of at most op.MaxRegionConst bytes, canonicalising
// NaNs and spelling uniform tensors as broadcasts of a scalar.
func (b B) Const(t types.Type, data []byte) Ref {
	data = append([]byte{}, data...)
	Canonicalise(t.DType, data)
	if Uniform(t, data) {
		scalar := types.Scalar(t.DType)
		scalar.Space = t.Space
		return b.Broadcast(b.Const(scalar, data[:t.DType.Size()]), t)
	}
	a := op.Bytes(op.KValue, data)
	if len(data) > op.MaxInline {
		a = op.Blob(op.KValue, b.AddBlob(data), uint64(len(data)))
	}
	return b.Must(NodeDef{Op: op.Const, Outs: []types.Type{t}, Attrs: op.Attrs{a}})
}

// ScalarBits inserts a scalar constant from its low bits.
func (b B) ScalarBits(d types.DType, bits uint64) Ref {
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], bits)
	return b.Const(types.Scalar(d), buf[:d.Size()])
}

// I64 inserts an i64 scalar constant.
func (b B) I64(v int64) Ref { return b.ScalarBits(types.I64, uint64(v)) }

// F32 inserts an f32 scalar constant.
func (b B) F32(v float32) Ref { return b.ScalarBits(types.F32, uint64(math.Float32bits(v))) }

// F64 inserts an f64 scalar constant.
func (b B) F64(v float64) Ref { return b.ScalarBits(types.F64, math.Float64bits(v)) }

// Bool inserts a bool scalar constant.
func (b B) Bool(v bool) Ref {
	if v {
		return b.ScalarBits(types.Bool, 1)
	}
	return b.ScalarBits(types.Bool, 0)
}

// NoTrap inserts the trap code 0.
func (b B) NoTrap() Ref { return b.ScalarBits(types.U32, 0) }

// Broadcast stretches x to t, axis k of x becoming output axis axes[k]; without
// axes, x's axes become t's last ones.
func (b B) Broadcast(x Ref, t types.Type, axes ...int64) Ref {
	if axes == nil {
		r := b.Type(x).Rank()
		axes = make([]int64, r)
		for i := range axes {
			axes[i] = int64(t.Rank() - r + i)
		}
	}
	return b.Must(NodeDef{Op: op.Broadcast, Outs: []types.Type{t}, Ins: []Ref{x}, Attrs: op.Attrs{op.Ints(op.KAxes, axes...)}})
}

// Reshape gives x another shape.
func (b B) Reshape(x Ref, dims ...int64) Ref {
	return b.Must(NodeDef{Op: op.Reshape, Outs: []types.Type{b.Type(x).WithShape(dims...)}, Ins: []Ref{x}})
}

// Convert converts x to d; x itself if it has that dtype.
func (b B) Convert(x Ref, d types.DType) Ref {
	t := b.Type(x)
	if t.DType == d {
		return x
	}
	return b.Must(NodeDef{Op: op.Convert, Outs: []types.Type{t.WithDType(d)}, Ins: []Ref{x}})
}

// Bitcast reinterprets x as d.
func (b B) Bitcast(x Ref, d types.DType) Ref {
	return b.Must(NodeDef{Op: op.Bitcast, Outs: []types.Type{b.Type(x).WithDType(d)}, Ins: []Ref{x}})
}

// Compare compares x and y, by IEEE order on floats.
func (b B) Compare(k op.CompareKind, x, y Ref) Ref {
	return b.N(op.Compare, op.Attrs{op.Int(op.KKind, int64(k)), op.Int(op.KOrder, int64(op.IEEE))}, x, y)
}

// Reduce reduces x over axes.
func (b B) Reduce(k op.ReduceKind, x Ref, axes ...int64) Ref {
	return b.N(op.Reduce, op.NewAttrs(op.Int(op.KKind, int64(k)), op.Ints(op.KAxes, axes...)), x)
}

// Slice takes a window of sizes at starts with unit strides.
func (b B) Slice(x Ref, sizes []int64, starts ...Ref) Ref {
	strides := make([]int64, len(sizes))
	for i := range strides {
		strides[i] = 1
	}
	return b.N(op.Slice, op.Attrs{op.Ints(op.KSizes, sizes...), op.Ints(op.KStrides, strides...)}, append([]Ref{x}, starts...)...)
}

// TrapIf is the trap code k where the bool scalar c is true.
func (b B) TrapIf(k op.TrapKind, c Ref) Ref {
	return b.N(op.TrapIf, op.Attrs{op.Int(op.KKind, int64(k))}, c)
}

// TrapJoin joins trap codes, the leftmost that is not 0 winning. A constant 0
// is left out, so that a program without checks has the code 0.
func (b B) TrapJoin(codes ...Ref) Ref {
	none := b.NoTrap()
	out := none
	for _, c := range codes {
		switch {
		case c == none:
		case out == none:
			out = c
		default:
			out = b.N(op.TrapJoin, nil, out, c)
		}
	}
	return out
}

// Apply inserts a node with regions (call, fusion, switch, loop, map) and
// returns all its outputs.
func (b B) Apply(c op.Code, attrs op.Attrs, regions []RegionID, ins ...Ref) []Ref {
	return b.Outs(b.Must(NodeDef{Op: c, Attrs: attrs, Regions: regions, Ins: ins}))
}
