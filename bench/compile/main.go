// Command compile measures how long compiling takes: `make bench-compile`.
//
// It times the mid-end per node on graphs of several forms and growing size; the
// whole of `kerac build` on small kernels against `gcc -O2` on the same kernels in
// C, in turn, best of the rounds; and the bytes of a wasm section per small kernel.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/midend"
)

func main() {
	kernels := flag.Int("kernels", 2000, "small kernels to compile; 0 for none")
	rounds := flag.Int("rounds", 3, "rounds; the best counts")
	top := flag.Int("nodes", 100000, "nodes of the largest graph")
	kerac := flag.String("kerac", filepath.Join("bin", "kerac"), "the compiler")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := passes(ctx, *top, *rounds)
	if err == nil && *kernels > 0 {
		err = builds(ctx, *kerac, *kernels, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

// passes prints the mid-end's time per node of the source graph.
func passes(ctx context.Context, top, rounds int) error {
	fmt.Printf("%-8s %8s %12s\n", "form", "nodes", "us per node")
	for _, f := range forms {
		for n := 1000; n <= top; n *= 10 {
			best, nodes := math.Inf(1), 0
			for range rounds {
				g, err := program(f.body, n)
				if err != nil {
					return err
				}
				if _, err := g.Fingerprint(); err != nil { // as the frontend leaves it
					return err
				}
				nodes = g.NumNodes()
				start := time.Now()
				if _, err := midend.Optimise(ctx, g, midend.Options{}); err != nil {
					return err
				}
				best = min(best, time.Since(start).Seconds())
			}
			fmt.Printf("%-8s %8d %12.2f\n", f.name, nodes, best*1e6/float64(nodes))
		}
	}
	return nil
}

var vec = types.Tensor(types.F32, 256)

// forms are the graphs that passes are timed on: each body makes about n nodes.
var forms = []struct {
	name string
	body func(b graph.B, x, y graph.Ref, n int) graph.Ref
}{
	{"chain", chain},
	{"wide", func(b graph.B, x, y graph.Ref, n int) graph.Ref {
		layer := make([]graph.Ref, n/2)
		for i := range layer {
			layer[i] = b.N(op.Mul, nil, x, b.Broadcast(b.F32(float32(i)+0.5), vec))
		}
		for len(layer) > 1 {
			var up []graph.Ref
			for i := 0; i+1 < len(layer); i += 2 {
				up = append(up, b.N(op.Add, nil, layer[i], layer[i+1]))
			}
			layer = append(up, layer[len(layer)&^1:]...)
		}
		return layer[0]
	}},
	{"nested", func(b graph.B, x, y graph.Ref, n int) graph.Ref {
		// Switches of switches, 32 deep.
		ps := []types.Type{types.Scalar(types.Bool), vec, vec}
		in := b.Params(ps...)
		inner := b.Region(ps, chain(b, in[1], in[2], n/32))
		for d := range 30 {
			v := chain(b, b.N(op.Mul, nil, in[1], b.Broadcast(b.F32(float32(d)+1.5), vec)), in[2], n/32)
			v = b.Apply(op.Switch, nil, []graph.RegionID{inner, b.Region(ps, v)}, in[0], in[0], v, in[2])[0]
			inner = b.Region(ps, v)
		}
		c := b.Compare(op.LT, b.Reduce(op.Sum, x, 0), b.F32(1))
		return b.Apply(op.Switch, nil, []graph.RegionID{inner, b.Region(ps, in[1])}, c, c, x, y)[0]
	}},
	{"loops", func(b graph.B, x, y graph.Ref, n int) graph.Ref {
		ps := []types.Type{types.Scalar(types.I64), vec, vec}
		in := b.Params(ps...)
		cond := b.Region(ps, b.Bool(true))
		for i := range n / 20 {
			body := b.Region(ps, chain(b, in[1], b.N(op.Mul, nil, in[2], b.Broadcast(b.F32(float32(i)), vec)), 15))
			x = b.Apply(op.Loop, op.Attrs{op.Int(op.KCarried, 1)}, []graph.RegionID{cond, body}, b.I64(8), x, y)[0]
		}
		return x
	}},
}

func chain(b graph.B, x, y graph.Ref, n int) graph.Ref {
	ops := []op.Code{op.Add, op.Mul, op.Sub, op.Max}
	for i := range max(n, 1) {
		x = b.N(ops[i%len(ops)], nil, x, y)
	}
	return x
}

func program(body func(b graph.B, x, y graph.Ref, n int) graph.Ref, n int) (*graph.Graph, error) {
	g := graph.New()
	b := graph.B{Store: g.Store}
	ps := []types.Type{vec, vec}
	p := b.Params(ps...)
	r := b.Region(ps, body(b, p[0], p[1], n), b.NoTrap())
	x := graph.Export{Name: "f", Params: []graph.Port{{Name: "x"}, {Name: "y"}}, Results: []graph.Port{{Name: "r"}}, Region: r, Optimised: graph.None}
	return g, g.AddExport(x)
}

// builds prints what compiling n small kernels takes.
func builds(ctx context.Context, kerac string, n, rounds int) error {
	dir, err := os.MkdirTemp("", "kera-compile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := sources(dir, n); err != nil {
		return err
	}
	best := map[string]float64{}
	run := func(what, name string, args ...string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, fmt.Sprint("cache", time.Now().UnixNano())))
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", what, err, out)
		}
		if s := time.Since(start).Seconds(); best[what] == 0 || s < best[what] {
			best[what] = s
		}
		return nil
	}
	if kerac, err = filepath.Abs(kerac); err != nil {
		return err
	}
	for range rounds {
		for _, target := range []string{"x86", "wasm"} {
			if err := run(target, kerac, "build", "-q", "k.kera", "-o", target+".keg", "--target", target); err != nil {
				return err
			}
		}
		if err := run("gcc", "gcc", "-O2", "-c", "k.c", "-o", "k.o"); err != nil {
			return err
		}
	}
	fmt.Printf("%d kernels: gcc -O2 %.2f s", n, best["gcc"])
	for _, target := range []string{"x86", "wasm"} {
		b, err := os.ReadFile(filepath.Join(dir, target+".keg"))
		if err != nil {
			return err
		}
		f, err := keg.Read(b, keg.ReadOptions{})
		if err != nil {
			return err
		}
		bytes := 0
		for _, t := range f.Targets {
			bytes += len(t.Artifact)
		}
		fmt.Printf(", %s %.2f s (ratio %.1f; %d sections, %d bytes a kernel)", target, best[target], best["gcc"]/best[target], len(f.Targets), bytes/n)
	}
	fmt.Println()
	return nil
}

