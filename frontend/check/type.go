package check

import (
	"strings"

	"github.com/kera-lang/kera/core/types"
)

// Kind distinguishes language types.
type Kind uint8

// The kinds. Bad is the type of what is already reported.
const (
	Bad Kind = iota
	Tensor
	Tuple
	StructKind
)

// Type is a language type. Treat it as immutable.
type Type struct {
	Kind   Kind
	DType  types.DType // tensors
	Dims   []Dim       // tensors: the shape
	Elems  []*Type     // tuples
	Struct *Struct     // structs, with Args for its parameters
	Args   []Dim
}

var badType = &Type{}
var unitType = &Type{Kind: Tuple}

func scalar(d types.DType) *Type { return &Type{Kind: Tensor, DType: d} }

func tensorOf(d types.DType, dims ...Dim) *Type { return &Type{Kind: Tensor, DType: d, Dims: dims} }

// IsBad reports a type that is already reported, at any depth.
func (t *Type) IsBad() bool {
	if t == nil || t.Kind == Bad {
		return true
	}
	for _, e := range t.Elems {
		if e.IsBad() {
			return true
		}
	}
	return false
}

// IsTensor reports a tensor, scalars included.
func (t *Type) IsTensor() bool { return t.Kind == Tensor }

// IsScalar reports a scalar of dtype d, of any if none is given.
func (t *Type) IsScalar(d ...types.DType) bool {
	return t.Kind == Tensor && len(t.Dims) == 0 && (len(d) == 0 || t.DType == d[0])
}

// Rank is the number of axes.
func (t *Type) Rank() int { return len(t.Dims) }

// IsUnit reports the empty tuple.
func (t *Type) IsUnit() bool { return t.Kind == Tuple && len(t.Elems) == 0 }

func (t *Type) withDType(d types.DType) *Type { return &Type{Kind: Tensor, DType: d, Dims: t.Dims} }

func (t *Type) withDims(dims []Dim) *Type { return &Type{Kind: Tensor, DType: t.DType, Dims: dims} }

// Fields are the types of a struct's fields or a tuple's components.
func (t *Type) Fields() []*Type {
	if t.Kind != StructKind {
		return t.Elems
	}
	m := t.Struct.bind(t.Args)
	out := make([]*Type, len(t.Struct.Fields))
	for i := range t.Struct.Fields {
		out[i] = t.Struct.Fields[i].Type.subst(m)
	}
	return out
}

// subst replaces dimension parameters.
func (t *Type) subst(m map[*Atom]Dim) *Type {
	if t == nil || len(m) == 0 || t.Kind == Bad {
		return t
	}
	n := *t
	n.Dims = substDims(t.Dims, m)
	n.Args = substDims(t.Args, m)
	if len(t.Elems) > 0 {
		n.Elems = make([]*Type, len(t.Elems))
		for i, e := range t.Elems {
			n.Elems[i] = e.subst(m)
		}
	}
	return &n
}

func substDims(ds []Dim, m map[*Atom]Dim) []Dim {
	out := make([]Dim, len(ds))
	for i, d := range ds {
		out[i] = d.Subst(m)
	}
	return out
}

// String is the source form.
func (t *Type) String() string {
	if t == nil {
		return "?"
	}
	switch t.Kind {
	case Tensor:
		return t.DType.String() + dimList(t.Dims)
	case Tuple:
		parts := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			parts[i] = e.String()
		}
		if len(parts) == 1 {
			return "(" + parts[0] + ",)"
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case StructKind:
		return t.Struct.Name + dimList(t.Args)
	}
	return "?"
}

func dimList(ds []Dim) string {
	if len(ds) == 0 {
		return ""
	}
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = d.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
