package diag

// Codes of the parser.
const (
	Expected        Code = "K0101"
	ExpectedExpr    Code = "K0102"
	ExpectedType    Code = "K0103"
	ExpectedPattern Code = "K0104"
	ExpectedStmt    Code = "K0105"
	ExpectedItem    Code = "K0106"
	ExpectedNewline Code = "K0107"
	Unclosed        Code = "K0108"
	Unmatched       Code = "K0109"
	ReservedWord    Code = "K0110"
	ChainedCompare  Code = "K0111"
	StructInHead    Code = "K0112"
	BraceOnNewLine  Code = "K0113"
	BadPlace        Code = "K0114"
	MisplacedMut    Code = "K0115"
	BareFloat       Code = "K0116"
	ForeignForm     Code = "K0117"
	TooDeep         Code = "K0118"
	TooManyErrors   Code = "K0119"
)

// parserCodes holds the rows K0100..K0199.
func parserCodes() []Entry {
	return []Entry{
		{Expected, "something else was expected here",
			"The grammar asks for a certain token at this place; the message names it. Often the mistake is\njust before: a missing comma, bracket or operator.",
			"fn f(x i64) -> i64 { x }\n", "fn f(x: i64) -> i64 { x }\n"},
		{ExpectedExpr, "an expression was expected here",
			"Something that has a value is missing, for instance after an operator, `=` or `(`.",
			"fn f(x: i64) -> i64 { x + }\n", "fn f(x: i64) -> i64 { x + 1 }\n"},
		{ExpectedType, "a type was expected here",
			"Types are names (`f64`, `Dense[3, 4]`), tensors (`f32[n, m]`, element type first), tuples\n(`(i64, f64)`), references (`&T`, `&mut T`) and functions (`fn(f64) -> f64`).",
			"fn f(x: [f64]) -> f64 { 0.0 }\n", "fn f[n](x: f64[n]) -> f64 { 0.0 }\n"},
		{ExpectedPattern, "a pattern was expected here",
			"A pattern is a name, `_`, a tuple of patterns, a struct with fields, a variant or a literal.",
			"fn f() -> i64 {\n    let + = 1\n    2\n}\n", "fn f() -> i64 {\n    let x = 1\n    x\n}\n"},
		{ExpectedStmt, "a statement was expected here",
			"A block holds `let`, assignments, `assert` and expressions. Declarations stand at the top of a\nfile, not in blocks.",
			"fn f() -> i64 {\n    => 2\n    1\n}\n", "fn f() -> i64 {\n    1\n}\n"},
		{ExpectedItem, "a declaration was expected here",
			"At the top of a file stand only declarations: `module`, `use`, `fn`, `struct`, `enum`, `type`,\n`const`, `export` and `test`, with `pub` or attributes before them.",
			"let x = 1\n", "const X: i64 = 1\n"},
		{ExpectedNewline, "two statements on one line",
			"A statement ends at the end of its line. To put two on one line, write `;` between them. If this\nwas meant as one expression, an operator is missing.",
			"fn f(x: i64) -> i64 {\n    let y = x 2\n    y\n}\n", "fn f(x: i64) -> i64 {\n    let y = x * 2\n    y\n}\n"},
		{Unclosed, "a bracket is never closed",
			"`(`, `[` and `{` need their counterpart. The message shows the opening bracket and the place at\nwhich it could no longer be open.",
			"fn f(x: i64) -> i64 {\n    (x + 1\n}\n", "fn f(x: i64) -> i64 {\n    (x + 1)\n}\n"},
		{Unmatched, "a closing bracket without an opening one",
			"This bracket closes nothing: either it is one too many, or the opening one is missing.",
			"fn f(x: i64) -> i64 { x }\n}\n", "fn f(x: i64) -> i64 { x }\n"},
		{ReservedWord, "a reserved word is used as a name",
			"These words cannot be names: `assert const else enum false fn for if in let match mut pub struct\ntrue use where while`. Words such as `map`, `sum`, `test` or `type` can.",
			"fn f(in: i64) -> i64 { 1 }\n", "fn f(input: i64) -> i64 { input }\n"},
		{ChainedCompare, "comparisons do not chain",
			"`a < b < c` would compare a truth value with `c`. Write both comparisons and join them.",
			"fn f(a: i64, b: i64, c: i64) -> bool { a < b < c }\n", "fn f(a: i64, b: i64, c: i64) -> bool { a < b && b < c }\n"},
		{StructInHead, "a bare struct literal in a head",
			"After `if`, `match`, `for`, `while`, `where` and binders `{` begins the body. A struct literal in a\nhead needs parentheses.",
			"fn f(p: P) -> i64 {\n    if p == P { a: 1 } { 1 } else { 2 }\n}\n", "fn f(p: P) -> i64 {\n    if p == (P { a: 1 }) { 1 } else { 2 }\n}\n"},
		{BraceOnNewLine, "`{` on a line of its own",
			"A line break after an expression ends the statement, so the `{` of a body stands on the line of\nits head.",
			"fn f(c: bool) -> i64 {\n    if c\n    { 1 } else { 2 }\n}\n", "fn f(c: bool) -> i64 {\n    if c { 1 } else { 2 }\n}\n"},
		{BadPlace, "this cannot be assigned to",
			"The left side of an assignment is a name, a field or an indexed name.",
			"fn f(x: i64) -> i64 {\n    x + 1 = 2\n    x\n}\n", "fn f(x: i64) -> i64 {\n    let mut y = x\n    y = 2\n    y\n}\n"},
		{MisplacedMut, "`mut` in a place where it means nothing",
			"`mut` stands directly before the name that may change: `let mut x`, `let (mut a, b)`. Parameters\nare not `mut`; references to change are `&mut T`.",
			"fn f() -> i64 {\n    let mut (a, b) = (1, 2)\n    a + b\n}\n", "fn f() -> i64 {\n    let (mut a, b) = (1, 2)\n    a + b\n}\n"},
		{BareFloat, "a float's point is followed by a digit",
			"`1.` would read as the beginning of a field or method: write `1.0`.",
			"fn f() -> f64 { 1. }\n", "fn f() -> f64 { 1.0 }\n"},
		{ForeignForm, "a form of another language",
			"Kera has no `return`, `break`, `continue`, `loop`, unbounded `while`, `as` and `..=`. The value of a\nblock is its last expression, loops have a bound (`for i in 0..n while c { }`), casts are calls of\nthe type (`i32(x)`), and ranges leave out their end.",
			"fn f(x: i64) -> i64 {\n    return x\n}\n", "fn f(x: i64) -> i64 {\n    x\n}\n"},
		{TooDeep, "nested too deeply",
			"The compiler accepts at most 256 levels of nesting and 2048 operators in a row, far more than a\nperson reads. Give names to parts. (The example shows the form, not the depth.)",
			"fn f() -> i64 { ((((((((1)))))))) }\n", "fn f() -> i64 { 1 }\n"},
		{TooManyErrors, "too many errors in one file",
			"After a hundred errors the rest of a file's are not shown: most likely it is not Kera source. (The\nexample shows the form, not the number.)",
			"$ $ $\n", ""},
	}
}
