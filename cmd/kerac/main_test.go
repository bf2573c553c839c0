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
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", dir+"/all/", "./plugins/...", "./cmd/kera-runner")
	c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("building the backends: %v\n%s", err, text)
	}
	for _, d := range []string{backends, faulty} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	built, err := os.ReadDir(filepath.Join(dir, "all"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range built {
		to := filepath.Join(backends, "kera-backend-"+e.Name())
		switch e.Name() {
		case "faulty":
			to = filepath.Join(faulty, "kera-backend-faulty")
		case "kera-runner":
			to = filepath.Join(backends, "kera-runner")
		}
		if err := os.Rename(filepath.Join(dir, "all", e.Name()), to); err != nil {
			t.Fatal(err)
		}
	}
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
