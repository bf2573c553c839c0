package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
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

type trapStepJSON struct {
	Op    string  `json:"op"`
	Index []int64 `json:"index,omitempty"`
}

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
	d.Notef("the run gave no outputs")
	return &exitError{code: exitTrap, err: d, data: j}
}

func (a *app) locate(p *program, d *diag.Diagnostic, j *trapJSON, place *interp.Place) {
	j.Node = p.graph.Digest(place.Node).String()
	nodes := []graph.NodeID{place.Node}
	var steps []string
	for _, s := range place.Path {
		nodes = append(nodes, s.Node)
		j.Path = append(j.Path, trapStepJSON{s.Op.String(), s.Index})
		if s.Index != nil {
			steps = append(steps, fmt.Sprintf("%v %v", s.Op, strings.Trim(fmt.Sprint(s.Index), "[]")))
		}
	}
	for _, n := range nodes {
		spans := p.graph.Prov.Spans[n]
		if len(spans) == 0 || int(spans[0].File) >= len(p.graph.Prov.Files) {
			continue
		}
		s := spans[0]
		name := p.graph.Prov.Files[s.File]
		j.Place = &trapPlaceJSON{File: name, Start: int(s.Start), End: int(s.End)}
		if f := p.sourceFile(name); f != nil && int(s.End) <= len(f.Text) {
			d.Primary = f.Span(int(s.Start), int(s.End))
			pos := f.Position(int(s.Start))
			j.Place.Line, j.Place.Column = pos.Line, pos.Column
		} else {
			d.Notef("at %s, bytes %d to %d", name, s.Start, s.End)
		}
		if len(spans) > 1 {
			d.Notef("equal code at %d more places counts as the same", len(spans)-1)
		}
		break
	}
	if len(steps) > 0 {
		d.Notef("in %s", strings.Join(steps, ", in "))
	}
}

// sourceFile finds a source that the provenance names: the one the program was
// just read from, else a file of that name beside the artefact or here.
func (p *program) sourceFile(name string) *diag.File {
	if f, ok := p.files[name]; ok {
		return f
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
