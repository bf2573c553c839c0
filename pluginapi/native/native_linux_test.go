package native

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"golang.org/x/sys/unix"
)

var buildRunner = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	// Reading the sources makes cached test results depend on them.
	sources, err := filepath.Glob(filepath.Join(root, "cmd", "kera-runner", "*"))
	if err != nil {
		return "", err
	}
	for _, f := range sources {
		if _, err := os.ReadFile(f); err != nil {
			return "", err
		}
	}
	path := filepath.Join(runnerDir, RunnerName)
	cmd := exec.Command("go", "build", "-o", path, "./cmd/kera-runner")
	cmd.Dir, cmd.Env = root, append(cmd.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(b))
	}
	return path, nil
})

// Functions at multiples of 32 bytes, assembled by GNU as.
const testCode = "" +
	// 0: out[0][tile] = in[0][tile] + 1
	"488b074c8b06448b0c8841ffc145890c8831c0c366662e0f1f84000000000090" +
	// 32: tile 3 traps 2, tile 5 traps 1
	"31c04883f9037505b8020000004883f9057505b801000000c30f1f8000000000" +
	// 64: load from 0x1234, at offset 7
	"48c7c0341200008b00c366662e0f1f84000000000066662e0f1f840000000000" +
	// 96: work[0] = ++out[0][0] != 5
	"4c8b06418b00ffc041890083f8050f95c00fb6c0890231c0c30f1f8000000000" +
	// 128: endless loop
	"ebfe66662e0f1f84000000000066662e0f1f84000000000f1f84000000000090" +
	// 160: ud2
	"0f0b66662e0f1f84000000000066662e0f1f84000000000f1f84000000000090" +
	// 192: store MXCSR to out[0], then load another into it
	"4c8b06410fae1868c09f00000fae14245831c0c366662e0f1f84000000000090" +
	// 224: idiv by zero, at offset 8
	"31c9b80100000099f7f9c366662e0f1f840000000000662e0f1f840000000000" +
	// 256: endless push
	"50ebfd"

func code(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(testCode)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var runnerDir string

// envAsHost makes the test binary a host that runs an endless loop in the
// runner it names, until it is killed.
const envAsHost = "KERA_TEST_AS_HOST"

func asHost(runner string) {
	ctx := context.Background()
	r, err := New(Options{Path: runner})
	if err != nil {
		panic(err)
	}
	code, err := hex.DecodeString(testCode)
	if err != nil {
		panic(err)
	}
	m, err := r.Load(ctx, code)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.proc.cmd.Process.Pid)
	_, err = m.Call(ctx, &section.Entry{WorkAlign: 64, Phases: []section.Phase{{Offset: 128, Tiles: 8}}}, nil, nil, CallOptions{})
	panic(err)
}

func TestMain(m *testing.M) {
	if runner := os.Getenv(envAsHost); runner != "" {
		asHost(runner)
	}
	dir, err := os.MkdirTemp("", "kera-native")
	if err != nil {
		panic(err)
	}
	runnerDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func start(t testing.TB) (*Runner, context.Context) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("not checked: the test code is for amd64")
	}
	path, err := buildRunner()
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, context.Background()
}

func entry(offset, tiles uint64, elems int64) *section.Entry {
	b := section.Buffer{DType: types.U32, Dims: []int64{elems}, Align: 64}
	return &section.Entry{Name: "main", Inputs: []section.Buffer{b}, Outputs: []section.Buffer{b}, Work: 64, WorkAlign: 64,
		Phases: []section.Phase{{Offset: offset, Tiles: tiles}}}
}

// setup loads the test code and makes one input and one output of n words.
func setup(t testing.TB, n uint64) (*Runner, *Module, []*Buffer, []*Buffer) {
	t.Helper()
	r, ctx := start(t)
	m, err := r.Load(ctx, code(t))
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.Alloc(ctx, 4*n)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Alloc(ctx, 4*n)
	if err != nil {
		t.Fatal(err)
	}
	return r, m, []*Buffer{in}, []*Buffer{out}
}

func TestTiles(t *testing.T) {
	const n = 5000
	_, m, in, out := setup(t, n)
	for i := 0; i < n; i++ {
		binary.LittleEndian.PutUint32(in[0].Bytes()[4*i:], uint32(i*i))
	}
	for _, threads := range []int{1, 2, 5} {
		res, err := m.Call(context.Background(), entry(0, n, n), in, out, CallOptions{Threads: threads})
		if err != nil || res.Trap != 0 || res.Fault != nil {
			t.Fatalf("%d threads: %+v, %v", threads, res, err)
		}
		for i := 0; i < n; i++ {
			if got := binary.LittleEndian.Uint32(out[0].Bytes()[4*i:]); got != uint32(i*i+1) {
				t.Fatalf("%d threads: element %d is %d", threads, i, got)
			}
		}
		clear(out[0].Bytes())
	}
}

func TestTrapOfLowestTile(t *testing.T) {
	_, m, in, out := setup(t, 1)
	for _, threads := range []int{1, 2, 4} {
		e := entry(32, 9, 1)
		e.Phases = append(e.Phases, section.Phase{Offset: 160, Tiles: 1}) // never reached
		res, err := m.Call(context.Background(), e, in, out, CallOptions{Threads: threads})
		if err != nil || res.Trap != 2 || res.Tile != 3 || res.Fault != nil {
			t.Errorf("%d threads: %+v, %v", threads, res, err)
		}
	}
}

func TestLoopPhases(t *testing.T) {
	_, m, in, out := setup(t, 1)
	e := entry(96, 1, 1)
	e.Phases[0].Loop = &section.Loop{Cond: 0, Back: 0}
	res, err := m.Call(context.Background(), e, in, out, CallOptions{})
	if err != nil || res.Trap != 0 || out[0].Bytes()[0] != 5 {
		t.Errorf("%+v, %v, count %d", res, err, out[0].Bytes()[0])
	}
}

