package fma

import (
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/plugins/wasm/internal/v8"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

// phaseModule has one phase function per form over n elements.
func phaseModule(n int) []byte {
	m := wenc.NewModule(wenc.NewIndex())
	m.Memory(1, 0)
	m.ExportMemory("memory")
	idx := Add(m, F32, F64, F32x4, F64x2)
	for _, fm := range forms {
		f, fn := m.Func(fmt.Sprintf("run_%d", fm.kind), []wenc.ValType{wenc.I32, wenc.I32, wenc.I32, wenc.I64}, []wenc.ValType{wenc.I32})
		i := f.Local(wenc.I32)
		at := func(table uint32, k uint64) {
			f.Get(table)
			f.I("i32.load", 2, 4*k)
			f.Get(i)
			f.I("i32.add")
		}
		top := f.Loop(wenc.BlockVoid)
		at(1, 0)
		for k := range uint64(3) {
			at(0, k)
			f.I(fm.load, 0, 0)
		}
		f.Call(idx[fm.kind])
		f.I(fm.store, 0, 0)
		f.Get(i)
		f.I32(int32(fm.size * fm.lanes))
		f.I("i32.add")
		f.Tee(i)
		f.I32(int32(n * fm.size))
		f.I("i32.lt_u")
		f.BrIf(top)
		f.End()
		f.I32(0)
		m.ExportFunc(f.Name(), fn)
	}
	b, _ := m.Encode()
	return b
}

func TestInV8(t *testing.T) {
	node, ok := v8.Find()
	if !ok {
		t.Skip("not checked: node is not installed")
	}
	const n = 20000
	artifact := phaseModule(n)
	var jobs []v8.Job
	var want [][]uint64
	for _, fm := range forms {
		dt := types.F64
		if fm.size == 4 {
			dt = types.F32
		}
		buf := section.Buffer{DType: dt, Dims: []int64{n}, Align: 64}
		e := &section.Entry{Name: "fma", Inputs: []section.Buffer{buf, buf, buf}, Outputs: []section.Buffer{buf}, WorkAlign: 1,
			Phases: []section.Phase{{Symbol: fmt.Sprintf("run_%d", fm.kind), Tiles: 1}}}
		g := newGenerator(fm.size, 99)
		in := [][]byte{make([]byte, n*fm.size), make([]byte, n*fm.size), make([]byte, n*fm.size)}
		w := make([]uint64, n)
		for i := range n {
			c := g.triple()
			for k := range 3 {
				putBits(in[k][i*fm.size:], fm.size, c[k])
			}
			if w[i] = wantF64(c[0], c[1], c[2]); fm.size == 4 {
				w[i] = wantF32(c[0], c[1], c[2])
			}
		}
		jobs, want = append(jobs, v8.Job{Artifact: artifact, Entry: e, Inputs: in}), append(want, w)
	}
	got, err := v8.Run(node, "../../../docs/spec/wasm-abi.md", t.TempDir(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for k, fm := range forms {
		bad := 0
		for i, w := range want[k] {
			if getBits(got[k].Outputs[0][i*fm.size:], fm.size) != w {
				bad++
			}
		}
		if bad > 0 {
			t.Errorf("form %d: %d of %d cases differ in V8", fm.kind, bad, n)
		}
	}
}
