package frontend

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/kera-lang/kera/core/types"
)

// npyLoader reads just what numpy writes for the examples; the command has the
// full reader.
func npyLoader(dir string) func(file, array string) (types.Type, []byte, error) {
	return func(file, array string) (types.Type, []byte, error) {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return types.Type{}, nil, err
		}
		if strings.HasSuffix(file, ".npz") {
			z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return types.Type{}, nil, err
			}
			f, err := z.Open(array + ".npy")
			if err != nil {
				return types.Type{}, nil, err
			}
			if data, err = io.ReadAll(f); err != nil {
				return types.Type{}, nil, err
			}
		}
		return parseNpy(data)
	}
}

var npyHeader = regexp.MustCompile(`'descr': '<([fiu])(\d)'.*'shape': \(([^)]*)\)`)

func parseNpy(data []byte) (types.Type, []byte, error) {
	if len(data) < 10 || string(data[:6]) != "\x93NUMPY" {
		return types.Type{}, nil, fmt.Errorf("not a .npy file")
	}
	end := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	m := npyHeader.FindSubmatch(data[10:end])
	if m == nil {
		return types.Type{}, nil, fmt.Errorf("header %q", data[10:end])
	}
	size, _ := strconv.Atoi(string(m[2]))
	d, _ := types.ParseDType(string(m[1]) + strconv.Itoa(8*size))
	t := types.Scalar(d)
	for _, p := range strings.Split(string(m[3]), ",") {
		if n, err := strconv.ParseInt(strings.TrimSpace(p), 10, 64); err == nil {
			t.Dims = append(t.Dims, types.Num(n))
		}
	}
	return t, data[end:], nil
}
