package std

import (
	"testing"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/frontend/syntax"
)

// TestModules: every file parses, is named as it is declared, documents every
// public function and names each in a test or in another function.
func TestModules(t *testing.T) {
	modules := Modules()
	if len(modules) < 4 {
		t.Fatal("modules are missing")
	}
	for _, m := range modules {
		tree := syntax.Parse(diag.NewFile(m.File, m.Text))
		for _, d := range tree.Diags {
			t.Error(d.Text())
		}
		if got := tree.Source().Module().Path().String(); got != m.Name {
			t.Errorf("%s declares module %s", m.File, got)
		}
		if again, ok := Lookup(m.Name); !ok || again != m {
			t.Errorf("lookup of %s", m.Name)
		}
		calls := map[string]bool{}
		called(tree.Root(), calls)
		for _, it := range tree.Source().Items() {
			f, ok := it.(syntax.FnDecl)
			if !ok {
				continue
			}
			name := f.Name().Text()
			if f.IsPub() && f.Docs() == "" {
				t.Errorf("%s: %s has no documentation", m.File, name)
			}
			if !calls[name] {
				t.Errorf("%s: %s is never used, so never tested", m.File, name)
			}
		}
	}
	if _, ok := Lookup("std.none"); ok {
		t.Error("found a module that is not there")
	}
}

func called(n *syntax.Node, names map[string]bool) {
	switch n.Parent().Kind() {
	case syntax.NCallExpr, syntax.NIndexExpr: // f(x), f[3]()
		if n.Kind() == syntax.NNameExpr {
			names[n.Text()] = true
		}
	}
	for _, c := range n.Children() {
		called(c, names)
	}
}
