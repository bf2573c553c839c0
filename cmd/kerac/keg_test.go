package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

const sample = `module sample
struct State { sum: f64, count: i64 }
fn scaled(x: f64) -> f64 { x * 0.5 + 1.25 }
pub fn mean[n](x: f64[n]) -> f64 where n >= 1 {
    let mut s = State { sum: 0.0, count: 0 }
    for i in 0..n {
        s = State { sum: s.sum + scaled(x[i]), count: s.count + 1 }
    }
    s.sum / f64(s.count)
}
pub fn other(x: i64) -> i64 { x * 3 }
export mean[n = 5]
`

// do runs a command in this process.
func do(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = kerac(args, &out, &err)
	return out.String(), err.String(), code
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, stderr, code := do(t, args...)
	if code != 0 {
		t.Fatalf("kerac %v: exit code %d\n%s", args, code, stderr)
	}
	return out
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedKeg: a .keg cut at any byte or with any bit flipped is an error with
// exit code 4 that names the file, never another program and never a panic.
func TestDamagedKeg(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "sample.kera", sample)
	must(t, "build", "sample.kera", "-o", "sample.keg", "--target", "none")
	good, err := os.ReadFile("sample.keg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openKeg("sample.keg", good); err != nil {
		t.Fatal(err)
	}
	check := func(what string, bad []byte) {
		t.Helper()
		_, err := openKeg("bad.keg", bad)
		if code := exitCode(context.Background(), err); code != exitArtefact || !strings.HasPrefix(err.Error(), "bad.keg: malformed .keg: byte ") {
			t.Errorf("%s: exit code %d, %v", what, code, err)
		}
	}
	for n := range good {
		check(fmt.Sprintf("cut to %d bytes", n), good[:n])
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := 0; at < len(good); at += step {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << bit
			check(fmt.Sprintf("byte %d, bit %d", at, bit), bad)
		}
	}
	check("longer", append(bytes.Clone(good), 0))
	write(t, "bad.keg", string(good[:len(good)/2]))
	for _, args := range [][]string{
		{"run", "bad.keg", "--entry", "other"}, {"verify", "bad.keg"}, {"inspect", "bad.keg"}, {"fingerprint", "bad.keg"},
		{"diff", "bad.keg", "sample.keg"}, {"build", "bad.keg", "-o", "x.keg", "--target", "none"},
	} {
		out, stderr, code := do(t, args...)
		if code != exitArtefact || out != "" || !strings.Contains(stderr, "bad.keg: malformed .keg: byte ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, out, stderr)
		}
	}
	if _, err := os.Stat("x.keg"); err == nil {
		t.Error("a .keg was written from a damaged one")
	}
	if left, _ := filepath.Glob(".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestOneConstant changes one constant of a program with loops, structs and calls:
// `kerac diff` lists exactly the nodes at or above it, found here from the graphs
// alone by walking up from the constant through uses and enclosing regions.
func TestOneConstant(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.kera", sample)
	write(t, "b.kera", strings.Replace(sample, "1.25", "1.75", 1))
	for _, f := range []string{"a", "b"} {
		must(t, "build", f+".kera", "-o", f+".keg", "--target", "none")
	}
	out, _, code := do(t, "diff", "a.keg", "b.keg", "--json")
	if code != exitDifference {
		t.Fatalf("exit code %d", code)
	}
	var d diffJSON
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file  string
		value float64
		got   []diffNodeJSON
	}{{"a.keg", 1.25, d.Removed}, {"b.keg", 1.75, d.Added}} {
		p, err := (&app{}).loadKeg(c.file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range c.got {
			got = append(got, n.Digest)
		}
		slices.Sort(got)
		want := ancestors(p.graph, c.value)
		if len(want) < 5 || !slices.Equal(got, want) {
			t.Errorf("%s: diff lists %d nodes, %d lie at or above the constant", c.file, len(got), len(want))
		}
	}
	if len(d.Causes) != 1 || d.Causes[0].Entry != "mean[n=5]" || d.Causes[0].New == nil || !strings.HasPrefix(d.Causes[0].New.Node, "const ") {
		t.Errorf("causes: %+v", d.Causes)
	}
}

// ancestors gives the digests of the constant and of every node above it.
func ancestors(g *graph.Graph, value float64) []string {
	var roots []graph.RegionID
	for i := range g.Exports {
		roots = append(roots, g.Exports[i].Region)
	}
	constant := graph.B{Store: g.Store}.F64(value).Node
	above := map[graph.NodeID]bool{}
	tainted := map[graph.RegionID]bool{}
	// Contained regions come first, so one walk is enough.
	for _, r := range g.RegionsUnder(roots...) {
		for _, n := range g.Order(r) {
			up := n == constant && g.Op(n) == op.Const
			for _, in := range g.Ins(n) {
				up = up || above[in.Node]
			}
			for _, c := range g.Regions(n) {
				up = up || tainted[c]
			}
			if up {
				above[n] = true
			}
		}
		for _, x := range g.Results(r) {
			tainted[r] = tainted[r] || above[x.Node]
		}
	}
	var out []string
	for n := range above {
		out = append(out, g.Digest(n).String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestSpellingDoesNotCount: renaming a local, reformatting and reordering leave
// the fingerprint; a new name for an entry or parameter does not.
func TestSpellingDoesNotCount(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.kera", sample)
	want := must(t, "fingerprint", "a.kera")
	for _, c := range []struct {
		what     string
		old, new string
		same     bool
	}{
		{"local", "s.", "acc.", true},
		{"layout", "\n    ", "\n\n\t// a comment\n        ", true},
		{"private function", "scaled", "halved", true},
		{"order", "pub fn other(x: i64) -> i64 { x * 3 }\n", "", true},
		{"module", "module sample", "module elsewhere.sample", true},
		{"parameter", "other(x: i64) -> i64 { x", "other(y: i64) -> i64 { y", false},
		{"entry", "fn other", "fn another", false},
		{"constant", "0.5", "0.25", false},
	} {
		text := strings.ReplaceAll(sample, c.old, c.new)
		if c.what == "local" {
			text = strings.Replace(strings.ReplaceAll(text, "    s = ", "    acc = "), "let mut s ", "let mut acc ", 1)
		}
		if c.what == "order" {
			text = strings.Replace(text, "struct State", c.old+"struct State", 1)
		}
		write(t, "b.kera", text)
		if got := must(t, "fingerprint", "b.kera"); (got == want) != c.same {
			t.Errorf("%s: fingerprint equal: %v, want %v", c.what, got == want, c.same)
		}
	}
}
