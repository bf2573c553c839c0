package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// keys lists the keys of a JSON object in ascending order, or of the objects in
// a list if they all have the same.
func keys(t *testing.T, r result) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatalf("kerac %q: %v", r.args, err)
	}
	if list, ok := v.([]any); ok {
		if len(list) == 0 {
			return "[]"
		}
		v = list[0]
	}
	m, ok := v.(map[string]any)
	if !ok {
		return "?"
	}
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestJSON: every command gives one JSON value with known keys, whether it
// succeeds or fails; without --json the same command says something a person can
// read, and nothing goes to the wrong stream.
func TestJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", "pub fn f(x: f64) -> f64 { x + 1.0 }\npub fn g(x: i64) -> i64 { 10 / x }\ntest \"t\" { assert f(1.0) == 2.0 }\n")
	w.write("g.kera", "pub fn f(x: f64) -> f64 { x + 2.0 }\ntest \"t\" { assert f(1.0) == 2.0 }\n")
	w.write("bad.kera", "pub fn f(x: f64) -> i64 { x }\n")
	w.write("x.json", "1")
	w.write("zero.json", "0")
	w.write("bad.keg", "KEG\x00")
	w.must("build", "f.kera", "-o", "f.keg")
	w.must("build", "g.kera", "-o", "g.keg", "--target", "none")
	for _, c := range []struct {
		args string
		code int
		keys string
	}{
		{"version", 0, "arch go op_set os version"},
		{"exit-codes", 0, "code meaning name"},
		{"explain", 0, "code example explain fixed title"},
		{"explain K0301", 0, "code example explain fixed title"},
		{"explain K9999", 2, "error"},
		{"check f.kera", 0, "diagnostics errors files warnings"},
		{"check f.kera bad.kera", 1, "diagnostics errors files warnings"},
		{"check none.kera", 1, "diagnostics errors files warnings"},
		{"test f.kera", 0, "file module name targets"},
		{"test g.kera", 1, "file module name place targets"},
		{"test bad.kera", 1, "error"},
		{"fingerprint f.kera", 0, "entries file fingerprint"},
		{"fingerprint bad.keg", 4, "error"},
		{"plugin list", 0, "capabilities digest from name path protocol targets version"},
		{"plugin info x86", 0, "capabilities digest from name path protocol targets version"},
		{"plugin info nope", 8, "error"},
		{"plugin", 2, "error"},
		{"build f.kera -o o.keg", 0, "bytes entries fingerprint out targets times_ns"},
		{"build f.keg -o o.keg --target wasm", 0, "bytes entries fingerprint out targets times_ns"},
		{"build f.kera", 2, "error"},
		{"build bad.kera -o o2.keg", 1, "error"},
		{"build f.kera -o o2.keg --target nope", 8, "error"},
		{"build f.kera -o o2.keg --target x86:nope", 1, "error"},
		{"inspect f.keg", 0, "bytes entries file fingerprint nodes optimised regions sections"},
		{"inspect f.keg --stage graph", 0, "entries regions"},
		{"inspect f.keg --stage optimised", 0, "entries regions"},
		{"inspect f.keg --stage sections", 0, ""},
		{"inspect f.keg --stage asm", 0, ""},
		{"inspect f.kera --stage tokens", 0, ""},
		{"inspect f.kera --stage tree", 0, "children kind"},
		{"inspect bad.keg", 4, "error"},
		{"inspect f.keg --stage tokens", 2, "error"},
		{"inspect f.keg --stage nope", 2, "error"},
		{"run f.keg --entry f --input x=x.json", 0, "digest entry mode ns results target"},
		{"run f.keg --entry g --input x=zero.json", 9, "error"},
		{"run f.keg --entry f", 1, "error"},
		{"run bad.keg", 4, "error"},
		{"verify f.keg", 0, "entries file"},
		{"verify f.keg --entry f --cases 2", 0, "entries file"},
		{"verify bad.keg", 4, "error"},
		{"diff f.keg f.keg", 0, "added causes common new old removed same"},
		{"diff f.keg g.keg", 3, "added causes common new old removed same"},
		{"diff f.keg bad.keg", 4, "error"},
		{"diff f.keg", 2, "error"},
		{"nope", 2, "error"},
		{"run --nope f.keg", 2, "error"},
	} {
		args := strings.Fields(c.args)
		r := w.want(c.code, append(args, "--json"))
		if got := keys(t, r); c.keys != "" && got != c.keys {
			t.Errorf("kerac %s --json: keys %q, want %q", c.args, got, c.keys)
		}
		if c.keys == "error" {
			e := decode[struct {
				Error struct {
					Exit    int
					Kind    string
					Message string
				}
			}](t, r).Error
			if e.Exit != c.code || e.Kind == "" || e.Message == "" {
				t.Errorf("kerac %s --json: %+v", c.args, e)
			}
		}
		p := w.want(c.code, args)
		if strings.HasPrefix(strings.TrimSpace(p.out), "{") {
			t.Errorf("kerac %s: JSON without being asked", c.args)
		}
		if c.keys == "error" && p.out != "" {
			t.Errorf("kerac %s: a failure on stdout: %s", c.args, p.out)
		}
		if c.code == 0 && p.out == "" {
			t.Errorf("kerac %s: no result on stdout", c.args)
		}
		// Quiet drops what is no result and no error, and nothing else.
		q := w.want(c.code, append(args, "-q"))
		if c.code == 0 && (q.err != "" || q.out == "" && args[0] != "build" && args[0] != "check") {
			t.Errorf("kerac %s -q: stdout %q, stderr %q", c.args, head(q.out), q.err)
		}
	}
}

