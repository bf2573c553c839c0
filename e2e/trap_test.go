package e2e

import (
	"os"
	"strings"
	"testing"
)

const traps = `use std.math.{div_round}
pub fn over(a: i32, b: i32) -> i32 { a * b }
pub fn divide(a: i64, b: i64) -> i64 { a / b }
pub fn index(x: f64[3], i: i64) -> f64 { x[i] }
pub fn positive(x: f64) -> f64 {
    assert x > 0.0
    sqrt(x)
}
pub fn collatz(start: i64) -> i64 {
    let mut n = start
    for _ in 0..10 while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 }
    }
    n
}
fn narrow(x: i64) -> i8 { i8(x) }
fn twice(x: i64) -> i8 {
    narrow(x * 2)
}
pub fn cast(x: i64[2, 3]) -> i8[2, 3] {
    map i in 0..2, j in 0..3 { twice(x[i, j]) }
}
pub fn library(x: i64) -> i64 { div_round(7, x) }
pub fn nested(x: i64) -> i64 {
    let mut s = x
    for i in 0..4 {
        for j in 0..5 { s = s + 100 / (i + j - 5) }
    }
    s
}
`

// TestTraps: each kind, on each target and from the source: exit code 9, kind and
// place, the calls and turns on the way, and no output.
func TestTraps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("t.kera", traps)
	w.must("build", "t.kera", "-o", "t.keg")
	for name, text := range map[string]string{"big": "70000", "zero": "0", "five": "5", "minus": "-1", "x": "[1,2,3]", "seven": "27", "m": "[[1,2,3],[4,100,6]]"} {
		w.write(name+".json", text)
	}
	for _, c := range []struct {
		entry  string
		inputs string
		kind   string
		code   int
		place  string // file:line:column
		texts  []string
		path   int
	}{
		{"over", "a=big b=big", "overflow", 1, "t.kera:2:38", []string{"a * b", "^^^^^"}, 0},
		{"divide", "a=big b=zero", "division", 2, "t.kera:3:40", []string{"a / b"}, 0},
		{"index", "x=x i=five", "index", 3, "t.kera:4:42", []string{"x[i]"}, 0},
		{"index", "x=x i=minus", "index", 3, "t.kera:4:42", nil, 0},
		{"positive", "x=zero", "assert", 4, "t.kera:6:5", []string{"assert x > 0.0"}, 0},
		{"collatz", "start=seven", "loop bound", 5, "t.kera:11:5", nil, 0},
		{"cast", "x=m", "cast", 6, "t.kera:16:27", []string{"i8(x)", "narrow(x * 2)", "twice(x[i, j])", "called here", "in map 1 1"}, 3},
		{"library", "x=zero", "assert", 4, "std/math.kera:", []string{"assert b > 0", "div_round(7, x)", "called here"}, 1},
		{"nested", "x=zero", "division", 2, "t.kera:27:33", []string{"in loop 1, in loop 4"}, 2},
	} {
		for _, target := range []string{"interp", "wasm", cpu, "source"} {
			file := "t.keg"
			args := []string{"--entry", c.entry, "--output", "result=o.json"}
			if target == "source" {
				file = "t.kera"
			} else {
				args = append(args, "--target", target)
			}
			for _, in := range strings.Fields(c.inputs) {
				name, f, _ := strings.Cut(in, "=")
				args = append(args, "--input", name+"="+f+".json")
			}
			args = append([]string{"run", file}, args...)
			r := w.kerac(args...)
			if r.code == 8 && strings.Contains(r.err, "no section for") {
				continue // this machine does not run it
			}
			w.expect(r, 9, append(c.texts, "error: trap: "+c.kind+" in "+c.entry, "the run gave no outputs", "--> "+c.place)...)
			if r.out != "" || w.exists("o.json") {
				t.Errorf("%s on %s: outputs of a trapped run: %q", c.entry, target, r.out)
			}
			j := decode[struct {
				Error struct {
					Exit   int
					Kind   string
					Detail struct {
						Kind          string
						Code          int
						Entry, Target string
						Place         struct {
							File         string
							Line, Column int
						}
						Path []struct {
							Op    string
							Index []int
							Place struct{ Line int }
						}
					}
				}
			}](t, w.want(9, append(args, "--json")))
			d := j.Error.Detail
			if j.Error.Exit != 9 || j.Error.Kind != "trap" || d.Kind != c.kind || d.Code != c.code || d.Entry != c.entry || d.Place.Line == 0 || len(d.Path) < c.path {
				t.Errorf("%s on %s: %+v", c.entry, target, j)
			}
			if !strings.HasPrefix(c.place, d.Place.File+":") {
				t.Errorf("%s on %s: place %+v, want %s", c.entry, target, d.Place, c.place)
			}
		}
		// All targets trap alike, so verify is content.
		args := []string{"verify", "t.keg", "--entry", c.entry}
		for _, in := range strings.Fields(c.inputs) {
			name, f, _ := strings.Cut(in, "=")
			args = append(args, "--input", name+"="+f+".json")
		}
		w.want(0, args, "trap: "+c.kind)
	}
	w.want(0, []string{"verify", "t.keg", "--cases", "30"}, "trapped")
	// Without the source beside it the place is still a file and bytes.
	os.Remove(w.path("t.kera"))
	w.want(9, []string{"run", "t.keg", "--entry", "over", "--input", "a=big.json", "--input", "b=big.json"}, "at t.kera, bytes ")
}

