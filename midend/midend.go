// Package midend makes a graph faster without changing what it computes.
//
// Optimise runs a table of passes over the exported regions: inlining, range
// facts, simplification and constant folding, operand ordering (which with
// hash-consing is common-subexpression elimination) and removal of what is
// unused, to a fixed point; then fusion. Backends receive the fused graph. Each
// pass is a function from region to region over one store, so the source graph
// stays as it was and keeps its fingerprint.
//
// What must hold: after every pass the graph passes graph.Validate, and every
// entry gives the same bytes and the same trap code for every input, NaN
// payloads aside. No pass knows a target. Left for later, with their place in
// the table: vectorisation, memory planning and counters.
package midend

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
)

// Options steer optimisation.
type Options struct {
	// Keep lists digests of regions whose calls are not inlined: composites
	// that a target accelerates.
	Keep []digest.D
	// Passes, if not nil, replaces the standard pipeline by the named passes,
	// each run once. For tests and for looking at one pass.
	Passes []string
}

// Step is what one run of one pass did.
type Step struct {
	Pass    string        `json:"pass"`
	Round   int           `json:"round"`
	Nodes   int           `json:"nodes"` // reachable afterwards
	Changed bool          `json:"changed"`
	Time    time.Duration `json:"ns"`
}

// Report lists the steps in order.
type Report struct{ Steps []Step }

// maxRounds bounds the fixed point. The passes shrink or keep the graph apart
// from inlining, which finishes in one round, so this is never reached in
// practice; if it is, the graph is valid all the same.
const maxRounds = 16

// Optimise fills in g's optimised regions and their provenance.
func Optimise(ctx context.Context, g *graph.Graph, opts Options) (*Report, error) {
	o := &optimiser{g: g, rep: &Report{}, keep: map[digest.D]bool{}, origins: map[graph.NodeID][]graph.NodeID{},
		source: graph.NodeID(g.NumNodes()), folder: interp.New(g.Store, interp.Limits{Bytes: 1 << 20, Steps: 1 << 16}), valid: graph.NewValidator(g)}
	for _, d := range opts.Keep {
		o.keep[d] = true
	}
	for i := range g.Exports {
		x := &g.Exports[i]
		x.Optimised, x.OptBound = x.Region, slices.Clone(x.Bound)
	}
	if err := o.pipeline(ctx, opts.Passes); err != nil {
		return nil, err
	}
	o.recordOrigins()
	return o.rep, nil
}

func (o *optimiser) pipeline(ctx context.Context, only []string) error {
	if only != nil {
		for _, name := range only {
			p, ok := passNamed(name)
			if !ok {
				return fmt.Errorf("midend: no pass %q", name)
			}
			if _, err := o.run(ctx, p, 0); err != nil {
				return err
			}
		}
		return nil
	}
	for round := range maxRounds {
		changed := false
		for _, p := range passes() {
			if !p.repeat {
				continue
			}
			c, err := o.run(ctx, p, round)
			if err != nil {
				return err
			}
			changed = changed || c
		}
		if !changed {
			break
		}
	}
	for _, p := range passes() {
		if !p.repeat {
			if _, err := o.run(ctx, p, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// optimiser is the state of one Optimise call.
type optimiser struct {
	g       *graph.Graph
	rep     *Report
	keep    map[digest.D]bool
	source  graph.NodeID // nodes below this are the source graph's
	origins map[graph.NodeID][]graph.NodeID
	folder  *interp.Machine
	valid   *graph.Validator
}

// run runs one pass over every export and checks the result.
func (o *optimiser) run(ctx context.Context, p pass, round int) (bool, error) {
	start := time.Now()
	changed := false
	rw := p.make(o, ctx)
	for i := range o.g.Exports {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		x := &o.g.Exports[i]
		r, err := rw(x.Optimised)
		if err != nil {
			return false, fmt.Errorf("midend: pass %s: export %q: %w", p.name, x.Name, err)
		}
		if r != x.Optimised {
			changed, x.Optimised = true, r
		}
	}
	if p.after != nil {
		c, err := p.after(o)
		if err != nil {
			return false, fmt.Errorf("midend: pass %s: %w", p.name, err)
		}
		changed = changed || c
	}
	if changed {
		if err := o.valid.Validate(p.name); err != nil {
			return false, err
		}
	}
	o.rep.Steps = append(o.rep.Steps, Step{Pass: p.name, Round: round, Nodes: o.reachable(), Changed: changed, Time: time.Since(start)})
	return changed, nil
}

func (o *optimiser) reachable() int {
	seen, count := make([]bool, o.g.NumNodes()), 0
	for _, r := range o.optimisedRegions() {
		for _, n := range o.g.Order(r) {
			if !seen[n] {
				seen[n] = true
				count++
			}
		}
	}
	return count
}

func (o *optimiser) optimisedRegions() []graph.RegionID {
	var roots []graph.RegionID
	for i := range o.g.Exports {
		roots = append(roots, o.g.Exports[i].Optimised)
	}
	return o.g.RegionsUnder(roots...)
}

// cameFrom records that made stands for what src stood for.
func (o *optimiser) cameFrom(made, src graph.NodeID) {
	if made == src {
		return
	}
	for _, s := range o.sources(src) {
		if s != made && !slices.Contains(o.origins[made], s) {
			o.origins[made] = append(o.origins[made], s)
		}
	}
}

func (o *optimiser) sources(n graph.NodeID) []graph.NodeID {
	if n < o.source {
		return append([]graph.NodeID{n}, o.origins[n]...)
	}
	return o.origins[n]
}

// recordOrigins keeps the provenance of the nodes that are left.
func (o *optimiser) recordOrigins() {
	if o.g.Prov.Origins == nil {
		o.g.Prov.Origins = map[graph.NodeID][]graph.NodeID{}
	}
	for _, r := range o.optimisedRegions() {
		for _, n := range o.g.Order(r) {
			if src := o.sources(n); len(src) > 0 {
				out := slices.Clone(src)
				slices.Sort(out)
				o.g.Prov.Origins[n] = slices.Compact(out)
			}
		}
	}
}
