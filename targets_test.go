package kera_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/frontend"
	"github.com/kera-lang/kera/midend"
	"github.com/kera-lang/kera/pluginapi/conformance"
	"github.com/kera-lang/kera/pluginapi/native"
	wasm "github.com/kera-lang/kera/plugins/wasm/compile"
	wasmexec "github.com/kera-lang/kera/plugins/wasm/exec"
	x86 "github.com/kera-lang/kera/plugins/x86/compile"
)

// TestRandomTargets: random programs through the passes, the loop plan, both
// backends and real machines give the interpreter's bytes. Packages are called
// directly; the same way through processes is tested by kerac's scripts.
func TestRandomTargets(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 15
	}
	r, info, engine := machines(t)
	for seed := range n {
		onTargets(t, r, info, engine, conformance.Random(seed+1_000_000, 6+int(seed%40)), conformance.Name(seed+1_000_000))
	}
}

// TestPinnedPrograms runs the programs in testdata/pinned, each of which once
// came out wrong; the file's name says what was at fault.
func TestPinnedPrograms(t *testing.T) {
	r, info, engine := machines(t)
	files, err := filepath.Glob("testdata/pinned/*.keg")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pinned programs: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := keg.Read(b, keg.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			onTargets(t, r, info, engine, f.Graph, path)
		})
	}
	sources, err := filepath.Glob("testdata/pinned/*.kera")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no pinned sources: %v", err)
	}
	for _, path := range sources {
		t.Run(filepath.Base(path), func(t *testing.T) {
			res, ds := frontend.Compile(context.Background(), frontend.Options{FS: os.DirFS("testdata/pinned"), Main: filepath.Base(path)})
			if ds.HasErrors() {
				t.Fatalf("%v", ds)
			}
			onTargets(t, r, info, engine, res.Graph, path)
		})
	}
}

func machines(t *testing.T) (*native.Runner, native.Info, *wasmexec.Machine) {
	t.Helper()
	ctx := context.Background()
	r := startRunner(t)
	info, err := r.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	engine := wasmexec.Open(ctx, false)
	t.Cleanup(func() { _ = engine.Close(ctx) })
	return r, info, engine
}

func onTargets(t *testing.T, r *native.Runner, info native.Info, engine *wasmexec.Machine, g *graph.Graph, name string) {
	t.Helper()
	ctx := context.Background()
	calls, err := conformance.Calls(ctx, g, 7, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := midend.Optimise(ctx, g, midend.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, l := range x86.Levels() {
		if missing, ok := info.Has(l.Features); !ok {
			t.Logf("not checked: %s, the processor has no %s", l.Name, missing)
			continue
		}
		s, ds, err := x86.Graph(ctx, g, l, nil)
		if err != nil || len(ds) > 0 {
			t.Fatalf("%s, %s: %v %v", name, l.Name, ds, err)
		}
		runNative(t, r, s.Descriptor, s.Artifact, calls, func(c conformance.Call) {
			t.Errorf("%s, %s, case %d differs\n%s", name, l.Name, c.Case, text(g, true))
		})
	}
	runWasm(t, engine, g, calls, name)
}

func startRunner(t *testing.T) *native.Runner {
	t.Helper()
	path := filepath.Join(t.TempDir(), native.RunnerName)
	cmd := exec.Command("go", "build", "-o", path, "./cmd/kera-runner")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	r, err := native.New(native.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func runNative(t *testing.T, r *native.Runner, d *section.Descriptor, code []byte, calls []conformance.Call, differs func(conformance.Call)) {
	t.Helper()
	ctx := context.Background()
	m, err := r.Load(ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Unload(ctx) }()
	alloc := func(n int64) *native.Buffer {
		b, err := r.Alloc(ctx, uint64(max(n, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range calls {
		e, ok := d.Entry(c.Entry)
		if !ok {
			t.Fatalf("no entry %q", c.Entry)
		}
		var in, out []*native.Buffer
		for _, b := range c.Inputs {
			x := alloc(int64(len(b)))
			copy(x.Bytes(), b)
			in = append(in, x)
		}
		for _, b := range e.Outputs {
			out = append(out, alloc(b.Bytes()))
		}
		res, err := m.Call(ctx, e, in, out, native.CallOptions{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]byte, len(out))
		for i, b := range out {
			got[i] = b.Bytes()[:e.Outputs[i].Bytes()]
		}
		if !same(c, op.TrapKind(res.Trap), got) {
			differs(c)
		}
		for _, b := range append(in, out...) {
			if err := b.Free(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func runWasm(t *testing.T, engine *wasmexec.Machine, g *graph.Graph, calls []conformance.Call, name string) {
	t.Helper()
	ctx := context.Background()
	c, ds, err := wasm.Graph(ctx, g, nil)
	if err != nil || len(ds) > 0 {
		t.Fatalf("%s, wasm: %v %v", name, ds, err)
	}
	mod, err := engine.Load(ctx, c.Section.Descriptor, c.Section.Artifact)
	if err != nil {
		t.Fatalf("%s, wasm: %v", name, err)
	}
	defer func() { _ = mod.Close(ctx) }()
	for _, call := range calls {
		e, _ := c.Section.Descriptor.Entry(call.Entry)
		out := make([][]byte, len(e.Outputs))
		for i, b := range e.Outputs {
			out[i] = make([]byte, b.Bytes())
		}
		trap, _, err := mod.Run(ctx, call.Entry, call.Inputs, out)
		if err != nil {
			t.Fatalf("%s, wasm: %v", name, err)
		}
		if !same(call, op.TrapKind(trap), out) {
			t.Errorf("%s, wasm, case %d differs\n%s", name, call.Case, text(g, true))
		}
	}
}
