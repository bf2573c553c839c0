package kera_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend"
	"github.com/kera-lang/kera/midend"
	"github.com/kera-lang/kera/pluginapi/conformance"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// recorded are the sources whose optimised graphs are pinned; the pinned .keg files
// and the random graphs come on top.
var recorded = []string{"bench/bench.kera", "examples/digits/digits.kera", "examples/pid/pid.kera", "examples/var/var.kera"}

const recordedSeeds = 250

// TestOptimisedGraphsAreRecorded: what the mid-end makes of a program changes only
// when somebody means it to. A line is the digest of the optimised graph and a
// hash of its text, which sees the order of the nodes and their origins too.
// KERA_UPDATE=1 writes the file anew.
func TestOptimisedGraphsAreRecorded(t *testing.T) {
	var got strings.Builder
	add := func(name string, g *graph.Graph) {
		t.Helper()
		if _, err := midend.Optimise(context.Background(), g, midend.Options{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d, ok := g.OptimisedDigest()
		if !ok {
			t.Fatalf("%s has no optimised graph", name)
		}
		if err := graph.VerifyDigests(g); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		h := sha256.New()
		if err := g.Text(h, true); err != nil {
			t.Fatal(err)
		}
		for _, r := range optimisedRegions(g) {
			for _, n := range g.Order(r) {
				fmt.Fprintln(h, n, g.Prov.Origins[n])
			}
		}
		fmt.Fprintf(&got, "%s %s %x\n", name, d, h.Sum(nil)[:8])
	}
	for _, path := range recorded {
		dir := filepath.Dir(path)
		res, ds := frontend.Compile(context.Background(), frontend.Options{FS: os.DirFS(dir), Main: filepath.Base(path),
			Embed: func(file, array string) (types.Type, []byte, error) { return embedded(filepath.Join(dir, file), array) }})
		if ds.HasErrors() {
			t.Fatalf("%s: %v", path, ds)
		}
		add(path, res.Graph)
	}
	pinned, err := filepath.Glob("testdata/pinned/*.keg")
	if err != nil || len(pinned) == 0 {
		t.Fatalf("no pinned graphs: %v", err)
	}
	for _, path := range pinned {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := keg.Read(b, keg.ReadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		add(path, f.Graph)
	}
	for seed := range uint64(recordedSeeds) {
		add(fmt.Sprintf("random/%d", seed), conformance.Random(seed, 5+int(seed%80)))
	}
	const file = "testdata/optimised.txt"
	if os.Getenv("KERA_UPDATE") == "1" {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have, recordedLines := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(have) != len(recordedLines) {
		t.Fatalf("%d graphs, recorded are %d", len(have), len(recordedLines))
	}
	for i := range have {
		if have[i] != recordedLines[i] {
			t.Errorf("got  %s\nwant %s", have[i], recordedLines[i])
		}
	}
}

func optimisedRegions(g *graph.Graph) []graph.RegionID {
	var roots []graph.RegionID
	for i := range g.Exports {
		roots = append(roots, g.Exports[i].Optimised)
	}
	return g.RegionsUnder(roots...)
}

func embedded(path, array string) (types.Type, []byte, error) {
	if array != "" {
		path += ":" + array
	}
	v, err := tensorio.Read(path, array, nil)
	if err != nil {
		return types.Type{}, nil, err
	}
	return v.Type(), v.Data, nil
}
