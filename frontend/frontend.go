// Package frontend compiles Kera source to a graph.
//
//	file -> syntax.Parse -> (each `use`: the next file) -> check.Check -> build.Build -> graph.Validate
//
// Compile reads the main file and everything it uses, through an interface, so
// that the package neither knows where files are nor touches any other. What
// must hold: user mistakes are diagnostics, in every stage as many as can be
// found without guessing; spans name files as the file system does, relative to
// the package; the result depends on the sources and options alone.
package frontend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/build"
	"github.com/kera-lang/kera/frontend/check"
	"github.com/kera-lang/kera/frontend/std"
	"github.com/kera-lang/kera/frontend/syntax"
)

// Options say what to compile.
type Options struct {
	// FS holds the package; Main is the main file's path in it. A module a.b is
	// the file a/b.kera beside the main file.
	FS   fs.FS
	Main string

	// Bind gives values to dimensions of public functions of the main module.
	Bind map[string]int64

	// Embed loads an array (named "" if the file holds only one) of a file whose
	// path is relative to the file that embeds it, which is beside the main file.
	Embed func(file, array string) (types.Type, []byte, error)

	// Tests builds the test blocks too. CheckOnly builds everything for its
	// mistakes and gives no graph.
	Tests     bool
	CheckOnly bool
}

// Test is a test block: the entry Entry of Result.TestGraph has no parameters
// and no results; the test passes if it does not trap.
type Test = build.Test

// Unbound is a public function that is not exported because Dims are free.
type Unbound = build.Unbound

// Result is a compiled program.
type Result struct {
	// Trees are the syntax trees, the main file's first.
	Trees   []*syntax.Tree
	Program *check.Program

	// Graph has the exports. It is nil if there were errors or with CheckOnly.
	Graph   *graph.Graph
	Unbound []Unbound

	TestGraph *graph.Graph
	Tests     []Test
}

// maxSource bounds the size of a source file, maxModules their number.
const (
	maxSource  = 16 << 20
	maxModules = 1000
)

// Compile compiles a program. The diagnostics are sorted; the result is never
// nil and holds what could be made. Internal faults panic with "BUG:".
func Compile(ctx context.Context, o Options) (*Result, diag.List) {
	res := &Result{}
	l := &loader{o: o, seen: map[string]bool{}}
	main := l.main()
	if main == nil {
		return res, l.diags
	}
	for _, s := range append([]*check.Source{main}, l.others...) {
		res.Trees = append(res.Trees, s.Tree)
	}
	diags := l.diags
	prog, found := check.Check(ctx, main, l.others, libraryNames()...)
	res.Program = prog
	diags.Add(found...)
	diags.Sort()
	if diags.HasErrors() || ctx.Err() != nil {
		return res, diags
	}
	out, found := build.Build(ctx, prog, build.Options{Bind: o.Bind, Embed: o.Embed, Tests: o.Tests || o.CheckOnly})
	diags.Add(found...)
	diags.Sort()
	res.Unbound = out.Unbound
	if diags.HasErrors() || o.CheckOnly || ctx.Err() != nil {
		return res, diags
	}
	for _, g := range []*graph.Graph{out.Graph, out.TestGraph} {
		if g == nil {
			continue
		}
		if err := graph.Validate(g, "frontend"); err != nil {
			panic("BUG: the frontend built an invalid graph: " + err.Error())
		}
	}
	res.Graph, res.TestGraph, res.Tests = out.Graph, out.TestGraph, out.Tests
	return res, diags
}

func libraryNames() []string {
	var out []string
	for _, m := range std.Modules() {
		out = append(out, m.Name)
	}
	return out
}

// UnboundNote says why a function is not an entry; at most one per function.
func UnboundNote(u Unbound) *diag.Diagnostic {
	d := diag.Warnf(diag.NotExported, u.At, "`%s` is not exported: it leaves %s free", u.Name, strings.Join(u.Dims, ", "))
	d.Severity = diag.Note
	var args []string
	for _, n := range u.Dims {
		args = append(args, n+" = 8")
	}
	return d.Notef("write export %s[%s], or pass --bind %s=8", u.Name, strings.Join(args, ", "), u.Dims[0])
}

// loader parses the main file and, breadth first, what is used.
type loader struct {
	o      Options
	dir    string
	seen   map[string]bool
	others []*check.Source
	diags  diag.List
}

func (l *loader) main() *check.Source {
	name := path.Clean(strings.ReplaceAll(l.o.Main, `\`, "/"))
	l.dir = path.Dir(name)
	text, err := l.read(name)
	if err != nil {
		l.diags.Add(diag.Errorf("K0720", diag.Span{}, "%s cannot be read", name).Notef("%v", err))
		return nil
	}
	src := l.parse(name, text)
	src.Name = src.Tree.Source().Module().Path().String()
	if src.Name == "" {
		src.Name = strings.TrimSuffix(path.Base(name), ".kera")
	}
	l.seen[src.Name] = true
	queue := []*check.Source{src}
	for len(queue) > 0 && len(l.others) < maxModules {
		next := l.used(queue[0])
		l.others = append(l.others, next...)
		queue = append(queue[1:], next...)
	}
	return src
}

func (l *loader) parse(name, text string) *check.Source {
	tree := syntax.Parse(diag.NewFile(name, text))
	l.diags.Add(tree.Diags...)
	return &check.Source{Tree: tree}
}

func (l *loader) read(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("the path leaves the package")
	}
	f, err := l.o.FS.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", errors.New("it is a folder")
	case info.Size() > maxSource:
		return "", fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxSource)
	}
	b, err := fs.ReadFile(l.o.FS, name)
	return string(b), err
}

// used loads the modules that s uses and that are not loaded; those that are
// not there are reported by package check.
func (l *loader) used(s *check.Source) []*check.Source {
	var out []*check.Source
	for _, it := range s.Tree.Source().Items() {
		d, ok := it.(syntax.UseDecl)
		if !ok {
			continue
		}
		name := check.UseName(d)
		if name == "" || l.seen[name] {
			continue
		}
		l.seen[name] = true
		if m, ok := std.Lookup(name); ok {
			src := l.parse(m.File, m.Text)
			src.Name, src.Std = name, true
			out = append(out, src)
			continue
		}
		if s.Std {
			continue
		}
		file := path.Join(l.dir, strings.ReplaceAll(name, ".", "/")+".kera")
		text, err := l.read(file)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				l.diags.Add(diag.Errorf(diag.UnknownModule, d.Path().Span(), "module `%s` cannot be read", name).Notef("%s: %v", file, err))
			}
			continue
		}
		src := l.parse(file, text)
		src.Name = name
		out = append(out, src)
	}
	return out
}

// Builtins is the table of builtin functions, for documentation and editors.
func Builtins() []*check.Builtin {
	rows := check.Builtins()
	return slices.Clone(rows)
}
