package syntax

import (
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
)

// shown are the codes whose example shows the form and not the size.
var shown = map[diag.Code]string{
	diag.TooDeep:       "fn f() -> i64 { " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300) + " }\n",
	diag.TooManyErrors: strings.Repeat("$ a\n", 200),
}

// TestExplainPages: the example of every lexer and parser code provokes exactly
// that code, and what is put right provokes none.
func TestExplainPages(t *testing.T) {
	for _, e := range diag.Entries() {
		if !strings.HasPrefix(string(e.Code), "K00") && !strings.HasPrefix(string(e.Code), "K01") {
			continue
		}
		example := e.Example
		if s, ok := shown[e.Code]; ok {
			example = s
		}
		found := false
		for _, d := range check(t, example).Diags {
			found = found || d.Code == e.Code
			if d.Code != e.Code && e.Code != diag.TooManyErrors {
				t.Errorf("%s: the example also gives\n%s", e.Code, d.Text())
			}
		}
		if !found {
			t.Errorf("%s: the example does not provoke it", e.Code)
		}
		for _, d := range check(t, e.Fixed).Diags {
			t.Errorf("%s: put right, it still gives\n%s", e.Code, d.Text())
		}
	}
}

func TestKindTable(t *testing.T) {
	names := map[string]bool{}
	for k := range numKinds {
		r := kinds[k]
		if r.name == "" || names[r.name] {
			t.Errorf("kind %d has no name of its own: %q", k, r.name)
		}
		names[r.name] = true
		if k != None && k.IsToken() == k.is(clNode) {
			t.Errorf("%s must be a token or a node", k)
		}
		if k.IsAssignOp() && k != TAssign && k.BaseOp() == None {
			t.Errorf("%s has no operator", k)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text, digits, suffix string
		float, ok            bool
	}{
		{"0", "0", "", false, true},
		{"1_000", "1000", "", false, true},
		{"0xFF_ffu8", "0xFFff", "u8", false, true},
		{"0b1_0i8", "0b10", "i8", false, true},
		{"0o17", "0o17", "", false, true},
		{"1.5f32", "1.5", "f32", true, true},
		{"1f32", "1", "f32", true, true},
		{"0x1p-3", "0x1p-3", "", true, true},
		{"0x1.8p1f64", "0x1.8p1", "f64", true, true},
		{"1_0.2_5e1_0", "10.25e10", "", true, true},
		{"0x1f32", "0x1f32", "", false, true},
		{"1e5i32", "", "", false, false},
		{"1__0", "", "", false, false},
		{"1_", "", "", false, false},
		{"1_f32", "", "", false, false},
		{"0x_1", "", "", false, false},
		{"0x", "", "", false, false},
		{"00", "", "", false, false},
		{"0b2", "", "", false, false},
		{"0b1f32", "", "", false, false},
		{"1e", "", "", false, false},
		{"1e+", "", "", false, false},
		{"0x1.8", "", "", false, false},
		{"1._5", "", "", false, false},
		{"12q", "", "", false, false},
	} {
		n, ok := ParseNumber(c.text)
		if ok != c.ok || ok && n != (Number{c.digits, c.suffix, c.float}) {
			t.Errorf("%s: %+v %v", c.text, n, ok)
		}
	}
}

func TestStrings(t *testing.T) {
	for _, c := range []struct {
		text, value string
		ok          bool
	}{
		{`""`, "", true},
		{`"a\n\"\\\u{1F600}\0"`, "a\n\"\\\U0001F600\x00", true},
		{`"\u{}"`, "", false},
		{`"\u{D800}"`, "", false},
		{`"\u{1234567}"`, "", false},
		{`"\q"`, "", false},
		{`"abc`, "", false},
		{"\"\xff\"", "", false},
	} {
		if v, ok := StringValue(c.text); v != c.value || ok != c.ok {
			t.Errorf("%s: %q %v", c.text, v, ok)
		}
	}
}

// TestShape gives the structure of expressions, fully bracketed.
func TestShape(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a + b * c", "(a + (b * c))"},
		{"a - b - c", "((a - b) - c)"},
		{"a @ b * c @ d", "(((a @ b) * c) @ d)"},
		{"a || b && c == d | e ^ f & g << h + i", "(a || (b && (c == (d | (e ^ (f & (g << (h + i))))))))"},
		{"-a[0] * !b.c(1)", "((- a[0]) * (! b.c(1)))"},
		{"-1.abs() - 1", "(-1.abs() - 1)"},
		{"a -1", "(a - 1)"},
		{"a +% b -| c *| d", "((a +% b) -| (c *| d))"},
		{"0..n - t + 1", "(0 .. ((n - t) + 1))"},
		{"&a & &mut b", "((& a) & (& b))"},
		{"fn(x) x + 1", "(fn (x + 1))"},
		{"t.0.1 + 1.5", "(t.0.1 + 1.5)"},
		{"a\n.b\n.c()", "a.b.c()"},
		{"(a\n+ b)", "(a + b)"},
	} {
		tree := check(t, "fn f() { "+c.src+" }")
		for _, d := range tree.Diags {
			t.Errorf("%s: %s", c.src, d.Text())
		}
		f := tree.Source().Items()[0].(FnDecl)
		if got := shape(f.Body().Tail()); got != c.want {
			t.Errorf("%s: %s, want %s", c.src, got, c.want)
		}
	}
}

