// Package build turns a checked program into a graph: one region per function
// instance, closed regions for arms, loop bodies and parallel bodies.
//
// The algorithm is abstract execution: the typed tree is walked in program
// order with an environment that maps variables to graph values; an assignment
// replaces the value. Every check of the source becomes a trap code that is
// joined to the code so far, so program order is the order of the walk. A
// nested body is walked in a frame of its own (frame.go): what it uses from
// outside becomes an input the first time it is used, what it assigns becomes a
// result.
//
// What must hold: equal programs give equal graphs whatever their names, layout
// and order of declarations; every check and literal of the source is in the
// graph; no diagnostic but those of the K04 range arises here, once package
// check has accepted the program; nothing here depends on map order.
package build

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/check"
)

// Options are what a build takes besides the program.
type Options struct {
	// Bind gives dimensions of public functions of the main module by name.
	Bind map[string]int64
	// Embed loads an array of a file; array is "" for a file that holds one.
	Embed func(file, array string) (types.Type, []byte, error)
	// Tests builds the test blocks too.
	Tests bool
}

// Output is what a build gives.
type Output struct {
	Graph *graph.Graph

	// TestGraph has an entry per test block; nil without Options.Tests.
	TestGraph *graph.Graph
	Tests     []Test

	// Unbound are the public functions of the main module with a dimension that
	// nothing gives a value.
	Unbound []Unbound
}

// Test is a test block: Entry is its name in TestGraph.
type Test struct {
	Module, Name, Entry string
	At                  diag.Span
}

// Unbound is a function that was not exported, with its dimensions.
type Unbound struct {
	Name string
	Dims []string
	At   diag.Span
}

// maxInstances bounds the instances of one build.
const maxInstances = 10_000

type builder struct {
	ctx    context.Context
	opt    Options
	diags  diag.List
	g      *graph.Graph
	b      graph.B
	files  map[*diag.File]int32
	insts  map[string]*instance
	ids    map[*check.Func]int
	consts map[*check.Const]*constVal
	arrays map[*check.Array]*leafConst
	eval   *interp.Machine

	recorded graph.NodeID // nodes below have their places
}

// instance is a function built for given dimensions.
type instance struct {
	fn     *check.Func
	dims   map[*check.Atom]int64
	region graph.RegionID
	bound  []*leafConst // the constants bound to the trailing parameters
	quiet  bool         // never traps
	failed bool         // reported
	busy   bool
}

// evalSteps and evalBytes bound the evaluation of one constant.
const (
	evalSteps = 1 << 24
	evalBytes = 1 << 28
)

func newBuilder(ctx context.Context, p *check.Program, opt Options) *builder {
	g := graph.New()
	bd := &builder{ctx: ctx, opt: opt, g: g, b: graph.B{Store: g.Store}, files: map[*diag.File]int32{},
		insts: map[string]*instance{}, ids: map[*check.Func]int{}, consts: map[*check.Const]*constVal{}, arrays: map[*check.Array]*leafConst{}}
	bd.eval = interp.New(g.Store, interp.Limits{Bytes: evalBytes, Steps: evalSteps})
	for _, m := range p.Modules {
		bd.files[m.File] = int32(len(g.Prov.Files))
		g.Prov.Files = append(g.Prov.Files, m.File.Name)
	}
	return bd
}

// Build builds the graph of a program without errors.
func Build(ctx context.Context, p *check.Program, opt Options) (*Output, diag.List) {
	bd := newBuilder(ctx, p, opt)
	out := &Output{Graph: bd.g}
	out.Unbound = bd.exports(p)
	bd.everyConst(p)
	if opt.Tests {
		tb := newBuilder(ctx, p, opt)
		tb.consts = bd.consts
		out.TestGraph, out.Tests = tb.g, tb.tests(p)
		bd.diags.Add(tb.diags...)
	}
	bd.diags.Sort()
	return out, bd.diags
}

func (bd *builder) errorf(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(code, at, format, args...)
	bd.diags.Add(d)
	return d
}

// exports builds the entries: what `export` lists, public functions without
// dimensions, and those that the bindings complete.
func (bd *builder) exports(p *check.Program) []Unbound {
	var unbound []Unbound
	used := map[string]bool{}
	listed := map[*check.Func]bool{}
	seen := map[string]diag.Span{}
	add := func(fn *check.Func, dims map[*check.Atom]int64, at diag.Span) {
		name := instanceName(fn, dims)
		if first, dup := seen[name]; dup {
			bd.errorf(diag.DuplicateInst, at, "`%s` is exported twice", name).Related(first, "the first time here")
			return
		}
		seen[name] = at
		bd.export(name, fn, dims, at)
	}
	for _, r := range p.Exports {
		listed[r.Fn] = true
		add(r.Fn, r.Dims, r.At)
	}
	for _, fn := range p.Main.Funcs {
		if !fn.Pub {
			continue
		}
		dims, missing := map[*check.Atom]int64{}, []string{}
		given := 0
		for _, a := range fn.Dims {
			v, ok := bd.opt.Bind[a.Name]
			if !ok {
				missing = append(missing, a.Name)
				continue
			}
			used[a.Name] = true
			dims[a] = v
			given++
		}
		switch {
		case len(missing) == 0 && given > 0:
			if _, dup := seen[instanceName(fn, dims)]; !dup {
				add(fn, dims, fn.At)
			}
		case len(missing) == 0 && !listed[fn]:
			add(fn, dims, fn.At)
		case len(missing) > 0 && !listed[fn]:
			unbound = append(unbound, Unbound{fn.Name, missing, fn.At})
		}
	}
	for _, name := range sortedKeys(bd.opt.Bind) {
		if !used[name] {
			bd.errorf(diag.UnknownBind, diag.Span{}, "no public function has a dimension `%s`", name)
		}
	}
	return unbound
}

