package compile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/native"
	"github.com/kera-lang/kera/plugins/x86/isel"
)

// speedCase is a program worth timing, by name, with its parameters.
type speedCase struct {
	name  string
	types []types.Type
	body  func(b graph.B, p []graph.Ref) graph.Ref
}

func matmulCase(m, k, n int64) speedCase {
	return speedCase{fmt.Sprintf("matmul %dx%dx%d", m, k, n), []types.Type{types.Tensor(types.F32, m, k), types.Tensor(types.F32, k, n)},
		func(b graph.B, p []graph.Ref) graph.Ref {
			return b.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(op.AccFMA)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
				op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0)), p[0], p[1])
		}}
}

// turnedCase multiplies by the transpose of its second parameter.
func turnedCase(m, k, n int64) speedCase {
	return speedCase{fmt.Sprintf("turned %dx%dx%d", m, k, n), []types.Type{types.Tensor(types.F32, m, k), types.Tensor(types.F32, n, k)},
		func(b graph.B, p []graph.Ref) graph.Ref {
			return b.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(op.AccFMA)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
				op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 1)), p[0], p[1])
		}}
}

func speedCases() []speedCase {
	v, w := types.Tensor(types.F32, 65536), types.Tensor(types.F64, 65536)
	fusion := func(ts []types.Type, body func(b graph.B, p []graph.Ref) graph.Ref) func(b graph.B, p []graph.Ref) graph.Ref {
		return func(b graph.B, p []graph.Ref) graph.Ref {
			inner := b.Region(ts, body(b, b.Params(ts...)))
			return b.Apply(op.Fusion, nil, []graph.RegionID{inner}, p...)[0]
		}
	}
	return []speedCase{
		matmulCase(64, 64, 64), matmulCase(256, 256, 256), matmulCase(1024, 1024, 1024), matmulCase(8, 64, 10), matmulCase(1, 512, 512),
		matmulCase(8, 4096, 4096), matmulCase(512, 512, 1), turnedCase(1, 512, 512), turnedCase(128, 512, 512),
		{"sum 65536", []types.Type{v}, func(b graph.B, p []graph.Ref) graph.Ref { return b.Reduce(op.Sum, p[0], 0) }},
		{"sum f64 65536", []types.Type{w, w}, fusion([]types.Type{w, w}, func(b graph.B, p []graph.Ref) graph.Ref {
			return b.Reduce(op.Sum, b.N(op.Mul, nil, b.N(op.Sub, nil, p[0], p[1]), p[0]), 0)
		})},
		{"sum columns", []types.Type{types.Tensor(types.F32, 1024, 64)}, func(b graph.B, p []graph.Ref) graph.Ref { return b.Reduce(op.Sum, p[0], 0) }},
		{"max 65536", []types.Type{v}, func(b graph.B, p []graph.Ref) graph.Ref { return b.Reduce(op.RMax, p[0], 0) }},
		{"dot 65536", []types.Type{v, v}, func(b graph.B, p []graph.Ref) graph.Ref {
			return b.N(op.Dot, op.NewAttrs(op.Int(op.KAxis, 0)), p[0], p[1])
		}},
		{"chain 65536", []types.Type{v}, fusion([]types.Type{v}, func(b graph.B, p []graph.Ref) graph.Ref {
			c := func(f float32) graph.Ref { return b.Broadcast(b.F32(f), v) }
			y := b.N(op.Add, nil, b.N(op.Mul, nil, p[0], c(1.5)), c(0.25))
			return b.N(op.Abs, nil, b.N(op.Sub, nil, b.N(op.Mul, nil, y, p[0]), c(0.125)))
		})},
	}
}

