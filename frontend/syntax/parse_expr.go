package syntax

import "github.com/kera-lang/kera/core/diag"

// Binding powers, weakest first. All binary operators group to the left, except
// that comparisons do not chain and ranges do not nest.
const (
	precNone = iota
	precOr
	precAnd
	precCompare
	precBitOr
	precBitXor
	precBitAnd
	precShift
	precAdd
	precMul
)

var precedence = [numKinds]uint8{
	TPipePipe: precOr,
	TAmpAmp:   precAnd,
	TEqEq:     precCompare, TNotEq: precCompare, TLess: precCompare,
	TLessEq: precCompare, TGreater: precCompare, TGreaterEq: precCompare,
	TPipe:  precBitOr,
	TCaret: precBitXor,
	TAmp:   precBitAnd,
	TShl:   precShift, TShr: precShift,
	TPlus: precAdd, TMinus: precAdd, TPlusWrap: precAdd,
	TMinusWrap: precAdd, TPlusSat: precAdd, TMinusSat: precAdd,
	TStar: precMul, TSlash: precMul, TPercent: precMul,
	TAt: precMul, TStarWrap: precMul, TStarSat: precMul,
}

// binders are the words that read as binder forms before `name in`.
var binders = map[string]bool{"map": true, "sum": true, "prod": true, "min": true, "max": true, "any": true, "all": true}

// startsExpr says that the current token can begin an expression.
func (p *parser) startsExpr() bool {
	switch p.kind() {
	case TIdent, TInt, TFloat, TString, TKwTrue, TKwFalse, TLParen, TLBracket,
		TMinus, TBang, TAmp, TDotDot, TKwIf, TKwMatch, TKwFor:
		return true
	case TLBrace:
		return !p.noStruct
	case TKwFn:
		return p.peek(1) == TLParen
	}
	return false
}

// expr parses any expression, ranges included. Where there is none it reports
// and consumes nothing.
func (p *parser) expr() completed {
	if p.at(TDotDot) {
		m := p.start()
		p.bump()
		p.rangeEnd()
		return p.finish(m, NRangeExpr)
	}
	lhs := p.binary(precOr)
	if !p.at(TDotDot) || p.broken() {
		return lhs
	}
	m := p.precede(lhs)
	p.bump()
	p.rangeEnd()
	return p.finish(m, NRangeExpr)
}

func (p *parser) rangeEnd() {
	if p.at(TAssign) {
		p.errorf(diag.ForeignForm, p.span(), "Kera has no `..=`").Notef("a range leaves out its end: write a..b + 1")
		p.skip()
	}
	if p.startsExpr() && !p.broken() && !p.at(TDotDot) {
		p.binary(precOr)
	}
}

// tooHigh stops chains such as a + a + a before their tree becomes too high.
func (p *parser) tooHigh(c completed) bool {
	if c.height > maxHeight {
		p.abort()
	}
	return p.aborted
}

func (p *parser) binary(least uint8) completed {
	if !p.enter() {
		return p.empty(NBadExpr)
	}
	defer p.leave()
	lhs := p.unary()
	for !p.broken() {
		prec := precedence[p.kind()]
		if prec == precNone || prec < least || p.tooHigh(lhs) {
			break
		}
		m := p.precede(lhs)
		p.bump()
		p.binary(prec + 1)
		lhs = p.finish(m, NBinaryExpr)
		if prec == precCompare && precedence[p.kind()] == precCompare && !p.broken() {
			p.errorf(diag.ChainedCompare, p.span(), "comparisons do not chain").
				Notef("join two comparisons with `&&`, or put one in parentheses")
		}
	}
	p.asCast()
	return lhs
}

// asCast catches `x as i32`.
func (p *parser) asCast() {
	if p.atWord("as") && !p.broken() && p.peek(1) == TIdent && p.lastError != p.pos {
		p.errorf(diag.ForeignForm, p.span(), "Kera has no `as`").
			Notef("a cast is written as a call of the type: %s(x)", p.text(1))
		m := p.start()
		p.bump()
		p.bump()
		p.finish(m, NError)
	}
}

func (p *parser) unary() completed {
	switch p.kind() {
	case TMinus:
		if p.adjacent() && (p.peek(1) == TInt || p.peek(1) == TFloat) {
			m := p.start() // the minus belongs to the literal
			p.bump()
			p.bump()
			return p.postfix(p.finish(m, NLiteralExpr))
		}
	case TBang, TAmp:
	default:
		return p.postfix(p.atom())
	}
	if !p.enter() {
		return p.empty(NBadExpr)
	}
	defer p.leave()
	m := p.start()
	if p.at(TAmp) {
		p.bump()
		p.eat(TKwMut)
	} else {
		p.bump()
	}
	p.unary()
	return p.finish(m, NUnaryExpr)
}

