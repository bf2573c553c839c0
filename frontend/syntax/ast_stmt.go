package syntax

// StmtOf wraps a statement node.
func StmtOf(n *Node) Stmt {
	switch n.Kind() {
	case NLetStmt:
		return LetStmt{n}
	case NAssignStmt:
		return AssignStmt{n}
	case NAssertStmt:
		return AssertStmt{n}
	case NExprStmt:
		return ExprStmt{n}
	}
	panic("BUG: not a statement: " + n.Kind().String())
}

// Block is `{ ... }`; its value is that of its tail.
type Block struct{ *Node }

func (Block) isExpr() {}

// Stmts are all statements, the tail included.
func (b Block) Stmts() []Stmt { return views(b.filter(clStmt), StmtOf) }

// Tail is the last statement's expression if the last statement is an
// expression, else nil: the block's value is then the empty tuple.
func (b Block) Tail() Expr {
	children := b.Children()
	if len(children) == 0 {
		return nil
	}
	last := children[len(children)-1]
	if last.Kind() != NExprStmt {
		return nil
	}
	return ExprStmt{last}.Expr()
}

// HasErrors reports whether a piece of the block could not be parsed, so that
// its value is not known.
func (b Block) HasErrors() bool { return b.Child(NError) != nil }

// LetStmt is `let p: T = e`.
type LetStmt struct{ *Node }

func (LetStmt) isStmt() {}

// Pattern is what is bound.
func (s LetStmt) Pattern() Pattern { return s.pattern(0) }

// Type is the written type, nil if left out.
func (s LetStmt) Type() TypeExpr { return s.optType() }

// Value is the initial value.
func (s LetStmt) Value() Expr { return s.expr(0) }

// AssignStmt is `place = e` or `place += e`.
type AssignStmt struct{ *Node }

func (AssignStmt) isStmt() {}

// Place is the left side: a name, field or index expression.
func (s AssignStmt) Place() Expr { return s.expr(0) }

// Op is the operator's token; see Kind.BaseOp.
func (s AssignStmt) Op() *Token {
	for _, t := range s.Tokens() {
		if t.Kind().IsAssignOp() {
			return t
		}
	}
	return nil
}

// Value is the right side.
func (s AssignStmt) Value() Expr { return s.expr(1) }

// AssertStmt is `assert e` or `assert e, "message"`.
type AssertStmt struct{ *Node }

func (AssertStmt) isStmt() {}

// Cond is what must hold.
func (s AssertStmt) Cond() Expr { return s.expr(0) }

// Message is the string token, nil without.
func (s AssertStmt) Message() *Token { return s.Token(TString) }

// ExprStmt is an expression as a statement.
type ExprStmt struct{ *Node }

func (ExprStmt) isStmt() {}

// Expr is the expression.
func (s ExprStmt) Expr() Expr { return s.expr(0) }

// PatternOf wraps a pattern node; anything else gives BadPat.
func PatternOf(n *Node) Pattern {
	switch n.Kind() {
	case NNamePat:
		return NamePat{n}
	case NWildPat:
		return WildPat{n}
	case NTuplePat:
		return TuplePat{n}
	case NStructPat:
		return StructPat{n}
	case NVariantPat:
		return VariantPat{n}
	case NPathPat:
		return PathPat{n}
	case NLiteralPat:
		return LiteralPat{n}
	}
	return BadPat{n}
}

// BadPat stands where a pattern is missing or malformed; already reported.
type BadPat struct{ *Node }

func (BadPat) isPattern() {}

// NamePat binds a name; in `match` it may also name a constant or variant.
type NamePat struct{ *Node }

func (NamePat) isPattern() {}

// Name is the name bound.
func (p NamePat) Name() *Token { return p.name() }

// IsMut reports `mut`.
func (p NamePat) IsMut() bool { return p.Token(TKwMut) != nil }

// WildPat is `_`.
type WildPat struct{ *Node }

func (WildPat) isPattern() {}

// TuplePat is `(p, q)`.
type TuplePat struct{ *Node }

func (TuplePat) isPattern() {}

// Elems are the components.
func (p TuplePat) Elems() []Pattern { return views(p.filter(clPat), PatternOf) }

// IsParen reports `(p)`: one component and no comma.
func (p TuplePat) IsParen() bool { return len(p.Elems()) == 1 && p.Token(TComma) == nil }

// StructPat is `Path { field, field: p }`.
type StructPat struct{ *Node }

func (StructPat) isPattern() {}

// Path names the struct.
func (p StructPat) Path() Path { return p.path() }

// Fields are the fields.
func (p StructPat) Fields() []FieldPat {
	return views(p.ChildrenOf(NFieldPat), func(n *Node) FieldPat { return FieldPat{n} })
}

// HasRest reports `..`: the other fields are not looked at.
func (p StructPat) HasRest() bool { return p.Token(TDotDot) != nil }

// FieldPat is `field: p`, or `field` which binds that name, perhaps with `mut`.
type FieldPat struct{ *Node }

// Name is the field's name.
func (p FieldPat) Name() *Token { return p.name() }

// IsMut reports `mut field`.
func (p FieldPat) IsMut() bool { return p.Token(TKwMut) != nil }

// Pattern is what follows the colon; nil for the short form.
func (p FieldPat) Pattern() Pattern {
	if p.Token(TColon) == nil {
		return nil
	}
	return p.pattern(0)
}

// VariantPat is `Path(p, q)`.
type VariantPat struct{ *Node }

func (VariantPat) isPattern() {}

// Path names the variant.
func (p VariantPat) Path() Path { return p.path() }

// Elems are the payload's patterns.
func (p VariantPat) Elems() []Pattern { return views(p.filter(clPat), PatternOf) }

// PathPat is a path of at least two names.
type PathPat struct{ *Node }

func (PathPat) isPattern() {}

// Path is the path.
func (p PathPat) Path() Path { return p.path() }

// LiteralPat is a literal.
type LiteralPat struct{ *Node }

func (LiteralPat) isPattern() {}

// Literal is the literal.
func (p LiteralPat) Literal() LiteralExpr { return LiteralExpr{p.Child(NLiteralExpr)} }
