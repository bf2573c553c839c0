package frontend

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

func mustCompile(t *testing.T, src string, o Options) *graph.Graph {
	t.Helper()
	res, ds := compileText(src, o)
	if res.Graph == nil {
		t.Fatalf("%s\ndoes not compile:\n%s", src, texts(ds))
	}
	return res.Graph
}

func fingerprint(t *testing.T, g *graph.Graph) string {
	t.Helper()
	d, err := g.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return d.String()
}

// golden compares with a file of testdata; KERA_UPDATE=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("KERA_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with KERA_UPDATE=1 and look at the change\n%s", file, got)
	}
}

func graphText(t *testing.T, g *graph.Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.Text(&b, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const pidSource = `
struct Pid { acc: f64, prev: f64 }
const KP: f64 = 2.0
fn clip(x: f64, limit: f64) -> f64 { min(max(x, -limit), limit) }
/// One step.
pub fn step(s: Pid, want: f64, got: f64) -> (Pid, f64) {
    let e = want - got
    let acc = clip(s.acc + e * 0.25, 8.0)
    (Pid { acc, prev: e }, KP * e + acc + (e - s.prev) * 0.5)
}
`

// TestGolden keeps the graphs of a few programs readable and stable.
func TestGolden(t *testing.T) {
	for name, src := range map[string]string{
		"pid":   pidSource,
		"arith": "pub fn f(x: i32, y: i32) -> i32 { if x > y { x * y } else { x / y - 1 } }",
		"fir": `pub fn fir[n, t](x: i16[n], h: i16[t]) -> i32[n - t + 1] where n >= t {
    map i in 0..n - t + 1 { sum k in 0..t { i32(x[i + t - 1 - k]) * i32(h[k]) } }
}
export fir[n = 8, t = 3]`,
		"loop": `pub fn gcd(a: i64, b: i64) -> i64 {
    let mut x = a
    let mut y = b
    for _ in 0..96 while y != 0 {
        let r = x % y
        x = y
        y = r
    }
    x
}`,
		"dense": `pub fn layer[m](x: f32[m, 3], w: f32[3, 2], b: f32[2]) -> i64[m] { argmax(max(x @ w + b[_, ..], 0.0), axis = 1) }
export layer[m = 4]`,
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".graph", graphText(t, mustCompile(t, src, Options{})))
		})
	}
}

// TestFingerprintKeeps: what a reader may change without changing the program.
func TestFingerprintKeeps(t *testing.T) {
	want := fingerprint(t, mustCompile(t, pidSource, Options{}))
	for name, src := range map[string]string{
		"a local's name":   strings.ReplaceAll(pidSource, "let e = want - got", "let gap = want - got\n    let e = gap"),
		"renamed":          strings.NewReplacer(" e ", " err ", "= e\n", "= err\n", "+ e ", "+ err ", "(e ", "(err ", "prev: e ", "prev: err ").Replace(pidSource),
		"a private name":   strings.ReplaceAll(pidSource, "clip", "saturate"),
		"a constant's":     strings.ReplaceAll(pidSource, "KP", "GAIN"),
		"a parameter":      strings.ReplaceAll(pidSource, "limit", "bound"),
		"layout":           strings.ReplaceAll(strings.ReplaceAll(pidSource, ", ", " ,\n        "), "{ min", "{ // a comment\n min"),
		"order":            pidSource[strings.Index(pidSource, "/// One"):] + pidSource[:strings.Index(pidSource, "/// One")],
		"struct's name":    strings.ReplaceAll(pidSource, "Pid", "Controller"),
		"an unused helper": pidSource + "fn unused(x: f64) -> f64 { x }\n",
		"a test":           pidSource + "test \"t\" { assert true }\n",
		"literal's form":   strings.ReplaceAll(pidSource, "0.25", "0x1p-2"),
	} {
		if got := fingerprint(t, mustCompile(t, src, Options{})); got != want {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	for name, src := range map[string]string{
		"a field's name":  strings.ReplaceAll(pidSource, "prev", "last"),
		"an input's name": strings.ReplaceAll(pidSource, "got", "found"),
		"an export":       strings.ReplaceAll(pidSource, "pub fn step", "pub fn advance"),
		"a number":        strings.ReplaceAll(pidSource, "0.25", "0.26"),
		"an order":        strings.ReplaceAll(pidSource, "KP * e + acc", "acc + KP * e"),
	} {
		if got := fingerprint(t, mustCompile(t, src, Options{})); got == want {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
}

// TestConstantChangesAncestors: changing one constant changes exactly the nodes
// above it.
func TestConstantChangesAncestors(t *testing.T) {
	a := mustCompile(t, pidSource, Options{})
	b := mustCompile(t, strings.ReplaceAll(pidSource, "e * 0.25", "e * 0.125"), Options{})
	inA, inB := digests(a), digests(b)
	isQuarter := func(n graph.NodeID) bool {
		data, err := a.ConstBytes(n)
		return err == nil && len(data) == 8 && data[7] == 0x3f && data[6] == 0xd0
	}
	above := ancestors(a, isQuarter)
	if len(above) < 4 {
		t.Fatalf("only %d nodes above the constant", len(above))
	}
	left := map[digest.D]bool{}
	for _, d := range inB {
		left[d] = true
	}
	for n, d := range inA {
		kept := left[d]
		if kept == above[n] {
			t.Errorf("node %d (%v): kept %v, above the constant %v", n, a.Op(n), kept, above[n])
		}
	}
	if len(inA) != len(inB) {
		t.Errorf("%d nodes became %d", len(inA), len(inB))
	}
}

// digests maps the nodes that the exports reach to their digests, and back.
func digests(g *graph.Graph) nodeSet {
	out := nodeSet{}
	for _, x := range g.Exports {
		for _, r := range g.RegionsUnder(x.Region) {
			for _, n := range g.Order(r) {
				out[n] = g.Digest(n)
			}
		}
	}
	return out
}

type nodeSet map[graph.NodeID]digest.D

// ancestors are the nodes from which a node that is picked can be reached,
// itself included, through inputs and contained regions.
func ancestors(g *graph.Graph, pick func(graph.NodeID) bool) map[graph.NodeID]bool {
	memo, regions := map[graph.NodeID]bool{}, map[graph.RegionID]bool{}
	var node func(n graph.NodeID) bool
	region := func(r graph.RegionID) bool {
		if v, ok := regions[r]; ok {
			return v
		}
		hit := false
		for _, x := range g.Results(r) {
			hit = node(x.Node) || hit
		}
		regions[r] = hit
		return hit
	}
	node = func(n graph.NodeID) bool {
		if v, ok := memo[n]; ok {
			return v
		}
		hit := pick(n)
		for _, in := range g.Ins(n) {
			hit = node(in.Node) || hit
		}
		for _, r := range g.Regions(n) {
			hit = region(r) || hit
		}
		memo[n] = hit
		return hit
	}
	for _, x := range g.Exports {
		region(x.Region)
	}
	out := map[graph.NodeID]bool{}
	for n, hit := range memo {
		if hit {
			out[n] = true
		}
	}
	return out
}

// TestSpans: every node of the graph has a place in its file.
func TestSpans(t *testing.T) {
	g := mustCompile(t, pidSource, Options{})
	for n := range digests(g) {
		if g.Op(n).String() != "param" && len(g.Prov.Spans[n]) == 0 {
			t.Errorf("node %d (%v) has no place", n, g.Op(n))
		}
	}
	if len(g.Prov.Files) != 1 || g.Prov.Files[0] != "main.kera" {
		t.Error(g.Prov.Files)
	}
}
