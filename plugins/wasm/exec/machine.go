package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/kera-lang/kera/core/keg/section"
)

// Machine is a wazero runtime: its compiler where there is one for this
// processor, its interpreter elsewhere.
type Machine struct {
	rt       wazero.Runtime
	compiled bool
}

// Open starts a machine. With interpret, the compiler is not used.
func Open(ctx context.Context, interpret bool) *Machine {
	features := api.CoreFeaturesV2
	if !interpret {
		if rt, ok := openCompiler(ctx, features); ok {
			return &Machine{rt, true}
		}
	}
	return &Machine{wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features)), false}
}

// openCompiler asks for wazero's compiler, which panics where it has none.
func openCompiler(ctx context.Context, f api.CoreFeatures) (rt wazero.Runtime, ok bool) {
	defer func() {
		if recover() != nil {
			rt, ok = nil, false
		}
	}()
	return wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCoreFeatures(f)), true
}

// Compiled reports whether modules are compiled to machine code.
func (m *Machine) Compiled() bool { return m.compiled }

// Name says what runs the modules, for people.
func (m *Machine) Name() string {
	if m.compiled {
		return "wazero, compiled to " + runtime.GOARCH
	}
	return "wazero, interpreted"
}

// Close frees the machine and everything loaded into it.
func (m *Machine) Close(ctx context.Context) error { return m.rt.Close(ctx) }

// Module is a loaded artifact.
type Module struct {
	mu   sync.Mutex // one call at a time: instances are not safe for more
	d    *section.Descriptor
	code wazero.CompiledModule
	inst api.Module
	base uint32 // end of the module's own data
}

// Load checks an artifact against its descriptor and instantiates it.
func (m *Machine) Load(ctx context.Context, d *section.Descriptor, artifact []byte) (*Module, error) {
	if d.Kind != section.KindWasm {
		return nil, fmt.Errorf("artifact of kind %q is not a %s", d.Kind, section.KindWasm)
	}
	code, err := m.rt.CompileModule(ctx, artifact)
	if err != nil {
		return nil, fmt.Errorf("module refused by wazero: %w", err)
	}
	inst, err := m.instantiate(ctx, d, code)
	if err != nil {
		return nil, errors.Join(err, code.Close(ctx))
	}
	return &Module{d: d, code: code, inst: inst, base: inst.Memory().Size()}, nil
}

func (m *Machine) instantiate(ctx context.Context, d *section.Descriptor, code wazero.CompiledModule) (api.Module, error) {
	if n := len(code.ImportedFunctions()) + len(code.ImportedMemories()); n > 0 {
		return nil, fmt.Errorf("module has %d imports; it must have none", n)
	}
	if code.ExportedMemories()["memory"] == nil {
		return nil, fmt.Errorf(`module does not export its memory as "memory"`)
	}
	funcs := code.ExportedFunctions()
	for _, e := range d.Entries {
		for i, p := range e.Phases {
			if f := funcs[p.Symbol]; f == nil || !isPhase(f) {
				return nil, fmt.Errorf("entry %q: phase %d: module exports no function %q of type (i32, i32, i32, i64) -> i32", e.Name, i, p.Symbol)
			}
		}
	}
	// an empty name lets several instances live side by side
	inst, err := m.rt.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("module cannot start: %w", err)
	}
	return inst, nil
}

func isPhase(f api.FunctionDefinition) bool {
	return string(f.ParamTypes()) == string([]api.ValueType{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI64}) &&
		string(f.ResultTypes()) == string([]api.ValueType{api.ValueTypeI32})
}

// Close frees the module.
func (mod *Module) Close(ctx context.Context) error {
	mod.mu.Lock()
	defer mod.mu.Unlock()
	return errors.Join(mod.inst.Close(ctx), mod.code.Close(ctx))
}

// Descriptor is what the module was loaded with.
func (mod *Module) Descriptor() *section.Descriptor { return mod.d }

