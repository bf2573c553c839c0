package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", os.Getenv("KERA_UPDATE") != "", "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kerac": main})
}

// programs builds the backends and the runner as `make build` does. The faulty
// backend lies in a folder of its own, where only the tests of it look.
func programs(t *testing.T, root string) (backends, faulty string) {
	t.Helper()
	dir := t.TempDir()
	backends, faulty = filepath.Join(dir, "bin"), filepath.Join(dir, "faulty")
	mains, err := filepath.Glob(filepath.Join(root, "plugins", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	build := func(out, pkg string) {
		c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out, pkg)
		c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", pkg, err, text)
		}
	}
	for _, p := range mains {
		name := filepath.Base(filepath.Dir(p))
		out := backends
		if name == "faulty" {
			out = faulty
		}
		build(filepath.Join(out, "kera-backend-"+name), "./plugins/"+name)
	}
	build(filepath.Join(backends, "kera-runner"), "./cmd/kera-runner")
	return backends, faulty
}

// TestScripts runs the command as a person would: each file in testdata/script is
// a session with its files, its commands and what they must print.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	backends, faulty := programs(t, root)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("BACKENDS", backends)
			env.Setenv("FAULTY", faulty)
			env.Setenv("KERA_PLUGIN_PATH", backends)
			env.Setenv("KERA_RUNNER", filepath.Join(backends, "kera-runner"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			return nil
		},
		Cmds: scriptCommands(),
	})
}
