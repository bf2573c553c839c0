package syntax

import (
	"strings"

	"github.com/kera-lang/kera/core/diag"
)

const (
	// maxNesting bounds the recursion of the parser, maxHeight the height of a
	// left-leaning chain (a + a + a ...), so that no source can exhaust the
	// stack of anything that walks the tree.
	maxNesting = 256
	maxHeight  = 2048
	// maxErrors bounds what is reported of one file.
	maxErrors = 100
)

// Parse parses a file. It never fails: whatever the text, there is a tree whose
// text is the file's, and what is wrong is in Tree.Diags.
func Parse(file *diag.File) *Tree { return ParseWith(NewCache(), file) }

// ParseWith is Parse with interned nodes shared through the cache.
func ParseWith(cache *Cache, file *diag.File) *Tree {
	raw, diags := Lex(file)
	p := newParser(file, raw)
	p.sourceFile()
	b := &builder{cache: cache, src: file.Text, raw: raw}
	g := b.build(p.events)
	diags.Add(b.diags...)
	diags.Sort()
	if len(diags) > maxErrors {
		last := diags[maxErrors]
		diags = diags[:maxErrors]
		diags.Add(diag.Errorf(diag.TooManyErrors, last.Primary, "too many errors; the rest of this file's are not shown"))
	}
	return newTree(file, g, diags)
}

// sig is a token the parser sees.
type sig struct {
	kind    Kind
	newline bool // the first token of its line
	tainted bool // follows something the lexer complained about
	start   int
	end     int
}

type parser struct {
	file   *diag.File
	toks   []sig // ends with TEOF
	pos    int
	events []event

	frames  []int // for each open node the height of its highest child
	nesting int
	aborted bool // nested too deeply: the rest is one error node

	// newlines: a line break ends an expression here (no bracket is open).
	newlines bool
	// noStruct: `{` does not begin a struct literal here (the head of a statement).
	noStruct bool

	lastError int // position of the last error, to say one thing per place
}

func newParser(file *diag.File, raw []RawToken) *parser {
	p := &parser{file: file, lastError: -1, toks: make([]sig, 0, len(raw)+1)}
	newline, tainted := true, false
	for _, t := range raw {
		if skipped(t.Kind) {
			text := file.Text[t.Start:t.End]
			newline = newline || strings.ContainsAny(text, "\n\r")
			tainted = tainted || t.Kind == TUnknown
			continue
		}
		p.toks = append(p.toks, sig{t.Kind, newline, tainted, t.Start, t.End})
		newline = false
		// An open string took what should have followed it.
		tainted = t.Kind == TString && (t.End-t.Start < 2 || file.Text[t.End-1] != '"')
	}
	p.toks = append(p.toks, sig{TEOF, true, tainted, len(file.Text), len(file.Text)})
	p.events = make([]event, 0, 4*len(p.toks))
	return p
}

func (p *parser) cur() *sig      { return &p.toks[p.pos] }
func (p *parser) kind() Kind     { return p.toks[p.pos].kind }
func (p *parser) at(k Kind) bool { return p.kind() == k }

// peek is the kind i tokens ahead.
func (p *parser) peek(i int) Kind {
	return p.toks[min(p.pos+i, len(p.toks)-1)].kind
}

// text is the source of the token i ahead.
func (p *parser) text(i int) string {
	t := p.toks[min(p.pos+i, len(p.toks)-1)]
	return p.file.Text[t.start:t.end]
}

func (p *parser) atWord(word string) bool { return p.at(TIdent) && p.text(0) == word }

// broken reports whether a line break before the current token ends what came before.
func (p *parser) broken() bool { return p.newlines && p.cur().newline }

// adjacent reports whether no trivia stands between the current token and the next.
func (p *parser) adjacent() bool {
	return p.pos+1 < len(p.toks) && p.toks[p.pos].end == p.toks[p.pos+1].start
}

func (p *parser) bump() { p.bumpAs(p.kind()) }

// bumpAs consumes the current token under another kind (contextual words).
func (p *parser) bumpAs(k Kind) {
	if p.at(TEOF) {
		panic("BUG: the parser ran past the end")
	}
	p.events = append(p.events, event{tag: evToken, kind: k})
	p.pos++
}

