// Package cache is the on-disk cache of compile results.
//
// An action (what was compiled, for what, by which plugin binary) has a key;
// `actions/` maps keys to content digests and `content/` holds the bytes by
// their digest, so equal results are kept once. What must hold: files appear
// complete or not at all (written beside and renamed); nothing read is believed
// before its digest is checked, and what fails is removed and counts as a miss;
// any number of processes may use one folder; the size stays under the limit,
// the least recently used content going first. A cache never makes a build
// fail: at worst it misses.
package cache

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/kera-lang/kera/core/digest"
)

// DefaultLimit is the size of a cache when none is given.
const DefaultLimit = 1 << 30

// Action is everything a result depends on.
type Action struct {
	Root     digest.D // optimised graph or region
	Entries  []string
	Triple   string
	Features []string
	Options  map[string]string
	Plugin   digest.D // executable
	Major    uint32   // protocol
	Minor    uint32
}

// Key returns the key of an action.
func Key(a Action) digest.D {
	var e digest.Enc
	e.Str("kera action 1")
	e.Digest(a.Root)
	strs := func(list []string) {
		e.U32(uint32(len(list)))
		for _, s := range list {
			e.Str(s)
		}
	}
	strs(a.Entries)
	e.Str(a.Triple)
	strs(a.Features)
	e.U32(uint32(len(a.Options)))
	for _, k := range slices.Sorted(maps.Keys(a.Options)) {
		e.Str(k)
		e.Str(a.Options[k])
	}
	e.Digest(a.Plugin)
	e.U32(a.Major)
	e.U32(a.Minor)
	return digest.Plain(e.B)
}

// Store is a cache folder. It is safe for concurrent use, also by other
// processes.
type Store struct {
	dir   string
	limit int64

	mu    sync.Mutex
	known bool  // size was measured
	size  int64 // at least what this process has seen
}

// Open returns the cache in dir, which is made if it is not there. A limit of 0
// is DefaultLimit.
func Open(dir string, limit int64) (*Store, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	for _, sub := range []string{actionsDir, contentDir, binaryDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("cache: %w", err)
		}
	}
	return &Store{dir: dir, limit: limit}, nil
}

// DefaultDir returns the user's cache folder for Kera.
func DefaultDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "kera", "actions"), nil
}

// Folders of a cache.
const (
	actionsDir = "actions"
	contentDir = "content"
	binaryDir  = "binaries"
)

func (s *Store) path(sub string, d digest.D) string {
	name := d.String()
	return filepath.Join(s.dir, sub, name[:2], name)
}

// An action file holds the content digest, the content length, and a digest of
// both with the key, so that a damaged one is recognised.
const actionSize = digest.Size + 8 + digest.Size

func actionFile(key, content digest.D, length uint64) []byte {
	var e digest.Enc
	e.Digest(content)
	e.U64(length)
	e.Digest(digest.Plain(append(append([]byte(nil), key[:]...), e.B...)))
	return e.B
}

// Get returns the result of an action.
func (s *Store) Get(key digest.D) ([]byte, bool) {
	ap := s.path(actionsDir, key)
	act, err := os.ReadFile(ap)
	if err != nil {
		return nil, false
	}
	var content digest.D
	if len(act) != actionSize {
		_ = os.Remove(ap)
		return nil, false
	}
	copy(content[:], act)
	length := binary.LittleEndian.Uint64(act[digest.Size:])
	if string(act) != string(actionFile(key, content, length)) {
		_ = os.Remove(ap)
		return nil, false
	}
	cp := s.path(contentDir, content)
	b, err := os.ReadFile(cp)
	if err != nil || uint64(len(b)) != length || digest.Plain(b) != content {
		_ = os.Remove(ap)
		if err == nil {
			_ = os.Remove(cp)
		}
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(ap, now, now)
	_ = os.Chtimes(cp, now, now)
	return b, true
}

// Remove forgets the result of an action.
func (s *Store) Remove(key digest.D) { _ = os.Remove(s.path(actionsDir, key)) }

// Put stores the result of an action.
func (s *Store) Put(key digest.D, b []byte) error {
	if int64(len(b)) > s.limit {
		return fmt.Errorf("cache: result of %d bytes is over the limit of %d", len(b), s.limit)
	}
	content := digest.Plain(b)
	cp := s.path(contentDir, content)
	if info, err := os.Stat(cp); err != nil || info.Size() != int64(len(b)) {
		if err := WriteFile(cp, b); err != nil {
			return err
		}
	}
	if err := WriteFile(s.path(actionsDir, key), actionFile(key, content, uint64(len(b)))); err != nil {
		return err
	}
	s.grow(int64(len(b)) + actionSize)
	return nil
}

// WriteFile writes a file whole or not at all, making its folder. Concurrent
// writers of one path are safe; the last one wins.
func WriteFile(path string, b []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// tempPrefix starts the name of files being written.
const tempPrefix = ".tmp-"
