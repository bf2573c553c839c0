package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/diag"
)

// pluginPrefix starts the file name of every backend executable.
const pluginPrefix = "kera-backend-"

// found is a plugin's name and executable, and where the name came from.
type found struct {
	Name string `json:"name"`
	Path string `json:"path"`
	From string `json:"from"` // "kera.yaml", "beside kerac", "PATH"
}

// discover lists the plugins that can be started: those of the configuration; if
// it names none, all that lie beside kerac or on the PATH, in this order.
func (a *app) discover(c *config) []found {
	var out []found
	for _, p := range c.Plugins {
		f := found{p.Name, c.path(p.Path), c.file}
		if p.Path == "" {
			if hit, ok := a.search(p.Name); ok {
				f.Path, f.From = hit.Path, c.file+", "+hit.From
			}
		}
		out = append(out, f)
	}
	if len(out) > 0 {
		return out
	}
	for _, dir := range a.folders() {
		hits, _ := filepath.Glob(filepath.Join(dir.path, pluginPrefix+"*"))
		slices.Sort(hits)
		for _, h := range hits {
			name := strings.TrimPrefix(filepath.Base(h), pluginPrefix)
			known := slices.ContainsFunc(out, func(f found) bool { return f.Name == name })
			if !known && executable(h) {
				out = append(out, found{name, h, dir.from})
			}
		}
	}
	return out
}

type folder struct{ path, from string }

// folders lists where plugins are looked for: where kerac itself is, then PATH.
func (a *app) folders() []folder {
	var out []folder
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		out = append(out, folder{filepath.Dir(exe), "beside kerac"})
	}
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		if filepath.IsAbs(dir) {
			out = append(out, folder{dir, "PATH"})
		}
	}
	return out
}

func (a *app) search(name string) (found, bool) {
	for _, dir := range a.folders() {
		if p := filepath.Join(dir.path, pluginPrefix+name); executable(p) {
			return found{name, p, dir.from}, true
		}
	}
	return found{}, false
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// plugin finds one plugin by name.
func (a *app) plugin(c *config, name string) (found, error) {
	all := a.discover(c)
	names := []string{}
	for _, f := range all {
		if f.Name == name {
			if f.Path == "" {
				return f, pluginMissing(name, "it is in "+c.file+" without a path, and "+pluginPrefix+name+" is neither beside kerac nor on the PATH")
			}
			return f, nil
		}
		names = append(names, f.Name)
	}
	if hit, ok := a.search(name); ok && len(c.Plugins) == 0 {
		return hit, nil
	}
	note := "found: " + strings.Join(names, ", ")
	if len(names) == 0 {
		note = "no " + pluginPrefix + "* is beside kerac or on the PATH"
	}
	if near := nearest(name, names); near != "" {
		note += "; did you mean " + near + "?"
	}
	return found{}, pluginMissing(name, note)
}

func pluginMissing(name, note string) error {
	d := mistake("K0703", "there is no plugin %q", name).Notef("%s", note)
	return &exitError{code: exitPlugin, err: diag.List{d}}
}
