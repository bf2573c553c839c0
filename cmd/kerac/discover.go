package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/kera-lang/kera/pluginapi/cache"
	"github.com/kera-lang/kera/pluginapi/host"
)

// plugins is the set of backends of one command. Processes start when they are
// first needed, stay warm between targets and end with close.
type plugins struct {
	app    *app
	config *config
	finder host.Finder
	cache  *cache.Store
	open   map[string]*host.Plugin
	order  []*host.Plugin
}

func (a *app) plugins(c *config) *plugins {
	named := map[string]string{}
	for _, p := range c.Plugins {
		if p.Path != "" {
			named[p.Name] = p.Path
		}
	}
	base, err := filepath.Abs(filepath.Dir(c.file))
	if err != nil {
		base = filepath.Dir(c.file)
	}
	return &plugins{app: a, config: c, finder: host.DefaultFinder(named, base), open: map[string]*host.Plugin{}}
}

// useCache opens the cache of compiled sections. A cache that cannot be used only
// costs time.
func (p *plugins) useCache() {
	if p.cache != nil || p.config.Cache.Off {
		return
	}
	dir := p.config.path(p.config.Cache.Dir)
	var err error
	if dir == "" {
		dir, err = cache.DefaultDir()
	}
	if err == nil {
		p.cache, err = cache.Open(dir, p.config.Cache.MaxBytes)
	}
	if err != nil {
		p.app.out.note("kerac: building without a cache: %v", err)
	}
}

// list gives the backends there are: those of the configuration, else all found.
func (p *plugins) list() ([]host.Found, error) {
	if len(p.config.Plugins) == 0 {
		return p.finder.List(), nil
	}
	var out []host.Found
	for _, c := range p.config.Plugins {
		f, err := p.finder.Find(c.Name)
		if err != nil {
			return nil, pluginFailure(err)
		}
		out = append(out, f)
	}
	return out, nil
}

// get gives a backend by name.
func (p *plugins) get(name string) (*host.Plugin, error) {
	if h, ok := p.open[name]; ok {
		return h, nil
	}
	f, err := p.finder.Find(name)
	if err != nil {
		var names []string
		for _, f := range p.finder.List() {
			names = append(names, f.Name)
		}
		if near := nearest(name, names); near != "" {
			return nil, &exitError{code: exitPlugin, err: mistake("K0703", "there is no plugin %q", name).Notef("did you mean %s?", near).Notef("%v", err)}
		}
		return nil, &exitError{code: exitPlugin, err: mistake("K0703", "there is no plugin %q", name).Notef("%v", err)}
	}
	h := host.New(host.Spec{Name: f.Name, Path: f.Path, HostVersion: version, Cache: p.cache, Log: p.log()})
	p.open[name] = h
	p.order = append(p.order, h)
	return h, nil
}

func (p *plugins) log() hclog.Logger {
	if !p.app.verbose {
		return nil
	}
	return hclog.New(&hclog.LoggerOptions{Name: "kerac", Output: p.app.out.stderr, Level: hclog.Warn, DisableTime: true})
}

// close ends every backend process and waits for them.
func (p *plugins) close() {
	for _, h := range p.order {
		h.Close()
	}
}

// pluginFailure gives an error of a backend its exit code. Cancellation stays what
// it is.
func pluginFailure(err error) error {
	var he *host.Error
	if err == nil || !errors.As(err, &he) {
		return err
	}
	data := map[string]any{"plugin": he.Plugin, "version": he.Version, "call": he.Call, "kind": he.Kind.String(),
		"reason": he.Reason, "target": he.Target, "reproducer": he.Reproducer, "stderr": he.Stderr}
	return &exitError{code: exitPlugin, err: err, data: data}
}

// targetSpec is a target to build: a backend, a triple and a feature set.
type targetSpec struct {
	plugin  *host.Plugin
	target  host.Target
	feature host.FeatureSet
	options map[string]string
}

func (t targetSpec) label() string {
	s := t.plugin.Name()
	if t.feature.Name != "" {
		s += ":" + t.feature.Name
	}
	return s
}

// same reports whether both are one target.
func (t targetSpec) same(u targetSpec) bool {
	return t.plugin == u.plugin && t.target.Triple == u.target.Triple && t.feature.Name == u.feature.Name
}

// named reports whether a person means t by name: a backend's or a triple, with a
// feature set's after a colon or without.
func (t targetSpec) named(name string) bool {
	name, feature, _ := strings.Cut(name, ":")
	return (name == t.plugin.Name() || name == t.target.Triple) && (feature == "" || feature == t.feature.Name)
}

// resolve turns target names into what to compile. A name is a backend's or a
// triple, alone for every feature set or with one after a colon.
func (p *plugins) resolve(ctx context.Context, wanted []targetConfig) ([]targetSpec, error) {
	var out []targetSpec
	for _, w := range wanted {
		specs, err := p.resolveOne(ctx, w)
		if err != nil {
			return nil, err
		}
		out = append(out, specs...)
	}
	return out, nil
}

func (p *plugins) resolveOne(ctx context.Context, w targetConfig) ([]targetSpec, error) {
	name, _, _ := strings.Cut(w.Name, ":")
	options, err := optionMap(w.Options)
	if err != nil {
		return nil, usagef("target %s: %v", w.Name, err)
	}
	found, err := p.list()
	if err != nil {
		return nil, err
	}
	// A backend of that name is asked alone; for a triple all are.
	var candidates []string
	named := false
	for _, f := range found {
		candidates = append(candidates, f.Name)
		named = named || f.Name == name
	}
	if named {
		candidates = []string{name}
	}
	var out []targetSpec
	known := []string{}
	for _, c := range candidates {
		h, err := p.get(c)
		if err != nil {
			return nil, err
		}
		targets, err := h.Targets(ctx)
		if err != nil {
			return nil, pluginFailure(err)
		}
		for _, t := range targets {
			sets := t.FeatureSets
			if len(sets) == 0 {
				sets = []host.FeatureSet{{}}
			}
			for _, s := range sets {
				spec := targetSpec{h, t, s, options}
				known = append(known, spec.label())
				if spec.named(w.Name) {
					out = append(out, spec)
				}
			}
		}
	}
	if len(out) == 0 && !named && host.ValidName(name) {
		if _, err := p.get(name); err != nil {
			return nil, err // says where it was looked for
		}
	}
	if len(out) == 0 {
		d := mistake("K0704", "no backend has a target %q", w.Name).Notef("targets: %s", strings.Join(known, ", "))
		if near := nearest(w.Name, known); near != "" {
			d.Notef("did you mean %s?", near)
		}
		return nil, d
	}
	return out, nil
}
