package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/host"
	"github.com/kera-lang/kera/pluginapi/native"
	"github.com/kera-lang/kera/plugins/x86/compile"
)

// buildBinaries builds the plugin and the runner side by side.
func buildBinaries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, pkg := range map[string]string{"kera-backend-x86": "plugins/x86", native.RunnerName: "cmd/kera-runner"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), "github.com/kera-lang/kera/"+pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
	}
	return dir
}

// program has one entry, x*x + 1 with a check that x is not 9 anywhere.
func program(t *testing.T) *host.Graph {
	t.Helper()
	g := graph.New()
	b := graph.B{Store: g.Store}
	x := types.Tensor(types.I32, 100)
	p := b.Param(0, x)
	y := b.N(op.Add, nil, b.N(op.Mul, nil, p, p), b.Broadcast(b.ScalarBits(types.I32, 1), x))
	nine := b.Compare(op.EQ, p, b.Broadcast(b.ScalarBits(types.I32, 9), x))
	any := b.Reduce(op.ROr, nine, 0)
	e := graph.Export{Name: "main", Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "y"}},
		Region: b.Region([]types.Type{x}, y, b.TrapIf(op.TrapAssert, any)), Optimised: graph.None}
	if err := g.AddExport(e); err != nil {
		t.Fatal(err)
	}
	enc, err := keg.Encode(&keg.File{Graph: g}, keg.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return host.NewGraph(enc)
}

// TestPlugin compiles and runs through the protocol, as kerac does.
func TestPlugin(t *testing.T) {
	ctx := context.Background()
	dir := buildBinaries(t)
	p := host.New(host.Spec{Name: "x86", Path: filepath.Join(dir, "kera-backend-x86")})
	defer p.Close()
	targets, err := p.Targets(ctx)
	if err != nil || len(targets) != 1 || len(targets[0].FeatureSets) != 2 {
		t.Fatalf("%+v, %v", targets, err)
	}
	x, err := p.StartExecutor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]byte, 400)
	for i := 0; i < 100; i++ {
		binary.LittleEndian.PutUint32(in[4*i:], uint32(i+10))
	}
	for _, set := range targets[0].FeatureSets {
		r, err := p.Compile(ctx, host.CompileRequest{Job: host.Job{Graph: program(t), Triple: compile.Triple, Features: set.Features}})
		if err != nil || r.Section == nil {
			t.Fatalf("%s: %+v, %v", set.Name, r, err)
		}
		probe, err := x.Probe(ctx, r.Section.Descriptor)
		if err != nil {
			t.Fatal(err)
		}
		if probe.Mode != host.RunNative {
			t.Logf("%s not checked: %s", set.Name, probe.Reason)
			continue
		}
		mod, err := x.Load(ctx, r.Section)
		if err != nil {
			t.Fatal(err)
		}
		out, res, err := x.Run(ctx, r.Section, mod, "main", [][]byte{in}, 0)
		if err != nil || res.Trap != 0 || res.Fault != nil {
			t.Fatalf("%s: %+v, %v", set.Name, res, err)
		}
		for i := 0; i < 100; i++ {
			if got, want := binary.LittleEndian.Uint32(out[0][4*i:]), uint32((i+10)*(i+10)+1); got != want {
				t.Fatalf("%s: element %d is %d, want %d", set.Name, i, got, want)
			}
		}
		bad := bytes.Clone(in)
		bad[0] = 9
		if _, res, err := x.Run(ctx, r.Section, mod, "main", [][]byte{bad}, 0); err != nil || res.Trap != uint32(op.TrapAssert) {
			t.Errorf("%s: trap %+v, %v", set.Name, res, err)
		}
		// A fault in the code is reported with its node, and the executor goes on.
		s := *r.Section
		s.Artifact = bytes.Clone(s.Artifact)
		at := s.Descriptor.Entries[0].Phases[0].Offset
		copy(s.Artifact[at:], []byte{0x0f, 0x0b}) // ud2
		broken, err := x.Load(ctx, &s)
		if err != nil {
			t.Fatal(err)
		}
		_, res, err = x.Run(ctx, &s, broken, "main", [][]byte{in}, 0)
		if err != nil || res.Fault == nil || res.Fault.Kind != "SIGILL" || res.Fault.CodeOffset != at {
			t.Errorf("%s: fault %+v, %v", set.Name, res.Fault, err)
		}
		if _, res, err = x.Run(ctx, r.Section, mod, "main", [][]byte{in}, 0); err != nil || res.Trap != 0 || res.Fault != nil {
			t.Errorf("%s: after the fault: %+v, %v", set.Name, res, err)
		}
	}
}

// TestRefusals checks that what a user can do wrong is a diagnostic.
func TestRefusals(t *testing.T) {
	ctx := context.Background()
	b := backend{}
	for _, c := range []struct{ want, triple, option string }{
		{compile.CodeTriple, "z80", ""},
		{compile.CodeOption, compile.Triple, "speed"},
		{"", compile.Triple, ""},
	} {
		options := map[string]string{}
		if c.option != "" {
			options[c.option] = "9"
		}
		ds, err := b.Configure(ctx, c.triple, options)
		if err != nil || c.want == "" != (len(ds) == 0) || c.want != "" && ds[0].Code != c.want {
			t.Errorf("%+v: %v, %v", c, ds, err)
		}
	}
	for _, c := range []struct {
		want     string
		entries  []string
		features []string
		graph    *host.Graph
	}{
		{compile.CodeFeatures, nil, []string{"sse9"}, program(t)},
		{compile.CodeEntry, []string{"nowhere"}, compile.Levels()[0].Features, program(t)},
		{compile.CodeGraph, nil, compile.Levels()[0].Features, host.NewGraph([]byte("KEG"))},
	} {
		out := &collector{}
		s, err := b.Compile(ctx, host.Job{Graph: c.graph, Entries: c.entries, Triple: compile.Triple, Features: c.features}, out)
		if s != nil || err != nil || len(out.ds) != 1 || out.ds[0].Code != c.want {
			t.Errorf("%s: %v, %v, %v", c.want, s, err, out.ds)
		}
		if len(out.ds) > 0 && strings.TrimSpace(out.ds[0].Summary) == "" {
			t.Errorf("%s has no text", c.want)
		}
	}
}

type collector struct{ ds []host.Diagnostic }

func (c *collector) Progress(host.Progress)     {}
func (c *collector) Diagnose(d host.Diagnostic) { c.ds = append(c.ds, d) }
