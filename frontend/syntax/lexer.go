package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kera-lang/kera/core/diag"
)

// RawToken is a token or trivia as the lexer cuts it: Text[Start:End] of the file.
type RawToken struct {
	Kind  Kind
	Start int
	End   int
}

// Lex cuts a file into tokens and trivia. They are in order, none is empty and
// they cover the file; there is no end token. What is wrong is in the list.
func Lex(file *diag.File) ([]RawToken, diag.List) {
	l := &lexer{file: file, src: file.Text}
	l.tokens = make([]RawToken, 0, len(l.src)/4+1)
	for l.pos < len(l.src) {
		start := l.pos
		kind := l.next()
		if l.pos <= start {
			panic("BUG: the lexer made no progress")
		}
		l.tokens = append(l.tokens, RawToken{kind, start, l.pos})
		if !kind.IsTrivia() {
			l.last = kind
		}
	}
	return l.tokens, l.diags
}

type lexer struct {
	file   *diag.File
	src    string
	pos    int
	tokens []RawToken
	last   Kind // the last token that is not trivia
	diags  diag.List
}

func (l *lexer) errorf(code diag.Code, start, end int, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(code, l.file.Span(start, end), format, args...)
	l.diags.Add(d)
	return d
}

// at is the byte i places ahead, 0 at the end of the file.
func (l *lexer) at(i int) byte {
	if l.pos+i < len(l.src) {
		return l.src[l.pos+i]
	}
	return 0
}

func (l *lexer) next() Kind {
	c := l.src[l.pos]
	switch {
	case isSpace(c) || l.pos == 0 && strings.HasPrefix(l.src, byteOrderMark):
		return l.whitespace()
	case c == '/' && l.at(1) == '/':
		return l.lineComment()
	case c == '/' && l.at(1) == '*':
		return l.blockComment()
	case c == '"':
		return l.stringLit()
	case isDigit(c):
		return l.number()
	case isNameByte(c):
		return l.word()
	}
	if c < utf8.RuneSelf {
		for _, k := range puncts[c] {
			if text := kinds[k].text; strings.HasPrefix(l.src[l.pos:], text) {
				l.pos += len(text)
				return k
			}
		}
	}
	return l.unknown()
}

const byteOrderMark = "\uFEFF"

