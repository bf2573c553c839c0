package conformance

import (
	"context"
	"fmt"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Group is a graph of cases: one exported entry each.
type Group struct {
	Name  string
	Graph *graph.Graph
}

// Groups returns the cases of one dtype each (elementwise, shape and parallel
// ops) and those of control structure.
func Groups() []Group {
	var out []Group
	for _, d := range types.DTypes() {
		s := newSuite()
		s.elementwise(d)
		s.shapes(d)
		s.parallel(d)
		out = append(out, Group{d.String(), s.g})
	}
	s := newSuite()
	s.structure()
	return append(out, Group{"structure", s.g})
}

// Ops returns the opcodes that the cases use.
func Ops() map[op.Code]bool {
	used := map[op.Code]bool{}
	for _, g := range Groups() {
		for i := range g.Graph.Exports {
			for _, r := range g.Graph.RegionsUnder(g.Graph.Exports[i].Region) {
				for _, n := range g.Graph.Order(r) {
					used[g.Graph.Op(n)] = true
				}
			}
		}
	}
	return used
}

// Call is one call of an entry and what it must give: dense bytes per
// flattened leaf, or a trap.
type Call struct {
	Entry   string
	Case    int // the generator's case number
	Inputs  [][]byte
	Trap    op.TrapKind
	Outputs [][]byte // meaningless where Trap is set
}

// Calls runs every entry of g on the interpreter with cases generated inputs:
// ordinary ones, edges, NaN and infinities, random bits, subnormals, extremes
// and zeros. The source regions are run.
func Calls(ctx context.Context, g *graph.Graph, seed uint64, cases int) ([]Call, error) {
	m := interp.New(g.Store, interp.DefaultLimits())
	var out []Call
	for i := range g.Exports {
		x := &g.Exports[i]
		for n := range cases {
			in := interp.GenAll(g.UserParams(x), seed, n)
			res, trap, err := m.Run(ctx, x, in)
			if err != nil {
				return nil, fmt.Errorf("%s: case %d: %w", x.Name, n, err)
			}
			out = append(out, Call{Entry: x.Name, Case: n, Inputs: leafBytes(in), Trap: trap, Outputs: leafBytes(res)})
		}
	}
	return out, nil
}

func leafBytes(vs []interp.Value) [][]byte {
	var ls []interp.Value
	for _, v := range vs {
		ls = v.Leaves(ls)
	}
	out := make([][]byte, len(ls))
	for i, l := range ls {
		out[i] = l.Data
	}
	return out
}
