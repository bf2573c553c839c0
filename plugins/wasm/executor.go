package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/wasm/exec"
)

// executor runs modules in this process; wazero confines them to their own
// memory.
type executor struct {
	*sdk.Memory
	open    sync.Once
	machine *exec.Machine

	mu      sync.Mutex
	next    uint64
	modules map[uint64]*exec.Module
}

func newExecutor() *executor {
	return &executor{Memory: sdk.NewMemory(), modules: map[uint64]*exec.Module{}}
}

// engine starts wazero when it is first needed.
func (e *executor) engine() *exec.Machine {
	e.open.Do(func() { e.machine = exec.Open(context.Background(), false) })
	return e.machine
}

func (e *executor) Probe(_ context.Context, d *section.Descriptor) (sdk.Probe, error) {
	if d.Kind != section.KindWasm {
		return sdk.Probe{Mode: sdk.RunNone, Reason: fmt.Sprintf("artifact kind %q is not %q", d.Kind, section.KindWasm)}, nil
	}
	m := e.engine()
	if m.Compiled() {
		return sdk.Probe{Mode: sdk.RunNative, Device: m.Name()}, nil
	}
	return sdk.Probe{Mode: sdk.RunEmulated, Device: m.Name(), Reason: "wazero has no compiler for this processor"}, nil
}

func (e *executor) Load(ctx context.Context, s *sdk.Section) (uint64, error) {
	mod, err := e.engine().Load(ctx, s.Descriptor, s.Artifact)
	if err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	e.modules[e.next] = mod
	return e.next, nil
}

func (e *executor) module(id uint64) (*exec.Module, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	mod, ok := e.modules[id]
	if !ok {
		return nil, fmt.Errorf("no module %d", id)
	}
	return mod, nil
}

func (e *executor) Unload(ctx context.Context, id uint64) error {
	mod, err := e.module(id)
	if err != nil {
		return err
	}
	e.mu.Lock()
	delete(e.modules, id)
	e.mu.Unlock()
	return mod.Close(ctx)
}

func (e *executor) Invoke(ctx context.Context, call sdk.Call) (sdk.Outcome, error) {
	mod, err := e.module(call.Module)
	if err != nil {
		return sdk.Outcome{}, err
	}
	entry, ok := mod.Descriptor().Entry(call.Entry)
	if !ok {
		return sdk.Outcome{}, fmt.Errorf("module has no entry %q", call.Entry)
	}
	in, err := e.views(call.Inputs, entry.Inputs)
	if err != nil {
		return sdk.Outcome{}, fmt.Errorf("inputs: %w", err)
	}
	out, err := e.views(call.Outputs, entry.Outputs)
	if err != nil {
		return sdk.Outcome{}, fmt.Errorf("outputs: %w", err)
	}
	trap, took, err := mod.Run(ctx, call.Entry, in, out)
	o := sdk.Outcome{Trap: trap, Nanoseconds: uint64(took.Nanoseconds())}
	var fault *exec.Fault
	if errors.As(err, &fault) {
		// wazero does not tell where in the function, so no node is named
		o.Fault = &sdk.Fault{Kind: "wasm trap", Detail: fault.Error()}
		return o, nil
	}
	return o, err
}

// views are the leading bytes of the buffers that the entry asks for.
func (e *executor) views(ids []uint64, want []section.Buffer) ([][]byte, error) {
	if len(ids) != len(want) {
		return nil, fmt.Errorf("%d buffers given, %d expected", len(ids), len(want))
	}
	out := make([][]byte, len(ids))
	for i, id := range ids {
		b, err := e.Bytes(id)
		if err != nil {
			return nil, err
		}
		n := want[i].Bytes()
		if int64(len(b)) < n {
			return nil, fmt.Errorf("buffer %d has %d bytes, %d expected", i, len(b), n)
		}
		out[i] = b[:n:n]
	}
	return out, nil
}
