package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/cache"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// maxArtifact bounds what is taken from a plugin.
const maxArtifact = 1 << 31

// CompileRequest is a job with where to report to.
type CompileRequest struct {
	Job
	// Root is what the result depends on: the digest of the optimised graph or
	// region. Zero: the digest of the graph's bytes, which is always safe.
	Root digest.D
	// Progress may be nil. It is called from one goroutine at a time.
	Progress func(Progress)
}

// CompileResult is what a compilation gave.
type CompileResult struct {
	// Section is nil when Diagnostics hold an error.
	Section     *Section
	Diagnostics []Diagnostic
	Cached      bool
	Key         digest.D
	Duration    time.Duration // of the plugin's work and the protocol, or of the cache look-up
}

// Key returns the digest under which the request's result is cached.
func (p *Plugin) Key(r *CompileRequest) (digest.D, error) {
	bin, err := p.Digest()
	if err != nil {
		return digest.D{}, err
	}
	root := r.Root
	if root.IsZero() {
		root = r.Graph.Digest
	}
	return cache.Key(cache.Action{
		Root: root, Entries: r.Entries, Triple: r.Triple, Features: r.Features, Options: r.Options,
		Plugin: bin, Major: wire.Major, Minor: wire.Minor,
	}), nil
}

// Compile makes one section, from the cache if it is there.
func (p *Plugin) Compile(ctx context.Context, r CompileRequest) (*CompileResult, error) {
	start := time.Now()
	key, err := p.Key(&r)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	broken := p.broken[key]
	p.mu.Unlock()
	if broken != nil {
		return nil, broken
	}
	if p.spec.Cache != nil {
		if sec := p.cached(key, &r); sec != nil {
			return &CompileResult{Section: sec, Cached: true, Key: key, Duration: time.Since(start)}, nil
		}
	}
	var out *CompileResult
	stage := ""
	report := r.Progress
	r.Progress = func(x Progress) {
		stage = x.Stage
		if report != nil {
			report(x)
		}
	}
	err = p.call(ctx, "Compile", p.spec.CompileTimeout, func(ctx context.Context, proc *process) error {
		var err error
		out, err = p.compileOnce(ctx, proc, &r)
		return err
	})
	if err != nil {
		return nil, p.compileFailed(err, key, &r, stage)
	}
	out.Key = key
	// A result with warnings is not cached: they would be lost.
	if p.spec.Cache != nil && out.Section != nil && len(out.Diagnostics) == 0 {
		if err := p.store(key, out.Section); err != nil {
			p.spec.Log.Warn("result not cached", "error", err)
		}
	}
	out.Duration = time.Since(start)
	return out, nil
}

// cached returns a section from the cache, if it is there and fits.
func (p *Plugin) cached(key digest.D, r *CompileRequest) *Section {
	payload, ok := p.spec.Cache.Get(key)
	if !ok {
		return nil
	}
	d, art, err := section.Open(payload)
	if err != nil || d.Triple != r.Triple {
		p.spec.Cache.Remove(key)
		return nil
	}
	return &Section{Descriptor: d, Artifact: art}
}

func (p *Plugin) store(key digest.D, s *Section) error {
	payload, err := section.Pack(s.Descriptor, s.Artifact)
	if err != nil {
		return err
	}
	return p.spec.Cache.Put(key, payload)
}

// compileOnce runs the call in one process.
func (p *Plugin) compileOnce(ctx context.Context, proc *process, r *CompileRequest) (*CompileResult, error) {
	ref, err := proc.send(ctx, r.Graph)
	if err != nil {
		return nil, err
	}
	// Leaving early, on a malformed answer, must end the call.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := pb.NewBackendClient(proc.conn).Compile(ctx, &pb.CompileRequest{
		Graph: ref, Entries: r.Entries, Triple: r.Triple, Features: r.Features, Options: r.Options,
	})
	if err != nil {
		return nil, err
	}
	out := new(CompileResult)
	var art []byte
	failed := false
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if out.Section != nil {
			return nil, malformed("events after the result")
		}
		switch e := m.GetEvent().(type) {
		case *pb.CompileResponse_Progress:
			r.Progress(Progress{Stage: e.Progress.GetStage(), Done: e.Progress.GetDone(), Total: e.Progress.GetTotal()})
		case *pb.CompileResponse_Diagnostic:
			d := wire.FromDiagnostic(e.Diagnostic)
			failed = failed || d.Severity == spi.Error
			out.Diagnostics = append(out.Diagnostics, d)
		case *pb.CompileResponse_SectionChunk:
			c := e.SectionChunk
			if c.GetOffset() != uint64(len(art)) {
				return nil, malformed("section: chunk at %d where %d bytes have come", c.GetOffset(), len(art))
			}
			if len(c.GetData()) > maxArtifact-len(art) {
				return nil, malformed("section: artifact over %d bytes", maxArtifact)
			}
			art = append(art, c.GetData()...)
		case *pb.CompileResponse_Result:
			if out.Section, err = p.accept(proc, r, e.Result, art); err != nil {
				return nil, err
			}
		default:
			// An event of a later minor version.
		}
	}
	if failed {
		out.Section = nil
	} else if out.Section == nil {
		return nil, malformed("the stream ended with neither a result nor an error diagnostic")
	}
	return out, nil
}

