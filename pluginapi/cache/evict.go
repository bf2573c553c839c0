package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// staleTemp is the age at which a file being written counts as left behind by
// a killed process.
const staleTemp = time.Hour

// lowWater is the part of the limit, in percent, that eviction goes down to, so
// that it does not run at every write.
const lowWater = 80

type file struct {
	path string
	size int64
	used time.Time
}

// scan lists the files of the cache, the least recently used first, and removes
// what killed writers left.
func (s *Store) scan() (files []file, total int64) {
	now := time.Now()
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // gone meanwhile, or not ours to read
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if strings.HasPrefix(d.Name(), tempPrefix) {
			if now.Sub(info.ModTime()) > staleTemp {
				_ = os.Remove(path)
			}
			return nil
		}
		files = append(files, file{path, info.Size(), info.ModTime()})
		total += info.Size()
		return nil
	})
	slices.SortFunc(files, func(a, b file) int {
		if c := a.used.Compare(b.used); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	return files, total
}

// grow counts n new bytes and evicts when the limit is passed. The count of a
// process does not see other writers; the scan at its limit does.
func (s *Store) grow(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		s.size += n
		if s.size <= s.limit {
			return
		}
	}
	files, total := s.scan()
	s.known = true
	if total > s.limit {
		for _, f := range files {
			if total <= s.limit/100*lowWater {
				break
			}
			// Removed by another process is as good.
			_ = os.Remove(f.path)
			total -= f.size
		}
	}
	s.size = total
}

// Size returns the bytes on disk.
func (s *Store) Size() int64 {
	_, total := s.scan()
	return total
}
