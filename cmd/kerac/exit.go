package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/kera-lang/kera/core/diag"
)

// The exit codes. They are part of the command's interface and never renumbered.
const (
	exitOK          = 0
	exitDiagnostics = 1
	exitUsage       = 2
	exitDifference  = 3
	exitArtefact    = 4
	exitDenied      = 5 // reserved
	exitSandbox     = 6 // reserved
	exitFault       = 7
	exitPlugin      = 8
	exitTrap        = 9
	exitCancelled   = 130
)

// exitTable is what `kerac help exit-codes` prints.
var exitTable = []struct {
	code    int
	name    string
	meaning string
}{
	{exitOK, "ok", "everything asked for was done"},
	{exitDiagnostics, "diagnostics", "the program, an input or the configuration has a mistake"},
	{exitUsage, "usage", "the command line makes no sense"},
	{exitDifference, "difference", "two targets gave different bytes, or two graphs differ"},
	{exitArtefact, "artefact", "a .keg is damaged, too new, or lacks what was asked of it"},
	{exitDenied, "denied", "reserved: the policy does not allow it"},
	{exitSandbox, "sandbox", "reserved: the sandbox is not available"},
	{exitFault, "fault", "compiled code crashed"},
	{exitPlugin, "plugin", "a backend plugin is missing, broke, or cannot compile this"},
	{exitTrap, "trap", "the program trapped; it gave no outputs"},
	{exitCancelled, "cancelled", "interrupted"},
}

func exitName(code int) string {
	for _, row := range exitTable {
		if row.code == code {
			return row.name
		}
	}
	panic(fmt.Sprintf("BUG: exit code %d has no row", code))
}

// exitError carries the exit code of a failure. data goes into the JSON report.
type exitError struct {
	code int
	err  error
	data any
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func failf(code int, format string, args ...any) error {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

func usagef(format string, args ...any) error { return failf(exitUsage, format, args...) }

// exitCode maps an error to its code. An error nobody classified is a mistake in
// what was given: diagnostics.
func exitCode(ctx context.Context, err error) int {
	var ee *exitError
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errInterrupted):
		return exitCancelled
	case errors.As(err, &ee):
		return ee.code
	case errors.Is(err, context.Canceled):
		return exitCancelled
	}
	return exitDiagnostics
}

// diagnostics extracts the structured messages of an error.
func diagnostics(err error) diag.List {
	var list diag.List
	if errors.As(err, &list) {
		return list
	}
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		return diag.List{d}
	}
	return nil
}

// mistake is a diagnostic without a place in a source file.
func mistake(code diag.Code, format string, args ...any) *diag.Diagnostic {
	return diag.Errorf(code, diag.Span{}, format, args...)
}