func shape(e Expr) string {
	switch e := e.(type) {
	case BinaryExpr:
		return "(" + shape(e.Left()) + " " + e.Op().Text() + " " + shape(e.Right()) + ")"
	case UnaryExpr:
		return "(" + e.Op().Text() + " " + shape(e.Operand()) + ")"
	case RangeExpr:
		return "(" + shape(e.Low()) + " .. " + shape(e.High()) + ")"
	case ParenExpr:
		return shape(e.Inner())
	case LambdaExpr:
		return "(fn " + shape(e.Body()) + ")"
	case FieldExpr:
		return shape(e.Base()) + "." + e.Field().Text()
	case CallExpr:
		return shape(e.Callee()) + e.Child(NArgList).Text()
	case IndexExpr:
		return shape(e.Base()) + e.Child(NBracketArgs).Text()
	case nil:
		return "nil"
	}
	return e.Text()
}

// TestStatements: the number of statements of a body.
func TestStatements(t *testing.T) {
	for _, c := range []struct {
		src  string
		want int
		tail bool
	}{
		{"a\n-b", 2, true},
		{"a -\nb", 1, true},
		{"a; b;", 2, true},
		{"f(a,\nb)\n(c)", 2, true},
		{"a\n[1]", 2, true},
		{"if a { 1 }\nelse { 2 }", 1, true},
		{"let a = 1\nlet b = a\n.c", 2, false},
		{"for i in 0..3 { }\n-1", 2, true},
		{"x = P { a: 1\n+ 2, }\nx[0] += 1", 2, false},
		{"", 0, false},
	} {
		tree := check(t, "fn f() {\n"+c.src+"\n}")
		for _, d := range tree.Diags {
			t.Errorf("%s: %s", c.src, d.Text())
		}
		body := tree.Source().Items()[0].(FnDecl).Body()
		if n := len(body.Stmts()); n != c.want || (body.Tail() != nil) != c.tail {
			t.Errorf("%q: %d statements, want %d", c.src, n, c.want)
		}
	}
}

