package host_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/pluginapi/host"
)

// TestPinnedV1 builds the frozen v1 plugin, a module of its own, and runs it
// against this host. It has no SDK, takes graphs by ContentStore only, and does
// not know the lifeline.
func TestPinnedV1(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "kera-backend-v1plugin")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = filepath.Join("..", "testdata", "v1plugin")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the pinned plugin: %v\n%s", err, out)
	}
	s := spec(t, "ok")
	s.Name, s.Path = "v1plugin", bin
	ctx := context.Background()
	p, err := host.Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	info, err := p.Info(ctx)
	if err != nil || info.Version != "1.0.0" || info.Has(host.CapExecutor) {
		t.Errorf("info %+v, %v", info, err)
	}
	ts, err := p.Targets(ctx)
	if err != nil || len(ts) != 1 {
		t.Fatalf("targets %+v, %v", ts, err)
	}
	graph := bytes.Repeat([]byte("graph"), 1<<20) // more than one chunk
	for range 2 {                                 // the second time the store has it
		r, err := p.Compile(ctx, host.CompileRequest{Job: host.Job{
			Graph: host.NewGraph(graph), Entries: []string{"a", "b"}, Triple: ts[0].Triple,
		}})
		if err != nil {
			t.Fatal(err)
		}
		want := digest.Plain(graph)
		if !bytes.Equal(r.Section.Artifact, want[:]) {
			t.Errorf("artifact %x", r.Section.Artifact)
		}
		if es := r.Section.Descriptor.Entries; len(es) != 2 || es[1].Name != "b" || es[0].Outputs[0].Bytes() != 32 {
			t.Errorf("entries %+v", es)
		}
	}
	// Calls it does not have fall back.
	if _, ok, err := p.Support(ctx, job(nil)); ok || err != nil {
		t.Errorf("support %v, %v", ok, err)
	}
	_, err = p.StartExecutor(ctx)
	checkFailure(t, err, host.KindRefused, []string{"it has no executor"}, "")
	_, err = p.Configure(ctx, "v1-none", nil)
	checkFailure(t, err, host.KindRefused, []string{"Configure", "Unimplemented"}, "")
}
