package syntax

// Kind says what a token or node is.
type Kind uint8

// Tokens begin with T, nodes with N.
const (
	None Kind = iota

	// Trivia.
	TWhitespace
	TLineComment
	TBlockComment
	TDocComment

	// Tokens with free text.
	TUnknown
	TIdent
	TInt
	TFloat
	TString

	// Punctuation.
	TLParen
	TRParen
	TLBracket
	TRBracket
	TLBrace
	TRBrace
	TComma
	TColon
	TSemicolon
	TDot
	TDotDot
	TArrow
	TFatArrow
	THash
	TUnderscore

	// Operators.
	TPlus
	TMinus
	TStar
	TSlash
	TPercent
	TAt
	TPlusWrap
	TMinusWrap
	TStarWrap
	TPlusSat
	TMinusSat
	TStarSat
	TAmp
	TPipe
	TCaret
	TShl
	TShr
	TBang
	TAmpAmp
	TPipePipe
	TEqEq
	TNotEq
	TLess
	TLessEq
	TGreater
	TGreaterEq

	// Assignment. TAssign is first, TStarSatAssign last: see IsAssignOp.
	TAssign
	TPlusAssign
	TMinusAssign
	TStarAssign
	TSlashAssign
	TPercentAssign
	TAmpAssign
	TPipeAssign
	TCaretAssign
	TShlAssign
	TShrAssign
	TPlusWrapAssign
	TMinusWrapAssign
	TStarWrapAssign
	TPlusSatAssign
	TMinusSatAssign
	TStarSatAssign

	// Reserved words.
	TKwAssert
	TKwConst
	TKwElse
	TKwEnum
	TKwFalse
	TKwFn
	TKwFor
	TKwIf
	TKwIn
	TKwLet
	TKwMatch
	TKwMut
	TKwPub
	TKwStruct
	TKwTrue
	TKwUse
	TKwWhere
	TKwWhile

	// Contextual words: the lexer calls them TIdent, the parser renames them
	// where the grammar reads them as a word.
	TKwExport
	TKwModule
	TKwTest
	TKwType
	TKwUses
	TKwBinder // map sum prod min max any all
	TKwSpace  // host device pinned unified remote

	TEOF

	// Declarations.
	NSourceFile
	NModuleDecl
	NUseDecl
	NUseList
	NFnDecl
	NStructDecl
	NEnumDecl
	NTypeDecl
	NConstDecl
	NTestDecl
	NExportDecl
	NPath
	NAttr
	NGenericParams
	NGenericParam
	NParamList
	NParam
	NWhere
	NUses
	NFieldList
	NFieldDecl
	NVariantList
	NVariant

	// Types.
	NPathType
	NTupleType
	NRefType
	NSpaceType
	NFnType

	// Statements.
	NBlock
	NLetStmt
	NAssignStmt
	NAssertStmt
	NExprStmt

	// Expressions.
	NLiteralExpr
	NNameExpr
	NParenExpr
	NTupleExpr
	NArrayExpr
	NUnaryExpr
	NBinaryExpr
	NRangeExpr
	NCallExpr
	NIndexExpr
	NFieldExpr
	NStructExpr
	NIfExpr
	NMatchExpr
	NForExpr
	NBinderExpr
	NLambdaExpr

	// Parts of expressions.
	NArgList
	NArg
	NBracketArgs
	NNewAxis
	NFieldInitList
	NFieldInit
	NMatchArmList
	NMatchArm
	NGuard
	NBinding
	NWhile

	// Patterns.
	NNamePat
	NWildPat
	NTuplePat
	NStructPat
	NFieldPat
	NVariantPat
	NPathPat
	NLiteralPat

	// What stands where an expression, type or pattern is missing; empty.
	NBadExpr
	NBadType
	NBadPat

	// Tokens that were skipped.
	NError

	numKinds
)

type class uint8

const (
	clTrivia class = 1 << iota
	clToken
	clNode
	clItem
	clType
	clStmt
	clExpr
	clPat
)

type kindRow struct {
	name  string // in dumps
	text  string // of tokens whose text is fixed
	class class
}

