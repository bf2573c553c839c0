package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed c/*.c c/*.h
var sources embed.FS

// driver is the compiled C process.
type driver struct {
	dir, path string
	blas      bool
	coreType  string // forced; then what OpenBLAS says it runs as
	gcc, chip string
}

// buildDriver compiles the C sources, with OpenBLAS if it links.
func buildDriver(ctx context.Context, c cpu, dir string) (*driver, error) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return nil, errors.New("gcc is missing: type 'apt-get install gcc libc6-dev libopenblas-dev'")
	}
	d := &driver{dir: dir, path: filepath.Join(dir, "driver"), coreType: c.coreType(), gcc: gcc, chip: c.model}
	names, err := sources.ReadDir("c")
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		text, err := sources.ReadFile("c/" + n.Name())
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, n.Name()), text, 0o644); err != nil {
			return nil, err
		}
	}
	if err := d.cc(ctx, "-O3 -march=native -c peers.c"); err != nil {
		return nil, err
	}
	if err := d.cc(ctx, "-O3 -march=native -ffast-math -c peers_fast.c"); err != nil {
		return nil, err
	}
	const link = " driver.c peers.o peers_fast.o -o driver"
	if err := d.cc(ctx, "-O2 -DHAVE_BLAS"+link+" -lopenblas -lm"); err == nil {
		d.blas = true
		return d, nil
	}
	fmt.Fprintln(os.Stderr, "bench: OpenBLAS is not checked: type 'apt-get install libopenblas-dev'")
	d.coreType = ""
	return d, d.cc(ctx, "-O2"+link+" -lm")
}

func (d *driver) cc(ctx context.Context, args string) error {
	cmd := exec.CommandContext(ctx, d.gcc, strings.Fields(args)...)
	cmd.Dir = d.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("gcc %s: %w\n%s", args, err, out)
	}
	return nil
}

// plan writes what the driver is to do.
func (d *driver) plan(o options, k *kera, ws []work) string {
	var w strings.Builder
	fmt.Fprintf(&w, "rounds %d %g\n", o.rounds, o.millis)
	for _, c := range ws {
		fmt.Fprintf(&w, "case %d %s\n", c.size, c.op)
		e := k.entry(c)
		if e == nil {
			for _, n := range c.in {
				fmt.Fprintf(&w, "in %d\n", n)
			}
			fmt.Fprintf(&w, "out %d\nrun\n", c.out)
			continue
		}
		fmt.Fprintf(&w, "blob %d %s\n", k.codeSize, k.codePath)
		for _, p := range e.Phases {
			loop, cond, back := 0, uint64(0), uint32(0)
			if p.Loop != nil {
				loop, cond, back = 1, p.Loop.Cond, p.Loop.Back
			}
			fmt.Fprintf(&w, "phase %d %d %d %d %d\n", p.Offset, p.Tiles, loop, cond, back)
		}
		for _, b := range e.Inputs {
			fmt.Fprintf(&w, "in %d\n", b.Bytes())
		}
		for _, b := range e.Outputs {
			fmt.Fprintf(&w, "out %d\n", b.Bytes())
		}
		fmt.Fprintf(&w, "work %d\nrun\n", e.Work)
	}
	return w.String()
}

// run executes the driver and joins its measurements with the peers that were wanted.
func (d *driver) run(ctx context.Context, o options, k *kera, ws []work) ([]Row, error) {
	planPath := filepath.Join(d.dir, "plan")
	if err := os.WriteFile(planPath, []byte(d.plan(o, k, ws)), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, d.path, planPath)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OPENBLAS_CORETYPE="+d.coreType)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the driver stopped: %w", err)
	}
	got := map[string]Row{}
	for sc := bufio.NewScanner(&out); sc.Scan(); {
		var r Row
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("the driver printed %q: %w", sc.Text(), err)
		}
		if r.CoreType != "" { // the first line
			d.coreType = r.CoreType
			continue
		}
		got[rowKey(r.Op, r.Size, r.Peer)] = r
	}
	var rows []Row
	for _, w := range ws {
		for _, p := range w.peers {
			r, ok := got[rowKey(w.op, w.size, p.name)]
			if !ok {
				r = Row{Op: w.op, Size: w.size, Peer: p.name, NotChecked: "not checked: " + p.why}
				if p.blas && !d.blas {
					r.NotChecked = "not checked: libopenblas-dev is not installed"
				}
			} else if r.Ratio == nil {
				r.NotChecked = "not checked: " + k.missing
			}
			r.Flags, r.Chip = p.flags, d.chip
			if p.blas {
				r.CoreType = d.coreType
				r.Flags = "OPENBLAS_CORETYPE=" + d.coreType + " OPENBLAS_NUM_THREADS=1"
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func rowKey(op string, size int, peer string) string { return fmt.Sprintf("%s %d %s", op, size, peer) }
