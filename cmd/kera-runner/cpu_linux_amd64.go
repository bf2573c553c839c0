package main

import "strings"

// cpuFeatures lists what the processor and the kernel provide, in the names
// that target sections use, sorted.
func cpuFeatures() []string {
	max, _, _, _ := cpuid(0, 0)
	_, _, c1, _ := cpuid(1, 0)
	var b7, c80 uint32
	if max >= 7 {
		_, b7, _, _ = cpuid(7, 0)
	}
	if ext, _, _, _ := cpuid(0x80000000, 0); ext >= 0x80000001 {
		_, _, c80, _ = cpuid(0x80000001, 0)
	}
	var xcr0 uint32
	if c1>>27&1 != 0 { // OSXSAVE
		xcr0 = xgetbv()
	}
	ymm, zmm := xcr0&6 == 6, xcr0&0xe6 == 0xe6
	var out []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx", c1>>28&1 != 0 && ymm},
		{"avx2", b7>>5&1 != 0 && ymm},
		{"avx512bw", b7>>30&1 != 0 && zmm},
		{"avx512cd", b7>>28&1 != 0 && zmm},
		{"avx512dq", b7>>17&1 != 0 && zmm},
		{"avx512f", b7>>16&1 != 0 && zmm},
		{"avx512vl", b7>>31&1 != 0 && zmm},
		{"bmi1", b7>>3&1 != 0},
		{"bmi2", b7>>8&1 != 0},
		{"f16c", c1>>29&1 != 0 && ymm},
		{"fma", c1>>12&1 != 0 && ymm},
		{"lzcnt", c80>>5&1 != 0},
		{"popcnt", c1>>23&1 != 0},
		{"sse4.2", c1>>20&1 != 0},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return out
}

// cpuName is the processor's brand string.
func cpuName() string {
	if ext, _, _, _ := cpuid(0x80000000, 0); ext < 0x80000004 {
		return ""
	}
	var b []byte
	for leaf := uint32(0x80000002); leaf <= 0x80000004; leaf++ {
		a, bb, c, d := cpuid(leaf, 0)
		for _, r := range [4]uint32{a, bb, c, d} {
			b = append(b, byte(r), byte(r>>8), byte(r>>16), byte(r>>24))
		}
	}
	return strings.TrimSpace(strings.TrimRight(string(b), "\x00"))
}
