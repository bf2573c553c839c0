package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/build"
	"github.com/kera-lang/kera/frontend/check"
	"github.com/kera-lang/kera/frontend/std"
	"github.com/kera-lang/kera/frontend/syntax"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// maxSource bounds a source file.
const maxSource = 16 << 20

// compiled is a source file taken as far as it goes without errors.
type compiled struct {
	root    string // folder of the package
	main    *check.Source
	checked *check.Program
	out     *build.Output
	diags   diag.List
	files   map[string]*diag.File
}

// readSource reads one file. shown is its name in messages and provenance.
func readSource(file, shown string) (*diag.File, error) {
	st, err := os.Stat(file)
	switch {
	case err == nil && !st.Mode().IsRegular():
		err = errors.New("not a regular file")
	case err == nil && st.Size() > maxSource:
		err = fmt.Errorf("%d bytes is more than the limit of %d", st.Size(), maxSource)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, mistake("K0720", "%s cannot be read: %v", file, err)
	}
	return diag.NewFile(shown, string(text)), nil
}

// parsePackage parses the file and every module that it uses, directly or not. The
// package's folder is the one that makes the file the module it says it is: the
// module a.b in x/a/b.kera belongs to the package x. A file of another name, or
// without a module, is alone in its own folder.
func parsePackage(file string) (*compiled, []*check.Source, error) {
	f, err := readSource(file, filepath.Base(file))
	if err != nil {
		return nil, nil, err
	}
	tree := syntax.Parse(f)
	name := tree.Source().Module().Path().String()
	c := &compiled{root: filepath.Dir(file), files: map[string]*diag.File{}}
	rel := strings.ReplaceAll(name, ".", "/") + ".kera"
	if abs, err := filepath.Abs(file); err == nil && name != "" && strings.HasSuffix(filepath.ToSlash(abs), "/"+rel) {
		c.root = strings.TrimSuffix(filepath.ToSlash(abs), "/"+rel)
		f = diag.NewFile(rel, f.Text)
		tree = syntax.Parse(f)
	}
	c.main = &check.Source{Name: name, Tree: tree}
	c.files[f.Name] = f
	seen := map[string]bool{name: true}
	var others []*check.Source
	for todo := []*check.Source{c.main}; len(todo) > 0; todo = todo[1:] {
		for _, used := range usedModules(todo[0].Tree) {
			if seen[used] {
				continue
			}
			seen[used] = true
			src, err := c.module(used)
			if err != nil {
				return nil, nil, err
			}
			if src != nil {
				c.files[src.Tree.File.Name] = src.Tree.File
				others = append(others, src)
				todo = append(todo, src)
			}
		}
	}
	return c, others, nil
}

func usedModules(t *syntax.Tree) []string {
	var out []string
	for _, it := range t.Source().Items() {
		if d, ok := it.(syntax.UseDecl); ok {
			out = append(out, check.UseName(d))
		}
	}
	return out
}

// module finds a module in the library or the package; one that is nowhere is
// left to the checker, which knows where it was named.
func (c *compiled) module(name string) (*check.Source, error) {
	if m, ok := std.Lookup(name); ok {
		return &check.Source{Name: name, Tree: syntax.Parse(diag.NewFile(m.File, m.Text)), Std: true}, nil
	}
	rel := strings.ReplaceAll(name, ".", "/") + ".kera"
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, nil
	}
	file := filepath.Join(c.root, filepath.FromSlash(rel))
	if _, err := os.Stat(file); err != nil {
		return nil, nil
	}
	f, err := readSource(file, rel)
	if err != nil {
		return nil, err
	}
	return &check.Source{Name: name, Tree: syntax.Parse(f)}, nil
}

// check parses and checks a file with what it uses. Mistakes are in diags; the
// error is for files that cannot be read. Types are not checked in a package that
// does not parse: what follows from a syntax error is not worth reading.
func checkFile(ctx context.Context, file string) (*compiled, error) {
	c, others, err := parsePackage(file)
	if err != nil {
		return nil, err
	}
	for _, s := range append([]*check.Source{c.main}, others...) {
		c.diags = append(c.diags, s.Tree.Diags...)
	}
	if !c.diags.HasErrors() {
		var ds diag.List
		c.checked, ds = check.Check(ctx, c.main, others)
		c.diags = append(c.diags, ds...)
	}
	c.diags.Sort()
	return c, nil
}

// buildFile checks a file and builds its graph.
func buildFile(ctx context.Context, file string, bind map[string]int64, tests bool) (*compiled, error) {
	c, err := checkFile(ctx, file)
	if err != nil || c.diags.HasErrors() {
		return c, err
	}
	var ds diag.List
	c.out, ds = build.Build(ctx, c.checked, build.Options{Bind: bind, Embed: c.embed, Tests: tests})
	c.diags = append(c.diags, ds...)
	c.diags.Sort()
	return c, nil
}

// embed reads an array for a constant. The file lies in the package.
func (c *compiled) embed(file, array string) (types.Type, []byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(file)) || path.IsAbs(file) {
		return types.Type{}, nil, errors.New("the path leaves the package")
	}
	full := filepath.Join(c.root, filepath.FromSlash(file))
	switch ext := strings.ToLower(path.Ext(file)); {
	case ext == ".npz" && array != "":
		full += ":" + array
	case ext == ".npy" && array == "", ext == ".npz":
	case ext == ".npy":
		return types.Type{}, nil, errors.New("a .npy file holds one array, which has no name")
	default:
		return types.Type{}, nil, fmt.Errorf("the extension %q is neither .npy nor .npz", ext)
	}
	t, err := tensorio.Read(full, array, nil)
	if err != nil {
		return types.Type{}, nil, err
	}
	return t.Type(), t.Data, nil
}
