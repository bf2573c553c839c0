package diag

import (
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "",
		"a\tb\n":             "a\tb\n",
		"\x1b[31mred\x07":    "\uFFFD[31mred\uFFFD",
		"\u009b5m\x7f\r":     "\uFFFD5m\uFFFD\uFFFD",
		"ä→\U0001F600":       "ä→\U0001F600",
		"\u202eevil\u2066":   "\uFFFDevil\uFFFD",
		"x\xffy":             "x\uFFFDy",
		"two\nlines\x1b\nno": "two\nlines\uFFFD\nno",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		// However the text is cut, the writer gives the same.
		for step := 1; step <= 7; step++ {
			var b strings.Builder
			w := NewVisibleWriter(&b)
			for rest := in; rest != ""; {
				n := min(step, len(rest))
				if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
					t.Fatal(k, err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if b.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, step, b.String(), want)
			}
		}
	}
}
