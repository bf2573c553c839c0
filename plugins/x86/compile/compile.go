// Package compile makes one x86-64 section from a graph: loop plan, code, and
// the descriptor that tells a runner how to call it.
//
// What must hold: the same graph gives the same bytes; everything a user can
// do wrong comes back as a diagnostic that names the node or the entry.
package compile

import (
	"context"
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/x86/asm"
	"github.com/kera-lang/kera/plugins/x86/isel"
)

// Triple is the one target of this backend.
const Triple = "x86_64-linux"

// Diagnostic codes.
const (
	CodeRefused  = "X86-0001" // a node that the loop plan does not take
	CodeFeatures = "X86-0002" // no such feature set
	CodeEntry    = "X86-0003" // no such entry
	CodeGraph    = "X86-0004" // the graph cannot be read
	CodeTriple   = "X86-0005" // another target's triple
	CodeOption   = "X86-0006" // no such option
)

// align is the alignment of every buffer: a cache line and a full vector.
const align = 64

// Levels are the feature sets, best last.
func Levels() []*isel.Level { return []*isel.Level{isel.AVX2(), isel.AVX512()} }

// LevelOf finds the feature set a job names.
func LevelOf(features []string) (*isel.Level, bool) {
	for _, l := range Levels() {
		if slices.Equal(l.Features, features) {
			return l, true
		}
	}
	return nil, false
}

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

func options(l *isel.Level, entries []string) plan.Options {
	return plan.Options{Target: *l.Target(), Entries: entries}
}

// Check reports unknown entries and refused nodes.
func Check(g *graph.Graph, l *isel.Level, entries []string) []sdk.Diagnostic {
	var ds []sdk.Diagnostic
	for _, name := range entries {
		if _, ok := g.Export(name); !ok {
			ds = append(ds, sdk.Errorf(CodeEntry, nil, "the graph has no entry %q", name))
		}
	}
	if len(ds) > 0 {
		return ds
	}
	for _, r := range plan.Support(g, options(l, entries)) {
		ds = append(ds, sdk.Errorf(CodeRefused, []digest.D{g.Digest(r.Node)}, "entry %q: %v is not supported on %s: %s",
			r.Entry, g.Op(r.Node), Triple, r.Reason))
	}
	return ds
}

// Graph compiles the named entries of g, or all. A nil section with
// diagnostics means that they say why not.
func Graph(ctx context.Context, g *graph.Graph, l *isel.Level, entries []string) (*sdk.Section, []sdk.Diagnostic, error) {
	if ds := Check(g, l, entries); len(ds) > 0 {
		return nil, ds, nil
	}
	p, err := plan.Build(ctx, g, options(l, entries))
	if err != nil {
		return nil, nil, fmt.Errorf("planning: %w", err)
	}
	code, err := l.Compile(ctx, p.Module, isel.Options{})
	if err != nil {
		return nil, nil, err
	}
	est := estimate(p, l)
	cm := codeMap(code)
	d := &section.Descriptor{Triple: Triple, Features: l.Features, Kind: section.KindCode,
		Nodes: p.Nodes, CodeMap: cm, Folded: folded(p, cm),
		Estimate: &section.Estimate{Min: est.Min, Typ: est.Typ, Max: est.Max, Confidence: est.Confidence}}
	for _, e := range p.Entries {
		d.Entries = append(d.Entries, entry(p, code, e))
	}
	return &sdk.Section{Descriptor: d, Artifact: code.Bytes}, nil, nil
}

func entry(p *plan.Plan, code *isel.Code, e plan.Entry) section.Entry {
	out := section.Entry{Name: e.Name, Region: e.Region, Inputs: buffers(e.Inputs), Outputs: buffers(e.Outputs),
		Work: uint64(e.Work), WorkAlign: align}
	for _, ph := range e.Phases {
		out.Phases = append(out.Phases, section.Phase{Symbol: p.Module.Funcs[ph.Func].Name,
			Offset: uint64(code.Offsets[ph.Func]), Tiles: uint64(ph.Tiles)})
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

// codeMap turns marks into entries; node 0 of a plan is no node, which is also
// what the constants after the code are due to.
func codeMap(code *isel.Code) []section.CodeMapEntry {
	marks := code.Nodes
	if code.Text < len(code.Bytes) {
		marks = append(slices.Clone(marks), asm.CodeNode{Offset: int32(code.Text), Node: -1})
	}
	var out []section.CodeMapEntry
	for _, m := range marks {
		node := uint32(max(m.Node, 0))
		if n := len(out); n > 0 && out[n-1].Node == node {
			continue
		}
		out = append(out, section.CodeMapEntry{Offset: uint64(m.Offset), Node: node})
	}
	return out
}

// folded lists the nodes without code of their own: what the plan folded, and
// what instruction selection did (constants in immediates, loads in operands).
func folded(p *plan.Plan, cm []section.CodeMapEntry) []uint32 {
	has := make([]bool, len(p.Nodes))
	for _, m := range cm {
		has[m.Node] = true
	}
	var out []uint32
	for i := 1; i < len(has); i++ {
		if !has[i] {
			out = append(out, uint32(i))
		}
	}
	return out
}

// estimate predicts cycles of all entries together from the plan's counts of
// operations and bytes: at best two fused multiply-adds of a full vector a
// cycle, typically a quarter of that, at worst scalar code from memory.
func estimate(p *plan.Plan, l *isel.Level) sdk.Estimate {
	var flops, bytes float64
	for _, e := range p.Entries {
		flops, bytes = flops+e.Flops, bytes+e.Bytes
	}
	lanes := float64(l.VecBytes / 4)
	cycles := func(perFlop, perByte float64) uint64 { return uint64(max(flops*perFlop, bytes*perByte)) + 1 }
	return sdk.Estimate{Min: cycles(1/(4*lanes), 0.016), Typ: cycles(1/lanes, 0.06), Max: cycles(20, 2), Confidence: 0.25}
}

// Predict estimates without generating code.
func Predict(ctx context.Context, g *graph.Graph, l *isel.Level, entries []string) (sdk.Estimate, []sdk.Diagnostic, error) {
	if ds := Check(g, l, entries); len(ds) > 0 {
		return sdk.Estimate{}, ds, nil
	}
	p, err := plan.Build(ctx, g, options(l, entries))
	if err != nil {
		return sdk.Estimate{}, nil, fmt.Errorf("planning: %w", err)
	}
	return estimate(p, l), nil, nil
}
