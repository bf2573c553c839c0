package syntax

// ExprOf wraps an expression node; anything else gives BadExpr.
func ExprOf(n *Node) Expr {
	switch n.Kind() {
	case NLiteralExpr:
		return LiteralExpr{n}
	case NNameExpr:
		return NameExpr{n}
	case NParenExpr:
		return ParenExpr{n}
	case NTupleExpr:
		return TupleExpr{n}
	case NArrayExpr:
		return ArrayExpr{n}
	case NUnaryExpr:
		return UnaryExpr{n}
	case NBinaryExpr:
		return BinaryExpr{n}
	case NRangeExpr:
		return RangeExpr{n}
	case NCallExpr:
		return CallExpr{n}
	case NIndexExpr:
		return IndexExpr{n}
	case NFieldExpr:
		return FieldExpr{n}
	case NStructExpr:
		return StructExpr{n}
	case NBlock:
		return Block{n}
	case NIfExpr:
		return IfExpr{n}
	case NMatchExpr:
		return MatchExpr{n}
	case NForExpr:
		return ForExpr{n}
	case NBinderExpr:
		return BinderExpr{n}
	case NLambdaExpr:
		return LambdaExpr{n}
	case NNewAxis:
		return NewAxis{n}
	}
	return BadExpr{n}
}

// BadExpr stands where an expression is missing or malformed; already reported.
type BadExpr struct{ *Node }

func (BadExpr) isExpr() {}

// LiteralExpr is a number (perhaps with a minus that belongs to it), string, true or false.
type LiteralExpr struct{ *Node }

func (LiteralExpr) isExpr() {}

// Token is the literal without the minus.
func (e LiteralExpr) Token() *Token {
	return e.Node.Token(TInt, TFloat, TString, TKwTrue, TKwFalse)
}

// IsNegative reports whether a minus belongs to the literal.
func (e LiteralExpr) IsNegative() bool { return e.Node.Token(TMinus) != nil }

// NameExpr is a name.
type NameExpr struct{ *Node }

func (NameExpr) isExpr() {}

// Name is the name.
func (e NameExpr) Name() *Token { return e.name() }

// ParenExpr is `(e)`.
type ParenExpr struct{ *Node }

func (ParenExpr) isExpr() {}

// Inner is the expression in the parentheses.
func (e ParenExpr) Inner() Expr { return e.expr(0) }

// Unparen strips parentheses.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(ParenExpr)
		if !ok {
			return e
		}
		e = p.Inner()
	}
}

// TupleExpr is `()`, `(a,)` or `(a, b)`.
type TupleExpr struct{ *Node }

func (TupleExpr) isExpr() {}

// Elems are the components.
func (e TupleExpr) Elems() []Expr { return e.exprs() }

// ArrayExpr is `[a, b]`.
type ArrayExpr struct{ *Node }

func (ArrayExpr) isExpr() {}

// Elems are the elements.
func (e ArrayExpr) Elems() []Expr { return e.exprs() }

// UnaryExpr is `-e`, `!e`, `&e` or `&mut e`.
type UnaryExpr struct{ *Node }

func (UnaryExpr) isExpr() {}

// Op is the operator.
func (e UnaryExpr) Op() *Token { return e.Token(TMinus, TBang, TAmp) }

// IsMut reports `&mut`.
func (e UnaryExpr) IsMut() bool { return e.Token(TKwMut) != nil }

// Operand is the operand.
func (e UnaryExpr) Operand() Expr { return e.expr(0) }

// BinaryExpr is `a op b`.
type BinaryExpr struct{ *Node }

func (BinaryExpr) isExpr() {}

// Op is the operator.
func (e BinaryExpr) Op() *Token {
	if ts := e.Tokens(); len(ts) > 0 {
		return ts[0]
	}
	return nil
}

// Left is the left operand.
func (e BinaryExpr) Left() Expr { return e.expr(0) }

// Right is the right operand.
func (e BinaryExpr) Right() Expr { return e.expr(1) }

// RangeExpr is `a..b`, `a..`, `..b` or `..`.
type RangeExpr struct{ *Node }

func (RangeExpr) isExpr() {}

// Low is what stands before the dots, nil if nothing does.
func (e RangeExpr) Low() Expr { return e.side(true) }

// High is what stands after the dots, nil if nothing does.
func (e RangeExpr) High() Expr { return e.side(false) }

func (e RangeExpr) side(low bool) Expr {
	dots := e.Token(TDotDot)
	for _, n := range e.filter(clExpr) {
		if (n.Start() < dots.Start()) == low {
			return ExprOf(n)
		}
	}
	return nil
}

// Arg is an argument in parentheses or brackets. In brackets its value may be
// a RangeExpr (slice) or NewAxis.
type Arg struct{ *Node }

// Name is the name before `=`, nil for a positional argument.
func (a Arg) Name() *Token { return a.name() }

// Value is the argument.
func (a Arg) Value() Expr { return a.expr(0) }

func argsOf(list *Node) []Arg {
	return views(list.ChildrenOf(NArg), func(n *Node) Arg { return Arg{n} })
}

// NewAxis is `_` in brackets.
type NewAxis struct{ *Node }

func (NewAxis) isExpr() {}

// CallExpr is `f(args)`.
type CallExpr struct{ *Node }

func (CallExpr) isExpr() {}