// kinds is the one table of kinds; a test checks that no row is missing.
var kinds = [numKinds]kindRow{
	None:          {"None", "", 0},
	TWhitespace:   {"Whitespace", "", clTrivia},
	TLineComment:  {"LineComment", "", clTrivia},
	TBlockComment: {"BlockComment", "", clTrivia},
	TDocComment:   {"DocComment", "", clTrivia},
	TUnknown:      {"Unknown", "", clToken},
	TIdent:        {"Ident", "", clToken},
	TInt:          {"Int", "", clToken},
	TFloat:        {"Float", "", clToken},
	TString:       {"String", "", clToken},

	TLParen:     {"LParen", "(", clToken},
	TRParen:     {"RParen", ")", clToken},
	TLBracket:   {"LBracket", "[", clToken},
	TRBracket:   {"RBracket", "]", clToken},
	TLBrace:     {"LBrace", "{", clToken},
	TRBrace:     {"RBrace", "}", clToken},
	TComma:      {"Comma", ",", clToken},
	TColon:      {"Colon", ":", clToken},
	TSemicolon:  {"Semicolon", ";", clToken},
	TDot:        {"Dot", ".", clToken},
	TDotDot:     {"DotDot", "..", clToken},
	TArrow:      {"Arrow", "->", clToken},
	TFatArrow:   {"FatArrow", "=>", clToken},
	THash:       {"Hash", "#", clToken},
	TUnderscore: {"Underscore", "_", clToken},

	TPlus:      {"Plus", "+", clToken},
	TMinus:     {"Minus", "-", clToken},
	TStar:      {"Star", "*", clToken},
	TSlash:     {"Slash", "/", clToken},
	TPercent:   {"Percent", "%", clToken},
	TAt:        {"At", "@", clToken},
	TPlusWrap:  {"PlusWrap", "+%", clToken},
	TMinusWrap: {"MinusWrap", "-%", clToken},
	TStarWrap:  {"StarWrap", "*%", clToken},
	TPlusSat:   {"PlusSat", "+|", clToken},
	TMinusSat:  {"MinusSat", "-|", clToken},
	TStarSat:   {"StarSat", "*|", clToken},
	TAmp:       {"Amp", "&", clToken},
	TPipe:      {"Pipe", "|", clToken},
	TCaret:     {"Caret", "^", clToken},
	TShl:       {"Shl", "<<", clToken},
	TShr:       {"Shr", ">>", clToken},
	TBang:      {"Bang", "!", clToken},
	TAmpAmp:    {"AmpAmp", "&&", clToken},
	TPipePipe:  {"PipePipe", "||", clToken},
	TEqEq:      {"EqEq", "==", clToken},
	TNotEq:     {"NotEq", "!=", clToken},
	TLess:      {"Less", "<", clToken},
	TLessEq:    {"LessEq", "<=", clToken},
	TGreater:   {"Greater", ">", clToken},
	TGreaterEq: {"GreaterEq", ">=", clToken},

	TAssign:          {"Assign", "=", clToken},
	TPlusAssign:      {"PlusAssign", "+=", clToken},
	TMinusAssign:     {"MinusAssign", "-=", clToken},
	TStarAssign:      {"StarAssign", "*=", clToken},
	TSlashAssign:     {"SlashAssign", "/=", clToken},
	TPercentAssign:   {"PercentAssign", "%=", clToken},
	TAmpAssign:       {"AmpAssign", "&=", clToken},
	TPipeAssign:      {"PipeAssign", "|=", clToken},
	TCaretAssign:     {"CaretAssign", "^=", clToken},
	TShlAssign:       {"ShlAssign", "<<=", clToken},
	TShrAssign:       {"ShrAssign", ">>=", clToken},
	TPlusWrapAssign:  {"PlusWrapAssign", "+%=", clToken},
	TMinusWrapAssign: {"MinusWrapAssign", "-%=", clToken},
	TStarWrapAssign:  {"StarWrapAssign", "*%=", clToken},
	TPlusSatAssign:   {"PlusSatAssign", "+|=", clToken},
	TMinusSatAssign:  {"MinusSatAssign", "-|=", clToken},
	TStarSatAssign:   {"StarSatAssign", "*|=", clToken},

	TKwAssert: {"KwAssert", "assert", clToken},
	TKwConst:  {"KwConst", "const", clToken},
	TKwElse:   {"KwElse", "else", clToken},
	TKwEnum:   {"KwEnum", "enum", clToken},
	TKwFalse:  {"KwFalse", "false", clToken},
	TKwFn:     {"KwFn", "fn", clToken},
	TKwFor:    {"KwFor", "for", clToken},
	TKwIf:     {"KwIf", "if", clToken},
	TKwIn:     {"KwIn", "in", clToken},
	TKwLet:    {"KwLet", "let", clToken},
	TKwMatch:  {"KwMatch", "match", clToken},
	TKwMut:    {"KwMut", "mut", clToken},
	TKwPub:    {"KwPub", "pub", clToken},
	TKwStruct: {"KwStruct", "struct", clToken},
	TKwTrue:   {"KwTrue", "true", clToken},
	TKwUse:    {"KwUse", "use", clToken},
	TKwWhere:  {"KwWhere", "where", clToken},
	TKwWhile:  {"KwWhile", "while", clToken},

	TKwExport: {"KwExport", "export", clToken},
	TKwModule: {"KwModule", "module", clToken},
	TKwTest:   {"KwTest", "test", clToken},
	TKwType:   {"KwType", "type", clToken},
	TKwUses:   {"KwUses", "uses", clToken},
	TKwBinder: {"KwBinder", "", clToken},
	TKwSpace:  {"KwSpace", "", clToken},
	TEOF:      {"EOF", "", clToken},

	NSourceFile:    {"SourceFile", "", clNode},
	NModuleDecl:    {"ModuleDecl", "", clNode | clItem},
	NUseDecl:       {"UseDecl", "", clNode | clItem},
	NUseList:       {"UseList", "", clNode},
	NFnDecl:        {"FnDecl", "", clNode | clItem},
	NStructDecl:    {"StructDecl", "", clNode | clItem},
	NEnumDecl:      {"EnumDecl", "", clNode | clItem},
	NTypeDecl:      {"TypeDecl", "", clNode | clItem},
	NConstDecl:     {"ConstDecl", "", clNode | clItem},
	NTestDecl:      {"TestDecl", "", clNode | clItem},
	NExportDecl:    {"ExportDecl", "", clNode | clItem},
	NPath:          {"Path", "", clNode},
	NAttr:          {"Attr", "", clNode},
	NGenericParams: {"GenericParams", "", clNode},
	NGenericParam:  {"GenericParam", "", clNode},
	NParamList:     {"ParamList", "", clNode},
	NParam:         {"Param", "", clNode},
	NWhere:         {"Where", "", clNode},
	NUses:          {"Uses", "", clNode},
	NFieldList:     {"FieldList", "", clNode},
	NFieldDecl:     {"FieldDecl", "", clNode},
	NVariantList:   {"VariantList", "", clNode},
	NVariant:       {"Variant", "", clNode},

	NPathType:  {"PathType", "", clNode | clType},
	NTupleType: {"TupleType", "", clNode | clType},
	NRefType:   {"RefType", "", clNode | clType},
	NSpaceType: {"SpaceType", "", clNode | clType},
	NFnType:    {"FnType", "", clNode | clType},

	NBlock:      {"Block", "", clNode | clExpr},
	NLetStmt:    {"LetStmt", "", clNode | clStmt},
	NAssignStmt: {"AssignStmt", "", clNode | clStmt},
	NAssertStmt: {"AssertStmt", "", clNode | clStmt},
	NExprStmt:   {"ExprStmt", "", clNode | clStmt},

	NLiteralExpr: {"LiteralExpr", "", clNode | clExpr},
	NNameExpr:    {"NameExpr", "", clNode | clExpr},
	NParenExpr:   {"ParenExpr", "", clNode | clExpr},
	NTupleExpr:   {"TupleExpr", "", clNode | clExpr},
	NArrayExpr:   {"ArrayExpr", "", clNode | clExpr},
	NUnaryExpr:   {"UnaryExpr", "", clNode | clExpr},
	NBinaryExpr:  {"BinaryExpr", "", clNode | clExpr},
	NRangeExpr:   {"RangeExpr", "", clNode | clExpr},
	NCallExpr:    {"CallExpr", "", clNode | clExpr},
	NIndexExpr:   {"IndexExpr", "", clNode | clExpr},
	NFieldExpr:   {"FieldExpr", "", clNode | clExpr},
	NStructExpr:  {"StructExpr", "", clNode | clExpr},
	NIfExpr:      {"IfExpr", "", clNode | clExpr},
	NMatchExpr:   {"MatchExpr", "", clNode | clExpr},
	NForExpr:     {"ForExpr", "", clNode | clExpr},
	NBinderExpr:  {"BinderExpr", "", clNode | clExpr},
	NLambdaExpr:  {"LambdaExpr", "", clNode | clExpr},

	NArgList:       {"ArgList", "", clNode},
	NArg:           {"Arg", "", clNode},
	NBracketArgs:   {"BracketArgs", "", clNode},
	NNewAxis:       {"NewAxis", "", clNode | clExpr},
	NFieldInitList: {"FieldInitList", "", clNode},
	NFieldInit:     {"FieldInit", "", clNode},
	NMatchArmList:  {"MatchArmList", "", clNode},
	NMatchArm:      {"MatchArm", "", clNode},
	NGuard:         {"Guard", "", clNode},
	NBinding:       {"Binding", "", clNode},
	NWhile:         {"While", "", clNode},

	NNamePat:    {"NamePat", "", clNode | clPat},
	NWildPat:    {"WildPat", "", clNode | clPat},
	NTuplePat:   {"TuplePat", "", clNode | clPat},
	NStructPat:  {"StructPat", "", clNode | clPat},
	NFieldPat:   {"FieldPat", "", clNode},
	NVariantPat: {"VariantPat", "", clNode | clPat},
	NPathPat:    {"PathPat", "", clNode | clPat},
	NLiteralPat: {"LiteralPat", "", clNode | clPat},

	NBadExpr: {"BadExpr", "", clNode | clExpr},
	NBadType: {"BadType", "", clNode | clType},
	NBadPat:  {"BadPat", "", clNode | clPat},
	NError:   {"Error", "", clNode},
}

