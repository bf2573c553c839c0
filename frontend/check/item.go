package check

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// item is a declared name. resolve finds its type (lazily, so the order of
// declarations does not matter); body checks what it contains.
type item interface {
	resolve(c *checker)
	body(c *checker)
	module() *Module
	public() bool
	at() diag.Span
	declStart() diag.Span
}

type itemBase struct {
	mod   *Module
	name  string
	pub   bool
	span  diag.Span // of the name
	node  *syntax.Node
	state int  // 0 untouched, 1 being resolved, 2 resolved
	loop  bool // its definition needs itself
}

func (b *itemBase) module() *Module { return b.mod }
func (b *itemBase) public() bool    { return b.pub }
func (b *itemBase) at() diag.Span   { return b.span }
func (b *itemBase) body(*checker)   {}
func (b *itemBase) declStart() diag.Span {
	s := b.node.Span()
	return diag.Span{File: s.File, Start: s.Start, End: s.Start}
}

// begin guards resolve against cycles; it reports whether to go on.
func (b *itemBase) begin(c *checker) bool {
	switch b.state {
	case 0:
		b.state = 1
		return true
	case 1:
		c.errorf(diag.CyclicDefinition, b.span, "the definition of `%s` needs itself", b.name)
		b.state, b.loop = 2, true
	}
	return false
}

type (
	funcItem struct {
		itemBase
		decl syntax.FnDecl
		fn   *Func
		dims map[string]*Atom
	}
	structItem struct {
		itemBase
		decl syntax.StructDecl
		def  *Struct
	}
	aliasItem struct {
		itemBase
		decl   syntax.TypeDecl
		params []*Atom
		typ    *Type
	}
	constItem struct {
		itemBase
		decl syntax.ConstDecl
		def  *Const
		num  Dim // the value, if it is an integer known to the checker
		ok   bool
	}
	enumItem struct{ itemBase }
)

// collect declares the items of s.
func (c *checker) collect(s *source) {
	file := s.Tree.Source()
	for _, it := range file.Items() {
		if m, ok := it.(syntax.ModuleDecl); ok {
			if got := m.Path().String(); got != "" && got != s.Name && (s.Std || s != c.order[0]) {
				c.errorf(diag.ModuleName, m.Path().Span(), "this file is module `%s`, not `%s`", s.Name, got).
					FixBy("write", m.Path().Span(), s.Name)
			}
			continue
		}
		if n := c.newItem(s, it); n != nil {
			s.decl = append(s.decl, n)
		}
	}
}

func (c *checker) newItem(s *source, it syntax.Item) item {
	declare := func(name *syntax.Token, pub bool, make func(itemBase) item) item {
		if name == nil {
			return nil // reported by the parser
		}
		n := make(itemBase{mod: s.mod, name: name.Text(), pub: pub, span: name.Span(), node: it.Syntax()})
		if _, scalar := types.ParseDType(name.Text()); scalar {
			// One message here instead of one wherever the type is meant.
			c.errorf(diag.DuplicateName, name.Span(), "`%s` is a type of the language", name.Text()).Notef("choose another name")
		} else if old, ok := s.mod.items[name.Text()]; ok {
			c.errorf(diag.DuplicateName, name.Span(), "`%s` is declared twice", name.Text()).Related(old.at(), "the first time here")
		} else {
			s.mod.items[name.Text()] = n
		}
		return n
	}
	switch d := it.(type) {
	case syntax.FnDecl:
		c.attrs(d.Attrs())
		return declare(d.Name(), d.IsPub(), func(b itemBase) item {
			f := &Func{Module: s.mod, Name: b.name, At: b.span, Pub: b.pub}
			s.mod.Funcs = append(s.mod.Funcs, f)
			return &funcItem{itemBase: b, decl: d, fn: f}
		})
	case syntax.StructDecl:
		c.attrs(d.Attrs())
		return declare(d.Name(), d.IsPub(), func(b itemBase) item {
			return &structItem{itemBase: b, decl: d, def: &Struct{Module: s.mod, Name: b.name, At: b.span, Pub: b.pub}}
		})
	case syntax.TypeDecl:
		return declare(d.Name(), d.IsPub(), func(b itemBase) item { return &aliasItem{itemBase: b, decl: d} })
	case syntax.ConstDecl:
		c.attrs(d.Attrs())
		return declare(d.Name(), d.IsPub(), func(b itemBase) item {
			k := &Const{Module: s.mod, Name: b.name, At: b.span, Pub: b.pub, Type: badType}
			s.mod.Consts = append(s.mod.Consts, k)
			return &constItem{itemBase: b, decl: d, def: k}
		})
	case syntax.EnumDecl:
		return declare(d.Name(), d.IsPub(), func(b itemBase) item { return &enumItem{b} })
	}
	return nil
}

// knownAttrs are hints that change no result.
var knownAttrs = map[string]bool{"stream": true, "inline": true}

