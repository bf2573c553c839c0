package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/runtime/atomicfile"
	"github.com/kera-lang/kera/runtime/runner"
)

// program is a source file or an artefact, read.
type program struct {
	path     string
	source   bool // built from source just now
	graph    *graph.Graph
	keg      *keg.File // nil for source
	bytes    int64     // of the artefact
	sections []runner.Section
	files    map[string]*diag.File
	compiled *compiled // of source
}

// absentKind is the artifact kind of a target that --keep-going could not build.
// Such a section has no code; its option "reason" says why.
const absentKind = "absent"

// isArtefact looks at a file's name, and at its first bytes if the name says
// nothing.
func isArtefact(path string) (bool, error) {
	switch {
	case strings.HasSuffix(path, ".keg"):
		return true, nil
	case strings.HasSuffix(path, ".kera"):
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, cannotRead(path, err)
	}
	defer f.Close()
	var magic [4]byte
	if n, _ := f.Read(magic[:]); n == 4 && string(magic[:]) == "KEG\x00" {
		return true, nil
	}
	return false, mistake("K0721", "%s is neither a .kera source file nor a .keg artefact", path)
}

func cannotRead(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return mistake("K0720", "%s cannot be read: %v", path, err)
}

// loadProgram reads either kind of file.
func (a *app) loadProgram(ctx context.Context, path string, bind map[string]int64) (*program, error) {
	artefact, err := isArtefact(path)
	if err != nil {
		return nil, err
	}
	if artefact {
		if len(bind) > 0 {
			return nil, usagef("--bind is for source files; the dimensions of %s are bound already", path)
		}
		return a.loadKeg(path)
	}
	return a.loadSource(ctx, path, bind)
}

// loadSource builds the graph of a source file.
func (a *app) loadSource(ctx context.Context, path string, bind map[string]int64) (*program, error) {
	c, err := buildFile(ctx, path, bind, false)
	if err != nil {
		return nil, err
	}
	if c.diags.HasErrors() {
		return nil, c.diags
	}
	a.out.diagnose(c.diags)
	p := &program{path: path, source: true, graph: c.Graph, files: c.files, compiled: c}
	if len(p.graph.Exports) == 0 {
		return nil, p.nothingExported()
	}
	return p, nil
}

// nothingExported says why a source file has no entries.
func (p *program) nothingExported() error {
	var list diag.List
	for _, u := range p.compiled.Unbound {
		list.Add(diag.Errorf("K0716", u.At, "%s has no value for %s", u.Name, strings.Join(u.Dims, ", ")).
			Notef("give it with --bind %s=N, or write `export %s[%s = N]`", u.Dims[0], u.Name, u.Dims[0]))
	}
	if len(list) == 0 {
		list.Add(mistake("K0710", "%s exports nothing", p.path).Notef("an entry is a `pub fn` of the file itself"))
	}
	return list
}

// loadKeg reads an artefact.
func (a *app) loadKeg(path string) (*program, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	return openKeg(path, b)
}

func openKeg(path string, b []byte) (*program, error) {
	f, err := keg.Read(b, keg.ReadOptions{})
	if err != nil {
		var fe *keg.FormatError
		data := map[string]any{"file": path}
		if errors.As(err, &fe) {
			data = map[string]any{"file": path, "offset": fe.Offset, "section": keg.KindName(fe.Section), "reason": fe.Reason}
		}
		return nil, &exitError{code: exitArtefact, err: fmt.Errorf("%s: %w", path, err), data: data}
	}
	p := &program{path: path, graph: f.Graph, keg: f, bytes: int64(len(b))}
	p.setSections(f.Targets)
	return p, nil
}

// setSections labels the target sections, those that were left absent too.
func (p *program) setSections(targets []keg.Target) {
	ds := make([]*section.Descriptor, len(targets))
	for i := range targets {
		ds[i] = targets[i].Desc
	}
	labels := runner.Labels(ds)
	p.sections = p.sections[:0]
	for i, t := range targets {
		p.sections = append(p.sections, runner.Section{Label: labels[i], Descriptor: t.Desc, Artifact: t.Artifact, Absent: absence(t.Desc)})
	}
}

// absence is why a section has no code, "" if it has.
func absence(d *section.Descriptor) string {
	if d.Kind != absentKind {
		return ""
	}
	for _, o := range d.Options {
		if o.Name == "reason" {
			return "it was not built: " + o.Value
		}
	}
	return "it was not built"
}

// verifyContent recomputes every digest from the content, which loading alone does
// not do.
func (p *program) verifyContent() error {
	if err := graph.VerifyDigests(p.graph); err != nil {
		return &exitError{code: exitArtefact, err: fmt.Errorf("%s: %w", p.path, err)}
	}
	return nil
}

// choose gives the sections that a target name means; "" means all.
func (p *program) choose(spec string) []int {
	if spec == "" {
		all := make([]int, len(p.sections))
		for i := range all {
			all[i] = i
		}
		return all
	}
	ds := make([]*section.Descriptor, len(p.sections))
	for i, s := range p.sections {
		ds[i] = s.Descriptor
	}
	return runner.Choose(spec, ds)
}

func (p *program) noSection(spec string) error {
	labels := []string{interpTarget}
	for _, s := range p.sections {
		labels = append(labels, s.Label)
	}
	d := mistake("K0704", "%s has no section for %q", p.path, spec).Notef("targets: %s", strings.Join(labels, ", "))
	if near := nearest(spec, labels); near != "" {
		d.Notef("did you mean %s?", near)
	}
	return &exitError{code: exitArtefact, err: d}
}

// machine runs sections with the backends of the configuration.
func (a *app) machine(ps *plugins) *runner.Machine {
	return &runner.Machine{Plugin: ps.get}
}

func writeFile(path string, b []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(b); return err })
}
