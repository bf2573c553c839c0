package host

import "github.com/kera-lang/kera/pluginapi/sdk/spi"

// The typed protocol; see package spi for the documentation of each name.
type (
	Info       = spi.Info
	Capability = spi.Capability
	Target     = spi.Target
	FeatureSet = spi.FeatureSet
	OpSupport  = spi.OpSupport
	Amount     = spi.Amount
	Option     = spi.Option
	Job        = spi.Job
	Graph      = spi.Graph
	Section    = spi.Section
	Progress   = spi.Progress
	Support    = spi.Support
	Refusal    = spi.Refusal
	Estimate   = spi.Estimate
	Diagnostic = spi.Diagnostic
	Probe      = spi.Probe
	RunMode    = spi.RunMode
	Call       = spi.Call
	Outcome    = spi.Outcome
	Fault      = spi.Fault
)

// Constants of the typed protocol.
const (
	CapSupport  = spi.CapSupport
	CapEstimate = spi.CapEstimate
	CapExecutor = spi.CapExecutor

	SeverityError   = spi.Error
	SeverityWarning = spi.Warning
	SeverityNote    = spi.Note

	RunNone      = spi.RunNone
	RunNative    = spi.RunNative
	RunEmulated  = spi.RunEmulated
	RunSimulated = spi.RunSimulated
)

// NewGraph wraps the bytes of a `.keg` file.
func NewGraph(b []byte) *Graph { return spi.NewGraph(b) }
