// Command kerac checks, builds, runs, verifies and inspects Kera programs.
//
// It holds flags and output only: each command reads its arguments, calls one
// package and prints what it says. What must hold: results go to stdout and all
// else to stderr; an exit code means what exit.go says; no command leaves a
// half-written file or a process behind, also when interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
)

// version is set by the Makefile from the checkout.
var version = "unknown"

var errInterrupted = errors.New("interrupted")

func main() {
	os.Exit(kerac(os.Args[1:], os.Stdout, os.Stderr))
}

// kerac runs one command and returns its exit code.
func kerac(args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		cancel(errInterrupted)
		// Everything unwinds through its defers. A second signal means that the
		// person will not wait for that.
		if _, ok := <-signals; ok {
			os.Exit(exitCancelled)
		}
	}()

	out := newOutput(stdout, stderr, os.Getenv)
	err := execute(ctx, args, out)
	code := exitCode(ctx, err)
	if err != nil {
		out.fail(err, code)
	}
	return code
}

// execute turns an internal fault into an error, so that defers have run and the
// person reads what to report instead of a bare stack.
func execute(ctx context.Context, args []string, out *output) (err error) {
	defer func() {
		if r := recover(); r != nil {
			out.note("%s", debug.Stack())
			err = failf(exitPlugin, "internal fault: %v\nThis is a mistake in Kera, not in your program. "+
				"Please report it with the command line and the files it read.", r)
		}
	}()
	a := &app{out: out, getenv: os.Getenv}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out.stdout)
	root.SetErr(out.stderr)
	_, err = root.ExecuteContextC(ctx)
	var unclassified *exitError
	var unwritten *fs.PathError // of cobra's own commands, such as help
	if err != nil && !a.started && !errors.As(err, &unclassified) && !errors.As(err, &unwritten) && len(diagnostics(err)) == 0 {
		// Cobra's own complaints: flags and the number of arguments. It may have
		// stopped before it came to --json.
		out.json = out.json || slices.Contains(args, "--json")
		err = &exitError{code: exitUsage, err: fmt.Errorf("%w\nType 'kerac help' for what there is", err)}
	}
	return err
}
