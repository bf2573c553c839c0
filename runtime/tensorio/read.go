package tensorio

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kera-lang/kera/core/types"
)

// Read reads one tensor. path may name a member of an .npz file ("w.npz:w1");
// otherwise an .npz file gives the member called name, or its only one. The type
// and shape must be want's. If want is nil an .npy or .npz file gives what it
// holds, and .json and .csv, which know no type, give f64.
func Read(path, name string, want *types.Type) (Tensor, error) {
	file, member := SplitMember(path)
	f, size, err := open(file)
	if err != nil {
		return Tensor{}, err
	}
	defer f.Close()
	var t Tensor
	switch extension(file) {
	case ".npy":
		t, err = readNpy(file, f, size, want)
	case ".npz":
		t, err = readNpz(file, f, size, member, name, want)
	case ".json", ".csv":
		t, err = readText(file, f, want)
	default:
		err = unknownExtension(file)
	}
	if err != nil {
		return Tensor{}, err
	}
	return t, canonical(path, t)
}

// Shape returns what a file holds without reading a tensor's data. For .json and
// .csv the dtype is Invalid: only the shape is known.
func Shape(path, name string) (types.DType, []int64, error) {
	file, member := SplitMember(path)
	f, size, err := open(file)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	switch extension(file) {
	case ".npy":
		h, err := readHeader(file, f, size)
		return h.dtype, h.dims, err
	case ".npz":
		m, err := openMember(file, f, size, member, name)
		if err != nil {
			return 0, nil, err
		}
		defer m.Close()
		h, err := readHeader(m.label, m, m.size)
		return h.dtype, h.dims, err
	case ".json", ".csv":
		cells, err := parseText(file, f)
		return 0, cells.dims, err
	}
	return 0, nil, unknownExtension(file)
}

func unknownExtension(file string) error {
	return formatErr(file, "the extension %q is none of .npy, .npz, .json, .csv", extension(file))
}

func open(file string) (*os.File, int64, error) {
	f, err := os.Open(file)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, 0, fmt.Errorf("cannot read %s: %w", file, err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = formatErr(file, "not a regular file")
	}
	if err == nil && st.Size() > MaxBytes {
		err = formatErr(file, "%d bytes is more than the limit of %d", st.Size(), int64(MaxBytes))
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// readFull reads exactly n bytes, growing the buffer as data arrives so that a
// length that lies costs no memory.
func readFull(file string, r io.Reader, n int64) ([]byte, error) {
	const step = 1 << 20
	buf := make([]byte, 0, min(n, step))
	for int64(len(buf)) < n {
		k := min(n-int64(len(buf)), max(step, int64(len(buf))))
		at := len(buf)
		buf = append(buf, make([]byte, k)...)
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, formatErr(file, "ends before its %d bytes of data", n)
			}
			return nil, formatErr(file, "%v", err)
		}
	}
	return buf, nil
}