func (c *checker) attrs(as []syntax.Attr) {
	for _, a := range as {
		if n := a.Name(); n != nil && !knownAttrs[n.Text()] {
			c.warnf(diag.UnknownAttr, n.Span(), "unknown attribute `%s` is ignored", n.Text())
		}
	}
}

func (e *enumItem) resolve(c *checker) {
	if e.begin(c) {
		c.unsupported(e.span, "enums")
		e.state = 2
	}
}

// unsupported reports a form that the grammar has and this version does not build.
func (c *checker) unsupported(at diag.Span, what string) *diag.Diagnostic {
	return c.errorf(diag.NotInVersion, at, "%s are not part of this version of Kera", what)
}

// atomsOf declares generic parameters.
func (c *checker) atomsOf(ps []syntax.GenericParam) ([]*Atom, map[string]*Atom) {
	var list []*Atom
	names := map[string]*Atom{}
	for _, p := range ps {
		n := p.Name()
		if n == nil {
			continue
		}
		if p.Type() != nil {
			c.unsupported(p.Type().Span(), "generic parameters that are not dimensions")
		}
		if _, ok := names[n.Text()]; ok {
			c.errorf(diag.DuplicateName, n.Span(), "`%s` is declared twice", n.Text())
			continue
		}
		a := c.newAtom(n.Text(), atomParam)
		list, names[n.Text()] = append(list, a), a
	}
	return list, names
}

func (s *structItem) resolve(c *checker) {
	if !s.begin(c) {
		return
	}
	params, names := c.atomsOf(s.decl.Generics())
	s.def.Params = params
	for _, w := range s.decl.Where() {
		c.unsupported(w.Span(), "constraints on structs")
	}
	f := c.bodyOf(s.mod, nil, names)
	seen := map[string]diag.Span{}
	for _, fd := range s.decl.Fields() {
		n := fd.Name()
		if n == nil {
			continue
		}
		t := f.typeExpr(fd.Type())
		if first, ok := seen[n.Text()]; ok {
			c.errorf(diag.DuplicateName, n.Span(), "field `%s` is declared twice", n.Text()).Related(first, "the first time here")
			continue
		}
		seen[n.Text()] = n.Span()
		s.def.Fields = append(s.def.Fields, Field{n.Text(), t, n.Span()})
	}
	s.state = 2
}

func (a *aliasItem) resolve(c *checker) {
	if a.typ == nil {
		a.typ = badType
	}
	if !a.begin(c) {
		return
	}
	params, names := c.atomsOf(a.decl.Generics())
	a.params = params
	a.typ = c.bodyOf(a.mod, nil, names).typeExpr(a.decl.Type())
	a.state = 2
}

func (k *constItem) resolve(c *checker) {
	if !k.begin(c) {
		if k.loop {
			k.def.Type = badType
		}
		return
	}
	f := c.bodyOf(k.mod, nil, nil)
	f.owner = k.def
	if t := k.decl.Type(); t != nil {
		k.def.Type = f.typeExpr(t)
	}
	if call, ok := syntax.Unparen(k.decl.Value()).(syntax.CallExpr); ok && f.isEmbed(call) {
		k.embed(c, call)
		k.state = 2
		return
	}
	var x Expr
	if k.decl.Type() != nil {
		x = f.check(k.decl.Value(), k.def.Type)
	} else {
		x = f.expr(k.decl.Value(), nil)
		k.def.Type = x.Type()
	}
	k.def.Value = x
	if x.Type().IsBad() {
		k.def.Type = badType
	}
	if k.def.Type.IsScalar(types.I64) {
		if d, ok := f.polyOf(x); ok {
			_, k.ok = d.Const()
			k.num = d
		}
	}
	k.state = 2
}

func (k *constItem) embed(c *checker, call syntax.CallExpr) {
	e := &Embed{At: call.Span()}
	k.def.Embed = e
	if k.decl.Type() == nil {
		c.errorf(diag.MissingType, k.span, "an embedded constant needs its type").
			Notef("write const %s: f32[...] = embed(...)", k.name)
	}
	args := call.Args()
	dst := []*string{&e.File, &e.Array}
	if len(args) < 1 || len(args) > 2 {
		c.errorf(diag.ArgCount, call.Span(), "`embed` takes a file and the name of an array in it")
		k.def.Type = badType
		return
	}
	for i, a := range args {
		lit, ok := syntax.Unparen(a.Value()).(syntax.LiteralExpr)
		var s string
		if ok && lit.Token().Kind() == syntax.TString {
			s, ok = syntax.StringValue(lit.Token().Text())
		} else {
			if _, bad := a.Value().(syntax.BadExpr); !bad {
				c.errorf(diag.Mismatch, a.Span(), "`embed` takes strings")
			}
			ok = false
		}
		if !ok {
			k.def.Type = badType
			return
		}
		*dst[i] = s
	}
}

