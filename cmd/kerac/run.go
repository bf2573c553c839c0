package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/pluginapi/native"
	"github.com/kera-lang/kera/runtime/atomicfile"
	"github.com/kera-lang/kera/runtime/runner"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// interpTarget is the name of the reference interpreter among targets.
const interpTarget = "interp"

type runFlags struct {
	entry   string
	target  string
	inputs  []string
	outputs []string
	bind    []string
}

func (a *app) runCmd() *cobra.Command {
	var f runFlags
	c := a.command("run OUT.keg|FILE.kera", "Run an entry on a target or the interpreter", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return a.run(ctx, args[0], f) })
	fs := c.Flags()
	fs.StringVar(&f.entry, "entry", "", "exported function (may be left out if there is one)")
	fs.StringVar(&f.target, "target", "", "target, or interp (default: the best section that runs here, else interp)")
	fs.StringArrayVar(&f.inputs, "input", nil, "NAME=PATH, a .npy, .npz, .json or .csv file; repeat for every input")
	fs.StringArrayVar(&f.outputs, "output", nil, "NAME=PATH, where to write an output; repeat as wanted")
	fs.StringArrayVar(&f.bind, "bind", nil, "n=1024, value of a dimension (source files only)")
	c.ValidArgsFunction = files("keg", "kera")
	completing(c, map[string]flagComplete{"entry": completeEntries, "target": completeSections,
		"input": completeLeaves(false), "output": completeLeaves(true)})
	return c
}

