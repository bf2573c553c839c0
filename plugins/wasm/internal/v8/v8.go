// Package v8 lets tests run artifacts in Node, with the very example that
// docs/spec/wasm-abi.md prints. Where Node is absent, tests say "not checked".
package v8

import (
	"encoding/binary"
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

type jsonJob struct {
	Keg    []byte   `json:"keg"`
	Entry  string   `json:"entry"`
	Inputs [][]byte `json:"inputs"`
}

// wrap puts the artifact into a file as the example reads it: header, section
// table and the one section. The graph, which the example does not read, is
// left out.
func wrap(artifact []byte, e *section.Entry) ([]byte, error) {
	d := &section.Descriptor{Triple: "wasm32", Kind: section.KindWasm, Entries: []section.Entry{*e}}
	payload, err := section.Pack(d, artifact)
	if err != nil {
		return nil, err
	}
	const at = 4096
	b := make([]byte, at, at+len(payload))
	copy(b, "KEG\x00")
	binary.LittleEndian.PutUint32(b[8:], 1)
	binary.LittleEndian.PutUint32(b[96:], 64)
	binary.LittleEndian.PutUint64(b[96+8:], at)
	binary.LittleEndian.PutUint64(b[96+16:], uint64(len(payload)))
	return append(b, payload...), nil
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
  const keg = openKeg(new Uint8Array(Buffer.from(j.keg, "base64")));
  const entry = keg.entries.find((e) => e.name === j.entry);
  const r = runEntry(new WebAssembly.Module(keg.artifact), entry, j.inputs.map((b) => new Uint8Array(Buffer.from(b, "base64"))));
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
		keg, err := wrap(j.Artifact, j.Entry)
		if err != nil {
			return nil, err
		}
		list[i] = jsonJob{keg, j.Entry.Name, append([][]byte{}, j.Inputs...)}
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
