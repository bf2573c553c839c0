package frontend

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/frontend/syntax"
)

// programs are files that compile: name, text, and the folder they embed from.
func programs(t *testing.T) [][3]string {
	t.Helper()
	files, _ := filepath.Glob("../examples/*/*.kera")
	more, _ := filepath.Glob("testdata/*.kera")
	var out [][3]string
	for _, f := range append(files, more...) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, [3]string{filepath.Base(f), string(b), filepath.Dir(f)})
	}
	return out
}

func compileIn(t *testing.T, src, dir string) *graph.Graph {
	t.Helper()
	return mustCompile(t, src, Options{Embed: npyLoader(dir)})
}

// TestPrograms' own tests pass.
func TestProgramsTests(t *testing.T) {
	src, err := os.ReadFile("testdata/programs.kera")
	if err != nil {
		t.Fatal(err)
	}
	res, ds := compileText(string(src), Options{Tests: true})
	report(t, ds)
	runTests(t, res)
}

// TestSameTwice: two compilations are equal to the last id and span.
func TestSameTwice(t *testing.T) {
	for _, p := range programs(t) {
		a, b := compileIn(t, p[1], p[2]), compileIn(t, p[1], p[2])
		if graphText(t, a) != graphText(t, b) || a.NumNodes() != b.NumNodes() || !reflect.DeepEqual(a.Prov, b.Prov) {
			t.Errorf("%s: two compilations differ", p[0])
		}
	}
}

// TestInvariance: reordering declarations, renaming locals and formatting leave
// the fingerprint of every program.
func TestInvariance(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	changed := map[string]int{}
	for _, p := range programs(t) {
		want := fingerprint(t, compileIn(t, p[1], p[2]))
		for what, src := range map[string]string{
			"reordering": reorder(r, p[1]), "reordering again": reorder(r, p[1]),
			"renaming": renameLocals(p[1]), "formatting": reformat(p[1]),
		} {
			if got := fingerprint(t, compileIn(t, src, p[2])); got != want {
				t.Errorf("%s: %s changes the fingerprint", p[0], what)
			}
			if src != p[1] {
				changed[what]++
			}
		}
	}
	if len(changed) != 4 {
		t.Errorf("not every change was made: %v", changed)
	}
}

// reorder shuffles the declarations of a file, `module` first.
func reorder(r *rand.Rand, src string) string {
	tree := syntax.Parse(diag.NewFile("x.kera", src))
	var head, items []string
	for _, it := range tree.Source().Items() {
		text := it.Syntax().Text()
		if _, ok := it.(syntax.ModuleDecl); ok {
			head = append(head, text)
			continue
		}
		items = append(items, text)
	}
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return strings.Join(append(head, items...), "\n\n") + "\n"
}

var letRE = regexp.MustCompile(`\blet (?:mut )?([a-z]\w*)\b`)

// renameLocals renames what `let` declares, where the name is nothing else.
func renameLocals(src string) string {
	tree := syntax.Parse(diag.NewFile("x.kera", src))
	taken := map[string]bool{}
	var walk func(n *syntax.Node)
	walk = func(n *syntax.Node) {
		switch n.Kind() {
		case syntax.NParam, syntax.NFieldDecl, syntax.NFnDecl, syntax.NFieldExpr, syntax.NFieldInit, syntax.NFieldPat, syntax.NConstDecl, syntax.NGenericParam:
			for _, tok := range n.TokensOf(syntax.TIdent) {
				taken[tok.Text()] = true
			}
		}
		for _, c := range n.Children() {
			walk(c)
		}
	}
	walk(tree.Root())
	for _, m := range letRE.FindAllStringSubmatch(src, -1) {
		if name := m[1]; !taken[name] {
			src = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(src, "renamed_"+name)
			taken[name] = true
		}
	}
	return src
}

// reformat puts a comment and spaces around every operator that stands alone.
func reformat(src string) string {
	var out []string
	for _, line := range strings.Split(src, "\n") {
		if strings.Contains(line, "//") || strings.Contains(line, `"`) {
			out = append(out, line)
			continue
		}
		line = strings.ReplaceAll(line, ", ", "  ,\t/* */ ")
		out = append(out, "  "+strings.ReplaceAll(line, " + ", "   +\n\n      "))
	}
	return strings.Join(out, "\n")
}

// TestCancel: a cancelled compilation ends without a graph and without a guess.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, ds := Compile(ctx, Options{FS: memFS(pidSource), Main: "main.kera"})
	if res.Graph != nil || ds.HasErrors() {
		t.Error(res.Graph, texts(ds))
	}
}
