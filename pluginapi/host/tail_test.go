package host

import (
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"one\ntwo\r\n", "one|two"},
		{"red \x1b[31malert\x1b[0m\x07", "red ?[31malert?[0m?"},
		{"bad \xff utf-8", "bad ? utf-8"},
		{`{"@level":"error","@message":"no licence","server":"x","@module":"v"}`, "[ERROR] no licence server=x"},
		{`{"@level":"debug","@message":"plugin address"}`, ""},
		{`{"json": "but no log"}`, `{"json": "but no log"}`},
		{strings.Repeat("line\n", 99), strings.TrimSuffix(strings.Repeat("line|", tailLines), "|")},
	} {
		tl := newTail()
		_, _ = tl.Write([]byte(c.in))
		if got := strings.Join(tl.lines(), "|"); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	tl := newTail()
	for range 100 {
		_, _ = tl.Write(make([]byte, 1000))
	}
	if n := len(tl.text()); n > tailBytes {
		t.Errorf("kept %d bytes", n)
	}
}