// Fault is a crash inside the module, which generated code never causes.
type Fault struct {
	Symbol string // of the phase
	Tile   uint64
	Detail string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s, tile %d: %s", f.Symbol, f.Tile, f.Detail) }

// Run calls one entry. It copies in to the module's memory, runs the phases and,
// where no tile trapped, copies the results to out. The error is a *Fault when
// the module crashed.
func (mod *Module) Run(ctx context.Context, entry string, in, out [][]byte) (trap uint32, took time.Duration, err error) {
	e, ok := mod.d.Entry(entry)
	if !ok {
		return 0, 0, fmt.Errorf("module has no entry %q", entry)
	}
	if err := checkSizes("input", e.Inputs, in); err != nil {
		return 0, 0, fmt.Errorf("entry %q: %w", entry, err)
	}
	if err := checkSizes("output", e.Outputs, out); err != nil {
		return 0, 0, fmt.Errorf("entry %q: %w", entry, err)
	}
	mod.mu.Lock()
	defer mod.mu.Unlock()
	l, err := Place(e, mod.base)
	if err != nil {
		return 0, 0, err
	}
	mem := mod.inst.Memory()
	if need, have := uint64(l.End)+pageSize, uint64(mem.Size()); need > have {
		if _, ok := mem.Grow(uint32((need - have + pageSize - 1) / pageSize)); !ok {
			return 0, 0, fmt.Errorf("entry %q: the module's memory cannot grow to %d bytes", entry, need)
		}
	}
	for i, b := range in {
		if !mem.WriteUint32Le(l.InTable+4*uint32(i), l.In[i]) || !mem.Write(l.In[i], b) {
			panic("BUG: exec: input lies outside the memory grown for it")
		}
	}
	for i := range out {
		if !mem.WriteUint32Le(l.OutTable+4*uint32(i), l.Out[i]) {
			panic("BUG: exec: output lies outside the memory grown for it")
		}
	}
	start := time.Now()
	trap, err = mod.phases(ctx, e, l)
	took = time.Since(start)
	if err != nil || trap != 0 {
		return trap, took, err
	}
	for i, b := range out {
		v, ok := mem.Read(l.Out[i], uint32(len(b)))
		if !ok {
			panic("BUG: exec: output lies outside the memory grown for it")
		}
		copy(b, v)
	}
	return 0, took, nil
}

func checkSizes(what string, bufs []section.Buffer, vals [][]byte) error {
	if len(bufs) != len(vals) {
		return fmt.Errorf("%d %ss given, %d expected", len(vals), what, len(bufs))
	}
	for i, b := range bufs {
		if int64(len(vals[i])) != b.Bytes() {
			return fmt.Errorf("%s %d has %d bytes, %d expected for %s", what, i, len(vals[i]), b.Bytes(), b.Type())
		}
	}
	return nil
}

func (mod *Module) phases(ctx context.Context, e *section.Entry, l Layout) (uint32, error) {
	stack := make([]uint64, 4)
	for i := 0; i < len(e.Phases); i++ {
		p := &e.Phases[i]
		fn := mod.inst.ExportedFunction(p.Symbol)
		for tile := range p.Tiles {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			stack[0], stack[1], stack[2], stack[3] = uint64(l.InTable), uint64(l.OutTable), uint64(l.Work), tile
			if err := fn.CallWithStack(ctx, stack); err != nil {
				var exit *sys.ExitError
				if errors.As(err, &exit) && ctx.Err() != nil {
					return 0, ctx.Err()
				}
				detail, _, _ := strings.Cut(err.Error(), "\n")
				return 0, &Fault{p.Symbol, tile, detail}
			}
			if trap := uint32(stack[0]); trap != 0 {
				return trap, nil
			}
		}
		if p.Loop == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b, ok := mod.inst.Memory().Read(l.Work+uint32(p.Loop.Cond), 4)
		if !ok {
			return 0, fmt.Errorf("entry %q: loop condition lies outside the memory", e.Name)
		}
		if binary.LittleEndian.Uint32(b) != 0 {
			i = int(p.Loop.Back) - 1
		}
	}
	return 0, nil
}
