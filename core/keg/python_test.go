package keg

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

const checker = "../../tools/kegcheck.py"

func python(t *testing.T) string {
	t.Helper()
	p, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("not checked: there is no python3")
	}
	return p
}

// TestPython: the independent checker accepts every golden file, with the same
// digests of all nodes, regions, blobs and exports.
func TestPython(t *testing.T) {
	py := python(t)
	for _, s := range samples {
		path := filepath.Join("testdata", s.name+".keg")
		out, err := exec.Command(py, checker, "--json", path).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, err.(*exec.ExitError).Stderr)
		}
		var got struct {
			Fingerprint                  digestText
			Exports                      map[string]digestText
			Types, Nodes, Regions, Blobs []digestText
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		o, err := Open(path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		g := o.Graph
		fp, err := g.Fingerprint()
		if err != nil || fp.String() != got.Fingerprint {
			t.Errorf("%s: fingerprint %s, want %s (%v)", path, got.Fingerprint, fp, err)
		}
		for i := range g.Exports {
			d, err := g.ExportDigest(&g.Exports[i])
			if err != nil || got.Exports[g.Exports[i].Name] != d.String() {
				t.Errorf("%s: export %s has digest %s, want %s (%v)", path, g.Exports[i].Name, got.Exports[g.Exports[i].Name], d, err)
			}
		}
		same := func(what string, n int, at func(i int) digest.D, list []digestText) {
			want := make([]digestText, n)
			for i := range want {
				want[i] = at(i).String()
			}
			if !slices.Equal(want, list) {
				t.Errorf("%s: digests of %s differ", path, what)
			}
		}
		same("types", g.NumTypes(), func(i int) digest.D { return g.TypeDigest(graph.TypeID(i)) }, got.Types)
		same("nodes", g.NumNodes(), func(i int) digest.D { return g.Digest(graph.NodeID(i)) }, got.Nodes)
		same("regions", g.NumRegions(), func(i int) digest.D { return g.RegionDigest(graph.RegionID(i)) }, got.Regions)
		blobs := canonical(g).blobs
		same("blobs", len(blobs), func(i int) digest.D { return blobs[i] }, got.Blobs)
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

type digestText = string

// TestPythonVectors: the checker computes the golden vectors.
func TestPythonVectors(t *testing.T) {
	out, err := exec.Command(python(t), checker, "--vectors", "../graph/testdata/vectors.tsv").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestPythonRefuses: the checker refuses changed files, whether their digests
// are right again or not.
func TestPythonRefuses(t *testing.T) {
	py, dir := python(t), t.TempDir()
	orig := encoded(t, full(t))
	var paths []string
	put := func(b []byte) {
		p := filepath.Join(dir, string(rune('a'+len(paths)/26))+string(rune('a'+len(paths)%26))+".keg")
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	for _, n := range []int{0, 50, 96, 1000, len(orig) / 2, len(orig) - 1} {
		put(orig[:n])
	}
	p, err := parse(orig)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.secs {
		e := &p.secs[i]
		b := bytes.Clone(orig)
		b[e.at+uint64(len(e.b))/2] ^= 1
		put(b)
		if e.kind <= KindBlobs {
			// Right digests, wrong content: the fingerprint or the layout is off.
			b = bytes.Clone(b)
			reseal(b)
			put(b)
		}
	}
	for _, at := range []int{0, 4, 12, 24, 60, 90, 100, 800} {
		b := bytes.Clone(orig)
		b[at] ^= 0x10
		put(b)
	}
	out, err := exec.Command(py, append([]string{checker}, paths...)...).CombinedOutput()
	if err == nil {
		t.Error("it accepts them all")
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if strings.Contains(line, ": ok") || strings.Contains(line, "Traceback") {
			t.Errorf("file %d: %s", i, line)
		}
	}
	if n := strings.Count(string(out), ".keg: "); n != len(paths) {
		t.Errorf("%d verdicts for %d files:\n%s", n, len(paths), out)
	}
	for i, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(b, ReadOptions{}); err == nil {
			t.Errorf("file %d is read", i)
		}
	}
}
