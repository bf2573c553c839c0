package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// npy encodes an array as numpy would, with the element type's descr ("<f4").
func npy(descr string, shape []int, data []byte) string {
	var dims []string
	for _, n := range shape {
		dims = append(dims, strconv.Itoa(n))
	}
	text := strings.Join(dims, ", ")
	if len(dims) == 1 {
		text += "," // as Python writes a tuple of one
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, text)
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	head += "\n"
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head + string(data)
}

// payload is the data of an .npy file.
func payload(t *testing.T, file []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(file, []byte("\x93NUMPY\x01\x00")) {
		t.Fatalf("no .npy: %q", head(string(file)))
	}
	return file[10+int(binary.LittleEndian.Uint16(file[8:])):]
}

// words gives the bytes of little-endian words of a size.
func words(size int, values ...uint64) []byte {
	var out []byte
	for _, v := range values {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		out = append(out, b[:size]...)
	}
	return out
}
