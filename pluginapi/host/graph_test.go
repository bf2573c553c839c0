package host_test

import (
	"context"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/host"
)

// TestRealGraph sends a real `.keg`, which the plugin decodes and describes.
func TestRealGraph(t *testing.T) {
	t.Parallel()
	g := graph.New()
	b := graph.B{Store: g.Store}
	v := types.Tensor(types.F64, 3)
	r := b.Region([]types.Type{v}, b.N(op.Neg, nil, b.Param(0, v)), b.ScalarBits(types.U32, 0))
	err := g.AddExport(graph.Export{
		Name: "negate", Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "y"}}, Region: r, Optimised: graph.None,
	})
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := keg.Encode(&keg.File{Graph: g}, keg.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := host.New(spec(t, "ok"))
	defer p.Close()
	res, err := p.Compile(context.Background(), host.CompileRequest{Job: host.Job{Graph: host.NewGraph(bytes), Triple: "faulty-none"}})
	if err != nil {
		t.Fatal(err)
	}
	es := res.Section.Descriptor.Entries
	if len(es) != 1 || es[0].Name != "negate" || es[0].Region != g.RegionDigest(r) {
		t.Fatalf("entries %+v", es)
	}
	if len(es[0].Inputs) != 1 || len(es[0].Outputs) != 1 || !es[0].Outputs[0].Type().Equal(v) {
		t.Errorf("buffers %+v", es[0])
	}
}
