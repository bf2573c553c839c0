package syntax

import "github.com/kera-lang/kera/core/diag"

// block parses `{ statements }`; the current token is `{`.
func (p *parser) block() completed {
	m := p.start()
	if !p.enter() {
		return p.finish(m, NBadExpr)
	}
	defer p.leave()
	defer p.context(true, false)()
	opened := p.span()
	p.bump()
	for !p.at(TRBrace) && !p.at(TEOF) && !p.aborted {
		if p.eat(TSemicolon) {
			continue
		}
		if p.atItemStart() {
			if p.cur().newline && p.indent(p.cur().start) <= p.indent(opened.Start) {
				break // the closing brace was forgotten
			}
			p.nestedItem()
			continue
		}
		before := p.pos
		p.stmt()
		if p.pos == before && !p.aborted {
			panic("BUG: a statement consumed nothing")
		}
		p.endOfStmt()
	}
	if !p.eat(TRBrace) {
		p.errorf(diag.Unclosed, opened, "this `{` is never closed").
			Related(p.after(), "expected `}` here")
	}
	return p.finish(m, NBlock)
}

// indent is the number of bytes before the first character of the line of offset.
func (p *parser) indent(offset int) int {
	line := p.file.Line(p.file.Position(offset).Line)
	n := 0
	for n < len(line) && isSpace(line[n]) {
		n++
	}
	return n
}

// nestedItem reports a declaration inside of a block.
func (p *parser) nestedItem() {
	p.errorf(diag.ExpectedStmt, p.span(), "a declaration cannot stand inside a block").
		Notef("functions, structs and constants are declared at the top of a file; a small function can be a lambda: fn(x) x + 1")
	m := p.start()
	p.item()
	p.finish(m, NError)
}

// endOfStmt makes sure that a statement ends where its line does.
func (p *parser) endOfStmt() {
	if p.aborted || p.at(TRBrace) || p.at(TEOF) || p.cur().newline || p.eat(TSemicolon) {
		return
	}
	switch k := p.kind(); k {
	case TRParen, TRBracket:
		p.errorf(diag.Unmatched, p.span(), "%s closes nothing", k.describe())
	default:
		p.errorf(diag.ExpectedNewline, p.after(), "expected a line break or `;` between two statements, found %s", p.found())
	}
	switch p.kind() {
	case TKwLet, TKwAssert, TKwFor, TKwIf, TKwMatch:
	default:
		p.skipUntil(func() bool { return p.cur().newline || p.at(TSemicolon) || p.at(TRBrace) })
	}
}

// foreign are words that other languages have where Kera has something else.
var foreign = map[string]string{
	"return":   "the value of a block is its last expression",
	"break":    "bound the loop with a condition: for i in 0..n while c { }",
	"continue": "put the rest of the body under an `if`",
	"loop":     "every loop has a bound: for i in 0..n while c { }",
	"var":      "write let mut",
	"def":      "write fn",
	"func":     "write fn",
}

func (p *parser) stmt() {
	switch p.kind() {
	case TKwLet:
		p.letStmt()
		return
	case TKwAssert:
		p.assertStmt()
		return
	case TKwWhile:
		p.errorf(diag.ForeignForm, p.span(), "Kera has no unbounded `while`").
			Notef("every loop has a bound: for i in 0..n while c { }")
		p.skipStmt()
		return
	}
	if hint, ok := foreign[p.text(0)]; ok && p.at(TIdent) && p.aloneOrOperand() {
		p.errorf(diag.ForeignForm, p.span(), "Kera has no `%s`", p.text(0)).Notef("%s", hint)
		p.skipStmt()
		return
	}
	if !p.startsExpr() {
		d := p.errorExpected("a statement")
		d.Code = diag.ExpectedStmt
		p.skipStmt()
		return
	}
	m := p.start()
	place := p.expr()
	if !p.kind().IsAssignOp() || p.broken() {
		p.finish(m, NExprStmt)
		return
	}
	switch p.events[place.event].kind {
	case NNameExpr, NFieldExpr, NIndexExpr, NBadExpr:
	default:
		p.errorf(diag.BadPlace, p.span(), "what stands before `%s` cannot be assigned to", p.text(0)).
			Notef("a name, a field or an indexed name can: x = e, s.f = e, x[i] = e")
	}
	p.bump()
	p.expr()
	p.finish(m, NAssignStmt)
}

