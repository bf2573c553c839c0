package host_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/pluginapi/host"
)

// TestModes: each way to misbehave is one clear message of the right kind.
func TestModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   string
		kind   host.Kind // 0: no error
		want   []string  // in the message
		stderr string    // in the tail
		repro  bool
	}{
		{mode: "ok"},
		{mode: "stdout"},
		{mode: "unknown-fields"},
		{mode: "die-once"},
		{mode: "warning"},
		{mode: "diagnostic"},
		{mode: "garbage", kind: host.KindHandshake, want: []string{"plugin faulty: start", `"Welcome to libvendor 3.1 (evaluation licence)"`, "on stdout"}},
		{mode: "exit-start", kind: host.KindCrash, want: []string{"plugin faulty: start", "before the handshake", "exit status 7"}, stderr: "no licence found"},
		{mode: "hang-start", kind: host.KindTimeout, want: []string{"plugin faulty: start", "no handshake within 2s"}},
		{mode: "hang-handshake", kind: host.KindTimeout, want: []string{"plugin faulty: start", "no answer to GetInfo within 2s"}},
		{mode: "wrong-version", kind: host.KindVersion, want: []string{"plugin faulty: start", "protocol version 99, this host speaks 1"}},
		{mode: "hang", kind: host.KindTimeout, want: []string{"plugin faulty 0.0.1: Compile for faulty-none of main", "no answer within 1s"}, repro: true},
		{mode: "ignore-cancel", kind: host.KindTimeout, want: []string{"no answer within 1s"}, repro: true},
		{mode: "die-twice", kind: host.KindCrash, want: []string{"plugin faulty 0.0.1: Compile for faulty-none of main", "twice on the same job", "signal: killed"}, stderr: "assertion failed", repro: true},
		{mode: "malformed", kind: host.KindMalformed, want: []string{"Compile for faulty-none of main", "section: malformed at byte"}, repro: true},
		{mode: "bad-digest", kind: host.KindMalformed, want: []string{"section: artifact has digest"}, repro: true},
		{mode: "short", kind: host.KindMalformed, want: []string{"section: artifact of 1048576 bytes announced, 16 received"}, repro: true},
		{mode: "wrong-entries", kind: host.KindMalformed, want: []string{"section: has entries another, asked for main"}, repro: true},
		{mode: "no-result", kind: host.KindMalformed, want: []string{"neither a result nor an error diagnostic"}, repro: true},
		{mode: "panic", kind: host.KindBug, want: []string{"BUG: faulty was asked to panic", `while "copying"`}, stderr: "backend.go", repro: true},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			s := spec(t, c.mode)
			switch c.mode {
			case "hang-start", "hang-handshake":
				s.StartTimeout = 2 * time.Second
			case "hang", "ignore-cancel":
				s.CompileTimeout = time.Second
			}
			p := host.New(s)
			defer p.Close()
			r, err := p.Compile(context.Background(), host.CompileRequest{Job: job(nil)})
			if c.kind == 0 {
				checkOK(t, c.mode, r, err)
				return
			}
			checkFailure(t, err, c.kind, c.want, c.stderr)
			var e *host.Error
			errors.As(err, &e)
			if (len(e.Nodes) == 1) != (c.mode == "panic") {
				t.Errorf("nodes %v", e.Nodes)
			}
			if _, err := os.Stat(e.Reproducer); (err == nil) != c.repro {
				t.Errorf("reproducer %q: %v", e.Reproducer, err)
			} else if c.repro {
				if b, _ := os.ReadFile(e.Reproducer); string(b) != "a graph" {
					t.Errorf("reproducer holds %q", b)
				}
			}
		})
	}
}

func checkOK(t *testing.T, mode string, r *host.CompileResult, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	switch mode {
	case "diagnostic":
		if r.Section != nil || len(r.Diagnostics) != 1 || r.Diagnostics[0].Code != "FAULTY-0002" || len(r.Diagnostics[0].Nodes) != 1 {
			t.Errorf("got %+v", r)
		}
		return
	case "warning":
		if len(r.Diagnostics) != 1 || r.Diagnostics[0].Severity != host.SeverityWarning {
			t.Errorf("got %+v", r.Diagnostics)
		}
	}
	d := r.Section.Descriptor
	if d.Plugin.Name != "faulty" || d.Plugin.Binary.IsZero() || len(d.Entries) != 1 || len(r.Section.Artifact) != 16 {
		t.Errorf("got %+v", d)
	}
}

