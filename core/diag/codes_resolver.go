package diag

// Codes of the resolver.
const (
	UnknownName      Code = "K0201"
	DuplicateName    Code = "K0202"
	UnknownModule    Code = "K0203"
	PrivateName      Code = "K0204"
	Recursion        Code = "K0205"
	CyclicDefinition Code = "K0206"
	NotMutable       Code = "K0207"
	NotInVersion     Code = "K0208"
	ParallelWrite    Code = "K0209"
	ModuleName       Code = "K0210"
	BadPattern       Code = "K0211"
	BadExport        Code = "K0212"
	NotAType         Code = "K0213"
	NotAValue        Code = "K0214"
	NotCallable      Code = "K0215"
	UnknownAttr      Code = "K0216"
	UnusedValue      Code = "K0217"
)

// resolverCodes holds the rows K0200..K0299.
func resolverCodes() []Entry {
	return []Entry{
		{UnknownName, "unknown name",
			"No variable, parameter, dimension, declaration or builtin function of this name is visible here.\nVariables are visible from their `let` to the end of the block; names of other modules need `use`.",
			"fn f(x: f64) -> f64 { y + 1.0 }\n", "fn f(x: f64) -> f64 { x + 1.0 }\n"},
		{DuplicateName, "a name is declared twice",
			"Within a module, a struct, a parameter list or a pattern each name stands for one thing. A `let`\nmay take a name again: the new variable hides the old one. The scalar types' names are taken.",
			"fn f() -> i64 { 1 }\nfn f() -> i64 { 2 }\n", "fn f() -> i64 { 1 }\nfn g() -> i64 { 2 }\n"},
		{UnknownModule, "there is no such module",
			"`use a.b` names the file a/b.kera of the package, or a module of the standard library such as\nstd.math.",
			"use std.maths\n", "use std.math\n"},
		{PrivateName, "a name is private to its module",
			"Only declarations with `pub` can be used by other modules.",
			"fn helper() -> i64 { 1 } // in module a\nuse a.{helper}              // in module b\n", "pub fn helper() -> i64 { 1 }\n"},
		{Recursion, "a function calls itself",
			"A program is built into a finite graph in which a call names its callee by digest, so neither a\nfunction nor a group of functions can call itself. Write a bounded loop.",
			"fn f(n: i64) -> i64 { if n == 0 { 1 } else { n * f(n - 1) } }\n",
			"fn f(n: i64) -> i64 {\n    let mut p = 1\n    for i in 0..n { p *= i + 1 }\n    p\n}\n"},
		{CyclicDefinition, "a definition needs itself",
			"The value of a constant, the fields of a struct or the meaning of a type name depend on themselves.",
			"const A: i64 = B + 1\nconst B: i64 = A + 1\n", "const A: i64 = 1\nconst B: i64 = A + 1\n"},
		{NotMutable, "this cannot be assigned to",
			"Only variables declared with `let mut` change. Parameters, loop variables, constants and plain\n`let` variables keep their value.",
			"fn f() -> i64 {\n    let x = 1\n    x = 2\n    x\n}\n", "fn f() -> i64 {\n    let mut x = 1\n    x = 2\n    x\n}\n"},
		{NotInVersion, "this form is not part of this version of Kera",
			"The grammar reserves forms that this version does not build: enums and `match`, functions as\nvalues, `&mut`, effects, and memory spaces other than `host`. The note says what to write instead.",
			"fn f(x: i64) -> i64 { match x { 0 => 1, _ => 2 } }\n", "fn f(x: i64) -> i64 { if x == 0 { 1 } else { 2 } }\n"},
		{ParallelWrite, "a parallel body assigns to an outer variable",
			"The elements of map, sum, prod, min, max, any and all are computed in any order, so their bodies\nmay only assign to variables declared inside. Give the value back instead, or use `for`.",
			"fn f(x: f64[3]) -> f64 {\n    let mut s = 0.0\n    let y = map i in 0..3 {\n        s += x[i]\n        s\n    }\n    s\n}\n",
			"fn f(x: f64[3]) -> f64 { sum i in 0..3 { x[i] } }\n"},
		{ModuleName, "a file is another module than it says",
			"One file is one module: a/b.kera is the module a.b. The `module` line, which may be left out,\nmust say the same.",
			"module other // in the file math.kera\n", "module math\n"},
		{BadPattern, "the pattern does not fit the value",
			"A `let` takes a value apart: a tuple pattern has as many parts as the tuple, a struct pattern\nnames the struct and its fields (`..` leaves out the rest), and every value must fit.",
			"fn f() -> i64 {\n    let (a, b) = (1, 2, 3)\n    a + b\n}\n", "fn f() -> i64 {\n    let (a, b, _) = (1, 2, 3)\n    a + b\n}\n"},
		{BadExport, "this cannot be exported so",
			"`export f[n = 8]` builds an instance of a public function of the same module and gives a number\nfor each of its dimensions.",
			"pub fn f[n](x: f64[n]) -> f64 { sum(x) }\nexport f\n", "pub fn f[n](x: f64[n]) -> f64 { sum(x) }\nexport f[n = 8]\n"},
		{NotAType, "this name is not a type",
			"A type was expected, but the name stands for a function or constant.",
			"const N: i64 = 3\nfn f(x: N) -> i64 { 1 }\n", "const N: i64 = 3\nfn f(x: f64[N]) -> i64 { 1 }\n"},
		{NotAValue, "this is not a value",
			"Functions, types, modules, ranges and strings are not values: functions are called, ranges stand\nin heads and brackets, strings in `embed`, `assert` and `test`.",
			"fn g() -> i64 { 1 }\nfn f() -> i64 { g + 1 }\n", "fn g() -> i64 { 1 }\nfn f() -> i64 { g() + 1 }\n"},
		{NotCallable, "this cannot be called",
			"Only functions, builtin functions and scalar types (which convert) are called. A struct is made\nwith braces; there are no methods.",
			"fn f(x: f64[3]) -> f64 { x.sum() }\n", "fn f(x: f64[3]) -> f64 { sum(x) }\n"},
		{UnknownAttr, "unknown attribute",
			"Attributes are hints that change no result. An unknown one is ignored.",
			"#[fast]\nfn f() -> i64 { 1 }\n", "#[inline]\nfn f() -> i64 { 1 }\n"},
		{UnusedValue, "a value is not used",
			"A statement computes a value that nothing takes. Only the last expression of a block is its\nvalue.",
			"fn f(x: i64) -> i64 {\n    x + 1\n    x\n}\n", "fn f(x: i64) -> i64 {\n    let _ = x + 1\n    x\n}\n"},
	}
}