func (p *parser) postfix(lhs completed) completed {
	for !p.aborted {
		switch {
		case p.at(TDot): // also at the start of a line
			if p.tooHigh(lhs) {
				return lhs
			}
			lhs = p.field(lhs)
		case p.broken():
			return lhs
		case p.at(TLParen):
			if p.tooHigh(lhs) {
				return lhs
			}
			m := p.precede(lhs)
			p.argList()
			lhs = p.finish(m, NCallExpr)
		case p.at(TLBracket):
			if p.tooHigh(lhs) {
				return lhs
			}
			m := p.precede(lhs)
			p.bracketArgs()
			lhs = p.finish(m, NIndexExpr)
		case p.at(TLBrace) && p.structFollows(lhs):
			m := p.precede(lhs)
			p.fieldInits()
			lhs = p.finish(m, NStructExpr)
		default:
			return lhs
		}
	}
	return lhs
}

func (p *parser) field(lhs completed) completed {
	isInt := p.events[lhs.event].kind == NLiteralExpr
	m := p.precede(lhs)
	p.bump()
	switch {
	case p.at(TIdent) && !p.broken(), p.at(TInt) && p.toks[p.pos-1].end == p.cur().start:
		p.bump()
	case isInt:
		p.errorf(diag.BareFloat, p.after(), "a float's point is followed by a digit").
			FixBy("add a digit", p.after(), "0")
	default:
		p.errorName("the name of a field or method")
	}
	return p.finish(m, NFieldExpr)
}

// structFollows decides whether `{` after a path begins a struct literal.
func (p *parser) structFollows(lhs completed) bool {
	switch p.events[lhs.event].kind {
	case NNameExpr, NFieldExpr, NIndexExpr:
	default:
		return false
	}
	if !p.noStruct {
		return true
	}
	// In a head `{` is the body, unless it can only be a literal: then say so.
	if p.peek(1) == TIdent && p.peek(2) == TColon {
		p.errorf(diag.StructInHead, p.span(), "a struct literal cannot stand bare in a head").
			Notef("put it in parentheses, or into a variable before")
		return true
	}
	return false
}

func (p *parser) fieldInits() {
	m := p.start()
	p.list(TLBrace, TRBrace, func() bool {
		fm := p.start()
		ok := p.nameAs("a field's name")
		if ok && p.at(TAssign) {
			p.errorf(diag.Expected, p.span(), "expected `:` between a field and its value, found `=`").
				FixBy("write", p.span(), ":")
			p.skip()
			p.expr()
		} else if ok && p.eat(TColon) {
			p.expr()
		}
		p.finish(fm, NFieldInit)
		return ok
	})
	p.finish(m, NFieldInitList)
}

func (p *parser) argList() {
	m := p.start()
	p.list(TLParen, TRParen, p.arg)
	p.finish(m, NArgList)
}

func (p *parser) bracketArgs() {
	m := p.start()
	p.list(TLBracket, TRBracket, func() bool {
		if !p.at(TUnderscore) {
			return p.arg()
		}
		am := p.start()
		p.finish(p.bumpIn(), NNewAxis)
		p.finish(am, NArg)
		return true
	})
	p.finish(m, NBracketArgs)
}

// bumpIn opens a node and consumes a token into it.
func (p *parser) bumpIn() marker {
	m := p.start()
	p.bump()
	return m
}

func (p *parser) arg() bool {
	before := p.pos
	m := p.start()
	if p.at(TIdent) && p.peek(1) == TAssign {
		p.bump()
		p.bump()
	}
	p.expr()
	p.finish(m, NArg)
	return p.pos > before
}

func (p *parser) atom() completed {
	switch p.kind() {
	case TInt, TFloat, TString, TKwTrue, TKwFalse:
		return p.finish(p.bumpIn(), NLiteralExpr)
	case TIdent:
		if binders[p.text(0)] && (p.peek(1) == TIdent || p.peek(1) == TUnderscore) && p.peek(2) == TKwIn {
			m := p.start()
			p.bumpAs(TKwBinder)
			p.bindings()
			p.headBlock()
			return p.finish(m, NBinderExpr)
		}
		return p.finish(p.bumpIn(), NNameExpr)
	case TLParen:
		return p.parens()
	case TLBracket:
		m := p.start()
		p.list(TLBracket, TRBracket, p.element)
		return p.finish(m, NArrayExpr)
	case TLBrace:
		if !p.noStruct {
			return p.block()
		}
	case TKwIf:
		return p.ifExpr()
	case TKwMatch:
		return p.matchExpr()
	case TKwFor:
		m := p.start()
		p.bump()
		p.bindings()
		if p.at(TKwWhile) && !p.broken() {
			wm := p.bumpIn()
			p.head()
			p.finish(wm, NWhile)
		}
		p.headBlock()
		return p.finish(m, NForExpr)
	case TKwFn:
		if p.peek(1) == TLParen {
			m := p.start()
			p.bump()
			p.paramList(false)
			if p.eat(TArrow) {
				p.typ()
			}
			p.expr()
			return p.finish(m, NLambdaExpr)
		}
	case TUnderscore:
		p.errorf(diag.ExpectedExpr, p.span(), "`_` is not a value").
			Notef("it stands in brackets, where it adds an axis, and in patterns")
		return p.finish(p.bumpIn(), NBadExpr)
	}
	d := p.errorExpected("an expression")
	if d.Code == diag.Expected {
		d.Code = diag.ExpectedExpr
	}
	return p.empty(NBadExpr)
}

