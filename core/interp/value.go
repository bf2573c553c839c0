package interp

import (
	"encoding/binary"
	"fmt"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/types"
)

// Value is a tensor (Data: dense, row-major, little-endian; a scalar is one
// element) or a tuple (Elems). It is immutable once it is given to this
// package or comes out of it: buffers are shared.
type Value struct {
	Type  types.Type
	Data  []byte
	Elems []Value
}

// ScalarValue makes a scalar from its bits.
func ScalarValue(d types.DType, bits uint64) Value {
	b := make([]byte, d.Size())
	putBits(b, d.Size(), 0, bits)
	return Value{Type: types.Scalar(d), Data: b}
}

// Zero returns the all-zero value of a static type.
func Zero(t types.Type) Value {
	if t.Kind == types.KindTuple {
		v := Value{Type: t}
		for _, e := range t.Elems {
			v.Elems = append(v.Elems, Zero(e))
		}
		return v
	}
	return Value{Type: t, Data: make([]byte, t.NumBytes())}
}

// Bits returns the bits of element i of a tensor, zero-extended.
func (v Value) Bits(i int) uint64 { return getBits(v.Data, v.Type.DType.Size(), i) }

// Leaves appends the tensors of v, left to right.
func (v Value) Leaves(dst []Value) []Value {
	if v.Type.Kind == types.KindTuple {
		for _, e := range v.Elems {
			dst = e.Leaves(dst)
		}
		return dst
	}
	return append(dst, v)
}