// Callee is what is called; a FieldExpr for methods and for names in modules.
func (e CallExpr) Callee() Expr { return e.expr(0) }

// Args are the arguments.
func (e CallExpr) Args() []Arg { return argsOf(e.Child(NArgList)) }

// IndexExpr is `a[args]`: an index, a slice or generic arguments; the resolver decides.
type IndexExpr struct{ *Node }

func (IndexExpr) isExpr() {}

// Base is what stands before the brackets.
func (e IndexExpr) Base() Expr { return e.expr(0) }

// Args are what stands in the brackets.
func (e IndexExpr) Args() []Arg { return argsOf(e.Child(NBracketArgs)) }

// FieldExpr is `a.name` or `a.0`.
type FieldExpr struct{ *Node }

func (FieldExpr) isExpr() {}

// Base is what stands before the point.
func (e FieldExpr) Base() Expr { return e.expr(0) }

// Field is the name (TIdent) or position (TInt) after the point.
func (e FieldExpr) Field() *Token { return e.Token(TIdent, TInt) }

// StructExpr is `Path { field: e, field }`, perhaps with arguments: `Path[3] { ... }`.
type StructExpr struct{ *Node }

func (StructExpr) isExpr() {}

// Type names the struct: a NameExpr, FieldExpr or IndexExpr.
func (e StructExpr) Type() Expr { return e.expr(0) }

// Fields are the fields as written.
func (e StructExpr) Fields() []FieldInit {
	return views(e.Child(NFieldInitList).ChildrenOf(NFieldInit), func(n *Node) FieldInit { return FieldInit{n} })
}

// FieldInit is `field: e`, or `field` which takes the variable of that name.
type FieldInit struct{ *Node }

// Name is the field's name.
func (f FieldInit) Name() *Token { return f.name() }

// Value is what follows the colon; nil for the short form.
func (f FieldInit) Value() Expr {
	if f.Token(TColon) == nil {
		return nil
	}
	return f.expr(0)
}

// IfExpr is `if c { } else { }`.
type IfExpr struct{ *Node }

func (IfExpr) isExpr() {}

// Cond is the condition.
func (e IfExpr) Cond() Expr { return e.expr(0) }

// Then is the first block.
func (e IfExpr) Then() Block {
	if n := e.nth(clExpr, 1); n.Kind() == NBlock {
		return Block{n}
	}
	return Block{}
}

// Else is a Block or IfExpr; nil without `else`.
func (e IfExpr) Else() Expr {
	if e.Token(TKwElse) == nil {
		return nil
	}
	return e.expr(2)
}

// MatchExpr is `match e { arms }`.
type MatchExpr struct{ *Node }

func (MatchExpr) isExpr() {}

// Subject is what is matched.
func (e MatchExpr) Subject() Expr { return e.expr(0) }

// Arms are the arms.
func (e MatchExpr) Arms() []MatchArm {
	return views(e.Child(NMatchArmList).ChildrenOf(NMatchArm), func(n *Node) MatchArm { return MatchArm{n} })
}

// MatchArm is `pattern if guard => value`.
type MatchArm struct{ *Node }

// Pattern is the arm's pattern.
func (a MatchArm) Pattern() Pattern { return a.pattern(0) }

// Guard is the condition after `if`; nil without.
func (a MatchArm) Guard() Expr {
	if g := a.Child(NGuard); g != nil {
		return g.expr(0)
	}
	return nil
}

// Value is the arm's value.
func (a MatchArm) Value() Expr { return a.expr(0) }

// Binding is `i in e` in a head.
type Binding struct{ *Node }

// Name is the variable; nil for `_`.
func (b Binding) Name() *Token { return b.name() }

// Range is what it runs over, mostly a RangeExpr.
func (b Binding) Range() Expr { return b.expr(0) }

func bindings(n *Node) []Binding {
	return views(n.ChildrenOf(NBinding), func(n *Node) Binding { return Binding{n} })
}

// ForExpr is `for i in a..b while c { }`.
type ForExpr struct{ *Node }

func (ForExpr) isExpr() {}

// Bindings are the variables, outermost first.
func (e ForExpr) Bindings() []Binding { return bindings(e.Node) }

// While is the condition after `while`; nil without.
func (e ForExpr) While() Expr {
	if w := e.Child(NWhile); w != nil {
		return w.expr(0)
	}
	return nil
}

// Body is the block.
func (e ForExpr) Body() Block { return e.block() }

// BinderExpr is `map i in a..b { e }` and its kin.
type BinderExpr struct{ *Node }

func (BinderExpr) isExpr() {}

// Op is the word: map sum prod min max any all.
func (e BinderExpr) Op() *Token { return e.Token(TKwBinder) }

// Bindings are the variables, outermost first.
func (e BinderExpr) Bindings() []Binding { return bindings(e.Node) }

// Body is the block.
func (e BinderExpr) Body() Block { return e.block() }

// LambdaExpr is `fn(x, y) e`.
type LambdaExpr struct{ *Node }

func (LambdaExpr) isExpr() {}

// Params are the parameters.
func (e LambdaExpr) Params() []Param { return paramsOf(e.Node) }

// Result is the written result type, nil if left out.
func (e LambdaExpr) Result() TypeExpr { return e.optType() }

// Body is the expression.
func (e LambdaExpr) Body() Expr { return e.expr(0) }