// accept validates a section and states who made it.
func (p *Plugin) accept(proc *process, r *CompileRequest, res *pb.CompileResult, art []byte) (*Section, error) {
	if res.GetArtifactLength() != uint64(len(art)) {
		return nil, malformed("section: artifact of %d bytes announced, %d received", res.GetArtifactLength(), len(art))
	}
	want, err := wire.FromDigest("section: artifact digest", res.GetArtifactDigest())
	if err != nil {
		return nil, malformed("%v", err)
	}
	if got := digest.Plain(art); got != want {
		return nil, malformed("section: artifact has digest %s, %s announced", got.Short(), want.Short())
	}
	d, err := section.Unmarshal(res.GetSectionDescriptor())
	if err != nil {
		return nil, malformed("%v", err)
	}
	if err := d.CheckArtifact(uint64(len(art))); err != nil {
		return nil, malformed("section: %v", err)
	}
	if d.Triple != r.Triple {
		return nil, malformed("section: made for %s, asked for %s", d.Triple, r.Triple)
	}
	var names []string
	for _, e := range d.Entries {
		names = append(names, e.Name)
	}
	if asked := slices.Sorted(slices.Values(r.Entries)); len(asked) > 0 && !slices.Equal(names, asked) {
		return nil, malformed("section: has entries %s, asked for %s", strings.Join(names, ", "), strings.Join(asked, ", "))
	}
	bin, err := p.Digest()
	if err != nil {
		return nil, err
	}
	d.Plugin = section.Plugin{
		Name: proc.info.Name, Version: proc.info.Version, Binary: bin,
		ProtocolMajor: wire.Major, ProtocolMinor: min(wire.Minor, proc.info.ProtocolMinor),
	}
	d.Options = nil
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		d.Options = append(d.Options, section.Option{Name: k, Value: r.Options[k]})
	}
	if err := d.Check(); err != nil {
		return nil, malformed("section: %v", err)
	}
	return &Section{Descriptor: d, Artifact: art}, nil
}

// compileFailed completes a failure: the job it was about, how far it got, and
// a reproducer where the plugin is to blame.
func (p *Plugin) compileFailed(err error, key digest.D, r *CompileRequest, stage string) error {
	var e *Error
	if !errors.As(err, &e) || e.Call != "Compile" {
		return err
	}
	e.about(&r.Job)
	if stage != "" && (e.Kind == KindCrash || e.Kind == KindTimeout || e.Kind == KindBug) {
		e.Reason += fmt.Sprintf(", while %q", printable(stage))
	}
	switch e.Kind {
	case KindCrash:
		e.Reason = "twice on the same job; " + e.Reason
		p.mu.Lock()
		p.broken[key] = e
		p.mu.Unlock()
	case KindBug, KindMalformed, KindTimeout:
	default:
		return e
	}
	path, werr := p.reproducer(key, r)
	if werr != nil {
		p.spec.Log.Warn("no reproducer written", "error", werr)
		return e
	}
	e.Reproducer = path
	return e
}

// reproducer writes the job's graph where a developer of the plugin finds it.
// The name depends on the job only, so repeats do not pile up.
func (p *Plugin) reproducer(key digest.D, r *CompileRequest) (string, error) {
	if err := os.MkdirAll(p.spec.CrashDir, 0o700); err != nil {
		return "", err
	}
	name := "crash-" + safeName(p.spec.Name) + "-" + safeName(r.Triple) + "-" + key.Short() + ".keg"
	path := filepath.Join(p.spec.CrashDir, name)
	return path, cache.WriteFile(path, r.Graph.Bytes)
}

func safeName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
}
