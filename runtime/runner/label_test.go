package runner

import (
	"fmt"
	"testing"

	"github.com/kera-lang/kera/core/keg/section"
)

func TestLabels(t *testing.T) {
	d := func(plugin, triple string, features ...string) *section.Descriptor {
		return &section.Descriptor{Triple: triple, Features: features, Plugin: section.Plugin{Name: plugin}}
	}
	ds := []*section.Descriptor{
		d("x86", "x86_64-linux", "avx", "avx2", "bmi2", "fma"),
		d("x86", "x86_64-linux", "avx", "avx2", "avx512bw", "avx512f", "bmi2", "fma"),
		d("wasm", "wasm32", "simd128"),
		d("", "riscv64-linux"),
	}
	if got := fmt.Sprint(Labels(ds)); got != "[x86:avx2 x86:avx512 wasm:simd128 riscv64-linux]" {
		t.Errorf("labels %s", got)
	}
	for spec, want := range map[string]string{
		"x86": "[0 1]", "x86_64-linux": "[0 1]", "x86:avx2": "[0]", "x86:avx512": "[1]", "x86:avx512f": "[1]",
		"wasm": "[2]", "wasm:simd": "[2]", "x86:sse9": "[]", "arm": "[]", "riscv64-linux": "[3]",
	} {
		if got := fmt.Sprint(Choose(spec, ds)); got != want {
			t.Errorf("Choose(%s) = %s, want %s", spec, got, want)
		}
	}
}
