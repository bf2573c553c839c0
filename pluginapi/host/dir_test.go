package host

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSweep: a directory whose host is gone is removed by the next one; those of
// living hosts, and what only has a similar name, stay.
func TestSweep(t *testing.T) {
	base, err := os.MkdirTemp("", "kh")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	t.Setenv("TMPDIR", base)
	other := filepath.Join(base, "kera-mine")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	alive, lock, err := privateDir()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	killed, dead, err := privateDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed, "graph.keg"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	dead.Close()
	next, mine, err := privateDir()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	for dir, want := range map[string]bool{other: true, alive: true, next: true, killed: false} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: exists %v, want %v", dir, err == nil, want)
		}
	}
}