// sources writes the same n kernels in Kera and in C.
func sources(dir string, n int) error {
	var k, c strings.Builder
	k.WriteString("module k\n")
	c.WriteString("#include <math.h>\n#include <stddef.h>\n")
	for i := range n {
		a, size := float64(i)*0.25+0.5, 64+i%64
		if i%4 == 3 {
			fmt.Fprintf(&k, "\npub fn k%d(x: f32[%d], y: f32[%d]) -> f32 {\n    sum(x * y + %g)\n}\n", i, size, size, a)
			fmt.Fprintf(&c, "float k%d(const float *x, const float *y) { float s = 0; for (size_t i = 0; i < %d; i++) s += x[i] * y[i] + %#gf; return s; }\n", i, size, a)
			continue
		}
		fmt.Fprintf(&k, "\npub fn k%d(x: f32[%d], y: f32[%d]) -> f32[%d] {\n    abs(x * %g + y) * x - y\n}\n", i, size, size, size, a)
		fmt.Fprintf(&c, "void k%d(const float *x, const float *y, float *restrict r) { for (size_t i = 0; i < %d; i++) r[i] = fabsf(x[i] * %#gf + y[i]) * x[i] - y[i]; }\n", i, size, a)
	}
	if err := os.WriteFile(filepath.Join(dir, "k.kera"), []byte(k.String()), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "k.c"), []byte(c.String()), 0o600)
}