func isSpace(c byte) bool    { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isNameByte(c byte) bool { return c == '_' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }

// puncts lists, by first byte, the tokens with fixed text that are not words, longest first.
var puncts = func() (table [utf8.RuneSelf][]Kind) {
	for length := 3; length > 0; length-- {
		for k := range numKinds {
			if text := kinds[k].text; len(text) == length && !isNameByte(text[0]) {
				table[text[0]] = append(table[text[0]], k)
			}
		}
	}
	return table
}()

// words maps the reserved words.
var words = func() map[string]Kind {
	m := map[string]Kind{"_": TUnderscore}
	for k := TKwAssert; k <= TKwWhile; k++ {
		m[kinds[k].text] = k
	}
	return m
}()

func (l *lexer) whitespace() Kind {
	if l.pos == 0 && strings.HasPrefix(l.src, byteOrderMark) {
		l.pos += len(byteOrderMark)
	}
	for l.pos < len(l.src) && isSpace(l.src[l.pos]) {
		l.pos++
	}
	return TWhitespace
}

func (l *lexer) word() Kind {
	start := l.pos
	for l.pos < len(l.src) && isNameByte(l.src[l.pos]) {
		l.pos++
	}
	if k, ok := words[l.src[start:l.pos]]; ok {
		return k
	}
	return TIdent
}

func (l *lexer) lineComment() Kind {
	start := l.pos
	end := strings.IndexAny(l.src[start:], "\n\r")
	if end < 0 {
		end = len(l.src) - start
	}
	l.pos = start + end
	l.checkText(start, l.pos)
	// Four slashes are a ruler, not documentation.
	if text := l.src[start:l.pos]; strings.HasPrefix(text, "///") && !strings.HasPrefix(text, "////") {
		return TDocComment
	}
	return TLineComment
}

func (l *lexer) blockComment() Kind {
	start := l.pos
	l.pos += 2
	for depth := 1; depth > 0; {
		i := strings.IndexAny(l.src[l.pos:], "*/")
		if i < 0 || l.pos+i+1 >= len(l.src) {
			l.pos = len(l.src)
			l.errorf(diag.UnclosedComment, start, start+2, "this block comment is never closed").
				Notef("block comments nest: each `/*` needs its own `*/`")
			break
		}
		l.pos += i
		switch l.src[l.pos : l.pos+2] {
		case "/*":
			depth++
			l.pos += 2
		case "*/":
			depth--
			l.pos += 2
		default:
			l.pos++
		}
	}
	l.checkText(start, l.pos)
	return TBlockComment
}

// checkText reports what may not stand even inside a comment or string.
func (l *lexer) checkText(start, end int) {
	for i := start; i < end; {
		c, size := utf8.DecodeRuneInString(l.src[i:end])
		switch {
		case c == utf8.RuneError && size == 1:
			j := i + 1
			for j < end && !validAt(l.src[j:end]) {
				j++
			}
			l.invalid(i, j)
			size = j - i
		case unicode.Is(unicode.Bidi_Control, c):
			l.bidi(c, i, i+size)
		}
		i += size
	}
}

func validAt(s string) bool {
	c, size := utf8.DecodeRuneInString(s)
	return c != utf8.RuneError || size != 1
}

func (l *lexer) invalid(start, end int) {
	l.errorf(diag.InvalidUTF8, start, end, "invalid UTF-8: byte 0x%02x", l.src[start]).
		Notef("source files are UTF-8")
}

func (l *lexer) bidi(c rune, start, end int) {
	l.errorf(diag.ConfusableControl, start, end, "the character U+%04X changes the reading direction", c).
		FixBy("leave it out", l.file.Span(start, end), "")
}

// lookalikes are characters that editors and keyboards put in the place of ours.
var lookalikes = map[rune]string{
	'“': `"`, '”': `"`, '\'': `"`, '‘': `"`, '’': `"`, '–': "-", '—': "-", '−': "-", '×': "*", '·': "*", '÷': "/",
	'≤': "<=", '≥': ">=", '≠': "!=", '→': "->", '\u00a0': " ", '\u3000': " ", '；': ";", '，': ",", '（': "(", '）': ")", '~': "!",
}

// unknown takes a run of characters that begin no token as one, and reports it once.
func (l *lexer) unknown() Kind {
	start := l.pos
	first, size := utf8.DecodeRuneInString(l.src[start:])
	bad := first == utf8.RuneError && size == 1
	l.pos += size
	for l.pos < len(l.src) {
		c, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if size == 1 && c != utf8.RuneError && (c < utf8.RuneSelf && (isSpace(byte(c)) || isNameByte(byte(c)) || puncts[c] != nil || c == '"')) ||
			bad != (c == utf8.RuneError && size == 1) {
			break
		}
		l.pos += size
	}
	switch {
	case bad:
		l.invalid(start, l.pos)
	case unicode.Is(unicode.Bidi_Control, first):
		l.bidi(first, start, l.pos)
	default:
		shown := fmt.Sprintf("`%c`", first)
		if !unicode.IsGraphic(first) || first == '\u00a0' {
			shown = fmt.Sprintf("U+%04X", first)
		}
		d := l.errorf(diag.BadCharacter, start, l.pos, "the character %s is not part of Kera", shown)
		if alt, ok := lookalikes[first]; ok {
			d.FixBy("perhaps this was meant", l.file.Span(start, start+size), alt)
		} else if unicode.IsLetter(first) {
			d.Notef("names are made of ASCII letters, digits and `_`")
		}
	}
	return TUnknown
}

func (l *lexer) stringLit() Kind {
	start := l.pos
	l.pos++
	for {
		i := strings.IndexAny(l.src[l.pos:], "\"\\\n\r")
		if i < 0 {
			i = len(l.src) - l.pos
		}
		l.pos += i
		switch l.at(0) {
		case '"':
			l.pos++
			l.checkText(start, l.pos)
			return TString
		case '\\':
			_, n := unescape(l.src[l.pos:])
			if n == 0 {
				n = 1
				if c, size := utf8.DecodeRuneInString(l.src[l.pos+1:]); c != '\n' && c != '\r' {
					n += size
				}
				l.errorf(diag.BadEscape, l.pos, l.pos+n, "unknown escape in a string").
					Notef("known are \\n \\r \\t \\0 \\\\ \\\" and \\u{HEX}")
			}
			l.pos += n
		default: // the end of the line or file
			l.errorf(diag.UnclosedString, start, l.pos, "this string is never closed").
				Notef("a string ends on the line it started on; write a line break as \\n")
			l.checkText(start, l.pos)
			return TString
		}
	}
}
