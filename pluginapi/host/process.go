package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// Waiting times inside the host.
const (
	closeGrace = 1500 * time.Millisecond // for a plugin to end by itself
	killGrace  = 3 * time.Second         // for a killed one to be gone
	exitGrace  = time.Second             // for a process to follow its broken connection
	tailGrace  = 200 * time.Millisecond
)

// process is one running plugin process and the connection to it.
type process struct {
	client *plugin.Client
	runner *procRunner
	conn   *grpc.ClientConn
	info   spi.Info
	dir    string // private; holds the socket and graph files
	lock   *os.File
	stderr *tail
	stdout *tail

	mu       sync.Mutex
	graphs   map[string]bool // digests of graph files already in dir
	poisoned bool            // to be replaced: it hung or broke the protocol

	closeOnce sync.Once
}

func (p *process) hasExited() bool {
	select {
	case <-p.runner.exited:
		return true
	default:
		return false
	}
}

func (p *process) isPoisoned() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.poisoned
}

// poison ends a process that can no longer be trusted to answer.
func (p *process) poison() {
	p.mu.Lock()
	p.poisoned = true
	p.mu.Unlock()
	p.runner.killGroup()
}

// exitState waits a little for the process to end and says how it did.
func (p *process) exitState() (string, bool) {
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-p.runner.exited:
		p.stderr.settle(tailGrace)
		return p.runner.state, true
	case <-timer.C:
		return "", false
	}
}

// close ends the process, by asking and then by force, and waits for it.
func (p *process) close() {
	p.closeOnce.Do(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.client.Kill()
		}()
		await(done, closeGrace)
		p.runner.killGroup()
		await(done, killGrace)
		_ = os.RemoveAll(p.dir)
		p.lock.Close()
	})
}

func await(done <-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// connPlugin makes go-plugin hand out the connection itself.
type connPlugin struct{ plugin.NetRPCUnsupportedPlugin }

func (connPlugin) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("package host connects; package sdk serves")
}

func (connPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

// startProcess starts the executable and gets as far as GetInfo.
func (p *Plugin) startProcess(ctx context.Context, role string) (*process, error) {
	if info, err := os.Stat(p.spec.Path); err != nil {
		e := p.fail("start", KindMissing, err, nil)
		e.Reason = "no executable at " + p.spec.Path
		return nil, e
	} else if info.IsDir() || info.Mode()&0o111 == 0 {
		e := p.fail("start", KindStart, nil, nil)
		e.Reason = p.spec.Path + " is not an executable file"
		return nil, e
	}
	dir, lock, err := privateDir()
	if err != nil {
		return nil, p.fail("start", KindStart, err, nil)
	}
	proc := &process{dir: dir, lock: lock, stderr: newTail(), stdout: newTail(), graphs: map[string]bool{}}
	proc.runner = &procRunner{spec: &p.spec, role: role, dir: dir, proc: proc, exited: make(chan struct{})}
	hs := wire.Handshake()
	set := plugin.PluginSet{wire.BackendType: connPlugin{}, wire.ExecutorType: connPlugin{}}
	proc.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  hs,
		VersionedPlugins: map[int]plugin.PluginSet{wire.Major: set},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		// Only limit, below, decides that it took too long: two clocks would race.
		StartTimeout:     p.spec.StartTimeout + time.Minute,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
		Logger:           p.spec.Log,
		SyncStdout:       proc.stderr,
		SyncStderr:       proc.stderr,
		GRPCDialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(wire.MaxMessage), grpc.MaxCallSendMsgSize(wire.MaxMessage))},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
			proc.runner.cmd = cmd
			return proc.runner, nil
		},
	})
	limit, cancel := context.WithTimeout(ctx, p.spec.StartTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- proc.connect(limit, role, p.spec.HostVersion) }()
	select {
	case err = <-done:
	case <-limit.Done():
		proc.runner.killGroup()
		err = limit.Err()
	}
	if err == nil {
		return proc, nil
	}
	timedOut := ctx.Err() == nil && limit.Err() != nil
	// A plugin that ended by itself says more by how it did than go-plugin can.
	_, exited := proc.exitState()
	e := p.startError(proc, err, timedOut, exited)
	proc.close()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("plugin %s: start: %w", p.spec.Name, ctx.Err())
	}
	return nil, e
}

// connect does everything between fork and the answer of GetInfo.
func (p *process) connect(ctx context.Context, role, version string) error {
	if _, err := p.client.Start(); err != nil {
		return err
	}
	c, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := c.Dispense(role)
	if err != nil {
		return err
	}
	p.conn = raw.(*grpc.ClientConn)
	r, err := pb.NewBackendClient(p.conn).GetInfo(ctx, &pb.GetInfoRequest{
		HostVersion: version, ProtocolMinor: wire.Minor,
		Capabilities: wire.ToCapabilities([]spi.Capability{
			spi.CapGraphFile, spi.CapContentStore, spi.CapSupport, spi.CapEstimate, spi.CapExecutor, spi.CapSharedFile,
		}),
	})
	if err != nil {
		return err
	}
	p.info = wire.FromInfo(r)
	return nil
}

