package sdk

import (
	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// The typed protocol; see package spi for the documentation of each name.
type (
	Backend     = spi.Backend
	Supporter   = spi.Supporter
	Estimator   = spi.Estimator
	Reporter    = spi.Reporter
	Executor    = spi.Executor
	Info        = spi.Info
	Capability  = spi.Capability
	Target      = spi.Target
	FeatureSet  = spi.FeatureSet
	OpSupport   = spi.OpSupport
	Amount      = spi.Amount
	Limits      = spi.Limits
	Determinism = spi.Determinism
	Option      = spi.Option
	Job         = spi.Job
	Graph       = spi.Graph
	Section     = spi.Section
	Progress    = spi.Progress
	Support     = spi.Support
	Refusal     = spi.Refusal
	Estimate    = spi.Estimate
	Scheduled   = spi.Scheduled
	Severity    = spi.Severity
	Diagnostic  = spi.Diagnostic
	NodeError   = spi.NodeError
	Span        = spi.Span
	Fix         = spi.Fix
	RunMode     = spi.RunMode
	Probe       = spi.Probe
	Call        = spi.Call
	Outcome     = spi.Outcome
	Fault       = spi.Fault
)

// Constants of the typed protocol.
const (
	DeterminismStrict   = spi.DeterminismStrict
	DeterminismCreative = spi.DeterminismCreative

	Error   = spi.Error
	Warning = spi.Warning
	Note    = spi.Note

	RunNone      = spi.RunNone
	RunNative    = spi.RunNative
	RunEmulated  = spi.RunEmulated
	RunSimulated = spi.RunSimulated
)

// Errorf makes an error diagnostic about nodes.
func Errorf(code string, nodes []digest.D, format string, args ...any) Diagnostic {
	return spi.Errorf(code, nodes, format, args...)
}

// ReadGraph reads and validates a job's graph; see Graph.Decode.
func ReadGraph(g *Graph) (*graph.Graph, error) { return g.Decode() }
