package op_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

var update = flag.Bool("update", os.Getenv("KERA_UPDATE") != "", "rewrite docs/ops.md")

const page = "../../docs/ops.md"

// forms gives each op's inputs and outputs for the page. The row and its type
// rule decide; this is their short form for people. T is any type the row
// takes, x[..] a tensor, trap the u32 scalar.
var forms = map[op.Code]string{
	op.Const:    "() -> T",
	op.Param:    "() -> T",
	op.Call:     "(args...) {f(args) -> results} -> results",
	op.Tuple:    "(a, b, ...) -> (a, b, ...)",
	op.Get:      "((a, b, ...)) -> field",
	op.Switch:   "(selector, args...) {arm(args) -> results}... -> results",
	op.Loop:     "(bound: i64, carried..., invariants...) {cond(trip, carried, invariants) -> bool} {body(trip, carried, invariants) -> carried} -> carried..., trips: i64",
	op.Fusion:   "(args...) {f(args) -> results} -> results",
	op.TrapIf:   "(bool) -> trap",
	op.TrapJoin: "(trap, trap) -> trap",

	op.Compare:         "(T[s], T[s]) -> bool[s]",
	op.Select:          "(bool[s], T[s], T[s]) -> T[s]",
	op.Convert:         "(T[s]) -> U[s]",
	op.Bitcast:         "(T[s]) -> U[s]",
	op.AddOverflow:     "(T[s], T[s]) -> bool[s]",
	op.SubOverflow:     "(T[s], T[s]) -> bool[s]",
	op.MulOverflow:     "(T[s], T[s]) -> bool[s]",
	op.ConvertOverflow: "(T[s]) -> bool[s]",

	op.Iota:      "() -> T[s]",
	op.Reshape:   "(T[s]) -> T[r]",
	op.Broadcast: "(T[s]) -> T[r]",
	op.Transpose: "(T[s]) -> T[permuted]",
	op.Slice:     "(T[s], start: i64 per axis) -> T[sizes]",
	op.Update:    "(T[s], T[window], start: i64 per axis) -> T[s]",
	op.Concat:    "(T[s1], T[s2], ...) -> T[joined]",
	op.Gather:    "(T[a, n, b], int[i]) -> T[a, i, b]",

	op.Map:        "(invariants...) {f(index: i64 per axis, invariants) -> T[r]..., trap?} -> T[dims, r]..., trap?",
	op.Reduce:     "(T[s]), (T[s], initial: T) -> T[kept axes]",
	op.Dot:        "(T[s], T[s]) -> T[other axes]",
	op.DotGeneral: "(T[..], U[..]) -> R[batch, left free, right free]",
	op.Sort:       "(T[s], U[s]...) -> T[s], U[s]...",
	op.ArgMin:     "(T[s]) -> i64[other axes]",
	op.ArgMax:     "(T[s]) -> i64[other axes]",
}

// form is the signature of a row; elementwise ops of one type need no entry.
func form(r *op.Info) string {
	if r.SameTypes() {
		return "(" + strings.TrimSuffix(strings.Repeat("T[s], ", r.Arity), ", ") + ") -> T[s]"
	}
	return forms[r.Code]
}

// keyDocs explains each attribute key; keys() lists them in order.
var keyDocs = map[op.Key]string{
	op.KIndex:       "which parameter of the region, or which field of the tuple",
	op.KValue:       "the constant's dense little-endian bytes: inline up to 64, else a blob's digest and length",
	op.KAxis:        "an axis, counted from 0",
	op.KAxes:        "reduce: the axes, ascending, at least one; transpose: the permutation; broadcast: the output axis of each input axis, ascending",
	op.KDims:        "the index space of a map",
	op.KSizes:       "the window's size on each axis",
	op.KStrides:     "the window's stride on each axis, at least 1; 1 where the size is at most 1",
	op.KKind:        "reduce, compare, trap_if: which one (tables below)",
	op.KOrder:       "0 IEEE (NaN is unordered, -0 = +0), 1 total order (floats only; -0 < +0, NaN greatest)",
	op.KDescending:  "1: descending",
	op.KAcc:         "how products are accumulated (table below)",
	op.KLhsBatch:    "batch axes of the left operand",
	op.KRhsBatch:    "batch axes of the right operand, paired with the left's",
	op.KLhsContract: "contracted axes of the left operand, in the order of the chain",
	op.KRhsContract: "contracted axes of the right operand, paired with the left's",
	op.KCarried:     "how many values the loop carries",
	op.KTraps:       "1: the region's last result is a trap code, joined over the index space instead of stacked",
	op.KTo:          "the integer dtype asked about, by its number",
}

var attrForms = map[op.AttrKind]string{0: "bytes or blob", op.AInt: "int", op.AInts: "ints", op.ABytes: "bytes", op.ABlob: "blob"}

