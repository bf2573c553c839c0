package syntax

// TypeOf wraps a type node; anything else gives BadType.
func TypeOf(n *Node) TypeExpr {
	switch n.Kind() {
	case NPathType:
		return PathType{n}
	case NTupleType:
		return TupleType{n}
	case NRefType:
		return RefType{n}
	case NSpaceType:
		return SpaceType{n}
	case NFnType:
		return FnType{n}
	}
	return BadType{n}
}

// BadType stands where a type is missing or malformed; already reported.
type BadType struct{ *Node }

func (BadType) isType() {}

// PathType is a named type with optional arguments: `f32`, `f32[n, 3]`, `m.Dense[i, o]`.
type PathType struct{ *Node }

func (PathType) isType() {}

// Path is the name.
func (t PathType) Path() Path { return t.path() }

// HasArgs reports whether there are brackets.
func (t PathType) HasArgs() bool { return t.Child(NBracketArgs) != nil }

// Args are what is in the brackets: dimensions or types, written as expressions.
func (t PathType) Args() []Arg { return argsOf(t.Child(NBracketArgs)) }

// TupleType is `(a, b)`; `()` is the empty one, `(a)` is a.
type TupleType struct{ *Node }

func (TupleType) isType() {}

// Types are the components.
func (t TupleType) Types() []TypeExpr { return views(t.filter(clType), TypeOf) }

// IsParen reports `(a)`: one component and no comma.
func (t TupleType) IsParen() bool { return len(t.Types()) == 1 && t.Token(TComma) == nil }

// RefType is `&T` or `&mut T`.
type RefType struct{ *Node }

func (RefType) isType() {}

// IsMut reports `&mut`.
func (t RefType) IsMut() bool { return t.Token(TKwMut) != nil }

// Elem is the type referred to.
func (t RefType) Elem() TypeExpr { return t.typ(0) }

// SpaceType is a type in a memory space: `device f32[n]`.
type SpaceType struct{ *Node }

func (SpaceType) isType() {}

// Space is the prefix word.
func (t SpaceType) Space() *Token { return t.Token(TKwSpace) }

// Elem is the type in that space.
func (t SpaceType) Elem() TypeExpr { return t.typ(0) }

// FnType is `fn(a, b) -> c`.
type FnType struct{ *Node }

func (FnType) isType() {}

// Params are the parameters' types.
func (t FnType) Params() []TypeExpr { return views(t.Child(NTupleType).filter(clType), TypeOf) }

// Result is the result's type, nil without `->`.
func (t FnType) Result() TypeExpr {
	if n := t.nth(clType, 1); n != nil { // the first is the tuple of parameters
		return TypeOf(n)
	}
	return nil
}
