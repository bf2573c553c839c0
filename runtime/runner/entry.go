// Package runner runs and verifies what was built: it selects an entry, brings
// inputs from files or generates them, runs the entry on the reference interpreter
// and on the sections of a .keg, and compares the outputs byte for byte.
//
// What must hold: every target gets the same input bytes; a trapped run has no
// outputs; outputs count as equal only if trap code and value digest are; what
// could not be run is reported as not checked with the reason, never passed over.
package runner

import (
	"fmt"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// Entry is one exported function of a graph.
type Entry struct {
	Graph   *graph.Graph
	Export  *graph.Export
	Params  []graph.Leaf // flattened tensors
	Results []graph.Leaf
}

// Select finds the entry called name; "" is the only entry.
func Select(g *graph.Graph, name string) (*Entry, error) {
	names := make([]string, len(g.Exports))
	for i := range g.Exports {
		names[i] = g.Exports[i].Name
	}
	if name == "" {
		if len(names) != 1 {
			return nil, mistake("K0710", "the program has %d entries and --entry names none", len(names)).Notef("entries: %s", list(names))
		}
		name = names[0]
	}
	x, ok := g.Export(name)
	if !ok {
		// An instance may be named without its bindings while there is only one.
		for i := range g.Exports {
			if base, _, cut := strings.Cut(names[i], "["); cut && base == name {
				if x != nil {
					return nil, mistake("K0710", "several instances of %s exist", name).Notef("entries: %s", list(names))
				}
				x = &g.Exports[i]
			}
		}
	}
	if x == nil {
		return nil, mistake("K0710", "the program has no entry %q", name).Notef("entries: %s", list(names))
	}
	return &Entry{g, x, g.ParamLeaves(x), g.ResultLeaves(x)}, nil
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func mistake(code diag.Code, format string, args ...any) *diag.Diagnostic {
	return diag.Errorf(code, diag.Span{}, format, args...)
}

// Source is an input or output as named on the command line.
type Source struct{ Name, Path string }

// Inputs reads every parameter of e from files.
func (e *Entry) Inputs(sources []Source) ([][]byte, error) {
	data := make([][]byte, len(e.Params))
	var problems diag.List
	for _, s := range sources {
		hit := false
		for i, p := range e.Params {
			inner, below := strings.CutPrefix(p.Path, s.Name+".")
			if p.Path != s.Name && !below {
				continue
			}
			hit = true
			if below && !strings.HasSuffix(strings.ToLower(s.Path), ".npz") {
				problems.Add(mistake("K0711", "input %s has fields: give them one by one or as an .npz file", s.Name).Notef("fields: %s", fields(e.Params, s.Name)))
				break
			}
			if !below {
				inner = last(p.Path)
			}
			if err := e.read(i, s, inner, &data[i]); err != nil {
				problems.Add(err)
			}
		}
		if !hit {
			problems.Add(mistake("K0712", "entry %s has no input %q", e.Export.Name, s.Name).Notef("inputs: %s", leaves(e.Params)))
		}
	}
	if len(problems) == 0 {
		for i, p := range e.Params {
			if data[i] == nil {
				problems.Add(mistake("K0711", "entry %s needs the input %s, %s", e.Export.Name, p.Path, tensorio.TypeText(p.Type)).
					Notef("give it with --input %s=FILE", p.Path))
			}
		}
	}
	return data, problems.Err()
}

func (e *Entry) read(i int, s Source, member string, dst *[]byte) *diag.Diagnostic {
	p := e.Params[i]
	if *dst != nil {
		return mistake("K0712", "input %s is given twice", p.Path)
	}
	want := p.Type.Erased()
	t, err := tensorio.Read(s.Path, member, &want)
	switch err := err.(type) {
	case nil:
		*dst = t.Data
		return nil
	case *tensorio.MismatchError:
		return mistake("K0713", "input %s: %v", p.Path, err)
	default:
		return mistake("K0714", "input %s: %v", p.Path, err)
	}
}

func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func fields(ls []graph.Leaf, port string) string {
	var names []string
	for _, l := range ls {
		if strings.HasPrefix(l.Path, port+".") {
			names = append(names, l.Path)
		}
	}
	return list(names)
}

func leaves(ls []graph.Leaf) string {
	var names []string
	for _, l := range ls {
		names = append(names, l.Path+" "+tensorio.TypeText(l.Type))
	}
	return list(names)
}

// Outputs checks, before anything runs, that every wanted output exists and that
// its file can take it. It gives the index of the result leaves of each.
func (e *Entry) Outputs(sources []Source) ([][]int, error) {
	var problems diag.List
	out := make([][]int, len(sources))
	for k, s := range sources {
		for i, r := range e.Results {
			if r.Path == s.Name || strings.HasPrefix(r.Path, s.Name+".") {
				out[k] = append(out[k], i)
				if err := tensorio.CanWrite(s.Path, r.Type); err != nil {
					problems.Add(mistake("K0715", "output %s: %v", r.Path, err))
				}
			}
		}
		switch {
		case len(out[k]) == 0:
			problems.Add(mistake("K0712", "entry %s has no output %q", e.Export.Name, s.Name).Notef("outputs: %s", leaves(e.Results)))
		case len(out[k]) > 1 && !strings.HasSuffix(strings.ToLower(s.Path), ".npz"):
			problems.Add(mistake("K0715", "output %s has fields: name one or write an .npz file", s.Name).Notef("fields: %s", fields(e.Results, s.Name)))
		}
	}
	return out, problems.Err()
}

// Tensors gives output data the types of the results.
func (e *Entry) Tensors(data [][]byte) []tensorio.Named {
	out := make([]tensorio.Named, len(data))
	for i, r := range e.Results {
		out[i] = tensorio.Named{Name: r.Path, Tensor: tensorio.Tensor{DType: r.Type.DType, Dims: r.Type.Shape(), Data: data[i]}}
	}
	return out
}

// checkStatic refuses an entry whose dimensions are not bound.
func (e *Entry) checkStatic() error {
	for _, ls := range [][]graph.Leaf{e.Params, e.Results} {
		for _, l := range ls {
			if !l.Type.Static() {
				return fmt.Errorf("entry %s: %s has the type %v with a free dimension", e.Export.Name, l.Path, l.Type)
			}
		}
	}
	return nil
}

// bytes is the size of all inputs and outputs.
func (e *Entry) bytes() (n int64) {
	for _, ls := range [][]graph.Leaf{e.Params, e.Results} {
		for _, l := range ls {
			n += l.Type.NumBytes()
		}
	}
	return n
}

func typesOf(ls []graph.Leaf) []types.Type {
	out := make([]types.Type, len(ls))
	for i, l := range ls {
		out[i] = l.Type.Erased()
	}
	return out
}
