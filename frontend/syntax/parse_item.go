package syntax

import "github.com/kera-lang/kera/core/diag"

func (p *parser) sourceFile() {
	m := p.start()
	for !p.at(TEOF) {
		p.item()
		if p.aborted {
			break
		}
	}
	p.finish(m, NSourceFile)
}

// atItemStart says that the current token begins a declaration. Words that are
// names elsewhere count only with what must follow them.
func (p *parser) atItemStart() bool {
	switch p.kind() {
	case TKwPub, TKwStruct, TKwEnum, TKwConst, TKwUse:
		return true
	case TKwFn:
		return p.peek(1) == TIdent
	case THash:
		return p.peek(1) == TLBracket
	case TIdent:
		if _, ok := contextualItems[p.text(0)]; !ok {
			return false
		}
		if p.text(0) == "test" {
			return p.peek(1) == TString
		}
		return p.peek(1) == TIdent && !p.toks[p.pos+1].newline
	}
	return false
}

var contextualItems = map[string]Kind{"module": TKwModule, "test": TKwTest, "type": TKwType, "export": TKwExport}

// item parses one declaration, and consumes something.
func (p *parser) item() {
	m := p.start()
	first := p.span()
	for p.at(THash) && p.peek(1) == TLBracket {
		p.attr()
	}
	attrs := p.events[len(p.events)-1].tag != evStart
	pub := p.at(TKwPub)
	if pub {
		p.bump()
	}
	kind := NError
	word := p.kind()
	if p.at(TIdent) && (p.atItemStart() || p.peek(1) == TString) {
		word = contextualItems[p.text(0)]
	}
	switch word {
	case TKwFn:
		kind = NFnDecl
		p.fnDecl()
	case TKwStruct:
		kind = NStructDecl
		p.structDecl()
	case TKwEnum:
		kind = NEnumDecl
		p.enumDecl()
	case TKwConst:
		kind = NConstDecl
		p.constDecl()
	case TKwUse:
		kind = NUseDecl
		p.useDecl()
	case TKwModule:
		kind = NModuleDecl
		p.bumpAs(TKwModule)
		p.path("the module's name")
	case TKwType:
		kind = NTypeDecl
		p.typeDecl()
	case TKwTest:
		kind = NTestDecl
		p.bumpAs(TKwTest)
		p.expect(TString)
		p.body()
	case TKwExport:
		kind = NExportDecl
		p.exportDecl()
	default:
		p.notAnItem(attrs || pub, first)
	}
	p.eat(TSemicolon)
	p.finish(m, kind)
	if kind != NError && !p.aborted && !p.at(TEOF) && !p.cur().newline && !p.at(TRBrace) {
		p.errorf(diag.Expected, p.after(), "expected a line break after the declaration, found %s", p.found())
		if !p.atItemStart() {
			p.skipUntil(func() bool { return p.cur().newline || p.at(TRBrace) })
		}
	}
}

// notAnItem reports and skips what begins no declaration.
func (p *parser) notAnItem(prefixed bool, first diag.Span) {
	switch {
	case p.at(TRBrace) || p.at(TRParen) || p.at(TRBracket):
		p.errorf(diag.Unmatched, p.span(), "%s closes nothing", p.found())
		p.bump()
		return
	case prefixed:
		p.errorf(diag.ExpectedItem, first, "expected a declaration after this").
			Notef("attributes and `pub` stand before `fn`, `struct`, `enum`, `type` or `const`")
	case p.at(TKwLet):
		p.errorf(diag.ExpectedItem, p.span(), "`let` stands only inside a function").
			FixBy("declare a constant", p.span(), "const")
	default:
		p.errorf(diag.ExpectedItem, p.span(), "expected a declaration, found %s", p.found()).
			Notef("a file holds `module`, `use`, `fn`, `struct`, `enum`, `type`, `const`, `export` and `test` declarations")
	}
	before := p.pos
	depth := 0
	for !p.at(TEOF) && (p.pos == before && !prefixed || !(p.atItemStart() && (depth == 0 || p.cur().newline))) {
		switch p.kind() {
		case TLBrace:
			depth++
		case TRBrace:
			depth--
		}
		p.bump()
		if depth < 0 {
			break
		}
	}
}

func (p *parser) attr() {
	m := p.start()
	defer p.finish(m, NAttr)
	opened := p.span()
	p.bump() // #
	p.bump() // [
	defer p.context(false, false)()
	p.nameAs("an attribute's name")
	if p.at(TLParen) {
		p.argList()
	}
	if !p.eat(TRBracket) {
		p.errorExpected("`]`").Related(opened, "to close this attribute")
		if !p.aborted {
			p.skipUntil(func() bool { return p.at(TRBracket) || p.cur().newline })
			p.eat(TRBracket)
		}
	}
}

// path parses a.b.c; it stops before `.{`.
func (p *parser) path(what string) {
	m := p.start()
	if p.nameAs(what) {
		for p.at(TDot) && p.peek(1) == TIdent {
			p.bump()
			p.bump()
		}
	}
	p.finish(m, NPath)
}

