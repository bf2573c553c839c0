package main

import (
	"context"
	"fmt"
	"sort"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/x86/compile"
	"github.com/kera-lang/kera/plugins/x86/isel"
)

// version of the backend.
const version = "0.1.0"

type backend struct{}

func (backend) Info() sdk.Info {
	return sdk.Info{Name: "x86", Version: version, OpSetMin: op.SetVersion, OpSetMax: op.SetVersion}
}

func (backend) Targets(context.Context) ([]sdk.Target, error) {
	t := sdk.Target{
		Triple:       compile.Triple,
		Summary:      "x86-64 on Linux with AVX2 or AVX-512",
		MemorySpaces: []sdk.Amount{{Name: types.Host.String(), Amount: types.MaxBytes}},
		ArtifactKind: section.KindCode,
		Determinism:  sdk.DeterminismStrict,
	}
	for i, l := range compile.Levels() {
		t.FeatureSets = append(t.FeatureSets, sdk.FeatureSet{Name: l.Name, Features: l.Features, Rank: uint32(i + 1)})
		t.VectorWidths = append(t.VectorWidths, uint32(l.VecBytes*8))
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
	if triple != compile.Triple {
		return []sdk.Diagnostic{sdk.Errorf(compile.CodeTriple, nil, "target %q is not %q", triple, compile.Triple)}, nil
	}
	names := make([]string, 0, len(options))
	for n := range options {
		names = append(names, n)
	}
	sort.Strings(names)
	var ds []sdk.Diagnostic
	for _, n := range names {
		ds = append(ds, sdk.Errorf(compile.CodeOption, nil, "%s has no option %q", compile.Triple, n))
	}
	return ds, nil
}

// prepare reads a job's graph and finds its feature set.
func prepare(job sdk.Job) (*graph.Graph, *isel.Level, []sdk.Diagnostic) {
	l, ok := compile.LevelOf(job.Features)
	if !ok {
		return nil, nil, []sdk.Diagnostic{sdk.Errorf(compile.CodeFeatures, nil, "%s has no feature set %v", compile.Triple, job.Features)}
	}
	f, err := keg.Read(job.Graph.Bytes, keg.ReadOptions{OmitProvenance: true})
	if err != nil {
		return nil, nil, []sdk.Diagnostic{sdk.Errorf(compile.CodeGraph, nil, "the graph cannot be read: %v", err)}
	}
	return f.Graph, l, nil
}

func (backend) Support(_ context.Context, job sdk.Job) (sdk.Support, error) {
	g, l, ds := prepare(job)
	if g == nil {
		return sdk.Support{}, fmt.Errorf("%v", ds[0])
	}
	return compile.Support(g, l, job.Entries), nil
}

func (backend) Estimate(ctx context.Context, job sdk.Job) (sdk.Estimate, []sdk.Diagnostic, error) {
	g, l, ds := prepare(job)
	if g == nil {
		return sdk.Estimate{}, ds, nil
	}
	return compile.Predict(ctx, g, l, job.Entries)
}

func (backend) Compile(ctx context.Context, job sdk.Job, out sdk.Reporter) (*sdk.Section, error) {
	out.Progress(sdk.Progress{Stage: "reading the graph", Total: 2})
	g, l, ds := prepare(job)
	var s *sdk.Section
	if g != nil {
		out.Progress(sdk.Progress{Stage: "compiling for " + l.Name, Done: 1, Total: 2})
		var err error
		if s, ds, err = compile.Graph(ctx, g, l, job.Entries); err != nil {
			return nil, err
		}
	}
	for _, d := range ds {
		out.Diagnose(d)
	}
	if s != nil {
		out.Progress(sdk.Progress{Stage: "done", Done: 2, Total: 2})
	}
	return s, nil
}
