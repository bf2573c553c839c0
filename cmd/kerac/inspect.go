package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/frontend/syntax"
	"github.com/kera-lang/kera/midend"
)

// stages lists what inspect can print, in the order of the data.
var stages = []struct{ name, what string }{
	{"tokens", "what the lexer makes of a source file"},
	{"tree", "what the parser makes of it"},
	{"graph", "the source graph: every check and literal as written"},
	{"optimised", "the graph that backends receive"},
	{"sections", "the target sections of a .keg"},
	{"asm", "their code, with the node that each piece is due to"},
}

func (a *app) inspectCmd() *cobra.Command {
	var stage, target string
	var dot bool
	var bind []string
	c := a.command("inspect OUT.keg|FILE.kera", "Print what a file holds, or what crosses one stage", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			b, err := bindings(bind)
			if err != nil {
				return err
			}
			if dot && stage != "graph" && stage != "optimised" {
				return usagef("--dot is for --stage graph and --stage optimised")
			}
			if dot && a.out.json {
				return usagef("--dot and --json exclude each other")
			}
			return a.inspect(ctx, args[0], stage, target, dot, b)
		})
	names := []string{}
	for _, s := range stages {
		names = append(names, s.name)
	}
	fs := c.Flags()
	fs.StringVar(&stage, "stage", "", strings.Join(names, ", ")+" (default: a summary)")
	fs.StringVar(&target, "target", "", "with sections and asm: only this target")
	fs.BoolVar(&dot, "dot", false, "print a graph for Graphviz")
	fs.StringArrayVar(&bind, "bind", nil, "n=1024, value of a dimension (source files only)")
	if err := c.RegisterFlagCompletionFunc("stage", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		out := []string{}
		for _, s := range stages {
			out = append(out, s.name+"\t"+s.what)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}); err != nil {
		panic("BUG: " + err.Error())
	}
	c.ValidArgsFunction = files("keg", "kera")
	return c
}

func (a *app) inspect(ctx context.Context, path, stage, target string, dot bool, bind map[string]int64) error {
	switch stage {
	case "tokens", "tree":
		return a.inspectSource(path, stage)
	case "", "graph", "optimised", "sections", "asm":
	default:
		names := []string{}
		for _, s := range stages {
			names = append(names, s.name)
		}
		return usagef("there is no stage %q; there are %s", stage, strings.Join(names, ", "))
	}
	p, err := a.loadProgram(ctx, path, bind)
	if err != nil {
		return err
	}
	switch stage {
	case "graph":
		return a.inspectGraph(p, false, dot)
	case "optimised":
		if err := a.optimise(ctx, p); err != nil {
			return err
		}
		return a.inspectGraph(p, true, dot)
	}
	if p.source && stage != "" {
		return usagef("--stage %s is for a .keg; %s is a source file", stage, path)
	}
	picked := p.choose(target)
	if target != "" && len(picked) == 0 {
		return p.noSection(target)
	}
	switch stage {
	case "sections":
		return a.inspectSections(p, picked)
	case "asm":
		list := []asmJSON{}
		for _, i := range picked {
			if p.sections[i].Absent == "" {
				list = append(list, a.asm(ctx, p, p.sections[i]))
			}
		}
		return a.out.result(list, func(w *bufio.Writer) {
			for _, j := range list {
				writeAsm(w, j)
			}
		})
	}
	return a.inspectSummary(p)
}

func (a *app) inspectSource(path, stage string) error {
	artefact, err := isArtefact(path)
	if err != nil {
		return err
	}
	if artefact {
		return usagef("--stage %s is for a source file; a .keg holds no source", stage)
	}
	f, err := readSource(path, path)
	if err != nil {
		return err
	}
	if stage == "tokens" {
		var v any
		if a.out.json {
			v = tokenList(f)
		}
		return a.out.result(v, func(w *bufio.Writer) { syntax.DumpTokens(w, f) })
	}
	t := syntax.Parse(f)
	a.out.diagnose(t.Diags)
	var v any
	if a.out.json {
		v = treeOf(t.Root())
	}
	return a.out.result(v, func(w *bufio.Writer) { t.Root().Dump(w) })
}

func (a *app) inspectGraph(p *program, optimised, dot bool) error {
	var v any
	if a.out.json || dot {
		_, j := viewGraph(p.graph, optimised)
		v = j
		if dot {
			return a.out.result(nil, func(w *bufio.Writer) { writeDot(w, j) })
		}
	}
	return a.out.result(v, func(w *bufio.Writer) { p.graph.Text(w, optimised) })
}

