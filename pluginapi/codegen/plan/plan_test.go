package plan

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/lir/lireval"
	"github.com/kera-lang/kera/pluginapi/conformance"
)

// targets are imaginary machines: without vectors, and with every vector form
// at two widths.
func targets() []lir.Target {
	every := func(o lir.Op, e, _ lir.Elem, _ int) bool { return lir.Defined(o, e, true) }
	return []lir.Target{
		{Name: "scalar"},
		{Name: "v16", VecBytes: 16, MatmulRows: 4, MatmulVecs: 2, Vec: every},
		{Name: "v64", VecBytes: 64, MatmulRows: 14, MatmulVecs: 2, MatvecRows: 8, Vec: every},
		{Name: "tiled", VecBytes: 16, MatmulRows: 2, MatmulVecs: 1, Vec: every, Grain: 24},
	}
}

// run calls an entry of a plan through the loop IR evaluator.
func run(p *Plan, entry string, inputs [][]byte) (code uint32, out [][]byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	for _, e := range p.Entries {
		if e.Name != entry {
			continue
		}
		for _, t := range e.Outputs {
			out = append(out, bytes.Repeat([]byte{0xa5}, int(t.NumBytes())))
		}
		work := bytes.Repeat([]byte{0xa5}, int(e.Work))
		for _, ph := range e.Phases {
			for tile := ph.Tiles - 1; tile >= 0; tile-- { // tiles may run in any order
				if code = lireval.Run(p.Module.Funcs[ph.Func], p.Module.Consts, inputs, out, work, uint64(tile)); code != 0 {
					return code, out, nil
				}
			}
		}
		return code, out, nil
	}
	return 0, nil, fmt.Errorf("no entry %q", entry)
}

// check plans g for every target and compares with the interpreter.
func check(t *testing.T, g *graph.Graph, cases int) {
	t.Helper()
	ctx := context.Background()
	refused := map[string]bool{}
	for _, r := range Support(g, Options{}) {
		refused[r.Entry] = true
	}
	var entries []string
	for i := range g.Exports {
		if !refused[g.Exports[i].Name] {
			entries = append(entries, g.Exports[i].Name)
		}
	}
	calls, err := conformance.Calls(ctx, g, 11, cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, tgt := range targets() {
		t.Run(tgt.Name, func(t *testing.T) {
			if len(entries) == 0 {
				t.Skip("not checked: no entry is supported")
			}
			p, err := Build(ctx, g, Options{Target: tgt, Entries: entries})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range calls {
				if refused[c.Entry] {
					continue
				}
				code, out, err := run(p, c.Entry, c.Inputs)
				if err != nil {
					t.Errorf("%s case %d: %v", c.Entry, c.Case, err)
					continue
				}
				if code != uint32(c.Trap) {
					t.Errorf("%s case %d: trap %d, want %d", c.Entry, c.Case, code, c.Trap)
					continue
				}
				for i := range out {
					if c.Trap == 0 && !bytes.Equal(out[i], c.Outputs[i]) {
						t.Errorf("%s case %d: output %d differs\n got %x\nwant %x", c.Entry, c.Case, i, clip(out[i]), clip(c.Outputs[i]))
					}
				}
			}
		})
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 96)] }

func TestEveryOp(t *testing.T) {
	for _, g := range conformance.Groups() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			check(t, g.Graph, 3)
		})
	}
}

// TestSharedChainIsLinear: values used twice, many levels deep, in one fusion.
func TestSharedChainIsLinear(t *testing.T) {
	g := graph.New()
	b := graph.B{Store: g.Store}
	v := types.Tensor(types.F32, 64)
	p := b.Params(v, v)
	x, y := p[0], p[1]
	for range 200 {
		x, y = b.N(op.Sub, nil, x, y), x
	}
	body := b.Region([]types.Type{v, v}, x)
	q := b.Params(v, v)
	out := b.Apply(op.Fusion, nil, []graph.RegionID{body}, q...)
	r := b.Region([]types.Type{v, v}, out[0], b.NoTrap())
	if err := g.AddExport(graph.Export{Name: "f", Params: []graph.Port{{Name: "x"}, {Name: "y"}}, Results: []graph.Port{{Name: "r"}}, Region: r, Optimised: graph.None}); err != nil {
		t.Fatal(err)
	}
	check(t, g, 2)
}

// TestTiles: with a small grain the cases really are cut into tiles.
func TestTiles(t *testing.T) {
	tgt := targets()[3]
	tiled := 0
	for _, g := range conformance.Groups() {
		if g.Name != "f32" {
			continue
		}
		p, err := Build(context.Background(), g.Graph, Options{Target: tgt, Entries: []string{"add/2", "dot_general/fma/f32/matmul", "reduce/sum/long"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Entries {
			for _, ph := range e.Phases {
				if ph.Tiles > 1 {
					tiled++
				}
			}
		}
	}
	if tiled < 3 {
		t.Errorf("only %d phases of several tiles", tiled)
	}
}
