package std_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/build"
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

// run checks a program and runs its test blocks on the interpreter. It returns
// the number of tests.
func run(t *testing.T, main *check.Source, others []*check.Source, dir string) int {
	t.Helper()
	ctx := context.Background()
	p, diags := check.Check(ctx, main, others)
	diags = append(diags, main.Tree.Diags...)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	out, diags := build.Build(ctx, p, build.Options{Tests: true, Embed: func(file, array string) (types.Type, []byte, error) {
		return readArray(filepath.Join(dir, file), array)
	}})
	for _, d := range diags {
		t.Error(d.Text())
	}
	if t.Failed() {
		return 0
	}
	ran := 0
	for _, test := range out.Tests {
		if test.Module != main.Name {
			continue // the library's own, which are run with it
		}
		ran++
		for i := range out.TestGraph.Exports {
			x := &out.TestGraph.Exports[i]
			if x.Name != test.Entry {
				continue
			}
			_, trap, err := interp.Run(ctx, out.TestGraph, x, nil)
			if err != nil || trap != op.TrapNone {
				t.Errorf("%s: %v %v", test.Name, trap, err)
				if place, err := interp.Locate(ctx, out.TestGraph, x, nil); err == nil && place != nil {
					t.Logf("at %v: %v", place, out.TestGraph.Prov.Spans[place.Node])
				}
			}
		}
	}
	return ran
}

// readArray reads just what the examples embed: .npy version 1, also in .npz.
func readArray(path, array string) (types.Type, []byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return types.Type{}, nil, err
	}
	if array != "" {
		z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return types.Type{}, nil, err
		}
		f, err := z.Open(array + ".npy")
		if err != nil {
			return types.Type{}, nil, err
		}
		if raw, err = io.ReadAll(f); err != nil {
			return types.Type{}, nil, err
		}
	}
	n := 10 + int(raw[8]) + int(raw[9])<<8
	m := regexp.MustCompile(`'descr': '<(\w\w)'.*'shape': \(([\d, ]*)\)`).FindSubmatch(raw[:n])
	if m == nil {
		return types.Type{}, nil, errors.New("unexpected header")
	}
	dtype := map[string]types.DType{"f4": types.F32, "f8": types.F64, "i8": types.I64}[string(m[1])]
	var dims []int64
	for _, f := range strings.FieldsFunc(string(m[2]), func(c rune) bool { return c == ',' || c == ' ' }) {
		d, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return types.Type{}, nil, err
		}
		dims = append(dims, d)
	}
	return types.Tensor(dtype, dims...), raw[n:], nil
}

// TestLibraryChecks: the library has neither errors nor warnings.
func TestLibraryChecks(t *testing.T) {
	sources := library()
	for i, s := range sources {
		_, diags := check.Check(context.Background(), s, append(sources[:i:i], sources[i+1:]...))
		for _, d := range diags {
			t.Error(d.Text())
		}
		if run(t, s, append(sources[:i:i], sources[i+1:]...), "") == 0 {
			t.Errorf("%s has no tests", s.Name)
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
		if code == "" && !t.Failed() {
			name := tree.Source().Module().Path().String()
			run(t, &check.Source{Name: name, Tree: tree}, library(), "../../examples/digits")
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
		if run(t, &check.Source{Name: name, Tree: tree}, library(), filepath.Dir(path)) == 0 {
			t.Errorf("%s has no tests", path)
		}
	}
}
