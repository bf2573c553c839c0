package kera_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend"
	"github.com/kera-lang/kera/internal/srcgen"
	"github.com/kera-lang/kera/midend"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/conformance"
	"github.com/kera-lang/kera/pluginapi/native"
	wasm "github.com/kera-lang/kera/plugins/wasm/compile"
	wasmexec "github.com/kera-lang/kera/plugins/wasm/exec"
	x86 "github.com/kera-lang/kera/plugins/x86/compile"
)

// campaign runs random source programs on every target.
type campaign struct {
	t      *testing.T
	runner *native.Runner
	info   native.Info
	engine *wasmexec.Machine

	programs, refused, trapped, inputs int
	compared, unsupported              map[string]int // by target
	features                           map[string]int
}

// outcome is the first thing wrong with a program, or nothing.
type outcome struct {
	target string
	call   conformance.Call
	what   string
}

// TestCampaign: random source programs give the interpreter's bytes and traps
// on every target. `make campaign` runs more of them.
func TestCampaign(t *testing.T) {
	n, seed, limit := number(t, "KERA_CAMPAIGN", 1<<30), number(t, "KERA_SEED", 1), 12*time.Second
	switch {
	case os.Getenv("KERA_CAMPAIGN") != "":
		limit = 24 * time.Hour
	case testing.Short():
		limit = 2 * time.Second
	}
	r, info, engine := machines(t)
	c := &campaign{t: t, runner: r, info: info, engine: engine,
		compared: map[string]int{}, unsupported: map[string]int{}, features: map[string]int{}}
	start := time.Now()
	failures := 0
	for i := uint64(0); i < n && time.Since(start) < limit && failures < 5; i++ {
		p := srcgen.New(seed + i)
		c.programs++
		for k, v := range p.Features {
			c.features[k] += v
		}
		bad := c.program(p.Source(), true)
		if bad == nil {
			continue
		}
		failures++
		small := p.Shrink(400, func(src string) bool {
			b := c.program(src, false)
			return b != nil && b.target == bad.target && (b.call.Entry == "") == (bad.call.Entry == "")
		}).Source()
		last := c.program(small, false)
		t.Errorf("seed %d: %s: %s\n%s\ninputs %x\nfirst: %s", seed+i, last.target, last.what, small, last.call.Inputs, bad.what)
	}
	t.Logf("%d programs in %v: %d refused (%.1f%%), %d inputs, %d of them trap, %d failures", c.programs, time.Since(start).Round(time.Second),
		c.refused, 100*float64(c.refused)/float64(max(c.programs, 1)), c.inputs, c.trapped, failures)
	for _, name := range slices.Sorted(maps.Keys(c.compared)) {
		t.Logf("%-16s %d comparisons, %d programs not supported", name, c.compared[name], c.unsupported[name])
	}
	var seen []string
	for _, k := range slices.Sorted(maps.Keys(c.features)) {
		seen = append(seen, fmt.Sprintf("%s %d", k, c.features[k]))
	}
	t.Logf("forms: %s", strings.Join(seen, ", "))
	if c.refused*10 > c.programs {
		t.Errorf("%d of %d programs do not compile: the generator is at fault", c.refused, c.programs)
	}
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// program compiles and runs one source; count adds to the totals.
func (c *campaign) program(src string, count bool) (bad *outcome) {
	stage := "frontend"
	var at conformance.Call
	defer func() {
		if r := recover(); r != nil {
			bad = &outcome{stage, at, fmt.Sprintf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	ctx := context.Background()
	res, ds := frontend.Compile(ctx, frontend.Options{FS: fstest.MapFS{"p.kera": {Data: []byte(src)}}, Main: "p.kera"})
	if ds.HasErrors() {
		if count {
			c.refused++
			if os.Getenv("KERA_REFUSED") != "" {
				c.t.Logf("refused: %v\n%s", ds, src)
			}
		}
		return nil
	}
	g := res.Graph
	stage = "interp"
	calls, err := inputs(ctx, g)
	if err != nil {
		return &outcome{stage, at, err.Error()}
	}
	if count {
		c.inputs += len(calls)
		for _, call := range calls {
			if call.Trap != 0 {
				c.trapped++
			}
		}
	}
	stage = "midend"
	if _, err := midend.Optimise(ctx, g, midend.Options{}); err != nil {
		return &outcome{stage, at, err.Error()}
	}
	done := func(target string) {
		if count {
			c.compared[target] += len(calls)
		}
	}
	for _, call := range calls {
		at = call
		x, _ := g.Export(call.Entry)
		in, err := interp.FromLeaves(g.UserParams(x), call.Inputs)
		if err != nil {
			return &outcome{stage, at, err.Error()}
		}
		out, trap, err := interp.RunOptimised(ctx, g, x, in)
		if err != nil {
			return &outcome{stage, at, err.Error()}
		}
		var got [][]byte
		for _, v := range out {
			for _, l := range v.Leaves(nil) {
				got = append(got, l.Data)
			}
		}
		if !same(call, trap, got) {
			return &outcome{stage, call, fmt.Sprintf("the optimised graph gives trap %v, outputs %x; want %v, %x", trap, got, call.Trap, call.Outputs)}
		}
	}
	done(stage)
	at = conformance.Call{}
	if len(plan.Support(g, plan.Options{})) > 0 {
		if count {
			c.unsupported["x86"]++
			c.unsupported["wasm"]++
		}
		return nil
	}
	for _, l := range x86.Levels() {
		stage = "x86 " + l.Name
		if _, ok := c.info.Has(l.Features); !ok {
			continue
		}
		s, xs, err := x86.Graph(ctx, g, l, nil)
		if err != nil || len(xs) > 0 {
			return &outcome{stage, at, fmt.Sprint(err, xs)}
		}
		runNative(c.t, c.runner, s.Descriptor, s.Artifact, calls, func(call conformance.Call) {
			bad = &outcome{stage, call, fmt.Sprintf("differs from trap %v, outputs %x", call.Trap, call.Outputs)}
		})
		if bad != nil {
			return bad
		}
		done(stage)
	}
	stage = "wasm"
	w, xs, err := wasm.Graph(ctx, g, nil)
	if err != nil || len(xs) > 0 {
		return &outcome{stage, at, fmt.Sprint(err, xs)}
	}
	mod, err := c.engine.Load(ctx, w.Section.Descriptor, w.Section.Artifact)
	if err != nil {
		return &outcome{stage, at, err.Error()}
	}
	defer func() { _ = mod.Close(ctx) }()
	for _, call := range calls {
		e, _ := w.Section.Descriptor.Entry(call.Entry)
		out := make([][]byte, len(e.Outputs))
		for i, b := range e.Outputs {
			out[i] = make([]byte, b.Bytes())
		}
		trap, _, err := mod.Run(ctx, call.Entry, call.Inputs, out)
		if err != nil {
			return &outcome{stage, call, err.Error()}
		}
		if uint32(call.Trap) != trap || !same(call, call.Trap, out) {
			return &outcome{stage, call, fmt.Sprintf("trap %d, outputs %x; want %v, %x", trap, out, call.Trap, call.Outputs)}
		}
	}
	done(stage)
	return nil
}

// inputs runs g on the interpreter with ordinary values, special ones and
// random bits.
func inputs(ctx context.Context, g *graph.Graph) ([]conformance.Call, error) {
	calls, err := conformance.Calls(ctx, g, 3, 2)
	if err != nil {
		return nil, err
	}
	for i := range g.Exports {
		x := &g.Exports[i]
		r := rand.New(rand.NewPCG(5, uint64(i)))
		var leaves [][]byte
		for _, p := range g.UserParams(x) {
			for _, l := range p.Leaves(nil) {
				b := make([]byte, l.NumBytes())
				for k := range b {
					b[k] = byte(r.Uint32())
					if l.DType == types.Bool {
						b[k] &= 1
					}
				}
				if l.DType == types.F32 && len(b) >= 4 {
					binary.LittleEndian.PutUint32(b, 0xffa00001) // a NaN that signals
				}
				leaves = append(leaves, b)
			}
		}
		in, err := interp.FromLeaves(g.UserParams(x), leaves)
		if err != nil {
			return nil, err
		}
		res, trap, err := interp.New(g.Store, interp.DefaultLimits()).Run(ctx, x, in)
		if err != nil {
			return nil, err
		}
		var out [][]byte
		for _, v := range res {
			for _, l := range v.Leaves(nil) {
				out = append(out, l.Data)
			}
		}
		calls = append(calls, conformance.Call{Entry: x.Name, Case: 2, Inputs: leaves, Trap: trap, Outputs: out})
	}
	return calls, nil
}

// TestFieldCases: the tests of cases found elsewhere hold on the interpreter,
// and their functions give the same bytes on every target.
func TestFieldCases(t *testing.T) {
	dir := filepath.Join("..", "shared", "cases")
	src, err := os.ReadFile(filepath.Join(dir, "field.kera"))
	if err != nil {
		t.Skip("not checked: ../shared/cases/field.kera is not there")
	}
	ctx := context.Background()
	res, ds := frontend.Compile(ctx, frontend.Options{FS: fstest.MapFS{"field.kera": {Data: src}}, Main: "field.kera", Tests: true,
		Bind: map[string]int64{"n": 1003}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r, info, engine := machines(t)
	onTargets(t, r, info, engine, res.TestGraph, "the tests")
	onTargets(t, r, info, engine, res.Graph, "the functions")
	m := interp.New(res.TestGraph.Store, interp.DefaultLimits())
	for _, test := range res.Tests {
		x, _ := res.TestGraph.Export(test.Entry)
		if _, trap, err := m.Run(ctx, x, nil); err != nil || trap != 0 {
			t.Errorf("%s: trap %v, %v", test.Name, trap, err)
		}
	}
}
