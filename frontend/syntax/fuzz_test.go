package syntax

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/diag"
)

// FuzzParse: whatever the bytes, tokens and tree give the source back, nothing
// panics and the tree keeps its bounds.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.kera", "../std/*.kera", "../../examples/*/*.kera"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			if src, err := os.ReadFile(path); err == nil {
				f.Add(string(src))
			}
		}
	}
	for _, s := range hostile(64) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

// hostile gives sources that make careless parsers overflow the stack or go quadratic.
func hostile(n int) []string {
	var out []string
	wrap := func(s string) string { return "fn f() -> i64 {\n" + s }
	for _, s := range []string{
		"(", "[", "{", "f(", "a[", "S { a: ", "-", "!", "&", "&mut ", "if a {", "if ", "match a { _ => ", "for i in 0..n {", "map i in ", "fn(x) ",
		"a + ", "a + (", "a < ", "a.b", ".b", ".f()", "(1)", "[1]", "{}", "}", ")", "else if a {} ", "if a {} else ", "1..", "..", "let (", "let P { a: ", "x = ",
		"/*", "\"", "\"\n", "a\n", "a,", ",", ";", "\n", "$", "$ ", "\xff", "\u202e", "é", "#[", "#[a]", "pub ", "fn f(", "fn f() {", "test \"a\" { ", "a: fn(", "0x", "1_", "as i32 ",
		"x as i32 ", "let a = [\n", "f(a\n", "f(a b ", "where ", "use a.", "const a: ", "const a: (", "const a: device ", "const a: fn() -> ", "enum e { a(", "struct s { a: ",
	} {
		out = append(out, strings.Repeat(s, n), wrap(strings.Repeat(s, n)))
	}
	out = append(out, wrap(strings.Repeat("(", n)+"1"+strings.Repeat(")", n)), wrap(strings.Repeat("{ a\n", n)+strings.Repeat("}", n)))
	return out
}

func TestHostile(t *testing.T) {
	for _, s := range hostile(3000) {
		check(t, s)
	}
}

// TestLinear compares the time of n and 8n repetitions: a quadratic parser
// would take 64 times as long. The bound is wide because machines are shared.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("timing")
	}
	best := func(text string) time.Duration {
		times := make([]time.Duration, 3)
		for i := range times {
			file := diag.NewFile("t", text)
			start := time.Now()
			Parse(file)
			times[i] = time.Since(start)
		}
		return slices.Min(times)
	}
	const small = 1000
	long := hostile(8 * small)
	for i, s := range hostile(small) {
		if a, b := best(s), best(long[i]); b > 32*a && b > 200*time.Millisecond {
			t.Errorf("%.20q: %v for %d bytes, %v for %d", s, a, len(s), b, len(long[i]))
		}
	}
}
