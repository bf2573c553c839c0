// Command scalar times whole Kera programs against the same written in C.
//
// Each NAME.kera of bench/programs has one exported instance, and NAME.c is its peer. `kerac build`
// compiles the program, its code is taken out of the `.keg`, and a small C process
// (driver.c, linked with the peer) calls the two in turn. A row is the best time of
// each over all rounds, and peer time / Kera time: above 1 Kera is faster. Peers are
// compiled with each of the flags named; products and sums are not contracted, since
// Kera's are not.
//
// From the root of the repository, after `make build`:
//
//	go run ./bench/scalar [NAME ...]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/types"
)

// flagSets are what the peers are compiled with.
var flagSets = []string{"-O2", "-O3 -march=native"}

type options struct {
	dir, kerac, config, level, code string
	rounds                          int
	millis                          float64
}

func main() {
	o := options{}
	flag.StringVar(&o.dir, "dir", filepath.Join("bench", "programs"), "folder of the programs")
	flag.StringVar(&o.kerac, "kerac", filepath.Join("bin", "kerac"), "the compiler")
	flag.StringVar(&o.config, "config", filepath.Join("bench", "kera.yaml"), "kerac's configuration")
	flag.StringVar(&o.level, "level", "avx512f", "feature that the section to time has")
	flag.StringVar(&o.code, "code", "", "folder to leave each program's code in, for a disassembler")
	flag.IntVar(&o.rounds, "rounds", 15, "rounds")
	flag.Float64Var(&o.millis, "ms", 4, "least time of one contestant's share of a round, in milliseconds")
	flag.Parse()
	if err := run(context.Background(), o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "scalar:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, names []string) error {
	if len(names) == 0 {
		files, err := filepath.Glob(filepath.Join(o.dir, "*.kera"))
		if err != nil {
			return err
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(f), ".kera"))
		}
	}
	tmp, err := os.MkdirTemp("", "kera-scalar-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	fmt.Printf("%-12s %12s %12s %7s  %s\n", "program", "kera ns", "peer ns", "ratio", "peer")
	for _, n := range names {
		if err := program(ctx, o, n, tmp); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	return nil
}

func program(ctx context.Context, o options, name, tmp string) error {
	desc, code, err := compileKera(ctx, o, name, tmp)
	if err != nil {
		return err
	}
	codePath := filepath.Join(tmp, name+".bin")
	if err := os.WriteFile(codePath, code, 0o600); err != nil {
		return err
	}
	if o.code != "" {
		if err := os.WriteFile(filepath.Join(o.code, name+".bin"), code, 0o644); err != nil {
			return err
		}
	}
	for _, flags := range flagSets {
		exe := filepath.Join(tmp, "driver")
		args := append(strings.Fields(flags), "-ffp-contract=off", "-o", exe, name+".c", "driver.c")
		if err := command(ctx, o.dir, "gcc", args...); err != nil {
			return err
		}
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, exe, append([]string{codePath, fmt.Sprint(o.rounds), fmt.Sprint(o.millis)}, call(desc)...)...)
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("the driver stopped: %w", err)
		}
		var mine, theirs float64
		var same int
		if _, err := fmt.Sscan(out.String(), &mine, &theirs, &same); err != nil {
			return fmt.Errorf("the driver printed %q: %w", out.String(), err)
		}
		if same == 0 {
			return errors.New("the program and its peer left different bytes")
		}
		fmt.Printf("%-12s %12.0f %12.0f %7.2f  gcc %s\n", name, mine, theirs, theirs/mine, flags)
	}
	return nil
}

func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// compileKera builds a program and returns its one entry and its code.
func compileKera(ctx context.Context, o options, name, tmp string) (*section.Entry, []byte, error) {
	path := filepath.Join(tmp, name+".keg")
	if err := command(ctx, ".", o.kerac, "build", "-q", filepath.Join(o.dir, name+".kera"), "-o", path, "--config", o.config); err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := keg.Read(data, keg.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, t := range file.Targets {
		if t.Desc.Kind != section.KindCode || !slices.Contains(t.Desc.Features, o.level) {
			continue
		}
		if len(t.Desc.Entries) != 1 {
			return nil, nil, fmt.Errorf("%d entries, want 1", len(t.Desc.Entries))
		}
		return &t.Desc.Entries[0], t.Artifact, nil
	}
	return nil, nil, fmt.Errorf("no section with %s", o.level)
}

// call says to the driver how to call an entry.
func call(e *section.Entry) []string {
	var out []string
	for _, p := range e.Phases {
		out = append(out, "phase", fmt.Sprint(p.Offset), fmt.Sprint(p.Tiles))
	}
	for _, b := range e.Inputs {
		kind := map[types.DType]string{types.F32: "in-f32", types.F64: "in-f64"}[b.DType]
		if kind == "" {
			kind = "in"
		}
		out = append(out, kind, fmt.Sprint(b.Bytes()))
	}
	for _, b := range e.Outputs {
		out = append(out, "out", fmt.Sprint(b.Bytes()))
	}
	return append(out, "work", fmt.Sprint(e.Work))
}
