package diag

// Codes of the graph builder.
const (
	InstanceShape Code = "K0401"
	InstanceWhere Code = "K0402"
	EmbedRead     Code = "K0403"
	EmbedType     Code = "K0404"
	BuildLimit    Code = "K0405"
	UnknownBind   Code = "K0406"
	ConstTrap     Code = "K0407"
	DuplicateInst Code = "K0408"
	NotExported   Code = "K0409"
)

// buildCodes holds the rows K0400..K0499.
func buildCodes() []Entry {
	return []Entry{
		{InstanceShape, "a shape of this instance is impossible",
			"With the dimensions of this instance a shape becomes negative or too large, a slice leaves its\naxis, or an axis that needs an element is empty. A `where` constraint on the function says so to\nits callers.",
			"pub fn f[n](x: f64[n]) -> f64[n - 2] { x[2..n] }\nexport f[n = 1]\n",
			"pub fn f[n](x: f64[n]) -> f64[n - 2] where n >= 2 { x[2..n] }\nexport f[n = 8]\n"},
		{InstanceWhere, "a constraint does not hold for this instance",
			"The dimensions given by `export` or --bind, or the calls that follow from them, make a `where`\nconstraint false.",
			"pub fn f[n](x: f64[n]) -> f64 where n >= 2 { x[1] }\nexport f[n = 1]\n",
			"pub fn f[n](x: f64[n]) -> f64 where n >= 2 { x[1] }\nexport f[n = 2]\n"},
		{EmbedRead, "an embedded file cannot be read",
			"`embed(file, array)` reads a .npy or .npz file beside the source. The note says what went wrong.",
			"const W: f32[2] = embed(\"missing.npz\", \"w\")\n", "const W: f32[2] = embed(\"weights.npz\", \"w\")\n"},
		{EmbedType, "an embedded array has another type",
			"The element type and shape of the array in the file must be exactly those of the constant.",
			"const W: f32[10, 32] = embed(\"weights.npz\", \"w2\") // the file holds [32, 10]\n", "const W: f32[32, 10] = embed(\"weights.npz\", \"w2\")\n"},
		{BuildLimit, "the program is too large",
			"Calls, loops and binder bodies nest at most 64 deep in one another, and a program has at most\n10,000 instances of functions.",
			"fn a1() -> i64 { a2() }   // ... a chain of 65 functions\n", "fn a1() -> i64 { 1 }\n"},
		{UnknownBind, "--bind names no dimension",
			"No public function of the main module has a dimension of this name.",
			"kerac build f.kera -o f.keg --bind m=8   # f has only n\n", "kerac build f.kera -o f.keg --bind n=8\n"},
		{ConstTrap, "the value of a constant traps",
			"Constants are computed when the program is built. This one overflows, divides by zero, takes an\nindex out of range or fails an assertion.",
			"const A: i32 = 2147483647 + 1\n", "const A: i64 = 2147483647 + 1\n"},
		{DuplicateInst, "an instance is exported twice",
			"Two `export` lines ask for the same instance.",
			"export f[n = 8]\nexport f[n = 8]\n", "export f[n = 8]\n"},
		{NotExported, "a public function is not exported",
			"A function with free dimensions is built only for given values: write `export f[n = 8]`, or pass\n--bind n=8.",
			"pub fn f[n](x: f64[n]) -> f64 { sum(x) }\n", "pub fn f[n](x: f64[n]) -> f64 { sum(x) }\nexport f[n = 8]\n"},
	}
}
