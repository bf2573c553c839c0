package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
	"github.com/kera-lang/kera/frontend/syntax"
)

func TestCPU(t *testing.T) {
	c := parseCPU("processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: A CPU\nstepping\t: 2\n" +
		"flags\t\t: fpu avx avx2 fma abm avx512f avx512vl avx512dq avx512bw\n\nprocessor\t: 1\nmodel name\t: Another\n")
	if c.model != "A CPU (family 6 model 207 stepping 2)" {
		t.Errorf("model %q", c.model)
	}
	if !c.has([]string{"avx2", "lzcnt"}) || c.has([]string{"avx2", "avx512_bf16"}) {
		t.Errorf("features %v", c.features)
	}
	t.Setenv("OPENBLAS_CORETYPE", "")
	if got := c.coreType(); got != "SkylakeX" {
		t.Errorf("core type %s", got)
	}
	t.Setenv("OPENBLAS_CORETYPE", "Zen")
	if got := c.coreType(); got != "Zen" {
		t.Errorf("core type %s", got)
	}
}

// TestDriver times a blob that returns at once, and reports the peers that are absent.
func TestDriver(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("not checked: no gcc")
	}
	c, err := readCPU("/proc/cpuinfo")
	if err != nil {
		t.Skip("not checked:", err)
	}
	if !c.features["sse2"] {
		t.Skip("not checked: no x86-64")
	}
	ctx, dir := context.Background(), t.TempDir()
	d, err := buildDriver(ctx, c, dir)
	if err != nil {
		t.Fatal(err)
	}
	code := []byte{0x31, 0xc0, 0xc3} // xor eax, eax; ret
	k := &kera{codePath: filepath.Join(dir, "code.bin"), codeSize: len(code), missing: "not built", desc: &section.Descriptor{
		Entries: []section.Entry{{
			Name:    "total[n=1024]",
			Inputs:  []section.Buffer{{DType: types.F32, Dims: []int64{1024}, Align: 64}},
			Outputs: []section.Buffer{{DType: types.F32, Align: 64}},
			Phases:  []section.Phase{{Tiles: 1}},
		}},
	}}
	if err := os.WriteFile(k.codePath, code, 0o600); err != nil {
		t.Fatal(err)
	}
	var ws []work
	for _, w := range cases() {
		if w.size == 1024 && w.op != "matmul" {
			ws = append(ws, w)
		}
	}
	rows, err := d.run(ctx, options{rounds: 3, millis: 0.01}, k, ws)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		measured := r.Op == "sum" && (strings.HasPrefix(r.Peer, "gcc") || d.blas && strings.HasPrefix(r.Peer, "openblas"))
		if measured != (r.Ratio != nil && r.NotChecked == "") {
			t.Errorf("%+v: measured %v", r, r.Ratio != nil)
		}
		if measured && *r.Difference < 0.5 {
			t.Errorf("%+v: a blob that computes nothing agrees with its peer", r)
		}
	}
	var w strings.Builder
	(&Report{Rows: rows}).print(&w)
	if !strings.Contains(w.String(), "numpy (not checked") {
		t.Error(w.String())
	}
}

// TestSource: bench.kera has no diagnostics and exports what the cases name.
func TestSource(t *testing.T) {
	text, err := os.ReadFile("bench.kera")
	if err != nil {
		t.Fatal(err)
	}
	tree := syntax.Parse(diag.NewFile("bench.kera", string(text)))
	p, ds := check.Check(context.Background(), &check.Source{Name: "bench", Tree: tree}, nil)
	for _, d := range append(tree.Diags, ds...) {
		t.Error(d)
	}
	got := map[string]bool{}
	for _, x := range p.Exports {
		for _, n := range x.Dims {
			got[fmt.Sprintf("%s %d", x.Fn.Name, n)] = true
		}
	}
	for _, w := range cases() {
		if !got[fmt.Sprintf("%s %d", w.fn, w.size)] {
			t.Errorf("%s[n = %d] is not exported", w.fn, w.size)
		}
	}
	if len(got) != len(cases()) {
		t.Errorf("%d exports for %d cases", len(got), len(cases()))
	}
}