// resultJSON is an output of a run. Value is left out of large ones.
type resultJSON struct {
	Name  string          `json:"name"`
	Type  string          `json:"type"`
	File  string          `json:"file,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

type runJSON struct {
	Entry   string       `json:"entry"`
	Target  string       `json:"target"`
	Mode    string       `json:"mode"`
	Ns      int64        `json:"ns"`
	Digest  string       `json:"digest"`
	Results []resultJSON `json:"results"`
}

// Up to how many elements are printed: all in JSON, the first ones for a person.
const (
	jsonElements = 4096
	textElements = 12
)

func (a *app) run(ctx context.Context, path string, f runFlags) error {
	inputs, outputs, err := sources(f.inputs, f.outputs)
	if err != nil {
		return err
	}
	if err := distinctFiles(path, inputs, outputs); err != nil {
		return err
	}
	cfg, err := loadConfig(a.config)
	if err != nil {
		return err
	}
	ps := a.plugins(cfg)
	defer ps.close()
	p, err := a.loadFor(ctx, path, f, inputs)
	if err != nil {
		return err
	}
	e, err := runner.Select(p.graph, f.entry)
	if err != nil {
		return err
	}
	files, err := e.Outputs(outputs)
	if err != nil {
		return err
	}
	data, err := e.Inputs(inputs)
	if err != nil {
		return err
	}
	if p.source && f.target != "" && f.target != interpTarget {
		if err := a.compileInMemory(ctx, ps, p, f.target); err != nil {
			return err
		}
	}
	m := a.machine(ps)
	defer m.Close()
	stop := a.out.during(ctx, "running "+e.Export.Name)
	target, mode, o, err := a.execute(ctx, m, p, e, f.target, data)
	stop()
	if err != nil {
		return a.runFailure(ctx, p, err)
	}
	if o.Trap != op.TrapNone {
		return a.trapped(ctx, p, e, data, o.Trap, target)
	}
	return a.runResult(p, e, o, target, mode, outputs, files)
}

func sources(in, out []string) (inputs, outputs []runner.Source, err error) {
	for _, x := range []struct {
		flag string
		list []string
		dst  *[]runner.Source
	}{{"input", in, &inputs}, {"output", out, &outputs}} {
		as, err := assignments(x.flag, x.list)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range as {
			*x.dst = append(*x.dst, runner.Source{Name: s.name, Path: s.value})
		}
	}
	return inputs, outputs, nil
}

// distinctFiles refuses an output that would replace the program, an input or
// another output.
func distinctFiles(program string, inputs, outputs []runner.Source) error {
	taken := map[string]string{clean(program): program}
	for _, in := range inputs {
		file, _ := tensorio.SplitMember(in.Path)
		taken[clean(file)] = file
	}
	for _, out := range outputs {
		if what, ok := taken[clean(out.Path)]; ok {
			return mistake("K0717", "output %s would overwrite %s", out.Name, what)
		}
		taken[clean(out.Path)] = "another output, " + out.Path
	}
	return nil
}

func clean(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// execute runs on the named target; "" is the best that works here.
func (a *app) execute(ctx context.Context, m *runner.Machine, p *program, e *runner.Entry, spec string, data [][]byte) (target, mode string, o runner.Outcome, err error) {
	if spec != interpTarget {
		t, mode, err := a.pick(ctx, m, p, spec)
		if err != nil {
			return "", "", o, err
		}
		if t != nil {
			o, err = t.Run(ctx, e, data)
			return t.Name(), mode, o, err
		}
	}
	i, err := runner.NewInterp(e)
	if err != nil {
		return "", "", o, err
	}
	o, err = i.Run(ctx, data)
	return interpTarget, "interpreted", o, err
}

// pick gives the best section for spec that this machine can run: natively before
// emulated before simulated, then the one that uses most features. No section at
// all and no spec is no error: the interpreter runs it.
func (a *app) pick(ctx context.Context, m *runner.Machine, p *program, spec string) (runner.Target, string, error) {
	hits := p.choose(spec)
	if len(hits) == 0 {
		if spec == "" {
			return nil, "", nil
		}
		return nil, "", p.noSection(spec)
	}
	rank := map[string]int{"natively": 3, "emulated": 2, "simulated": 1}
	var best runner.Target
	bestMode, bestFeatures, reasons := "", -1, []string{}
	var broken error // what is there and broke says more than what is not there
	for _, i := range hits {
		t := m.Target(p.sections[i])
		mode, reason, err := t.Mode(ctx)
		if err := context.Cause(ctx); err != nil {
			return nil, "", err
		}
		features := len(p.sections[i].Descriptor.Features)
		switch {
		case err != nil:
			if broken == nil {
				broken = err
			}
			line, _, _ := strings.Cut(err.Error(), "\n")
			reasons = append(reasons, t.Name()+": "+line)
		case mode == "":
			reasons = append(reasons, t.Name()+": "+reason)
		case rank[mode] > rank[bestMode] || rank[mode] == rank[bestMode] && features > bestFeatures:
			best, bestMode, bestFeatures = t, mode, features
		}
	}
	if best == nil && spec != "" && broken != nil {
		return nil, "", broken
	}
	if best == nil && spec != "" {
		return nil, "", failf(exitPlugin, "%s: no section for %s runs on this machine (%s)", p.path, spec, strings.Join(reasons, "; "))
	}
	if best == nil {
		a.out.note("kerac: no section runs on this machine, using the interpreter (%s)", strings.Join(reasons, "; "))
	}
	return best, bestMode, nil
}

// runFailure gives what went wrong while running its exit code.
func (a *app) runFailure(ctx context.Context, p *program, err error) error {
	var fault *runner.Fault
	var known *exitError
	switch {
	case ctx.Err() != nil || errors.As(err, &known) || len(diagnostics(err)) > 0:
		return err
	case errors.As(err, &fault):
		return &exitError{code: exitFault, err: err, data: fault}
	case errors.Is(err, interp.ErrLimit) || errors.Is(err, native.ErrMemory):
		return &exitError{code: exitDiagnostics, err: fmt.Errorf("%s: %w", p.path, err)}
	case errors.Is(err, runner.ErrStale) || errors.Is(err, runner.ErrDamaged):
		return &exitError{code: exitArtefact, err: fmt.Errorf("%s: %w", p.path, err)}
	}
	if e := pluginFailure(err); errors.As(e, &known) {
		return e
	}
	return &exitError{code: exitPlugin, err: err}
}

func (a *app) runResult(p *program, e *runner.Entry, o runner.Outcome, target, mode string, outputs []runner.Source, files [][]int) error {
	tensors := e.Tensors(o.Outputs)
	var set atomicfile.Set
	defer set.Discard()
	written := make([]string, len(tensors))
	for k, out := range outputs {
		var list []tensorio.Named
		for _, i := range files[k] {
			t := tensors[i]
			if t.Name != out.Name {
				t.Name = strings.TrimPrefix(t.Name, out.Name+".")
			}
			list = append(list, t)
			written[i] = out.Path
		}
		if err := tensorio.Add(&set, out.Path, list); err != nil {
			return mistake("K0715", "output %s: %v", out.Name, err)
		}
	}
	if err := set.Commit(); err != nil {
		return mistake("K0715", "%v", err)
	}
	r := runJSON{Entry: e.Export.Name, Target: target, Mode: mode, Ns: o.Took.Nanoseconds(), Digest: o.Digest(e).String(), Results: []resultJSON{}}
	for i, t := range tensors {
		j := resultJSON{Name: t.Name, Type: tensorio.TypeText(t.Tensor.Type()), File: written[i]}
		if len(t.Tensor.Data)/t.Tensor.DType.Size() <= jsonElements {
			var b bytes.Buffer
			w := bufio.NewWriter(&b)
			tensorio.WriteJSON(w, t.Tensor)
			w.Flush()
			j.Value = b.Bytes()
		}
		r.Results = append(r.Results, j)
	}
	a.out.note("ran %s of %s on %s, %s, in %s", e.Export.Name, p.path, target, mode, duration(o.Took))
	return a.out.result(r, func(w *bufio.Writer) {
		for i, t := range tensors {
			fmt.Fprintf(w, "%s %s = %s\n", t.Name, r.Results[i].Type, tensorio.Preview(t.Tensor, textElements))
		}
		fmt.Fprintf(w, "digest %s\n", r.Digest)
	})
}
