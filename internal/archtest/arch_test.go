package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kera-lang/kera"

// layers lists, for each folder, what its packages may import of ours. The first
// row whose folder is a prefix of the importing package decides; "SELF" stands for
// the second-level folder itself (plugins/x86 may not import plugins/wasm).
var layers = []struct {
	folder string
	may    []string
}{
	{"core", []string{"core"}},
	{"frontend", []string{"frontend", "core"}},
	{"midend", []string{"midend", "core"}},
	{"pluginapi", []string{"pluginapi", "core"}},
	{"plugins", []string{"SELF", "pluginapi", "core"}},
	{"runtime", []string{"runtime", "pluginapi/host", "pluginapi/native", "core"}},
	{"cmd", []string{"SELF", "frontend", "midend", "runtime", "pluginapi", "core", "internal"}},
	{"internal", []string{"internal", "core", "frontend", "midend", "pluginapi", "runtime"}},
	{"bench", []string{"SELF", "bench", "frontend", "midend", "runtime", "pluginapi", "core"}},
	{"e2e", []string{"e2e", "core"}},
	{"examples", []string{"SELF", "examples", "frontend", "midend", "runtime", "pluginapi", "core"}},
	{"tools", []string{"tools", "core"}},
}

// private lists packages that only one folder may import: wire types never leak
// past pluginapi.
var private = []struct{ pkg, only string }{
	{"pluginapi/proto", "pluginapi"},
}

// maxLines is the length no hand-written file may reach.
const maxLines = 1000

func within(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

func secondLevel(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	if len(parts) < 2 {
		return pkg
	}
	return parts[0] + "/" + parts[1]
}

// violation returns why pkg may not import target (both relative to the module), or "".
func violation(pkg, target string) string {
	for _, p := range private {
		if within(target, p.pkg) && !within(pkg, p.only) {
			return "only " + p.only + " may import " + p.pkg
		}
	}
	for _, l := range layers {
		if !within(pkg, l.folder) {
			continue
		}
		for _, m := range l.may {
			if m == "SELF" {
				m = secondLevel(pkg)
			}
			if within(target, m) {
				return ""
			}
		}
		return l.folder + " may import only " + strings.Join(l.may, ", ")
	}
	return "the folder of " + pkg + " is in no layer"
}

// sources calls visit with every Go file of the repository's own module, as a
// slash path relative to its root. Nested modules are somebody else's.
func sources(t *testing.T, visit func(rel string, src []byte)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if p != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "out" || name == "testdata") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); p != root && err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(rel), src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportDirection(t *testing.T) {
	files := 0
	sources(t, func(rel string, src []byte) {
		files++
		if !strings.Contains(rel, "/") && strings.HasSuffix(rel, "_test.go") {
			return // tests of the whole, which no package imports
		}
		f, err := parser.ParseFile(token.NewFileSet(), rel, src, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return
		}
		for _, imp := range f.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil || !within(name, module) {
				continue
			}
			target := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
			if why := violation(path.Dir(rel), target); why != "" {
				t.Errorf("%s imports %s: %s", rel, target, why)
			}
		}
	})
	if files == 0 {
		t.Fatal("no Go file found: the walk starts in the wrong folder")
	}
}

func TestFileLength(t *testing.T) {
	sources(t, func(rel string, src []byte) {
		lines := bytes.Count(src, []byte("\n"))
		if lines < maxLines {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), rel, src, parser.ImportsOnly|parser.ParseComments)
		if err == nil && ast.IsGenerated(f) {
			return
		}
		t.Errorf("%s has %d lines; the limit is %d", rel, lines, maxLines-1)
	})
}

// TestKegcheckIsShort: the independent verifier stays something to read at a sitting.
func TestKegcheckIsShort(t *testing.T) {
	text, err := os.ReadFile("../../tools/kegcheck.py")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 500 {
		t.Errorf("tools/kegcheck.py has %d lines; it stays under 500", n)
	}
}

func TestPackageComments(t *testing.T) {
	has := map[string]bool{}
	sources(t, func(rel string, src []byte) {
		if strings.HasSuffix(rel, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), rel, src, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return
		}
		dir := path.Dir(rel)
		has[dir] = has[dir] || f.Doc != nil || ast.IsGenerated(f)
	})
	for dir, ok := range has {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

// TestViolation checks the checker: each wrong direction is refused beside a right one.
func TestViolation(t *testing.T) {
	for _, c := range []struct {
		pkg, target string
		ok          bool
	}{
		{"core/graph", "core/op", true},
		{"core/graph", "frontend/syntax", false},
		{"frontend/build", "core/graph", true},
		{"frontend/build", "midend", false},
		{"midend", "pluginapi/host", false},
		{"pluginapi/host", "core/keg", true},
		{"pluginapi/host", "runtime/runner", false},
		{"plugins/x86/enc", "plugins/x86", true},
		{"plugins/x86", "plugins/wasm", false},
		{"plugins/x86", "runtime/runner", false},
		{"plugins/x86", "pluginapi/proto/kera/backend/v1", false},
		{"runtime/runner", "pluginapi/host", true},
		{"runtime/runner", "pluginapi/sdk", false},
		{"runtime/runner", "frontend/build", false},
		{"cmd/kerac", "midend", true},
		{"cmd/kerac", "cmd/kera-runner", false},
		{"core/types", "bench", false},
		{"somewhere/new", "core/types", false},
		{"corefoo", "core/types", false},
	} {
		if got := violation(c.pkg, c.target); (got == "") != c.ok {
			t.Errorf("violation(%s, %s) = %q, want ok=%v", c.pkg, c.target, got, c.ok)
		}
	}
}
