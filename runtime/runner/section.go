package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/pluginapi/host"
	"github.com/kera-lang/kera/pluginapi/native"
)

// Section is a target section of a .keg with its label, see Labels.
type Section struct {
	Label      string
	Descriptor *section.Descriptor
	Artifact   []byte
	Absent     string // why there is no code, "" if there is
}

// ErrStale says that a section was compiled from another graph than the file's.
var ErrStale = errors.New("the section was compiled from another graph than the one in this file")

// ErrDamaged says that what runs the section cannot make sense of it.
var ErrDamaged = errors.New("the section is damaged")

// Machine runs sections. It starts what it needs when it is first needed and keeps
// it until Close: kera-runner for CPU code, and for all else the executor of the
// backend that made the section.
type Machine struct {
	// Plugin finds a backend by the name in a descriptor.
	Plugin func(name string) (*host.Plugin, error)
	// RunnerPath overrides where kera-runner is.
	RunnerPath string
	Threads    int

	runner    *native.Runner
	runnerErr error
	infoErr   error
	executors map[string]*host.Executor
}

// Close ends every process.
func (m *Machine) Close() {
	if m.runner != nil {
		m.runner.Close()
	}
	for _, x := range m.executors {
		x.Close()
	}
	m.runner, m.executors = nil, nil
}

// Target makes a section runnable. Nothing starts before it is used.
func (m *Machine) Target(s Section) Target {
	if s.Absent != "" {
		return absentTarget{s}
	}
	if s.Descriptor.Kind == section.KindCode {
		return &cpuTarget{machine: m, section: s}
	}
	return &pluginTarget{machine: m, section: s}
}

func (m *Machine) native() (*native.Runner, error) {
	if m.runner == nil && m.runnerErr == nil {
		m.runner, m.runnerErr = native.New(native.Options{Path: m.RunnerPath})
	}
	return m.runner, m.runnerErr
}

// info asks the runner once what this machine is. A runner that cannot say so is
// not started again for the next section.
func (m *Machine) info(ctx context.Context, r *native.Runner) (native.Info, error) {
	if m.infoErr != nil {
		return native.Info{}, m.infoErr
	}
	info, err := r.Info(ctx)
	if err != nil && ctx.Err() == nil {
		m.infoErr = err
	}
	return info, err
}

func (m *Machine) executor(ctx context.Context, plugin string) (*host.Executor, error) {
	if x, ok := m.executors[plugin]; ok {
		return x, nil
	}
	p, err := m.Plugin(plugin)
	if err != nil {
		return nil, err
	}
	x, err := p.StartExecutor(ctx)
	if err != nil {
		return nil, err
	}
	if m.executors == nil {
		m.executors = map[string]*host.Executor{}
	}
	m.executors[plugin] = x
	return x, nil
}

// arguments are the entry's inputs with the constants bound at the root behind
// them, checked against what the section takes.
func arguments(s Section, e *Entry, inputs [][]byte) (*section.Entry, [][]byte, error) {
	x, ok := s.Descriptor.Entry(e.Export.Name)
	if !ok {
		return nil, nil, fmt.Errorf("%s: the section has no entry %s: %w", s.Label, e.Export.Name, ErrStale)
	}
	region, bound := e.Export.Optimised, e.Export.OptBound
	if region == graph.None {
		region, bound = e.Export.Region, e.Export.Bound
	}
	if !x.Region.IsZero() && x.Region != e.Graph.RegionDigest(region) {
		return nil, nil, fmt.Errorf("%s: entry %s: %w", s.Label, e.Export.Name, ErrStale)
	}
	args := append([][]byte(nil), inputs...)
	for i, b := range bound {
		data, ok := e.Graph.Blob(b.Blob)
		if !ok {
			return nil, nil, fmt.Errorf("entry %s: constant %d: blob %s is missing", e.Export.Name, i, b.Blob.Short())
		}
		args = append(args, data)
	}
	if len(args) != len(x.Inputs) || len(e.Results) != len(x.Outputs) {
		return nil, nil, fmt.Errorf("%s: entry %s has %d inputs and %d outputs in the section, %d and %d in the graph: %w",
			s.Label, e.Export.Name, len(x.Inputs), len(x.Outputs), len(args), len(e.Results), ErrStale)
	}
	for i, a := range args {
		if int64(len(a)) != x.Inputs[i].Bytes() {
			return nil, nil, fmt.Errorf("%s: entry %s: input %d has %d bytes, the section takes %d: %w",
				s.Label, e.Export.Name, i, len(a), x.Inputs[i].Bytes(), ErrStale)
		}
	}
	for i, r := range e.Results {
		if r.Type.NumBytes() != x.Outputs[i].Bytes() {
			return nil, nil, fmt.Errorf("%s: entry %s: output %d has %d bytes in the section, %d in the graph: %w",
				s.Label, e.Export.Name, i, x.Outputs[i].Bytes(), r.Type.NumBytes(), ErrStale)
		}
	}
	return x, args, nil
}

// arches gives the first part of a triple for Go's name of an architecture.
var arches = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "riscv64": "riscv64"}

// cpuTarget runs CPU code in kera-runner.
type cpuTarget struct {
	machine *Machine
	section Section
	module  *native.Module
}

func (t *cpuTarget) Name() string { return t.section.Label }

