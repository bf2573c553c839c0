package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/runtime/runner"
)

// asmJSON is the code of a section, a piece for every run of bytes that is due to
// one node.
type asmJSON struct {
	Section  string         `json:"section"`
	Kind     string         `json:"kind"`
	Bytes    int            `json:"bytes"`
	Symbols  []symbolJSON   `json:"symbols"`
	Code     []codeJSON     `json:"code"`
	Folded   []codeNodeJSON `json:"folded"` // nodes without code of their own
	Disasm   string         `json:"-"`
	NoDisasm string         `json:"-"`
}

type symbolJSON struct {
	Entry  string `json:"entry"`
	Phase  int    `json:"phase"`
	Symbol string `json:"symbol"`
	Offset uint64 `json:"offset"`
	Tiles  uint64 `json:"tiles"`
}

type codeNodeJSON struct {
	Digest string `json:"digest"`
	Text   string `json:"node,omitempty"`
}

type codeJSON struct {
	Offset uint64       `json:"offset"`
	Bytes  string       `json:"bytes"`
	Node   codeNodeJSON `json:"node"`
}

// disassemblers says how objdump is asked for raw code of an architecture.
var disassemblers = map[string][]string{
	"x86_64": {"-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn"},
}

func (a *app) asm(ctx context.Context, p *program, s runner.Section) asmJSON {
	d := s.Descriptor
	j := asmJSON{Section: s.Label, Kind: d.Kind, Bytes: len(s.Artifact), Symbols: []symbolJSON{}, Code: []codeJSON{}, Folded: []codeNodeJSON{}}
	texts := map[digest.D]string{}
	for n := range graph.NodeID(p.graph.NumNodes()) {
		texts[p.graph.Digest(n)] = p.graph.NodeText(n)
	}
	node := func(i uint32) codeNodeJSON {
		return codeNodeJSON{d.Nodes[i].String(), texts[d.Nodes[i]]}
	}
	for _, e := range d.Entries {
		for i, ph := range e.Phases {
			j.Symbols = append(j.Symbols, symbolJSON{e.Name, i, ph.Symbol, ph.Offset, ph.Tiles})
		}
	}
	for i, m := range d.CodeMap {
		end := uint64(len(s.Artifact))
		if i+1 < len(d.CodeMap) {
			end = d.CodeMap[i+1].Offset
		}
		j.Code = append(j.Code, codeJSON{m.Offset, fmt.Sprintf("%x", s.Artifact[m.Offset:end]), node(m.Node)})
	}
	for _, i := range d.Folded {
		j.Folded = append(j.Folded, node(i))
	}
	if d.Kind == section.KindCode && !a.out.json {
		j.Disasm, j.NoDisasm = disassemble(ctx, d.Triple, s.Artifact)
	}
	return j
}

// disassemble asks objdump, if there is one; without it the bytes are shown.
func disassemble(ctx context.Context, triple string, code []byte) (text, why string) {
	arch, _, _ := strings.Cut(triple, "-")
	args, ok := disassemblers[arch]
	if !ok {
		return "", "no disassembler for " + arch
	}
	tool, err := exec.LookPath("objdump")
	if err != nil {
		return "", "objdump is not installed"
	}
	f, err := os.CreateTemp("", "kera-asm-*.bin")
	if err != nil {
		return "", err.Error()
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(code); err != nil {
		return "", err.Error()
	}
	out, err := exec.CommandContext(ctx, tool, append(args, f.Name())...).Output()
	if err != nil {
		return "", "objdump: " + err.Error()
	}
	return string(out), ""
}

// writeAsm prints the code with the node that each piece is due to in front of it.
func writeAsm(w *bufio.Writer, j asmJSON) {
	fmt.Fprintf(w, "section %s: %s, %d bytes\n", j.Section, j.Kind, j.Bytes)
	for _, s := range j.Symbols {
		fmt.Fprintf(w, "  %s phase %d: %s at %#x, %d tiles\n", s.Entry, s.Phase, s.Symbol, s.Offset, s.Tiles)
	}
	if j.NoDisasm != "" {
		fmt.Fprintf(w, "  bytes only: %s\n", j.NoDisasm)
	}
	at := map[uint64]codeJSON{}
	for _, c := range j.Code {
		at[c.Offset] = c
	}
	if j.Disasm == "" {
		for _, c := range j.Code {
			fmt.Fprintf(w, "%8x:  ; %s %s\n", c.Offset, c.Node.Digest[:12], c.Node.Text)
			for i := 0; i < len(c.Bytes); i += 64 {
				fmt.Fprintf(w, "           %s\n", c.Bytes[i:min(i+64, len(c.Bytes))])
			}
		}
		return
	}
	for line := range strings.Lines(j.Disasm) {
		head, ins, ok := strings.Cut(line, ":\t")
		var offset uint64
		if _, err := fmt.Sscanf(strings.TrimSpace(head), "%x", &offset); !ok || err != nil {
			continue
		}
		if c, ok := at[offset]; ok {
			fmt.Fprintf(w, "          ; %s %s\n", c.Node.Digest[:12], c.Node.Text)
		}
		fmt.Fprintf(w, "%8x:  %s\n", offset, strings.TrimRight(ins, "\n "))
	}
}
