package spi

import (
	"fmt"

	"github.com/kera-lang/kera/core/digest"
)

// Severity orders diagnostics; the zero value is an error, so that a forgotten
// field stops a build instead of letting it pass.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
	Note
)

func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Note:
		return "note"
	}
	return "error"
}

// Diagnostic says what the user got wrong, in terms of the graph. The host adds
// source places from the provenance of Nodes.
type Diagnostic struct {
	Severity Severity
	Code     string // stable within the plugin
	Summary  string
	Detail   string
	Nodes    []digest.D
	Spans    []Span
	Fixes    []Fix
}

// Span is a half-open byte range of a source file.
type Span struct {
	File         string
	Start, End   uint64
	Line, Column uint32
}

// Fix is a suggested replacement.
type Fix struct {
	Title       string
	Span        Span
	Replacement string
}

func (d Diagnostic) String() string {
	s := fmt.Sprintf("%s[%s]: %s", d.Severity, d.Code, d.Summary)
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	return s
}

// Errorf makes an error diagnostic about nodes.
func Errorf(code string, nodes []digest.D, format string, args ...any) Diagnostic {
	return Diagnostic{Code: code, Nodes: nodes, Summary: fmt.Sprintf(format, args...)}
}

// NodeError is a plugin fault that knows which nodes it is about. Return it, or
// panic with it, and the host's message names them.
type NodeError struct {
	Nodes []digest.D
	Err   error
}

func (e *NodeError) Error() string { return e.Err.Error() }

// Unwrap returns the fault itself.
func (e *NodeError) Unwrap() error { return e.Err }
