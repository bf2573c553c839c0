package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/host"
	"github.com/kera-lang/kera/runtime/atomicfile"
	"github.com/kera-lang/kera/runtime/runner"
)

type buildFlags struct {
	out       string
	targets   []string
	bind      []string
	keepGoing bool
}

func (a *app) buildCmd() *cobra.Command {
	var f buildFlags
	c := a.command("build FILE.kera|IN.keg -o OUT.keg", "Compile a program for its targets into one .keg", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return a.build(ctx, args[0], f) })
	fs := c.Flags()
	fs.StringVarP(&f.out, "out", "o", "", "the .keg to write (required)")
	fs.StringArrayVar(&f.targets, "target", nil, "target to build, repeat for several; 'none' for the graph alone (default: those of the configuration, else all backends found)")
	fs.StringArrayVar(&f.bind, "bind", nil, "n=1024, value of a dimension; repeat or separate with commas")
	fs.BoolVar(&f.keepGoing, "keep-going", false, "record a target that fails as absent and build the others")
	c.ValidArgsFunction = files("kera", "keg")
	completing(c, map[string]flagComplete{"target": completeBackends})
	return c
}

type buildJSON struct {
	Out         string           `json:"out"`
	Bytes       int              `json:"bytes"`
	Fingerprint string           `json:"fingerprint"`
	Entries     []string         `json:"entries"`
	Targets     []buildTarget    `json:"targets"`
	Times       map[string]int64 `json:"times_ns"`
}

type buildTarget struct {
	Target  string `json:"target"`
	Status  string `json:"status"` // built, cached, kept, absent
	Reason  string `json:"reason,omitempty"`
	Bytes   int    `json:"bytes"`
	Ns      int64  `json:"ns"`
	Plugin  string `json:"plugin,omitempty"`
	Version string `json:"version,omitempty"`
}

// clock adds up where the time of a build goes.
type clock struct {
	start time.Time
	times map[string]int64
}

func (c *clock) lap(what string, since time.Time) { c.times[what] += time.Since(since).Nanoseconds() }

func (a *app) build(ctx context.Context, path string, f buildFlags) error {
	if f.out == "" {
		return usagef("build needs -o OUT.keg")
	}
	bind, err := bindings(f.bind)
	if err != nil {
		return err
	}
	t := &clock{time.Now(), map[string]int64{}}
	cfg, err := loadConfig(a.config)
	if err != nil {
		return err
	}
	artefact, err := isArtefact(path)
	if err != nil {
		return err
	}
	if !artefact && clean(path) == clean(f.out) {
		return mistake("K0717", "%s would overwrite its own source", f.out)
	}
	p, err := a.loadProgram(ctx, path, bind)
	if err != nil {
		return err
	}
	t.lap("frontend", t.start)
	if p.source {
		begin := time.Now()
		if err := a.optimise(ctx, p); err != nil {
			return err
		}
		t.lap("passes", begin)
	}
	ps := a.plugins(cfg)
	defer ps.close()
	ps.useCache()
	file := p.keg
	if file == nil {
		file = &keg.File{Graph: p.graph}
	}
	rows, err := a.compileTargets(ctx, ps, p, file, f, t)
	if err != nil {
		return err
	}
	begin := time.Now()
	var out countingWriter
	err = atomicfile.Write(f.out, func(w io.Writer) error {
		out.w = w
		return keg.Write(&out, file, keg.WriteOptions{})
	})
	if err != nil {
		return err
	}
	t.lap("writing", begin)
	t.times["total"] = time.Since(t.start).Nanoseconds()
	return a.buildResult(p, f, rows, out.n, t)
}

type countingWriter struct {
	w io.Writer
	n int
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}

// wantedTargets are those of the command line, else of the configuration, else
// every backend that is found. A name without options takes the configuration's.
func wantedTargets(ps *plugins, names []string) ([]targetConfig, error) {
	if len(names) == 0 {
		if len(ps.config.Targets) > 0 {
			return ps.config.Targets, nil
		}
		found, err := ps.list()
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			names = append(names, f.Name)
		}
	}
	var out []targetConfig
	for _, n := range names {
		if n == "none" {
			if len(names) > 1 {
				return nil, usagef("--target none stands alone")
			}
			return nil, nil
		}
		i := slices.IndexFunc(ps.config.Targets, func(t targetConfig) bool { return t.Name == n })
		if i < 0 {
			plugin, _, _ := strings.Cut(n, ":")
			i = slices.IndexFunc(ps.config.Targets, func(t targetConfig) bool { return t.Name == plugin })
		}
		w := targetConfig{Name: n}
		if i >= 0 {
			w.Options = ps.config.Targets[i].Options
		}
		out = append(out, w)
	}
	return out, nil
}

