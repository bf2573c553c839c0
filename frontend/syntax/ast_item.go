package syntax

// SourceFile is the root.
type SourceFile struct{ *Node }

// Source is the typed root of the tree.
func (t *Tree) Source() SourceFile { return SourceFile{t.root} }

// Items are the declarations in order, module and use declarations included.
func (f SourceFile) Items() []Item {
	var out []Item
	for _, n := range f.filter(clItem) {
		out = append(out, ItemOf(n))
	}
	return out
}

// Module is the module declaration; its path is empty if there is none.
func (f SourceFile) Module() ModuleDecl { return ModuleDecl{f.Child(NModuleDecl)} }

// ItemOf wraps a declaration node.
func ItemOf(n *Node) Item {
	switch n.Kind() {
	case NModuleDecl:
		return ModuleDecl{n}
	case NUseDecl:
		return UseDecl{n}
	case NFnDecl:
		return FnDecl{n}
	case NStructDecl:
		return StructDecl{n}
	case NEnumDecl:
		return EnumDecl{n}
	case NTypeDecl:
		return TypeDecl{n}
	case NConstDecl:
		return ConstDecl{n}
	case NTestDecl:
		return TestDecl{n}
	case NExportDecl:
		return ExportDecl{n}
	}
	panic("BUG: not a declaration: " + n.Kind().String())
}

// ModuleDecl is `module a.b`.
type ModuleDecl struct{ *Node }

func (ModuleDecl) isItem() {}

// Path is the module's name.
func (d ModuleDecl) Path() Path { return d.path() }

// UseDecl is `use a.b` or `use a.b.{c, d}`.
type UseDecl struct{ *Node }

func (UseDecl) isItem() {}

// Path is everything before the list.
func (d UseDecl) Path() Path { return d.path() }

// HasList reports whether there is a `.{...}` list.
func (d UseDecl) HasList() bool { return d.Child(NUseList) != nil }

// Names are the names in the list.
func (d UseDecl) Names() []*Token { return d.Child(NUseList).TokensOf(TIdent) }

// Attr is `#[name(args)]` or `#[name]`.
type Attr struct{ *Node }

// Name is the attribute's name.
func (a Attr) Name() *Token { return a.name() }

// Args are the arguments.
func (a Attr) Args() []Arg { return argsOf(a.Child(NArgList)) }

func attrs(n *Node) []Attr {
	return views(n.ChildrenOf(NAttr), func(n *Node) Attr { return Attr{n} })
}

// GenericParam is a name in the brackets of a declaration, a dimension unless
// it has a type.
type GenericParam struct{ *Node }

// Name is the parameter's name.
func (p GenericParam) Name() *Token { return p.name() }

// Type is what follows the colon, nil if nothing does.
func (p GenericParam) Type() TypeExpr { return p.optType() }

func generics(n *Node) []GenericParam {
	return views(n.Child(NGenericParams).ChildrenOf(NGenericParam), func(n *Node) GenericParam { return GenericParam{n} })
}

func where(n *Node) []Expr { return n.Child(NWhere).exprs() }

func isPub(n *Node) bool { return n.Token(TKwPub) != nil }

// FnDecl is a function.
type FnDecl struct{ *Node }

func (FnDecl) isItem() {}

// Attrs are the attributes.
func (d FnDecl) Attrs() []Attr { return attrs(d.Node) }

// IsPub reports `pub`.
func (d FnDecl) IsPub() bool { return isPub(d.Node) }

// Name is the function's name.
func (d FnDecl) Name() *Token { return d.name() }

// Generics are the parameters in brackets.
func (d FnDecl) Generics() []GenericParam { return generics(d.Node) }

// Params are the parameters in parentheses.
func (d FnDecl) Params() []Param { return paramsOf(d.Node) }

// Result is the type after `->`, nil if there is none.
func (d FnDecl) Result() TypeExpr { return d.optType() }

// Where are the constraints.
func (d FnDecl) Where() []Expr { return where(d.Node) }

// Uses are the names of the effects.
func (d FnDecl) Uses() []*Token { return d.Child(NUses).TokensOf(TIdent) }

// Body is the block.
func (d FnDecl) Body() Block { return d.block() }

func paramsOf(n *Node) []Param {
	return views(n.Child(NParamList).ChildrenOf(NParam), func(n *Node) Param { return Param{n} })
}