// startError turns a failed start into one clear message, from what the plugin
// printed rather than from go-plugin's wording.
func (p *Plugin) startError(proc *process, err error, timedOut, exited bool) *Error {
	e := p.fail("start", KindHandshake, err, proc)
	line := firstLine(proc.stdout.text())
	parts := strings.Split(line, "|")
	shaken := len(parts) >= 5 && parts[0] == fmt.Sprint(plugin.CoreProtocolVersion)
	state := ""
	if exited {
		state = proc.runner.state
	}
	switch {
	case proc.runner.startErr != nil:
		e.Kind = KindStart
		e.Reason = firstLine(proc.runner.startErr.Error())
	case timedOut && !shaken && line == "":
		e.Kind = KindTimeout
		e.Reason = fmt.Sprintf("no handshake within %v; the process was ended", p.spec.StartTimeout)
	case timedOut && shaken:
		e.Kind = KindTimeout
		e.Reason = fmt.Sprintf("no answer to GetInfo within %v; the process was ended", p.spec.StartTimeout)
	case shaken && parts[1] != fmt.Sprint(wire.Major):
		e.Kind = KindVersion
		e.Reason = fmt.Sprintf("it speaks protocol version %s, this host speaks %d", printable(parts[1]), wire.Major)
	case shaken && parts[4] != string(plugin.ProtocolGRPC):
		e.Reason = fmt.Sprintf("it speaks %q, this host speaks gRPC only", printable(parts[4]))
	case line != "" && !shaken:
		if len(line) > 80 {
			line = line[:80] + "..."
		}
		e.Reason = fmt.Sprintf("it printed %q on stdout, where the handshake belongs", printable(line))
	case exited:
		e.Kind = KindCrash
		e.Reason = "it ended before the handshake (" + state + ")"
		if shaken {
			e.Reason = "it ended after the handshake (" + state + ")"
		}
	}
	return e
}

// procRunner starts the process for go-plugin, in its own process group, with
// pipes of its own and a lifeline.
//
// The kernel signals a child when the *thread* that forked it ends, so the
// process is started, and waited for, by one goroutine that owns its thread.
type procRunner struct {
	spec *Spec
	role string
	dir  string
	proc *process
	cmd  *exec.Cmd

	stdout, stderr *os.File
	lifeline       *os.File // write end; closing it, or dying, ends the plugin
	pid            atomic.Int64
	startErr       error
	state          string // how the process ended; valid once exited is closed
	exited         chan struct{}
}

func (r *procRunner) Start(context.Context) error {
	r.startErr = r.start()
	return r.startErr
}

func (r *procRunner) start() error {
	env := append(r.cmd.Env, r.spec.Env...)
	r.cmd = exec.Command(r.spec.Path, r.spec.Args...)
	r.cmd.Env = append(env,
		wire.EnvRole+"="+r.role,
		wire.EnvDir+"="+r.dir,
		wire.EnvLifeline+"=3")
	r.cmd.SysProcAttr = procAttr()
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outW.Close()
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		return err
	}
	defer errW.Close()
	lifeR, lifeW, err := os.Pipe()
	if err != nil {
		outR.Close()
		errR.Close()
		return err
	}
	defer lifeR.Close()
	r.stdout, r.stderr, r.lifeline = outR, errR, lifeW
	r.cmd.Stdout, r.cmd.Stderr = outW, errW
	r.cmd.ExtraFiles = []*os.File{lifeR}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := r.cmd.Start()
		if err == nil {
			r.pid.Store(int64(r.cmd.Process.Pid))
		}
		started <- err
		if err != nil {
			return
		}
		_ = r.cmd.Wait()
		r.state = r.cmd.ProcessState.String()
		killGroup(int(r.pid.Load())) // children it left behind
		close(r.exited)
	}()
	if err := <-started; err != nil {
		outR.Close()
		errR.Close()
		lifeW.Close()
		close(r.exited)
		return err
	}
	return nil
}

// killGroup ends the process and its children. Once it is gone its number may
// belong to another.
func (r *procRunner) killGroup() {
	select {
	case <-r.exited:
	default:
		if pid := r.pid.Load(); pid != 0 {
			killGroup(int(pid))
		}
	}
}

func (r *procRunner) Wait(context.Context) error {
	<-r.exited
	r.lifeline.Close()
	r.stdout.Close()
	r.stderr.Close()
	return nil
}

func (r *procRunner) Kill(context.Context) error {
	r.killGroup()
	return nil
}

func (r *procRunner) Stdout() io.ReadCloser { return tee{r.stdout, r.proc.stdout, nil} }
func (r *procRunner) Stderr() io.ReadCloser { return tee{r.stderr, r.proc.stderr, r.spec.Stderr} }
func (r *procRunner) Name() string          { return r.spec.Path }

func (r *procRunner) ID() string {
	if pid := r.pid.Load(); pid != 0 {
		return fmt.Sprint(pid)
	}
	return ""
}

// Diagnose adds nothing: startError says it better.
func (r *procRunner) Diagnose(context.Context) string { return "" }

func (r *procRunner) PluginToHost(n, a string) (string, string, error) { return n, a, nil }
func (r *procRunner) HostToPlugin(n, a string) (string, string, error) { return n, a, nil }

// tee copies what is read to the tail and, maybe, to a writer.
type tee struct {
	*os.File
	tail *tail
	also io.Writer
}

func (t tee) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	_, _ = t.tail.Write(b[:n])
	if t.also != nil {
		_, _ = t.also.Write(b[:n])
	}
	if err != nil {
		t.tail.finish()
	}
	return n, err
}