func (c speedCase) graph(t testing.TB) *graph.Graph {
	t.Helper()
	g := graph.New()
	b := graph.B{Store: g.Store}
	x := graph.Export{Name: "main", Results: []graph.Port{{Name: "r"}}, Optimised: graph.None,
		Region: b.Region(c.types, c.body(b, b.Params(c.types...)), b.NoTrap())}
	for i := range c.types {
		x.Params = append(x.Params, graph.Port{Name: fmt.Sprint("p", i)})
	}
	if err := g.AddExport(x); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestInnerLoopsDoNotSpill: the planned inner loops fit the registers.
func TestInnerLoopsDoNotSpill(t *testing.T) {
	ctx := context.Background()
	for _, c := range speedCases() {
		for _, l := range Levels() {
			p, err := plan.Build(ctx, c.graph(t), options(l, nil))
			if err != nil {
				t.Fatal(err)
			}
			code, err := l.Compile(ctx, p.Module, isel.Options{Check: true})
			if err != nil {
				t.Fatal(err)
			}
			if dir := os.Getenv("KERA_DUMP"); dir != "" {
				name := fmt.Sprintf("%s/%s %s", dir, c.name, l.Name)
				if err := os.WriteFile(name+".bin", code.Bytes[:code.Text], 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name+".lir", []byte(p.Module.Funcs[0].String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range code.Reports {
				if n := r.SpillsInInnerLoops(); n != 0 {
					t.Errorf("%s, %s: %d spills in inner loops\n%v", c.name, l.Name, n, r)
				}
			}
		}
	}
}

// TestMatmulInnerLoop looks at the hottest code there is: nothing but the
// planned multiply-adds in registers, a broadcast for every row, two loads, and
// address arithmetic.
func TestMatmulInnerLoop(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("not checked: objdump is not installed")
	}
	l := isel.AVX512()
	s := mustCompile(t, matmulCase(256, 256, 256).graph(t), l)
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, s.Artifact, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(objdump, "-D", "-b", "binary", "-mi386:x86-64", "-Mintel", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	// The innermost loop with the most multiply-adds: a jump back, and what
	// lies between, if that has no jump itself.
	lines := strings.Split(string(text), "\n")
	at := map[string]int{}
	jump := regexp.MustCompile(`\tj[a-z]+ +0x([0-9a-f]+)`)
	var best []string
	last := 0
	for i, line := range lines {
		addr, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		at[addr] = i
		m := jump.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if from, ok := at[m[1]]; ok && from >= last {
			if body := lines[from:i]; strings.Count(strings.Join(body, "\n"), "vfmadd") > strings.Count(strings.Join(best, "\n"), "vfmadd") {
				best = body
			}
		}
		last = i
	}
	count := map[string]int{}
	for _, line := range best {
		switch {
		case strings.Contains(line, "vfmadd231ps") && !strings.Contains(line, "["):
			count["fma"]++
		case strings.Contains(line, "vbroadcastss") && strings.Contains(line, ",DWORD PTR [r"):
			count["broadcast"]++
		case strings.Contains(line, "vmovups") && strings.Contains(line, ",ZMMWORD"):
			count["load"]++
		case strings.Contains(line, "\tv"):
			count["other vector"]++
		case strings.Contains(line, "[rsp"):
			count["stack"]++
		}
	}
	if count["fma"] != 28 || count["broadcast"] != 14 || count["load"] != 2 || count["other vector"] != 0 || count["stack"] != 0 {
		t.Errorf("%v\n%s", count, strings.Join(best, "\n"))
	}
}

// BenchmarkCode times the code in the runner, without the protocol.
func BenchmarkCode(b *testing.B) {
	ctx := context.Background()
	for _, c := range speedCases() {
		for _, l := range Levels() {
			b.Run(c.name+"/"+l.Name, func(b *testing.B) {
				r := runner(b, l)
				s, ds, err := Graph(ctx, c.graph(b), l, nil)
				if s == nil {
					b.Fatal(ds, err)
				}
				m, err := r.Load(ctx, s.Artifact)
				if err != nil {
					b.Fatal(err)
				}
				defer m.Unload(ctx)
				e := &s.Descriptor.Entries[0]
				var bufs [2][]*native.Buffer
				for k, list := range [][]section.Buffer{e.Inputs, e.Outputs} {
					for _, x := range list {
						buf, err := r.Alloc(ctx, uint64(x.Bytes()))
						if err != nil {
							b.Fatal(err)
						}
						defer buf.Free(ctx)
						for i := range buf.Bytes() {
							buf.Bytes()[i] = 0x3f
						}
						bufs[k] = append(bufs[k], buf)
					}
				}
				b.ResetTimer()
				res, err := m.Call(ctx, e, bufs[0], bufs[1], native.CallOptions{Threads: 1, Repeat: b.N})
				if err != nil || res.Fault != nil {
					b.Fatal(res, err)
				}
				b.ReportMetric(float64(res.Nanoseconds)/float64(b.N), "ns/op")
			})
		}
	}
}
