package sdk_test

import (
	"context"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/sdk"
)

// toy is the smallest backend: its code does nothing.
type toy struct{}

func (toy) Info() sdk.Info { return sdk.Info{Name: "toy", Version: "0.1.0"} }

func (toy) Targets(context.Context) ([]sdk.Target, error) {
	return []sdk.Target{{
		Triple: "toy-none", ArtifactKind: "toy", Determinism: sdk.DeterminismStrict,
		FeatureSets: []sdk.FeatureSet{{Name: "base"}},
	}}, nil
}

func (toy) Configure(context.Context, string, map[string]string) ([]sdk.Diagnostic, error) {
	return nil, nil
}

func (toy) Compile(ctx context.Context, job sdk.Job, out sdk.Reporter) (*sdk.Section, error) {
	if len(job.Entries) != 1 {
		out.Diagnose(sdk.Errorf("TOY-0001", nil, "a toy has one entry, not %d", len(job.Entries)))
		return nil, nil
	}
	return &sdk.Section{Descriptor: &section.Descriptor{
		Kind: "toy",
		Entries: []section.Entry{{
			Name: job.Entries[0], WorkAlign: 1, Phases: []section.Phase{{Symbol: "nothing"}},
		}},
	}}, nil
}

// A backend is a main package that serves; build it as kera-backend-toy.
func ExampleServe() {
	sdk.Serve(sdk.Plugin{Backend: toy{}})
}