func TestViews(t *testing.T) {
	tree := check(t, `module a.b
use m.{x, y}
// not this

/// One
///   two
#[inline(n = 1)]
pub fn f[n](x: f64[n], g: fn(i64, bool) -> f64) -> (f64, i64) where n > 1 uses rand {
    let r = P[3] { a, b: 1 }
    let v: host f64[n, m.D[2]] = if a { b } else { c }
    for i in 0..n, _ in 1..2 while t { r.b = x[_, ..i, 2] }
    match v { A.B(_, z) if z => 1, P { a, b: (c, d), .. } => -2 }
}
export f[n = 4]
enum E { A, B(i64, f64) }
`)
	for _, d := range tree.Diags {
		t.Error(d.Text())
	}
	items := tree.Source().Items()
	f := items[2].(FnDecl)
	ft := f.Params()[1].Type().(FnType)
	body := f.Body().Stmts()
	lit := body[0].(LetStmt).Value().(StructExpr)
	let := body[1].(LetStmt)
	loop := body[2].(ExprStmt).Expr().(ForExpr)
	assign := loop.Body().Stmts()[0].(AssignStmt)
	arms := f.Body().Tail().(MatchExpr).Arms()
	sp := arms[1].Pattern().(StructPat)
	for i, c := range []struct{ got, want any }{
		{tree.Source().Module().Path().String(), "a.b"},
		{items[1].(UseDecl).Path().String(), "m"},
		{len(items[1].(UseDecl).Names()), 2},
		{f.Name().Text(), "f"},
		{f.IsPub(), true},
		{f.Docs(), "One\n  two"},
		{f.Attrs()[0].Name().Text(), "inline"},
		{f.Attrs()[0].Args()[0].Name().Text(), "n"},
		{f.Generics()[0].Name().Text(), "n"},
		{f.Params()[0].Type().(PathType).Args()[0].Value().Text(), "n"},
		{len(ft.Params()), 2},
		{ft.Result().Text(), "f64"},
		{len(f.Result().(TupleType).Types()), 2},
		{f.Where()[0].Text(), "n > 1"},
		{f.Uses()[0].Text(), "rand"},
		{lit.Type().(IndexExpr).Base().Text(), "P"},
		{lit.Fields()[0].Value(), nil},
		{lit.Fields()[1].Value().Text(), "1"},
		{let.Type().(SpaceType).Space().Text(), "host"},
		{let.Value().(IfExpr).Then().Tail().Text(), "b"},
		{let.Value().(IfExpr).Else().(Block).Tail().Text(), "c"},
		{loop.Bindings()[0].Name().Text(), "i"},
		{loop.Bindings()[1].Name().Text(), ""},
		{loop.While().Text(), "t"},
		{assign.Place().(FieldExpr).Field().Text(), "b"},
		{assign.Value().(IndexExpr).Args()[0].Value().Kind(), NNewAxis},
		{assign.Value().(IndexExpr).Args()[1].Value().(RangeExpr).Low(), nil},
		{len(arms[0].Pattern().(VariantPat).Elems()), 2},
		{arms[0].Guard().Text(), "z"},
		{arms[1].Value().(LiteralExpr).IsNegative(), true},
		{sp.HasRest(), true},
		{len(sp.Fields()[1].Pattern().(TuplePat).Elems()), 2},
		{items[3].(ExportDecl).Args()[0].Value().Text(), "4"},
		{len(items[4].(EnumDecl).Variants()[1].Types()), 2},
	} {
		if c.got != c.want {
			t.Errorf("%d: %v, want %v", i, c.got, c.want)
		}
	}
	// Missing parts answer without complaint.
	var none FnDecl
	if none.Name().Text() != "" || len(none.Params()) != 0 || none.Body().Tail() != nil || none.Span().IsValid() {
		t.Error("the nil view")
	}
}

// TestSharing: equal subtrees are one object, also across files.
func TestSharing(t *testing.T) {
	cache := NewCache()
	a := ParseWith(cache, diag.NewFile("a", "fn f() { a + b }\n\nfn g() { a + b }"))
	b := ParseWith(cache, diag.NewFile("b", "// c\nfn f() { a + b }"))
	first := a.Source().Items()[0].(FnDecl)
	if first.Body().green != a.Source().Items()[1].(FnDecl).Body().green || first.green != b.Source().Items()[0].(FnDecl).green {
		t.Error("equal subtrees are two objects")
	}
}
