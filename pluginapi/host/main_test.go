package host_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kera-lang/kera/pluginapi/host"
)

// faulty is the path of the test plugin, built once for all tests.
var faulty string

// envTestID marks every process a test starts, so that a left-over one is found
// whatever became of its parent.
const envTestID = "KERA_TEST_ID"

// envAsHost makes the test binary a host that compiles until it is killed.
const envAsHost = "KERA_TEST_AS_HOST"

func TestMain(m *testing.M) {
	if mode := os.Getenv(envAsHost); mode != "" {
		asHost(mode)
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kera-host-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	faulty = filepath.Join(dir, host.BinaryPrefix+"faulty")
	build := exec.Command("go", "build", "-trimpath", "-o", faulty, "github.com/kera-lang/kera/plugins/faulty")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the test plugin:", err)
		return 1
	}
	return m.Run()
}

// asHost is the victim of TestHostKilled.
func asHost(mode string) {
	ctx := context.Background()
	p, err := host.Start(ctx, host.Spec{
		Name: "faulty", Path: os.Getenv("KERA_TEST_PLUGIN"), Env: []string{"KERA_FAULTY=" + startMode(mode)},
	})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	_, err = p.Compile(ctx, host.CompileRequest{
		Job:      job(map[string]string{"mode": mode}),
		Progress: func(host.Progress) { fmt.Println("compiling") },
	})
	fmt.Println("ended", err)
	os.Exit(1)
}

func startMode(mode string) string {
	if strings.HasSuffix(mode, "-start") {
		return mode
	}
	return "ok"
}

func job(options map[string]string) host.Job {
	return host.Job{
		Graph: host.NewGraph([]byte("a graph")), Entries: []string{"main"}, Triple: "faulty-none", Options: options,
	}
}

// spec runs the test plugin in a mode; afterwards nothing of it may be left.
func spec(t testing.TB, mode string) host.Spec {
	t.Helper()
	id := t.Name() + "-" + strconv.Itoa(os.Getpid())
	t.Cleanup(func() {
		for limit := time.Now().Add(3 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			left := processes(t, id)
			if len(left) == 0 {
				return
			}
			if time.Now().After(limit) {
				t.Errorf("processes left behind: %v", left)
				return
			}
		}
	})
	return host.Spec{
		Name: "faulty", Path: faulty, CrashDir: t.TempDir(),
		Env: []string{
			"KERA_FAULTY=" + mode, envTestID + "=" + id,
			"KERA_FAULTY_STATE=" + filepath.Join(t.TempDir(), "died"),
		},
	}
}

// processes lists the ids of live processes with the mark.
func processes(t testing.TB, id string) []int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, d := range dirs {
		b, err := os.ReadFile(d)
		if err != nil || !strings.Contains("\x00"+string(b), "\x00"+envTestID+"="+id+"\x00") {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(d, "/")[2]); err == nil {
			out = append(out, pid)
		}
	}
	return out
}
