// Package diag holds what Kera says to people about their programs: the
// diagnostic as data (code, severity, spans, notes, fix), the source file with
// its line index, one renderer, one JSON form and one table of all codes with
// the page that `kerac explain` prints.
//
// What must hold: a diagnostic is data until the last moment; its order in any
// output depends only on its content (Sort); every code that any package emits
// has a row in the table (a test reads the sources to check it); rendering never
// fails and never passes control bytes of a source file on to a terminal.
package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Severity orders diagnostics by how much they matter; the zero value is Error,
// so a forgotten field stops a build instead of letting it pass.
type Severity uint8

const (
	Error Severity = iota
	Warning
	Note
)

var severityNames = [...]string{Error: "error", Warning: "warning", Note: "note"}

func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return fmt.Sprintf("severity(%d)", uint8(s))
}

// MarshalText gives the name used in JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Code is the stable name of a kind of diagnostic: "K" and four digits. The
// first two digits say who emits it, see Ranges.
type Code string

// Span is a half-open range of bytes of one file. The zero Span means "no place".
type Span struct {
	File  *File
	Start int
	End   int
}

// IsValid reports whether the span names a place.
func (s Span) IsValid() bool { return s.File != nil }

// To joins two spans of one file into the smallest one holding both.
func (s Span) To(t Span) Span {
	if !s.IsValid() {
		return t
	}
	if !t.IsValid() || t.File != s.File {
		return s
	}
	return Span{s.File, min(s.Start, t.Start), max(s.End, t.End)}
}

// String is "name:line:column", the form editors jump to.
func (s Span) String() string {
	if !s.IsValid() {
		return "-"
	}
	p := s.File.Position(s.Start)
	return fmt.Sprintf("%s:%d:%d", s.File.Name, p.Line, p.Column)
}

// Text is the source the span covers.
func (s Span) Text() string {
	if !s.IsValid() {
		return ""
	}
	lo := min(max(s.Start, 0), len(s.File.Text))
	hi := min(max(s.End, lo), len(s.File.Text))
	return s.File.Text[lo:hi]
}

// Label is a related place with what it has to do with the matter ("moved here").
type Label struct {
	Span    Span
	Message string
}

// Edit replaces the text of a span.
type Edit struct {
	Span Span
	Text string
}

// Fix is a change that would resolve the diagnostic.
type Fix struct {
	Message string
	Edits   []Edit
}

// Diagnostic is one message. Primary is where the mistake is; PrimaryLabel is
// the short text printed after its carets and may be empty.
type Diagnostic struct {
	Severity     Severity
	Code         Code
	Message      string
	Primary      Span
	PrimaryLabel string
	Labels       []Label
	Notes        []string
	Fix          *Fix
}

// Errorf makes an error diagnostic.
func Errorf(code Code, at Span, format string, args ...any) *Diagnostic {
	return &Diagnostic{Severity: Error, Code: code, Primary: at, Message: fmt.Sprintf(format, args...)}
}

// Warnf makes a warning.
func Warnf(code Code, at Span, format string, args ...any) *Diagnostic {
	return &Diagnostic{Severity: Warning, Code: code, Primary: at, Message: fmt.Sprintf(format, args...)}
}

// Here sets the text printed after the primary carets.
func (d *Diagnostic) Here(format string, args ...any) *Diagnostic {
	d.PrimaryLabel = fmt.Sprintf(format, args...)
	return d
}

// Related adds a related place.
func (d *Diagnostic) Related(at Span, format string, args ...any) *Diagnostic {
	d.Labels = append(d.Labels, Label{at, fmt.Sprintf(format, args...)})
	return d
}

// Notef adds a note.
func (d *Diagnostic) Notef(format string, args ...any) *Diagnostic {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
	return d
}

// FixBy attaches a fix that replaces the text of one span.
func (d *Diagnostic) FixBy(message string, at Span, text string) *Diagnostic {
	if d.Fix == nil {
		d.Fix = &Fix{Message: message}
	}
	d.Fix.Edits = append(d.Fix.Edits, Edit{at, text})
	return d
}

// Error makes a diagnostic usable as an error: one line, no source.
func (d *Diagnostic) Error() string {
	s := d.Severity.String()
	if d.Code != "" { // a trap, or a backend's own, has none
		s += "[" + string(d.Code) + "]"
	}
	s += ": " + d.Message
	if !d.Primary.IsValid() {
		return s
	}
	return d.Primary.String() + ": " + s
}

// List collects diagnostics. The zero value is ready to use.
type List []*Diagnostic

// Add appends diagnostics.
func (l *List) Add(ds ...*Diagnostic) { *l = append(*l, ds...) }

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d *Diagnostic) bool { return d.Severity == Error })
}

// Sort orders by file name, place, severity, code, message and drops exact
// repeats, so the output does not depend on the order of discovery.
func (l *List) Sort() {
	slices.SortStableFunc(*l, compare)
	*l = slices.CompactFunc(*l, func(a, b *Diagnostic) bool { return compare(a, b) == 0 })
}

// Err is nil if the list holds no errors, else the list itself.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return l
}

// Error joins the one-line forms.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

func compare(a, b *Diagnostic) int {
	if c := strings.Compare(a.Primary.name(), b.Primary.name()); c != 0 {
		return c
	}
	for _, c := range [...]int{
		a.Primary.Start - b.Primary.Start,
		a.Primary.End - b.Primary.End,
		int(a.Severity) - int(b.Severity),
		strings.Compare(string(a.Code), string(b.Code)),
		strings.Compare(a.Message, b.Message),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

func (s Span) name() string {
	if s.File == nil {
		return ""
	}
	return s.File.Name
}
