package frontend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
)

// notSource are codes whose example is a command line or needs other files.
var notSource = map[diag.Code]bool{
	diag.PrivateName: true, diag.ModuleName: true, diag.UnknownBind: true, diag.BuildLimit: true,
	diag.DuplicateInst: true, diag.EmbedType: true,
}

func fakeEmbed(file, array string) (types.Type, []byte, error) {
	if file != "weights.npz" {
		return types.Type{}, nil, fmt.Errorf("%s: no such file", file)
	}
	shapes := map[string]types.Type{"w": types.Tensor(types.F32, 2), "w2": types.Tensor(types.F32, 32, 10)}
	t, ok := shapes[array]
	if !ok {
		return types.Type{}, nil, fmt.Errorf("no array %s", array)
	}
	return t, make([]byte, t.NumBytes()), nil
}

// TestExplainedExamples: the example of every code of the frontend's ranges
// gives that code, once put right it gives no error.
func TestExplainedExamples(t *testing.T) {
	for _, e := range diag.Entries() {
		if e.Code < "K0200" || e.Code >= "K0500" || notSource[e.Code] {
			continue
		}
		has := func(src string) (bool, diag.List) {
			res, ds := compileText(src, Options{Embed: fakeEmbed})
			for _, u := range res.Unbound {
				ds.Add(UnboundNote(u))
			}
			for _, d := range ds {
				if d.Code == e.Code {
					return true, ds
				}
			}
			return false, ds
		}
		if ok, ds := has(e.Example); !ok {
			t.Errorf("%s: the example does not give it:\n%s\n%s", e.Code, e.Example, texts(ds))
		}
		if ok, ds := has(e.Fixed); ok || ds.HasErrors() && e.Code != diag.MissingType {
			t.Errorf("%s: the example put right gives\n%s", e.Code, texts(ds))
		}
	}
}

// TestDiagnostics keeps the wording of many errors in one run.
func TestDiagnostics(t *testing.T) {
	var b strings.Builder
	for _, src := range []string{
		"fn f(x: f64) -> f64 { y + x }\nfn g(x: f64) -> f64 { lenght(x) }\nfn h(count: i64) -> i64 { cuont + 1 }\n",
		"fn f(a: i32, b: i64) -> i64 { a + b }\nfn g(a: i32) -> i64 { a }\nfn h() -> f32[2] { [1.0, 2.0, 3.0] }\n",
		"fn f[n, m](x: f64[n], y: f64[m, n]) -> f64[n] { x + y }\nfn g[n](x: f64[n], y: f64[n + 1]) -> f64[n] { x * y }\n",
		"fn f[n](x: f64[n, n]) -> f64 { x[0, 0] }\nfn g(y: f64[2, 3]) -> f64 { f(y) }\n",
		"struct P { x: f64, y: f64 }\nfn f(p: P) -> f64 { p.z + P { x: 1.0 }.x }\n",
		"fn f() -> i8 { 300 }\nfn g() -> f32 { 1e40 }\nfn h() -> u8 { -1 }\n",
		"fn f() -> i64 {\n    let x = 1\n    x = 2\n    let mut y = 1\n    let z = map i in 0..3 { y = i\n i }\n    y\n}\n",
		"fn f(x: f64[4]) -> f64 { x[4] }\nfn g(x: f64[4]) -> f64[2] { x[3..5] }\nfn h(x: f64[4], k: i64) -> f64 { sum i in 0..k { x[i] } }\n",
		"fn even(n: i64) -> bool { odd(n - 1) }\nfn odd(n: i64) -> bool { even(n - 1) }\n",
		"fn f(x: f64[3]) -> f64 { x.sum() }\nfn g(x: f64) -> i64 { match x { _ => 1 } }\n",
		"fn f(x: int) -> i64 { if x { 1 } else { 2.0 } }\n",
		"pub fn f[n](x: f64[n]) -> f64[n - 2] { inner(x) }\nfn inner[n](x: f64[n]) -> f64[n - 2] { x[1..n - 1] }\nexport f[n = 1]\n",
		"const A: i32 = 2147483647 + 1\nconst B: i64 = [1, 2][A] + 1\nfn f() -> i64 { B }\n",
		"fn f(x: f64) -> f64 {\n    x + 1.0\n    x\n}\nfn g(x: f64) -> f64 { let y = x; }\n",
		"use std.math.{clam}\nuse std.math\nfn f() -> f64 { std.math.square(2.0) }\n",
	} {
		_, ds := compileText(src, Options{})
		fmt.Fprintf(&b, "%s---\n%s\n======\n", src, texts(ds))
	}
	golden(t, "diagnostics.txt", b.String())
}

func TestUnknownModule(t *testing.T) {
	_, ds := compileText("use std.maths\n", Options{})
	if len(ds) != 1 || ds[0].Code != diag.UnknownModule || ds[0].Fix == nil || ds[0].Fix.Edits[0].Text != "std.math" {
		t.Error(texts(ds))
	}
}

// TestNoCascade: one mistake makes one diagnostic.
func TestNoCascade(t *testing.T) {
	for _, src := range []string{
		"fn f() -> i64 { let x = nope; let y = x + 1; let z = y[2]; z.a.b(x, y) }\n",
		"fn f(x: nope) -> i64 { x + x.y }\nfn g() -> i64 { f(3) + f(1.5) }\n",
		"struct S { x: nope }\nfn f(s: S) -> i64 { s.x + S { x: 1 }.x }\n",
		"const A = nope\nfn f() -> f64[A] { broadcast(A, [A]) }\n",
		"fn f() -> nope { 1 }\nfn g() -> i64 { f() + 1 }\n",
		"fn f(a: i64) -> i64 { let (x, y) = a; x + y }\n",
		"fn f(a: i64) -> i64 { let mut b = a; b = 1.5; b }\n",
		"fn f(n: i64) -> i64 { let mut s = 0; for i in n { s += i }; s }\n",
		"fn f(a: i64[2]) -> i64 { map i in 0..q { a[i] } }\n",
		"const A: i64 = f()\nfn f() -> i64 { A }\n",
		"pub fn f() -> i64 { A + g() }\nconst A: i64 = 1\nfn g() -> i64 { B }\nconst B: i64 = f()\n",
		"struct S { s: S }\nfn f(s: S) -> S { s.s }\n",
		"type A = B\ntype B = A\nfn f(a: A) -> B { a }\n",
		"const A: i64 = B\nconst B: i64 = A\nfn f(x: f64[A]) -> f64[B] { x }\n",
		"use nowhere.{a, b}\nfn f() -> i64 { 1 }\n",
	} {
		_, ds := compileText(src, Options{})
		n := 0
		for _, d := range ds {
			if d.Severity == diag.Error {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s%d errors:\n%s", src, n, texts(ds))
		}
	}
}
