package e2e

import (
	"encoding/binary"
	"testing"
)

// sections splits a file by its section table, on its own.
func sections(t *testing.T, b []byte) map[uint32][]byte {
	t.Helper()
	out := map[uint32][]byte{}
	for i := range binary.LittleEndian.Uint32(b[8:]) {
		row := b[96+56*i:]
		at, n := binary.LittleEndian.Uint64(row[8:]), binary.LittleEndian.Uint64(row[16:])
		out[binary.LittleEndian.Uint32(row)] = b[at : at+n]
	}
	return out
}
