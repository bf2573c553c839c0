// Command kera-backend-faulty is a backend for tests: it serves a trivial
// target and, on demand, misbehaves in every way a plugin can.
//
// The mode comes from $KERA_FAULTY or from the compile option "mode"; the table
// `modes` lists them. What must hold: in mode ok it is a correct plugin.
package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kera-lang/kera/pluginapi/sdk"
)

// modes are the ways to misbehave.
var modes = []struct{ name, what string }{
	{"ok", "behaves"},
	{"garbage", "prints to stdout before the SDK can take it away"},
	{"stdout", "prints to stdout, from Go and to descriptor 1, at start and in every call"},
	{"exit-start", "ends before the handshake"},
	{"hang-start", "never sends the handshake"},
	{"hang-handshake", "sends the handshake and never answers"},
	{"wrong-version", "speaks protocol version 99"},
	{"hang", "never ends compiling, but obeys cancellation"},
	{"ignore-cancel", "never ends compiling and ignores cancellation"},
	{"die-once", "is killed in the first compilation (a file named by $KERA_FAULTY_STATE remembers)"},
	{"die-twice", "is killed in every compilation"},
	{"malformed", "sends a descriptor that does not decode"},
	{"bad-digest", "sends an artifact that does not have its digest"},
	{"short", "sends less of the artifact than it announces"},
	{"wrong-entries", "sends a section without the entries asked for"},
	{"no-result", "ends the stream without a result"},
	{"unknown-fields", "adds fields, enum values and events of a later version"},
	{"panic", "panics while compiling"},
	{"diagnostic", "reports that the user is wrong"},
	{"warning", "compiles and warns"},
}

func main() {
	mode := os.Getenv("KERA_FAULTY")
	switch mode {
	case "garbage":
		fmt.Println("Welcome to libvendor 3.1 (evaluation licence)")
	case "exit-start":
		fmt.Fprintln(os.Stderr, "libvendor: no licence found")
		os.Exit(7)
	case "hang-start":
		time.Sleep(time.Hour)
	case "hang-handshake":
		fmt.Println("1|1|unix|" + silentSocket() + "|grpc")
		time.Sleep(time.Hour)
	case "wrong-version":
		fmt.Println("1|99|unix|/nonexistent|grpc")
		time.Sleep(time.Hour)
	}
	b := &backend{mode: mode}
	sdk.Serve(sdk.Plugin{Backend: b, Executor: newExecutor()}, tamper(b)...)
}

// silentSocket listens and never accepts.
func silentSocket() string {
	path := os.Getenv("KERA_PLUGIN_DIR") + "/silent"
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	}
	if err == nil {
		err = unix.Listen(fd, 8)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return path
}
