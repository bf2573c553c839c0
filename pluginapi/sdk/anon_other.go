//go:build !linux

package sdk

import "os"

// anonymousFile returns a file that has no name any more.
func anonymousFile() (*os.File, error) {
	f, err := os.CreateTemp("", "kera-buffer")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
