package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/keg"
)

// edit rewrites a .keg through change, which gets its targets.
func edit(t *testing.T, from, to string, change func(f *keg.File)) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	f, err := keg.Read(b, keg.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	if b, err = keg.Encode(f, keg.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWrongSections gives a program the code of another one, and code that
// crashes: the first is a difference, or a stale section if it says what it was
// made from; the second a fault that names the node. The command goes on living.
func TestWrongSections(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	backends, _ := programs(t, root)
	t.Setenv("KERA_PLUGIN_PATH", backends)
	t.Setenv("KERA_RUNNER", filepath.Join(backends, "kera-runner"))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	write(t, "x.json", "[1, 2]")
	for name, factor := range map[string]string{"a": "2.0", "b": "3.0"} {
		write(t, name+".kera", "module m\npub fn f(x: f64[2]) -> f64[2] { x * "+factor+" + 1.0 }\n")
		must(t, "build", name+".kera", "-o", name+".keg", "--target", "wasm")
	}
	b, err := os.ReadFile("b.keg")
	if err != nil {
		t.Fatal(err)
	}
	other, err := keg.Read(b, keg.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	edit(t, "a.keg", "stale.keg", func(f *keg.File) { f.Targets = other.Targets })
	out, stderr, code := do(t, "run", "stale.keg", "--input", "x=x.json", "--target", "wasm")
	if code != exitArtefact || out != "" || !strings.Contains(stderr, "compiled from another graph") {
		t.Errorf("stale: exit code %d, stdout %q, stderr %q", code, out, stderr)
	}
	edit(t, "a.keg", "lies.keg", func(f *keg.File) {
		d := other.Targets[0].Desc
		d.Entries[0].Region = f.Targets[0].Desc.Entries[0].Region
		forged, err := keg.NewTarget(d, other.Targets[0].Artifact)
		if err != nil {
			t.Fatal(err)
		}
		f.Targets = []keg.Target{forged}
	})
	out, stderr, code = do(t, "verify", "lies.keg", "--input", "x=x.json")
	if code != exitDifference || !strings.Contains(out, "result, element 0: expected 3 (0x4008000000000000), got 4") ||
		!strings.Contains(stderr, "wasm:simd128 differs from the interpreter") {
		t.Errorf("lies: exit code %d, stdout %q, stderr %q", code, out, stderr)
	}
	out, _, code = do(t, "verify", "lies.keg", "--json")
	if code != exitDifference || strings.Count(out, `"status": "differs"`) != 1 || strings.Contains(out, `"error"`) {
		t.Errorf("lies in JSON: exit code %d, stdout %q", code, out)
	}

	must(t, "build", "a.kera", "-o", "x86.keg", "--target", "x86:avx2")
	if out := must(t, "verify", "x86.keg"); !strings.Contains(out, "natively") {
		t.Skip("crashing code is not checked: this machine does not run x86:avx2")
	}
	edit(t, "x86.keg", "crash.keg", func(f *keg.File) {
		// ud2 everywhere.
		bad, err := keg.NewTarget(f.Targets[0].Desc, bytes.Repeat([]byte{0x0f, 0x0b}, len(f.Targets[0].Artifact)/2+1)[:len(f.Targets[0].Artifact)])
		if err != nil {
			t.Fatal(err)
		}
		f.Targets = []keg.Target{bad}
	})
	for _, args := range [][]string{{"run", "crash.keg", "--input", "x=x.json", "--output", "result=o.npy"}, {"verify", "crash.keg"}} {
		_, stderr, code := do(t, args...)
		if code != exitFault || !strings.Contains(stderr, "the code for x86:avx2 crashed: SIGILL") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr)
		}
	}
	if _, err := os.Stat("o.npy"); err == nil {
		t.Error("a crashed run wrote an output")
	}
}