// compileTargets adds or replaces the wanted targets in file. Without --keep-going
// the first failure ends it.
func (a *app) compileTargets(ctx context.Context, ps *plugins, p *program, file *keg.File, f buildFlags, t *clock) ([]buildTarget, error) {
	wanted, err := wantedTargets(ps, f.targets)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	var specs []targetSpec
	var rows []buildTarget
	for _, w := range wanted {
		s, err := ps.resolveOne(ctx, w)
		if err != nil && (!f.keepGoing || ctx.Err() != nil || exitCode(ctx, pluginFailure(err)) != exitPlugin) {
			return nil, err
		}
		if err != nil {
			// Nobody can be asked what the target is: it is known by its name only.
			rows = append(rows, buildTarget{Target: w.Name, Status: "absent", Reason: oneLine(err)})
			if err := setAbsent(file, &section.Descriptor{Triple: w.Name, Kind: absentKind}, oneLine(err)); err != nil {
				return nil, err
			}
			a.out.note("kerac: %s left absent: %v", w.Name, err)
			continue
		}
		for _, one := range s {
			if !slices.ContainsFunc(specs, one.same) { // x86 and x86:avx2
				specs = append(specs, one)
			}
		}
	}
	t.lap("plugin start", begin)
	g, root, err := jobGraph(p.graph)
	if err != nil {
		return nil, err
	}
	for i, r := range a.compileSpecs(ctx, p.graph, g, root, specs) {
		s, row, err := specs[i], r.row, r.err
		a.out.diagnose(r.shown)
		if err == nil {
			setTarget(file, r.target, s)
		} else {
			if !f.keepGoing || ctx.Err() != nil || exitCode(ctx, err) != exitPlugin {
				return nil, err
			}
			row = buildTarget{Target: s.label(), Status: "absent", Reason: oneLine(err)}
			d := &section.Descriptor{Triple: s.target.Triple, Features: s.feature.Features, Kind: absentKind,
				Plugin: section.Plugin{Name: s.plugin.Name()}}
			if err := setAbsent(file, d, row.Reason); err != nil {
				return nil, err
			}
			a.out.note("kerac: %s left absent: %v", s.label(), err)
		}
		t.times["compile "+row.Target] = row.Ns
		rows = append(rows, row)
	}
	for _, s := range p.sections {
		if !slices.ContainsFunc(rows, func(r buildTarget) bool { return r.Target == s.Label }) {
			rows = append(rows, buildTarget{Target: s.Label, Status: "kept", Bytes: len(s.Artifact)})
		}
	}
	return rows, nil
}

