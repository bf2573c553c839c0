package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kera-lang/kera/core/diag"
)

var simpleEscapes = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', '0': 0, '\\': '\\', '"': '"'}

// unescape reads one escape at the start of s; n is 0 if it is none.
func unescape(s string) (c rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	if c, ok := simpleEscapes[s[1]]; ok {
		return c, 2
	}
	if !strings.HasPrefix(s, `\u{`) {
		return 0, 0
	}
	for i := 3; i < len(s) && i < 10; i++ {
		if s[i] == '}' && i > 3 {
			return c, validRune(c, i+1)
		}
		d := digitValue(s[i])
		if d >= 16 {
			return 0, 0
		}
		c = c<<4 | rune(d)
	}
	return 0, 0
}

func validRune(c rune, n int) int {
	if !utf8.ValidRune(c) {
		return 0
	}
	return n
}

// StringValue is the value of a string token; ok is false if the lexer found
// fault with it (which it reported).
func StringValue(text string) (value string, ok bool) {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' || !utf8.ValidString(text) {
		return "", false
	}
	var b strings.Builder
	body := text[1 : len(text)-1]
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			i++
			continue
		}
		c, n := unescape(body[i:])
		if n == 0 {
			return "", false
		}
		b.WriteRune(c)
		i += n
	}
	return b.String(), true
}

// Number is a numeric literal taken apart.
type Number struct {
	Digits  string // without underscores and suffix: what big.Int.SetString(_, 0) or strconv.ParseFloat takes
	Suffix  string // the name of a type, or ""
	IsFloat bool   // written with a point or exponent, or with a float suffix
}

// Suffixes are the types a number may name, integers first.
var intSuffixes = []string{"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}
var floatSuffixes = []string{"f16", "bf16", "f32", "f64"}

// ParseNumber takes apart the text of a TInt or TFloat; ok is false if the
// lexer found fault with it (which it reported).
func ParseNumber(text string) (n Number, ok bool) {
	s := scanNumber(text, false)
	if s.end != len(text) || s.fault != "" {
		return Number{}, false
	}
	return Number{
		Digits:  strings.ReplaceAll(text[:s.digits], "_", ""),
		Suffix:  text[s.digits:],
		IsFloat: s.float,
	}, true
}

type numberScan struct {
	digits int // where the suffix begins
	end    int
	float  bool
	code   diag.Code
	fault  string
	hint   string
}

func digitValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

// run gives the end of digits below base and underscores from i on.
func run(s string, i, base int) int {
	for i < len(s) && (s[i] == '_' || digitValue(s[i]) < base) {
		i++
	}
	return i
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// scanNumber finds the number at the start of s, however malformed. After a
// point (t.0.1) a number is digits only.
func scanNumber(s string, afterDot bool) numberScan {
	n := numberScan{code: diag.BadNumber}
	fail := func(fault, hint string) {
		if n.fault == "" {
			n.fault, n.hint = fault, hint
		}
	}
	if afterDot {
		n.digits = run(s, 0, 10)
		n.end = n.digits
		if strings.Contains(s[:n.end], "_") || n.end > 1 && s[0] == '0' {
			fail("malformed position", "the position of a tuple's component is a plain number")
		}
		return n
	}
	base, i := 10, 0
	if s[0] == '0' {
		switch byteAt(s, 1) {
		case 'x', 'X':
			base, i = 16, 2
		case 'o', 'O':
			base, i = 8, 2
		case 'b', 'B':
			base, i = 2, 2
		}
	}
	first := i
	scanBase := base
	if base < 10 {
		scanBase = 10 // take wrong digits along, to report them
	}
	i = run(s, i, scanBase)
	if i == first {
		fail("this number has no digits", "")
	}
	for _, c := range []byte(s[first:i]) {
		if c != '_' && digitValue(c) >= base {
			fail("digit `"+string(rune(c))+"` does not exist in this base", "")
		}
	}
	if base == 10 && i > 1 && s[0] == '0' {
		fail("a number does not begin with 0", "an octal number is written 0o17")
	}
	exponent := byte('e')
	if base == 16 {
		exponent = 'p'
	}
	if base == 10 || base == 16 {
		if byteAt(s, i) == '.' {
			end := run(s, i+1, base)
			// 0x1.abs() is a call: a hexadecimal fraction starts like one only
			// if an exponent follows or its first digit is decimal.
			if c := byteAt(s, i+1); isDigit(c) || base == 16 && digitValue(c) < 16 && byteAt(s, end)|0x20 == 'p' {
				i = end
				n.float = true
			}
		}
		if byteAt(s, i)|0x20 == exponent {
			j := i + 1
			if c := byteAt(s, j); c == '+' || c == '-' {
				j++
			}
			switch {
			case isDigit(byteAt(s, j)):
				i = run(s, j, 10)
				n.float = true
			case !isNameByte(byteAt(s, j)):
				i = j
				n.float = true
				fail("this exponent has no digits", "")
			}
		} else if base == 16 && n.float {
			fail("a hexadecimal number with a point needs an exponent", "write 0x1.8p0")
		}
	}
	n.digits = i
	for j := 0; j < i; j++ {
		if s[j] == '_' && (j == first || digitValue(byteAt(s, j-1)) > 15 || j+1 >= i || digitValue(s[j+1]) > 15) {
			fail("an underscore stands between digits", "")
		}
	}
	for i < len(s) && isNameByte(s[i]) {
		i++
	}
	n.end = i
	suffix := s[n.digits:i]
	isInt, isFloat := slices.Contains(intSuffixes, suffix), slices.Contains(floatSuffixes, suffix)
	switch {
	case suffix == "":
	case n.fault != "":
	case isFloat && base != 10 && !n.float, isInt && n.float:
		n.code = diag.BadSuffix
		fail("the suffix `"+suffix+"` does not fit this number", "")
	case !isInt && !isFloat:
		n.code = diag.BadSuffix
		fail("unknown suffix `"+suffix+"`", "a number may end in "+strings.Join(append(slices.Clone(intSuffixes), floatSuffixes...), " "))
	}
	n.float = n.float || isFloat
	return n
}

func (l *lexer) number() Kind {
	n := scanNumber(l.src[l.pos:], l.last == TDot)
	if n.fault != "" {
		at := l.pos
		if n.code == diag.BadSuffix {
			at += n.digits
		}
		d := l.errorf(n.code, at, l.pos+n.end, "%s", n.fault)
		if n.hint != "" {
			d.Notef("%s", n.hint)
		}
	}
	l.pos += n.end
	if n.float {
		return TFloat
	}
	return TInt
}
