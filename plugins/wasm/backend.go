package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/wasm/compile"
)

// version of the backend.
const backendVersion = "0.1.0"

type backend struct{}

func (backend) Info() sdk.Info {
	return sdk.Info{Name: "wasm", Version: backendVersion, OpSetMin: op.SetVersion, OpSetMax: op.SetVersion}
}

func (backend) Targets(context.Context) ([]sdk.Target, error) {
	t := sdk.Target{
		Triple:       compile.Triple,
		Summary:      "WebAssembly 2.0 module with 128-bit SIMD, for browsers, Node and wazero",
		FeatureSets:  []sdk.FeatureSet{{Name: compile.Feature, Features: []string{compile.Feature}}},
		MemorySpaces: []sdk.Amount{{Name: types.Host.String(), Amount: 1 << 31}},
		VectorWidths: []uint32{128},
		Limits:       sdk.Limits{MaxBufferBytes: 1 << 31},
		ArtifactKind: section.KindWasm,
		Determinism:  sdk.DeterminismStrict,
	}
	for _, d := range compile.DTypes() {
		t.DTypes = append(t.DTypes, d.String())
	}
	for _, row := range op.All() {
		t.Ops = append(t.Ops, sdk.OpSupport{Op: row.Name})
	}
	return []sdk.Target{t}, nil
}

// Configure accepts no options: there is one way to compile.
func (backend) Configure(_ context.Context, triple string, options map[string]string) ([]sdk.Diagnostic, error) {
	var ds []sdk.Diagnostic
	if triple != compile.Triple {
		ds = append(ds, sdk.Errorf(compile.CodeTarget, nil, "target %q is not %q", triple, compile.Triple))
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		ds = append(ds, sdk.Errorf(compile.CodeOption, nil, "%s has no option %q", compile.Triple, name))
	}
	return ds, nil
}

// readGraph decodes and validates; what does not hold is an error.
func readGraph(job sdk.Job) (*graph.Graph, error) {
	f, err := keg.Read(job.Graph.Bytes, keg.ReadOptions{OmitProvenance: true})
	if err != nil {
		return nil, err
	}
	return f.Graph, nil
}

func read(job sdk.Job) (*graph.Graph, []sdk.Diagnostic) {
	g, err := readGraph(job)
	if err != nil {
		return nil, []sdk.Diagnostic{sdk.Errorf(compile.CodeGraph, nil, "the graph cannot be read: %v", err)}
	}
	return g, nil
}

func (backend) Support(_ context.Context, job sdk.Job) (sdk.Support, error) {
	g, err := readGraph(job)
	if err != nil {
		return sdk.Support{}, fmt.Errorf("the graph cannot be read: %w", err)
	}
	return compile.Support(g, job.Entries), nil
}

func (backend) Estimate(ctx context.Context, job sdk.Job) (sdk.Estimate, []sdk.Diagnostic, error) {
	g, ds := read(job)
	if g == nil {
		return sdk.Estimate{}, ds, nil
	}
	return compile.Predict(ctx, g, job.Entries)
}

func (backend) Compile(ctx context.Context, job sdk.Job, out sdk.Reporter) (*sdk.Section, error) {
	out.Progress(sdk.Progress{Stage: "reading the graph", Total: 2})
	g, ds := read(job)
	var c *compile.Compiled
	if g != nil {
		out.Progress(sdk.Progress{Stage: "compiling", Done: 1, Total: 2})
		var err error
		if c, ds, err = compile.Graph(ctx, g, job.Entries); err != nil {
			return nil, err
		}
	}
	for _, d := range ds {
		out.Diagnose(d)
	}
	if c == nil {
		return nil, nil
	}
	out.Progress(sdk.Progress{Stage: "done", Done: 2, Total: 2})
	return c.Section, nil
}
