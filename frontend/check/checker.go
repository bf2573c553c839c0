package check

import (
	"context"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/frontend/syntax"
)

// Source is a parsed module.
type Source struct {
	Name string // as in `use`: a.b
	Tree *syntax.Tree
	Std  bool // of the standard library
}

// checker holds what is common to all modules.
type checker struct {
	diags   diag.List
	sources map[string]*source
	order   []*source
	library []string
	atoms   int
	calls   map[any][]callEdge // of *Func and *Const

	builtins map[string]*Builtin
	natures  map[*syntax.Node]nature
}

// callEdge is a use of a function or constant.
type callEdge struct {
	to   any
	name string
	decl diag.Span
	at   diag.Span
}

type source struct {
	Source
	mod  *Module
	decl []item
}

// Check checks a program: the main module and everything it uses. Modules that
// a `use` names and others does not hold are reported there.
// library lists the modules of the standard library, for advice.
func Check(ctx context.Context, main *Source, others []*Source, library ...string) (*Program, diag.List) {
	c := &checker{library: library, sources: map[string]*source{}, calls: map[any][]callEdge{}, builtins: builtinTable(), natures: map[*syntax.Node]nature{}}
	for _, s := range append([]*Source{main}, others...) {
		src := &source{Source: *s, mod: &Module{Name: s.Name, Std: s.Std, File: s.Tree.File, items: map[string]item{}, modules: map[string]*Module{}}}
		if _, ok := c.sources[s.Name]; !ok {
			c.sources[s.Name] = src
		}
		c.order = append(c.order, src)
	}
	for _, s := range c.order {
		c.collect(s)
	}
	for _, s := range c.order {
		c.uses(s)
	}
	for _, s := range c.order {
		for _, it := range s.decl {
			it.resolve(c)
		}
	}
	p := &Program{Main: c.order[0].mod}
	for _, s := range c.order {
		for _, it := range s.decl {
			if ctx.Err() != nil {
				return p, c.diags // half checked; the caller asks the context
			}
			it.body(c)
		}
		c.tests(s)
		p.Modules = append(p.Modules, s.mod)
	}
	c.recursion()
	p.Exports = c.exports(c.order[0])
	c.diags.Sort()
	return p, c.diags
}

func (c *checker) errorf(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(code, at, format, args...)
	c.diags.Add(d)
	return d
}

func (c *checker) warnf(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := diag.Warnf(code, at, format, args...)
	c.diags.Add(d)
	return d
}

func (c *checker) newAtom(name string, kind atomKind) *Atom {
	c.atoms++
	return &Atom{Name: name, kind: kind, id: c.atoms}
}

// UseName is the module that a `use` declaration names.
func UseName(d syntax.UseDecl) string { return d.Path().String() }

// uses binds what the `use` declarations of s name.
func (c *checker) uses(s *source) {
	bound := map[string]diag.Span{}
	for _, it := range s.Tree.Source().Items() {
		d, ok := it.(syntax.UseDecl)
		if !ok || len(d.Path().Segments()) == 0 {
			continue
		}
		name := UseName(d)
		target, ok := c.sources[name]
		if !ok {
			e := c.errorf(diag.UnknownModule, d.Path().Span(), "there is no module `%s`", name).
				Notef("a module a.b is the file a/b.kera of the package, or part of the standard library: %s", strings.Join(c.library, ", "))
			suggest(e, name, slices.Clone(c.library))
			continue
		}
		if target == s {
			c.errorf(diag.UnknownModule, d.Path().Span(), "a module does not use itself")
			continue
		}
		if !d.HasList() {
			segs := d.Path().Segments()
			last := segs[len(segs)-1]
			c.bindModule(s, last.Text(), target.mod, last.Span(), bound)
			continue
		}
		for _, n := range d.Names() {
			c.bindName(s, target, n, bound)
		}
	}
}

func (c *checker) bindModule(s *source, name string, m *Module, at diag.Span, bound map[string]diag.Span) {
	if first, ok := bound[name]; ok {
		if s.mod.modules[name] != m {
			c.errorf(diag.DuplicateName, at, "`%s` is already taken by another `use`", name).Related(first, "here")
		}
		return
	}
	bound[name] = at
	s.mod.modules[name] = m
}

func (c *checker) bindName(s, target *source, n *syntax.Token, bound map[string]diag.Span) {
	name := n.Text()
	it := c.member(target.mod, name, n.Span())
	if it == nil {
		return
	}
	if old, ok := s.mod.items[name]; ok {
		if old != it {
			c.errorf(diag.DuplicateName, n.Span(), "`%s` is already declared in this module", name).Related(old.at(), "here")
		}
		return
	}
	bound[name] = n.Span()
	s.mod.items[name] = it
}

// member is a public item of another module; nil, and reported, if there is none.
func (c *checker) member(m *Module, name string, at diag.Span) item {
	it, ok := m.items[name]
	if ok && it.module() == m && it.public() {
		return it
	}
	if ok && it.module() == m {
		c.errorf(diag.PrivateName, at, "`%s` is private to module `%s`", name, m.Name).
			Related(it.at(), "declared here without `pub`").FixBy("make it public", it.declStart(), "pub ")
		return nil
	}
	d := c.errorf(diag.UnknownName, at, "module `%s` has no `%s`", m.Name, name)
	var names []string
	for n, it := range m.items {
		if it.module() == m && it.public() {
			names = append(names, n)
		}
	}
	suggest(d, name, names)
	return nil
}

// suggest adds the most alike of names to d as a note.
func suggest(d *diag.Diagnostic, name string, names []string) {
	best := diag.Nearest(name, names, len(name)/2)
	if best != "" {
		d.FixBy("did you mean", d.Primary, best)
	}
}

// recursion reports cycles of calls, also through constants: a graph cannot
// express them.
func (c *checker) recursion() {
	const (
		unseen = iota
		active
		done
	)
	state := map[any]int{}
	var visit func(f any, name string)
	visit = func(f any, name string) {
		state[f] = active
		for _, e := range c.calls[f] {
			switch state[e.to] {
			case unseen:
				visit(e.to, e.name)
			case active:
				d := c.errorf(diag.Recursion, e.at, "`%s` calls itself", e.name)
				if e.to != f {
					d.Message = "`" + name + "` needs `" + e.name + "`, which needs it in turn"
				}
				d.Related(e.decl, "declared here").Notef("a program is a finite graph, so recursion cannot be expressed: write a loop")
			}
		}
		state[f] = done
	}
	for _, s := range c.order {
		for _, f := range s.mod.Funcs {
			if state[f] == unseen {
				visit(f, f.Name)
			}
		}
	}
}

// uses notes that the function or constant being checked needs another.
func (b *body) uses(to any, name string, decl, at diag.Span) {
	if b.owner != nil {
		b.c.calls[b.owner] = append(b.c.calls[b.owner], callEdge{to, name, decl, at})
	}
}
