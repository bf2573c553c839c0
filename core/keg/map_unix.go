//go:build unix

package keg

import (
	"fmt"
	"os"
	"syscall"
)

// mapFile maps a file read-only and returns how to unmap it.
func mapFile(path string) ([]byte, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := st.Size()
	switch {
	case !st.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s: not a regular file", path)
	case size == 0:
		return nil, func() error { return nil }, nil
	case int64(int(size)) != size:
		return nil, nil, fmt.Errorf("%s: too large to map", path)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: mapping: %w", path, err)
	}
	return b, func() error { return syscall.Munmap(b) }, nil
}