func (p *parser) eat(k Kind) bool {
	if p.at(k) {
		p.bump()
		return true
	}
	return false
}

// expect consumes k or reports that it is missing.
func (p *parser) expect(k Kind) bool {
	if p.eat(k) {
		return true
	}
	p.errorExpected(k.describe())
	return false
}

// marker is an open node, completed a finished one.
type marker int
type completed struct {
	event  int
	height int
}

func (p *parser) start() marker {
	p.events = append(p.events, event{tag: evStart, kind: NError})
	p.frames = append(p.frames, 0)
	return marker(len(p.events) - 1)
}

func (p *parser) finish(m marker, kind Kind) completed {
	p.events[m].kind = kind
	p.events = append(p.events, event{tag: evFinish})
	h := p.frames[len(p.frames)-1] + 1
	p.frames = p.frames[:len(p.frames)-1]
	if n := len(p.frames); n > 0 {
		p.frames[n-1] = max(p.frames[n-1], h)
	}
	return completed{int(m), h}
}

// precede opens a node around a finished one.
func (p *parser) precede(c completed) marker {
	m := p.start()
	p.events[c.event].forward = int(m) - c.event
	p.frames[len(p.frames)-1] = c.height
	return m
}

func (p *parser) empty(kind Kind) completed { return p.finish(p.start(), kind) }

// errorAt emits an error unless something was already said about this place:
// one mistake, one message.
func (p *parser) errorAt(d *diag.Diagnostic) *diag.Diagnostic {
	if p.aborted || p.lastError == p.pos || p.cur().tainted {
		p.lastError = p.pos
		return d
	}
	p.lastError = p.pos
	p.events = append(p.events, event{tag: evError, diag: d})
	return d
}

func (p *parser) errorf(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	return p.errorAt(diag.Errorf(code, at, format, args...))
}

// span is the current token's place.
func (p *parser) span() diag.Span { return p.file.Span(p.cur().start, p.cur().end) }

// after is the place just after the previous token.
func (p *parser) after() diag.Span {
	if p.pos == 0 {
		return p.file.Span(0, 0)
	}
	end := p.toks[p.pos-1].end
	return p.file.Span(end, end)
}

// found describes the current token.
func (p *parser) found() string {
	switch k := p.kind(); {
	case k == TEOF:
		return k.describe()
	case k == TString:
		return "a string"
	default:
		return "`" + p.text(0) + "`"
	}
}

func (p *parser) errorExpected(what string) *diag.Diagnostic {
	if p.broken() && !p.at(TEOF) {
		return p.errorf(diag.Expected, p.after(), "expected %s before the end of the line", what)
	}
	at := p.span()
	if p.at(TEOF) {
		at = p.after()
	}
	return p.errorf(diag.Expected, at, "expected %s, found %s", what, p.found())
}

// errorName reports that a name is missing, and why if a reserved word stands there.
func (p *parser) errorName(what string) {
	if k := p.kind(); k >= TKwAssert && k <= TKwWhile && !p.broken() {
		p.errorf(diag.ReservedWord, p.span(), "`%s` is a reserved word and cannot be %s", p.text(0), what)
		return
	}
	p.errorExpected(what)
}

// nameAs consumes a name; a reserved word in its place is consumed too if what
// follows shows that it was meant as one.
func (p *parser) nameAs(what string) bool {
	if p.at(TIdent) {
		p.bump()
		return true
	}
	p.errorName(what)
	if k := p.kind(); k >= TKwAssert && k <= TKwWhile && !p.broken() {
		switch p.peek(1) {
		case TLParen, TLBracket, TColon, TAssign, TComma, TRParen, TLBrace:
			p.skip()
			return true
		}
	}
	return false
}

// skip wraps the current token in an error node.
func (p *parser) skip() {
	m := p.start()
	p.bump()
	p.finish(m, NError)
}

// skipUntil wraps tokens up to one that stop accepts, passing balanced brackets
// whole. It takes at least one token unless the first one is accepted or the
// file ends. The work is linear: each token is looked at once.
func (p *parser) skipUntil(stop func() bool) {
	if p.at(TEOF) || stop() {
		return
	}
	m := p.start()
	depth := 0
	for !p.at(TEOF) {
		if depth == 0 && stop() {
			break
		}
		switch p.kind() {
		case TLParen, TLBracket, TLBrace:
			depth++
		case TRParen, TRBracket, TRBrace:
			depth = max(depth-1, 0)
		}
		if depth > 0 && p.atItemStart() && p.cur().newline {
			break // a bracket that is never closed must not swallow the file
		}
		p.bump()
	}
	p.finish(m, NError)
}

