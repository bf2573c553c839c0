package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/plugins/wasm/internal/v8"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

var phaseParams = []wenc.ValType{wenc.I32, wenc.I32, wenc.I32, wenc.I64}

// build makes a module whose phases are written by the given bodies; each body
// leaves the trap code on the stack.
func build(bodies map[string]func(f *wenc.Func), order ...string) []byte {
	m := wenc.NewModule(wenc.NewIndex())
	m.Memory(1, 0)
	m.ExportMemory("memory")
	for _, name := range order {
		f, idx := m.Func(name, phaseParams, []wenc.ValType{wenc.I32})
		bodies[name](f)
		m.ExportFunc(name, idx)
	}
	b, _ := m.Encode()
	return b
}

var testBodies = map[string]func(f *wenc.Func){
	// out[0][tile] = in[0][tile] + in[1][tile], trap 1 where the input is 99
	"add": func(f *wenc.Func) {
		at := func(table uint32, entry uint64) {
			f.Get(table)
			f.I("i32.load", 2, 4*entry)
			f.Get(3)
			f.I("i32.wrap_i64")
			f.I32(2)
			f.I("i32.shl")
			f.I("i32.add")
		}
		at(1, 0)
		at(0, 0)
		f.I("i32.load", 2, 0)
		at(0, 1)
		f.I("i32.load", 2, 0)
		f.I("i32.add")
		f.I("i32.store", 2, 0)
		at(0, 0)
		f.I("i32.load", 2, 0)
		f.I32(99)
		f.I("i32.eq")
	},
	// work[0] = 5
	"init": func(f *wenc.Func) {
		f.Get(2)
		f.I32(5)
		f.I("i32.store", 2, 0)
		f.I32(0)
	},
	// work[0]--; out[0][0] += 10
	"step": func(f *wenc.Func) {
		f.Get(2)
		f.Get(2)
		f.I("i32.load", 2, 0)
		f.I32(1)
		f.I("i32.sub")
		f.I("i32.store", 2, 0)
		o := f.Local(wenc.I32)
		f.Get(1)
		f.I("i32.load", 2, 0)
		f.Tee(o)
		f.Get(o)
		f.I("i32.load", 2, 0)
		f.I32(10)
		f.I("i32.add")
		f.I("i32.store", 2, 0)
		f.I32(0)
	},
	"crash": func(f *wenc.Func) {
		f.I32(-8)
		f.I("i32.load", 2, 0)
	},
}

func testModule() ([]byte, *section.Descriptor) {
	b := build(testBodies, "add", "init", "step", "crash")
	v := section.Buffer{DType: types.I32, Dims: []int64{3}, Align: 64}
	entry := func(name string, phases ...section.Phase) section.Entry {
		return section.Entry{Name: name, Inputs: []section.Buffer{v, v}, Outputs: []section.Buffer{v}, Work: 8, WorkAlign: 8, Phases: phases}
	}
	return b, &section.Descriptor{Triple: "wasm32", Kind: section.KindWasm, Entries: []section.Entry{
		entry("crash", section.Phase{Symbol: "crash", Tiles: 1}),
		entry("loop", section.Phase{Symbol: "add", Tiles: 3}, section.Phase{Symbol: "init", Tiles: 1},
			section.Phase{Symbol: "step", Tiles: 1, Loop: &section.Loop{Cond: 0, Back: 2}}),
		entry("sum", section.Phase{Symbol: "add", Tiles: 3}),
	}}
}

func ints(v ...int32) []byte {
	b := new(bytes.Buffer)
	_ = binary.Write(b, binary.LittleEndian, v)
	return b.Bytes()
}

