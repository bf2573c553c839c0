// Package host starts backend plugins and speaks to them: the client half of
// the backend protocol.
//
// A Plugin is one executable. Its compiler process starts at the first call,
// stays warm across targets and is ended by Close; its executor is a process of
// its own. Calls go over gRPC on a Unix socket in a private directory.
//
// What must hold: whatever the plugin does - missing, garbage on stdout,
// another protocol, a hang, a crash, a malformed section - the caller gets one
// *Error that names plugin, version, call and the tail of its stderr; no
// process outlives its Plugin, nor the host if the host is killed; a crash
// costs one retry in a fresh process, and a second one fails that job only.
// What the user got wrong is not an error but Diagnostics in the result.
package host

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/pluginapi/cache"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
)

// ProtocolMajor and ProtocolMinor are the newest protocol version this host
// speaks.
const (
	ProtocolMajor = wire.Major
	ProtocolMinor = wire.Minor
)

// Default limits on time.
const (
	DefaultStartTimeout   = 10 * time.Second
	DefaultCallTimeout    = 30 * time.Second
	DefaultCompileTimeout = 10 * time.Minute
)

// Spec says which plugin to run and how. Only Name and Path are needed.
type Spec struct {
	Name string   // as in `kera-backend-NAME`, for messages
	Path string   // the executable
	Args []string // without the name of the program
	Env  []string // added to the host's own environment

	HostVersion string

	StartTimeout   time.Duration // process start up to the answer of GetInfo
	CallTimeout    time.Duration // every call but Compile, Estimate and Invoke
	CompileTimeout time.Duration // Compile and Estimate

	Cache    *cache.Store // nil: compile always
	CrashDir string       // where reproducers go; empty: the user's cache folder
	Log      hclog.Logger // nil: silent
	Stderr   io.Writer    // gets the plugin's stderr as it comes; nil: only the tail is kept
}

// Plugin is one backend executable. It is safe for concurrent use.
type Plugin struct {
	spec Spec

	mu     sync.Mutex
	proc   *process // the warm compiler process, nil before the first call
	closed bool
	all    map[*process]struct{}
	info   *Info // of the last start

	digestOnce sync.Once
	digest     digest.D
	digestErr  error

	broken map[digest.D]*Error // jobs that crashed the plugin twice
}

// New returns a plugin that starts when it is first needed.
func New(spec Spec) *Plugin {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&spec.StartTimeout, DefaultStartTimeout)
	def(&spec.CallTimeout, DefaultCallTimeout)
	def(&spec.CompileTimeout, DefaultCompileTimeout)
	if spec.Log == nil {
		spec.Log = hclog.NewNullLogger()
	}
	if spec.CrashDir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			base = os.TempDir()
		}
		spec.CrashDir = filepath.Join(base, "kera", "crashes")
	}
	return &Plugin{spec: spec, all: map[*process]struct{}{}, broken: map[digest.D]*Error{}}
}

// Start returns a plugin whose compiler process is up and has said who it is.
func Start(ctx context.Context, spec Spec) (*Plugin, error) {
	p := New(spec)
	if _, err := p.warm(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Name returns the configured name.
func (p *Plugin) Name() string { return p.spec.Name }

// Path returns the executable.
func (p *Plugin) Path() string { return p.spec.Path }

// Digest returns SHA3-256 of the executable, read once.
func (p *Plugin) Digest() (digest.D, error) {
	p.digestOnce.Do(func() {
		p.digest, p.digestErr = cache.FileDigest(p.spec.Cache, p.spec.Path)
		if p.digestErr != nil {
			p.digestErr = p.fail("start", KindMissing, p.digestErr, nil)
		}
	})
	return p.digest, p.digestErr
}

// Info starts the plugin if need be and returns what it said about itself.
func (p *Plugin) Info(ctx context.Context) (Info, error) {
	proc, err := p.warm(ctx)
	if err != nil {
		return Info{}, err
	}
	return proc.info, nil
}

// warm returns the running compiler process, starting one if there is none.
func (p *Plugin) warm(ctx context.Context) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, p.fail("start", KindClosed, nil, nil)
	}
	if p.proc != nil && !p.proc.hasExited() && !p.proc.isPoisoned() {
		return p.proc, nil
	}
	if p.proc != nil {
		old := p.proc
		delete(p.all, old)
		go old.close()
		p.proc = nil
	}
	proc, err := p.startLocked(ctx, wire.BackendType)
	if err != nil {
		return nil, err
	}
	p.proc = proc
	return proc, nil
}

// fresh returns a new process for one job alone.
func (p *Plugin) fresh(ctx context.Context, role string) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, p.fail("start", KindClosed, nil, nil)
	}
	return p.startLocked(ctx, role)
}

func (p *Plugin) startLocked(ctx context.Context, role string) (*process, error) {
	proc, err := p.startProcess(ctx, role)
	if err != nil {
		return nil, err
	}
	p.all[proc] = struct{}{}
	if role == wire.BackendType {
		p.info = &proc.info
	}
	return proc, nil
}

// release ends a process that fresh made.
func (p *Plugin) release(proc *process) {
	p.mu.Lock()
	delete(p.all, proc)
	p.mu.Unlock()
	proc.close()
}

// Close ends every process of the plugin and waits until they are gone.
func (p *Plugin) Close() error {
	p.mu.Lock()
	p.closed = true
	list := p.all
	p.all, p.proc = map[*process]struct{}{}, nil
	p.mu.Unlock()
	var wg sync.WaitGroup
	for proc := range list {
		wg.Go(proc.close)
	}
	wg.Wait()
	return nil
}
