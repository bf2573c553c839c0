package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// row is what `kerac verify --json` says about one target.
type row struct {
	Target string `json:"target"`
	Status string `json:"status"`
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
	Digest string `json:"digest"`
	Ns     int64  `json:"ns"`
}

type report struct {
	Entry   string `json:"entry"`
	Targets []row  `json:"targets"`
}

// demo runs kerac and keeps what it said.
type demo struct {
	ctx      context.Context
	kerac    string
	examples string // relative to the current folder
	out      string // where the .keg and the outputs go
}

// kerac shows a command as a person would type it and runs it. The result is its
// stdout; its stderr goes to the terminal.
func (d *demo) run(args ...string) ([]byte, time.Duration, error) {
	shown := strings.Join(args, " ")
	fmt.Printf("  $ kerac %s\n", shown)
	c := exec.CommandContext(d.ctx, d.kerac, args...)
	var stdout bytes.Buffer
	c.Stdout, c.Stderr = &stdout, os.Stderr
	start := time.Now()
	err := c.Run()
	if err != nil {
		return stdout.Bytes(), time.Since(start), fmt.Errorf("kerac %s: %w", args[0], err)
	}
	return stdout.Bytes(), time.Since(start), nil
}

// program is one example taken through build, run and verify.
type program struct {
	name   string
	title  string
	source string
	bind   []string
	entry  string
	inputs []string
	result string // name of the output that says something to a person
	say    func(d *demo, path string) (string, error)
}

// story is what the demo found out about a program.
type story struct {
	program
	built  time.Duration
	bytes  int64
	says   string
	report report
}

func (d *demo) play(p program) (*story, error) {
	s := &story{program: p}
	fmt.Printf("\n%s\n", p.title)
	keg := filepath.Join(d.out, p.name+".keg")
	build := []string{"build", filepath.Join(d.examples, p.source), "-o", keg, "--config", filepath.Join(d.examples, "kera.yaml")}
	for _, b := range p.bind {
		build = append(build, "--bind", b)
	}
	var err error
	if _, s.built, err = d.run(build...); err != nil {
		return nil, err
	}
	st, err := os.Stat(keg)
	if err != nil {
		return nil, err
	}
	s.bytes = st.Size()

	given := []string{}
	for _, in := range p.inputs {
		name, file, _ := strings.Cut(in, "=")
		given = append(given, "--input", name+"="+filepath.Join(d.examples, file))
	}
	result := filepath.Join(d.out, p.name+"."+p.result+".npy")
	run := append([]string{"run", keg, "--entry", p.entry}, given...)
	if _, _, err = d.run(append(run, "--output", p.result+"="+result)...); err != nil {
		return nil, err
	}
	if s.says, err = p.say(d, result); err != nil {
		return nil, err
	}
	verify := append([]string{"verify", keg, "--entry", p.entry}, given...)
	text, _, err := d.run(append(verify, "--json")...)
	if err != nil {
		return nil, err
	}
	var said struct {
		Entries []report `json:"entries"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("kerac verify --json: %w", err)
	}
	if len(said.Entries) != 1 {
		return nil, fmt.Errorf("kerac verify --json: %d entries, asked for one", len(said.Entries))
	}
	s.report = said.Entries[0]
	return s, nil
}
