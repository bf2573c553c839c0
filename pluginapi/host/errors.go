package host

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// Kind classifies plugin failures.
type Kind uint8

// The kinds of failure.
const (
	KindMissing   Kind = iota + 1 // no such executable
	KindStart                     // the executable could not be started
	KindHandshake                 // garbage, or nothing, where the handshake belongs
	KindVersion                   // no common protocol version
	KindTimeout                   // no answer in time; the process was ended
	KindCrash                     // the process ended during a call
	KindMalformed                 // an answer that breaks the protocol
	KindBug                       // the plugin reported an internal fault
	KindRefused                   // any other status from the plugin
	KindClosed                    // used after Close
)

var kindNames = map[Kind]string{
	KindMissing:   "not found",
	KindStart:     "cannot be started",
	KindHandshake: "bad handshake",
	KindVersion:   "wrong protocol version",
	KindTimeout:   "no answer in time",
	KindCrash:     "crashed",
	KindMalformed: "malformed answer",
	KindBug:       "internal fault",
	KindRefused:   "failed",
	KindClosed:    "used after Close",
}

func (k Kind) String() string { return kindNames[k] }

// ExitCode is what `kerac` exits with for every plugin failure.
const ExitCode = 8

// Error is a failure of a plugin or of the transport to it.
type Error struct {
	Kind       Kind
	Plugin     string // configured name
	Version    string // as the plugin said; empty before it could
	Path       string
	Call       string // protocol call, or "start"
	Target     string // triple and features, where the call has one
	Entries    []string
	Nodes      []digest.D // as far as known
	Reason     string     // one line
	Stderr     []string   // last lines
	Reproducer string     // path of a `.keg`, if one was written
	Err        error
}

// ExitCode returns the exit code of the command, 8.
func (e *Error) ExitCode() int { return ExitCode }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Summary is the message in one line, without stderr.
func (e *Error) Summary() string {
	var b strings.Builder
	b.WriteString("plugin " + e.Plugin)
	if e.Version != "" {
		b.WriteString(" " + e.Version)
	}
	b.WriteString(": " + e.Call)
	if e.Target != "" {
		b.WriteString(" for " + e.Target)
	}
	if len(e.Entries) > 0 {
		b.WriteString(" of " + strings.Join(e.Entries, ", "))
	}
	b.WriteString(": " + e.Kind.String())
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	return b.String()
}

// Error is the whole message: the summary, then a line each for nodes, the
// reproducer and the end of stderr.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Summary())
	if len(e.Nodes) > 0 {
		b.WriteString("\n  nodes:")
		for _, n := range e.Nodes {
			b.WriteString(" " + n.Short())
		}
	}
	if e.Reproducer != "" {
		b.WriteString("\n  reproducer: " + e.Reproducer)
	}
	for _, l := range e.Stderr {
		b.WriteString("\n  stderr: " + l)
	}
	return b.String()
}

// fail makes an Error; proc may be nil.
func (p *Plugin) fail(call string, kind Kind, cause error, proc *process) *Error {
	e := &Error{Kind: kind, Plugin: p.spec.Name, Path: p.spec.Path, Call: call, Err: cause}
	if e.Plugin == "" {
		e.Plugin = filepath.Base(e.Path)
	}
	if cause != nil {
		e.Reason = firstLine(cause.Error())
	}
	if proc != nil {
		e.Version = proc.info.Version
		e.Stderr = proc.stderr.lines()
	}
	return e
}

// about adds what the job says. A job that names no entries means all of them.
func (e *Error) about(j *spi.Job) *Error {
	e.Target = targetName(j)
	e.Entries = j.Entries
	if len(e.Entries) == 0 {
		if g, err := j.Graph.Decode(); err == nil {
			for _, x := range g.Exports {
				e.Entries = append(e.Entries, x.Name)
			}
		}
	}
	return e
}

func targetName(j *spi.Job) string {
	if len(j.Features) == 0 {
		return j.Triple
	}
	return fmt.Sprintf("%s (%s)", j.Triple, strings.Join(j.Features, ","))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