func TestControlRegister(t *testing.T) {
	_, m, in, out := setup(t, 1)
	for i := 0; i < 2; i++ { // the second call sees what the first one left
		res, err := m.Call(context.Background(), entry(192, 1, 1), in, out, CallOptions{})
		if got := binary.LittleEndian.Uint32(out[0].Bytes()); err != nil || res.Fault != nil || got != 0x1f80 {
			t.Errorf("call %d: MXCSR %#x, %+v, %v", i, got, res, err)
		}
	}
}

func TestFaults(t *testing.T) {
	r, m, in, out := setup(t, 1)
	for _, c := range []struct {
		name           string
		offset, fault  uint64
		signal         string
		address, tiles uint64
	}{
		{"load", 64, 71, "SIGSEGV", 0x1234, 1},
		{"invalid instruction", 160, 160, "SIGILL", 0, 1},
		{"division", 224, 232, "SIGFPE", 0, 1},
		{"stack overflow", 256, 256, "SIGSEGV", 0, 1},
		{"on a second thread", 64, 71, "SIGSEGV", 0x1234, 64},
	} {
		res, err := m.Call(context.Background(), entry(c.offset, c.tiles, 1), in, out, CallOptions{Threads: 2})
		if err != nil || res.Fault == nil {
			t.Errorf("%s: %+v, %v", c.name, res, err)
			continue
		}
		if f := res.Fault; f.Signal != c.signal || f.Offset != c.fault || !f.Inside || c.address != 0 && f.Address != c.address {
			t.Errorf("%s: %v", c.name, f)
		}
		// The next call works: a new process has the same buffers and code.
		in[0].Bytes()[0] = 41
		res, err = m.Call(context.Background(), entry(0, 1, 1), in, out, CallOptions{})
		if err != nil || res.Fault != nil || out[0].Bytes()[0] != 42 {
			t.Errorf("after %s: %+v, %v", c.name, res, err)
		}
	}
	if err := in[0].Free(context.Background()); err != nil {
		t.Error(err)
	}
	if err := m.Unload(context.Background()); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestCancelKills(t *testing.T) {
	_, m, in, out := setup(t, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := m.Call(ctx, entry(128, 4, 1), in, out, CallOptions{})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
		t.Errorf("endless loop: %v after %v", err, time.Since(began))
	}
	res, err := m.Call(context.Background(), entry(0, 1, 1), in, out, CallOptions{})
	if err != nil || res.Fault != nil {
		t.Errorf("after the kill: %+v, %v", res, err)
	}
}

// TestInputEndsProcess: the end of input ends the runner in the middle of
// generated code, which is what happens when the host dies.
func TestInputEndsProcess(t *testing.T) {
	r, m, in, out := setup(t, 1)
	p := r.proc
	done := make(chan error)
	go func() {
		_, err := m.Call(context.Background(), entry(128, 4, 1), in, out, CallOptions{})
		done <- err
	}()
	time.Sleep(30 * time.Millisecond) // let it enter the loop; too early is also an end
	p.in.Close()
	select {
	case err := <-done:
		if err == nil {
			t.Error("the call returned a result")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the runner did not end")
	}
}

// TestHostKilled: when the host dies by SIGKILL the runner ends, though
// generated code never returns.
func TestHostKilled(t *testing.T) {
	r, _ := start(t)
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), envAsHost+"="+r.path)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // it was killed
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return // gone, or waiting for init to collect it
		}
		if time.Now().After(end) {
			_ = unix.Kill(pid, unix.SIGKILL)
			t.Fatalf("the runner still runs: %s", stat)
		}
	}
}

func TestAliasedOutputsAreRefused(t *testing.T) {
	_, m, in, out := setup(t, 1)
	if _, err := m.Call(context.Background(), entry(0, 1, 1), in, in, CallOptions{}); err == nil || !strings.Contains(err.Error(), "also another argument") {
		t.Errorf("got %v", err)
	}
	if res, err := m.Call(context.Background(), entry(0, 1, 1), in, out, CallOptions{}); err != nil || res.Fault != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// BenchmarkCall is the cost of a call that does next to nothing.
func BenchmarkCall(b *testing.B) {
	_, m, in, out := setup(b, 1)
	for b.Loop() {
		if _, err := m.Call(context.Background(), entry(0, 1, 1), in, out, CallOptions{Threads: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestBuffersAreZeroAndReused(t *testing.T) {
	r, ctx := start(t)
	for round := 0; round < 3; round++ {
		var bs []*Buffer
		for _, n := range []uint64{1, 4096, 10000, 0} {
			b, err := r.Alloc(ctx, n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Bytes() {
				if b.Bytes()[i] != 0 {
					t.Fatalf("round %d: byte %d is not zero", round, i)
				}
				b.Bytes()[i] = 0xff
			}
			bs = append(bs, b)
		}
		for _, b := range bs {
			if err := b.Free(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.size != 6*page {
		t.Errorf("shared file has %d bytes", r.size)
	}
}

func TestMissingRunner(t *testing.T) {
	t.Setenv(EnvRunner, "/nonexistent/kera-runner")
	if _, err := Find(); !errors.Is(err, ErrRunnerMissing) {
		t.Errorf("got %v", err)
	}
	r, err := New(Options{Path: "/nonexistent/kera-runner"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Info(context.Background()); err == nil || !strings.Contains(err.Error(), "/nonexistent/kera-runner") {
		t.Errorf("got %v", err)
	}
}
