package e2e

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/op"
)

// sample has what a graph can hold: calls, a loop with carried state, maps, a
// switch, a struct, a large constant, checks, two entries and an instance.
const sample = `module sample

struct State { sum: f64, count: i64 }

const TABLE = map i in 0..1000 { i * i }

fn scaled(x: f64) -> f64 {
    let half = x * 0.625
    half + 1.25
}

fn pick(i: i64) -> i64 { if i < 7 { TABLE[i] } else { TABLE[i] - 11 } }

pub fn mean[n](x: f64[n]) -> f64 where n >= 1 {
    let mut s = State { sum: 0.0, count: 0 }
    for i in 0..n {
        s = State { sum: s.sum + scaled(x[i]), count: s.count + 1 }
    }
    s.sum / f64(s.count)
}

pub fn table(k: i64[4]) -> (i64[4], i64) {
    let v = map i in 0..4 { pick(k[i]) + 5 }
    (v, sum(v))
}

export mean[n = 6]
`

// TestSameBytes builds the same programs again and again, each time in another
// process and other circumstances that must not count.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sample", "digits", "var", "pid"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			put := func(dir string) {
				if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
					t.Fatal(err)
				}
				at := *w
				at.dir = w.path(dir)
				if program == "sample" {
					at.write("sample.kera", sample)
				} else {
					at.example(program)
				}
			}
			put("first")
			put("second/deeper")
			w.write("off.yaml", "cache: {off: true}\n")
			w.write("targets.yaml", "cache: {off: true}\ntargets: [wasm, \"x86:avx512\", \"x86:avx2\"]\n")
			file := program + ".kera"
			type build struct {
				what, cwd string
				env       []string
				args      []string
			}
			builds := []build{
				{"first", "first", nil, []string{file}},
				{"from cache", "first", nil, []string{file}},
				{"another folder, no cache", "second/deeper", nil, []string{file, "--config", "../../off.yaml"}},
				{"absolute path from elsewhere", ".", nil, []string{w.path("first/" + file), "--config", "off.yaml"}},
				{"relative path from elsewhere", "second", nil, []string{"../first/../first/" + file}},
				{"targets reordered", "first", nil, []string{file, "--target", "x86:avx512", "--target", "wasm", "--target", "x86:avx2", "--config", "../off.yaml"}},
				{"targets of the configuration", "first", nil, []string{file, "--config", "../targets.yaml"}},
				{"a target twice", "first", nil, []string{file, "--target", "x86", "--target", "x86:avx2", "--target", "wasm"}},
				{"one processor, another locale and time zone", "first", []string{"GOMAXPROCS=1", "LC_ALL=de_DE.UTF-8", "TZ=Asia/Tokyo", "NO_COLOR=1"}, []string{file, "--config", "../off.yaml"}},
				{"json, verbose", "first", []string{"GOGC=5"}, []string{file, "--json", "-v"}},
			}
			var want []byte
			for i, b := range builds {
				at := *w
				at.dir = w.path(b.cwd)
				out := w.path(fmt.Sprintf("out%d.keg", i))
				r := at.wantEnv(b.env, 0, append([]string{"build", "-o", out}, b.args...))
				if strings.Count(r.out, "  x86:avx2 ") != 1 && !strings.Contains(r.out, "{") {
					t.Errorf("%s: not one row for a target:\n%s", b.what, r.out)
				}
				got := w.read(out)
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s: other bytes", b.what)
				}
			}
			// Piece by piece through the stored graph.
			w.want(0, []string{"build", "first/" + file, "-o", "p.keg", "--target", "none"})
			for _, target := range []string{"x86:avx512", "wasm", "x86:avx2"} {
				w.want(0, []string{"build", "p.keg", "-o", "p.keg", "--target", target})
			}
			if !bytes.Equal(w.read("p.keg"), want) {
				t.Error("one target after another: other bytes")
			}
		})
	}
}

// TestReplaceKeepsBytes adds and replaces targets: sections of other targets and
// of the graph keep their bytes.
func TestReplaceKeepsBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("sample.kera", sample)
	w.must("build", "sample.kera", "-o", "x.keg", "--target", "x86")
	before := open(t, w.read("x.keg"))
	w.want(0, []string{"build", "x.keg", "-o", "y.keg", "--target", "wasm"}, "x86:avx2       kept", "wasm:simd128   built")
	w.must("build", "y.keg", "-o", "y.keg", "--target", "x86:avx2")
	after := open(t, w.read("y.keg"))
	if len(before.Targets) != 2 || len(after.Targets) != 3 {
		t.Fatalf("%d and %d targets", len(before.Targets), len(after.Targets))
	}
	for _, old := range before.Targets {
		i := slices.IndexFunc(after.Targets, func(n keg.Target) bool { return n.Key() == old.Key() })
		if i < 0 || !bytes.Equal(after.Targets[i].Payload, old.Payload) {
			t.Errorf("%s has other bytes", old.Name())
		}
	}
	a, b := sections(t, w.read("x.keg")), sections(t, w.read("y.keg"))
	for kind, data := range a {
		if kind < keg.KindTarget && !bytes.Equal(data, b[kind]) {
			t.Errorf("section %s has other bytes", keg.KindName(kind))
		}
	}
	w.want(0, []string{"inspect", "y.keg"}, "target       wasm:simd128", "target       x86:avx2", "target       x86:avx512")
	w.want(0, []string{"verify", "y.keg", "--cases", "3"})
	w.want(0, []string{"diff", "x.keg", "y.keg"}, "the same program")
}