// Param is a parameter of a function or lambda.
type Param struct{ *Node }

// Name is the parameter's name; nil for `_`.
func (p Param) Name() *Token { return p.name() }

// Type is its type; nil if left out, which only a lambda may.
func (p Param) Type() TypeExpr { return p.optType() }

// StructDecl is a struct.
type StructDecl struct{ *Node }

func (StructDecl) isItem() {}

// Attrs are the attributes.
func (d StructDecl) Attrs() []Attr { return attrs(d.Node) }

// IsPub reports `pub`.
func (d StructDecl) IsPub() bool { return isPub(d.Node) }

// Name is the struct's name.
func (d StructDecl) Name() *Token { return d.name() }

// Generics are the parameters in brackets.
func (d StructDecl) Generics() []GenericParam { return generics(d.Node) }

// Where are the constraints.
func (d StructDecl) Where() []Expr { return where(d.Node) }

// Fields are the fields in order.
func (d StructDecl) Fields() []FieldDecl {
	return views(d.Child(NFieldList).ChildrenOf(NFieldDecl), func(n *Node) FieldDecl { return FieldDecl{n} })
}

// FieldDecl is `name: type`.
type FieldDecl struct{ *Node }

// Name is the field's name.
func (f FieldDecl) Name() *Token { return f.name() }

// Type is the field's type.
func (f FieldDecl) Type() TypeExpr { return f.typ(0) }

// EnumDecl is an enum.
type EnumDecl struct{ *Node }

func (EnumDecl) isItem() {}

// Attrs are the attributes.
func (d EnumDecl) Attrs() []Attr { return attrs(d.Node) }

// IsPub reports `pub`.
func (d EnumDecl) IsPub() bool { return isPub(d.Node) }

// Name is the enum's name.
func (d EnumDecl) Name() *Token { return d.name() }

// Generics are the parameters in brackets.
func (d EnumDecl) Generics() []GenericParam { return generics(d.Node) }

// Variants are the variants in order.
func (d EnumDecl) Variants() []Variant {
	return views(d.Child(NVariantList).ChildrenOf(NVariant), func(n *Node) Variant { return Variant{n} })
}

// Variant is `Name` or `Name(types)`.
type Variant struct{ *Node }

// Name is the variant's name.
func (v Variant) Name() *Token { return v.name() }

// Types are the payload's types.
func (v Variant) Types() []TypeExpr { return views(v.filter(clType), TypeOf) }

// TypeDecl is `type name = type`.
type TypeDecl struct{ *Node }

func (TypeDecl) isItem() {}

// IsPub reports `pub`.
func (d TypeDecl) IsPub() bool { return isPub(d.Node) }

// Name is the new name.
func (d TypeDecl) Name() *Token { return d.name() }

// Generics are the parameters in brackets.
func (d TypeDecl) Generics() []GenericParam { return generics(d.Node) }

// Type is what it stands for.
func (d TypeDecl) Type() TypeExpr { return d.typ(0) }

// ConstDecl is `const name: type = value`.
type ConstDecl struct{ *Node }

func (ConstDecl) isItem() {}

// Attrs are the attributes.
func (d ConstDecl) Attrs() []Attr { return attrs(d.Node) }

// IsPub reports `pub`.
func (d ConstDecl) IsPub() bool { return isPub(d.Node) }

// Name is the constant's name.
func (d ConstDecl) Name() *Token { return d.name() }

// Type is its type, nil if left out.
func (d ConstDecl) Type() TypeExpr { return d.optType() }

// Value is its value.
func (d ConstDecl) Value() Expr { return d.expr(0) }

// TestDecl is `test "name" { ... }`.
type TestDecl struct{ *Node }

func (TestDecl) isItem() {}

// Name is the string token; see StringValue.
func (d TestDecl) Name() *Token { return d.Token(TString) }

// Body is the block.
func (d TestDecl) Body() Block { return d.block() }

// ExportDecl is `export f` or `export f[n = 1]`.
type ExportDecl struct{ *Node }

func (ExportDecl) isItem() {}

// Path names the function.
func (d ExportDecl) Path() Path { return d.path() }

// Args are the bindings in brackets; each should be an Arg with a name.
func (d ExportDecl) Args() []Arg { return argsOf(d.Child(NBracketArgs)) }
