package wenc

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// exampleImm gives immediates that are valid for any row of that kind.
func exampleImm(in *Instr) []uint64 {
	switch in.Imm {
	case ImmMem:
		return []uint64{0, 300}
	case ImmMemLane:
		return []uint64{0, 300, 1}
	case ImmI32, ImmI64:
		return []uint64{^uint64(200)}
	case ImmF32, ImmF64:
		return []uint64{0x3F800001}
	case ImmV128:
		return []uint64{0x0123456789ABCDEF, 0xFEDCBA9876543210}
	case ImmShuffle:
		return []uint64{0x1F0E0D0C0B0A0908, 0x0706050403020100}
	case ImmLane:
		return []uint64{1}
	}
	return nil
}

// tableModule has one function per row, called t<N>, which runs the row once.
func tableModule() (*Module, []string) {
	m := NewModule(NewIndex())
	m.Memory(1, 2)
	m.ExportMemory("memory")
	g := m.Global(I32, true, 7)
	var seen []string
	for _, in := range Table() {
		params, results, fixed := in.Signature()
		if !fixed {
			f, ok := specialRow(m, in, g)
			if ok {
				seen = append(seen, in.Name)
			}
			_ = f
			continue
		}
		f, idx := m.Func("t."+in.Name, params, results)
		for i := range params {
			f.Get(uint32(i))
		}
		row := in
		f.Emit(&row, exampleImm(&in)...)
		m.ExportFunc(f.Name(), idx)
		seen = append(seen, in.Name)
	}
	return m, seen
}

// specialRow builds the functions of rows without a fixed signature.
func specialRow(m *Module, in Instr, g uint32) (*Func, bool) {
	f, _ := m.Func("t."+in.Name, []ValType{I32, F64}, []ValType{I32})
	switch in.Name {
	case "unreachable":
		f.I("unreachable")
	case "block", "loop":
		f.I(in.Name, BlockOf(I32))
		f.Get(0)
		f.End()
	case "if", "else", "end":
		f.Get(0)
		f.If(BlockOf(I32))
		f.I32(1)
		f.Else()
		f.I32(-1)
		f.End()
	case "br", "br_if":
		l := f.Block(BlockVoid)
		if in.Name == "br" {
			f.Br(l)
		} else {
			f.Get(0)
			f.BrIf(l)
		}
		f.End()
		f.Get(0)
	case "br_table":
		f.Block(BlockVoid)
		f.Block(BlockVoid)
		f.Get(0)
		f.I("br_table", 0, 1, 0)
		f.End()
		f.End()
		f.Get(0)
	case "return":
		f.Get(0)
		f.I("return")
	case "call":
		f.Get(0)
		f.Get(1)
		f.Call(0)
	case "drop":
		f.Get(1)
		f.I("drop")
		f.Get(0)
	case "select":
		f.Get(0)
		f.I32(3)
		f.Get(0)
		f.I("select")
	case "local.get", "local.set", "local.tee":
		l := f.Local(I32)
		f.Get(0)
		f.Tee(l)
		f.Set(l)
		f.Get(l)
	case "global.get", "global.set":
		f.I("global.get", uint64(g))
		f.I("global.set", uint64(g))
		f.Get(0)
	default:
		return f, false
	}
	return f, true
}

// compile validates a module with wazero, the independent reader.
func compile(t *testing.T, b []byte) {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	if _, err := rt.CompileModule(ctx, b); err != nil {
		t.Fatalf("wazero refuses the module: %v", err)
	}
}

func TestEveryRowValidates(t *testing.T) {
	m, seen := tableModule()
	if got, want := len(seen), len(Table()); got != want {
		t.Errorf("%d of %d rows exercised", got, want)
	}
	b, _ := m.Encode()
	compile(t, b)
}

func TestRowsAreUnique(t *testing.T) {
	ops, names := map[uint16]string{}, map[string]bool{}
	last := -1
	for _, in := range Table() {
		if o, dup := ops[in.Op]; dup {
			t.Errorf("%s and %s share opcode %#x", o, in.Name, in.Op)
		}
		if names[in.Name] {
			t.Errorf("two rows named %s", in.Name)
		}
		if int(in.Op) <= last {
			t.Errorf("%s is out of opcode order", in.Name)
		}
		ops[in.Op], names[in.Name], last = in.Name, true, int(in.Op)
	}
}

