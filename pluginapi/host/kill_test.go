package host_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestHostKilled kills a host with SIGKILL while its plugin compiles, and while
// its plugin hangs before the SDK has taken over; the plugin must go, and its
// private directory with it.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"hang", "ignore-cancel", "hang-start"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			tmp, err := os.MkdirTemp("/tmp", "kt")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(tmp)
			id := t.Name() + "-" + strconv.Itoa(os.Getpid())
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), envAsHost+"="+mode, "KERA_TEST_PLUGIN="+faulty, envTestID+"="+id, "TMPDIR="+tmp)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if mode == "hang-start" {
				waitFor(t, "the plugin to start", func() bool { return len(processes(t, id)) == 2 })
			} else if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "compiling\n" {
				t.Fatalf("host said %q, %v", line, err)
			}
			waitFor(t, "host and plugin to be there", func() bool { return len(processes(t, id)) == 2 })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			waitFor(t, "the plugin to follow its host", func() bool { return len(processes(t, id)) == 0 })
			if mode == "hang-start" {
				return // ended by the kernel before any of the SDK ran
			}
			left, err := filepath.Glob(filepath.Join(tmp, "kera-*"))
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %s %v", strings.Join(left, " "), err)
			}
		})
	}
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for limit := time.Now().Add(5 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("waited too long for " + what)
		}
	}
}
