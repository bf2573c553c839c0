package types

import (
	"fmt"
	"math"
	"strings"
)

// Limits that every type keeps (docs/spec/numerics.md, docs/spec/file.md).
const (
	MaxRank  = 8
	MaxBytes = 1 << 46 // bytes of one dense tensor
)

// Kind distinguishes the structural types.
type Kind uint8

// The kinds of type, in encoding order.
const (
	KindInvalid Kind = iota
	KindTensor
	KindTuple
	KindToken
)

// Space is the memory space of a tensor. It is part of the type but erased
// before the fingerprint is taken.
type Space uint8

// The memory spaces.
const (
	Host Space = iota
	Device
	Pinned
	Unified
	Remote
	numSpaces
)

var spaceNames = [numSpaces]string{"host", "device", "pinned", "unified", "remote"}

// Valid reports whether s is a declared space.
func (s Space) Valid() bool { return s < numSpaces }

func (s Space) String() string {
	if s < numSpaces {
		return spaceNames[s]
	}
	return fmt.Sprintf("space(%d)", uint8(s))
}

// Resource is what an effect token stands for.
type Resource uint8

// The effect resources.
const (
	FS Resource = iota
	Net
	Collective
	Clock
	Rand
	numResources
)

var resourceNames = [numResources]string{"fs", "net", "collective", "clock", "rand"}

// Valid reports whether r is a declared resource.
func (r Resource) Valid() bool { return r < numResources }

func (r Resource) String() string {
	if r < numResources {
		return resourceNames[r]
	}
	return fmt.Sprintf("resource(%d)", uint8(r))
}

// Dim is one dimension: a number (Var false: Size) or a bounded variable
// (Var true: Index within Min..Max).
type Dim struct {
	Var      bool
	Size     int64 // the number
	Index    int32 // which variable
	Min, Max int64 // its inclusive bounds
}

// Num returns a fixed dimension.
func Num(n int64) Dim { return Dim{Size: n} }

func (d Dim) String() string {
	if d.Var {
		return fmt.Sprintf("?%d(%d..%d)", d.Index, d.Min, d.Max)
	}
	return fmt.Sprint(d.Size)
}

// Type is a structural type. The zero Type is invalid. Treat it as immutable:
// the slices are shared.
type Type struct {
	Kind     Kind
	DType    DType    // tensor
	Space    Space    // tensor
	Resource Resource // token
	Dims     []Dim    // tensor
	Elems    []Type   // tuple
}

// Scalar returns the rank-0 tensor type of d.
func Scalar(d DType) Type { return Type{Kind: KindTensor, DType: d} }

// Tensor returns a host tensor type with fixed dimensions.
func Tensor(d DType, dims ...int64) Type {
	t := Type{Kind: KindTensor, DType: d}
	for _, n := range dims {
		t.Dims = append(t.Dims, Num(n))
	}
	return t
}

// Tuple returns the tuple type of elems.
func Tuple(elems ...Type) Type { return Type{Kind: KindTuple, Elems: elems} }

// Token returns the effect token type of r.
func Token(r Resource) Type { return Type{Kind: KindToken, Resource: r} }

// Trap is the type of a trap code: a u32 scalar, 0 meaning no trap.
func Trap() Type { return Scalar(U32) }

// IsTensor reports whether t is a tensor (scalars included).
func (t Type) IsTensor() bool { return t.Kind == KindTensor }

// IsScalar reports whether t is a rank-0 tensor, of dtype d if one is given.
func (t Type) IsScalar(d ...DType) bool {
	if t.Kind != KindTensor || len(t.Dims) != 0 {
		return false
	}
	return len(d) == 0 || t.DType == d[0]
}

// Rank returns the number of dimensions.
func (t Type) Rank() int { return len(t.Dims) }

// Static reports whether every dimension of every leaf is a number.
func (t Type) Static() bool {
	for _, d := range t.Dims {
		if d.Var {
			return false
		}
	}
	for _, e := range t.Elems {
		if !e.Static() {
			return false
		}
	}
	return true
}

// Shape returns the dimensions as numbers. It panics if one is a variable.
func (t Type) Shape() []int64 {
	out := make([]int64, len(t.Dims))
	for i, d := range t.Dims {
		if d.Var {
			panic("BUG: Shape of a type with a free dimension: " + t.String())
		}
		out[i] = d.Size
	}
	return out
}

// NumElems returns the number of elements of a static tensor.
func (t Type) NumElems() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d.Size
	}
	return n
}

// NumBytes returns the dense size in bytes of a static tensor.
func (t Type) NumBytes() int64 { return t.NumElems() * int64(t.DType.Size()) }

// WithDType returns t with another element type.
func (t Type) WithDType(d DType) Type { t.DType = d; return t }

// WithShape returns a tensor of t's dtype and space with other dimensions.
func (t Type) WithShape(dims ...int64) Type {
	n := Tensor(t.DType, dims...)
	n.Space = t.Space
	return n
}

