package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// cpu is what /proc/cpuinfo says, with features in the names sections use.
type cpu struct {
	model    string
	features map[string]bool
}

func readCPU(path string) (cpu, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return cpu{}, fmt.Errorf("read the CPU's features: %w", err)
	}
	return parseCPU(string(text)), nil
}

func parseCPU(text string) cpu {
	c := cpu{features: map[string]bool{}}
	id := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		key, val, ok := strings.Cut(line, ":")
		if !ok {
			if line == "" && len(id) > 0 {
				break // the first processor is enough
			}
			continue
		}
		id[strings.TrimSpace(key)] = strings.TrimSpace(val)
	}
	for _, f := range strings.Fields(id["flags"]) {
		if f == "abm" {
			f = "lzcnt" // the kernel's name for both lzcnt and popcnt of old
		}
		c.features[f] = true
	}
	c.model = fmt.Sprintf("%s (family %s model %s stepping %s)", id["model name"], id["cpu family"], id["model"], id["stepping"])
	return c
}

func (c cpu) has(features []string) bool {
	return !slices.ContainsFunc(features, func(f string) bool { return !c.features[f] })
}

// only is the CPU with no more than the given features.
func (c cpu) only(features []string) cpu {
	out := cpu{model: c.model, features: map[string]bool{}}
	for _, f := range features {
		out.features[f] = true
	}
	return out
}

// coreType is what OpenBLAS is told to be: it takes some CPUs for a Prescott.
func (c cpu) coreType() string {
	if t := os.Getenv("OPENBLAS_CORETYPE"); t != "" {
		return t
	}
	for _, k := range []struct{ name, needs string }{
		{"Cooperlake", "avx512f avx512vl avx512dq avx512bw avx512_bf16"},
		{"SkylakeX", "avx512f avx512vl avx512dq avx512bw"},
		{"Haswell", "avx2 fma"},
		{"Sandybridge", "avx"},
	} {
		if c.has(strings.Fields(k.needs)) {
			return k.name
		}
	}
	return "Nehalem"
}
