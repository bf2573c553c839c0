package frontend

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
)

// TestExamples compiles the examples and runs their tests on the interpreter.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.kera")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			dir := filepath.Dir(file)
			res, ds := Compile(context.Background(), Options{FS: os.DirFS(dir), Main: filepath.Base(file), Tests: true, Embed: npyLoader(dir)})
			report(t, ds)
			if res.Graph == nil || len(res.Graph.Exports) == 0 {
				t.Fatal("no exports")
			}
			runTests(t, res)
		})
	}
}

func report(t *testing.T, ds diag.List) {
	t.Helper()
	for _, d := range ds {
		if d.Severity == diag.Error {
			t.Error(d.Text())
		} else {
			t.Log(d.Text())
		}
	}
	if ds.HasErrors() {
		t.FailNow()
	}
}

func runTests(t *testing.T, res *Result) {
	t.Helper()
	for _, c := range res.Tests {
		x, ok := res.TestGraph.Export(c.Entry)
		if !ok {
			t.Fatalf("test %q has no entry", c.Entry)
		}
		_, trap, err := interp.Run(context.Background(), res.TestGraph, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		if trap != op.TrapNone {
			place, err := interp.Locate(context.Background(), res.TestGraph, x, nil)
			t.Errorf("%s: test %q traps: %v (%v, %v)", c.At, c.Name, trap, place, err)
		}
	}
}
