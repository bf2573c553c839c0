package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "also run the campaigns that take minutes")

// bin holds kerac, kera-runner and the backends; faulty holds the misbehaving
// backend, apart from the others so that only those who ask for it find it.
var bin, faulty, repo string

func TestMain(m *testing.M) {
	flag.Parse()
	// Much of the time is waiting for processes that hang on purpose.
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (int, error) {
	var err error
	if repo, err = filepath.Abs(".."); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "kera-e2e")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	bin, faulty = filepath.Join(dir, "bin"), filepath.Join(dir, "faulty")
	for _, b := range []struct{ pkg, out string }{
		{"./cmd/kerac", bin + "/kerac"}, {"./cmd/kera-runner", bin + "/kera-runner"},
		{"./plugins/x86", bin + "/kera-backend-x86"}, {"./plugins/wasm", bin + "/kera-backend-wasm"},
		{"./plugins/faulty", faulty + "/kera-backend-faulty"},
	} {
		c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", b.out, b.pkg)
		c.Dir = repo
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		if text, err := c.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build %s: %w\n%s", b.pkg, err, text)
		}
	}
	return m.Run(), nil
}

// world is a folder in which one test runs commands.
type world struct {
	t      *testing.T
	dir    string // the current folder of commands
	tmp    string // TMPDIR; must be empty at the end
	env    []string
	marker string
}

// newWorld makes an empty folder. Commands see a home of their own, so nothing
// depends on what the person running the tests has.
func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := os.MkdirTemp("", "ke") // short: sockets live below it
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(base, "w"), tmp: filepath.Join(base, "t"), marker: "KERA_E2E=" + base}
	for _, d := range []string{w.dir, w.tmp, base + "/h"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + base + "/h", "XDG_CACHE_HOME=" + base + "/h/cache",
		"TMPDIR=" + w.tmp, "TERM=dumb", w.marker}
	t.Cleanup(func() {
		w.nothingLeft()
		os.RemoveAll(base)
	})
	return w
}

// processes lists what runs with this world's marker in its environment.
// Processes that have ended and wait to be reaped do not run.
func (w *world) processes() (out []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(d + "/environ")
		if err != nil || !bytes.Contains(env, []byte(w.marker)) {
			continue
		}
		cmd, _ := os.ReadFile(d + "/cmdline")
		out = append(out, filepath.Base(d)+" "+strings.ReplaceAll(string(cmd), "\x00", " "))
	}
	return out
}

// busy reports whether one of our processes whose command has the text has
// computed for a while: whatever it does at its start lies behind it.
func (w *world) busy(text string) func() bool {
	const ticks = 20 // of 10 ms
	return func() bool {
		for _, p := range w.processes() {
			pid, command, _ := strings.Cut(p, " ")
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err != nil || !strings.Contains(command, text) {
				continue
			}
			// After the name in parentheses: user and system time are the fields 14 and 15.
			f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			if user+system >= ticks {
				return true
			}
		}
		return false
	}
}

// nothingLeft waits a little for processes to be gone and the temporary folder
// to be empty.
func (w *world) nothingLeft() {
	w.t.Helper()
	var procs, files []string
	for range 500 {
		procs, files = w.processes(), w.ls(w.tmp)
		if len(procs)+len(files) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Errorf("left behind: processes %q, temporary files %q", procs, files)
}

func (w *world) ls(dir string) []string {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.dir, name)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) []byte {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *world) exists(name string) bool {
	_, err := os.Lstat(w.path(name))
	return err == nil
}

// result is what a command did.
type result struct {
	args     []string
	code     int
	out, err string
	took     time.Duration
}

// command prepares kerac with more environment.
func (w *world) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(bin, "kerac"), args...)
	c.Dir = w.dir
	c.Env = append(slices.Clone(w.env), env...)
	c.WaitDelay = 5 * time.Second
	return c
}

// kerac runs a command to its end and checks what must hold for all of them.
func (w *world) kerac(args ...string) result { w.t.Helper(); return w.keracEnv(nil, args...) }