// FromLeaves builds values of the given types from flattened tensor data, in
// the order of Leaves. It checks the sizes.
func FromLeaves(ts []types.Type, data [][]byte) ([]Value, error) {
	var build func(t types.Type) (Value, error)
	build = func(t types.Type) (Value, error) {
		v := Value{Type: t}
		if t.Kind == types.KindTuple {
			for _, e := range t.Elems {
				x, err := build(e)
				if err != nil {
					return v, err
				}
				v.Elems = append(v.Elems, x)
			}
			return v, nil
		}
		if len(data) == 0 {
			return v, fmt.Errorf("no data for a leaf of type %v", t)
		}
		v.Data, data = data[0], data[1:]
		return v, v.check(t)
	}
	out := make([]Value, len(ts))
	for i, t := range ts {
		v, err := build(t)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	if len(data) != 0 {
		return nil, fmt.Errorf("%d leaves too many", len(data))
	}
	return out, nil
}

// Digest returns the value digest of vs (docs/spec/encoding.md).
func Digest(vs []Value) digest.D {
	var leaves []Value
	for _, v := range vs {
		leaves = v.Leaves(leaves)
	}
	ts, data := make([]types.Type, len(leaves)), make([][]byte, len(leaves))
	for i, l := range leaves {
		ts[i], data[i] = l.Type, l.Data
	}
	return graph.ValueDigest(ts, data)
}

// check reports that v is not a well-formed value of type t.
func (v Value) check(t types.Type) error {
	switch {
	case !t.Static():
		return fmt.Errorf("type %v has free dimensions", t)
	case !v.Type.Erased().Equal(t.Erased()):
		return fmt.Errorf("type is %v, wants %v", v.Type, t)
	case t.Kind == types.KindTuple:
		if len(v.Elems) != len(t.Elems) {
			return fmt.Errorf("tuple of %d, wants %d", len(v.Elems), len(t.Elems))
		}
		for i, e := range v.Elems {
			if err := e.check(t.Elems[i]); err != nil {
				return fmt.Errorf("field %d: %w", i, err)
			}
		}
		return nil
	case t.Kind != types.KindTensor:
		return fmt.Errorf("%v is not data", t)
	case int64(len(v.Data)) != t.NumBytes():
		return fmt.Errorf("%d bytes of data for %v, which has %d", len(v.Data), t, t.NumBytes())
	}
	if t.DType == types.Bool {
		for i, b := range v.Data {
			if b > 1 {
				return fmt.Errorf("bool element %d has byte %d, not 0 or 1", i, b)
			}
		}
	}
	return nil
}

// val is a value inside the machine; its type is known from the plan. A scalar
// lives in bits, a tensor of rank 1 or more in buf, a tuple in tup. Buffers are
// shared freely.
type val struct {
	bits uint64
	buf  []byte
	tup  []val
}

// toVal brings v in, with every NaN made the one NaN.
func toVal(v Value) val {
	switch {
	case v.Type.Kind == types.KindTuple:
		out := val{tup: make([]val, len(v.Elems))}
		for i, e := range v.Elems {
			out.tup[i] = toVal(e)
		}
		return out
	case v.Type.Rank() == 0:
		return val{bits: numeric.Canon(v.Type.DType, v.Bits(0))}
	}
	return val{buf: Canonical(v.Type.DType, v.Data)}
}

// fromVal brings a value out. Every float the machine makes is canonical.
func fromVal(x val, t types.Type) Value {
	switch {
	case t.Kind == types.KindTuple:
		v := Value{Type: t, Elems: make([]Value, len(x.tup))}
		for i, e := range x.tup {
			v.Elems[i] = fromVal(e, t.Elems[i])
		}
		return v
	case t.Rank() == 0:
		v := ScalarValue(t.DType, x.bits)
		v.Type = t
		return v
	}
	return Value{Type: t, Data: x.buf}
}

// Canonical returns b with every NaN of dtype d replaced by the one NaN, or b
// itself if there is none to replace.
func Canonical(d types.DType, b []byte) []byte {
	if !d.IsFloating() {
		return b
	}
	size, copied := d.Size(), false
	for i := range len(b) / size {
		x := getBits(b, size, i)
		c := numeric.Canon(d, x)
		if c == x {
			continue
		}
		if !copied {
			b, copied = append([]byte(nil), b...), true
		}
		putBits(b, size, i, c)
	}
	return b
}

// getBits reads element i of a buffer of size-byte elements.
func getBits(b []byte, size, i int) uint64 {
	switch size {
	case 1:
		return uint64(b[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b[i*2:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b[i*4:]))
	}
	return binary.LittleEndian.Uint64(b[i*8:])
}

// putBits writes element i of a buffer of size-byte elements.
func putBits(b []byte, size, i int, x uint64) {
	switch size {
	case 1:
		b[i] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(b[i*2:], uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(b[i*4:], uint32(x))
	default:
		binary.LittleEndian.PutUint64(b[i*8:], x)
	}
}

// loadBits fills dst with the elements of b from index i on.
func loadBits(dst []uint64, b []byte, size, i int) {
	switch size {
	case 1:
		for k, x := range b[i : i+len(dst)] {
			dst[k] = uint64(x)
		}
	case 2:
		b = b[i*2 : (i+len(dst))*2]
		for k := range dst {
			dst[k] = uint64(binary.LittleEndian.Uint16(b[k*2:]))
		}
	case 4:
		b = b[i*4 : (i+len(dst))*4]
		for k := range dst {
			dst[k] = uint64(binary.LittleEndian.Uint32(b[k*4:]))
		}
	default:
		b = b[i*8 : (i+len(dst))*8]
		for k := range dst {
			dst[k] = binary.LittleEndian.Uint64(b[k*8:])
		}
	}
}

// storeBits writes src to the elements of b from index i on.
func storeBits(b []byte, size, i int, src []uint64) {
	switch size {
	case 1:
		for k, x := range src {
			b[i+k] = byte(x)
		}
	case 2:
		b = b[i*2 : (i+len(src))*2]
		for k, x := range src {
			binary.LittleEndian.PutUint16(b[k*2:], uint16(x))
		}
	case 4:
		b = b[i*4 : (i+len(src))*4]
		for k, x := range src {
			binary.LittleEndian.PutUint32(b[k*4:], uint32(x))
		}
	default:
		b = b[i*8 : (i+len(src))*8]
		for k, x := range src {
			binary.LittleEndian.PutUint64(b[k*8:], x)
		}
	}
}