func (p *parser) useDecl() {
	p.bump()
	p.path("the name of a module")
	if !p.at(TDot) {
		return
	}
	p.bump()
	if !p.at(TLBrace) {
		p.errorExpected("a name or `{`")
		return
	}
	m := p.start()
	p.list(TLBrace, TRBrace, func() bool { return p.nameAs("a name") })
	p.finish(m, NUseList)
}

func (p *parser) fnDecl() {
	defer p.context(false, false)()
	p.bump()
	p.nameAs("the function's name")
	p.generics()
	if p.at(TLParen) {
		p.paramList(true)
	} else {
		p.errorExpected("`(` and the parameters")
	}
	if p.eat(TArrow) {
		p.typ()
	}
	p.where()
	p.uses()
	p.body()
}

func (p *parser) generics() {
	if !p.at(TLBracket) {
		return
	}
	m := p.start()
	p.list(TLBracket, TRBracket, func() bool {
		pm := p.start()
		ok := p.nameAs("a parameter's name")
		if ok && p.eat(TColon) {
			p.typ()
		}
		p.finish(pm, NGenericParam)
		return ok
	})
	p.finish(m, NGenericParams)
}

// paramList parses parameters; types may be left out unless typed.
func (p *parser) paramList(typed bool) {
	m := p.start()
	p.list(TLParen, TRParen, func() bool {
		pm := p.start()
		ok := p.eat(TUnderscore)
		if !ok && p.at(TKwMut) {
			p.errorf(diag.MisplacedMut, p.span(), "a parameter is not `mut`").
				Notef("write `let mut x = x` in the body")
			p.skip()
		}
		ok = ok || p.nameAs("a parameter's name")
		if ok && (typed || p.at(TColon)) {
			p.colonType()
		}
		p.finish(pm, NParam)
		return ok
	})
	p.finish(m, NParamList)
}

// colonType parses `: type`, and the type even if only the colon is missing.
func (p *parser) colonType() {
	if p.expect(TColon) || p.at(TIdent) && !p.cur().newline {
		p.typ()
	} else {
		p.empty(NBadType)
	}
}

func (p *parser) where() {
	if !p.at(TKwWhere) {
		return
	}
	m := p.start()
	p.bump()
	restore := p.context(false, true)
	for {
		p.expr()
		if !p.eat(TComma) {
			break
		}
		if p.at(TLBrace) || p.atWord("uses") {
			break // a comma at the end
		}
	}
	restore()
	p.finish(m, NWhere)
}

func (p *parser) uses() {
	if !p.atWord("uses") {
		return
	}
	m := p.start()
	p.bumpAs(TKwUses)
	if p.at(TLBrace) {
		p.list(TLBrace, TRBrace, func() bool { return p.nameAs("an effect") })
	} else {
		p.nameAs("an effect")
	}
	p.finish(m, NUses)
}

// body parses the block of a declaration.
func (p *parser) body() {
	if p.aborted {
		return
	}
	if p.at(TLBrace) {
		p.block()
		return
	}
	p.errorExpected("`{` and a body")
	if !p.atItemStart() {
		p.skipUntil(func() bool { return p.at(TLBrace) || p.atItemStart() && p.cur().newline })
		if p.at(TLBrace) {
			p.block()
		}
	}
}

func (p *parser) structDecl() {
	defer p.context(false, false)()
	p.bump()
	p.nameAs("the struct's name")
	p.generics()
	p.where()
	if !p.at(TLBrace) {
		p.errorExpected("`{` and the fields")
		return
	}
	m := p.start()
	p.list(TLBrace, TRBrace, func() bool {
		fm := p.start()
		ok := p.nameAs("a field's name")
		if ok {
			p.colonType()
		}
		p.finish(fm, NFieldDecl)
		return ok
	})
	p.finish(m, NFieldList)
}

func (p *parser) enumDecl() {
	defer p.context(false, false)()
	p.bump()
	p.nameAs("the enum's name")
	p.generics()
	if !p.at(TLBrace) {
		p.errorExpected("`{` and the variants")
		return
	}
	m := p.start()
	p.list(TLBrace, TRBrace, func() bool {
		vm := p.start()
		ok := p.nameAs("a variant's name")
		if ok && p.at(TLParen) {
			p.list(TLParen, TRParen, func() bool { return p.typ() })
		}
		p.finish(vm, NVariant)
		return ok
	})
	p.finish(m, NVariantList)
}

func (p *parser) typeDecl() {
	p.bumpAs(TKwType)
	p.nameAs("the type's name")
	p.generics()
	if p.expect(TAssign) {
		p.typ()
	} else {
		p.empty(NBadType)
	}
}

func (p *parser) constDecl() {
	p.bump()
	p.nameAs("the constant's name")
	if p.at(TColon) || p.at(TIdent) && !p.cur().newline {
		p.colonType()
	}
	// A line break ends the value, but may follow the `=`.
	defer p.context(true, false)()
	if !p.expect(TAssign) {
		p.empty(NBadExpr)
	} else if p.cur().newline && p.atItemStart() {
		p.errorf(diag.ExpectedExpr, p.after(), "expected an expression after `=`")
		p.empty(NBadExpr)
	} else {
		p.expr()
	}
}

func (p *parser) exportDecl() {
	p.bumpAs(TKwExport)
	p.path("the name of a function")
	if p.at(TLBracket) && !p.cur().newline {
		p.bracketArgs()
	}
}
