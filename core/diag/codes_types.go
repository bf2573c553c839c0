package diag

// Codes of the type checker.
const (
	Mismatch      Code = "K0301"
	BadOperand    Code = "K0302"
	ShapeMismatch Code = "K0303"
	LiteralRange  Code = "K0304"
	ArgCount      Code = "K0305"
	NoField       Code = "K0306"
	NotIndexable  Code = "K0307"
	CannotInfer   Code = "K0308"
	WhereFails    Code = "K0309"
	NotADim       Code = "K0310"
	BuiltinArg    Code = "K0311"
	FieldInit     Code = "K0312"
	IndexRange    Code = "K0313"
	BadTypeArgs   Code = "K0314"
	BadWhere      Code = "K0315"
	BadRange      Code = "K0316"
	MissingType   Code = "K0317"
)

// typesCodes holds the rows K0300..K0399.
func typesCodes() []Entry {
	return []Entry{
		{Mismatch, "the type is not the expected one",
			"Nothing is converted by itself: i32 is not i64, f32 not f64, a scalar not a tensor. Convert with a\ncall of the type, which traps if the value does not fit: i32(x).",
			"fn f(x: i32) -> i64 { x }\n", "fn f(x: i32) -> i64 { i64(x) }\n"},
		{BadOperand, "an operator or function does not take this type",
			"Arithmetic takes integers and floats, wrapping (+%) and saturating (+|) forms and shifts take\nintegers, & | ^ integers and bools. f16 and bf16 are for storage: compute in f32.",
			"fn f(x: bool) -> bool { x + x }\n", "fn f(x: bool) -> bool { x | x }\n"},
		{ShapeMismatch, "shapes do not fit",
			"Two tensors combine if they have equal shapes; only scalars and axes of size 1 stretch, and\nx[_, ..] adds such an axis. Dimensions are compared as formulas: n + 1 and 1 + n are equal, n and m\nare not unless `where n == m` says so.",
			"fn f[n, m](x: f64[n], y: f64[m]) -> f64[n] { x + y }\n", "fn f[n](x: f64[n], y: f64[n]) -> f64[n] { x + y }\n"},
		{LiteralRange, "a number does not fit its type",
			"A literal has the type its context asks for, else i64 or f64. An integer must lie in the type's\nrange, and a float must not round to infinity.",
			"fn f() -> u8 { 256 }\n", "fn f() -> u8 { 255 }\n"},
		{ArgCount, "the arguments do not fit the parameters",
			"Every parameter of a function is given once, by position or by name. Options of builtin functions\n(axis, descending, ...) are given by name.",
			"fn f(x: f64[2, 3]) -> i64[2] { argmax(x, 1) }\n", "fn f(x: f64[2, 3]) -> i64[2] { argmax(x, axis = 1) }\n"},
		{NoField, "there is no such field",
			"A struct has the fields it declares, a tuple .0, .1 and so on, a scalar type its named values and\nconversions (i64.MAX, i8.wrap).",
			"fn f(t: (i64, i64)) -> i64 { t.2 }\n", "fn f(t: (i64, i64)) -> i64 { t.1 }\n"},
		{NotIndexable, "the brackets do not fit the value",
			"A tensor is indexed with one index, slice or `..` per axis; `_` adds an axis of size 1.",
			"fn f(x: f64[2, 3]) -> f64[3] { x[0] }\n", "fn f(x: f64[2, 3]) -> f64[3] { x[0, ..] }\n"},
		{CannotInfer, "a dimension does not follow from the arguments",
			"The dimension parameters of a function are solved from the shapes of its arguments and, where\nthose leave one open, from the type the context asks for. One that appears in no shape, or only in\na way that cannot be solved, is given in brackets.",
			"fn count[n]() -> f64 { f64(n) }\nfn f() -> f64 { count() }\n",
			"fn count[n]() -> f64 { f64(n) }\nfn f() -> f64 { count[3]() }\n"},
		{WhereFails, "a constraint does not hold",
			"The call makes a `where` constraint of the function false.",
			"fn f[n](x: f64[n]) -> f64 where n >= 2 { x[1] }\nfn g(x: f64[1]) -> f64 { f(x) }\n",
			"fn f[n](x: f64[n]) -> f64 where n >= 2 { x[1] }\nfn g(x: f64[2]) -> f64 { f(x) }\n"},
		{NotADim, "this is not known when the program is built",
			"Shapes are fixed when a program is built: dimensions, the length of a slice and the range of a\nbinder are made of numbers, integer constants and dimension parameters with + - * / %. A slice may\nstart at any value if both ends name it: x[i..i + 3].",
			"fn f(k: i64) -> f64 { sum i in 0..k { f64(i) } }\n", "fn f[k]() -> f64 { sum i in 0..k { f64(i) } }\n"},
		{BuiltinArg, "a builtin function does not take this argument",
			"Axes, shapes and flags are fixed when the program is built and have to fit the tensor. The note\nshows the signature.",
			"fn f(x: f64[2, 3]) -> f64[2] { sum(x, axis = 2) }\n", "fn f(x: f64[2, 3]) -> f64[2] { sum(x, axis = 1) }\n"},
		{FieldInit, "the fields of a struct are not given once each",
			"A struct literal gives every field exactly once.",
			"struct P { x: f64, y: f64 }\nfn f() -> P { P { x: 1.0 } }\n", "struct P { x: f64, y: f64 }\nfn f() -> P { P { x: 1.0, y: 2.0 } }\n"},
		{IndexRange, "an index is always out of range",
			"Whatever the inputs, this index or slice lies outside of the axis.",
			"fn f(x: f64[3]) -> f64 { x[3] }\n", "fn f(x: f64[3]) -> f64 { x[2] }\n"},
		{BadTypeArgs, "the dimensions do not fit the type",
			"A struct takes as many dimensions as it declares, a tensor one to eight, none of them negative.",
			"struct V[n] { x: f64[n] }\nfn f(v: V) -> f64 { 1.0 }\n", "struct V[n] { x: f64[n] }\nfn f[n](v: V[n]) -> f64 { 1.0 }\n"},
		{BadWhere, "this is not a constraint",
			"A `where` compares dimensions with == != < <= > >=; several are joined by a comma or &&.",
			"fn f[n](x: f64[n]) -> f64 where n { 1.0 }\n", "fn f[n](x: f64[n]) -> f64 where n > 0 { 1.0 }\n"},
		{BadRange, "a range was expected, or does not fit",
			"Loops and binder forms run over a range with both ends, a..b, of i64 values.",
			"fn f(n: i64) -> i64 {\n    let mut s = 0\n    for i in n { s += i }\n    s\n}\n",
			"fn f(n: i64) -> i64 {\n    let mut s = 0\n    for i in 0..n { s += i }\n    s\n}\n"},
		{MissingType, "a type is missing",
			"The type of an embedded constant is written out, so that the file can be checked against it.",
			"const W = embed(\"w.npz\", \"w\")\n", "const W: f32[64, 10] = embed(\"w.npz\", \"w\")\n"},
	}
}
