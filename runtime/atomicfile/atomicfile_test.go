package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a")
	for _, text := range []string{"first", "2"} {
		if err := Write(p, put(text)); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(p); string(b) != text {
			t.Errorf("content %q, want %q", b, text)
		}
	}
	if n := names(t, dir); len(n) != 1 {
		t.Errorf("left behind: %v", n)
	}
}

func TestFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a")
	bad := errors.New("half-way")
	err := Write(p, func(w io.Writer) error { io.WriteString(w, "half"); return bad })
	if !errors.Is(err, bad) {
		t.Errorf("err = %v", err)
	}
	func() {
		defer func() { recover() }()
		Write(p, func(io.Writer) error { panic("x") })
	}()
	var s Set
	if err := s.Add(p, put("never")); err != nil {
		t.Fatal(err)
	}
	s.Discard()
	if n := names(t, dir); len(n) != 0 {
		t.Errorf("left behind: %v", n)
	}
}

func TestMessagesNameTheDestination(t *testing.T) {
	p := filepath.Join(t.TempDir(), "none", "a")
	err := Write(p, put("x"))
	if err == nil || err.Error() != "cannot write "+p+": no such file or directory" {
		t.Errorf("err = %v", err)
	}
}

func TestSpecialFile(t *testing.T) {
	if err := Write("/dev/null", put("x")); err != nil {
		t.Error(err)
	}
}
