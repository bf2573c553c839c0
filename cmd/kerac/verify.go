package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/runtime/runner"
)

type verifyFlags struct {
	entry   string
	targets []string
	inputs  []string
	cases   int
	seed    uint64
}

func (a *app) verifyCmd() *cobra.Command {
	var f verifyFlags
	c := a.command("verify OUT.keg", "Compare every target with the interpreter, byte for byte", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return a.verify(ctx, args[0], f) })
	fs := c.Flags()
	fs.StringVar(&f.entry, "entry", "", "exported function (default: all of them with generated inputs)")
	fs.StringArrayVar(&f.targets, "target", nil, "target to check; repeat for several (default: every section)")
	fs.StringArrayVar(&f.inputs, "input", nil, "NAME=PATH, as for run (default: generated inputs)")
	fs.IntVar(&f.cases, "cases", 16, "how many generated cases to run")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the generated inputs")
	c.ValidArgsFunction = files("keg")
	completing(c, map[string]flagComplete{"entry": completeEntries, "target": completeSections, "input": completeLeaves(false)})
	return c
}

func (a *app) verify(ctx context.Context, path string, f verifyFlags) error {
	inputs, _, err := sources(f.inputs, nil)
	if err != nil {
		return err
	}
	if f.cases < 1 {
		return usagef("--cases %d: at least one", f.cases)
	}
	cfg, err := loadConfig(a.config)
	if err != nil {
		return err
	}
	if artefact, err := isArtefact(path); err == nil && !artefact {
		return usagef("verify takes a .keg: first type 'kerac build %s -o OUT.keg'", path)
	}
	p, err := a.loadKeg(path)
	if err != nil {
		return err
	}
	if err := p.verifyContent(); err != nil {
		return err
	}
	ps := a.plugins(cfg)
	defer ps.close()
	m := a.machine(ps)
	defer m.Close()
	targets, err := p.targets(m, f.targets)
	if err != nil {
		return err
	}
	entries := []string{f.entry}
	if f.entry == "" && len(inputs) == 0 {
		entries = entries[:0]
		for i := range p.graph.Exports {
			entries = append(entries, p.graph.Exports[i].Name)
		}
	}
	var reports []*runner.Report
	for _, name := range entries {
		r, err := a.verifyEntry(ctx, p, name, targets, inputs, f)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	return a.verifyResult(ctx, p, reports)
}

func (a *app) verifyEntry(ctx context.Context, p *program, name string, targets []runner.Target, inputs []runner.Source, f verifyFlags) (*runner.Report, error) {
	e, err := runner.Select(p.graph, name)
	if err != nil {
		return nil, err
	}
	cases := runner.Generated(e, f.cases, f.seed)
	if len(inputs) > 0 || len(e.Params) == 0 {
		data, err := e.Inputs(inputs)
		if err != nil {
			return nil, err
		}
		cases = runner.Given(data)
	}
	r, err := runner.Verify(ctx, e, targets, cases, func(what string) { a.out.progress("verifying %s: %s", e.Export.Name, what) })
	if err != nil {
		return nil, a.runFailure(ctx, p, err)
	}
	return r, nil
}

type verifyJSON struct {
	File    string           `json:"file"`
	Entries []*runner.Report `json:"entries"`
}

// verifyResult prints the table and turns the worst row into the exit code: a
// difference before a crash before any other failure.
func (a *app) verifyResult(ctx context.Context, p *program, reports []*runner.Report) error {
	if err := a.out.result(verifyJSON{p.path, reports}, func(w *bufio.Writer) {
		for i, r := range reports {
			if i > 0 {
				fmt.Fprintln(w)
			}
			verifyTable(w, r)
		}
	}); err != nil {
		return err
	}
	var worst error
	for _, r := range reports {
		for _, row := range r.Rows {
			if row.Err == nil {
				continue
			}
			err := a.targetFailure(ctx, p, fmt.Errorf("entry %s: %w", r.Entry, row.Err))
			switch code := exitCode(ctx, err); {
			case code == exitDifference:
				return &exitError{code: code, err: err, data: alreadyReported{}}
			case worst == nil:
				worst = err
			}
		}
	}
	var ee *exitError
	if errors.As(worst, &ee) {
		return &exitError{code: ee.code, err: worst, data: alreadyReported{}}
	}
	return worst
}

// targetFailure gives the failure of a target beside the interpreter its exit code.
func (a *app) targetFailure(ctx context.Context, p *program, err error) error {
	if errors.Is(err, runner.ErrDifference) {
		return &exitError{code: exitDifference, err: err}
	}
	return a.runFailure(ctx, p, err)
}

func verifyTable(w *bufio.Writer, r *runner.Report) {
	plural := "s"
	if r.Cases == 1 {
		plural = ""
	}
	fmt.Fprintf(w, "%s: %d case%s, inputs %s\n", r.Entry, r.Cases, plural, r.Inputs)
	width := 6
	for _, row := range r.Rows {
		width = max(width, len(row.Target))
	}
	fmt.Fprintf(w, "  %-*s  %-11s  %10s     %s\n", width, "target", "ran", "time", "digest of the outputs")
	for _, row := range r.Rows {
		mode, took, tail := row.Mode, duration(row.Time), row.Digest
		if len(tail) > 32 {
			tail = tail[:32]
		}
		switch {
		case row.Status == runner.NotChecked:
			mode, took, tail = "not checked", "", row.Reason
		case row.Status == runner.Failed:
			if mode == "" {
				mode, took = "not run", ""
			}
			tail = "failed: " + strings.Split(row.Reason, "\n")[0]
		case row.Trap != "" && r.Cases == 1:
			tail += "  trap: " + row.Trap
		case row.Traps > 0:
			tail += fmt.Sprintf("  %d of %d trapped", row.Traps, r.Cases)
		}
		mark := map[string]string{runner.Equal: "=", runner.Differs: "!", runner.Failed: "!"}[row.Status]
		fmt.Fprintf(w, "  %-*s  %-11s  %10s  %1s  %s\n", width, row.Target, mode, took, mark, tail)
		if row.Difference != nil {
			fmt.Fprintf(w, "  %-*s  %s\n", width, "", row.Difference)
		}
	}
}

// duration is a time for a person: three significant digits.
func duration(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f us", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// targets gives the sections of p that the names mean, all of them for no name.
func (p *program) targets(m *runner.Machine, names []string) ([]runner.Target, error) {
	var picked []int
	for _, n := range names {
		if n == interpTarget {
			continue // the reference is always in the table
		}
		hits := p.choose(n)
		if len(hits) == 0 {
			return nil, p.noSection(n)
		}
		for _, i := range hits {
			if !slices.Contains(picked, i) {
				picked = append(picked, i)
			}
		}
	}
	var out []runner.Target
	for i, s := range p.sections {
		if len(names) == 0 || slices.Contains(picked, i) {
			out = append(out, m.Target(s))
		}
	}
	return out, nil
}
