package check

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
)

// The typed tree. Every expression has its type and place; nothing in it is
// implicit. Package build walks it once per instance.

// Program is a checked set of modules.
type Program struct {
	Modules []*Module
	Main    *Module
	Exports []*ExportReq // as written in the main module
}

// Module is one file.
type Module struct {
	Name   string
	Std    bool // of the standard library
	File   *diag.File
	Funcs  []*Func
	Consts []*Const
	Tests  []*Test

	items   map[string]item
	modules map[string]*Module // by the name `use` gave
}

// Struct is a nominal product type.
type Struct struct {
	Module *Module
	Name   string
	Params []*Atom
	Fields []Field
	At     diag.Span
	Pub    bool
}

// Field is a field of a struct.
type Field struct {
	Name string
	Type *Type
	At   diag.Span
}

func (s *Struct) bind(args []Dim) map[*Atom]Dim {
	m := map[*Atom]Dim{}
	for i, p := range s.Params {
		if i < len(args) {
			m[p] = args[i]
		}
	}
	return m
}

// Func is a function; generic if it has Dims.
type Func struct {
	Module *Module
	Name   string
	At     diag.Span // the name
	Pub    bool
	Dims   []*Atom
	Params []*Local
	Result *Type
	Where  []Constraint
	Body   Expr

	facts map[*Atom]Dim
}

// Constraint is one comparison of a `where`.
type Constraint struct {
	Op   Op // CmpEQ..CmpGE
	L, R Dim
	At   diag.Span
}

// Const is a module-level constant. Its type never has free dimensions.
type Const struct {
	Module *Module
	Name   string
	At     diag.Span
	Pub    bool
	Type   *Type
	Value  Expr   // nil for an embedded constant
	Embed  *Embed // nil for a computed one
}

// Embed names an array of a file.
type Embed struct {
	File, Array string
	At          diag.Span
}

// Test is a test block.
type Test struct {
	Module *Module
	Name   string
	At     diag.Span
	Body   Expr
}

// ExportReq asks for an instance of a function.
type ExportReq struct {
	Fn   *Func
	Dims map[*Atom]int64
	At   diag.Span
}

// Local is a variable, parameter or binder variable.
type Local struct {
	Name string
	Type *Type
	Mut  bool
	At   diag.Span

	// i64 scalars may stand in dimension arithmetic: as the dimension they are
	// known to be, or as an unknown of their own.
	atom   *Atom
	dim    Dim
	hasDim bool

	par int // how many parallel bodies enclose the declaration
}

// Node is what all expressions have.
type Node struct {
	T  *Type
	At diag.Span
}

// Type is the expression's type.
func (n *Node) Type() *Type { return n.T }

// Span is the expression's place.
func (n *Node) Span() diag.Span { return n.At }

// Expr is a typed expression.
type Expr interface {
	Type() *Type
	Span() diag.Span
}

// Op is an operator of Unary and Binary.
type Op uint8

// The operators. Checked ones trap on integers.
const (
	Invalid Op = iota
	Neg
	Not
	Add
	Sub
	Mul
	Div
	Rem
	AddWrap
	SubWrap
	MulWrap
	AddSat
	SubSat
	MulSat
	And
	Or
	Xor
	Shl
	Shr
	CmpEQ
	CmpNE
	CmpLT
	CmpLE
	CmpGT
	CmpGE
)

// CastMode is how a cast treats values that do not fit.
type CastMode uint8

// The modes.
const (
	Trapping CastMode = iota
	Wrapping
	Saturating
)

// Reduction is how a binder or a builtin combines.
type Reduction uint8

// The reductions; Stack is `map`.
const (
	Stack Reduction = iota
	Sum
	Prod
	MinOf
	MaxOf
	Any
	All
)

