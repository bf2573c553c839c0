//go:build !unix

package keg

import "os"

// mapFile reads a file where mapping is not available.
func mapFile(path string) ([]byte, func() error, error) {
	b, err := os.ReadFile(path)
	return b, func() error { return nil }, err
}
