// Package native starts kera-runner and runs CPU artefacts in it.
//
// The client owns the shared file that holds the bytes of buffers and maps
// each buffer here and in the runner, so nothing is copied on a call. A
// Runner outlives its process: when generated code faults the process ends,
// the fault is returned as data, and the next call starts another process
// with the same buffers and modules.
//
// What must hold: the runner's process never outlives the Runner (Close or
// the end of its context kills it; the death of this process ends it), and
// a fault in generated code is a Fault, never a dead host.
package native

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// RunnerName is the file name of the runner.
const RunnerName = "kera-runner"

// EnvRunner names the environment variable that overrides where the runner is.
const EnvRunner = "KERA_RUNNER"

// Info is what the runner says about the machine.
type Info struct {
	Arch     string   `json:"arch"`
	OS       string   `json:"os"`
	CPU      string   `json:"cpu"`
	Features []string `json:"features"` // sorted
	Threads  int      `json:"threads"`
}

// Has reports whether the machine has every one of the features.
func (i Info) Has(features []string) (missing string, ok bool) {
	have := map[string]bool{}
	for _, f := range i.Features {
		have[f] = true
	}
	for _, f := range features {
		if !have[f] {
			return f, false
		}
	}
	return "", true
}

// Result of a call.
type Result struct {
	Trap        uint32 // kind, 0 for none
	Tile        uint64 // the trapping or faulting tile
	Phase       int
	Nanoseconds uint64 // of all repetitions, without the protocol
	Fault       *Fault
}

// Fault is a crash of generated code.
type Fault struct {
	Signal  string // "SIGSEGV"
	Offset  uint64 // of the faulting instruction in the artifact
	Inside  bool   // false: control had left the artifact and Offset means nothing
	Address uint64 // the address accessed, or of the instruction
}

func (f *Fault) String() string {
	where := "outside the artifact"
	if f.Inside {
		where = fmt.Sprintf("at code offset %#x", f.Offset)
	}
	return fmt.Sprintf("%s %s (address %#x)", f.Signal, where, f.Address)
}

// ErrMemory is wrapped when buffers are larger than this machine's memory.
var ErrMemory = errors.New("not enough memory")

// ErrRunnerMissing is wrapped by Find when there is no runner.
var ErrRunnerMissing = errors.New("kera-runner not found")

// Find looks for the runner: $KERA_RUNNER, next to this program, then PATH.
func Find() (string, error) {
	if p := os.Getenv(EnvRunner); p != "" {
		if _, err := os.Stat(p); err != nil {
			return "", fmt.Errorf("%w: %s=%s: %v", ErrRunnerMissing, EnvRunner, p, err)
		}
		return p, nil
	}
	if exe, err := os.Executable(); err == nil {
		p := filepath.Join(filepath.Dir(exe), RunnerName)
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	p, err := exec.LookPath(RunnerName)
	if err != nil {
		return "", fmt.Errorf("%w: not beside this program, not in PATH, and %s is not set", ErrRunnerMissing, EnvRunner)
	}
	return p, nil
}
