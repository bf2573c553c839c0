package runner

import (
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/keg/section"
)

// Labels names the sections of one file so that a person can tell them apart and
// type the names: the plugin (else the triple), and after a colon what the section
// needs that the plugin's plainer ones do not. x86 with {avx2, fma} beside x86 with
// {avx2, avx512bw, avx512f, fma} are x86:avx2 and x86:avx512.
func Labels(ds []*section.Descriptor) []string {
	out := make([]string, len(ds))
	for i, d := range ds {
		out[i] = base(d)
		if f := distinct(ds, d); f != "" {
			out[i] += ":" + f
		}
	}
	for i := range out {
		for k := range i {
			if out[k] == out[i] {
				out[i] = base(ds[i]) + ":" + strings.Join(ds[i].Features, ",")
			}
		}
	}
	return out
}

func base(d *section.Descriptor) string {
	if d.Plugin.Name != "" {
		return d.Plugin.Name
	}
	return d.Triple
}

// distinct is the common beginning of the features that set d apart, or one of
// them when they share none.
func distinct(ds []*section.Descriptor, d *section.Descriptor) string {
	own := slices.Clone(d.Features)
	for _, other := range ds {
		if other != d && base(other) == base(d) && len(other.Features) < len(d.Features) {
			own = slices.DeleteFunc(own, func(f string) bool { return slices.Contains(other.Features, f) })
		}
	}
	if len(own) == 0 {
		return ""
	}
	prefix := own[0]
	for _, f := range own[1:] {
		for !strings.HasPrefix(f, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if prefix = strings.TrimRight(prefix, "-_."); len(prefix) >= 3 {
		return prefix
	}
	// The newest of the first family: avx2 rather than avx.
	name := own[0]
	for _, f := range own {
		if strings.HasPrefix(f, own[0]) {
			name = f
		}
	}
	return name
}

// Matches reports whether a section is meant by spec: a plugin's name or a triple,
// then optionally a colon and a feature or its beginning.
func Matches(spec string, d *section.Descriptor) bool {
	name, feature, _ := strings.Cut(spec, ":")
	if name != d.Plugin.Name && name != d.Triple {
		return false
	}
	return feature == "" || strings.Join(d.Features, ",") == feature ||
		slices.ContainsFunc(d.Features, func(f string) bool { return strings.HasPrefix(f, feature) })
}

// Choose gives the sections that spec means, by index. A spec with a feature means
// the plainest section that has it; one without means all of the target.
func Choose(spec string, ds []*section.Descriptor) []int {
	if i := slices.Index(Labels(ds), spec); i >= 0 && strings.Contains(spec, ":") {
		return []int{i}
	}
	var hits []int
	for i, d := range ds {
		if Matches(spec, d) {
			hits = append(hits, i)
		}
	}
	if strings.Contains(spec, ":") && len(hits) > 1 {
		best := slices.MinFunc(hits, func(a, b int) int { return len(ds[a].Features) - len(ds[b].Features) })
		return []int{best}
	}
	return hits
}
