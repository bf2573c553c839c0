package syntax

import "github.com/kera-lang/kera/core/diag"

var spaces = map[string]bool{"host": true, "device": true, "pinned": true, "unified": true, "remote": true}

// typ parses a type; it reports whether it consumed anything.
func (p *parser) typ() bool {
	if !p.enter() {
		p.empty(NBadType)
		return false
	}
	defer p.leave()
	m := p.start()
	switch {
	case p.at(TIdent) && spaces[p.text(0)] && !p.toks[p.pos+1].newline && (p.peek(1) == TIdent || p.peek(1) == TLParen):
		p.bumpAs(TKwSpace)
		p.typ()
		p.finish(m, NSpaceType)
	case p.at(TIdent):
		p.path("a type")
		if p.at(TLBracket) && !p.cur().newline {
			p.bracketArgs()
		}
		p.finish(m, NPathType)
	case p.at(TLParen):
		p.list(TLParen, TRParen, p.typ)
		p.finish(m, NTupleType)
	case p.at(TAmp):
		p.bump()
		p.eat(TKwMut)
		p.typ()
		p.finish(m, NRefType)
	case p.at(TKwFn):
		p.bump()
		tm := p.start()
		if p.at(TLParen) {
			p.list(TLParen, TRParen, p.typ)
		} else {
			p.errorExpected("`(`")
		}
		p.finish(tm, NTupleType)
		if p.eat(TArrow) {
			p.typ()
		}
		p.finish(m, NFnType)
	default:
		if p.at(TLBracket) {
			p.errorf(diag.ExpectedType, p.span(), "expected a type, found `[`").
				Notef("a tensor type begins with its element type: f32[n, m]")
			p.bracketArgs()
			p.finish(m, NBadType)
			return true
		}
		d := p.errorExpected("a type")
		d.Code = diag.ExpectedType
		p.finish(m, NBadType)
		return false
	}
	return true
}
