package spi

import "github.com/kera-lang/kera/core/digest"

// RunMode says how an artifact would run on a machine.
type RunMode uint8

// The run modes.
const (
	RunNone RunMode = iota // not at all
	RunNative
	RunEmulated
	RunSimulated
)

var runModeNames = [...]string{"not at all", "natively", "emulated", "simulated"}

func (m RunMode) String() string {
	if int(m) < len(runModeNames) {
		return runModeNames[m]
	}
	return runModeNames[RunNone]
}

// Probe is the answer whether an artifact can run.
type Probe struct {
	Mode   RunMode
	Reason string // why not, or why not natively
	Device string // what runs it
}

// Call invokes one entry of a loaded module on buffers, one for each flattened
// leaf.
type Call struct {
	Module          uint64
	Entry           string
	Inputs, Outputs []uint64
	Threads         uint32 // 0: the executor's choice; it never changes the result
}

// Outcome of a call. With a trap or a fault the outputs are undefined.
type Outcome struct {
	Trap        uint32 // kind, 0 for none
	Nanoseconds uint64 // in the artifact
	Fault       *Fault
}

// Fault is a crash of the artifact, contained by the executor.
type Fault struct {
	Kind       string // "SIGSEGV"
	Detail     string
	CodeOffset uint64
	Node       digest.D // zero when unknown
}