func (k Kind) row() kindRow {
	if k < numKinds {
		return kinds[k]
	}
	return kinds[None]
}

func (k Kind) is(c class) bool { return k.row().class&c != 0 }

// String is the kind's name in dumps.
func (k Kind) String() string { return k.row().name }

// IsTrivia reports whether the token carries no meaning for the parser.
func (k Kind) IsTrivia() bool { return k.is(clTrivia) }

// IsToken reports whether k is a token, trivia included.
func (k Kind) IsToken() bool { return k.is(clToken | clTrivia) }

// IsExpr reports whether k is an expression node.
func (k Kind) IsExpr() bool { return k.is(clExpr) }

// IsType reports whether k is a type node.
func (k Kind) IsType() bool { return k.is(clType) }

// IsItem reports whether k is a declaration.
func (k Kind) IsItem() bool { return k.is(clItem) }

// IsStmt reports whether k is a statement.
func (k Kind) IsStmt() bool { return k.is(clStmt) }

// IsPattern reports whether k is a pattern.
func (k Kind) IsPattern() bool { return k.is(clPat) }

// IsAssignOp reports whether k is `=` or a compound assignment.
func (k Kind) IsAssignOp() bool { return k >= TAssign && k <= TStarSatAssign }

// BaseOp gives the operator of a compound assignment (`+%=` gives `+%`), None for others.
func (k Kind) BaseOp() Kind {
	text := k.row().text
	if !k.IsAssignOp() || k == TAssign {
		return None
	}
	for op := TPlus; op < TAssign; op++ {
		if kinds[op].text == text[:len(text)-1] {
			return op
		}
	}
	panic("BUG: compound assignment without operator: " + text)
}

// describe names a kind in a message.
func (k Kind) describe() string {
	switch r := k.row(); {
	case r.text != "":
		return "`" + r.text + "`"
	case k == TEOF:
		return "the end of the file"
	case k == TIdent:
		return "a name"
	case k == TInt || k == TFloat:
		return "a number"
	case k == TString:
		return "a string"
	default:
		return "a " + r.name
	}
}
