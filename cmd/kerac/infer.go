package main

import (
	"slices"
	"strings"

	"github.com/kera-lang/kera/frontend/check"
	"github.com/kera-lang/kera/runtime/runner"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// inferBindings takes the dimensions of a generic entry from the shapes of its
// inputs, where a parameter's dimension is just a name. What --bind says counts
// first; what cannot be inferred is left for the builder to report.
func inferBindings(c *compiled, entry string, bind map[string]int64, inputs []runner.Source) (map[string]int64, error) {
	out := map[string]int64{}
	for k, v := range bind {
		out[k] = v
	}
	fn := entryFunc(c, entry)
	if fn == nil {
		return out, nil
	}
	for _, p := range fn.Params {
		i := slices.IndexFunc(inputs, func(s runner.Source) bool { return s.Name == p.Name })
		dims := p.Type.Dims
		if i < 0 || len(dims) == 0 {
			continue
		}
		_, shape, err := tensorio.Shape(inputs[i].Path, p.Name)
		if err != nil {
			return nil, mistake("K0714", "input %s: %v", p.Name, err)
		}
		if len(shape) == 2 && len(dims) == 1 && strings.HasSuffix(strings.ToLower(inputs[i].Path), ".csv") {
			shape = []int64{shape[0] * shape[1]}
		}
		if len(shape) != len(dims) {
			continue // the mismatch is reported when the input is read
		}
		for k, d := range dims {
			for _, a := range fn.Dims {
				if !d.Equal(check.AtomDim(a)) {
					continue
				}
				if old, ok := out[a.Name]; !ok {
					out[a.Name] = shape[k]
				} else if _, said := bind[a.Name]; !said && old != shape[k] {
					return nil, mistake("K0713", "input %s makes %s %d, but another input makes it %d", p.Name, a.Name, shape[k], old)
				}
			}
		}
	}
	return out, nil
}

// entryFunc is the generic function that a run means: the one named, or the only
// public one.
func entryFunc(c *compiled, entry string) *check.Func {
	name, _, _ := strings.Cut(entry, "[")
	var only *check.Func
	for _, f := range c.Program.Main.Funcs {
		if f.Pub && name == "" {
			if only != nil {
				return nil
			}
			only = f
		}
		if f.Pub && f.Name == name {
			return f
		}
	}
	return only
}