// TestClosedPipe: whoever reads the output may stop; full disks are reported.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("not checked: no /dev/full")
	}
	defer full.Close()
	for _, args := range [][]string{{"explain"}, {"explain", "--json"}, {"version"}, {"completion", "bash"}} {
		c := w.command(t.Context(), nil, args...)
		var stderr bytes.Buffer
		c.Stdout, c.Stderr = full, &stderr
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("kerac %q > /dev/full: exit %d, %q", args, code, stderr.String())
		}
	}
}

// TestCompletion: the scripts are what each shell can read.
func TestCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := w.must("completion", shell)
		if len(r.out) < 1000 || !strings.Contains(r.out, "kerac") {
			t.Errorf("%s: %d bytes", shell, len(r.out))
		}
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s: syntax not checked, it is not installed", shell)
			continue
		}
		w.write("script", r.out)
		if out, err := exec.Command(shell, "-n", w.path("script")).CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
	}
}

// TestConfiguration: mistakes in kera.yaml name the file and the key.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", plusOne)
	tools := w.path("sub/Tools")
	if err := os.MkdirAll(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(faulty, "kera-backend-faulty"), tools+"/MyBackend")
	if err := os.Chmod(tools+"/MyBackend", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		yaml  string
		code  int
		texts []string
	}{
		{"", 0, []string{"wasm:simd128", "x86:avx2"}},
		{"# nothing\n", 0, nil},
		{"targets: [wasm]\n", 0, []string{"wasm:simd128"}},
		{"targets:\n  - {name: wasm}\n  - x86:avx2\n", 0, []string{"wasm:simd128", "x86:avx2"}},
		{"targets: []\n", 0, nil},
		{"cache: {off: true}\n", 0, nil},
		{"cache: {dir: my-cache, max_bytes: 1000000}\n", 0, nil},
		{"plugins:\n  - {name: my-backend, path: Tools/MyBackend}\ntargets: [my-backend]\n", 0, []string{"my-backend:base"}},
		{"plugins:\n  - {name: my-backend, path: Tools/MyBackend}\ntargets:\n  - {name: my-backend, options: [mode=warning]}\n", 0, []string{"warning: my-backend:base: this graph is large"}},
		{"plugins:\n  - {name: my-backend, path: Tools/MyBackend}\ntargets:\n  - {name: my-backend, options: [bytes=many]}\n", 8, []string{"my-backend", `option bytes: "many" is not a size`, "FAULTY-0001"}},
		{"plugins:\n  - {name: my-backend, path: Tools/MyBackend}\ntargets:\n  - {name: my-backend, options: [Mode=Loud]}\n", 0, []string{"my-backend:base"}},
		{"plugins: [wasm]\n", 0, []string{"wasm:simd128"}},
		{"targets:\n  - {name: wasm, options: [nope=1]}\n", 8, []string{"wasm", "nope"}},
		{"plugins:\n  - {name: mybackend, path: Tools/mybackend}\n", 8, []string{"mybackend", "Tools/mybackend"}},
		{"plugin: [wasm]\n", 1, []string{"K0701", `unknown key "plugin"`, "plugins"}},
		{"targets: [{nam: wasm}]\n", 1, []string{"K0701", "nam"}},
		{"cache: {directory: x}\n", 1, []string{"K0701", "directory"}},
		{"targets: wasm\n", 1, []string{"K0702", "targets"}},
		{"targets: [3]\n", 1, []string{"K0702", "targets"}},
		{"targets: [[wasm]]\n", 1, []string{"K0702", "targets"}},
		{"targets: [{options: [a=1]}]\n", 1, []string{"K0702", "name"}},
		{"targets: [{name: wasm, options: [a]}]\n", 1, []string{"K0702", "is not Name=value"}},
		{"targets: [{name: wasm, options: [a=1, a=2]}]\n", 1, []string{"K0702", "twice"}},
		{"plugins: [{name: MyBackend, path: Tools/MyBackend}]\n", 1, []string{"K0702", `"MyBackend" is no name for a plugin`, "lower-case"}},
		{"plugins: [{name: a/b}]\n", 1, []string{"K0702", "a/b"}},
		{"plugins: [wasm, wasm]\n", 1, []string{"K0702", "twice"}},
		{"cache: {max_bytes: many}\n", 1, []string{"K0702", "max_bytes"}},
		{"cache: {max_bytes: -1}\n", 1, []string{"K0702", "max_bytes"}},
		{"cache: off\n", 1, []string{"K0702", "cache"}},
		{"targets: [wasm\n", 1, []string{"K0700", "cannot be read"}},
		{"\ttargets: [wasm]\n", 1, []string{"K0700"}},
		{"targets: &a [*a]\n", 1, []string{"K070"}},
		{"- wasm\n", 1, []string{"K0700"}},
		{"just text\n", 1, []string{"K0700"}},
		{"targets: [nope]\n", 8, []string{"K0703", "nope"}},
		{"targets: [\"x86:nope\"]\n", 1, []string{"K0704", "x86:nope"}},
		{"TARGETS: [wasm]\n", 0, nil},
	} {
		w.write("sub/kera.yaml", c.yaml)
		os.Remove(w.path("x.keg"))
		r := w.want(c.code, []string{"build", "f.kera", "-o", "x.keg", "--config", "sub/kera.yaml"}, c.texts...)
		if c.code == 1 && !strings.Contains(c.yaml, "x86:nope") && !strings.Contains(r.err, "sub/kera.yaml") {
			t.Errorf("%q: the file is not named: %s", c.yaml, r.err)
		}
		if w.exists("x.keg") != (c.code == 0) {
			t.Errorf("%q: exit %d, x.keg exists: %v", c.yaml, r.code, w.exists("x.keg"))
		}
		if strings.Contains(c.yaml, "Loud") && !bytes.Contains(w.read("x.keg"), []byte("Mode")) {
			t.Errorf("%q: the option lost its case", c.yaml)
		}
	}
	w.want(1, []string{"build", "f.kera", "-o", "y.keg", "--config", "none.yaml"}, "K0700", "none.yaml", "no such file")
	w.want(1, []string{"build", "f.kera", "-o", "y.keg", "--config", "sub"}, "K0700", "sub", "is a directory")
	// The cache may be a file, or a place where nothing can be written.
	w.write("sub/kera.yaml", "cache: {dir: ../f.kera}\n")
	w.want(0, []string{"build", "f.kera", "-o", "y.keg", "--config", "sub/kera.yaml"}, "without a cache")
	// A kera.yaml in the current folder is found without being named.
	w.write("kera.yaml", "targets: [wasm]\n")
	if r := w.must("build", "f.kera", "-o", "y.keg"); strings.Contains(r.out, "x86") {
		t.Errorf("kera.yaml was not read:\n%s", r.out)
	}
}

