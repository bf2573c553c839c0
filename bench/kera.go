package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
)

// kera is what was compiled: the section that will be timed.
type kera struct {
	features []string
	desc     *section.Descriptor
	codePath string
	codeSize int
	missing  string // why there is nothing to time, if so
}

func (k *kera) entry(w work) *section.Entry {
	if k.desc == nil {
		return nil
	}
	e, ok := k.desc.Entry(fmt.Sprintf("%s[n=%d]", w.fn, w.size))
	if !ok {
		return nil
	}
	return e
}

// compileKera builds the source and picks the section to time: of those the CPU can run
// (and that have the level asked for), the one that needs the most features.
func compileKera(ctx context.Context, o options, c cpu, dir string) (*kera, error) {
	if _, err := os.Stat(o.kerac); err != nil {
		return &kera{missing: "no " + o.kerac}, nil
	}
	path := filepath.Join(dir, "bench.keg")
	cmd := exec.CommandContext(ctx, o.kerac, "build", o.source, "-o", path, "--config", o.config)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s build %s: %w", o.kerac, o.source, err)
	}
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := keg.Read(bytes, keg.ReadOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var best *section.Descriptor
	var code []byte
	for _, t := range file.Targets {
		d := t.Desc
		if d.Kind != section.KindCode || !c.has(d.Features) || o.level != "" && !slices.ContainsFunc(d.Features, func(f string) bool { return f == o.level }) {
			continue
		}
		if best == nil || len(d.Features) > len(best.Features) != (o.level != "") {
			best, code = d, t.Artifact
		}
	}
	if best == nil {
		return nil, errors.New("the built file has no code section this CPU can run")
	}
	k := &kera{features: best.Features, desc: best, codePath: filepath.Join(dir, "code.bin"), codeSize: len(code), missing: "not built"}
	return k, os.WriteFile(k.codePath, code, 0o600)
}