func checkFailure(t *testing.T, err error, kind host.Kind, want []string, stderr string) {
	t.Helper()
	var e *host.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a plugin failure", err)
	}
	if e.Kind != kind || e.ExitCode() != 8 {
		t.Errorf("got kind %v, exit code %d; want %v, 8", e.Kind, e.ExitCode(), kind)
	}
	sum := e.Summary()
	for _, w := range want {
		if !strings.Contains(sum, w) {
			t.Errorf("message lacks %q: %s", w, sum)
		}
	}
	if strings.Contains(sum, "\n") || len(sum) > 400 {
		t.Errorf("not one clear line: %q", sum)
	}
	if !strings.Contains(strings.Join(e.Stderr, "\n"), stderr) {
		t.Errorf("stderr tail lacks %q: %q", stderr, e.Stderr)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(text, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("no program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		kind host.Kind
		want string
	}{
		{filepath.Join(dir, "nowhere"), host.KindMissing, "no executable at"},
		{text, host.KindStart, "not an executable file"},
		{script, host.KindStart, "exec format error"},
	} {
		p, err := host.Start(context.Background(), host.Spec{Name: "x", Path: c.path})
		if err == nil {
			p.Close()
		}
		checkFailure(t, err, c.kind, []string{"plugin x: start", c.want}, "")
	}
}

// TestOthersStillBuild: a job that kills the plugin fails alone, at once when
// it comes again; the others build.
func TestOthersStillBuild(t *testing.T) {
	t.Parallel()
	p := host.New(spec(t, "ok"))
	defer p.Close()
	ctx := context.Background()
	bad := host.CompileRequest{Job: job(map[string]string{"mode": "die-twice"})}
	_, err := p.Compile(ctx, bad)
	checkFailure(t, err, host.KindCrash, []string{"twice"}, "")
	if _, err := p.Compile(ctx, host.CompileRequest{Job: job(nil)}); err != nil {
		t.Errorf("good job after a crash: %v", err)
	}
	if _, again := p.Compile(ctx, bad); again != err {
		t.Errorf("the known bad job was tried again: %v", again)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"hang", "ignore-cancel"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := host.New(spec(t, "ok"))
			defer p.Close()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var at time.Time
			_, err := p.Compile(ctx, host.CompileRequest{
				Job:      job(map[string]string{"mode": mode}),
				Progress: func(host.Progress) { at = time.Now(); cancel() },
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if d := time.Since(at); d > time.Second {
				t.Errorf("cancel took %v", d)
			}
			if _, err := p.Compile(context.Background(), host.CompileRequest{Job: job(nil)}); err != nil {
				t.Errorf("plugin is not usable after a cancel: %v", err)
			}
		})
	}
}

func TestInfoAndTargets(t *testing.T) {
	t.Parallel()
	p, err := host.Start(context.Background(), spec(t, "unknown-fields"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx := context.Background()
	info, err := p.Info(ctx)
	if err != nil || info.Name != "faulty" || info.Version != "0.0.1" || !info.Has(host.CapExecutor) {
		t.Errorf("info %+v, %v", info, err)
	}
	ts, err := p.Targets(ctx)
	if err != nil || len(ts) != 1 || ts[0].Triple != "faulty-none" || len(ts[0].Options) != 3 {
		t.Errorf("targets %+v, %v", ts, err)
	}
	ds, err := p.Configure(ctx, "faulty-none", map[string]string{"bytes": "many"})
	if err != nil || len(ds) != 1 || ds[0].Code != "FAULTY-0001" {
		t.Errorf("diagnostics %+v, %v", ds, err)
	}
	if _, ok, err := p.Support(ctx, job(nil)); ok || err != nil {
		t.Errorf("support of a plugin without it: %v, %v", ok, err)
	}
}

// TestLarge sends a graph and takes an artifact beyond one message.
func TestLarge(t *testing.T) {
	t.Parallel()
	p := host.New(spec(t, "ok"))
	defer p.Close()
	j := job(map[string]string{"code": "9000000"})
	j.Graph = host.NewGraph(bytes.Repeat([]byte("kera"), 5<<20))
	r, err := p.Compile(context.Background(), host.CompileRequest{Job: j})
	if err != nil || len(r.Section.Artifact) != 9000000 {
		t.Fatalf("%v", err)
	}
}

func TestDeterministicSection(t *testing.T) {
	t.Parallel()
	var first []byte
	for range 2 {
		p := host.New(spec(t, "ok"))
		r, err := p.Compile(context.Background(), host.CompileRequest{Job: job(nil)})
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Section.Descriptor.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		} else if !bytes.Equal(b, first) {
			t.Error("two processes gave two descriptors")
		}
	}
}

func TestKeyDependsOnEverything(t *testing.T) {
	t.Parallel()
	p := host.New(spec(t, "ok"))
	defer p.Close()
	seen := map[digest.D]string{}
	for name, edit := range map[string]func(*host.CompileRequest){
		"nothing":  func(*host.CompileRequest) {},
		"graph":    func(r *host.CompileRequest) { r.Graph = host.NewGraph([]byte("another")) },
		"root":     func(r *host.CompileRequest) { r.Root = digest.Plain([]byte("root")) },
		"entries":  func(r *host.CompileRequest) { r.Entries = []string{"other"} },
		"triple":   func(r *host.CompileRequest) { r.Triple = "other" },
		"features": func(r *host.CompileRequest) { r.Features = []string{"fast"} },
		"options":  func(r *host.CompileRequest) { r.Options = map[string]string{"a": "b"} },
	} {
		r := host.CompileRequest{Job: job(nil)}
		edit(&r)
		k, err := p.Key(&r)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s share a key", name, other)
		}
		seen[k] = name
	}
}

func TestFinder(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(a, "kera-backend-one"), filepath.Join(b, "kera-backend-one"),
		filepath.Join(b, "kera-backend-two"), filepath.Join(b, "mine"),
	} {
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(a, "kera-backend-data"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f := host.Finder{Named: map[string]string{"three": "mine"}, Base: b, Dirs: []string{a, b}}
	var got []string
	for _, x := range f.List() {
		got = append(got, x.Name+"="+x.Path)
	}
	want := []string{"one=" + a + "/kera-backend-one", "three=" + b + "/mine", "two=" + b + "/kera-backend-two"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err := f.Find("four")
	checkFailure(t, err, host.KindMissing, []string{"plugin four", "kera-backend-four", a, b}, "")
	_, err = f.Find("../x")
	checkFailure(t, err, host.KindMissing, []string{"lower-case"}, "")
}
