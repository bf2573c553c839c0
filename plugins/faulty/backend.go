package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/sdk"
)

const (
	triple = "faulty-none"
	kind   = "faulty-copy" // an entry copies its input to its output
)

type backend struct{ mode string }

func (b *backend) noise() {
	if b.mode == "stdout" {
		fmt.Println("libvendor says hello on os.Stdout")
		_, _ = unix.Write(1, []byte("libvendor says hello on descriptor 1\n"))
	}
}

func (b *backend) Info() sdk.Info {
	b.noise()
	return sdk.Info{Name: "faulty", Version: "0.0.1"}
}

func (b *backend) Targets(context.Context) ([]sdk.Target, error) {
	b.noise()
	return []sdk.Target{{
		Triple:       triple,
		Summary:      "a target for tests that copies bytes",
		FeatureSets:  []sdk.FeatureSet{{Name: "base"}},
		DTypes:       []string{"u8"},
		ArtifactKind: kind,
		Determinism:  sdk.DeterminismStrict,
		Options: []sdk.Option{
			{Name: "mode", Summary: "how to misbehave", Default: "ok", Values: modeNames()},
			{Name: "bytes", Summary: "size of the values", Default: "4"},
			{Name: "code", Summary: "size of the artifact", Default: "16"},
		},
	}}, nil
}

func modeNames() []string {
	var out []string
	for _, m := range modes {
		out = append(out, m.name)
	}
	return out
}

func (b *backend) Configure(_ context.Context, _ string, options map[string]string) ([]sdk.Diagnostic, error) {
	for _, k := range []string{"bytes", "code"} {
		if v, ok := options[k]; ok {
			if n, err := strconv.Atoi(v); err != nil || n < 0 {
				return []sdk.Diagnostic{sdk.Errorf("FAULTY-0001", nil, "option %s: %q is not a size", k, v)}, nil
			}
		}
	}
	return nil, nil
}

func (b *backend) modeOf(job sdk.Job) string {
	if m, ok := job.Options["mode"]; ok {
		return m
	}
	return b.mode
}

func (b *backend) Compile(ctx context.Context, job sdk.Job, out sdk.Reporter) (*sdk.Section, error) {
	b.noise()
	out.Progress(sdk.Progress{Stage: "copying", Done: 0, Total: 1})
	switch b.modeOf(job) {
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "ignore-cancel":
		time.Sleep(time.Hour)
	case "die-once":
		if f, err := os.OpenFile(os.Getenv("KERA_FAULTY_STATE"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			dieNow()
		}
	case "die-twice":
		dieNow()
	case "panic":
		panic(&sdk.NodeError{Nodes: []digest.D{job.Graph.Digest}, Err: errors.New("BUG: faulty was asked to panic")})
	case "diagnostic":
		out.Diagnose(sdk.Errorf("FAULTY-0002", []digest.D{job.Graph.Digest}, "this graph is not to my taste"))
		return nil, nil
	case "warning":
		d := sdk.Errorf("FAULTY-0003", nil, "this graph is large")
		d.Severity = sdk.Warning
		out.Diagnose(d)
	}
	return makeSection(job, b.modeOf(job)), nil
}

// dieNow ends the process as a fault in native code would.
func dieNow() {
	fmt.Fprintln(os.Stderr, "libvendor: assertion failed: nodes > 0")
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}

func size(job sdk.Job, option string, otherwise int) int {
	if n, err := strconv.Atoi(job.Options[option]); err == nil && n >= 0 {
		return n
	}
	return otherwise
}

// makeSection makes an entry of one phase for each name. With a real graph the
// buffers are the export's; the host's tests also send bytes that are none.
func makeSection(job sdk.Job, mode string) *sdk.Section {
	code := make([]byte, size(job, "code", 16))
	for i := range code {
		code[i] = byte(i)
	}
	d := &section.Descriptor{Triple: job.Triple, Kind: kind}
	names := job.Entries
	g, err := sdk.ReadGraph(job.Graph)
	if err == nil && len(names) == 0 {
		for _, x := range g.Exports {
			names = append(names, x.Name)
		}
	}
	if mode == "wrong-entries" {
		names = []string{"another"}
	}
	for _, name := range names {
		e := section.Entry{Name: name, WorkAlign: 1, Phases: []section.Phase{{Symbol: "copy", Tiles: 1}}}
		if err == nil {
			describe(&e, g)
		} else {
			value := section.Buffer{DType: types.U8, Dims: []int64{int64(size(job, "bytes", 4))}, Align: 64}
			e.Inputs, e.Outputs = []section.Buffer{value}, []section.Buffer{value}
		}
		d.Entries = append(d.Entries, e)
	}
	return &sdk.Section{Descriptor: d, Artifact: code}
}

// describe takes an entry's region and buffers from the graph.
func describe(e *section.Entry, g *graph.Graph) {
	x, ok := g.Export(e.Name)
	if !ok {
		return
	}
	r := x.Optimised
	if r == graph.None {
		r = x.Region
	}
	buffers := func(ts []types.Type) (out []section.Buffer) {
		for _, t := range types.Tuple(ts...).Leaves(nil) {
			out = append(out, section.Buffer{DType: t.DType, Dims: t.Shape(), Align: 64})
		}
		return out
	}
	e.Region = g.RegionDigest(r)
	e.Inputs = buffers(g.ParamTypes(r))
	results := g.ResultTypes(r)
	e.Outputs = buffers(results[:len(results)-1]) // without the trap code
}
