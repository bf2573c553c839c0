package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// BinaryPrefix starts the name of every backend executable.
const BinaryPrefix = "kera-backend-"

// EnvPath lists folders with backends, in the system's list format.
const EnvPath = "KERA_PLUGIN_PATH"

// Finder finds backends by name. The first of these that has one wins: Named
// (the `plugins:` map of kera.yaml), then Dirs in order.
type Finder struct {
	Named map[string]string // name -> path, relative to Base
	Base  string            // folder of kera.yaml
	Dirs  []string
}

// DefaultFinder looks in the given map, in $KERA_PLUGIN_PATH and next to the
// running executable.
func DefaultFinder(named map[string]string, base string) Finder {
	f := Finder{Named: named, Base: base}
	for _, d := range filepath.SplitList(os.Getenv(EnvPath)) {
		if d != "" {
			f.Dirs = append(f.Dirs, d)
		}
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		f.Dirs = append(f.Dirs, filepath.Dir(exe))
	}
	return f
}

// Found is a backend that was found.
type Found struct {
	Name, Path string
	From       string // "kera.yaml" or the folder
}

// ValidName reports whether a backend may be called s: lower-case letters,
// digits and dashes, since configuration keys lose their case.
func ValidName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !letter && (r != '-' || i == 0) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// Find returns the backend of that name. The error is an *Error that says where
// it was looked for.
func (f Finder) Find(name string) (Found, error) {
	missing := func(format string, args ...any) error {
		return &Error{Kind: KindMissing, Plugin: name, Call: "start", Reason: fmt.Sprintf(format, args...)}
	}
	if !ValidName(name) {
		return Found{}, missing("a backend is named with lower-case letters, digits and dashes")
	}
	if path, ok := f.Named[name]; ok {
		if !filepath.IsAbs(path) {
			path = filepath.Join(f.Base, path)
		}
		if !isExecutable(path) {
			return Found{}, missing("kera.yaml names %s, which is not an executable file", path)
		}
		return Found{Name: name, Path: path, From: "kera.yaml"}, nil
	}
	for _, dir := range f.Dirs {
		path := filepath.Join(dir, BinaryPrefix+name)
		if isExecutable(path) {
			return Found{Name: name, Path: path, From: dir}, nil
		}
	}
	where := "in no folder; set $" + EnvPath
	if len(f.Dirs) > 0 {
		where = "in " + strings.Join(f.Dirs, ", ")
	}
	return Found{}, missing("looked for %s%s %s", BinaryPrefix, name, where)
}

// List returns every backend there is, sorted by name.
func (f Finder) List() []Found {
	seen := map[string]bool{}
	var out []Found
	add := func(name string) {
		if seen[name] {
			return
		}
		if found, err := f.Find(name); err == nil {
			seen[name] = true
			out = append(out, found)
		}
	}
	for name := range f.Named {
		add(name)
	}
	for _, dir := range f.Dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a folder of the list need not be there
		}
		for _, e := range entries {
			if name, ok := strings.CutPrefix(e.Name(), BinaryPrefix); ok {
				add(name)
			}
		}
	}
	slices.SortFunc(out, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
