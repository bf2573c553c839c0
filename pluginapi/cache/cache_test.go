package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/digest"
)

func open(t *testing.T, dir string, limit int64) *Store {
	t.Helper()
	s, err := Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func key(i int) digest.D { return digest.Plain(fmt.Append(nil, "key", i)) }

func TestPutGet(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	if _, ok := s.Get(key(1)); ok {
		t.Error("hit in an empty cache")
	}
	for i, v := range [][]byte{nil, []byte("one"), bytes.Repeat([]byte("x"), 1<<16), []byte("one")} {
		if err := s.Put(key(i), v); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Get(key(i)); !ok || !bytes.Equal(got, v) {
			t.Errorf("%d: got %d bytes, %v", i, len(got), ok)
		}
	}
	files, _ := filepath.Glob(filepath.Join(s.dir, contentDir, "*", "*"))
	if len(files) != 3 {
		t.Errorf("%d contents, equal ones are kept once", len(files))
	}
	s.Remove(key(1))
	if _, ok := s.Get(key(1)); ok {
		t.Error("hit after Remove")
	}
	if _, ok := s.Get(key(3)); !ok {
		t.Error("Remove took a shared content with it")
	}
}

// TestDamage: every flipped byte and every cut of either file is a miss, and
// the damaged entry is gone afterwards.
func TestDamage(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	value := []byte("the result")
	for _, sub := range []string{actionsDir, contentDir} {
		if err := s.Put(key(0), value); err != nil {
			t.Fatal(err)
		}
		path := s.path(sub, key(0))
		if sub == contentDir {
			path = s.path(sub, digest.Plain(value))
		}
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 * len(good) {
			bad := bytes.Clone(good)
			if i < len(good) {
				bad[i] ^= 1
			} else {
				bad = bad[:i-len(good)]
			}
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.Get(key(0)); ok {
				t.Fatalf("%s damaged at %d: hit", sub, i)
			}
			if _, err := os.Stat(path); err == nil {
				t.Fatalf("%s damaged at %d: still there", sub, i)
			}
			if err := s.Put(key(0), value); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.Get(key(0)); !ok {
				t.Fatalf("%s: not repaired", sub)
			}
		}
	}
}

// TestSwapped: an action file copied to another key is not believed.
func TestSwapped(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	if err := s.Put(key(0), []byte("a")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(s.path(actionsDir, key(0)))
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(s.path(actionsDir, key(1)), b); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get(key(1)); ok {
		t.Error("hit under another key")
	}
}

func TestEviction(t *testing.T) {
	const limit = 64 << 10
	s := open(t, t.TempDir(), limit)
	put := func(i int) {
		if err := s.Put(key(i), bytes.Repeat([]byte{byte(i)}, 8<<10)); err != nil {
			t.Fatal(err)
		}
		// Distinct ages without sleeping.
		old := time.Now().Add(time.Duration(i-100) * time.Minute)
		for _, p := range []string{s.path(actionsDir, key(i)), s.path(contentDir, digest.Plain(bytes.Repeat([]byte{byte(i)}, 8<<10)))} {
			if err := os.Chtimes(p, old, old); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	for i := range 6 {
		put(i)
	}
	if _, ok := s.Get(key(0)); !ok { // makes it the most recently used
		t.Fatal("evicted below the limit")
	}
	for i := 6; i < 10; i++ {
		put(i)
	}
	if n := s.Size(); n > limit {
		t.Errorf("%d bytes on disk, limit %d", n, limit)
	}
	for i, want := range map[int]bool{0: true, 1: false, 9: true} {
		if _, ok := s.Get(key(i)); ok != want {
			t.Errorf("key %d: hit %v, want %v", i, ok, want)
		}
	}
	if err := s.Put(key(99), make([]byte, limit+1)); err == nil {
		t.Error("a result over the limit was stored")
	}
}

func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 4 {
		s := open(t, dir, 32<<10) // small: eviction runs all the time
		wg.Go(func() {
			for i := range 50 {
				k := i % 7
				want := bytes.Repeat([]byte{byte(k)}, 4<<10)
				if got, ok := s.Get(key(k)); ok && !bytes.Equal(got, want) {
					t.Errorf("worker %d read something else", w)
				}
				if err := s.Put(key(k), want); err != nil {
					t.Errorf("worker %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	left, _ := filepath.Glob(filepath.Join(dir, "*", "*", tempPrefix+"*"))
	if len(left) != 0 {
		t.Errorf("left behind %v", left)
	}
}

func TestStaleTempFiles(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	path := filepath.Join(s.dir, contentDir, tempPrefix+"killed")
	if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Size()
	if _, err := os.Stat(path); err != nil {
		t.Error("a file being written was removed")
	}
	old := time.Now().Add(-2 * staleTemp)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	s.Size()
	if _, err := os.Stat(path); err == nil {
		t.Error("a stale file was kept")
	}
}

func TestFileDigest(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	path := filepath.Join(t.TempDir(), "bin")
	old := time.Now().Add(-time.Hour)
	for _, text := range []string{"first", "other"} { // of equal length
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		for _, store := range []*Store{nil, s, s} {
			if d, err := FileDigest(store, path); err != nil || d != digest.Plain([]byte(text)) {
				t.Errorf("%q: %s, %v", text, d.Short(), err)
			}
		}
	}
	if _, err := FileDigest(s, path+"none"); err == nil {
		t.Error("no error for a missing file")
	}
}