// usedKeys lists the keys of all rows, ascending, with their form.
func usedKeys() (keys []op.Key, kinds map[op.Key]op.AttrKind) {
	kinds = map[op.Key]op.AttrKind{}
	last := op.Key(0)
	for _, r := range op.All() {
		for _, a := range r.Attrs {
			kinds[a.Key] = a.Kind
			last = max(last, a.Key)
		}
	}
	for k := op.Key(1); k <= last; k++ {
		if _, ok := kinds[k]; ok {
			keys = append(keys, k)
		}
	}
	return keys, kinds
}

// dtypes names the dtypes a row's data operand may have.
func dtypes(r *op.Info) string {
	var parts []string
	group := func(name string, ds ...types.DType) {
		for _, d := range ds {
			if !r.Takes(d) {
				return
			}
		}
		parts = append(parts, name)
	}
	group("bool", types.Bool)
	group("int", types.I8, types.I16, types.I32, types.I64, types.U8, types.U16, types.U32, types.U64)
	group("f32 f64", types.F32, types.F64)
	group("f16 bf16", types.F16, types.BF16)
	if len(parts) == 4 {
		return "any"
	}
	return strings.Join(parts, ", ")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func render() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# The operations")
	p("")
	p("Made from the table in `core/op` by `go test ./core/op -update`; do not edit. Op set version %d, %d operations.", op.SetVersion, len(op.All()))
	p("What each computes, to the bit, is in [spec/numerics.md](spec/numerics.md); how a node is encoded in")
	p("[spec/encoding.md](spec/encoding.md). `kerac inspect FILE --stage graph` prints graphs in these names.")
	p("")
	p("In the forms, `T[s]` is a tensor of dtype T and shape s (a scalar has rank 0), braces hold regions, `trap` is a u32")
	p("scalar. *Dtypes* are those of the first data operand; `int` is all eight integer types. Every operation is pure and total.")
	p("A declared output type is part of a node, so `const`, `param`, `convert`, `bitcast`, `iota`, `reshape` and `broadcast`")
	p("take their result from it.")
	class := op.Class(255)
	for i := range op.All() {
		r := &op.All()[i]
		if r.Class != class {
			class = r.Class
			p("")
			p("## %s%s", strings.ToUpper(class.String()[:1]), class.String()[1:])
			p("")
			p("| op | code | version | form | attributes | dtypes | meaning |")
			p("|---|---|---|---|---|---|---|")
		}
		var as []string
		for _, a := range r.Attrs {
			as = append(as, a.Key.String())
		}
		p("| `%s` | %d | %d | `%s` | %s | %s | %s |", r.Name, r.Code, r.Version, cell(form(r)), strings.Join(as, ", "), dtypes(r), cell(r.Doc))
	}
	p("")
	p("## Attributes")
	p("")
	p("| key | number | value | |")
	p("|---|---|---|---|")
	keys, kinds := usedKeys()
	for _, k := range keys {
		p("| `%v` | %d | %s | %s |", k, uint16(k), attrForms[kinds[k]], keyDocs[k])
	}
	enum(&b, "Reductions (`kind` of `reduce`)", "sum, prod, min and max take numbers; and, or and xor take integers and bool", int64(op.NumReduceKinds), func(i int64) string { return op.ReduceKind(i).String() })
	enum(&b, "Comparisons (`kind` of `compare`)", "", int64(op.NumCompareKinds), func(i int64) string { return op.CompareKind(i).String() })
	enum(&b, "Traps (`kind` of `trap_if`)", "0 is no trap and not a kind of trap_if", int64(op.NumTrapKinds), func(i int64) string { return op.TrapKind(i).String() })
	p("")
	p("## Accumulations (`acc` of `dot_general`)")
	p("")
	p("| number | name | left, right -> result |")
	p("|---|---|---|")
	for a := op.AccFMA; a < op.NumAccs; a++ {
		p("| %d | `%v` | %s |", a, a, pairs(a))
	}
	return b.Bytes()
}

func enum(b *bytes.Buffer, title, note string, n int64, name func(int64) string) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if note != "" {
		fmt.Fprintf(b, "%s%s.\n\n", strings.ToUpper(note[:1]), note[1:])
	}
	for i := range n {
		fmt.Fprintf(b, "%d `%s`", i, name(i))
		if i < n-1 {
			b.WriteString(", ")
		}
	}
	b.WriteString("\n")
}

// pairs lists the operand dtypes an accumulation takes, by its result.
func pairs(a op.Acc) string {
	var out []string
	for _, x := range types.DTypes() {
		var ys []string
		var res types.DType
		for _, y := range types.DTypes() {
			if r, ok := op.AccResult(a, x, y); ok {
				res = r
				ys = append(ys, y.String())
			}
		}
		switch {
		case len(ys) == 1:
			out = append(out, fmt.Sprintf("%v, %s -> %v", x, ys[0], res))
		case len(ys) > 1 && len(out) == 0:
			out = append(out, fmt.Sprintf("any two of %s -> %v", strings.Join(ys, " "), res))
		}
	}
	return strings.Join(out, "; ")
}

// TestPage compares docs/ops.md with the table.
func TestPage(t *testing.T) {
	want := render()
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/ops.md is not what the table says; run go test ./core/op -update")
	}
}
