// Package compile makes one WebAssembly section from a graph: loop plan,
// lowering, and the descriptor that tells a runner how to call the module.
//
// What must hold: the same graph gives the same bytes; everything a user can do
// wrong comes back as a diagnostic that names the node or the entry.
package compile

import (
	"context"
	"fmt"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/wasm/lower"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// Triple is the one target of this backend.
const Triple = "wasm32"

// Feature is what the modules need beyond the first edition of WebAssembly.
const Feature = "simd128"

// DTypes are the element types that the target computes with.
func DTypes() []types.DType {
	var out []types.DType
	for _, d := range types.DTypes() {
		if d.Class() != types.ClassStorage {
			out = append(out, d)
		}
	}
	return out
}

// Diagnostic codes.
const (
	CodeRefused  = "WASM-0001" // a node that the loop plan does not take
	CodeTooLarge = "WASM-0002" // more memory than 32-bit addresses reach
	CodeEntry    = "WASM-0003" // no such entry
	CodeGraph    = "WASM-0004" // the graph cannot be read
	CodeTarget   = "WASM-0005" // not this backend's target
	CodeOption   = "WASM-0006" // no such option
)

// maxMemory bounds the values of one entry: offsets are signed 32-bit numbers.
const maxMemory = 1<<31 - 1<<20

// Compiled is a section with the plan's prediction.
type Compiled struct {
	Section  *sdk.Section
	Estimate sdk.Estimate
}

func options(entries []string) plan.Options {
	return plan.Options{Target: lower.Target(), Entries: entries}
}

// Graph compiles the named entries of g, or all. Nil with diagnostics means
// that they say why not.
func Graph(ctx context.Context, g *graph.Graph, entries []string) (*Compiled, []sdk.Diagnostic, error) {
	if ds := check(g, entries); len(ds) > 0 {
		return nil, ds, nil
	}
	p, err := plan.Build(ctx, g, options(entries))
	if err != nil {
		return nil, nil, fmt.Errorf("planning: %w", err)
	}
	if ds := checkMemory(p); len(ds) > 0 {
		return nil, ds, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	code, err := lower.Module(wenc.NewIndex(), p.Module)
	if err != nil {
		return nil, []sdk.Diagnostic{sdk.Errorf(CodeTooLarge, nil, "the module does not fit: %v", err)}, nil
	}
	est := estimate(p)
	d := &section.Descriptor{Triple: Triple, Features: []string{Feature}, Kind: section.KindWasm,
		Nodes: p.Nodes, CodeMap: codeMap(code.Marks), Folded: p.Folded,
		Estimate: &section.Estimate{Min: est.Min, Typ: est.Typ, Max: est.Max, Confidence: est.Confidence}}
	for _, e := range p.Entries {
		d.Entries = append(d.Entries, entry(p, e))
	}
	return &Compiled{&sdk.Section{Descriptor: d, Artifact: code.Bytes}, est}, nil, nil
}

// check reports unknown entries and refused nodes.
func check(g *graph.Graph, entries []string) []sdk.Diagnostic {
	var ds []sdk.Diagnostic
	for _, name := range entries {
		if _, ok := g.Export(name); !ok {
			ds = append(ds, sdk.Errorf(CodeEntry, nil, "the graph has no entry %q", name))
		}
	}
	if len(ds) > 0 {
		return ds
	}
	for _, r := range plan.Support(g, options(entries)) {
		ds = append(ds, sdk.Errorf(CodeRefused, []digest.D{g.Digest(r.Node)}, "entry %q: %v is not supported on %s: %s",
			r.Entry, g.Op(r.Node), Triple, r.Reason))
	}
	return ds
}

func checkMemory(p *plan.Plan) []sdk.Diagnostic {
	var ds []sdk.Diagnostic
	for _, e := range p.Entries {
		total := uint64(e.Work)
		for _, ts := range [][]types.Type{e.Inputs, e.Outputs} {
			for _, t := range ts {
				total += uint64(t.NumBytes()) + 64
			}
		}
		if total > maxMemory {
			ds = append(ds, sdk.Errorf(CodeTooLarge, nil, "entry %q needs %d bytes; %s has %d", e.Name, total, Triple, int64(maxMemory)))
		}
	}
	return ds
}

const align = 64

func entry(p *plan.Plan, e plan.Entry) section.Entry {
	out := section.Entry{Name: e.Name, Region: e.Region, Inputs: buffers(e.Inputs), Outputs: buffers(e.Outputs),
		Work: uint64(e.Work), WorkAlign: align}
	for _, ph := range e.Phases {
		out.Phases = append(out.Phases, section.Phase{Symbol: p.Module.Funcs[ph.Func].Name, Tiles: uint64(ph.Tiles)})
	}
	return out
}

func buffers(ts []types.Type) []section.Buffer {
	out := make([]section.Buffer, len(ts))
	for i, t := range ts {
		out[i] = section.Buffer{DType: t.DType, Dims: t.Shape(), Align: align}
	}
	return out
}

// codeMap turns marks into entries; node 0 of a plan is no node.
func codeMap(marks []wenc.Mark) []section.CodeMapEntry {
	var out []section.CodeMapEntry
	for _, k := range marks {
		node := uint32(max(k.Node, 0))
		if n := len(out); n > 0 && out[n-1].Node == node {
			continue
		}
		out = append(out, section.CodeMapEntry{Offset: uint64(k.Offset), Node: node})
	}
	return out
}

// estimate predicts cycles of all entries together, from the plan's counts of
// operations and bytes: at best four lanes a cycle, typically fused steps at
// about four cycles a lane, at worst scalar code from memory.
func estimate(p *plan.Plan) sdk.Estimate {
	var flops, bytes float64
	for _, e := range p.Entries {
		flops, bytes = flops+e.Flops, bytes+e.Bytes
	}
	cycles := func(perFlop, perByte float64) uint64 { return uint64(max(flops*perFlop, bytes*perByte)) + 1 }
	return sdk.Estimate{Min: cycles(0.25, 0.03), Typ: cycles(2, 0.1), Max: cycles(40, 2), Confidence: 0.25}
}

// Predict estimates without lowering.
func Predict(ctx context.Context, g *graph.Graph, entries []string) (sdk.Estimate, []sdk.Diagnostic, error) {
	if ds := check(g, entries); len(ds) > 0 {
		return sdk.Estimate{}, ds, nil
	}
	p, err := plan.Build(ctx, g, options(entries))
	if err != nil {
		return sdk.Estimate{}, nil, fmt.Errorf("planning: %w", err)
	}
	return estimate(p), nil, nil
}
