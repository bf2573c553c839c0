// Package plan turns an optimised graph into loop IR: the loop plan.
//
// For each exported entry it assigns buffers (inputs, outputs, one work area
// with lifetimes), turns every node into loop nests over them - one nest per
// fusion, tiles for contractions, 64 lanes for reductions - and lists the
// phases a runner calls. The order and the lanes of docs/spec/numerics.md are
// semantics and are the same for every target; tile sizes and vector widths
// come from lir.Target and are performance only.
//
// What must hold: every function passes lir.Verify; the same graph and target
// give the same plan; nothing here depends on a particular machine.
package plan

import (
	"context"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Plan is what a backend compiles into one artifact.
type Plan struct {
	Module  *lir.Module
	Entries []Entry // ascending by name

	// Nodes maps lir provenance (Stmt.Node) to graph nodes; index 0 is for code
	// that belongs to no node (prologues).
	Nodes []digest.D
	// Folded are indices of Nodes reachable from an entry that have no code of
	// their own (views, constants, merged into a consumer), ascending.
	Folded []uint32
}

// Entry is one callable entry: the phases to run in order with a barrier
// between them. See section.Entry for the calling convention.
type Entry struct {
	Name    string
	Region  digest.D     // the optimised region
	Inputs  []types.Type // flattened parameter leaves, then bound constants
	Outputs []types.Type // flattened result leaves, the trap code left out
	Work    int64        // bytes of scratch memory, 64-byte aligned
	Phases  []Phase
	Flops   float64 // arithmetic operations of one call, for estimates
	Bytes   float64 // bytes read and written of one call, for estimates
}

// Phase is one function run over tiles. All phases but the last return 0; the
// last returns the entry's trap code.
type Phase struct {
	Func  int // index into Module.Funcs
	Tiles int64
}

// Options choose the target and what to plan.
type Options struct {
	Target lir.Target
	// Entries names the exports to plan; empty means all.
	Entries []string
}

// Refusal says why a node cannot be planned for the target.
type Refusal struct {
	Entry  string
	Node   graph.NodeID
	Reason string
}

// Support reports the nodes of g's optimised graph (or, where an entry has none,
// of its source graph) that Build would refuse.
func Support(g *graph.Graph, opts Options) []Refusal { return support(g, opts) }

// Build plans g's optimised entries (the source region where an entry has no
// optimised one). It fails on what Support refuses.
func Build(ctx context.Context, g *graph.Graph, opts Options) (*Plan, error) {
	return build(ctx, g, opts)
}
