// Package std holds the standard library: Kera source, embedded in the compiler.
// Each file a/b.kera here is the module std.a.b. It is checked and built like
// any other source, so it can be read, and copied, by those who use it.
//
// What must hold: every function has a test block in its file or is used by
// one; only what the language's operations give exactly is used, so results are
// the same bits everywhere.
package std

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed *.kera
var files embed.FS

// Module is a source file of the library.
type Module struct {
	Name string // as in `use`
	File string // as shown in diagnostics
	Text string
}

// Modules lists the library in ascending order of names.
func Modules() []Module {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("BUG: the embedded library cannot be listed: " + err.Error())
	}
	var out []Module
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic("BUG: the embedded library cannot be read: " + err.Error())
		}
		base := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
		out = append(out, Module{"std." + base, "std/" + e.Name(), string(text)})
	}
	slices.SortFunc(out, func(a, b Module) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Lookup finds a module by its name.
func Lookup(name string) (Module, bool) {
	for _, m := range Modules() {
		if m.Name == name {
			return m, true
		}
	}
	return Module{}, false
}
