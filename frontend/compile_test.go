package frontend

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/types"
)

func names(g *graph.Graph) []string {
	var out []string
	for _, x := range g.Exports {
		out = append(out, x.Name)
	}
	return out
}

func TestExports(t *testing.T) {
	src := `pub fn plain(x: f64) -> f64 { x }
pub fn gen[s, n](x: f64[s, n]) -> f64 where s >= 2 { sum(x) }
pub fn other[k](x: f64[k]) -> (f64, i64) { (sum(x), k) }
fn private(x: f64) -> f64 { x }
export gen[s = 500, n = 40]
export gen[n = 1, s = 2]
`
	res, ds := compileText(src, Options{})
	if ds.HasErrors() || !slices.Equal(names(res.Graph), []string{"gen[n=1,s=2]", "gen[n=40,s=500]", "plain"}) {
		t.Fatal(texts(ds), names(res.Graph))
	}
	if len(res.Unbound) != 1 || res.Unbound[0].Name != "other" {
		t.Error(res.Unbound)
	}
	res, ds = compileText(src, Options{Bind: map[string]int64{"k": 3, "n": 2}})
	if ds.HasErrors() || !slices.Contains(names(res.Graph), "other[k=3]") || len(res.Unbound) != 0 {
		t.Error(texts(ds), names(res.Graph), res.Unbound)
	}
	res, ds = compileText(src, Options{Bind: map[string]int64{"s": 7, "n": 2, "k": 1}})
	if ds.HasErrors() || !slices.Contains(names(res.Graph), "gen[n=2,s=7]") {
		t.Error(texts(ds), names(res.Graph))
	}
	for _, c := range []struct {
		bind map[string]int64
		code diag.Code
	}{
		{map[string]int64{"q": 1}, diag.UnknownBind},
		{map[string]int64{"s": 1, "n": 1}, diag.InstanceWhere},
		{map[string]int64{"k": -1}, diag.InstanceShape},
		{map[string]int64{"k": 1 << 50}, diag.InstanceShape},
	} {
		if _, ds := compileText(src, Options{Bind: c.bind}); len(ds) != 1 || ds[0].Code != c.code {
			t.Errorf("%v: %s", c.bind, texts(ds))
		}
	}
	if _, ds := compileText(src+"export gen[s = 2, n = 1]\n", Options{}); len(ds) != 1 || ds[0].Code != diag.DuplicateInst {
		t.Error(texts(ds))
	}
}

func TestPorts(t *testing.T) {
	g := mustCompile(t, `struct In { a: f64, b: (i64, f32[2]) }
pub fn main(s: In, x: f64) -> (In, f64) { (s, x) }
pub fn one(x: f64) -> In { In { a: x, b: (1, [1, 2]) } }
pub fn none(x: f64) { assert x > 0.0 }
`, Options{})
	paths := func(ls []graph.Leaf) string {
		var out []string
		for _, l := range ls {
			out = append(out, l.Path+": "+l.Type.String())
		}
		return strings.Join(out, ", ")
	}
	for name, want := range map[string]string{
		"main": "s.a: f64, s.b.0: i64, s.b.1: f32[2], x: f64 -> 0.a: f64, 0.b.0: i64, 0.b.1: f32[2], 1: f64",
		"one":  "x: f64 -> result.a: f64, result.b.0: i64, result.b.1: f32[2]",
		"none": "x: f64 -> ",
	} {
		x, _ := g.Export(name)
		if got := paths(g.ParamLeaves(x)) + " -> " + paths(g.ResultLeaves(x)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestBigConstants: weights over 4 KiB are bound at the root, threaded through
// calls, and do not change a region.
func TestBigConstants(t *testing.T) {
	src := `const W: f32[64, 32] = embed("w.npz", "w")
const V: f32[64, 32] = embed("w.npz", "v")
const SMALL: f32[4] = embed("w.npz", "s")
struct Layer { w: f32[64, 32], b: f32[4] }
const L: Layer = embed("w.npz", "layer")
fn inner(x: f32[64]) -> f32[32] { x @ W }
fn mid(x: f32[64]) -> f32[32] { inner(x) + x @ V }
pub fn main(x: f32[64]) -> f32[32] { mid(x) + inner(x) + SMALL[0] + L.b[1] }
pub fn rows(i: i64) -> f32 { sum k in 0..32 { L.w[i, k] } }
`
	load := func(fill byte) func(string, string) (types.Type, []byte, error) {
		return func(_, array string) (types.Type, []byte, error) {
			ts := map[string]types.Type{"w": types.Tensor(types.F32, 64, 32), "v": types.Tensor(types.F32, 64, 32), "s": types.Tensor(types.F32, 4),
				"layer.w": types.Tensor(types.F32, 64, 32), "layer.b": types.Tensor(types.F32, 4)}
			b := make([]byte, ts[array].NumBytes())
			if array != "s" && array != "layer.b" {
				b[0] = fill
			}
			return ts[array], b, nil
		}
	}
	g := mustCompile(t, src, Options{Embed: load(1)})
	x, _ := g.Export("main")
	if len(x.Bound) != 2 || x.Bound[0].Type.String() != "f32[64,32]" {
		t.Fatal(x.Bound)
	}
	if r, _ := g.Export("rows"); len(r.Bound) != 1 {
		t.Error(r.Bound)
	}
	// Equal weights are still two parameters; other weights give other
	// fingerprints, and the same regions.
	h := mustCompile(t, src, Options{Embed: load(2)})
	y, _ := h.Export("main")
	if g.RegionDigest(x.Region) != h.RegionDigest(y.Region) {
		t.Error("a region depends on the weights")
	}
	if fingerprint(t, g) == fingerprint(t, h) {
		t.Error("the fingerprint does not depend on the weights")
	}
}

func TestModules(t *testing.T) {
	files := fstest.MapFS{
		"main.kera":      {Data: []byte("module app\nuse lib.shape\nuse lib.more.{SIZE, double}\nuse std.math\npub fn main() -> f64 { double(shape.area(shape.Box { w: 2.0, h: SIZE })) + math.square(2.0) }\ntest \"main\" { assert main() == 16.0 }\n")},
		"lib/shape.kera": {Data: []byte("module lib.shape\npub struct Box { w: f64, h: f64 }\npub fn area(b: Box) -> f64 { b.w * b.h }\nfn hidden() -> f64 { 1.0 }\ntest \"area\" { assert area(Box { w: 2.0, h: 3.0 }) == 6.0 }\n")},
		"lib/more.kera":  {Data: []byte("use lib.shape\npub const SIZE: f64 = 3.0\npub fn double(x: f64) -> f64 { x + x + 0.0 * shape.area(shape.Box { w: 1.0, h: 1.0 }) }\n")},
	}
	res, ds := Compile(context.Background(), Options{FS: files, Main: "main.kera", Tests: true})
	report(t, ds)
	if got := runMain(res.Graph); got != "16" {
		t.Error(got)
	}
	if len(res.Trees) != 4 || len(res.Tests) != 2 {
		t.Error(len(res.Trees), len(res.Tests))
	}
	runTests(t, res)

	files["main.kera"].Data = []byte("use lib.shape.{hidden}\nuse lib.gone\nuse lib.shape\nfn f() -> f64 { shape.hidden() + shape.nothing() }\n")
	_, ds = Compile(context.Background(), Options{FS: files, Main: "main.kera"})
	var codes []string
	for _, d := range ds {
		codes = append(codes, string(d.Code))
	}
	if got := strings.Join(codes, " "); got != "K0204 K0203 K0204 K0201" {
		t.Error(got, texts(ds))
	}
}
