package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
	"github.com/kera-lang/kera/plugins/wasm/compile"
)

// squares is a graph with one entry, x*x where no element is 7, else a trap.
func squares(t *testing.T) *sdk.Graph {
	t.Helper()
	g := graph.New()
	b := graph.B{Store: g.Store}
	v := types.Tensor(types.I32, 5)
	x := b.Param(0, v)
	seven := b.Broadcast(b.ScalarBits(types.I32, 7), v)
	bad := b.Reduce(op.ROr, b.Compare(op.EQ, x, seven), 0)
	r := b.Region([]types.Type{v}, b.N(op.Mul, nil, x, x), b.TrapIf(op.TrapAssert, bad))
	if err := g.AddExport(graph.Export{Name: "squares", Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "y"}}, Region: r, Optimised: graph.None}); err != nil {
		t.Fatal(err)
	}
	file, err := keg.Encode(&keg.File{Graph: g}, keg.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return spi.NewGraph(file)
}

// log is a reporter that keeps diagnostics.
type log struct{ ds []sdk.Diagnostic }

func (l *log) Progress(sdk.Progress)     {}
func (l *log) Diagnose(d sdk.Diagnostic) { l.ds = append(l.ds, d) }

func job(g *sdk.Graph, entries ...string) sdk.Job {
	return sdk.Job{Graph: g, Entries: entries, Triple: compile.Triple, Features: []string{compile.Feature}}
}

func TestCompileAndRun(t *testing.T) {
	ctx := context.Background()
	l := &log{}
	s, err := backend{}.Compile(ctx, job(squares(t)), l)
	if err != nil || s == nil {
		t.Fatalf("%v, %v", err, l.ds)
	}
	e := newExecutor()
	if p, err := e.Probe(ctx, s.Descriptor); err != nil || p.Mode == sdk.RunNone {
		t.Errorf("probe: %+v, %v", p, err)
	}
	if p, err := e.Probe(ctx, &section.Descriptor{Kind: section.KindCode}); err != nil || p.Mode != sdk.RunNone || p.Reason == "" {
		t.Errorf("probe of machine code: %+v, %v", p, err)
	}
	mod, err := e.Load(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	alloc := func() uint64 {
		id, err := e.Alloc(ctx, 20, 64)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	in, out := alloc(), alloc()
	for _, c := range []struct {
		x, want []int32
		trap    uint32
	}{{[]int32{1, -2, 3, 65536, 5}, []int32{1, 4, 9, 0, 25}, 0}, {[]int32{1, 2, 7, 4, 5}, nil, uint32(op.TrapAssert)}} {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, c.x)
		if err := e.CopyIn(ctx, in, 0, b.Bytes()); err != nil {
			t.Fatal(err)
		}
		o, err := e.Invoke(ctx, sdk.Call{Module: mod, Entry: "squares", Inputs: []uint64{in}, Outputs: []uint64{out}})
		if err != nil || o.Fault != nil || o.Trap != c.trap {
			t.Errorf("%v: %+v, %v", c.x, o, err)
			continue
		}
		if c.trap != 0 {
			continue
		}
		got := make([]byte, 20)
		if err := e.CopyOut(ctx, out, 0, got); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		_ = binary.Write(&b, binary.LittleEndian, c.want)
		if !bytes.Equal(got, b.Bytes()) {
			t.Errorf("%v: got %x, want %x", c.x, got, b.Bytes())
		}
	}
	for name, call := range map[string]sdk.Call{
		"no module":   {Module: 99, Entry: "squares"},
		"no entry":    {Module: mod, Entry: "cubes"},
		"few buffers": {Module: mod, Entry: "squares", Inputs: []uint64{in}},
		"no buffer":   {Module: mod, Entry: "squares", Inputs: []uint64{in}, Outputs: []uint64{77}},
	} {
		if _, err := e.Invoke(ctx, call); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := e.Unload(ctx, mod); err != nil {
		t.Error(err)
	}
	if err := e.Unload(ctx, mod); err == nil {
		t.Error("unloaded twice")
	}
}

func TestMistakesAreDiagnostics(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		job  sdk.Job
		want string
	}{
		{"not a graph", job(spi.NewGraph([]byte("KEG?"))), compile.CodeGraph},
		{"no such entry", job(squares(t), "cubes"), compile.CodeEntry},
	} {
		l := &log{}
		s, err := backend{}.Compile(ctx, c.job, l)
		if err != nil || s != nil || len(l.ds) != 1 || l.ds[0].Code != c.want {
			t.Errorf("%s: section %v, %v, %v", c.name, s, l.ds, err)
		}
		if _, ds, err := (backend{}).Estimate(ctx, c.job); err != nil || len(ds) != 1 || ds[0].Code != c.want {
			t.Errorf("%s: estimate: %v, %v", c.name, ds, err)
		}
	}
	ds, err := backend{}.Configure(ctx, "wasm64", map[string]string{"b": "1", "a": "2"})
	if err != nil || len(ds) != 3 || !strings.Contains(ds[1].Summary, `"a"`) {
		t.Errorf("configure: %v, %v", ds, err)
	}
}

func TestTargets(t *testing.T) {
	ts, err := backend{}.Targets(context.Background())
	if err != nil || len(ts) != 1 || len(ts[0].Ops) != len(op.All()) || len(ts[0].DTypes) != 11 {
		t.Errorf("%+v, %v", ts, err)
	}
	sup, err := backend{}.Support(context.Background(), job(squares(t)))
	if err != nil || len(sup.Groups) != 1 || len(sup.Refused) != 0 {
		t.Errorf("%+v, %v", sup, err)
	}
}
