package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/runtime/runner"
)

func (a *app) checkCmd() *cobra.Command {
	c := a.command("check FILE...", "Check source files without building anything", cobra.MinimumNArgs(1), a.check)
	c.ValidArgsFunction = files("kera")
	return c
}

type checkJSON struct {
	Files       int       `json:"files"`
	Errors      int       `json:"errors"`
	Warnings    int       `json:"warnings"`
	Diagnostics diag.List `json:"diagnostics"`
}

func (a *app) check(ctx context.Context, args []string) error {
	all := diag.List{}
	for _, file := range args {
		c, err := checkFile(ctx, file)
		if err == nil {
			all = append(all, c.diags...)
			continue
		}
		if list := diagnostics(err); len(list) > 0 {
			all = append(all, list...)
			continue
		}
		return err
	}
	j := checkJSON{Files: len(args), Diagnostics: all}
	for _, d := range all {
		switch d.Severity {
		case diag.Error:
			j.Errors++
		case diag.Warning:
			j.Warnings++
		}
	}
	if j.Errors > 0 && !a.out.json {
		return all
	}
	if !a.out.json {
		a.out.diagnose(all)
	}
	err := a.out.result(j, func(w *bufio.Writer) {
		fmt.Fprintf(w, "%s: no errors", plural(len(args), "file"))
		if j.Warnings > 0 {
			fmt.Fprintf(w, ", %s", plural(j.Warnings, "warning"))
		}
		fmt.Fprintln(w)
	})
	if err == nil && j.Errors > 0 {
		return &exitError{code: exitDiagnostics, err: all, data: alreadyReported{}}
	}
	return err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (a *app) testCmd() *cobra.Command {
	c := a.command("test FILE...", "Run the test blocks on the interpreter and the configured targets", cobra.MinimumNArgs(1), a.test)
	c.ValidArgsFunction = files("kera")
	return c
}

type testJSON struct {
	File    string           `json:"file"`
	Module  string           `json:"module"`
	Name    string           `json:"name"`
	Place   *trapPlaceJSON   `json:"place,omitempty"` // of the trap on the interpreter
	Targets []testTargetJSON `json:"targets"`
}

type testTargetJSON struct {
	Target string `json:"target"`
	Status string `json:"status"` // passed, failed, not checked
	Reason string `json:"reason,omitempty"`
}

func (a *app) test(ctx context.Context, args []string) error {
	cfg, err := loadConfig(a.config)
	if err != nil {
		return err
	}
	ps := a.plugins(cfg)
	defer ps.close()
	tests, failures := []testJSON{}, diag.List{}
	var worst error // of a target
	for _, file := range args {
		c, err := buildFile(ctx, file, nil, true)
		if err != nil {
			return err
		}
		if c.diags.HasErrors() {
			return c.diags
		}
		a.out.diagnose(c.diags)
		ts, fs, bad, err := a.testFile(ctx, ps, file, c)
		if err != nil {
			return err
		}
		if worst == nil {
			worst = bad
		}
		tests, failures = append(tests, ts...), append(failures, fs...)
	}
	passed, checked := 0, 0
	for _, t := range tests {
		for _, r := range t.Targets {
			switch r.Status {
			case "passed":
				passed++
				checked++
			case "failed":
				checked++
			}
		}
	}
	err = a.out.result(tests, func(w *bufio.Writer) {
		for _, t := range tests {
			for _, r := range t.Targets {
				reason := ""
				if r.Reason != "" {
					reason = ": " + r.Reason
				}
				fmt.Fprintf(w, "%-11s %-14s %s %q%s\n", r.Status, r.Target, t.File, t.Name, reason)
			}
		}
		fmt.Fprintf(w, "%s, %d of %d runs passed\n", plural(len(tests), "test"), passed, checked)
	})
	switch {
	case err != nil:
		return err
	case len(failures) > 0:
		return &exitError{code: exitDiagnostics, err: failures, data: alreadyReported{}}
	case worst != nil:
		return &exitError{code: exitCode(ctx, worst), err: worst, data: alreadyReported{}}
	}
	return nil
}

// testFile runs the test blocks of one package: on the interpreter, whose word
// counts, and on each configured target, which must say the same; worst is the
// first failure of a target that it does not.
func (a *app) testFile(ctx context.Context, ps *plugins, file string, c *compiled) (out []testJSON, failures diag.List, worst, err error) {
	p := &program{path: file, source: true, graph: c.TestGraph, files: c.files}
	if len(ps.config.Targets) > 0 && len(c.Tests) > 0 {
		if err := a.compileAll(ctx, ps, p, ps.config.Targets); err != nil {
			return nil, nil, nil, err
		}
	}
	m := a.machine(ps)
	defer m.Close()
	targets, err := p.targets(m, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, t := range c.Tests {
		if strings.HasPrefix(t.Module, "std.") && !strings.HasPrefix(c.Program.Main.Name, "std.") {
			continue // the library's own tests are run where it is made
		}
		e, err := runner.Select(p.graph, t.Entry)
		if err != nil {
			return nil, nil, nil, err
		}
		a.out.progress("testing %s %q", file, t.Name)
		r, err := runner.Verify(ctx, e, targets, runner.Given(nil), func(string) {})
		if err != nil {
			return nil, nil, nil, a.runFailure(ctx, p, err)
		}
		j := testJSON{File: file, Module: t.Module, Name: t.Name}
		for _, row := range r.Rows {
			status := "passed"
			switch {
			case row.Status == runner.NotChecked:
				status = "not checked"
			case row.Trap != "" || row.Err != nil:
				status = "failed"
			}
			reason := row.Reason
			switch {
			case row.Difference != nil:
				reason = "differs from the interpreter: " + row.Difference.String()
			case row.Trap != "":
				reason = "trap: " + row.Trap
			}
			if row.Err != nil && worst == nil {
				worst = a.targetFailure(ctx, p, fmt.Errorf("test %q: %w", t.Name, row.Err))
			}
			j.Targets = append(j.Targets, testTargetJSON{row.Target, status, reason})
		}
		if o := r.Reference(); o.Trap != op.TrapNone {
			d, place := a.testFailure(ctx, p, e, t.Name, o.Trap)
			failures, j.Place = append(failures, d), place
		}
		out = append(out, j)
	}
	return out, failures, worst, nil
}

// testFailure says where a test's assertion does not hold.
func (a *app) testFailure(ctx context.Context, p *program, e *runner.Entry, name string, kind op.TrapKind) (*diag.Diagnostic, *trapPlaceJSON) {
	err := a.trapped(ctx, p, e, nil, kind, interpTarget)
	list := diagnostics(err)
	if len(list) == 0 {
		return mistake("", "test %q failed: %v", name, err), nil
	}
	d := list[0]
	d.Message = fmt.Sprintf("test %q failed: trap: %v", name, kind)
	d.Notes = slices.DeleteFunc(d.Notes, func(n string) bool { return n == noOutputs })
	var ee *exitError
	if errors.As(err, &ee) {
		if j, ok := ee.data.(trapJSON); ok {
			return d, j.Place
		}
	}
	return d, nil
}