type (
	// BadExpr stands for what is already reported.
	BadExpr struct{ Node }

	// Lit is a scalar literal.
	Lit struct {
		Node
		Bits uint64
	}

	// DimVal is the value of a dimension, an i64.
	DimVal struct {
		Node
		Dim Dim
	}

	// ConstRef is a module constant.
	ConstRef struct {
		Node
		Const *Const
	}

	// LocalRef is a variable.
	LocalRef struct {
		Node
		Local *Local
	}

	// Unary is a one-operand operator; T is the operand's type.
	Unary struct {
		Node
		Op Op
		X  Expr
	}

	// Binary is a two-operand operator on operands of one type.
	Binary struct {
		Node
		Op   Op
		X, Y Expr
	}

	// Logic is `&&` (And) or `||` on bool scalars.
	Logic struct {
		Node
		And  bool
		X, Y Expr
	}

	// If chooses between two arms of one type.
	If struct {
		Node
		Cond, Then, Else Expr
	}

	// Block runs statements, then gives Tail, or () if it is nil.
	Block struct {
		Node
		Stmts []Stmt
		Tail  Expr
	}

	// Call calls a function. Dims are its parameters' values, in order.
	Call struct {
		Node
		Fn    *Func
		Dims  []Dim
		Args  []Expr
		Order []int // the order of evaluation, if it is not that of Args
	}

	// Prim is a builtin function: Row says which, Ints and Dims are its static
	// arguments as the row defines them.
	Prim struct {
		Node
		Row  *Builtin
		Args []Expr
		Ints []int64
		Mode string
	}

	// Aggregate is a tuple or struct.
	Aggregate struct {
		Node
		Elems []Expr
		Order []int // the order of evaluation, if it is not that of Elems
	}

	// FieldRef is component Index of a tuple or struct.
	FieldRef struct {
		Node
		X     Expr
		Index int
	}

	// Array stacks elements of one type along a new first axis.
	Array struct {
		Node
		Elems []Expr
	}

	// Index takes an element, a slice, or adds axes.
	Index struct {
		Node
		X    Expr
		Args []IndexArg
	}

	// Broadcast stretches X to T: scalars to any shape, axes of size 1.
	Broadcast struct {
		Node
		X Expr
	}

	// Cast converts the element type.
	Cast struct {
		Node
		Mode CastMode
		X    Expr
	}

	// Binder is map, sum, ... over an index space.
	Binder struct {
		Node
		Kind Reduction
		Vars []BinderVar
		Body Expr
	}

	// For is a loop over one variable.
	For struct {
		Node
		Var          *Local // nil for `_`
		Lo, Hi       Expr
		LoDim, HiDim *Dim // their values, where they are dimensions
		While        Expr // nil without
		Body         Expr
	}
)

// BinderVar runs over Size values from Lo. If LoDim is nil, Lo and Hi are
// evaluated when the program runs, Hi only for its checks.
type BinderVar struct {
	Local  *Local // nil for `_`
	Lo, Hi Expr
	LoDim  *Dim
	Size   Dim
	At     diag.Span
}

// IndexKind says what an index argument does.
type IndexKind uint8

// The kinds: one element, the whole axis, a window, a new axis of size 1.
const (
	IndexAt IndexKind = iota
	IndexAll
	IndexRange
	IndexNew
)

// IndexArg is one argument in the brackets. Lo is the index or the window's
// start, nil for 0, LoDim the start where it is a dimension; else Lo and Hi are
// evaluated when the program runs, Hi only for its checks.
type IndexArg struct {
	Kind   IndexKind
	Lo, Hi Expr
	LoDim  *Dim // IndexRange
	Size   Dim  // IndexRange
	Axis   Dim  // the size of the axis it applies to
	At     diag.Span
}

// Stmt is Let, Assign, Assert or Eval.
type Stmt interface{ stmt() }

type (
	// Let declares variables: Pattern takes Value apart.
	Let struct {
		Pattern Pattern
		Value   Expr
		At      diag.Span
	}

	// Assign writes Value (or old Op Value) to a place in Local.
	Assign struct {
		Local *Local
		Path  []Place
		Op    Op // Invalid for plain `=`
		Value Expr
		T     *Type // of the place
		At    diag.Span
	}

	// Assert traps unless every element of Cond is true.
	Assert struct {
		Cond Expr
		At   diag.Span
	}

	// Eval evaluates for the effects on variables and traps.
	Eval struct{ X Expr }
)

func (*Let) stmt()    {}
func (*Assign) stmt() {}
func (*Assert) stmt() {}
func (*Eval) stmt()   {}

// Place is one step into a variable: a component, or indices if Args is set.
type Place struct {
	Field int
	Args  []IndexArg
	T     *Type // of what the step arrives at
}

// Pattern takes a value apart: a variable, or one pattern per component (nil
// for `_`).
type Pattern struct {
	Local *Local
	Elems []*Pattern
}

// Lit of a bool.
func boolLit(at diag.Span, v bool) Expr {
	return &Lit{Node{scalar(types.Bool), at}, uint64(btoi(v))}
}
