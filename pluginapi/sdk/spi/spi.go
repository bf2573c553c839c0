// Package spi holds the typed form of the backend protocol: the one internal
// form that the SDK hands to a vendor's code and the host hands to its callers,
// whatever protocol version carried it. Vendors use it through package sdk,
// hosts through package host, which alias every name.
//
// What must hold: nothing here knows the wire format, and a zero field always
// means "not stated", so that fields can be added.
package spi

import (
	"context"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/keg/section"
)

// Backend is what a vendor implements to compile. Methods may run concurrently
// and must return soon after ctx is cancelled.
//
// An error return means the plugin itself broke. What the user got wrong is a
// Diagnostic.
type Backend interface {
	// Info describes the plugin. It is called before anything else and must
	// not do work.
	Info() Info
	// Targets lists what the plugin compiles for.
	Targets(ctx context.Context) ([]Target, error)
	// Configure validates options for a target and changes nothing.
	Configure(ctx context.Context, triple string, options map[string]string) ([]Diagnostic, error)
	// Compile makes one section from job's graph, reporting to out. A nil
	// section with a nil error means the diagnostics sent to out say why not.
	Compile(ctx context.Context, job Job, out Reporter) (*Section, error)
}

// Supporter is implemented by backends that can refuse nodes. Without it every
// node counts as supported.
type Supporter interface {
	Support(ctx context.Context, job Job) (Support, error)
}

// Estimator is implemented by backends that predict without compiling.
type Estimator interface {
	Estimate(ctx context.Context, job Job) (Estimate, []Diagnostic, error)
}

// Reporter takes what Compile has to say on the way. It is safe for
// concurrent use.
type Reporter interface {
	Progress(Progress)
	Diagnose(Diagnostic)
}

// Executor is what a vendor implements to run its artifacts. Module and buffer
// handles are the implementation's own, never 0.
type Executor interface {
	// Probe says how the artifact would run on this machine, if at all.
	Probe(ctx context.Context, d *section.Descriptor) (Probe, error)
	Load(ctx context.Context, s *Section) (module uint64, err error)
	Unload(ctx context.Context, module uint64) error
	// Alloc returns a buffer of zero bytes.
	Alloc(ctx context.Context, bytes, align uint64) (buffer uint64, err error)
	CopyIn(ctx context.Context, buffer, offset uint64, src []byte) error
	CopyOut(ctx context.Context, buffer, offset uint64, dst []byte) error
	Free(ctx context.Context, buffer uint64) error
	// Invoke runs one entry to its end.
	Invoke(ctx context.Context, call Call) (Outcome, error)
}

// Info describes a plugin.
type Info struct {
	Name, Version string
	// KegMin and KegMax are the container versions the plugin reads, as
	// major<<16 | minor. Zero: the versions this SDK's reader knows.
	KegMin, KegMax uint32
	OpSetMin       uint32
	OpSetMax       uint32

	// Filled in by the SDK; a vendor leaves them empty.
	ProtocolMajor uint32
	ProtocolMinor uint32
	Capabilities  []Capability
}

// Has reports whether the plugin stated c.
func (i Info) Has(c Capability) bool {
	for _, x := range i.Capabilities {
		if x == c {
			return true
		}
	}
	return false
}

// Capability is a feature both sides must state before either relies on it.
type Capability uint8

// The capabilities of protocol v1.
const (
	CapUnknown Capability = iota
	CapGraphFile
	CapContentStore
	CapSupport
	CapEstimate
	CapExecutor
	CapSharedFile
)

var capabilityNames = [...]string{"unknown", "graph-file", "content-store", "support", "estimate", "executor", "shared-file"}

func (c Capability) String() string {
	if int(c) < len(capabilityNames) {
		return capabilityNames[c]
	}
	return capabilityNames[CapUnknown]
}

// Target is something a plugin compiles for.
type Target struct {
	Triple       string
	Summary      string
	FeatureSets  []FeatureSet
	DTypes       []string
	Ops          []OpSupport
	Composites   []digest.D // regions the mid-end should leave un-inlined
	MemorySpaces []Amount   // bytes
	VectorWidths []uint32   // bits
	Resources    []Amount
	Clocks       []uint64 // Hz
	Limits       Limits
	ArtifactKind string
	Determinism  Determinism
	Options      []Option
}

// FeatureSet is one combination of features that a section is compiled for.
type FeatureSet struct {
	Name     string
	Features []string // sorted
	Rank     uint32   // the highest that the machine has is run
}

// OpSupport says which dtypes of an op a target takes; none listed means all
// that the op's rule and the target's dtypes allow.
type OpSupport struct {
	Op     string
	DTypes []string
}

// Amount is a named quantity.
type Amount struct {
	Name   string
	Amount uint64
}

// Limits of a target; zero means none of its own.
type Limits struct{ MaxBufferBytes, MaxCodeBytes, MaxNodes uint64 }

// Determinism says whether a target can vary.
type Determinism uint8

// The determinism profiles.
const (
	DeterminismUnknown Determinism = iota
	DeterminismStrict
	DeterminismCreative
)

// Option documents one entry of the options map.
type Option struct {
	Name, Summary, Default string
	Values                 []string // the only values accepted, if any
}

// Job is one compilation, or a question about one.
type Job struct {
	Graph    *Graph
	Entries  []string // names of exports; empty means all
	Triple   string
	Features []string // one of the target's feature sets, sorted
	Options  map[string]string
}

// Section is a descriptor with its artifact. The host sets Descriptor.Plugin
// and Descriptor.Options itself.
type Section struct {
	Descriptor *section.Descriptor
	Artifact   []byte
}

// Progress of a compilation; Total 0 is unknown.
type Progress struct {
	Stage       string
	Done, Total uint64
}

// Support is the answer about a graph's nodes.
type Support struct {
	Groups  [][]digest.D // connected groups of nodes the target takes
	Refused []Refusal
}

// Refusal names a node the target does not take and says why.
type Refusal struct {
	Node   digest.D
	Reason string
}

// Estimate is a prediction; Confidence is 0 (unknown) to 1.
type Estimate struct {
	Resources     []Amount
	Min, Typ, Max uint64 // cycles
	Schedule      []Scheduled
	Confidence    float64
}

// Scheduled places one node in time, in cycles.
type Scheduled struct {
	Node          digest.D
	Start, Length uint64
}