func (p *parser) element() bool {
	before := p.pos
	p.expr()
	return p.pos > before
}

func (p *parser) parens() completed {
	m := p.start()
	elements := 0
	commas := p.list(TLParen, TRParen, func() bool {
		elements++
		return p.element()
	})
	if elements == 1 && commas == 0 {
		return p.finish(m, NParenExpr)
	}
	return p.finish(m, NTupleExpr)
}

// head parses the expression of a head: no bare struct literal, no block.
func (p *parser) head() {
	defer p.context(p.newlines, true)()
	p.expr()
}

// headBlock parses the block after a head.
func (p *parser) headBlock() {
	if p.aborted {
		p.empty(NBlock)
		return
	}
	if p.at(TLBrace) {
		if p.broken() {
			p.errorf(diag.BraceOnNewLine, p.span(), "`{` stands on the line of its head").
				Notef("a line break after an expression ends the statement")
		}
		p.block()
		return
	}
	p.errorExpected("`{`")
	if !p.broken() {
		p.skipUntil(func() bool { return p.at(TLBrace) || p.cur().newline || p.stopsList() || p.at(TSemicolon) })
		if p.at(TLBrace) && !p.broken() {
			p.block()
			return
		}
	}
	p.empty(NBlock)
}

func (p *parser) bindings() {
	for {
		m := p.start()
		if !p.eat(TUnderscore) {
			p.nameAs("the name of a variable")
		}
		if p.at(TAssign) || p.at(TColon) {
			p.errorExpected("`in`")
			p.skip()
		} else {
			p.expect(TKwIn)
		}
		p.head()
		p.finish(m, NBinding)
		if p.broken() || !p.eat(TComma) {
			return
		}
	}
}

func (p *parser) ifExpr() completed {
	m := p.start()
	if !p.enter() {
		return p.finish(m, NBadExpr)
	}
	defer p.leave()
	p.bump()
	p.head()
	if p.at(TAssign) && !p.broken() {
		p.errorf(diag.Expected, p.span(), "`=` is an assignment, which is not a value").
			FixBy("compare with", p.span(), "==")
		p.skip()
		em := p.start()
		p.head()
		p.finish(em, NError)
	}
	p.headBlock()
	if p.at(TKwElse) && !p.aborted { // also at the start of a line
		p.bump()
		switch {
		case p.at(TKwIf):
			p.ifExpr()
		case p.at(TLBrace):
			p.block()
		default:
			p.errorExpected("`{` or `if`")
			p.empty(NBlock)
		}
	}
	return p.finish(m, NIfExpr)
}

func (p *parser) matchExpr() completed {
	m := p.start()
	if !p.enter() {
		return p.finish(m, NBadExpr)
	}
	defer p.leave()
	p.bump()
	p.head()
	if !p.at(TLBrace) {
		p.errorExpected("`{` and the arms")
		return p.finish(m, NMatchExpr)
	}
	am := p.start()
	opened := p.span()
	p.bump()
	restore := p.context(true, false)
	for !p.at(TRBrace) && !p.at(TEOF) && !p.aborted && !p.atItemStart() {
		before := p.pos
		p.matchArm()
		if p.eat(TComma) || p.at(TRBrace) || p.aborted || p.cur().newline && p.pos > before {
			continue
		}
		p.errorExpected("a line break or `,` between two arms")
		p.skipUntil(func() bool {
			return p.pos > before && (p.cur().newline || p.at(TComma) || p.at(TRBrace))
		})
		p.eat(TComma)
	}
	restore()
	if !p.eat(TRBrace) {
		p.errorf(diag.Unclosed, opened, "this `{` is never closed").Related(p.after(), "expected `}` here")
	}
	p.finish(am, NMatchArmList)
	return p.finish(m, NMatchExpr)
}

func (p *parser) matchArm() {
	m := p.start()
	p.pattern()
	if p.at(TKwIf) {
		gm := p.bumpIn()
		p.expr()
		p.finish(gm, NGuard)
	}
	if p.expect(TFatArrow) {
		p.expr()
	} else {
		p.empty(NBadExpr)
	}
	p.finish(m, NMatchArm)
}