// enter guards recursion; the caller must leave if it returns true.
func (p *parser) enter() bool {
	if p.nesting >= maxNesting {
		p.abort()
		return false
	}
	p.nesting++
	return true
}

func (p *parser) leave() { p.nesting-- }

// abort gives up on the rest of the file.
func (p *parser) abort() {
	if p.aborted {
		return
	}
	p.errorf(diag.TooDeep, p.span(), "this is nested too deeply").
		Notef("at most %d levels of nesting and %d operators in a row", maxNesting, maxHeight)
	p.aborted = true
	if p.at(TEOF) {
		return
	}
	m := p.start()
	for !p.at(TEOF) {
		p.bump()
	}
	p.finish(m, NError)
}

// context sets the two flags and returns how to set them back.
func (p *parser) context(newlines, noStruct bool) (restore func()) {
	n, s := p.newlines, p.noStruct
	p.newlines, p.noStruct = newlines, noStruct
	return func() { p.newlines, p.noStruct = n, s }
}

// list parses `open element, element, ... close`, in which line breaks mean
// nothing. element reports whether it consumed anything; list, the number of
// commas.
func (p *parser) list(open, close Kind, element func() bool) (commas int) {
	defer p.context(false, false)()
	opened := p.span()
	p.bump() // open, which the caller has seen
	for !p.at(close) && !p.at(TEOF) && !p.stopsList() {
		ok := element()
		if p.aborted {
			return commas
		}
		if p.eat(TComma) {
			commas++
			continue
		}
		if p.at(close) || p.stopsList() {
			break
		}
		if p.cur().newline && !p.listGoesOn(close) {
			break
		}
		if ok && p.startsElement() {
			p.errorf(diag.Expected, p.after(), "expected `,` or %s, found %s", close.describe(), p.found())
			continue
		}
		p.errorExpected("`,` or " + close.describe())
		p.skipUntil(func() bool { return p.at(TComma) || p.at(close) || p.stopsList() })
		if p.eat(TComma) {
			commas++
		}
	}
	if !p.eat(close) {
		p.errorf(diag.Unclosed, opened, "this %s is never closed", open.describe()).
			Related(p.after(), "expected %s here", close.describe())
	}
	return commas
}

// stopsList says that the brackets must have been forgotten: what stands here
// can only begin a statement or declaration, or closes something further out.
func (p *parser) stopsList() bool {
	switch p.kind() {
	case TEOF, TKwLet, TKwAssert, TKwStruct, TKwEnum, TKwConst, TKwUse, TKwPub, TRBrace, TRParen, TRBracket:
		return true
	case TKwFn:
		return p.peek(1) == TIdent
	}
	return false
}

// listGoesOn decides, at the start of a line inside of a list, with no comma
// before it, what was forgotten: the comma (true) or the closing bracket. It
// looks at what the line holds, at most lookahead tokens.
func (p *parser) listGoesOn(close Kind) bool {
	const lookahead = 64
	if p.atItemStart() {
		return false
	}
	depth := 0
	for i := range lookahead {
		k := p.peek(i)
		if i > 0 && depth == 0 && p.pos+i < len(p.toks) && p.toks[p.pos+i].newline {
			return close == TRBrace && k != TEOF || k == close
		}
		switch k {
		case TLParen, TLBracket, TLBrace:
			depth++
		case TRParen, TRBracket, TRBrace:
			if depth == 0 {
				return k == close
			}
			depth--
		case TComma:
			if depth == 0 {
				return true
			}
		case TEOF, TAssign, TKwLet, TKwAssert:
			return false
		}
	}
	return true
}

// startsElement says that the current token could be the next element, the
// comma before it being forgotten.
func (p *parser) startsElement() bool {
	switch p.kind() {
	case TIdent, TInt, TFloat, TString, TUnderscore, TKwTrue, TKwFalse, TLParen, TLBracket:
		return true
	}
	return false
}