func (w *world) keracEnv(env []string, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := w.command(ctx, env, args...)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	start := time.Now()
	err := c.Run()
	r := result{args: args, code: c.ProcessState.ExitCode(), out: out.String(), err: stderr.String(), took: time.Since(start)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("kerac %q: %v", args, err)
	}
	w.check(r)
	return r
}

// codes are those of the table that a command may end with today.
var codes = []int{0, 1, 2, 3, 4, 7, 8, 9, 130}

func (w *world) check(r result) {
	w.t.Helper()
	bad := func(format string, args ...any) {
		w.t.Helper()
		w.t.Errorf("kerac %q: %s\nexit %d\nstdout: %s\nstderr: %s", r.args, fmt.Sprintf(format, args...), r.code, head(r.out), head(r.err))
	}
	if !slices.Contains(codes, r.code) {
		bad("exit code %d is not in the table", r.code)
	}
	for _, s := range []string{"goroutine ", "panic: ", "internal fault: runtime"} {
		if strings.Contains(r.err, s) && !strings.Contains(r.err, "stderr: ") {
			bad("a Go panic")
		}
	}
	if r.code != 0 && r.err == "" {
		bad("it failed without a word")
	}
	if strings.Contains(r.err, "\x1b") || strings.Contains(r.out, "\x1b") {
		bad("escape codes where no terminal is")
	}
	if slices.Contains(r.args, "--json") && !json.Valid([]byte(r.out)) {
		bad("stdout is not one JSON value")
	}
	if !slices.Contains(r.args, "--json") && r.code != 0 && r.out != "" && r.args[0] != "verify" && r.args[0] != "diff" && r.args[0] != "test" {
		bad("a failure writes to stdout")
	}
}

func head(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "..."
	}
	return s
}

// want runs a command and checks its exit code and that stderr and stdout
// together have the given texts.
func (w *world) want(code int, args []string, texts ...string) result {
	w.t.Helper()
	return w.wantEnv(nil, code, args, texts...)
}

func (w *world) wantEnv(env []string, code int, args []string, texts ...string) result {
	w.t.Helper()
	r := w.keracEnv(env, args...)
	w.expect(r, code, texts...)
	return r
}

func (w *world) expect(r result, code int, texts ...string) {
	w.t.Helper()
	if r.code != code {
		w.t.Errorf("kerac %q: exit %d, want %d\nstdout: %s\nstderr: %s", r.args, r.code, code, head(r.out), head(r.err))
	}
	for _, s := range texts {
		if !strings.Contains(r.err+r.out, s) {
			w.t.Errorf("kerac %q does not say %q\nstdout: %s\nstderr: %s", r.args, s, head(r.out), head(r.err))
		}
	}
}

func (w *world) must(args ...string) result {
	w.t.Helper()
	r := w.kerac(args...)
	if r.code != 0 {
		w.t.Fatalf("kerac %q: exit %d\n%s", args, r.code, head(r.err))
	}
	return r
}

// decode reads a JSON result.
func decode[T any](t *testing.T, r result) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatalf("kerac %q: %v in %s", r.args, err, head(r.out))
	}
	return v
}

// signalled runs a command in the background, waits until ready says so and
// sends a signal; the result is what it did then.
func (w *world) signalled(sig syscall.Signal, env []string, ready func() bool, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := w.command(ctx, env, args...)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	if !eventually(ready) {
		w.t.Errorf("kerac %q: not under way", args)
	}
	start := time.Now()
	if err := c.Process.Signal(sig); err != nil {
		w.t.Fatal(err)
	}
	_ = c.Wait()
	r := result{args: args, code: c.ProcessState.ExitCode(), out: out.String(), err: stderr.String(), took: time.Since(start)}
	if sig != syscall.SIGKILL {
		w.check(r)
	}
	return r
}

func eventually(ok func() bool) bool {
	for range 2000 {
		if ok() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
}

// example copies an example's folder into the world.
func (w *world) example(name string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(repo, "examples", name, "*"))
	if err != nil || len(files) == 0 {
		w.t.Fatalf("no example %s: %v", name, err)
	}
	for _, f := range files {
		copyFile(w.t, f, w.path(filepath.Base(f)))
	}
}
