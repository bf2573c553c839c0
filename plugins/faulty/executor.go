package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/sdk"
)

// executor runs faulty's artifacts: it copies the input. An input that starts
// with 0xff traps, one that starts with 0xfe faults.
type executor struct {
	*sdk.Memory
	mu      sync.Mutex
	next    uint64
	modules map[uint64]*section.Descriptor
}

func newExecutor() *executor {
	return &executor{Memory: sdk.NewMemory(), modules: map[uint64]*section.Descriptor{}}
}

func (x *executor) Probe(_ context.Context, d *section.Descriptor) (sdk.Probe, error) {
	if d.Kind != kind {
		return sdk.Probe{Reason: "artifact kind " + d.Kind + " is none of mine"}, nil
	}
	return sdk.Probe{Mode: sdk.RunSimulated, Device: "copier"}, nil
}

func (x *executor) Load(_ context.Context, s *sdk.Section) (uint64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next++
	x.modules[x.next] = s.Descriptor
	return x.next, nil
}

func (x *executor) Unload(_ context.Context, module uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.modules[module]; !ok {
		return fmt.Errorf("no module %d", module)
	}
	delete(x.modules, module)
	return nil
}

func (x *executor) Invoke(_ context.Context, c sdk.Call) (sdk.Outcome, error) {
	x.mu.Lock()
	d, ok := x.modules[c.Module]
	x.mu.Unlock()
	if !ok {
		return sdk.Outcome{}, fmt.Errorf("no module %d", c.Module)
	}
	if _, ok := d.Entry(c.Entry); !ok || len(c.Inputs) != 1 || len(c.Outputs) != 1 {
		return sdk.Outcome{}, fmt.Errorf("no entry %q with one input and one output", c.Entry)
	}
	in, err := x.Bytes(c.Inputs[0])
	if err != nil {
		return sdk.Outcome{}, err
	}
	out, err := x.Bytes(c.Outputs[0])
	if err != nil {
		return sdk.Outcome{}, err
	}
	if len(in) > 0 {
		switch in[0] {
		case 0xff:
			return sdk.Outcome{Trap: 3}, nil
		case 0xfe:
			return sdk.Outcome{Fault: &sdk.Fault{Kind: "SIGSEGV", Detail: "address 0", CodeOffset: 4}}, nil
		}
	}
	copy(out, in)
	return sdk.Outcome{Nanoseconds: 1}, nil
}