func TestRun(t *testing.T) {
	ctx := context.Background()
	artifact, d := testModule()
	for _, interpret := range []bool{false, true} {
		m := Open(ctx, interpret)
		defer func() { _ = m.Close(ctx) }()
		if interpret && m.Compiled() {
			t.Error("asked for the interpreter, got the compiler")
		}
		mod, err := m.Load(ctx, d, artifact)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			entry string
			a     []byte
			trap  uint32
			want  []byte
			fault string
		}{
			{"sum", ints(1, 2, 3), 0, ints(11, 22, 33), ""},
			{"loop", ints(1, 2, 3), 0, ints(61, 22, 33), ""},
			{"sum", ints(1, 99, 3), 1, nil, ""},
			{"crash", ints(1, 2, 3), 0, nil, "out of bounds"},
			{"sum", ints(4, 5, 6), 0, ints(14, 25, 36), ""}, // the module survives its crash
		} {
			out := make([]byte, 12)
			trap, _, err := mod.Run(ctx, c.entry, [][]byte{c.a, ints(10, 20, 30)}, [][]byte{out})
			var fault *Fault
			switch {
			case c.fault != "":
				if !errors.As(err, &fault) || !strings.Contains(fault.Detail, c.fault) {
					t.Errorf("%s: got %v, want a fault with %q", c.entry, err, c.fault)
				}
			case err != nil:
				t.Errorf("%s: %v", c.entry, err)
			case trap != c.trap:
				t.Errorf("%s: trap %d, want %d", c.entry, trap, c.trap)
			case c.want != nil && !bytes.Equal(out, c.want):
				t.Errorf("%s: got %v, want %v", c.entry, out, c.want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	ctx := context.Background()
	m := Open(ctx, true)
	defer func() { _ = m.Close(ctx) }()
	artifact, d := testModule()
	noMemory := wenc.NewModule(wenc.NewIndex())
	bare, _ := noMemory.Encode()
	wrong := *d
	wrong.Entries = []section.Entry{{Name: "x", Phases: []section.Phase{{Symbol: "absent", Tiles: 1}}}}
	native := *d
	native.Kind = section.KindCode
	for _, c := range []struct {
		name     string
		d        *section.Descriptor
		artifact []byte
		want     string
	}{
		{"not a module", d, []byte("hello"), "refused by wazero"},
		{"cut short", d, artifact[:len(artifact)/2], "refused by wazero"},
		{"no memory", d, bare, "does not export its memory"},
		{"missing phase", &wrong, artifact, `exports no function "absent"`},
		{"wrong kind", &native, artifact, "is not a wasm-module"},
	} {
		if _, err := m.Load(ctx, c.d, c.artifact); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	mod, err := m.Load(ctx, d, artifact)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = mod.Run(ctx, "sum", [][]byte{ints(1, 2, 3), ints(1, 2)}, [][]byte{make([]byte, 12)})
	if want := "input 1 has 8 bytes, 12 expected"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("short input: got %v, want %q", err, want)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err = mod.Run(cancelled, "sum", [][]byte{ints(1, 2, 3), ints(1, 2, 3)}, [][]byte{make([]byte, 12)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled run: got %v", err)
	}
}

func TestPlace(t *testing.T) {
	buf := func(n int64, align uint32) section.Buffer {
		return section.Buffer{DType: types.U8, Dims: []int64{n}, Align: align}
	}
	e := &section.Entry{Name: "e", Inputs: []section.Buffer{buf(3, 1), buf(100, 4096)}, Outputs: []section.Buffer{buf(0, 1)}, Work: 7, WorkAlign: 128}
	l, err := Place(e, 65536)
	if err != nil {
		t.Fatal(err)
	}
	if l.InTable < 65536 || l.In[1]%4096 != 0 || l.Work%128 != 0 || l.End < l.Work+7 || l.Out[0] < l.In[1]+100 {
		t.Errorf("layout %+v", l)
	}
	e.Inputs[0] = buf(1<<33, 1)
	if _, err := Place(e, 65536); err == nil || !strings.Contains(err.Error(), "32-bit memory") {
		t.Errorf("too large: got %v", err)
	}
}

// TestInV8 runs the calls of TestRun that end well with the example of the
// specification.
func TestInV8(t *testing.T) {
	node, ok := v8.Find()
	if !ok {
		t.Skip("not checked: node is not installed")
	}
	artifact, d := testModule()
	sum, _ := d.Entry("sum")
	loop, _ := d.Entry("loop")
	in := [][]byte{ints(1, 2, 3), ints(10, 20, 30)}
	got, err := v8.Run(node, "../../../docs/spec/wasm-abi.md", t.TempDir(), []v8.Job{
		{Artifact: artifact, Entry: sum, Inputs: in}, {Artifact: artifact, Entry: loop, Inputs: in},
		{Artifact: artifact, Entry: sum, Inputs: [][]byte{ints(1, 99, 3), in[1]}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []v8.Result{{Outputs: [][]byte{ints(11, 22, 33)}}, {Outputs: [][]byte{ints(61, 22, 33)}}, {Trap: 1, Outputs: [][]byte{}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
