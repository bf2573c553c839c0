package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const plusOne = "pub fn f(x: f64) -> f64 { x + 1.0 }\n"

// withFaulty lets commands find the misbehaving backend beside the others.
func withFaulty(mode string, more ...string) []string {
	return append([]string{"KERA_PLUGIN_PATH=" + faulty, "KERA_FAULTY=" + mode}, more...)
}

// TestFaultyBuild: every way a backend can misbehave while `kerac build` uses it
// gives one message, exit code 8 and no file, and with --keep-going a file
// without that target. The row's text names the plugin and what happened.
func TestFaultyBuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		code int
		text string // of the first line of stderr
	}{
		{"ok", 0, ""},
		{"stdout", 0, ""},
		{"unknown-fields", 0, ""},
		{"die-once", 0, ""},
		{"warning", 0, "warning: faulty:base: this graph is large [FAULTY-0003]"},
		{"garbage", 8, `kerac: plugin faulty: start: bad handshake: it printed "Welcome to libvendor 3.1 (evaluation licence)"`},
		{"exit-start", 8, "kerac: plugin faulty: start: crashed: it ended before the handshake (exit status 7)"},
		{"wrong-version", 8, "kerac: plugin faulty: start: wrong protocol version: it speaks protocol version 99, this host speaks 1"},
		{"hang-start", 8, "kerac: plugin faulty: start: no answer in time: no handshake within 10s"},
		{"hang-handshake", 8, "kerac: plugin faulty: start: no answer in time: no answer to GetInfo within 10s"},
		{"die-twice", 8, "kerac: plugin faulty 0.0.1: Compile for faulty-none of f: crashed: twice on the same job"},
		{"malformed", 8, "kerac: plugin faulty 0.0.1: Compile for faulty-none of f: malformed answer: section: "},
		{"bad-digest", 8, "kerac: plugin faulty 0.0.1: Compile for faulty-none of f: malformed answer: section: artifact has digest"},
		{"short", 8, "kerac: plugin faulty 0.0.1: Compile for faulty-none of f: malformed answer: section: artifact of 1048576 bytes announced"},
		{"wrong-entries", 8, "kerac: plugin faulty 0.0.1: Compile for faulty-none of f: malformed answer: section: has entries another, asked for f"},
		{"no-result", 8, "kerac: plugin faulty 0.0.1: Compile for faulty-none of f: malformed answer: "},
		{"panic", 8, "kerac: plugin faulty 0.0.1: Compile for faulty-none of f: internal fault: BUG: faulty was asked to panic"},
		{"diagnostic", 8, "error: faulty:base: this graph is not to my taste [FAULTY-0002]"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f.kera", plusOne)
			env := withFaulty(c.mode, "KERA_FAULTY_STATE="+w.path("died"))
			r := w.wantEnv(env, c.code, []string{"build", "f.kera", "-o", "x.keg"})
			first, _, _ := strings.Cut(r.err, "\n")
			if !strings.HasPrefix(first, c.text) || c.text == "" && r.err != "" {
				t.Errorf("stderr begins %q, want %q", first, c.text)
			}
			if n := strings.Count(r.err, "kerac: ") + strings.Count(r.err, "error: "); c.code != 0 && n != 1 {
				t.Errorf("%d messages:\n%s", n, r.err)
			}
			if w.exists("x.keg") != (c.code == 0) {
				t.Errorf("exit %d, and x.keg exists: %v", r.code, w.exists("x.keg"))
			}
			for _, f := range w.ls(w.dir) {
				if f != "f.kera" && f != "x.keg" && f != "died" {
					t.Errorf("left in the folder: %s", f)
				}
			}
			if c.code == 0 || strings.HasPrefix(c.mode, "hang") {
				return
			}
			// The same failure for a program, and for somebody who goes on.
			r = w.wantEnv(env, 8, []string{"build", "f.kera", "-o", "x.keg", "--json"}, `"exit": 8`, `"kind": "plugin"`, "faulty")
			r = w.wantEnv(env, 0, []string{"build", "f.kera", "-o", "x.keg", "--keep-going"}, "faulty", "left absent", " absent ", "x86:avx2 ", "wasm:simd128 ")
			if !strings.Contains(r.err, "left absent") {
				t.Errorf("stderr does not say that the target is absent: %s", r.err)
			}
			w.want(0, []string{"verify", "x.keg", "--cases", "2"}, "faulty", "not checked")
			// A later build from the stored graph fills the gap.
			w.wantEnv(withFaulty(""), 0, []string{"build", "x.keg", "-o", "y.keg", "--target", "faulty"}, "faulty:base    built")
			w.want(0, []string{"inspect", "y.keg"}, "faulty-copy")
			if r := w.kerac("inspect", "y.keg"); strings.Contains(r.out, "not built") {
				t.Errorf("still absent:\n%s", r.out)
			}
		})
	}
}

