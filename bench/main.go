// Command bench times Kera's x86 code against its peers and writes bench.json.
//
// `kerac build` compiles bench.kera; the code of each exported instance is taken out of
// the `.keg` and handed, as a file, to one C process (c/driver.c) that is built here
// with gcc and linked with OpenBLAS. That process calls Kera's phase functions and the
// peers in turn, many rounds each, so that both see the same machine: a row's ratio is
// the median over the rounds of peer time / Kera time (above 1 Kera is faster), its
// spread the interquartile range of that ratio over its median.
//
// What was not measured is not made up: a missing peer's row says "not checked" and why.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
)

type options struct {
	out, kerac, source, config, level string
	only                              string
	rounds                            int
	millis                            float64
}

func main() {
	var o options
	flag.StringVar(&o.out, "o", "bench.json", "file to write")
	flag.StringVar(&o.kerac, "kerac", filepath.Join("bin", "kerac"), "the compiler")
	flag.StringVar(&o.source, "source", filepath.Join("bench", "bench.kera"), "what to compile")
	flag.StringVar(&o.config, "config", filepath.Join("bench", "kera.yaml"), "kerac's configuration")
	flag.StringVar(&o.level, "level", "", "feature of the section to time, such as avx2: the one with that feature and the fewest others (default: the best the CPU has)")
	flag.StringVar(&o.only, "only", "", "regular expression on \"op size\" of the cases to run")
	flag.IntVar(&o.rounds, "rounds", 31, "rounds, 1 to 101")
	flag.Float64Var(&o.millis, "ms", 2, "least time of one contestant's share of a round, in milliseconds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	dir, err := os.MkdirTemp("", "kera-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cpu, err := readCPU("/proc/cpuinfo")
	if err != nil {
		return err
	}
	var selected []work
	for _, w := range cases() {
		if only.MatchString(fmt.Sprintf("%s %d", w.op, w.size)) {
			selected = append(selected, w)
		}
	}
	kera, err := compileKera(ctx, o, cpu, dir)
	if err != nil {
		return err
	}
	if o.level != "" && kera.desc != nil { // OpenBLAS is to have the same instructions
		cpu = cpu.only(kera.features)
	}
	d, err := buildDriver(ctx, cpu, dir)
	if err != nil {
		return err
	}
	rows, err := d.run(ctx, o, kera, selected)
	if err != nil {
		return err
	}
	rep := Report{Chip: cpu.model, CoreType: d.coreType, Section: kera.features, Rounds: o.rounds, Rows: rows}
	text, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.out, append(text, '\n'), 0o644); err != nil {
		return err
	}
	rep.print(os.Stdout)
	return nil
}
