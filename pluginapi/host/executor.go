package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/keg/section"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// inlineCopy is the size up to which bytes travel in the message; longer ones
// go through the shared file.
const inlineCopy = 64 << 10

// noLimit stands for calls whose length is the program's own: only the context
// ends them.
const noLimit = 365 * 24 * time.Hour

// Executor is a plugin's executor, in a process of its own. Its handles end
// with it. It is safe for concurrent use. A crash is not retried: the state of
// the device is gone.
type Executor struct {
	plugin *Plugin
	proc   *process
	client pb.ExecutorClient

	mu     sync.Mutex // guards the shared file
	shared *os.File
	path   string
}

// StartExecutor starts the executor of the plugin.
func (p *Plugin) StartExecutor(ctx context.Context) (*Executor, error) {
	proc, err := p.fresh(ctx, wire.ExecutorType)
	if err != nil {
		return nil, err
	}
	if !proc.info.Has(spi.CapExecutor) {
		e := p.fail("start", KindRefused, nil, proc)
		e.Reason = "it has no executor"
		p.release(proc)
		return nil, e
	}
	return &Executor{plugin: p, proc: proc, client: pb.NewExecutorClient(proc.conn)}, nil
}

// Close ends the executor's process.
func (x *Executor) Close() error {
	x.mu.Lock()
	if x.shared != nil {
		x.shared.Close()
		x.shared = nil
	}
	x.mu.Unlock()
	x.plugin.release(x.proc)
	return nil
}

func (x *Executor) call(ctx context.Context, name string, limit time.Duration, fn func(context.Context) error) error {
	return x.plugin.attempt(ctx, name, limit, x.proc, func(ctx context.Context, _ *process) error { return fn(ctx) })
}

// Probe asks how the section would run on this machine.
func (x *Executor) Probe(ctx context.Context, d *section.Descriptor) (out Probe, err error) {
	b, err := d.Marshal()
	if err != nil {
		return Probe{}, fmt.Errorf("probe: %w", err)
	}
	err = x.call(ctx, "Probe", x.plugin.spec.CallTimeout, func(ctx context.Context) error {
		r, err := x.client.Probe(ctx, &pb.ProbeRequest{SectionDescriptor: b})
		out = wire.FromProbe(r)
		return err
	})
	return out, err
}

// Load makes a section ready to run.
func (x *Executor) Load(ctx context.Context, s *Section) (module uint64, err error) {
	desc, err := s.Descriptor.Marshal()
	if err != nil {
		return 0, fmt.Errorf("load: %w", err)
	}
	sum := digest.Plain(s.Artifact)
	err = x.call(ctx, "Load", x.plugin.spec.CompileTimeout, func(ctx context.Context) error {
		stream, err := x.client.Load(ctx)
		if err != nil {
			return err
		}
		m := &pb.LoadRequest{SectionDescriptor: desc, ArtifactLength: uint64(len(s.Artifact)), ArtifactDigest: sum[:]}
		for at := 0; ; {
			end := min(at+wire.SendChunk, len(s.Artifact))
			m.Offset, m.Data = uint64(at), s.Artifact[at:end]
			if err := stream.Send(m); err != nil || end == len(s.Artifact) {
				break // CloseAndRecv has the reason
			}
			m, at = &pb.LoadRequest{}, end
		}
		r, err := stream.CloseAndRecv()
		if err == nil && r.GetModule() == 0 {
			return malformed("Load answered with handle 0")
		}
		module = r.GetModule()
		return err
	})
	return module, err
}

// Unload releases a module.
func (x *Executor) Unload(ctx context.Context, module uint64) error {
	return x.call(ctx, "Unload", x.plugin.spec.CallTimeout, func(ctx context.Context) error {
		_, err := x.client.Unload(ctx, &pb.UnloadRequest{Module: module})
		return err
	})
}

// Alloc makes a buffer of zero bytes.
func (x *Executor) Alloc(ctx context.Context, bytes, align uint64) (buffer uint64, err error) {
	err = x.call(ctx, "Alloc", x.plugin.spec.CallTimeout, func(ctx context.Context) error {
		r, err := x.client.Alloc(ctx, &pb.AllocRequest{Bytes: bytes, Align: align})
		if err == nil && r.GetBuffer() == 0 {
			return malformed("Alloc answered with handle 0")
		}
		buffer = r.GetBuffer()
		return err
	})
	return buffer, err
}

// Free releases a buffer.
func (x *Executor) Free(ctx context.Context, buffer uint64) error {
	return x.call(ctx, "Free", x.plugin.spec.CallTimeout, func(ctx context.Context) error {
		_, err := x.client.Free(ctx, &pb.FreeRequest{Buffer: buffer})
		return err
	})
}

// window returns the shared file with room for n bytes. The caller holds mu.
func (x *Executor) window(n int) (*pb.SharedRange, error) {
	if x.shared == nil {
		x.path = filepath.Join(x.proc.dir, "shared")
		f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		x.shared = f
	}
	return &pb.SharedRange{Path: x.path, Length: uint64(n)}, x.shared.Truncate(int64(n))
}

// useShared reports whether n bytes go through the shared file.
func (x *Executor) useShared(n int) bool {
	return n > inlineCopy && x.proc.info.Has(spi.CapSharedFile)
}

