// Package v8 lets tests run artifacts in Node, with the very example that
// docs/spec/wasm-abi.md prints. Where Node is absent, tests say "not checked".
package v8

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kera-lang/kera/core/keg/section"
)

// Job is one call of one entry.
type Job struct {
	Artifact []byte
	Entry    *section.Entry
	Inputs   [][]byte
}

// Result is what the call gave.
type Result struct {
	Trap    uint32   `json:"trap"`
	Outputs [][]byte `json:"outputs"`
}

type jsonBuffer struct {
	Bytes int64  `json:"bytes"`
	Align uint32 `json:"align"`
}

type jsonLoop struct {
	Cond uint64 `json:"cond"`
	Back uint32 `json:"back"`
}

type jsonPhase struct {
	Symbol string    `json:"symbol"`
	Tiles  uint64    `json:"tiles"`
	Loop   *jsonLoop `json:"loop,omitempty"`
}

type jsonEntry struct {
	Inputs    []jsonBuffer `json:"inputs"`
	Outputs   []jsonBuffer `json:"outputs"`
	Work      uint64       `json:"work"`
	WorkAlign uint32       `json:"workAlign"`
	Phases    []jsonPhase  `json:"phases"`
}

type jsonJob struct {
	Artifact []byte    `json:"artifact"`
	Entry    jsonEntry `json:"entry"`
	Inputs   [][]byte  `json:"inputs"`
}

func toJSON(e *section.Entry) jsonEntry {
	j := jsonEntry{Inputs: []jsonBuffer{}, Outputs: []jsonBuffer{}, Work: e.Work, WorkAlign: e.WorkAlign}
	for _, b := range e.Inputs {
		j.Inputs = append(j.Inputs, jsonBuffer{b.Bytes(), b.Align})
	}
	for _, b := range e.Outputs {
		j.Outputs = append(j.Outputs, jsonBuffer{b.Bytes(), b.Align})
	}
	for _, p := range e.Phases {
		q := jsonPhase{Symbol: p.Symbol, Tiles: p.Tiles}
		if p.Loop != nil {
			q.Loop = &jsonLoop{p.Loop.Cond, p.Loop.Back}
		}
		j.Phases = append(j.Phases, q)
	}
	return j
}

// Find returns the path of Node, if it is installed and new enough.
func Find() (string, bool) {
	p, err := exec.LookPath("node")
	return p, err == nil
}

const driver = `
const fs = require("fs");
const jobs = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const out = jobs.map((j) => {
  const module = new WebAssembly.Module(Buffer.from(j.artifact, "base64"));
  const r = runEntry(module, j.entry, j.inputs.map((b) => new Uint8Array(Buffer.from(b, "base64"))));
  return { trap: r.trap >>> 0, outputs: r.outputs.map((b) => Buffer.from(b).toString("base64")) };
});
fs.writeFileSync(process.argv[3], JSON.stringify(out));
`

// Run runs the jobs in one Node process, in the directory dir. doc is the path
// of wasm-abi.md.
func Run(node, doc, dir string, jobs []Job) ([]Result, error) {
	example, err := exampleOf(doc)
	if err != nil {
		return nil, err
	}
	list := make([]jsonJob, len(jobs))
	for i, j := range jobs {
		list[i] = jsonJob{j.Artifact, toJSON(j.Entry), append([][]byte{}, j.Inputs...)}
		for k, b := range list[i].Inputs {
			if b == nil { // a nil slice would be null
				list[i].Inputs[k] = []byte{}
			}
		}
	}
	in, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	script, inFile, outFile := filepath.Join(dir, "run.js"), filepath.Join(dir, "jobs.json"), filepath.Join(dir, "results.json")
	if err := os.WriteFile(script, []byte(example+driver), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(inFile, in, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command(node, script, inFile, outFile).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("node: %w\n%s", err, out)
	}
	b, err := os.ReadFile(outFile)
	if err != nil {
		return nil, err
	}
	var results []Result
	return results, json.Unmarshal(b, &results)
}

// exampleOf cuts the JavaScript out of the page.
func exampleOf(doc string) (string, error) {
	b, err := os.ReadFile(doc)
	if err != nil {
		return "", err
	}
	_, rest, ok := strings.Cut(string(b), "```js\n")
	code, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		return "", fmt.Errorf("%s has no JavaScript example", doc)
	}
	return code, nil
}
