package compile

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/conformance"
	"github.com/kera-lang/kera/pluginapi/native"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/x86/isel"
)

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

var startRunner = sync.OnceValues(func() (*native.Runner, error) {
	path := filepath.Join(runnerDir, native.RunnerName)
	cmd := exec.Command("go", "build", "-o", path, "github.com/kera-lang/kera/cmd/kera-runner")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: string(b), Err: err}
	}
	return native.New(native.Options{Path: path})
})

// runner starts the process that the tests share; not running a level is
// reported, not hidden.
func runner(t testing.TB, l *isel.Level) *native.Runner {
	t.Helper()
	r, err := startRunner()
	if err != nil {
		t.Fatal(err)
	}
	info, err := r.Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if missing, ok := info.Has(l.Features); !ok {
		t.Skipf("not checked: the processor has no %s", missing)
	}
	return r
}

// computed lists the entries that have nothing to do with storage types,
// which this target does not declare.
func computed(g *graph.Graph) []string {
	var out []string
	for i := range g.Exports {
		name := g.Exports[i].Name
		if !slices.ContainsFunc(strings.Split(name, "/"), storage) {
			out = append(out, name)
		}
	}
	return out
}

func mustCompile(t *testing.T, g *graph.Graph, l *isel.Level) *sdk.Section {
	t.Helper()
	if err := graph.Validate(g, "test"); err != nil {
		t.Fatal(err)
	}
	s, ds, err := Graph(context.Background(), g, l, computed(g))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		t.Errorf("%v", d)
	}
	if s == nil {
		t.FailNow()
	}
	if err := s.Descriptor.CheckArtifact(uint64(len(s.Artifact))); err != nil {
		t.Fatal(err)
	}
	if err := s.Descriptor.Check(); err != nil {
		t.Fatal(err)
	}
	return s
}

// pool keeps buffers from call to call: making one is a round trip.
type pool struct {
	t *testing.T
	r *native.Runner
	b []*native.Buffer
}

// get returns k-th buffers of at least n bytes each.
func (p *pool) get(k int, n uint64) *native.Buffer {
	p.t.Helper()
	for len(p.b) <= k {
		p.b = append(p.b, nil)
	}
	if p.b[k] == nil || uint64(len(p.b[k].Bytes())) < n {
		b, err := p.r.Alloc(context.Background(), max(n, 1<<16))
		if err != nil {
			p.t.Fatal(err)
		}
		p.b[k] = b
	}
	return p.b[k]
}

// call runs one entry and returns the trap code and the outputs.
func (p *pool) call(m *native.Module, e *section.Entry, in [][]byte) (uint32, [][]byte) {
	p.t.Helper()
	var ins, outs []*native.Buffer
	for i, b := range in {
		ins = append(ins, p.get(i, uint64(len(b))))
		copy(ins[i].Bytes(), b)
	}
	for i := range e.Outputs {
		b := p.get(len(in)+i, uint64(e.Outputs[i].Bytes()))
		for k := range b.Bytes()[:e.Outputs[i].Bytes()] { // what is not written shows
			b.Bytes()[k] = 0xa5
		}
		outs = append(outs, b)
	}
	res, err := m.Call(context.Background(), e, ins, outs, native.CallOptions{Threads: 1})
	if err != nil {
		p.t.Fatalf("%s: %v", e.Name, err)
	}
	if res.Fault != nil {
		p.t.Fatalf("%s: %v", e.Name, res.Fault)
	}
	var out [][]byte
	for i, b := range outs {
		out = append(out, b.Bytes()[:e.Outputs[i].Bytes()])
	}
	return res.Trap, out
}

// storage reports whether a group is of a dtype that is stored, never
// computed with.
func storage(name string) bool {
	for _, d := range types.DTypes() {
		if d.String() == name {
			return d.Class() == types.ClassStorage
		}
	}
	return false
}

// TestEveryOp compares every op on every dtype, at both levels, with the
// interpreter on edge inputs.
func TestEveryOp(t *testing.T) {
	ctx := context.Background()
	for _, g := range conformance.Groups() {
		if storage(g.Name) {
			continue
		}
		calls, err := conformance.Calls(ctx, g.Graph, 11, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range Levels() {
			t.Run(g.Name+"/"+l.Name, func(t *testing.T) {
				r := runner(t, l)
				s := mustCompile(t, g.Graph, l)
				m, err := r.Load(ctx, s.Artifact)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Unload(ctx)
				p := &pool{t: t, r: r}
				for _, c := range calls {
					e, ok := s.Descriptor.Entry(c.Entry)
					if !ok {
						continue // a storage type
					}
					trap, out := p.call(m, e, c.Inputs)
					if trap != uint32(c.Trap) {
						t.Errorf("%s, case %d: trap %d, want %v", c.Entry, c.Case, trap, c.Trap)
						continue
					}
					for i := 0; trap == 0 && i < len(out); i++ {
						if !bytes.Equal(out[i], c.Outputs[i]) {
							at := 0
							for at < len(out[i]) && out[i][at] == c.Outputs[i][at] {
								at++
							}
							t.Errorf("%s, case %d: result %d differs at byte %d\n  in %.160x\n got %.160x\nwant %.160x",
								c.Entry, c.Case, i, at, c.Inputs, out[i], c.Outputs[i])
						}
					}
				}
			})
		}
	}
}

// TestProvenance: nodes with code plus folded nodes are the reachable nodes.
func TestProvenance(t *testing.T) {
	for _, c := range conformance.Groups() {
		if c.Name != "f32" && c.Name != "i64" && c.Name != "structure" {
			continue
		}
		for _, l := range Levels() {
			d := mustCompile(t, c.Graph, l).Descriptor
			got := map[digest.D]bool{}
			for _, m := range d.CodeMap {
				got[d.Nodes[m.Node]] = true
			}
			coded := len(got)
			for _, n := range d.Folded {
				if got[d.Nodes[n]] {
					t.Errorf("%s/%s: node %v has code and is folded", c.Name, l.Name, d.Nodes[n])
				}
				got[d.Nodes[n]] = true
			}
			delete(got, digest.D{}) // no node
			want := map[digest.D]bool{}
			for _, name := range computed(c.Graph) {
				x, _ := c.Graph.Export(name)
				for _, r := range c.Graph.RegionsUnder(x.Region) {
					for _, n := range c.Graph.Order(r) {
						want[c.Graph.Digest(n)] = true
					}
				}
			}
			for n := range want {
				if !got[n] {
					t.Errorf("%s/%s: node %v is nowhere", c.Name, l.Name, n)
				}
			}
			for n := range got {
				if !want[n] {
					t.Errorf("%s/%s: node %v is not reachable", c.Name, l.Name, n)
				}
			}
			t.Logf("%s/%s: %d of %d nodes have code", c.Name, l.Name, coded, len(want))
		}
	}
}

// TestDeterminism compiles the same graph twice and expects the same bytes.
func TestDeterminism(t *testing.T) {
	for _, l := range Levels() {
		g := conformance.Groups()[0].Graph
		a, b := mustCompile(t, g, l), mustCompile(t, g, l)
		pa, err := section.Pack(a.Descriptor, a.Artifact)
		if err != nil {
			t.Fatal(err)
		}
		pb, err := section.Pack(b.Descriptor, b.Artifact)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(pa, pb) {
			t.Errorf("%s: two compilations differ", l.Name)
		}
	}
}
