package isel

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/native"
)

func levels() []*Level { return []*Level{AVX2().prepare(), AVX512().prepare()} }

func TestTargets(t *testing.T) {
	for _, l := range levels() {
		if err := l.target.Check(); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
}

var runnerDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kera-x86")
	if err != nil {
		panic(err)
	}
	runnerDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var buildRunner = sync.OnceValues(func() (*native.Runner, error) {
	path := filepath.Join(runnerDir, native.RunnerName)
	cmd := exec.Command("go", "build", "-o", path, "github.com/kera-lang/kera/cmd/kera-runner")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: string(b), Err: err}
	}
	return native.New(native.Options{Path: path})
})

// runner returns the process that all tests share, or skips where the level
// cannot run.
func runner(t testing.TB, l *Level) *native.Runner {
	t.Helper()
	r, err := buildRunner()
	if err != nil {
		t.Fatal(err)
	}
	info, err := r.Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if missing, ok := info.Has(l.Features); !ok || info.Arch != "amd64" {
		t.Skipf("not checked: this machine has no %s", missing)
	}
	return r
}

// compile compiles one function.
func compile(t testing.TB, l *Level, m *lir.Module) *Code {
	t.Helper()
	c, err := l.Compile(context.Background(), m, Options{Check: true})
	if err != nil {
		t.Fatalf("%s: %v\n%v", l.Name, err, m.Funcs[0])
	}
	return c
}

// run executes function 0 of m over tiles on byte buffers and returns the trap
// code; outputs are filled in place.
func run(t testing.TB, l *Level, m *lir.Module, work uint64, tiles int, in, out [][]byte) uint32 {
	t.Helper()
	r := runner(t, l)
	ctx := context.Background()
	c := compile(t, l, m)
	mod, err := r.Load(ctx, c.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	defer mod.Unload(ctx)
	e := &section.Entry{Name: "f", Work: work, WorkAlign: 64, Phases: []section.Phase{{Offset: uint64(c.Offsets[0]), Tiles: uint64(tiles)}}}
	var ins, outs []*native.Buffer
	for _, b := range in {
		e.Inputs = append(e.Inputs, section.Buffer{DType: types.U8, Dims: []int64{int64(len(b))}, Align: 64})
		nb, err := r.Alloc(ctx, uint64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		copy(nb.Bytes(), b)
		ins = append(ins, nb)
	}
	for _, b := range out {
		e.Outputs = append(e.Outputs, section.Buffer{DType: types.U8, Dims: []int64{int64(len(b))}, Align: 64})
		nb, err := r.Alloc(ctx, uint64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		copy(nb.Bytes(), b)
		outs = append(outs, nb)
	}
	res, err := mod.Call(ctx, e, ins, outs, native.CallOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if res.Fault != nil {
		t.Fatalf("%s: %v\n%v\n%s", l.Name, res.Fault, m.Funcs[0], disassemble(t, c))
	}
	for i, b := range outs {
		copy(out[i], b.Bytes())
	}
	for _, b := range append(ins, outs...) {
		if err := b.Free(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return res.Trap
}

// hasObjdump: what a person reads is checked where objdump is there to print it.
var hasObjdump = func() bool { _, err := exec.LookPath("objdump"); return err == nil }()

func disassemble(t testing.TB, c *Code) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, c.Bytes[:c.Text], 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-b", "binary", "-mi386:x86-64", "-Mintel", "--no-show-raw-insn", path).Output()
	if err != nil {
		return "objdump: " + err.Error()
	}
	return string(out)
}

func f32s(vs ...float32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// TestDot sums products over a vector loop and halves the lanes.
func TestDot(t *testing.T) {
	for _, l := range levels() {
		t.Run(l.Name, func(t *testing.T) {
			n := l.VecBytes / 4
			b := lir.NewFunc("dot")
			x := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: 256})
			y := b.Buf(lir.Buf{Kind: lir.BufIn, Index: 1, Bytes: 256})
			o := b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: 4})
			v := lir.Vec(lir.F32, n)
			acc := b.For(b.Ix(0), b.Ix(64), int64(n), []lir.Value{b.Const(v, 0x80000000)}, func(i lir.Value, c []lir.Value) []lir.Value {
				p := b.Load(v, lir.M32, lir.Addr{Buf: x, Index: i, Scale: 4})
				q := b.Load(v, lir.M32, lir.Addr{Buf: y, Index: i, Scale: 4})
				return []lir.Value{b.Op(lir.FMA, p, q, c[0])}
			})
			s := acc[0]
			for h := n / 2; h >= 1; h /= 2 {
				s = b.Op(lir.FAdd, s, b.LaneDown(s, h))
			}
			b.Store(lir.M32, lir.At(o, 0), b.Op(lir.Canon, b.Extract(s, 0)))
			m := &lir.Module{Funcs: []*lir.Func{b.Finish(b.I32(0))}}
			var xs, ys []float32
			want := float32(0)
			for i := 0; i < 64; i++ {
				xs, ys = append(xs, float32(i)), append(ys, float32(i%7))
				want += float32(i * (i % 7))
			}
			out := [][]byte{make([]byte, 4)}
			if trap := run(t, l, m, 0, 1, [][]byte{f32s(xs...), f32s(ys...)}, out); trap != 0 {
				t.Errorf("trap %d", trap)
			}
			if got := math.Float32frombits(binary.LittleEndian.Uint32(out[0])); got != want {
				t.Errorf("got %v, want %v\n%s", got, want, disassemble(t, compile(t, l, m)))
			}
			if !hasObjdump {
				t.Log("the instructions are not checked: objdump is not installed")
			} else if text := disassemble(t, compile(t, l, m)); !strings.Contains(text, "vfmadd231ps") || strings.Contains(text, "call") {
				t.Errorf("unexpected code\n%s", text)
			}
		})
	}
}