// TestObjdump compares every instruction with the text that wabt prints.
func TestObjdump(t *testing.T) {
	tool, err := exec.LookPath("wasm-objdump")
	if err != nil {
		t.Skip("not checked: wasm-objdump (Debian wabt) is not installed")
	}
	m, seen := tableModule()
	b, _ := m.Encode()
	file := filepath.Join(t.TempDir(), "t.wasm")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "-d", file).CombinedOutput()
	if err != nil {
		t.Fatalf("wasm-objdump: %v\n%s", err, out)
	}
	text := map[string]string{}
	name := ""
	for _, l := range strings.Split(string(out), "\n") {
		if i := strings.IndexByte(l, '|'); i >= 0 {
			text[name] += strings.TrimSpace(l[i+1:]) + "\n"
		} else if i := strings.Index(l, "<t."); i >= 0 {
			name = l[i+3 : strings.LastIndexByte(l, '>')]
		}
	}
	for _, n := range seen {
		found := false
		for _, l := range strings.Split(text[n], "\n") {
			found = found || l == n || strings.HasPrefix(l, n+" ")
		}
		if !found {
			t.Errorf("%s is printed as %q", n, text[n])
		}
	}
	for n, want := range map[string]string{"i32.const": "i32.const 4294967095", "i64.const": "i64.const -201",
		"v128.const": "v128.const 0x89abcdef 0x01234567 0x76543210 0xfedcba98", "i32.load8_s": "i32.load8_s 0 300",
		"v128.load8_lane": "v128.load8_lane 0 300 1", "br_table": "br_table 0 1 0"} {
		if !strings.Contains(text[n], want) {
			t.Errorf("%s: got %q, want %q", n, text[n], want)
		}
	}
}

const sample = `
(func $gcd (param $a i64) (param $b i64) (result i64) (local $t i64)
  (loop $again (result i64)
    (if (result i64) (i64.eqz (local.get $b))
      (then (local.get $a))
      (else
        (local.set $t (i64.rem_u (local.get $a) (local.get $b)))
        (local.set $a (local.get $b))
        (local.set $b (local.get $t))
        (br $again)))))
(func $twice (param $a i64) (result i64)
  (call $gcd (local.get $a) (i64.shl (local.get $a) (i64.const 0x7fffffffffffffff))))
(func $vec (param $p i32) (result v128)
  local.get $p
  v128.load offset=16 align=4
  (v128.const i64x2 -1 0x7ff0000000000000)
  v128.and
  (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (v128.load offset=0 align=1 (local.get $p))))
`

// sampleForOthers writes alignment in bytes, as the text format has it.
func sampleForOthers() string {
	return "(module (memory 1 2)" + strings.NewReplacer("align=4", "align=16", "align=1 ", "align=2 ").Replace(sample) + ")"
}

func TestAssembleMatchesWat2Wasm(t *testing.T) {
	m := NewModule(NewIndex())
	m.Memory(1, 2)
	m.Assemble(sample)
	b, _ := m.Encode()
	compile(t, b)
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("not checked: wat2wasm (Debian wabt) is not installed")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.wat"), []byte(sampleForOthers()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, filepath.Join(dir, "s.wat"), "-o", filepath.Join(dir, "s.wasm")).CombinedOutput()
	if err != nil {
		t.Fatalf("wat2wasm: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "s.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b, want) { // ours adds the name section
		t.Errorf("assembled differently:\n%x\nwat2wasm:\n%x", b, want)
	}
}

func TestLocalsAreReused(t *testing.T) {
	m := NewModule(NewIndex())
	f, _ := m.Func("f", []ValType{I32}, nil)
	a, b := f.Local(F64), f.Local(V128)
	f.Free(a)
	f.Free(b)
	if c := f.Local(V128); c != b {
		t.Errorf("v128 local: got %d, want %d", c, b)
	}
	if c := f.Local(I64); c != 3 {
		t.Errorf("i64 local: got %d, want 3", c)
	}
	defer func() {
		if recover() == nil {
			t.Error("freeing a local twice is not noticed")
		}
	}()
	f.Free(a)
	f.Free(a)
}

func TestMarksPointAtInstructions(t *testing.T) {
	m := NewModule(NewIndex())
	f, _ := m.Func("f", nil, nil)
	for _, node := range []int32{4, 4, 9} {
		f.At(node)
		f.I32(node)
		f.I("drop")
	}
	b, marks := m.Encode()
	var nodes []int32
	for _, k := range marks {
		nodes = append(nodes, k.Node)
		if k.Node == NoNode {
			continue
		}
		if b[k.Offset] != 0x41 || b[k.Offset+1] != byte(k.Node) {
			t.Errorf("mark of node %d points at % x", k.Node, b[k.Offset:k.Offset+2])
		}
	}
	if len(nodes) != 3 || nodes[0] != NoNode || nodes[1] != 4 || nodes[2] != 9 {
		t.Errorf("nodes on change: %v", nodes)
	}
}
