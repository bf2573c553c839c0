package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/native"
	"github.com/kera-lang/kera/pluginapi/sdk"
)

// executor runs artifacts in kera-runner. Buffers are memory shared with it,
// so values stay where they are between calls.
type executor struct {
	open   sync.Once
	runner *native.Runner
	err    error

	mu      sync.Mutex
	next    uint64
	modules map[uint64]*module
	buffers map[uint64]*native.Buffer
}

type module struct {
	code *native.Module
	desc *section.Descriptor
}

func newExecutor() *executor {
	return &executor{modules: map[uint64]*module{}, buffers: map[uint64]*native.Buffer{}}
}

// start finds the runner when it is first needed.
func (e *executor) start() (*native.Runner, error) {
	e.open.Do(func() { e.runner, e.err = native.New(native.Options{}) })
	return e.runner, e.err
}

func (e *executor) Probe(ctx context.Context, d *section.Descriptor) (sdk.Probe, error) {
	if d.Kind != section.KindCode {
		return sdk.Probe{Reason: fmt.Sprintf("artifact kind %q is not %q", d.Kind, section.KindCode)}, nil
	}
	r, err := e.start()
	if err != nil {
		return sdk.Probe{Reason: err.Error()}, nil
	}
	info, err := r.Info(ctx)
	if err != nil {
		return sdk.Probe{}, err
	}
	p := sdk.Probe{Mode: sdk.RunNative, Device: info.CPU}
	if info.Arch != "amd64" {
		p.Mode, p.Reason = sdk.RunNone, fmt.Sprintf("this machine is %s", info.Arch)
	} else if missing, ok := info.Has(d.Features); !ok {
		p.Mode, p.Reason = sdk.RunNone, fmt.Sprintf("the processor has no %s", missing)
	}
	return p, nil
}

// insert gives a value the next handle.
func insert[T any](e *executor, to map[uint64]T, v T) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	to[e.next] = v
	return e.next
}

// take looks a handle up and, with remove, forgets it.
func take[T any](e *executor, from map[uint64]T, what string, id uint64, remove bool) (T, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := from[id]
	if !ok {
		return v, fmt.Errorf("no %s %d", what, id)
	}
	if remove {
		delete(from, id)
	}
	return v, nil
}

func (e *executor) Load(ctx context.Context, s *sdk.Section) (uint64, error) {
	r, err := e.start()
	if err != nil {
		return 0, err
	}
	p, err := e.Probe(ctx, s.Descriptor)
	if err != nil {
		return 0, err
	}
	if p.Mode != sdk.RunNative {
		return 0, fmt.Errorf("the artifact cannot run here: %s", p.Reason)
	}
	m, err := r.Load(ctx, s.Artifact)
	if err != nil {
		return 0, err
	}
	return insert(e, e.modules, &module{m, s.Descriptor}), nil
}

func (e *executor) Unload(ctx context.Context, id uint64) error {
	m, err := take(e, e.modules, "module", id, true)
	if err != nil {
		return err
	}
	return m.code.Unload(ctx)
}

func (e *executor) Alloc(ctx context.Context, bytes, align uint64) (uint64, error) {
	if align > 4096 {
		return 0, fmt.Errorf("alignment %d exceeds a page", align)
	}
	r, err := e.start()
	if err != nil {
		return 0, err
	}
	b, err := r.Alloc(ctx, bytes)
	if err != nil {
		return 0, err
	}
	return insert(e, e.buffers, b), nil
}

// window is a part of a buffer's memory.
func (e *executor) window(id, offset uint64, n int) ([]byte, error) {
	b, err := take(e, e.buffers, "buffer", id, false)
	if err != nil {
		return nil, err
	}
	mem := b.Bytes()
	if offset > uint64(len(mem)) || uint64(n) > uint64(len(mem))-offset {
		return nil, fmt.Errorf("buffer %d has %d bytes, not %d at %d", id, len(mem), n, offset)
	}
	return mem[offset : offset+uint64(n)], nil
}

func (e *executor) CopyIn(_ context.Context, buffer, offset uint64, src []byte) error {
	w, err := e.window(buffer, offset, len(src))
	copy(w, src)
	return err
}

func (e *executor) CopyOut(_ context.Context, buffer, offset uint64, dst []byte) error {
	w, err := e.window(buffer, offset, len(dst))
	copy(dst, w)
	return err
}

func (e *executor) Free(ctx context.Context, buffer uint64) error {
	b, err := take(e, e.buffers, "buffer", buffer, true)
	if err != nil {
		return err
	}
	return b.Free(ctx)
}

func (e *executor) Invoke(ctx context.Context, call sdk.Call) (sdk.Outcome, error) {
	m, err := take(e, e.modules, "module", call.Module, false)
	if err != nil {
		return sdk.Outcome{}, err
	}
	entry, ok := m.desc.Entry(call.Entry)
	if !ok {
		return sdk.Outcome{}, fmt.Errorf("module has no entry %q", call.Entry)
	}
	bufs := make([]*native.Buffer, 0, len(call.Inputs)+len(call.Outputs))
	for _, ids := range [][]uint64{call.Inputs, call.Outputs} {
		for _, id := range ids {
			b, err := take(e, e.buffers, "buffer", id, false)
			if err != nil {
				return sdk.Outcome{}, err
			}
			bufs = append(bufs, b)
		}
	}
	n := len(call.Inputs)
	res, err := m.code.Call(ctx, entry, bufs[:n], bufs[n:], native.CallOptions{Threads: int(call.Threads)})
	if err != nil {
		return sdk.Outcome{}, err
	}
	o := sdk.Outcome{Trap: res.Trap, Nanoseconds: res.Nanoseconds}
	if f := res.Fault; f != nil {
		o.Fault = &sdk.Fault{Kind: f.Signal, Detail: f.String(), CodeOffset: f.Offset}
		if f.Inside {
			o.Fault.Node, _ = m.desc.NodeAt(f.Offset)
		}
	}
	return o, nil
}
