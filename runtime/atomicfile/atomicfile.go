// Package atomicfile writes files that are either whole or not there: the bytes
// go to a temporary file in the destination's folder, which is renamed over the
// destination only when everything was written.
//
// What must hold: after any error, panic or cancellation the destination is
// untouched and the temporary file is gone; a Set commits all its files or none
// that it can still hold back.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Set is a group of files that appear together. Call Commit once at the end and
// Discard in a defer; Discard after Commit does nothing.
type Set struct {
	files []pending
}

type pending struct{ temp, dest string }

// Add writes one file's content to its temporary place.
func (s *Set) Add(dest string, write func(io.Writer) error) (err error) {
	mode := os.FileMode(0o644)
	if st, err := os.Stat(dest); err == nil {
		if !st.Mode().IsRegular() {
			return s.addSpecial(dest, write)
		}
		mode = st.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".*.tmp")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", dest, reason(err))
	}
	ok := false
	defer func() {
		if !ok {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	for _, step := range []func() error{b.Flush, func() error { return f.Chmod(mode) }, f.Close} {
		if err := step(); err != nil {
			return fmt.Errorf("cannot write %s: %w", dest, reason(err))
		}
	}
	ok = true
	s.files = append(s.files, pending{f.Name(), dest})
	return nil
}

// addSpecial writes straight to what cannot be replaced by a rename, such as
// /dev/null or a pipe.
func (s *Set) addSpecial(dest string, write func(io.Writer) error) error {
	f, err := os.OpenFile(dest, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", dest, reason(err))
	}
	return errors.Join(write(f), f.Close())
}

// Commit renames every file into place.
func (s *Set) Commit() error {
	for len(s.files) > 0 {
		p := s.files[0]
		if err := os.Rename(p.temp, p.dest); err != nil {
			return fmt.Errorf("cannot write %s: %w", p.dest, reason(err))
		}
		s.files = s.files[1:]
	}
	return nil
}

// Discard removes what was not committed.
func (s *Set) Discard() {
	for _, p := range s.files {
		os.Remove(p.temp)
	}
	s.files = nil
}

// Write writes one file.
func Write(dest string, write func(io.Writer) error) error {
	var s Set
	defer s.Discard()
	if err := s.Add(dest, write); err != nil {
		return err
	}
	return s.Commit()
}

// reason drops the path of the temporary file from an error: the caller names
// the file the person asked for.
func reason(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}
