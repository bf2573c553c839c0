// Package tensorio reads and writes tensors as files: .npy, .npz, .json and .csv,
// chosen by extension.
//
// A tensor in memory is dense, row-major, little-endian bytes with a bool stored
// as 0 or 1 and the one NaN of the numerics. Nothing is converted between types:
// a file that holds another type or shape than the one wanted is an error naming
// both and the file.
//
// What must hold: files are hostile. Every length is checked against the file's
// own size (and, inside a compressed member, against what deflate can produce)
// before anything of that size is allocated; a wanted type is compared with the
// header before the data is read. Writers are atomic and deterministic.
//
// In JSON a float that has no number is the string "NaN", "Infinity" or
// "-Infinity"; every other float is the shortest decimal that reads back to the
// same bits. A number that rounds to infinity is refused.
package tensorio

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kera-lang/kera/core/types"
)

// MaxBytes bounds one tensor and one file.
const MaxBytes = 1 << 32

// Tensor is a dense tensor: row-major little-endian bytes.
type Tensor struct {
	DType types.DType
	Dims  []int64
	Data  []byte
}

// Type returns the structural type of t.
func (t Tensor) Type() types.Type { return types.Tensor(t.DType, t.Dims...) }

// Named is a tensor with the name it has in an .npz file or a report.
type Named struct {
	Name   string
	Tensor Tensor
}

// Extensions lists what Read and Write accept.
func Extensions() []string { return []string{".npy", ".npz", ".json", ".csv"} }

// SplitMember splits "weights.npz:w1" into file and member. Only .npz has members.
func SplitMember(path string) (file, member string) {
	if i := strings.LastIndex(path, ".npz:"); i >= 0 {
		return path[:i+4], path[i+5:]
	}
	return path, ""
}

// elements multiplies dims, false on a negative one, a rank over the limit or a
// size over MaxBytes. The size of a zero-element tensor is still bounded by its
// other dimensions, as types.Type.Check does.
func elements(d types.DType, dims []int64) (int64, bool) {
	if len(dims) > types.MaxRank {
		return 0, false
	}
	n, zero := int64(d.Size()), false
	for _, k := range dims {
		if k < 0 {
			return 0, false
		}
		if k == 0 {
			zero = true
			continue
		}
		if n > MaxBytes/k {
			return 0, false
		}
		n *= k
	}
	if zero {
		return 0, true
	}
	return n / int64(d.Size()), true
}

// typeText writes a type as the language does: f32[1797, 64].
func typeText(d types.DType, dims []int64) string {
	if len(dims) == 0 {
		return d.String()
	}
	parts := make([]string, len(dims))
	for i, n := range dims {
		parts[i] = fmt.Sprint(n)
	}
	return d.String() + "[" + strings.Join(parts, ", ") + "]"
}

// TypeText is the spelling of a tensor type in messages: f32[1797, 64].
func TypeText(t types.Type) string {
	if t.Kind != types.KindTensor || !t.Static() {
		return t.String()
	}
	return typeText(t.DType, t.Shape())
}

// MismatchError says that a file holds another type or shape than wanted.
type MismatchError struct {
	File       string
	Have, Want string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s holds %s, but %s is needed", e.File, e.Have, e.Want)
}

// FormatError says that a file is malformed or of an unsupported kind.
type FormatError struct {
	File   string
	Reason string
}

func (e *FormatError) Error() string { return e.File + ": " + e.Reason }

func formatErr(file, format string, args ...any) error {
	return &FormatError{file, fmt.Sprintf(format, args...)}
}

// check compares what a file holds with what is wanted; want may be nil.
func check(file string, d types.DType, dims []int64, want *types.Type) error {
	if want == nil {
		return nil
	}
	if !want.IsTensor() || !want.Static() || want.DType != d || !slices.Equal(want.Shape(), dims) {
		return &MismatchError{file, typeText(d, dims), TypeText(*want)}
	}
	return nil
}

// canonical checks bools and replaces every NaN by the one NaN, in place.
func canonical(file string, t Tensor) error {
	le := binary.LittleEndian
	switch t.DType {
	case types.Bool:
		for i, b := range t.Data {
			if b > 1 {
				return formatErr(file, "element %d is the byte %d, but a bool is 0 or 1", i, b)
			}
		}
	case types.F16:
		for i := 0; i < len(t.Data); i += 2 {
			if le.Uint16(t.Data[i:])&0x7fff > 0x7c00 {
				le.PutUint16(t.Data[i:], 0x7e00)
			}
		}
	case types.F32:
		for i := 0; i < len(t.Data); i += 4 {
			if le.Uint32(t.Data[i:])&0x7fffffff > 0x7f800000 {
				le.PutUint32(t.Data[i:], 0x7fc00000)
			}
		}
	case types.F64:
		for i := 0; i < len(t.Data); i += 8 {
			if le.Uint64(t.Data[i:])&math.MaxInt64 > 0x7ff0000000000000 {
				le.PutUint64(t.Data[i:], 0x7ff8000000000000)
			}
		}
	}
	return nil
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }
