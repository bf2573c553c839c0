package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

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
	keg := filepath.Join(dir, "bench.keg")
	cmd := exec.CommandContext(ctx, o.kerac, "build", o.source, "-o", keg, "--config", o.config)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s build %s: %w", o.kerac, o.source, err)
	}
	sections, err := targetSections(keg)
	if err != nil {
		return nil, err
	}
	var best *section.Descriptor
	var code []byte
	for _, b := range sections {
		d, artifact, err := section.Open(b)
		if err != nil {
			return nil, err
		}
		if d.Kind != section.KindCode || !c.has(d.Features) || o.level != "" && !slices.ContainsFunc(d.Features, func(f string) bool { return f == o.level }) {
			continue
		}
		if best == nil || len(d.Features) > len(best.Features) {
			best, code = d, artifact
		}
	}
	if best == nil {
		return nil, errors.New("the built file has no code section this CPU can run")
	}
	k := &kera{features: best.Features, desc: best, codePath: filepath.Join(dir, "code.bin"), codeSize: len(code), missing: "not built"}
	return k, os.WriteFile(k.codePath, code, 0o600)
}

// targetSections takes the target sections (kind 64 and up) out of a `.keg` that kerac has
// just written; the table's layout is docs/spec/file.md.
func targetSections(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	const header, row = 96, 56
	if len(b) < header || string(b[:4]) != "KEG\x00" {
		return nil, fmt.Errorf("%s is no .keg file", path)
	}
	var out [][]byte
	for i := range uint64(binary.LittleEndian.Uint32(b[8:])) {
		at := header + i*row
		if at+row > uint64(len(b)) {
			return nil, fmt.Errorf("%s: section table is cut off", path)
		}
		off, n := binary.LittleEndian.Uint64(b[at+8:]), binary.LittleEndian.Uint64(b[at+16:])
		if off > uint64(len(b)) || n > uint64(len(b))-off {
			return nil, fmt.Errorf("%s: section %d is outside the file", path, i)
		}
		if binary.LittleEndian.Uint32(b[at:]) >= 64 {
			out = append(out, b[off:off+n])
		}
	}
	return out, nil
}