type sectionJSON struct {
	Label    string            `json:"label"`
	Triple   string            `json:"triple"`
	Features []string          `json:"features"`
	Kind     string            `json:"artifact_kind"`
	Bytes    int               `json:"bytes"`
	Plugin   string            `json:"plugin"`
	Version  string            `json:"plugin_version"`
	Binary   string            `json:"plugin_digest"`
	Protocol string            `json:"protocol"`
	Options  map[string]string `json:"options,omitempty"`
	Entries  []sectionEntry    `json:"entries"`
	CodeMap  int               `json:"code_map"`
	Nodes    int               `json:"nodes"`
	Folded   int               `json:"folded"`
	Absent   string            `json:"absent,omitempty"`
	Estimate *section.Estimate `json:"estimate,omitempty"`
}

type sectionEntry struct {
	Name    string   `json:"name"`
	Region  string   `json:"region"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	Work    uint64   `json:"work_bytes"`
	Phases  int      `json:"phases"`
}

func describeSection(p *program, i int) sectionJSON {
	s := p.sections[i]
	d := s.Descriptor
	j := sectionJSON{Label: s.Label, Triple: d.Triple, Features: d.Features, Kind: d.Kind, Bytes: len(s.Artifact),
		Plugin: d.Plugin.Name, Version: d.Plugin.Version, Binary: d.Plugin.Binary.String(),
		Protocol: fmt.Sprintf("%d.%d", d.Plugin.ProtocolMajor, d.Plugin.ProtocolMinor), Entries: []sectionEntry{},
		CodeMap: len(d.CodeMap), Nodes: len(d.Nodes), Folded: len(d.Folded), Absent: s.Absent, Estimate: d.Estimate}
	for _, o := range d.Options {
		if s.Absent == "" {
			if j.Options == nil {
				j.Options = map[string]string{}
			}
			j.Options[o.Name] = o.Value
		}
	}
	for _, e := range d.Entries {
		x := sectionEntry{Name: e.Name, Region: e.Region.String(), Work: e.Work, Phases: len(e.Phases), Inputs: []string{}, Outputs: []string{}}
		for _, b := range e.Inputs {
			x.Inputs = append(x.Inputs, b.Type().String())
		}
		for _, b := range e.Outputs {
			x.Outputs = append(x.Outputs, b.Type().String())
		}
		j.Entries = append(j.Entries, x)
	}
	return j
}

func (a *app) inspectSections(p *program, picked []int) error {
	list := []sectionJSON{}
	for _, i := range picked {
		list = append(list, describeSection(p, i))
	}
	return a.out.result(list, func(w *bufio.Writer) {
		for _, j := range list {
			fmt.Fprintf(w, "%s\n  triple    %s\n  features  %s\n", j.Label, j.Triple, orNone(j.Features))
			if j.Absent != "" {
				fmt.Fprintf(w, "  absent    %s\n", j.Absent)
				continue
			}
			fmt.Fprintf(w, "  artifact  %s, %d bytes; %d nodes (%d folded), %d pieces of code\n", j.Kind, j.Bytes, j.Nodes, j.Folded, j.CodeMap)
			fmt.Fprintf(w, "  plugin    %s %s, protocol %s, digest %.12s\n", j.Plugin, j.Version, j.Protocol, j.Binary)
			for _, e := range j.Entries {
				fmt.Fprintf(w, "  entry     %s(%s) -> (%s), %d phases, %d work bytes\n", e.Name, strings.Join(e.Inputs, ", "), strings.Join(e.Outputs, ", "), e.Phases, e.Work)
			}
		}
	})
}

type summaryJSON struct {
	File        string        `json:"file"`
	Bytes       int64         `json:"bytes"`
	Fingerprint string        `json:"fingerprint"`
	Optimised   string        `json:"optimised,omitempty"`
	Nodes       int           `json:"nodes"`
	Regions     int           `json:"regions"`
	Entries     []entryJSON   `json:"entries"`
	Sections    []sectionJSON `json:"sections"`
	Unknown     []unknownJSON `json:"unknown,omitempty"`
}

type entryJSON struct {
	Name    string     `json:"name"`
	Params  []leafJSON `json:"params"`
	Results []leafJSON `json:"results"`
	Bound   int        `json:"large_constants"`
}

type unknownJSON struct {
	Kind  uint32 `json:"kind"`
	Bytes int    `json:"bytes"`
}

func (a *app) inspectSummary(p *program) error {
	fp, err := p.graph.Fingerprint()
	if err != nil {
		return err
	}
	j := summaryJSON{File: p.path, Bytes: p.bytes, Fingerprint: fp.String(), Entries: []entryJSON{}, Sections: []sectionJSON{}}
	if d, ok := p.graph.OptimisedDigest(); ok {
		j.Optimised = d.String()
	}
	j.Nodes, j.Regions = reachable(p.graph)
	for i := range p.graph.Exports {
		x := &p.graph.Exports[i]
		j.Entries = append(j.Entries, entryJSON{x.Name, leafList(p.graph.ParamLeaves(x)), leafList(p.graph.ResultLeaves(x)), len(x.Bound)})
	}
	for i := range p.sections {
		j.Sections = append(j.Sections, describeSection(p, i))
	}
	if p.keg != nil {
		for _, u := range p.keg.Unknown {
			j.Unknown = append(j.Unknown, unknownJSON{u.Kind, len(u.Data)})
		}
	}
	return a.out.result(j, func(w *bufio.Writer) {
		fmt.Fprintf(w, "%s\n  fingerprint  %s\n", j.File, j.Fingerprint)
		if j.Optimised != "" {
			fmt.Fprintf(w, "  optimised    %s\n", j.Optimised)
		}
		fmt.Fprintf(w, "  graph        %d nodes in %d regions\n", j.Nodes, j.Regions)
		for _, e := range j.Entries {
			fmt.Fprintf(w, "  entry        %s%s -> %s", e.Name, typeLine(e.Params), typeLine(e.Results))
			if e.Bound > 0 {
				fmt.Fprintf(w, " with %s", plural(e.Bound, "large constant"))
			}
			fmt.Fprintln(w)
		}
		for _, s := range j.Sections {
			what := fmt.Sprintf("%s, %d bytes, by %s %s", s.Kind, s.Bytes, s.Plugin, s.Version)
			if s.Absent != "" {
				what = s.Absent
			}
			fmt.Fprintf(w, "  target       %-14s %s\n", s.Label, what)
		}
		for _, u := range j.Unknown {
			fmt.Fprintf(w, "  section      kind %d of a later version, %d bytes\n", u.Kind, u.Bytes)
		}
	})
}

// reachable counts the nodes and regions of the source graph.
func reachable(g *graph.Graph) (nodes, regions int) {
	roots := []graph.RegionID{}
	for i := range g.Exports {
		roots = append(roots, g.Exports[i].Region)
	}
	under := g.RegionsUnder(roots...)
	var all []graph.NodeID
	for _, r := range under {
		all = append(all, g.Order(r)...)
	}
	slices.Sort(all)
	return len(slices.Compact(all)), len(under)
}

// optimise fills in the optimised graph, unless an artefact brought it.
func (a *app) optimise(ctx context.Context, p *program) error {
	if _, ok := p.graph.OptimisedDigest(); ok {
		return nil
	}
	stop := a.out.during(ctx, "optimising")
	defer stop()
	report, err := midend.Optimise(ctx, p.graph, midend.Options{})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return a.invalidGraph(p, err)
	}
	if a.verbose {
		for _, s := range report.Steps {
			a.out.note("pass %-10s round %d: %6d nodes, %s", s.Pass, s.Round, s.Nodes, duration(s.Time))
		}
	}
	return nil
}

// invalidGraph reports a pass that broke a rule: a mistake of the compiler. The
// source graph is written where it can be reproduced from.
func (a *app) invalidGraph(p *program, err error) error {
	where := p.path + ".reproducer.keg"
	for i := range p.graph.Exports {
		p.graph.Exports[i].Optimised, p.graph.Exports[i].OptBound = graph.None, nil
	}
	if b, e := keg.Encode(&keg.File{Graph: p.graph}, keg.WriteOptions{}); e == nil && writeFile(where, b) == nil {
		return failf(exitPlugin, "internal fault while optimising: %v\nThis is a mistake in Kera. Please report it with %s, which reproduces it", err, where)
	}
	return failf(exitPlugin, "internal fault while optimising: %v\nThis is a mistake in Kera, please report it", err)
}
