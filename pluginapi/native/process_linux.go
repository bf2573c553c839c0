package native

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/kera-lang/kera/pluginapi/native/wire"
	"golang.org/x/sys/unix"
)

// startTimeout bounds the time until a new runner answers.
const startTimeout = 10 * time.Second

// process is one running kera-runner.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	pipe   *os.File // what out reads; may hold a reply after the process ended
	stderr *tail
	waited chan struct{}
}

// tail keeps the last bytes written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const keep = 4096
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - keep; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.b))
}

// ensure starts the process if none runs and gives it all that is mapped.
func (r *Runner) ensure(ctx context.Context) error {
	if r.closed {
		return errors.New("native: runner is closed")
	}
	if r.proc != nil {
		return nil
	}
	if err := r.start(); err != nil {
		return err
	}
	var hello wire.Enc
	hello.U32(wire.Version)
	limit, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	reply, err := r.request(limit, wire.OpHello, hello.B)
	if limit.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("kera-runner: %s: no answer within %v; the process was ended", r.path, startTimeout)
	}
	if err != nil {
		return err
	}
	d := &wire.Dec{B: reply}
	if v := d.U32(); d.Err != nil || v != wire.Version {
		r.stop()
		return fmt.Errorf("native: %s speaks protocol %d, this program %d", r.path, v, wire.Version)
	}
	if err := json.Unmarshal(d.B, &r.info); err != nil {
		r.stop()
		return fmt.Errorf("native: probe of the runner: %w", err)
	}
	ids := make([]uint64, 0, len(r.buffers)+len(r.modules))
	for id := range r.buffers {
		ids = append(ids, id)
	}
	for id := range r.modules {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for _, id := range ids {
		if b := r.buffers[id]; b != nil {
			err = r.mapBuffer(ctx, b)
		} else {
			err = r.loadModule(ctx, r.modules[id])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) mapBuffer(ctx context.Context, b *Buffer) error {
	_, err := r.request(ctx, wire.OpMap, u64s(b.id, b.off, uint64(len(b.mem))))
	return err
}

func (r *Runner) loadModule(ctx context.Context, m *Module) error {
	_, err := r.request(ctx, wire.OpLoad, u64s(m.id, m.code.off, uint64(len(m.code.mem))))
	return err
}

func (r *Runner) start() error {
	dup, err := unix.FcntlInt(uintptr(r.file), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("native: shared memory: %w", err)
	}
	file := os.NewFile(uintptr(dup), "kera-buffers")
	defer file.Close()
	cmd := exec.Command(r.path, "--serve")
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.ExtraFiles = []*os.File{file} // descriptor wire.SharedFD
	p := &process{cmd: cmd, stderr: &tail{}, waited: make(chan struct{})}
	cmd.Stderr = p.stderr
	if p.in, err = cmd.StdinPipe(); err != nil {
		return fmt.Errorf("native: starting the runner: %w", err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("native: starting the runner: %w", err)
	}
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		out.Close()
		return fmt.Errorf("native: starting %s: %w", r.path, err)
	}
	p.out, p.pipe = bufio.NewReader(out), out
	go func() {
		_ = cmd.Wait() // the exit state is in cmd.ProcessState
		close(p.waited)
	}()
	r.proc = p
	return nil
}

// stop ends the process: by closing its input, by SIGKILL if it does not react.
func (r *Runner) stop() {
	p := r.proc
	if p == nil {
		return
	}
	r.proc = nil
	defer p.pipe.Close()
	p.in.Close()
	select {
	case <-p.waited:
	case <-time.After(time.Second):
		_ = p.cmd.Process.Kill()
		<-p.waited
	}
}

// request sends one frame and waits for the reply. When ctx ends first the
// process is killed.
func (r *Runner) request(ctx context.Context, op wire.Op, payload []byte) ([]byte, error) {
	p := r.proc
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	defer unwatch()
	err := wire.WriteFrame(p.in, op, payload)
	var got wire.Op
	var reply []byte
	if err == nil {
		got, reply, err = wire.ReadFrame(p.out)
	}
	switch {
	case err != nil:
		r.stop()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, r.died(p, err)
	case got == wire.OpError:
		return nil, fmt.Errorf("native: runner: %s", reply)
	case got != op:
		r.stop()
		return nil, fmt.Errorf("native: runner answered operation %d with %d", op, got)
	}
	return reply, nil
}

// ended tells the end of the process from an answer that makes no sense.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, unix.EPIPE)
}

// died describes a process that ended without an answer.
func (r *Runner) died(p *process, err error) error {
	msg := fmt.Sprintf("kera-runner: %s ended without an answer (%v)", r.path, p.cmd.ProcessState)
	if !ended(err) {
		msg = fmt.Sprintf("kera-runner: %s: %v (%v)", r.path, err, p.cmd.ProcessState)
	}
	if s := p.stderr.String(); s != "" {
		if i := strings.IndexByte(s, '\n'); i > 0 && len(s) > 400 {
			s = s[:i] // the first line of a crash says what it was
		}
		msg += ": " + s
	}
	return errors.New(msg)
}
