package syntax

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
)

var update = flag.Bool("update", os.Getenv("KERA_UPDATE") != "", "rewrite the golden files")

// check verifies what must hold of every parse.
func check(t testing.TB, text string) *Tree {
	t.Helper()
	file := diag.NewFile("t.kera", text)
	tokens, _ := Lex(file)
	pos := 0
	for _, tok := range tokens {
		if tok.Start != pos || tok.End <= tok.Start {
			t.Fatalf("token %v after %d", tok, pos)
		}
		pos = tok.End
	}
	if pos != len(text) {
		t.Fatalf("the tokens end at %d of %d", pos, len(text))
	}
	tree := Parse(file)
	var b strings.Builder
	nodes := 0
	walk(t, tree.Root(), &b, &nodes, 0)
	if b.String() != text {
		t.Fatalf("the tree's text differs:\n%q\n%q", b.String(), text)
	}
	if nodes > 8*len(tokens)+8 {
		t.Fatalf("%d nodes for %d tokens", nodes, len(tokens))
	}
	for _, d := range tree.Diags {
		if d.Primary.Start < 0 || d.Primary.End < d.Primary.Start || d.Primary.End > len(text) {
			t.Fatalf("bad span %v", d)
		}
		_ = d.Text()
	}
	if strings.Trim(text, " \t\r\n") == "" && len(tree.Diags) > 0 { // the white space of the grammar, not of Unicode
		t.Fatalf("errors in an empty file: %v", tree.Diags)
	}
	return tree
}

func walk(t testing.TB, n *Node, b *strings.Builder, nodes *int, depth int) {
	if depth > maxHeight+12*maxNesting {
		t.Fatal("the tree is too deep")
	}
	*nodes++
	pos := n.Start()
	elements := n.Elements()
	for i, e := range elements {
		if e.Token != nil {
			if e.Token.Start() != pos || e.Token.Parent() != n {
				t.Fatalf("token place %d, want %d", e.Token.Start(), pos)
			}
			if n.Parent() != nil && e.Token.Kind().IsTrivia() && (i == 0 || i == len(elements)-1) {
				t.Fatalf("trivia at the edge of %s", n.Kind())
			}
			b.WriteString(e.Token.Text())
			pos = e.Token.End()
			continue
		}
		if e.Node.Start() != pos || e.Node.Parent() != n {
			t.Fatalf("node place %d, want %d", e.Node.Start(), pos)
		}
		walk(t, e.Node, b, nodes, depth+1)
		pos = e.Node.End()
	}
	if pos != n.End() {
		t.Fatalf("%s ends at %d, not %d", n.Kind(), pos, n.End())
	}
	views := struct{ ok bool }{true}
	_ = views
	touch(n)
}

// touch calls accessors: none may panic, whatever the tree.
func touch(n *Node) {
	_ = n.Docs()
	switch {
	case n.Kind().IsItem():
		_ = ItemOf(n)
	case n.Kind().IsStmt():
		_ = StmtOf(n)
	case n.Kind().IsExpr():
		switch e := ExprOf(n).(type) {
		case BinaryExpr:
			_, _, _ = e.Left(), e.Op(), e.Right()
		case IfExpr:
			_, _, _ = e.Cond(), e.Then().Tail(), e.Else()
		case CallExpr:
			_, _ = e.Callee(), e.Args()
		case RangeExpr:
			_, _ = e.Low(), e.High()
		case MatchExpr:
			for _, a := range e.Arms() {
				_, _, _ = a.Pattern(), a.Guard(), a.Value()
			}
		case LambdaExpr:
			_, _ = e.Params(), e.Body()
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept):\n%s", path, got)
	}
}

// TestGolden dumps tokens, tree and diagnostics of every testdata/*.kera.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.kera")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tree := check(t, string(src))
			file := diag.NewFile(filepath.Base(path), string(src))
			var tokens, dump, messages strings.Builder
			if err := DumpTokens(&tokens, file); err != nil {
				t.Fatal(err)
			}
			if err := tree.Root().Dump(&dump); err != nil {
				t.Fatal(err)
			}
			if err := diag.Render(&messages, tree.Diags, diag.Options{}); err != nil {
				t.Fatal(err)
			}
			base := strings.TrimSuffix(path, ".kera")
			if strings.Contains(path, "lex") {
				golden(t, base+".tokens", tokens.String())
			}
			golden(t, base+".tree", dump.String())
			if broken := strings.HasPrefix(filepath.Base(path), "err"); broken {
				golden(t, base+".errors", messages.String())
			} else if len(tree.Diags) > 0 {
				t.Errorf("unexpected:\n%s", messages.String())
			}
		})
	}
}