func open(t *testing.T, b []byte) *keg.File {
	t.Helper()
	f, err := keg.Read(b, keg.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestOneConstant changes each number of the sample in turn. `kerac diff` must
// list exactly the nodes at or above the constants that differ, which are found
// here by walking the graphs from the exports downwards.
func TestOneConstant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.kera", sample)
	w.must("build", "a.kera", "-o", "a.keg", "--target", "none")
	a := open(t, w.read("a.keg")).Graph
	for _, c := range []struct{ old, new string }{
		{"0.625", "0.5625"}, {"1.25", "1.75"}, {"i < 7", "i < 6"}, {"- 11", "- 12"}, {"+ 5 }", "+ 9 }"}, {"count + 1 ", "count + 3 "},
	} {
		name := "b" + strings.Trim(strings.Map(letters, c.new), "-") + ".keg"
		w.write("b.kera", strings.Replace(sample, c.old, c.new, 1))
		w.must("build", "b.kera", "-o", name, "--target", "none")
		b := open(t, w.read(name)).Graph
		r := w.want(3, []string{"diff", "a.keg", name, "--json"})
		d := decode[struct {
			Same           bool
			Removed, Added []struct{ Digest, Text string }
			Common         int
		}](t, r)
		inA, inB := constants(a), constants(b)
		gone, come := minus(inA, inB), minus(inB, inA)
		if len(gone) > 1 || len(come) > 1 || len(gone)+len(come) == 0 {
			t.Errorf("%s: constants that differ: %q and %q", c.new, gone, come)
			continue
		}
		removed, added := []string{}, []string{}
		for _, n := range d.Removed {
			removed = append(removed, n.Digest)
		}
		for _, n := range d.Added {
			added = append(added, n.Digest)
		}
		allA, allB := above(a, nil), above(b, nil)
		if got := minus(allA, allB); !sameSet(got, removed) {
			t.Errorf("%s: diff says %d removed, the graphs differ by %d", c.new, len(removed), len(got))
		}
		if got := minus(allB, allA); !sameSet(got, added) {
			t.Errorf("%s: diff says %d added, the graphs differ by %d", c.new, len(added), len(got))
		}
		// Both constants are new to the other graph: then the nodes above them are
		// all that differs, and all of them differ.
		if len(gone) == 1 && len(come) == 1 {
			if want := above(a, gone); !sameSet(want, removed) || len(want) < 4 {
				t.Errorf("%s: %d removed, %d lie at or above the old constant", c.new, len(removed), len(want))
			}
			if want := above(b, come); !sameSet(want, added) {
				t.Errorf("%s: %d added, %d lie at or above the new constant", c.new, len(added), len(want))
			}
		} else {
			t.Logf("%s: the value is used elsewhere too", c.new)
		}
	}
}

func letters(r rune) rune {
	if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
		return r
	}
	return '-'
}

// above gives the digests of the nodes that are, use, or contain one of the
// nodes with the given digests; nil stands for every node.
func above(g *graph.Graph, of []string) []string {
	memo := map[graph.NodeID]bool{}
	var out []string
	var node func(n graph.NodeID) bool
	region := func(r graph.RegionID) bool {
		up := false
		for _, x := range g.Results(r) {
			up = node(x.Node) || up
		}
		return up
	}
	node = func(n graph.NodeID) bool {
		if up, seen := memo[n]; seen {
			return up
		}
		d := g.Digest(n).String()
		up := of == nil || slices.Contains(of, d)
		for _, in := range g.Ins(n) {
			up = node(in.Node) || up
		}
		for _, r := range g.Regions(n) {
			up = region(r) || up
		}
		memo[n] = up
		if up {
			out = append(out, d)
		}
		return up
	}
	for i := range g.Exports {
		region(g.Exports[i].Region)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func constants(g *graph.Graph) (out []string) {
	all := above(g, nil)
	for n := range graph.NodeID(g.NumNodes()) {
		if d := g.Digest(n).String(); g.Op(n) == op.Const && slices.Contains(all, d) {
			out = append(out, d)
		}
	}
	return out
}

func minus(a, b []string) []string {
	out := []string{}
	for _, x := range a {
		if !slices.Contains(b, x) && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && len(minus(a, b)) == 0 && len(minus(b, a)) == 0
}

// TestSpelling: what is not in the graph is not in the fingerprint.
func TestSpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.kera", sample)
	want := w.must("fingerprint", "a.kera").out
	pieces := strings.Split(strings.TrimPrefix(sample, "module sample\n\n"), "\n\n")
	slices.Reverse(pieces)
	for _, c := range []struct{ what, text string }{
		{"locals", strings.NewReplacer("half", "z9", "let v", "let result_", "pick(k[i]) + 5", "pick(k[i]) + 5", "(v, sum(v))", "(result_, sum(result_))").Replace(sample)},
		{"private names", strings.NewReplacer("scaled", "aaa", "pick", "zzz", "TABLE", "Q").Replace(sample)},
		{"layout", strings.NewReplacer("    ", "\t\t", "\n", " // x\r\n", "{ i * i }", "{\ni /* y */ * i\n}").Replace(sample)},
		{"order", "module sample\n" + strings.Join(pieces, "\n")},
		{"number spelling", strings.NewReplacer("0.625", "0x1.4p-1", "1.25", "12.50e-1", "1000", "1_000").Replace(sample)},
	} {
		w.write("b.kera", c.text)
		if r := w.must("fingerprint", "b.kera"); r.out != want {
			t.Errorf("%s: another fingerprint", c.what)
		}
	}
}