func (t *cpuTarget) Mode(ctx context.Context) (mode, reason string, err error) {
	r, err := t.machine.native()
	if err != nil {
		return "", err.Error(), nil
	}
	info, err := t.machine.info(ctx, r)
	if err != nil {
		return "", "", err
	}
	arch, _, _ := strings.Cut(t.section.Descriptor.Triple, "-")
	if have := arches[info.Arch]; arch != have && arch != info.Arch {
		return "", fmt.Sprintf("this machine is %s", info.Arch), nil
	}
	if missing, ok := info.Has(t.section.Descriptor.Features); !ok {
		return "", "this CPU has no " + missing, nil
	}
	return "natively", "", nil
}

func (t *cpuTarget) Run(ctx context.Context, e *Entry, inputs [][]byte) (o Outcome, err error) {
	x, args, err := arguments(t.section, e, inputs)
	if err != nil {
		return o, err
	}
	r, err := t.machine.native()
	if err != nil {
		return o, err
	}
	if t.module == nil {
		if t.module, err = r.Load(ctx, t.section.Artifact); err != nil {
			return o, err
		}
	}
	var in, out []*native.Buffer
	defer func() {
		for _, b := range append(in, out...) {
			if e := b.Free(context.WithoutCancel(ctx)); e != nil && err == nil {
				err = e
			}
		}
	}()
	for _, a := range args {
		b, err := r.Alloc(ctx, uint64(len(a)))
		if err != nil {
			return o, err
		}
		copy(b.Bytes(), a)
		in = append(in, b)
	}
	for _, b := range x.Outputs {
		b, err := r.Alloc(ctx, uint64(b.Bytes()))
		if err != nil {
			return o, err
		}
		out = append(out, b)
	}
	res, err := t.module.Call(ctx, x, in, out, native.CallOptions{Threads: t.machine.Threads})
	if err != nil {
		return o, err
	}
	if f := res.Fault; f != nil {
		fault := &Fault{Target: t.Name(), Kind: f.Signal, Detail: f.String()}
		if n, ok := t.section.Descriptor.NodeAt(f.Offset); ok && f.Inside {
			fault.Node = nodeText(e, n)
		}
		return o, fault
	}
	o.Took, o.Trap = time.Duration(res.Nanoseconds), op.TrapKind(res.Trap)
	if o.Trap == op.TrapNone {
		for _, b := range out {
			o.Outputs = append(o.Outputs, append([]byte(nil), b.Bytes()...))
		}
	}
	return o, nil
}

func (t *cpuTarget) Close() {}

// nodeText describes the node with a digest, if the graph has it.
func nodeText(e *Entry, d digest.D) string {
	for n := range graph.NodeID(e.Graph.NumNodes()) {
		if e.Graph.Digest(n) == d {
			return d.Short() + " " + e.Graph.NodeText(n)
		}
	}
	return d.Short()
}

// pluginTarget runs a section on the executor of its backend.
type pluginTarget struct {
	machine *Machine
	section Section
	module  uint64
}

func (t *pluginTarget) Name() string { return t.section.Label }

func (t *pluginTarget) Mode(ctx context.Context) (mode, reason string, err error) {
	x, err := t.machine.executor(ctx, t.section.Descriptor.Plugin.Name)
	if err != nil {
		var broke *host.Error
		if errors.As(err, &broke) && broke.Kind != host.KindMissing && broke.Kind != host.KindRefused {
			return "", "", err
		}
		return "", firstLine(err.Error()), nil // there is nothing that could run it
	}
	p, err := x.Probe(ctx, t.section.Descriptor)
	if err != nil {
		return "", "", err
	}
	if p.Mode == host.RunNone {
		return "", p.Reason, nil
	}
	return p.Mode.String(), p.Reason, nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func (t *pluginTarget) Run(ctx context.Context, e *Entry, inputs [][]byte) (o Outcome, err error) {
	_, args, err := arguments(t.section, e, inputs)
	if err != nil {
		return o, err
	}
	x, err := t.machine.executor(ctx, t.section.Descriptor.Plugin.Name)
	if err != nil {
		return o, err
	}
	s := &host.Section{Descriptor: t.section.Descriptor, Artifact: t.section.Artifact}
	if t.module == 0 {
		if t.module, err = x.Load(ctx, s); err != nil {
			var refused *host.Error
			if errors.As(err, &refused) && refused.Kind == host.KindRefused {
				err = fmt.Errorf("%s: %w: %w", t.Name(), ErrDamaged, err)
			}
			return o, err
		}
	}
	out, res, err := x.Run(ctx, s, t.module, e.Export.Name, args, uint32(t.machine.Threads))
	if err != nil {
		return o, err
	}
	if f := res.Fault; f != nil {
		fault := &Fault{Target: t.Name(), Kind: f.Kind, Detail: f.Detail}
		if !f.Node.IsZero() {
			fault.Node = nodeText(e, f.Node)
		} else if n, ok := t.section.Descriptor.NodeAt(f.CodeOffset); ok {
			fault.Node = nodeText(e, n)
		}
		return o, fault
	}
	return Outcome{Outputs: out, Trap: op.TrapKind(res.Trap), Took: time.Duration(res.Nanoseconds)}, nil
}

func (t *pluginTarget) Close() {}

// absentTarget is a section that was recorded without code.
type absentTarget struct{ section Section }

func (t absentTarget) Name() string { return t.section.Label }

func (t absentTarget) Mode(context.Context) (mode, reason string, err error) {
	return "", t.section.Absent, nil
}

func (t absentTarget) Run(context.Context, *Entry, [][]byte) (Outcome, error) {
	return Outcome{}, errors.New(t.section.Label + ": " + t.section.Absent)
}

func (t absentTarget) Close() {}
