package wenc

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestDisassemble(t *testing.T) {
	m, seen := tableModule()
	b, _ := m.Encode()
	var out strings.Builder
	if err := Disassemble(&out, b, nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range seen {
		_, body, ok := strings.Cut(out.String(), "func $t."+n+"\n")
		body, _, _ = strings.Cut(body, "\nfunc ")
		found := false
		for _, l := range strings.Split(body, "\n") {
			f := strings.Fields(l)
			found = found || len(f) > 1 && f[1] == n
		}
		if !ok || !found {
			t.Errorf("%s is printed as %q", n, body)
		}
	}
}

func TestDisassembleText(t *testing.T) {
	m := NewModule(NewIndex())
	m.Assemble(sample, "$gcd")
	m.funcs[0].At(3)
	b, _ := m.Encode()
	var out strings.Builder
	if err := Disassemble(&out, b, func(o uint32) string {
		if b[o] == 0x82 {
			return "remainder"
		}
		return ""
	}); err != nil {
		t.Fatal(err)
	}
	want := `func $gcd
          local i64 x1
  00001c  loop (result i64)
  00001e    local.get 1
  000020    i64.eqz
  000021    if (result i64)
  000023      local.get 0
  000025    else
  000026      local.get 0
  000028      local.get 1
  00002a      i64.rem_u                                      ;; remainder
  00002b      local.set 2
  00002d      local.get 1
  00002f      local.set 0
  000031      local.get 2
  000033      local.set 1
  000035      br 1
  000037    end
  000038  end
  000039  end
`
	got := out.String()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestDisassembleHostile reads every prefix of a module and every module with
// one byte changed: errors are fine, panics are not.
func TestDisassembleHostile(t *testing.T) {
	m := NewModule(NewIndex())
	m.Memory(1, 2)
	m.Assemble(sample)
	b, _ := m.Encode()
	for i := range b {
		if i < len(b) {
			_ = Disassemble(io.Discard, b[:i], nil)
		}
		for _, x := range []byte{0, 1, 0x7F, 0x80, 0xFF, b[i] + 1} {
			c := append([]byte{}, b...)
			c[i] = x
			_ = Disassemble(io.Discard, c, nil)
		}
	}
	if err := Disassemble(io.Discard, []byte("\x00asm\x02\x00\x00\x00"), nil); err == nil || !strings.Contains(fmt.Sprint(err), "offset 0") {
		t.Errorf("wrong version: %v", err)
	}
}