// identity is what the faulty executor computes.
const identity = `pub fn same(x: u8[4]) -> u8[4] { x }
pub fn other(x: u8[4]) -> u8[4] { x +% 1 }
`

// TestFaultyRun: the faulty executor copies bytes, claims a trap for 255 and a
// fault for 254. And a backend that compiled may be broken or gone later.
func TestFaultyRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", identity)
	w.write("v.json", "[1,2,3,4]")
	w.write("trap.json", "[255,2,3,4]")
	w.write("fault.json", "[254,2,3,4]")
	ok := withFaulty("")
	w.wantEnv(ok, 0, []string{"build", "f.kera", "-o", "f.keg", "--target", "faulty", "--target", "wasm"})
	run := func(entry, input, target string, more ...string) []string {
		return append([]string{"run", "f.keg", "--entry", entry, "--input", "x=" + input, "--target", target, "--output", "result=o.json"}, more...)
	}
	verify := func(entry, input string, more ...string) []string {
		return append([]string{"verify", "f.keg", "--entry", entry, "--input", "x=" + input}, more...)
	}
	w.wantEnv(ok, 0, run("same", "v.json", "faulty"), "simulated", "[1 2 3 4]")
	os.Remove(w.path("o.json"))
	w.wantEnv(ok, 0, verify("same", "v.json"), "simulated")
	w.wantEnv(ok, 3, verify("other", "v.json"), "faulty differs from the interpreter", "entry other", "expected 2 (0x02), got 1 (0x01)")
	w.wantEnv(ok, 3, verify("other", "v.json", "--json"), `"status": "differs"`, `"expected": "2"`)
	w.wantEnv(ok, 3, []string{"verify", "f.keg"}, "entry other")
	w.wantEnv(ok, 3, run("same", "trap.json", "faulty"), "faulty reports a trap (index), and the interpreter does not find it")
	w.wantEnv(ok, 3, verify("same", "trap.json"), "expected outputs, got a trap (index)")
	w.wantEnv(ok, 7, run("same", "fault.json", "faulty"), "the code for faulty crashed: SIGSEGV, address 0")
	w.wantEnv(ok, 7, run("same", "fault.json", "faulty", "--json"), `"exit": 7`, `"kind": "SIGSEGV"`)
	w.wantEnv(ok, 7, verify("same", "fault.json"), "failed: the code for faulty crashed", "entry same")
	for mode, text := range map[string]string{
		"exit-start": "it ended before the handshake (exit status 7)", "garbage": "bad handshake", "wrong-version": "protocol version 99",
	} {
		env := withFaulty(mode)
		w.wantEnv(env, 8, run("same", "v.json", "faulty"), "plugin faulty: start: ", text)
		w.wantEnv(env, 8, run("same", "v.json", "faulty", "--json"), `"exit": 8`)
		w.wantEnv(env, 0, run("same", "v.json", "wasm"))
		os.Remove(w.path("o.json"))
		w.wantEnv(env, 8, verify("same", "v.json"), "failed", text)
		w.wantEnv(env, 8, verify("same", "v.json", "--target", "faulty", "--json"), `"status": "failed"`)
		w.wantEnv(env, 0, verify("same", "v.json", "--target", "wasm"))
	}
	// Gone: there is nothing that could run the section.
	w.want(8, run("same", "v.json", "faulty"), `there is no plugin "faulty"`)
	w.want(0, verify("same", "v.json"), "not checked", "no plugin")
	if w.exists("o.json") {
		t.Error("an output of a failed run was written")
	}
}

