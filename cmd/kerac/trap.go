package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/frontend/std"
	"github.com/kera-lang/kera/runtime/runner"
)

// trapJSON is the detail of a failure with exit code 9.
type trapJSON struct {
	Kind   string         `json:"kind"`
	Code   int            `json:"code"`
	Entry  string         `json:"entry"`
	Target string         `json:"target"`
	Node   string         `json:"node,omitempty"`
	Place  *trapPlaceJSON `json:"place,omitempty"`
	Path   []trapStepJSON `json:"path"`
}

type trapPlaceJSON struct {
	File   string `json:"file"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// trapStepJSON is a region that was entered on the way, outermost first: what
// entered it, where that is written, and the turn of a loop or index of a map.
type trapStepJSON struct {
	Op    string         `json:"op"`
	Index []int64        `json:"index,omitempty"`
	Place *trapPlaceJSON `json:"place,omitempty"`
}

const noOutputs = "the run gave no outputs"

// trapped makes the error of a run that trapped. The trap code says only the kind;
// the place is found by replaying the inputs on the interpreter.
func (a *app) trapped(ctx context.Context, p *program, e *runner.Entry, data [][]byte, kind op.TrapKind, target string) error {
	j := trapJSON{Kind: kind.String(), Code: int(kind), Entry: e.Export.Name, Target: target, Path: []trapStepJSON{}}
	d := &diag.Diagnostic{Message: fmt.Sprintf("trap: %v in %s", kind, e.Export.Name)}
	values, err := e.Values(data)
	if err != nil {
		return err
	}
	stop := a.out.during(ctx, "finding the place of the trap")
	place, err := interp.Locate(ctx, p.graph, e.Export, values)
	stop()
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		d.Notef("the place was not found: %v", err)
	case place == nil || place.Code != kind:
		// The interpreter disagrees about the trap: that is a wrong target.
		return failf(exitDifference, "%s reports a trap (%v), and the interpreter does not find it; `kerac verify` shows the difference", target, kind)
	default:
		a.locate(p, d, &j, place)
	}
	d.Notef(noOutputs)
	return &exitError{code: exitTrap, err: d, data: j}
}

func (a *app) locate(p *program, d *diag.Diagnostic, j *trapJSON, place *interp.Place) {
	j.Node = p.graph.Digest(place.Node).String()
	var steps []string
	nodes := []graph.NodeID{place.Node} // innermost first
	for _, s := range place.Path {
		nodes = slices.Insert(nodes, 1, s.Node)
		at, _ := p.placeOf(s.Node)
		j.Path = append(j.Path, trapStepJSON{s.Op.String(), s.Index, at})
		if s.Index != nil {
			steps = append(steps, fmt.Sprintf("%v %v", s.Op, strings.Trim(fmt.Sprint(s.Index), "[]")))
		}
	}
	for _, n := range nodes {
		at, span := p.placeOf(n)
		if at == nil {
			continue
		}
		j.Place, d.Primary = at, span
		if !span.IsValid() {
			d.Notef("at %s, bytes %d to %d", at.File, at.Start, at.End)
		}
		if more := len(p.graph.Prov.Spans[n]) - 1; more > 0 {
			d.Notef("equal code at %d more places counts as the same", more)
		}
		break
	}
	for _, s := range slices.Backward(place.Path) {
		if s.Op != op.Call {
			continue
		}
		if at, span := p.placeOf(s.Node); at != nil && span.IsValid() && span != d.Primary {
			d.Related(span, "called here")
		}
	}
	if len(steps) > 0 {
		d.Notef("in %s", strings.Join(steps, ", in "))
	}
}

// placeOf is where a node was first written. The span is valid if the source is
// there.
func (p *program) placeOf(n graph.NodeID) (*trapPlaceJSON, diag.Span) {
	spans := p.graph.Prov.Spans[n]
	if len(spans) == 0 || int(spans[0].File) >= len(p.graph.Prov.Files) {
		return nil, diag.Span{}
	}
	s := spans[0]
	at := &trapPlaceJSON{File: p.graph.Prov.Files[s.File], Start: int(s.Start), End: int(s.End)}
	f := p.sourceFile(at.File)
	if f == nil || at.End > len(f.Text) {
		return at, diag.Span{}
	}
	pos := f.Position(at.Start)
	at.Line, at.Column = pos.Line, pos.Column
	return at, f.Span(at.Start, at.End)
}

// sourceFile finds a source that the provenance names: the one the program was
// just read from, the standard library, else a file of that name beside the
// artefact or here.
func (p *program) sourceFile(name string) *diag.File {
	if f, ok := p.files[name]; ok {
		return f
	}
	for _, m := range std.Modules() {
		if m.File == name {
			return diag.NewFile(name, m.Text)
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil
	}
	for _, dir := range []string{filepath.Dir(p.path), "."} {
		if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return diag.NewFile(name, string(b))
		}
	}
	return nil
}