// CopyIn writes src into a buffer.
func (x *Executor) CopyIn(ctx context.Context, buffer, offset uint64, src []byte) error {
	if !x.useShared(len(src)) {
		for at := 0; at < len(src) || at == 0; at += wire.SendChunk {
			end := min(at+wire.SendChunk, len(src))
			err := x.copyIn(ctx, &pb.CopyInRequest{
				Buffer: buffer, Offset: offset + uint64(at), Source: &pb.CopyInRequest_Inline{Inline: src[at:end]},
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	win, err := x.window(len(src))
	if err != nil {
		return err
	}
	if _, err := x.shared.WriteAt(src, 0); err != nil {
		return err
	}
	return x.copyIn(ctx, &pb.CopyInRequest{Buffer: buffer, Offset: offset, Source: &pb.CopyInRequest_Shared{Shared: win}})
}

func (x *Executor) copyIn(ctx context.Context, r *pb.CopyInRequest) error {
	return x.call(ctx, "CopyIn", x.plugin.spec.CallTimeout, func(ctx context.Context) error {
		_, err := x.client.CopyIn(ctx, r)
		return err
	})
}

// CopyOut reads from a buffer into dst.
func (x *Executor) CopyOut(ctx context.Context, buffer, offset uint64, dst []byte) error {
	if !x.useShared(len(dst)) {
		for at := 0; at < len(dst); at += wire.SendChunk {
			end := min(at+wire.SendChunk, len(dst))
			r, err := x.copyOut(ctx, &pb.CopyOutRequest{Buffer: buffer, Offset: offset + uint64(at), Length: uint64(end - at)})
			if err != nil {
				return err
			}
			copy(dst[at:end], r.GetInline())
		}
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	win, err := x.window(len(dst))
	if err != nil {
		return err
	}
	if _, err := x.copyOut(ctx, &pb.CopyOutRequest{Buffer: buffer, Offset: offset, Length: win.Length, Shared: win}); err != nil {
		return err
	}
	_, err = x.shared.ReadAt(dst, 0)
	return err
}

func (x *Executor) copyOut(ctx context.Context, q *pb.CopyOutRequest) (r *pb.CopyOutResponse, err error) {
	err = x.call(ctx, "CopyOut", x.plugin.spec.CallTimeout, func(ctx context.Context) error {
		r, err = x.client.CopyOut(ctx, q)
		if err == nil && q.Shared == nil && uint64(len(r.GetInline())) != q.Length {
			return malformed("CopyOut gave %d bytes, %d asked for", len(r.GetInline()), q.Length)
		}
		return err
	})
	return r, err
}

// Invoke runs an entry and waits for its end. A fault of the artifact is an
// outcome, not an error.
func (x *Executor) Invoke(ctx context.Context, c Call) (out Outcome, err error) {
	err = x.call(ctx, "Invoke", noLimit, func(ctx context.Context) error {
		stream, err := x.client.Invoke(ctx, &pb.InvokeRequest{
			Module: c.Module, Entry: c.Entry, Inputs: c.Inputs, Outputs: c.Outputs, Threads: c.Threads,
		})
		if err != nil {
			return err
		}
		done := false
		for {
			m, err := stream.Recv()
			switch {
			case errors.Is(err, io.EOF) && done:
				return nil
			case errors.Is(err, io.EOF):
				return malformed("Invoke ended without a completion")
			case err != nil:
				return err
			}
			if r := m.GetCompleted(); r != nil {
				out, done = wire.FromOutcome(r), true
			}
		}
	})
	return out, err
}

// Run is the whole life of one call: buffers in, invoke, results out. inputs
// are the dense bytes of each flattened leaf. Without a trap or a fault the
// result has one value for each output of the entry.
func (x *Executor) Run(ctx context.Context, s *Section, module uint64, entry string, inputs [][]byte, threads uint32) ([][]byte, Outcome, error) {
	e, ok := s.Descriptor.Entry(entry)
	if !ok {
		return nil, Outcome{}, fmt.Errorf("section for %s has no entry %q", s.Descriptor.Triple, entry)
	}
	if len(inputs) != len(e.Inputs) {
		return nil, Outcome{}, fmt.Errorf("entry %q takes %d inputs, got %d", entry, len(e.Inputs), len(inputs))
	}
	call := Call{Module: module, Entry: entry, Threads: threads}
	defer func() {
		// With the context cancelled the buffers must go all the same.
		free, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.plugin.spec.CallTimeout)
		defer cancel()
		for _, b := range append(call.Inputs, call.Outputs...) {
			if x.proc.hasExited() || x.Free(free, b) != nil {
				return
			}
		}
	}()
	for i, b := range e.Inputs {
		if int64(len(inputs[i])) != b.Bytes() {
			return nil, Outcome{}, fmt.Errorf("entry %q: input %d (%s) takes %d bytes, got %d", entry, i, b.Type(), b.Bytes(), len(inputs[i]))
		}
		h, err := x.Alloc(ctx, uint64(b.Bytes()), uint64(b.Align))
		if err != nil {
			return nil, Outcome{}, err
		}
		call.Inputs = append(call.Inputs, h)
		if err := x.CopyIn(ctx, h, 0, inputs[i]); err != nil {
			return nil, Outcome{}, err
		}
	}
	for _, b := range e.Outputs {
		h, err := x.Alloc(ctx, uint64(b.Bytes()), uint64(b.Align))
		if err != nil {
			return nil, Outcome{}, err
		}
		call.Outputs = append(call.Outputs, h)
	}
	out, err := x.Invoke(ctx, call)
	if err != nil || out.Trap != 0 || out.Fault != nil {
		return nil, out, err
	}
	var results [][]byte
	for i, b := range e.Outputs {
		dst := make([]byte, b.Bytes())
		if err := x.CopyOut(ctx, call.Outputs[i], 0, dst); err != nil {
			return nil, Outcome{}, err
		}
		results = append(results, dst)
	}
	return results, out, nil
}
