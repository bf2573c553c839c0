package host_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/kera-lang/kera/pluginapi/host"
)

func startExecutor(t *testing.T, options map[string]string) (*host.Executor, *host.Section) {
	t.Helper()
	ctx := context.Background()
	p := host.New(spec(t, "stdout"))
	t.Cleanup(func() { p.Close() })
	r, err := p.Compile(ctx, host.CompileRequest{Job: job(options)})
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.StartExecutor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return x, r.Section
}

// TestExecutor runs values of sizes that travel inline, in the shared file, and
// not at all.
func TestExecutor(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"0", "4", "65536", "65537", "6000000"} {
		t.Run(n, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			x, sec := startExecutor(t, map[string]string{"bytes": n, "code": "5000000"})
			probe, err := x.Probe(ctx, sec.Descriptor)
			if err != nil || probe.Mode != host.RunSimulated {
				t.Fatalf("probe %+v, %v", probe, err)
			}
			mod, err := x.Load(ctx, sec)
			if err != nil {
				t.Fatal(err)
			}
			in := make([]byte, sec.Descriptor.Entries[0].Inputs[0].Bytes())
			for i := range in {
				in[i] = byte(i * 7)
			}
			out, res, err := x.Run(ctx, sec, mod, "main", [][]byte{in}, 0)
			if err != nil || res.Trap != 0 || len(out) != 1 || !bytes.Equal(out[0], in) {
				t.Fatalf("%+v, %v", res, err)
			}
			if err := x.Unload(ctx, mod); err != nil {
				t.Fatal(err)
			}
			checkFailure(t, x.Unload(ctx, mod), host.KindRefused, []string{"plugin faulty 0.0.1: Unload", "no module"}, "")
		})
	}
}

func TestExecutorOutcomes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	x, sec := startExecutor(t, nil)
	mod, err := x.Load(ctx, sec)
	if err != nil {
		t.Fatal(err)
	}
	if _, res, err := x.Run(ctx, sec, mod, "main", [][]byte{{0xff, 0, 0, 0}}, 0); err != nil || res.Trap != 3 {
		t.Errorf("trap: %+v, %v", res, err)
	}
	if _, res, err := x.Run(ctx, sec, mod, "main", [][]byte{{0xfe, 0, 0, 0}}, 0); err != nil || res.Fault == nil || res.Fault.Kind != "SIGSEGV" {
		t.Errorf("fault: %+v, %v", res, err)
	}
	if _, _, err := x.Run(ctx, sec, mod, "main", [][]byte{{1}}, 0); err == nil {
		t.Error("short input accepted")
	}
	if _, _, err := x.Run(ctx, sec, mod, "none", nil, 0); err == nil {
		t.Error("unknown entry accepted")
	}
	// The buffer is bounded on the plugin's side too.
	b, err := x.Alloc(ctx, 8, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.CopyIn(ctx, b, 4, make([]byte, 5)); err == nil {
		t.Error("copy beyond the end accepted")
	}
	checkFailure(t, x.CopyOut(ctx, b+99, 0, make([]byte, 1)), host.KindRefused, []string{"no buffer"}, "")
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