func (f *funcItem) resolve(c *checker) {
	if !f.begin(c) {
		return
	}
	f.state = 2
	f.fn.Dims, f.dims = c.atomsOf(f.decl.Generics())
	b := c.bodyOf(f.mod, f.fn, f.dims)
	for _, u := range f.decl.Uses() {
		c.unsupported(u.Span(), "effects")
		break
	}
	f.fn.Result = unitType
	seen := map[string]diag.Span{}
	for _, p := range f.decl.Params() {
		l := &Local{Type: badType, At: p.Span()}
		if p.Type() != nil {
			l.Type = b.typeExpr(p.Type())
		}
		if n := p.Name(); n != nil {
			l.Name, l.At = n.Text(), n.Span()
			if first, ok := seen[l.Name]; ok {
				c.errorf(diag.DuplicateName, l.At, "parameter `%s` is declared twice", l.Name).Related(first, "the first time here")
			}
			seen[l.Name] = l.At
		}
		if l.Type.IsScalar(types.I64) {
			l.atom = c.newAtom(l.Name, atomLocal)
		}
		f.fn.Params = append(f.fn.Params, l)
	}
	if r := f.decl.Result(); r != nil {
		f.fn.Result = b.typeExpr(r)
	}
	for _, w := range f.decl.Where() {
		b.constraint(w)
	}
	b.facts()
}

func (f *funcItem) body(c *checker) {
	b := c.bodyOf(f.mod, f.fn, f.dims)
	b.owner = f.fn
	for _, p := range f.fn.Params {
		if p.Name != "" {
			b.scope[p.Name] = p
		}
	}
	block := f.decl.Body()
	if block.Syntax() == nil {
		f.fn.Body = b.bad(f.span)
		return
	}
	f.fn.Body = b.check(block, f.fn.Result)
}

// tests checks the test blocks of s.
func (c *checker) tests(s *source) {
	seen := map[string]diag.Span{}
	for _, it := range s.Tree.Source().Items() {
		d, ok := it.(syntax.TestDecl)
		if !ok {
			continue
		}
		name, ok := syntax.StringValue(d.Name().Text())
		if !ok || d.Body().Syntax() == nil {
			continue
		}
		if first, dup := seen[name]; dup {
			c.errorf(diag.DuplicateName, d.Name().Span(), "there are two tests of this name").Related(first, "the first one is here")
			continue
		}
		seen[name] = d.Name().Span()
		b := c.bodyOf(s.mod, nil, nil)
		s.mod.Tests = append(s.mod.Tests, &Test{Module: s.mod, Name: name, At: d.Name().Span(), Body: b.expr(d.Body(), unitType)})
	}
}

// exports reads the `export` declarations of the main module.
func (c *checker) exports(s *source) []*ExportReq {
	var out []*ExportReq
	for _, it := range s.Tree.Source().Items() {
		d, ok := it.(syntax.ExportDecl)
		if !ok || len(d.Path().Segments()) == 0 {
			continue
		}
		name := d.Path().String()
		fi, ok := s.mod.items[name].(*funcItem)
		if !ok || fi.mod != s.mod || !fi.pub {
			c.errorf(diag.BadExport, d.Path().Span(), "`%s` is not a public function of this module", name)
			continue
		}
		req := &ExportReq{Fn: fi.fn, Dims: map[*Atom]int64{}, At: d.Path().Span()}
		if c.exportDims(s, fi, d, req) {
			out = append(out, req)
		}
	}
	return out
}

func (c *checker) exportDims(s *source, fi *funcItem, d syntax.ExportDecl, req *ExportReq) bool {
	ok := true
	for _, a := range d.Args() {
		if a.Name() == nil {
			c.errorf(diag.BadExport, a.Span(), "an instance names its dimensions: %s[%s = 8]", fi.name, firstDim(fi.fn))
			ok = false
			continue
		}
		atom, known := fi.dims[a.Name().Text()]
		if !known {
			c.errorf(diag.BadExport, a.Name().Span(), "`%s` has no dimension `%s`", fi.name, a.Name().Text())
			ok = false
			continue
		}
		v, isDim := c.bodyOf(s.mod, nil, nil).dim(a.Value())
		n, isNum := v.Const()
		if !isDim || !isNum {
			ok = false
			continue
		}
		req.Dims[atom] = n
	}
	for _, a := range fi.fn.Dims {
		if _, bound := req.Dims[a]; ok && !bound {
			c.errorf(diag.BadExport, req.At, "this instance of `%s` leaves dimension `%s` free", fi.name, a.Name).
				Notef("write export %s[%s = 8], with a number for each dimension", fi.name, a.Name)
			ok = false
		}
	}
	return ok
}

func firstDim(f *Func) string {
	if len(f.Dims) > 0 {
		return f.Dims[0].Name
	}
	return "n"
}
