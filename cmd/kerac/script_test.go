package main

import (
	"errors"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands adds `code N COMMAND...`, which checks the exact exit code.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"code": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 2 {
				ts.Fatalf("usage: code N COMMAND ARG...")
			}
			want, err := strconv.Atoi(args[0])
			ts.Check(err)
			err = ts.Exec(args[1], args[2:]...)
			got := 0
			var exit *exec.ExitError
			switch {
			case errors.As(err, &exit):
				got = exit.ExitCode()
			case err != nil:
				ts.Fatalf("%v", err)
			}
			if got != want {
				ts.Fatalf("exit code %d, want %d", got, want)
			}
		},
	}
}
