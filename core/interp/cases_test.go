package interp

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestFieldCases runs the rows of numeric.tsv that need no library function,
// as graphs.
func TestFieldCases(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var f *os.File
	for f == nil {
		if f, err = os.Open(filepath.Join(dir, "shared", "cases", "numeric.tsv")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("not checked: no shared/cases/numeric.tsv above the test")
		}
		dir = up
	}
	defer f.Close()

	type build func(b *tb, p []graph.Ref) graph.Ref
	two := func(c op.Code) build {
		return func(b *tb, p []graph.Ref) graph.Ref { return b.N(c, nil, p[0], p[1]) }
	}
	to := func(d types.DType) build {
		return func(b *tb, p []graph.Ref) graph.Ref { return b.Convert(p[0], d) }
	}
	fma := func(b *tb, p []graph.Ref) graph.Ref { return b.N(op.FMA, nil, p...) }
	cases := map[string]struct {
		d types.DType
		f build
	}{
		"div-self":  {types.F32, func(b *tb, p []graph.Ref) graph.Ref { return b.N(op.Div, nil, p[0], p[0]) }},
		"div-exact": {types.F32, two(op.Div)},
		"no-fuse": {types.F64, func(b *tb, p []graph.Ref) graph.Ref {
			return b.N(op.Sub, nil, b.F64(1), b.N(op.Mul, nil, p[0], p[1]))
		}},
		"unfused-chain": {types.F32, func(b *tb, p []graph.Ref) graph.Ref {
			return b.N(op.Add, nil, b.N(op.Mul, nil, p[0], p[1]), p[2])
		}},
		"fused-chain":         {types.F32, fma},
		"fma-double-rounding": {types.F32, fma},
		"inf-times-denormal":  {types.F32, two(op.Mul)},
		"inf-to-int":          {types.F32, to(types.I32)},
		"neg-to-u8":           {types.F32, to(types.U8)},
		"int-div-zero":        {types.I32, two(op.Div)},
		"nan-sign": {types.F32, func(b *tb, p []graph.Ref) graph.Ref {
			return b.Bitcast(b.N(op.Div, nil, p[0], p[1]), types.U32)
		}},
	}
	seen := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		col := strings.Split(sc.Text(), "\t")
		c, ok := cases[col[0]]
		if !ok {
			continue
		}
		seen++
		b := newTB(t)
		var ins []Value
		var params []string
		for _, s := range strings.Fields(col[2]) {
			ins = append(ins, lit(t, c.d.String()+": 0x"+s))
			params = append(params, c.d.String())
		}
		r := c.f(b, b.params(params...))
		x := b.export(params, r, b.NoTrap())
		out, _, err := Run(context.Background(), b.g, x, ins)
		if err != nil {
			t.Fatal(err)
		}
		want := lit(t, out[0].Type.String()+": 0x"+col[3])
		if got := out[0].Bits(0); got != want.Bits(0) {
			t.Errorf("%s: %s of %s = %x, want %s", col[0], col[1], col[2], got, col[3])
		}
	}
	if seen != len(cases) {
		t.Errorf("%d of %d rows found", seen, len(cases))
	}
}