// TestWrongSource: mistakes in a program name file, line and column, with a code
// that `kerac explain` knows, and nothing is written.
func TestWrongSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ text, code, place string }{
		{"pub fn f(x: i64) -> i64 { x + }", "K01", "bad.kera:1:31"},
		{"pub fn f(x: i64 -> i64 { x }", "K01", "bad.kera:1:"},
		{"pub fn f(x: i64) -> i64 { \"text }", "K0", "bad.kera:1:27"},
		{"pub fn f(x: i64) -> i64 { x @@ 1 \x00 }", "K0", "bad.kera:1:"},
		{"pub fn f(x: i64) -> f64 { x }", "K0301", "bad.kera:1:27"},
		{"pub fn f(x: i64) -> i64 { y }", "K02", "bad.kera:1:27"},
		{"pub fn f(x: f64[3]) -> f64[4] { x }", "K03", "bad.kera:1:33"},
		{"pub fn f(x: f64[3], y: f64[4]) -> f64[3] { x + y }", "K03", "bad.kera:1:44"},
		{"pub fn f(x: i8) -> i8 { x + 300 }", "K03", "bad.kera:1:29"},
		{"pub fn f(x: i64) -> i64 { f(x) }", "K0", "bad.kera:1:"},
		{"pub fn f(x: i64) -> i64 { x }\npub fn f(x: i64) -> i64 { x }", "K02", "bad.kera:2:8"},
		{"use nowhere\npub fn f(x: i64) -> i64 { x }", "K02", "bad.kera:1:5"},
		{"const W: f64[2] = embed(\"none.npy\")\npub fn f(x: f64) -> f64 { x + W[0] }", "K0", "bad.kera:1:"},
		{"const W: f64[2] = embed(\"../../etc/passwd\")\npub fn f(x: f64) -> f64 { x + W[0] }", "K0", "bad.kera:1:"},
		{"pub fn f(x: i64) -> i64 { match x { } }", "K0208", "bad.kera:1:"},
		{"fn f64(x: i64) -> i64 { x }\npub fn g(x: f64) -> f64 { x }", "K0202", "bad.kera:1:4"},
		{"", "K0710", ""},
		{"fn f(x: i64) -> i64 { x }", "K0710", ""},
		{"pub fn f[n](x: i64[n]) -> i64 { sum(x) }", "K0716", "bad.kera:1:8"},
		{strings.Repeat("(", 50000), "K0", "bad.kera:1:"},
		{"pub fn f(x: i64) -> i64 { " + strings.Repeat("-", 50000) + "x }", "K0", "bad.kera:1:"},
		{"\xef\xbb\xbfpub fn f(x: i64) -> i64 { x \xff }", "K0", "bad.kera:1:"},
	} {
		w.write("bad.kera", c.text)
		r := w.want(1, []string{"build", "bad.kera", "-o", "x.keg"}, "error["+c.code, c.place)
		if w.exists("x.keg") || len(w.ls(w.dir)) != 1 {
			t.Errorf("%q: files %q", head(c.text), w.ls(w.dir))
		}
		if len(r.err) > 5000 {
			t.Errorf("%.60q: %d bytes of messages", c.text, len(r.err))
		}
		j := decode[struct {
			Error struct {
				Exit        int
				Diagnostics []struct{ Severity, Code, Message string }
			}
		}](t, w.want(1, []string{"build", "bad.kera", "-o", "x.keg", "--json"}))
		for _, d := range j.Error.Diagnostics {
			w.want(0, []string{"explain", d.Code}, d.Code)
		}
		if len(j.Error.Diagnostics) == 0 {
			t.Errorf("%.60q: no diagnostics in JSON", c.text)
		}
	}
	w.write("bad.kera", "pub fn f(x: i64) -> i64 { y }\npub fn g(x: i64) -> f64 { x }\npub fn h(x: i64) -> i64 { x + }\n")
	if r := w.want(1, []string{"check", "bad.kera"}); strings.Count(r.err, "error[") < 3 {
		t.Errorf("not all mistakes in one run:\n%s", r.err)
	}
}
