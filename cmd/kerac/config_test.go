package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	for _, c := range []struct{ name, text, problem string }{
		{"whole", "plugins:\n  - x86\n  - {name: vendor, path: ./V}\ntargets:\n  - wasm\n  - name: x86:avx2\n    options: [\"TileRows=14\"]\ncache: {dir: c, max_bytes: 5}\n", ""},
		{"empty", "", ""},
		{"key", "target: [x86]\n", `K0701]: kera.yaml: unknown key "target"`},
		{"inner key", "plugins: [{name: a, pth: b}]\n", `K0701]: kera.yaml: unknown key "pth"`},
		{"form", "targets: {x86: {Tile: 14}}\n", "K0702]"},
		{"option", "targets: [{name: a, options: [Tile]}]\n", `option "Tile" is not Name=value`},
		{"option map", "targets: [{name: a, options: {Tile: 14}}]\n", "K0702]"},
		{"twice", "plugins: [a, a]\n", "listed twice"},
		{"slash", "plugins: [a/b]\n", "is no name"},
		{"case", "plugins: [Vendor]\n", "is no name"},
		{"yaml", "plugins: [a\n", "K0700]: kera.yaml: the configuration cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("kera.yaml", []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := loadConfig("")
			switch {
			case c.problem == "" && err != nil:
				t.Fatalf("unexpected: %v", err)
			case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
				t.Fatalf("error %v, want %q", err, c.problem)
			case c.name == "whole":
				// Paths and options keep their case, paths are the file's.
				if got.Plugins[1].Path != "./V" || got.Targets[1].Options[0] != "TileRows=14" || got.path("./V") != "V" || got.Cache.MaxBytes != 5 {
					t.Errorf("read as %+v", got)
				}
			}
		})
	}
	t.Chdir(t.TempDir())
	if c, err := loadConfig(""); err != nil || c.file != "" {
		t.Errorf("no file: %+v %v", c, err)
	}
	if _, err := loadConfig(filepath.Join("none", "kera.yaml")); err == nil || !strings.Contains(err.Error(), "K0700") {
		t.Errorf("named file missing: %v", err)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ s, want string }{{"target", "targets"}, {"plugin", "plugins"}, {"zzzzz", ""}} {
		if got := nearest(c.s, configKeys); got != c.want {
			t.Errorf("nearest(%s) = %q", c.s, got)
		}
	}
}