func sortedKeys(m map[string]int64) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// instanceName is var95[n=40,s=500], the bindings in ascending order of names.
func instanceName(fn *check.Func, dims map[*check.Atom]int64) string {
	if len(fn.Dims) == 0 {
		return fn.Name
	}
	var parts []string
	for _, a := range fn.Dims {
		parts = append(parts, fmt.Sprintf("%s=%d", a.Name, dims[a]))
	}
	slices.Sort(parts)
	return fn.Name + "[" + strings.Join(parts, ",") + "]"
}

func (bd *builder) export(name string, fn *check.Func, dims map[*check.Atom]int64, at diag.Span) {
	if !bd.whereHolds(fn, dims, at, name) {
		return
	}
	in := bd.instance(fn, dims, at)
	if in.failed {
		if !bd.diags.HasErrors() && bd.ctx.Err() == nil {
			panic("BUG: " + name + " cannot be built, and nothing says why")
		}
		return
	}
	x := graph.Export{Name: name, Region: in.region, Optimised: graph.None}
	for _, p := range fn.Params {
		x.Params = append(x.Params, port(p.Name, p.Type))
	}
	if fn.Result.Kind == check.Tuple {
		for i, t := range fn.Result.Elems {
			x.Results = append(x.Results, port(fmt.Sprint(i), t))
		}
	} else {
		x.Results = []graph.Port{port("result", fn.Result)}
	}
	bd.bind(&x, in.bound)
	if err := bd.g.AddExport(x); err != nil {
		panic("BUG: " + err.Error())
	}
}

// bind binds constants to the trailing parameters of an entry.
func (bd *builder) bind(x *graph.Export, bound []*leafConst) {
	for _, c := range bound {
		x.Bound = append(x.Bound, graph.Bound{Type: c.typ, Blob: bd.g.AddBlob(c.data)})
	}
}

func port(name string, t *check.Type) graph.Port {
	p := graph.Port{Name: name}
	for i, ft := range t.Fields() {
		n := fmt.Sprint(i)
		if t.Kind == check.StructKind {
			n = t.Struct.Fields[i].Name
		}
		p.Fields = append(p.Fields, port(n, ft))
	}
	return p
}

// whereHolds evaluates the constraints of an instance.
func (bd *builder) whereHolds(fn *check.Func, dims map[*check.Atom]int64, at diag.Span, name string) bool {
	for _, w := range fn.Where {
		l, lok := w.L.Eval(dims)
		r, rok := w.R.Eval(dims)
		if !lok || !rok {
			bd.errorf(diag.InstanceWhere, at, "%s: the constraint %s has no value", name, w.At.Text()).Related(w.At, "declared here")
			return false
		}
		if !check.CompareInts(w.Op, l, r) {
			bd.errorf(diag.InstanceWhere, at, "%s needs %s, which does not hold", name, w.At.Text()).
				Related(w.At, "%d and %d", l, r)
			return false
		}
	}
	return true
}

// tests builds the test blocks of the main module and of the other modules of
// the package, in order.
func (bd *builder) tests(p *check.Program) []Test {
	var out []Test
	for _, m := range p.Modules {
		if m.Std && m != p.Main {
			continue // the library's tests are the library's
		}
		for _, t := range m.Tests {
			entry := t.Name
			if entry == "" {
				entry = "(no name)"
			}
			if m != p.Main {
				entry = m.Name + ": " + t.Name
			}
			in := &instance{dims: map[*check.Atom]int64{}}
			bd.region(in, "test \""+t.Name+"\"", nil, t.Body, &check.Type{Kind: check.Tuple})
			if in.failed {
				continue
			}
			x := graph.Export{Name: entry, Region: in.region, Optimised: graph.None}
			bd.bind(&x, in.bound)
			if err := bd.g.AddExport(x); err != nil {
				continue // reported by package check as a duplicate
			}
			out = append(out, Test{m.Name, t.Name, entry, t.At})
		}
	}
	return out
}

// instance builds fn for dims, or returns it built.
func (bd *builder) instance(fn *check.Func, dims map[*check.Atom]int64, at diag.Span) *instance {
	id, ok := bd.ids[fn]
	if !ok {
		id = len(bd.ids)
		bd.ids[fn] = id
	}
	key := fmt.Sprint(id)
	for _, a := range fn.Dims {
		key += fmt.Sprint(",", dims[a])
	}
	if in, ok := bd.insts[key]; ok {
		if in.busy {
			panic("BUG: recursion reached the graph builder: " + fn.Name)
		}
		return in
	}
	in := &instance{fn: fn, dims: dims, busy: true}
	bd.insts[key] = in
	if len(bd.insts) > maxInstances {
		if len(bd.insts) == maxInstances+1 {
			bd.errorf(diag.BuildLimit, at, "more than %d instances of functions", maxInstances)
		}
		in.failed, in.busy = true, false
		return in
	}
	bd.region(in, instanceName(fn, dims), fn.Params, fn.Body, fn.Result)
	in.busy = false
	return in
}
