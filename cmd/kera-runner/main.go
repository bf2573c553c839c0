// Command kera-runner runs CPU artefacts. It is one small static program per
// architecture, started by pluginapi/native, and the process that a sandbox
// confines.
//
// It maps code read-execute (written before it becomes executable, never
// both) and buffers read-write from the shared file on descriptor 3, and
// calls phase functions through a few lines of assembly: on a stack of their
// own, with the FP control register set and restored. The collector and
// asynchronous preemption are off while code runs. A fault in generated code
// is reported with its code offset and ends the process with exit code 7; end
// of input, which comes with the death of the host, ends it at once.
//
// The control protocol is package pluginapi/native/wire.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/kera-lang/kera/pluginapi/native/wire"
)

const usage = `usage: kera-runner --probe    print what this machine can run, as JSON
       kera-runner --serve    serve pluginapi/native on stdin and stdout
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "--probe":
		var b []byte
		if b, err = json.MarshalIndent(probe(), "", "  "); err == nil {
			_, err = fmt.Println(string(b))
		}
	case "--serve":
		err = reexec()
		if err == nil {
			err = serve(os.Stdin, os.Stdout)
		}
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kera-runner:", err)
		os.Exit(2)
	}
}

// Probe is the answer to --probe and to Hello.
type Probe struct {
	Arch     string   `json:"arch"`
	OS       string   `json:"os"`
	CPU      string   `json:"cpu"`
	Features []string `json:"features"`
	Threads  int      `json:"threads"`
	Protocol int      `json:"protocol"`
}

func probe() Probe {
	return Probe{runtime.GOARCH, runtime.GOOS, cpuName(), cpuFeatures(), runtime.NumCPU(), wire.Version}
}

// reexec starts this program again with asynchronous preemption off, which
// the runtime reads from the environment only: its signals would interrupt
// generated code for nothing.
func reexec() error {
	const setting = "asyncpreemptoff=1"
	old := os.Getenv("GODEBUG")
	if strings.Contains(old, setting) {
		return nil
	}
	if old != "" {
		old += ","
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	env := []string{"GODEBUG=" + old + setting}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GODEBUG=") {
			env = append(env, v)
		}
	}
	return fmt.Errorf("restarting: %w", syscall.Exec(exe, os.Args, env))
}

// request is a frame read from the host.
type request struct {
	op      wire.Op
	payload []byte
}

func serve(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(-1)
	// An interrupt typed at a terminal reaches the whole group; when to stop is
	// the host's decision, which closes the input.
	signal.Ignore(os.Interrupt)
	runtime.LockOSThread()
	m, err := newMachine()
	if err != nil {
		return err
	}
	requests := make(chan request)
	go read(in, requests)
	n := 0
	for r := range requests {
		reply, err := m.handle(r.op, r.payload)
		op := r.op
		if err != nil {
			op, reply = wire.OpError, []byte(err.Error())
		}
		if err := wire.WriteFrame(out, op, reply); err != nil {
			return err
		}
		if m.faulted {
			os.Exit(wire.FaultExit)
		}
		if n++; n%4096 == 0 {
			runtime.GC() // no generated code is running
		}
	}
	return nil
}

// read forwards frames until the host closes its end or dies, and then ends
// the process even if generated code is running.
func read(in io.Reader, to chan<- request) {
	r := bufio.NewReader(in)
	for {
		op, payload, err := wire.ReadFrame(r)
		if errors.Is(err, io.EOF) {
			os.Exit(0)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "kera-runner: reading a request:", err)
			os.Exit(2)
		}
		to <- request{op, payload}
	}
}
