// Command demo is `make demo`: it takes two examples on real data through build,
// run and verify, and ends with a table. It uses kerac as a person would, by its
// commands, and reads nothing but the files they write.
//
// What must hold: the table shows only what was measured in this run, and the
// demo fails if any target gave other bytes than the interpreter.
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/runtime/tensorio"
)

func main() {
	kerac := flag.String("kerac", "bin/kerac", "the command to use")
	out := flag.String("out", "out/demo", "where built files and outputs go")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	d := &demo{ctx: ctx, kerac: *kerac, examples: "examples", out: *out}
	if err := d.all(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func (d *demo) all() error {
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return err
	}
	var stories []*story
	for _, p := range programs() {
		s, err := d.play(p)
		if err != nil {
			return err
		}
		stories = append(stories, s)
	}
	fmt.Println()
	for _, s := range stories {
		s.print()
	}
	return verdict(stories)
}

func programs() []program {
	return []program{
		{
			name: "digits", source: "digits/digits.kera", entry: "classify",
			title:  "Hand-written digits: a 64-32-10 network names 1,797 images",
			inputs: []string{"x=digits/images.npy"}, result: "result", say: accuracy,
		},
		{
			name: "var", source: "var/var.kera", entry: "var95",
			title:  "Value at Risk: what a portfolio loses in one month of twenty",
			inputs: []string{"prices=var/prices.npy", "shares=var/holdings.npy"}, result: "result", say: cents,
		},
	}
}

// accuracy compares the classes with the labels.
func accuracy(d *demo, path string) (string, error) {
	got, err := tensorio.Read(path, "", nil)
	if err != nil {
		return "", err
	}
	want, err := tensorio.Read(filepath.Join(d.examples, "digits", "labels.npy"), "", nil)
	if err != nil {
		return "", err
	}
	if len(got.Data) != len(want.Data) || got.DType != want.DType {
		return "", fmt.Errorf("%s holds %s, the labels are %s", path, tensorio.TypeText(got.Type()), tensorio.TypeText(want.Type()))
	}
	right, n := 0, len(want.Data)/8
	for i := range n {
		if binary.LittleEndian.Uint64(got.Data[8*i:]) == binary.LittleEndian.Uint64(want.Data[8*i:]) {
			right++
		}
	}
	return fmt.Sprintf("%d of %d right: %.2f %%", right, n, 100*float64(right)/float64(n)), nil
}

// cents shows an amount that the program computed in whole cents.
func cents(_ *demo, path string) (string, error) {
	t, err := tensorio.Read(path, "", nil)
	if err != nil {
		return "", err
	}
	if t.DType != types.I64 || len(t.Dims) != 0 {
		return "", fmt.Errorf("%s holds %s, not an amount in cents", path, tensorio.TypeText(t.Type()))
	}
	v := int64(binary.LittleEndian.Uint64(t.Data))
	return fmt.Sprintf("%s cents: in 95 of 100 months the loss was at most $%s.%02d", grouped(v), grouped(v/100), v%100), nil
}

func grouped(v int64) string {
	s := fmt.Sprint(v)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (s *story) print() {
	const width = 78
	line := strings.Repeat("─", width)
	cell := func(text string) {
		fmt.Printf("│ %s%s │\n", text, strings.Repeat(" ", max(0, width-2-len([]rune(text)))))
	}
	fmt.Printf("┌%s┐\n", line)
	cell(s.title)
	cell(s.says)
	cell(fmt.Sprintf("one .keg of %s bytes, built in %.2f s", grouped(s.bytes), s.built.Seconds()))
	fmt.Printf("├%s┤\n", line)
	cell(fmt.Sprintf("%-16s %-12s %12s     %s", "target", "ran", "time", "digest of the output"))
	for _, r := range s.report.Targets {
		cell(targetLine(r))
	}
	fmt.Printf("└%s┘\n", line)
}

// targetLine is one row: "=" marks the interpreter's digest.
func targetLine(r row) string {
	digest, mode, took := r.Digest, r.Mode, fmt.Sprintf("%.3f ms", float64(r.Ns)/float64(time.Millisecond))
	if len(digest) > 24 {
		digest = digest[:24]
	}
	mark, known := map[string]string{"equal": "=", "reference": " ", "not checked": " "}[r.Status]
	if !known {
		mark = "!"
	}
	if r.Status == "not checked" {
		mode, took, digest = "not checked", "", r.Reason
	}
	return fmt.Sprintf("%-16s %-12s %12s   %s %.30s", r.Target, mode, took, mark, digest)
}

// verdict is the last line, and the demo's own outcome.
func verdict(stories []*story) error {
	ran := 0
	for _, s := range stories {
		first := s.report.Targets[0].Digest
		for _, r := range s.report.Targets {
			if r.Status == "not checked" {
				continue
			}
			if r.Digest != first {
				return fmt.Errorf("%s: %s gave another digest than %s", s.name, r.Target, s.report.Targets[0].Target)
			}
			ran++
		}
	}
	fmt.Printf("%d runs, one digest for each program: the same bytes everywhere.\n", ran)
	return nil
}