// WithDims returns a tensor of t's dtype and space with other dimensions.
func (t Type) WithDims(dims []Dim) Type { t.Dims = dims; return t }

// Erased returns t with every memory space set to host, as the fingerprint
// sees it.
func (t Type) Erased() Type {
	t.Space = Host
	if len(t.Elems) > 0 {
		es := make([]Type, len(t.Elems))
		for i, e := range t.Elems {
			es[i] = e.Erased()
		}
		t.Elems = es
	}
	return t
}

// Equal reports structural equality.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind || t.DType != u.DType || t.Space != u.Space || t.Resource != u.Resource ||
		len(t.Dims) != len(u.Dims) || len(t.Elems) != len(u.Elems) {
		return false
	}
	for i := range t.Dims {
		if t.Dims[i] != u.Dims[i] {
			return false
		}
	}
	if len(t.Elems) > 0 && &t.Elems[0] == &u.Elems[0] {
		return true // the same list: interned types compare at once
	}
	for i := range t.Elems {
		if !t.Elems[i].Equal(u.Elems[i]) {
			return false
		}
	}
	return true
}

// SameDims reports whether two tensors have equal dimensions.
func (t Type) SameDims(u Type) bool {
	if len(t.Dims) != len(u.Dims) {
		return false
	}
	for i := range t.Dims {
		if t.Dims[i] != u.Dims[i] {
			return false
		}
	}
	return true
}

// Leaves appends the tensor leaves of t, left to right.
func (t Type) Leaves(dst []Type) []Type {
	if t.Kind == KindTuple {
		for _, e := range t.Elems {
			dst = e.Leaves(dst)
		}
		return dst
	}
	return append(dst, t)
}

// MaxDepth bounds tuple nesting, so that recursion over types is safe.
const MaxDepth = 64

// Check reports the first limit that t breaks.
func (t Type) Check() error { return t.check(0) }

func (t Type) check(depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("tuple nested deeper than %d", MaxDepth)
	}
	switch t.Kind {
	case KindTensor:
		return t.checkTensor()
	case KindTuple:
		if t.DType != 0 || t.Space != 0 || t.Resource != 0 || len(t.Dims) != 0 {
			return fmt.Errorf("tuple type with tensor fields set")
		}
		for _, e := range t.Elems {
			if err := e.check(depth + 1); err != nil {
				return err
			}
		}
		return nil
	case KindToken:
		if t.DType != 0 || t.Space != 0 || len(t.Dims) != 0 || len(t.Elems) != 0 {
			return fmt.Errorf("token type with other fields set")
		}
		if !t.Resource.Valid() {
			return fmt.Errorf("unknown resource %d", t.Resource)
		}
		return nil
	}
	return fmt.Errorf("unknown type kind %d", t.Kind)
}

func (t Type) checkTensor() error {
	switch {
	case !t.DType.Valid():
		return fmt.Errorf("unknown dtype %d", t.DType)
	case !t.Space.Valid():
		return fmt.Errorf("unknown memory space %d", t.Space)
	case t.Resource != 0 || len(t.Elems) != 0:
		return fmt.Errorf("tensor type with other fields set")
	case len(t.Dims) > MaxRank:
		return fmt.Errorf("rank %d exceeds %d", len(t.Dims), MaxRank)
	}
	bytes := int64(t.DType.Size())
	for _, d := range t.Dims {
		n := d.Size
		if d.Var {
			if d.Size != 0 || d.Index < 0 || d.Min < 0 || d.Max < d.Min {
				return fmt.Errorf("malformed dimension variable %v", d)
			}
			n = d.Max
		} else if d.Index != 0 || d.Min != 0 || d.Max != 0 {
			return fmt.Errorf("fixed dimension with variable fields set")
		}
		if n < 0 {
			return fmt.Errorf("negative dimension %d", n)
		}
		if n == 0 {
			continue // counted as 1: an empty tensor still keeps the limit on its other dimensions
		}
		if bytes > math.MaxInt64/n || bytes*n > MaxBytes {
			return fmt.Errorf("tensor %s exceeds %d bytes", t, int64(MaxBytes))
		}
		bytes *= n
	}
	return nil
}

// String returns the text form: f32[2,3], (i64, bool), token<fs>.
func (t Type) String() string {
	switch t.Kind {
	case KindTensor:
		var b strings.Builder
		if t.Space != Host {
			b.WriteString(t.Space.String())
			b.WriteByte(' ')
		}
		b.WriteString(t.DType.String())
		if len(t.Dims) > 0 {
			b.WriteByte('[')
			for i, d := range t.Dims {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(d.String())
			}
			b.WriteByte(']')
		}
		return b.String()
	case KindTuple:
		var b strings.Builder
		b.WriteByte('(')
		for i, e := range t.Elems {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(e.String())
		}
		b.WriteByte(')')
		return b.String()
	case KindToken:
		return "token<" + t.Resource.String() + ">"
	}
	return "invalid"
}
