package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands adds to testscript's own:
//
//	code N COMMAND...          the exact exit code
//	interrupted N COMMAND...   SIGINT once a backend runs, then the exit code
//	killed COMMAND...          SIGKILL once a backend runs
//	gone NAME                  no process of this script's folder has the name
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"code": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 2 {
				ts.Fatalf("usage: code N COMMAND ARG...")
			}
			checkCode(ts, args[0], ts.Exec(args[1], args[2:]...))
		},
		"interrupted": func(ts *testscript.TestScript, neg bool, args []string) {
			signalled(ts, syscall.SIGINT, args[0], args[1:])
		},
		"killed": func(ts *testscript.TestScript, neg bool, args []string) {
			signalled(ts, syscall.SIGKILL, "-1", args)
		},
		"gone": func(ts *testscript.TestScript, neg bool, args []string) {
			left := waitFor(func() bool { return len(processes(ts, args[0])) == 0 })
			if !left {
				ts.Fatalf("still running: %v", processes(ts, args[0]))
			}
		},
	}
}

func checkCode(ts *testscript.TestScript, want string, err error) {
	n, convErr := strconv.Atoi(want)
	ts.Check(convErr)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != n {
		ts.Fatalf("exit code %d, want %d", got, n)
	}
}

// signalled starts a command in the background, waits until it has compiled long
// enough to have a backend that answered the handshake, and sends the signal.
func signalled(ts *testscript.TestScript, sig syscall.Signal, want string, args []string) {
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	c := exec.Command(path, args[1:]...)
	c.Dir = ts.MkAbs(".")
	c.Env = append(os.Environ(), scriptEnv(ts)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	ts.Check(c.Start())
	started := waitFor(func() bool { return len(processes(ts, "kera-backend-faulty")) > 0 })
	if started {
		// The backend says that it hangs; it has no other way to be seen from here.
		waitFor(func() bool { return connected(processes(ts, "kera-backend-faulty")) })
	}
	ts.Check(c.Process.Signal(sig))
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err = <-done:
	case <-time.After(20 * time.Second):
		c.Process.Kill()
		ts.Fatalf("not ended 20 s after %v", sig)
	}
	ts.Logf("[stderr]\n%s", stderr.String())
	if !started {
		ts.Fatalf("no backend was started")
	}
	checkCode(ts, want, err)
	if sig == syscall.SIGINT && strings.TrimSpace(stderr.String()) != "kerac: cancelled" {
		ts.Fatalf("it did not say so, and only so")
	}
}

// scriptEnv passes on what scripts set.
func scriptEnv(ts *testscript.TestScript) []string {
	var out []string
	for _, k := range []string{"KERA_FAULTY", "KERA_FAULTY_STATE", "KERA_PLUGIN_PATH", "KERA_RUNNER", "HOME", "XDG_CACHE_HOME", "WORK"} {
		out = append(out, k+"="+ts.Getenv(k))
	}
	return out
}

func waitFor(ok func() bool) bool {
	for range 1000 {
		if ok() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// processes lists the ids of processes whose executable has the name and that
// were started for this script: its folder is in their environment.
func processes(ts *testscript.TestScript, name string) []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		cmd, _ := os.ReadFile(d + "/cmdline")
		first, _, _ := strings.Cut(string(cmd), "\x00")
		env, _ := os.ReadFile(d + "/environ")
		if filepath.Base(first) == name && strings.Contains(string(env), "WORK="+ts.Getenv("WORK")) {
			out = append(out, filepath.Base(d))
		}
	}
	return out
}

// connected reports whether one of the processes has more than its standard files
// and a listening socket open: somebody speaks to it.
func connected(ids []string) bool {
	for _, id := range ids {
		sockets := 0
		fds, _ := os.ReadDir("/proc/" + id + "/fd")
		for _, fd := range fds {
			if to, _ := os.Readlink("/proc/" + id + "/fd/" + fd.Name()); strings.HasPrefix(to, "socket:") {
				sockets++
			}
		}
		if sockets >= 2 {
			return true
		}
	}
	return false
}