// TestNoHome: without a home and a cache folder everything still works.
func TestNoHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", plusOne)
	env := []string{"HOME=", "XDG_CACHE_HOME="}
	w.wantEnv(env, 0, []string{"build", "f.kera", "-o", "x.keg"}, "built")
	w.wantEnv(env, 0, []string{"verify", "x.keg"})
	w.wantEnv(withFaulty("die-twice", env...), 8, []string{"build", "f.kera", "-o", "y.keg"}, "crashed: twice")
	env = []string{"HOME=/proc/none", "XDG_CACHE_HOME=/proc/none"}
	w.wantEnv(env, 0, []string{"build", "f.kera", "-o", "x.keg"}, "without a cache")
	w.wantEnv(withFaulty("die-twice", env...), 8, []string{"build", "f.kera", "-o", "y.keg"}, "crashed: twice")
	if left, _ := filepath.Glob(w.tmp + "/kera/crashes/*"); len(left) > 0 {
		os.RemoveAll(w.tmp + "/kera") // a reproducer is no litter
	}
}

// TestDamagedCache: a cache that somebody damaged is not believed.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", plusOne)
	w.write("kera.yaml", "cache: {dir: cache}\n")
	w.must("build", "f.kera", "-o", "a.keg")
	w.want(0, []string{"build", "f.kera", "-o", "b.keg"}, "cached")
	n := 0
	err := filepath.Walk(w.path("cache"), func(p string, st os.FileInfo, err error) error {
		if err != nil || st.IsDir() || st.Size() == 0 {
			return err
		}
		b := w.read(p)
		b[len(b)/2] ^= 1
		n++
		_ = os.Chmod(p, 0o644)
		return os.WriteFile(p, b, 0o644)
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files, %v", n, err)
	}
	w.want(0, []string{"build", "f.kera", "-o", "c.keg"}, "built")
	for _, f := range []string{"b.keg", "c.keg"} {
		if !bytes.Equal(w.read(f), w.read("a.keg")) {
			t.Errorf("%s has other bytes", f)
		}
	}
}

// TestInterruptedTest: a test block that does not end is interrupted too.
func TestInterruptedTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("slow.kera", slow+"test \"never ends\" { assert slow(1000000000000) == 0 }\n")
	r := w.signalled(syscall.SIGINT, nil, w.busy("kerac"), "test", "slow.kera")
	if r.code != 130 || r.err != "kerac: cancelled\n" {
		t.Errorf("exit %d, %q", r.code, r.err)
	}
}
