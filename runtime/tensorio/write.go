package tensorio

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/runtime/atomicfile"
)

// CanWrite reports why path cannot take a tensor of type t, before any work is
// done to make it.
func CanWrite(path string, t types.Type) error {
	switch ext := extension(path); ext {
	case ".npy", ".npz":
		if t.DType == types.BF16 {
			return formatErr(path, "numpy has no type for bf16")
		}
	case ".json", ".csv":
		if t.DType.Class() == types.ClassStorage {
			return formatErr(path, "%s cannot be written as text: use .npy", t.DType)
		}
		if ext == ".csv" && t.Rank() > 2 {
			return formatErr(path, "%s has rank %d, but a table has two: use .npy or .json", TypeText(t), t.Rank())
		}
	default:
		return unknownExtension(path)
	}
	return nil
}

// Write writes one tensor by itself.
func Write(path, name string, t Tensor) error {
	var s atomicfile.Set
	defer s.Discard()
	if err := Add(&s, path, []Named{{name, t}}); err != nil {
		return err
	}
	return s.Commit()
}

// Add writes tensors to a file of a set that appears together. Only .npz takes
// more than one.
func Add(s *atomicfile.Set, path string, list []Named) error {
	for _, n := range list {
		if err := CanWrite(path, n.Tensor.Type()); err != nil {
			return err
		}
	}
	ext := extension(path)
	if ext != ".npz" && len(list) != 1 {
		return formatErr(path, "only .npz holds more than one tensor")
	}
	return s.Add(path, func(w io.Writer) error {
		switch ext {
		case ".npy":
			return writeNpy(w, list[0].Tensor)
		case ".npz":
			return writeNpz(w, list)
		case ".json":
			b := bufio.NewWriter(w)
			WriteJSON(b, list[0].Tensor)
			b.WriteByte('\n')
			return b.Flush()
		}
		return writeCSV(w, list[0].Tensor)
	})
}

// WriteJSON writes t as nested lists.
func WriteJSON(w *bufio.Writer, t Tensor) {
	at := 0
	var list func(dims []int64)
	list = func(dims []int64) {
		if len(dims) == 0 {
			w.WriteString(quoteCell(CellText(t, at)))
			at++
			return
		}
		w.WriteByte('[')
		for i := range dims[0] {
			if i > 0 {
				w.WriteByte(',')
			}
			list(dims[1:])
		}
		w.WriteByte(']')
	}
	list(t.Dims)
}

// writeCSV writes a scalar as one cell, a vector as a column and a matrix as rows.
func writeCSV(w io.Writer, t Tensor) error {
	b := bufio.NewWriter(w)
	columns := 1
	if len(t.Dims) == 2 {
		columns = int(t.Dims[1])
	}
	for i := range len(t.Data) / t.DType.Size() {
		b.WriteString(CellText(t, i))
		if (i+1)%columns == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(',')
		}
	}
	return b.Flush()
}

// Preview is a short text of t for a person: all of a small tensor, the first
// elements of a large one.
func Preview(t Tensor, most int) string {
	n := len(t.Data) / t.DType.Size()
	if len(t.Dims) == 0 {
		return CellText(t, 0)
	}
	parts := make([]string, 0, most+1)
	for i := range min(n, most) {
		parts = append(parts, CellText(t, i))
	}
	if n > most {
		parts = append(parts, fmt.Sprintf("... (%d elements)", n))
	}
	return "[" + strings.Join(parts, " ") + "]"
}