// TestMissingBinary: each executable in turn is not there.
func TestMissingBinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", plusOne)
	w.write("x.json", "2")
	if err := os.Mkdir(w.path("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"kerac", "kera-runner", "kera-backend-x86", "kera-backend-wasm"} {
		if err := os.Symlink(filepath.Join(bin, f), w.path("bin/"+f)); err != nil {
			t.Fatal(err)
		}
	}
	w.must("build", "f.kera", "-o", "f.keg")
	w.want(8, []string{"build", "f.kera", "-o", "x.keg", "--target", "arm64"}, `there is no plugin "arm64"`, "K0703")
	w.write("kera.yaml", "plugins: [{name: mine, path: tools/mine}]\n")
	w.want(8, []string{"build", "f.kera", "-o", "x.keg"}, "kera.yaml", "mine", "tools/mine")
	w.write("tools/mine", "not a program")
	w.want(8, []string{"build", "f.kera", "-o", "x.keg"}, "mine", "not an executable file")
	if err := os.Chmod(w.path("tools/mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.want(8, []string{"build", "f.kera", "-o", "x.keg"}, "mine", "exec format error")
	w.write("tools/mine", "#!/bin/sh\necho no licence >&2\nexit 3\n")
	w.want(8, []string{"build", "f.kera", "-o", "x.keg"}, "plugin mine: start: crashed", "exit status 3", "stderr: no licence")
	w.write("tools/mine", "#!/no/such/interpreter\n")
	w.want(8, []string{"build", "f.kera", "-o", "x.keg"}, "mine", "no such file")
	w.write("tools/mine", "#!/bin/sh\nsleep 1000 & echo $! > child; echo hello; sleep 1000\n")
	w.want(8, []string{"build", "f.kera", "-o", "x.keg"}, "plugin mine: start: bad handshake", "hello")
	os.Remove(w.path("kera.yaml"))
	if w.exists("x.keg") {
		t.Error("a failed build wrote x.keg")
	}
	// Without the runner CPU code does not run; the rest does.
	env := []string{"KERA_RUNNER=" + w.path("nowhere")}
	w.wantEnv(env, 8, []string{"run", "f.keg", "--target", "x86", "--input", "x=x.json"}, "runner", "nowhere")
	w.wantEnv(env, 0, []string{"run", "f.keg", "--input", "x=x.json"}, "wasm:simd128", "= 3")
	w.wantEnv(env, 0, []string{"verify", "f.keg"}, "not checked")
	w.write("nowhere", "#!/bin/sh\nexit 5\n")
	if err := os.Chmod(w.path("nowhere"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.wantEnv(env, 8, []string{"run", "f.keg", "--target", "x86", "--input", "x=x.json"}, "runner")
}

// TestKilledWhileCompiling: the host ends at once, on request or by force, while
// a backend hangs in each place where it can. newWorld's check finds processes
// and folders that stay.
func TestKilledWhileCompiling(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"hang-start", "hang-handshake", "hang", "ignore-cancel"} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
			t.Run(mode+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f.kera", plusOne)
				w.write("x.keg", "old")
				// One process is kerac; the hanging backend is the second. It hangs a
				// moment after it is there.
				hangs := func() bool {
					for _, p := range w.processes() {
						if strings.Contains(p, "kera-backend-faulty") {
							time.Sleep(200 * time.Millisecond)
							return true
						}
					}
					return false
				}
				r := w.signalled(sig, withFaulty(mode), hangs, "build", "f.kera", "-o", "x.keg", "--keep-going")
				switch {
				case r.took > 5*time.Second:
					t.Errorf("it took %v to end", r.took)
				case sig == syscall.SIGKILL:
					w.sweep()
				case r.code != 130 || r.err != "kerac: cancelled\n":
					t.Errorf("exit %d, stderr %q", r.code, r.err)
				}
				if string(w.read("x.keg")) != "old" || len(w.ls(w.dir)) != 2 {
					t.Errorf("files: %q", w.ls(w.dir))
				}
			})
		}
	}
}

// sweep runs a command that uses a backend: what a killed host could not remove
// is removed by the next one.
func (w *world) sweep() {
	w.t.Helper()
	eventually(func() bool { return len(w.processes()) == 0 })
	w.want(0, []string{"plugin", "info", "wasm"})
}

const slow = `pub fn slow(n: i64) -> i64 {
    let mut s = 0
    for i in 0..n { s = s *% 6364136223846793005 +% i }
    s
}
`

// TestKilledWhileRunning: as above, with each target in an endless computation.
func TestKilledWhileRunning(t *testing.T) {
	t.Parallel()
	once := newWorld(t)
	once.write("slow.kera", slow)
	once.must("build", "slow.kera", "-o", "slow.keg")
	artefact := once.read("slow.keg")
	for target, where := range map[string]string{"x86:avx2": "kera-runner", "wasm": "kera-backend-wasm", "interp": "kerac"} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			for _, verb := range []string{"run", "verify"} {
				busy := where
				if verb == "verify" {
					busy = "kerac" // the interpreter comes first
				}
				t.Run(verb+"/"+target+"/"+sig.String(), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.write("slow.keg", string(artefact))
					w.write("n.json", "1000000000000000")
					args := []string{verb, "slow.keg", "--input", "n=n.json", "--target", target}
					if verb == "run" {
						args = append(args, "--output", "result=o.json")
					}
					r := w.signalled(sig, nil, w.busy(busy), args...)
					switch {
					case r.took > 5*time.Second:
						t.Errorf("it took %v to end", r.took)
					case sig == syscall.SIGKILL:
						w.sweep()
					case r.code != 130 || r.err != "kerac: cancelled\n" || r.out != "":
						t.Errorf("exit %d, stderr %q, stdout %q", r.code, r.err, r.out)
					}
					if len(w.ls(w.dir)) != 2 {
						t.Errorf("files: %q", w.ls(w.dir))
					}
				})
			}
		}
	}
}
