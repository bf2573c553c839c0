package diag

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	f := NewFile("a.kera", "fn f() {\n\tlet é = x + 漢y\n}\n")
	at := func(s string) Span {
		i := strings.Index(f.Text, s)
		return f.Span(i, i+len(s))
	}
	cases := []struct {
		name string
		d    *Diagnostic
		want string
	}{
		{"tab, utf8, wide", Errorf("K0999", at("y"), "no %s", "y").Here("not found"), `error[K0999]: no y
 --> a.kera:2:15
  |
2 |     let é = x + 漢y
  |                   ^ not found
`},
		{"related, note, fix", Errorf("K0999", at("x"), "m").Related(at("f()"), "moved here").Notef("a\nb").FixBy("write", at("x"), "z"), `error[K0999]: m
 --> a.kera:2:10
  |
1 | fn f() {
  |    --- moved here
2 |     let é = x + 漢y
  |             ^
  = note: a
          b
  = help: write: ` + "`z`" + `
`},
		{"end of file", Warnf("K0999", f.Span(len(f.Text), len(f.Text)), "end"), `warning[K0999]: end
 --> a.kera:4:1
  |
4 |
  | ^
`},
		{"many lines", Errorf("K0999", f.Span(0, len(f.Text)), "all").Here("this"), `error[K0999]: all
 --> a.kera:1:1
  |
1 | fn f() {
  | ^^^^^^^^
2 |     let é = x + 漢y
3 | }
  | ^ this
`},
		{"no place", Errorf("K0999", Span{}, "m"), "error[K0999]: m\n"},
		{"escapes", Errorf("K0999", NewFile("b", "\x1b[31mx\xff").Span(6, 7), "m"), "error[K0999]: m\n --> b:1:7\n  |\n1 | \uFFFD[31mx\uFFFD\n  |       ^\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.d.Text(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	f := NewFile("a", strings.Repeat("é", 5000)+"x"+strings.Repeat("y", 5000))
	got := Errorf("K0999", f.Span(10000, 10001), "m").Text()
	lines := strings.Split(got, "\n")
	if len(got) > 2000 || !strings.HasPrefix(lines[3], "1 | ...é") || !strings.HasSuffix(lines[3], "y...") {
		t.Error(got)
	}
	if under := strings.Index(lines[4], "^"); []rune(lines[3])[under] != 'x' {
		t.Error(got)
	}
}

func TestColorOnlyOnRequest(t *testing.T) {
	d := Errorf("K0999", NewFile("a", "x").Span(0, 1), "m")
	for _, color := range []bool{false, true} {
		var b strings.Builder
		if err := Render(&b, []*Diagnostic{d}, Options{Color: color}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b") != color {
			t.Errorf("color %v: %q", color, b.String())
		}
	}
}

func TestPositions(t *testing.T) {
	f := NewFile("a", "ab\r\nc\rd\xff\n")
	for _, c := range []struct{ off, line, col int }{{0, 1, 1}, {2, 1, 3}, {4, 2, 1}, {6, 3, 1}, {8, 3, 3}, {9, 4, 1}, {99, 4, 1}, {-1, 1, 1}} {
		if p := f.Position(c.off); p != (Position{c.line, c.col}) {
			t.Errorf("offset %d: %v", c.off, p)
		}
	}
	if f.Line(1) != "ab" || f.Line(2) != "c" || f.Line(9) != "" {
		t.Error("lines")
	}
}

func TestSortAndJSON(t *testing.T) {
	a, b := NewFile("a", "xyz"), NewFile("b", "xyz")
	l := List{
		Errorf("K0002", b.Span(0, 1), "m"), Errorf("K0002", a.Span(1, 2), "m"), Errorf("K0001", a.Span(1, 2), "m"),
		Errorf("K0002", a.Span(1, 2), "m"),
	}
	l.Sort()
	if got := l.Error(); got != "a:1:2: error[K0001]: m\na:1:2: error[K0002]: m\nb:1:1: error[K0002]: m" {
		t.Error(got)
	}
	out, err := json.Marshal(l[:1])
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"severity":"error","code":"K0001","message":"m","primary":{"file":"a","start":1,"end":2,"from":{"line":1,"column":2},"to":{"line":1,"column":3}}}]`
	if string(out) != want {
		t.Errorf("%s", out)
	}
	if l.Err() == nil || (List{Warnf("K0001", Span{}, "w")}).Err() != nil {
		t.Error("Err")
	}
}

func TestTableIsWellFormed(t *testing.T) {
	seen := map[Code]bool{}
	for _, r := range Ranges() {
		if !slices.IsSortedFunc(r.table, func(a, b Entry) int { return strings.Compare(string(a.Code), string(b.Code)) }) {
			t.Errorf("%s: rows are not in ascending order", r.Prefix)
		}
		for _, e := range r.table {
			if seen[e.Code] {
				t.Errorf("%s: twice", e.Code)
			}
			seen[e.Code] = true
			if !regexp.MustCompile(`^` + r.Prefix + `\d\d$`).MatchString(string(e.Code)) {
				t.Errorf("%s does not belong in %s", e.Code, r.Prefix)
			}
			if e.Title == "" || e.Explain == "" || e.Example == "" || strings.HasSuffix(e.Title, ".") {
				t.Errorf("%s: a row needs a title without full stop, an explanation and a failing example", e.Code)
			}
			if got, ok := Lookup(string(e.Code)); !ok || got != e || !strings.Contains(got.Page(), e.Title) {
				t.Errorf("%s: lookup", e.Code)
			}
		}
	}
	if _, ok := Lookup("1"); !ok {
		t.Error("short form")
	}
	if _, ok := Lookup("K9999"); ok {
		t.Error("unknown code found")
	}
}

// TestEveryEmittedCodeIsExplained reads the project's sources: a code written
// anywhere outside of tests must have a row.
func TestEveryEmittedCodeIsExplained(t *testing.T) {
	root := filepath.Join("..", "..")
	re := regexp.MustCompile(`"(K0\d{3})"`)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range re.FindAllSubmatch(src, -1) {
			if _, ok := Lookup(string(m[1])); !ok {
				t.Errorf("%s emits %s, which has no row in core/diag/codes_*.go", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
