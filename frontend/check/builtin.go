package check

import (
	"slices"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// Builtin is a row of the table of builtin functions. Package build has a
// lowering for every row, keyed by the name (a test compares the two).
type Builtin struct {
	Name  string
	Sig   string // as a reader would write it
	Doc   string // what it gives and when it traps
	Lower string // the ops it becomes

	params []string // names; a trailing "?" is optional, "..." takes the rest
	check  func(b *body, s *site) Expr
}

// site is a call of a builtin with its arguments sorted out.
type site struct {
	row  *Builtin
	at   diag.Span
	args map[string]syntax.Expr
	rest []syntax.Expr
	want *Type
}

// builtinTable is the one table of functions that are part of the language. T is
// any element type the row allows; x and y broadcast where the row says "with".
func builtinTable() map[string]*Builtin {
	return table(
		Builtin{"sqrt", "sqrt(x: T) -> T, floats", "correctly rounded square root", "sqrt", []string{"x"}, floatMap},
		Builtin{"floor", "floor(x: T) -> T, floats", "rounds towards minus infinity", "floor", []string{"x"}, floatMap},
		Builtin{"ceil", "ceil(x: T) -> T, floats", "rounds towards plus infinity", "ceil", []string{"x"}, floatMap},
		Builtin{"trunc", "trunc(x: T) -> T, floats", "rounds towards zero", "trunc", []string{"x"}, floatMap},
		Builtin{"round_even", "round_even(x: T) -> T, floats", "rounds to nearest, ties to even", "round_even", []string{"x"}, floatMap},
		Builtin{"abs", "abs(x: T) -> T, numbers", "absolute value; traps (overflow) on an integer's MIN", "abs, compare, trap_if", []string{"x"}, numberMap},
		Builtin{"popcnt", "popcnt(x: T) -> T, integers", "number of one bits", "popcnt", []string{"x"}, intMap},
		Builtin{"clz", "clz(x: T) -> T, integers", "leading zero bits, the width for 0", "clz", []string{"x"}, intMap},
		Builtin{"ctz", "ctz(x: T) -> T, integers", "trailing zero bits, the width for 0", "ctz", []string{"x"}, intMap},
		Builtin{"fma", "fma(a: T, b: T, c: T) -> T, floats", "a * b + c with one rounding; the three broadcast", "fma", []string{"a", "b", "c"}, floatZip},
		Builtin{"copysign", "copysign(x: T, sign: T) -> T, floats", "the magnitude of x with the sign of `sign`; they broadcast", "copysign", []string{"x", "sign"}, floatZip},
		Builtin{"clamp", "clamp(x: T, lo: T, hi: T) -> T, numbers", "min(max(x, lo), hi); the three broadcast", "max, min", []string{"x", "lo", "hi"}, numberZip},
		Builtin{"select", "select(c: bool, a: T, b: T) -> T", "a where c, else b, both evaluated; the three broadcast", "select", []string{"c", "a", "b"}, checkSelect},
		Builtin{"min", "min(x: T, y?: T, axis?: int) -> T, numbers", "of two with broadcasting, NaN wins; of one tensor over the axes (all if left out)", "min or reduce", []string{"x", "y?", "axis?"}, checkMinMax},
		Builtin{"max", "max(x: T, y?: T, axis?: int) -> T, numbers", "of two with broadcasting, NaN wins; of one tensor over the axes (all if left out)", "max or reduce", []string{"x", "y?", "axis?"}, checkMinMax},
		Builtin{"sum", "sum(x: T, axis?: int) -> T, numbers", "sum over the axes in the fixed order; integers trap (overflow) exactly when the sum does not fit", "reduce", []string{"x", "axis?"}, checkReduce},
		Builtin{"prod", "prod(x: T, axis?: int) -> T, numbers", "product over the axes; integers trap (overflow) exactly when the product does not fit", "reduce, loop", []string{"x", "axis?"}, checkReduce},
		Builtin{"any", "any(x: bool, axis?: int) -> bool", "whether one is true", "reduce", []string{"x", "axis?"}, checkReduce},
		Builtin{"all", "all(x: bool, axis?: int) -> bool", "whether all are true", "reduce", []string{"x", "axis?"}, checkReduce},
		Builtin{"argmin", "argmin(x: T, axis?: int) -> i64, numbers", "index of the first NaN, else of the first minimum; `axis` may be left out for one axis", "argmin", []string{"x", "axis?"}, checkArg},
		Builtin{"argmax", "argmax(x: T, axis?: int) -> i64, numbers", "index of the first NaN, else of the first maximum; `axis` may be left out for one axis", "argmax", []string{"x", "axis?"}, checkArg},
		Builtin{"sort", "sort(x: T, axis?: int, descending?: bool) -> T, numbers", "stable sort in total order along the last axis or `axis`", "sort", []string{"x", "axis?", "descending?"}, checkSort},
		Builtin{"argsort", "argsort(x: T, axis?: int, descending?: bool) -> i64, numbers", "the indices that sort x, stable", "iota, sort", []string{"x", "axis?", "descending?"}, checkSort},
		Builtin{"dot", "dot(x: T, y: T, axis?: int) -> T, floats", "sum of products along the last axis or `axis`, with fma in lanes", "dot", []string{"x", "y", "axis?"}, checkDot},
		Builtin{"matmul", "matmul(x: T, y: T, acc?: word) -> T", "x @ y with the accumulation fma (which `@` has), unfused, f64, i32 or i64; integers up to 32 bits give exact i64 sums, which trap (overflow) if they do not fit", "dot_general", []string{"x", "y", "acc?"}, checkMatmul},
		Builtin{"transpose", "transpose(x: T, axes?: [int]) -> T", "axis k of the result is axis axes[k] of x; reversed if left out", "transpose", []string{"x", "axes?"}, checkTranspose},
		Builtin{"reshape", "reshape(x: T, shape: [dim]) -> T", "the same elements, row-major, in another shape", "reshape", []string{"x", "shape"}, checkReshape},
		Builtin{"broadcast", "broadcast(x: T, shape: [dim]) -> T", "x stretched: a scalar to any shape, axes of size 1", "broadcast", []string{"x", "shape"}, checkBroadcast},
		Builtin{"concat", "concat(x: T, ..., axis?: int) -> T", "the tensors one after another along the first axis or `axis`", "concat", []string{"...", "axis?"}, checkConcat},
		Builtin{"gather", "gather(x: T, index: int, axis?: int) -> T", "slices of the first axis or `axis` at the indices; traps (index) if one is out of range", "gather, compare, reduce, trap_if", []string{"x", "index", "axis?"}, checkGather},
		Builtin{"iota", "iota(n: dim) -> i64[n]", "0, 1, ... n - 1", "iota", []string{"n"}, checkIota},
		Builtin{"len", "len(x: T, axis?: int) -> i64", "the size of the first axis or `axis`", "const", []string{"x", "axis?"}, checkLen},
	)
}

// matmulRow and bitsRow are what `@` and dtype.bits become.
var (
	matmulRow = &Builtin{Name: "matmul"}
	bitsRow   = &Builtin{Name: "bits"}
)

func table(rows ...Builtin) map[string]*Builtin {
	m := make(map[string]*Builtin, len(rows))
	for i := range rows {
		if m[rows[i].Name] != nil {
			panic("BUG: builtin declared twice: " + rows[i].Name)
		}
		m[rows[i].Name] = &rows[i]
	}
	return m
}

// Builtins lists the rows by name.
func Builtins() []*Builtin {
	var out []*Builtin
	for _, r := range builtinTable() {
		out = append(out, r)
	}
	slices.SortFunc(out, func(x, y *Builtin) int {
		if x.Name < y.Name {
			return -1
		}
		return btoi(x.Name > y.Name)
	})
	return out
}

// builtin sorts out the arguments and lets the row check them.
func (b *body) builtin(row *Builtin, e syntax.CallExpr, want *Type) Expr {
	s := &site{row: row, at: e.Span(), args: map[string]syntax.Expr{}, want: want}
	fail := func(at diag.Span, format string, args ...any) Expr {
		b.c.errorf(diag.ArgCount, at, format, args...).Notef("%s: %s", row.Sig, row.Doc)
		b.argsAnyway(e)
		return b.bad(e.Span())
	}
	next := 0
	for _, a := range e.Args() {
		name := ""
		switch {
		case a.Name() != nil:
			name = a.Name().Text()
			if !slices.Contains(row.params, name) && !slices.Contains(row.params, name+"?") {
				return fail(a.Name().Span(), "`%s` has no parameter `%s`", row.Name, name)
			}
			if !optionNames[name] {
				return fail(a.Name().Span(), "`%s` of `%s` is given by position", name, row.Name)
			}
		case next < len(row.params) && row.params[next] == "...":
			s.rest = append(s.rest, a.Value())
			continue
		case next < len(row.params):
			name = trimOpt(row.params[next])
			next++
			if optionNames[name] {
				return fail(a.Span(), "`%s` is given by name: %s = ...", name, name)
			}
		default:
			return fail(a.Span(), "`%s` takes %s, %d given", row.Name, count(len(row.params), "argument"), len(e.Args()))
		}
		if s.args[name] != nil {
			return fail(a.Span(), "`%s` is given twice", name)
		}
		s.args[name] = a.Value()
	}
	for _, p := range row.params {
		if p != "..." && trimOpt(p) == p && s.args[p] == nil {
			return fail(e.Span(), "`%s` lacks its argument `%s`", row.Name, p)
		}
	}
	if x := row.check(b, s); x != nil {
		return x
	}
	return b.bad(e.Span())
}

// optionNames are parameters that must be named.
var optionNames = map[string]bool{"axis": true, "descending": true, "axes": true, "acc": true}

func trimOpt(p string) string {
	if n := len(p); p[n-1] == '?' {
		return p[:n-1]
	}
	return p
}

// prim makes the node of a row.
func (s *site) prim(t *Type, args []Expr, ints ...int64) Expr {
	return &Prim{Node: Node{t, s.at}, Row: s.row, Args: args, Ints: ints}
}

// refuse reports arguments a row does not take; t is what was found.
func (b *body) refuse(s *site, x Expr, wants string) Expr {
	d := b.c.errorf(diag.BadOperand, x.Span(), "`%s` takes %s, not %s", s.row.Name, wants, x.Type()).Notef("%s: %s", s.row.Sig, s.row.Doc)
	if t := x.Type(); t.IsTensor() && (t.DType == types.F16 || t.DType == types.BF16) {
		d.Notef("%s is for storage only: compute in f32(...)", t.DType)
	}
	return nil
}

// tensor checks an argument that is a tensor whose element type pass accepts.
func (b *body) tensor(s *site, name string, hint *Type, pass func(types.DType) bool, wants string) Expr {
	x := b.expr(s.args[name], hint)
	if x.Type().IsBad() {
		return nil
	}
	if !x.Type().IsTensor() || !pass(x.Type().DType) {
		b.refuse(s, x, wants)
		return nil
	}
	return x
}

func isFloat(d types.DType) bool  { return d.IsFloat() }
func isInt(d types.DType) bool    { return d.IsInt() }
func isNumber(d types.DType) bool { return d.IsInt() || d.IsFloat() }
func isBool(d types.DType) bool   { return d == types.Bool }
func isAny(types.DType) bool      { return true }

// static evaluates an argument that must be an integer known at compile time
// and inside lo..hi-1; def if it is left out.
func (b *body) static(s *site, name string, def, lo, hi int64) (int64, bool) {
	e := s.args[name]
	if e == nil {
		return def, true
	}
	d, ok := b.dim(e)
	v, isNum := d.Const()
	if !ok {
		return 0, false
	}
	if !isNum || v < lo || v >= hi {
		b.c.errorf(diag.BuiltinArg, e.Span(), "`%s` of `%s` is a number from %d to %d here", name, s.row.Name, lo, hi-1)
		return 0, false
	}
	return v, true
}

// flag evaluates an argument that must be `true` or `false`.
func (b *body) flag(s *site, name string) (int64, bool) {
	e := s.args[name]
	if e == nil {
		return 0, true
	}
	lit, ok := b.expr(e, scalar(types.Bool)).(*Lit)
	if !ok || !lit.T.IsScalar(types.Bool) {
		b.c.errorf(diag.BuiltinArg, e.Span(), "`%s` of `%s` is `true` or `false`", name, s.row.Name)
		return 0, false
	}
	return int64(lit.Bits), true
}

// shape evaluates an argument that must be an array of dimensions.
func (b *body) shape(s *site, name string) ([]Dim, bool) {
	e := s.args[name]
	arr, ok := syntax.Unparen(e).(syntax.ArrayExpr)
	if !ok {
		b.c.errorf(diag.BuiltinArg, e.Span(), "`%s` of `%s` is a list of dimensions: [n, 3]", name, s.row.Name)
		return nil, false
	}
	var out []Dim
	for _, x := range arr.Elems() {
		d, good := b.dim(x)
		if v, isNum := d.Const(); good && isNum && v < 0 {
			b.c.errorf(diag.BuiltinArg, x.Span(), "a dimension is not negative")
			good = false
		}
		ok = ok && good
		out = append(out, d)
	}
	if len(out) > types.MaxRank {
		b.c.errorf(diag.BadTypeArgs, e.Span(), "a tensor has at most %d axes", types.MaxRank)
		return nil, false
	}
	return out, ok
}
