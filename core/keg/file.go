package keg

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Opened is a File over a mapped `.keg`. Nothing of it may be used after Close.
// The file must not be truncated while it is open; WriteFile never does that
// to an existing file, it replaces it.
type Opened struct {
	*File
	Data  []byte // the whole file, read-only
	close func() error
}

// Close unmaps the file.
func (o *Opened) Close() error {
	if o.close == nil {
		return nil
	}
	f := o.close
	o.close, o.Data, o.File = nil, nil, nil
	return f()
}

// Open maps and reads the file at path. An error about its content is a
// *FormatError.
func Open(path string, o ReadOptions) (*Opened, error) {
	data, unmap, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Read(data, o)
	if err != nil {
		return nil, joined(fmt.Errorf("%s: %w", path, err), unmap())
	}
	return &Opened{File: f, Data: data, close: unmap}, nil
}

func joined(first, second error) error {
	if second == nil {
		return first
	}
	return fmt.Errorf("%w (and %v)", first, second)
}

// WriteFile writes f to path: to a temporary file in the same folder, then
// renamed, so that path holds the old file or the new one and nothing between.
func WriteFile(path string, f *File, o WriteOptions) error {
	return writeFile(path, func(t *os.File) error { return Write(t, f, o) })
}

// WriteBytes writes an encoded file to path as WriteFile does.
func WriteBytes(path string, b []byte) error {
	return writeFile(path, func(t *os.File) error { _, err := t.Write(b); return err })
}

func writeFile(path string, fill func(*os.File) error) (err error) {
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			t.Close() // may be closed already: the first error counts
			os.Remove(t.Name())
		}
	}()
	if err := fill(t); err != nil {
		return err
	}
	if err := t.Chmod(0o644); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return os.Rename(t.Name(), path)
}

// Replace adds target to the encoded file b, or replaces the section of the
// same key. All other sections keep their bytes. It checks the header and the
// section digests of b, but does not decode its graph.
func Replace(b []byte, target Target) ([]byte, error) {
	p, err := parse(b)
	if err != nil {
		return nil, err
	}
	f := &File{Targets: nil}
	var secs []raw
	for i := range p.secs {
		e := &p.secs[i]
		if e.kind < KindTarget {
			secs = append(secs, raw{e.kind, e.flags, [][]byte{e.b}, e.dig})
			continue
		}
		t, ferr := openTarget(e)
		if ferr != nil {
			return nil, ferr
		}
		f.Targets = append(f.Targets, t)
	}
	if !slices.IsSortedFunc(f.Targets, func(a, b Target) int { return compareKeys(&a, &b) }) {
		return nil, &FormatError{0, KindTarget, "targets are not sorted"}
	}
	f.SetTarget(target)
	secs = append(secs, targetSections(f.Targets)...)
	var out bytes.Buffer
	if err := assemble(&out, p.minor, p.fingerprint, secs); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