// aloneOrOperand says that the name here stands alone or before an operand, as
// a word of another language would and a variable would not.
func (p *parser) aloneOrOperand() bool {
	next := p.toks[min(p.pos+1, len(p.toks)-1)]
	switch next.kind {
	case TIdent, TInt, TFloat, TKwTrue, TKwFalse, TString, TRBrace, TLBrace, TSemicolon, TEOF:
		return true
	case TMinus, TLParen:
		return p.text(0) == "return"
	}
	return next.newline
}

// skipStmt skips to the end of the statement, whatever it is; it consumes something.
func (p *parser) skipStmt() {
	before := p.pos
	p.skipUntil(func() bool {
		return p.pos > before && p.cur().newline || p.at(TSemicolon) || p.at(TRBrace)
	})
}

func (p *parser) letStmt() {
	m := p.start()
	p.bump()
	if p.at(TKwMut) && p.peek(1) == TLParen {
		p.errorf(diag.MisplacedMut, p.span(), "`mut` stands before a name").
			Notef("write it in the pattern: let (mut a, mut b) = e")
		p.skip()
	}
	p.pattern()
	if p.eat(TColon) {
		p.typ()
	}
	switch {
	case p.eat(TAssign):
		p.expr()
	case p.startsExpr() && !p.broken():
		p.errorExpected("`=`")
		p.expr()
	default:
		if !p.aborted {
			p.errorf(diag.Expected, p.after(), "expected `=` and a value").
				Notef("every variable has a value from the start")
		}
		p.empty(NBadExpr)
	}
	p.finish(m, NLetStmt)
}

func (p *parser) assertStmt() {
	m := p.start()
	p.bump()
	p.expr()
	if p.at(TComma) && !p.broken() {
		p.bump()
		p.expect(TString)
	}
	p.finish(m, NAssertStmt)
}

// pattern reports whether it consumed anything.
func (p *parser) pattern() bool {
	if !p.enter() {
		p.empty(NBadPat)
		return false
	}
	defer p.leave()
	m := p.start()
	before := p.pos
	kind := NBadPat
	switch p.kind() {
	case TUnderscore:
		p.bump()
		kind = NWildPat
	case TKwMut:
		p.bump()
		p.nameAs("a name")
		kind = NNamePat
	case TIdent:
		kind = p.namePattern()
	case TLParen:
		p.list(TLParen, TRParen, p.pattern)
		kind = NTuplePat
	case TInt, TFloat, TString, TKwTrue, TKwFalse, TMinus:
		lm := p.start()
		p.eat(TMinus)
		switch p.kind() {
		case TInt, TFloat, TString, TKwTrue, TKwFalse:
			p.bump()
		default:
			p.errorExpected("a number")
		}
		p.finish(lm, NLiteralExpr)
		kind = NLiteralPat
	default:
		if k := p.kind(); k >= TKwAssert && k <= TKwWhile {
			p.nameAs("a name")
		} else {
			d := p.errorExpected("a pattern")
			d.Code = diag.ExpectedPattern
		}
	}
	p.finish(m, kind)
	return p.pos > before
}

func (p *parser) namePattern() Kind {
	switch p.peek(1) {
	case TDot, TLParen, TLBrace:
	default:
		p.bump()
		return NNamePat
	}
	p.path("a name")
	switch {
	case p.at(TLParen):
		p.list(TLParen, TRParen, p.pattern)
		return NVariantPat
	case p.at(TLBrace):
		p.list(TLBrace, TRBrace, func() bool {
			if p.eat(TDotDot) {
				return true
			}
			fm := p.start()
			mut := p.eat(TKwMut)
			ok := p.nameAs("a field's name")
			if ok && !mut && p.eat(TColon) {
				p.pattern()
			}
			p.finish(fm, NFieldPat)
			return ok
		})
		return NStructPat
	}
	return NPathPat
}
