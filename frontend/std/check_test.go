package std_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/frontend/check"
	"github.com/kera-lang/kera/frontend/std"
	"github.com/kera-lang/kera/frontend/syntax"
)

func library() []*check.Source {
	var out []*check.Source
	for _, m := range std.Modules() {
		out = append(out, &check.Source{Name: m.Name, Tree: syntax.Parse(diag.NewFile(m.File, m.Text)), Std: true})
	}
	return out
}

// TestLibraryChecks: the library has neither errors nor warnings.
func TestLibraryChecks(t *testing.T) {
	sources := library()
	for i, s := range sources {
		_, diags := check.Check(context.Background(), s, append(sources[:i:i], sources[i+1:]...))
		for _, d := range diags {
			t.Error(d.Text())
		}
	}
}

// TestTour: every block of docs/language.md marked `kera` has neither errors nor
// warnings; one marked `kera K0123` gives exactly that code.
func TestTour(t *testing.T) {
	text, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for i, part := range strings.Split("\n"+string(text), "\n```") {
		header, body, _ := strings.Cut(part, "\n")
		lang, code, _ := strings.Cut(header, " ")
		if i%2 == 0 || lang != "kera" {
			continue
		}
		blocks++
		tree := syntax.Parse(diag.NewFile("language.md", body+"\n"))
		_, diags := check.Check(context.Background(), &check.Source{Name: tree.Source().Module().Path().String(), Tree: tree}, library())
		diags = append(diags, tree.Diags...)
		found := code == ""
		for _, d := range diags {
			if string(d.Code) == code {
				found = true
				continue
			}
			t.Errorf("block %d: %s", i/2, d.Text())
		}
		if !found {
			t.Errorf("block %d does not give %s:\n%s", i/2, code, body)
		}
	}
	if blocks < 10 {
		t.Errorf("only %d blocks were found", blocks)
	}
}

// TestExamplesCheck: so have the examples.
func TestExamplesCheck(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.kera")
	if err != nil || len(files) < 3 {
		t.Fatal("examples are missing", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tree := syntax.Parse(diag.NewFile(filepath.Base(path), string(text)))
		name := tree.Source().Module().Path().String()
		_, diags := check.Check(context.Background(), &check.Source{Name: name, Tree: tree}, library())
		for _, d := range append(tree.Diags, diags...) {
			t.Error(d.Text())
		}
	}
}
