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
	"github.com/kera-lang/kera/frontend"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// maxSource bounds a source file.
const maxSource = 16 << 20

// readSource reads one file for the stages that need no package. shown is its
// name in messages.
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

// compiled is a source file taken as far as it goes without errors.
type compiled struct {
	*frontend.Result
	diags diag.List
	files map[string]*diag.File // by the names that provenance uses
}

// compile runs the frontend on a file. What is wrong with the program is in diags;
// the error is for a file that cannot be read at all.
func compile(ctx context.Context, file string, o frontend.Options) (*compiled, error) {
	if _, err := readSource(file, file); err != nil {
		return nil, err
	}
	dir := filepath.Dir(file)
	o.FS, o.Main = os.DirFS(dir), filepath.Base(file)
	o.Embed = func(name, array string) (types.Type, []byte, error) { return embed(dir, name, array) }
	c := &compiled{files: map[string]*diag.File{}}
	c.Result, c.diags = frontend.Compile(ctx, o)
	for _, t := range c.Trees {
		c.files[t.File.Name] = t.File
	}
	return c, context.Cause(ctx)
}

func checkFile(ctx context.Context, file string) (*compiled, error) {
	return compile(ctx, file, frontend.Options{CheckOnly: true})
}

func buildFile(ctx context.Context, file string, bind map[string]int64, tests bool) (*compiled, error) {
	return compile(ctx, file, frontend.Options{Bind: bind, Tests: tests})
}

// embed reads an array for a constant. The file lies in the package's folder.
func embed(dir, file, array string) (types.Type, []byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(file)) || path.IsAbs(file) {
		return types.Type{}, nil, errors.New("the path leaves the package")
	}
	full := filepath.Join(dir, filepath.FromSlash(file))
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