func oneLine(err error) string {
	if list := diagnostics(err); len(list) > 0 {
		return list[0].Message
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// setAbsent records a target without code, and removes the code it may have had.
func setAbsent(file *keg.File, d *section.Descriptor, reason string) error {
	d.Options = []section.Option{{Name: "reason", Value: reason}}
	t, err := keg.NewTarget(d, nil)
	if err != nil {
		return err
	}
	file.Targets = slices.DeleteFunc(file.Targets, func(old keg.Target) bool { return sameTarget(old.Desc, d) })
	file.SetTarget(t)
	return nil
}

func sameTarget(a, b *section.Descriptor) bool {
	return a.Triple == b.Triple && slices.Equal(a.Features, b.Features)
}

// jobGraph is what backends get: the program without sections, and the digest that
// their work depends on. Places in the source are left out, so that reformatting
// finds the cache.
func jobGraph(g *graph.Graph) (*host.Graph, digest.D, error) {
	b, err := keg.Encode(&keg.File{Graph: g}, keg.WriteOptions{OmitProvenance: true})
	if err != nil {
		return nil, digest.D{}, err
	}
	root, ok := g.OptimisedDigest()
	if !ok {
		return nil, digest.D{}, errors.New("the graph has entries that were not optimised")
	}
	return host.NewGraph(b), root, nil
}

// entryNames asks for every entry by name, so that a section that lacks one is
// refused.
func entryNames(g *graph.Graph) []string {
	out := make([]string, len(g.Exports))
	for i := range g.Exports {
		out[i] = g.Exports[i].Name
	}
	return out
}

// compilation is what came of one target.
type compilation struct {
	row    buildTarget
	target keg.Target
	shown  diag.List // warnings and notes
	err    error
}

// compileSpecs compiles every target: those of one backend one after another, the
// backends side by side. The results are in the order of specs.
func (a *app) compileSpecs(ctx context.Context, src *graph.Graph, g *host.Graph, root digest.D, specs []targetSpec) []compilation {
	out := make([]compilation, len(specs))
	stop := a.out.during(ctx, "compiling for "+plural(len(specs), "target"))
	defer stop()
	var wg sync.WaitGroup
	for i, s := range specs {
		if slices.ContainsFunc(specs[:i], func(t targetSpec) bool { return t.plugin == s.plugin }) {
			continue // the first of a backend takes the others along
		}
		wg.Go(func() {
			for k := i; k < len(specs); k++ {
				if specs[k].plugin == s.plugin {
					out[k] = a.compileTarget(ctx, src, g, root, specs[k])
				}
			}
		})
	}
	wg.Wait()
	return out
}

// setTarget puts a section in the file, in the place of one that was left absent.
func setTarget(file *keg.File, t keg.Target, s targetSpec) {
	file.Targets = slices.DeleteFunc(file.Targets, func(old keg.Target) bool {
		return old.Desc.Kind == absentKind && (sameTarget(old.Desc, t.Desc) || s.named(old.Desc.Triple))
	})
	file.SetTarget(t)
}

func (a *app) compileTarget(ctx context.Context, src *graph.Graph, g *host.Graph, root digest.D, s targetSpec) (c compilation) {
	c.row = buildTarget{Target: s.label(), Status: "built", Plugin: s.plugin.Name()}
	if len(s.options) > 0 {
		ds, err := s.plugin.Configure(ctx, s.target.Triple, s.options)
		if err == nil {
			c.shown, err = backendDiagnostics(src, s, ds)
		}
		if err != nil {
			c.err = pluginFailure(err)
			return c
		}
	}
	r, err := s.plugin.Compile(ctx, host.CompileRequest{
		Job:  host.Job{Graph: g, Entries: entryNames(src), Triple: s.target.Triple, Features: s.feature.Features, Options: s.options},
		Root: root,
		Progress: func(p host.Progress) {
			a.out.progress("%s: %s %d/%d", s.label(), p.Stage, p.Done, p.Total)
		},
	})
	if err != nil {
		c.err = pluginFailure(err)
		return c
	}
	shown, err := backendDiagnostics(src, s, r.Diagnostics)
	c.shown = append(c.shown, shown...)
	if err != nil {
		c.err = err
		return c
	}
	if c.target, err = keg.NewTarget(r.Section.Descriptor, r.Section.Artifact); err != nil {
		c.err = &exitError{code: exitPlugin, err: fmt.Errorf("plugin %s: %w", s.plugin.Name(), err)}
		return c
	}
	c.row.Bytes, c.row.Ns, c.row.Version = len(c.target.Artifact), r.Duration.Nanoseconds(), c.target.Desc.Plugin.Version
	if r.Cached {
		c.row.Status = "cached"
	}
	return c
}

// backendDiagnostics translates what a backend says about the program. It names
// nodes; the graph knows where they were written. An error means exit code 8: this
// target cannot compile the program.
func backendDiagnostics(g *graph.Graph, s targetSpec, ds []host.Diagnostic) (shown diag.List, err error) {
	var errs diag.List
	for _, d := range ds {
		out := &diag.Diagnostic{Message: fmt.Sprintf("%s: %s [%s]", s.label(), d.Summary, d.Code)}
		switch d.Severity {
		case host.SeverityWarning:
			out.Severity = diag.Warning
		case host.SeverityNote:
			out.Severity = diag.Note
		}
		if d.Detail != "" {
			out.Notef("%s", d.Detail)
		}
		for i, n := range d.Nodes {
			if i == 5 {
				out.Notef("and %d more nodes", len(d.Nodes)-i)
				break
			}
			out.Notef("node %s", nodeName(g, n))
		}
		for _, fix := range d.Fixes {
			out.Notef("help: %s", fix.Title)
		}
		if out.Severity == diag.Error {
			errs.Add(out)
		} else {
			shown.Add(out)
		}
	}
	if len(errs) == 0 {
		return shown, nil
	}
	return shown, &exitError{code: exitPlugin, err: errs}
}

func nodeName(g *graph.Graph, d digest.D) string {
	for n := range graph.NodeID(g.NumNodes()) {
		if g.Digest(n) != d {
			continue
		}
		text := d.Short() + " " + g.NodeText(n)
		for _, s := range g.Prov.Spans[n] {
			if int(s.File) < len(g.Prov.Files) {
				return fmt.Sprintf("%s at %s, byte %d", text, g.Prov.Files[s.File], s.Start)
			}
		}
		return text
	}
	return d.Short()
}

// compileAll compiles targets of a program that is not written anywhere.
func (a *app) compileAll(ctx context.Context, ps *plugins, p *program, wanted []targetConfig) error {
	ps.useCache()
	if err := a.optimise(ctx, p); err != nil {
		return err
	}
	specs, err := ps.resolve(ctx, wanted)
	if err != nil {
		return err
	}
	g, root, err := jobGraph(p.graph)
	if err != nil {
		return err
	}
	file := &keg.File{Graph: p.graph}
	for i, r := range a.compileSpecs(ctx, p.graph, g, root, specs) {
		a.out.diagnose(r.shown)
		if r.err != nil {
			return r.err
		}
		setTarget(file, r.target, specs[i])
	}
	p.setSections(file.Targets)
	return nil
}

// compileInMemory makes a source file runnable on one target.
func (a *app) compileInMemory(ctx context.Context, ps *plugins, p *program, target string) error {
	wanted, err := wantedTargets(ps, []string{target})
	if err != nil {
		return err
	}
	return a.compileAll(ctx, ps, p, wanted)
}

// loadFor reads the program of a run. Dimensions of a source file that nothing
// binds are taken from the shapes of the inputs.
func (a *app) loadFor(ctx context.Context, path string, f runFlags, inputs []runner.Source) (*program, error) {
	bind, err := bindings(f.bind)
	if err != nil {
		return nil, err
	}
	artefact, err := isArtefact(path)
	if err != nil || artefact {
		if err == nil {
			return a.loadProgram(ctx, path, bind)
		}
		return nil, err
	}
	c, err := checkFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if c.diags.HasErrors() {
		return nil, c.diags
	}
	bind, err = inferBindings(c, f.entry, bind, inputs)
	if err != nil {
		return nil, err
	}
	return a.loadSource(ctx, path, bind)
}

func (a *app) buildResult(p *program, f buildFlags, rows []buildTarget, bytes int, t *clock) error {
	fp, err := p.graph.Fingerprint()
	if err != nil {
		return err
	}
	j := buildJSON{Out: f.out, Bytes: bytes, Fingerprint: fp.String(), Entries: []string{}, Targets: rows, Times: t.times}
	if rows == nil {
		j.Targets = []buildTarget{}
	}
	for i := range p.graph.Exports {
		j.Entries = append(j.Entries, p.graph.Exports[i].Name)
	}
	if a.verbose {
		for _, k := range slices.Sorted(maps.Keys(t.times)) {
			a.out.note("%-24s %s", k, duration(time.Duration(t.times[k])))
		}
	}
	if a.out.quiet && !a.out.json {
		return nil // the file is the result
	}
	return a.out.result(j, func(w *bufio.Writer) {
		fmt.Fprintf(w, "%s: %d bytes, fingerprint %s\n", f.out, bytes, fp)
		fmt.Fprintf(w, "  entries  %s\n", strings.Join(j.Entries, ", "))
		for _, r := range rows {
			reason := ""
			if r.Reason != "" {
				reason = "  " + r.Reason
			}
			fmt.Fprintf(w, "  %-14s %-7s %8d bytes%s\n", r.Target, r.Status, r.Bytes, reason)
		}
	})
}
