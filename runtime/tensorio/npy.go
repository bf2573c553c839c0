package tensorio

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kera-lang/kera/core/types"
)

// The .npy format: magic, version, header length, a Python dictionary literal
// with descr, fortran_order and shape, then the data.

const (
	npyMagic     = "\x93NUMPY"
	maxNpyHeader = 1 << 16
)

// descrs maps numpy's type characters to ours, little-endian or order-free.
var descrs = []struct {
	descr string
	dtype types.DType
}{
	{"|b1", types.Bool}, {"|i1", types.I8}, {"|u1", types.U8},
	{"<i2", types.I16}, {"<i4", types.I32}, {"<i8", types.I64},
	{"<u2", types.U16}, {"<u4", types.U32}, {"<u8", types.U64},
	{"<f2", types.F16}, {"<f4", types.F32}, {"<f8", types.F64},
}

type npyHeader struct {
	dtype   types.DType
	dims    []int64
	bytes   int64
	fortran bool
	swap    bool
}

// readHeader reads everything before the data and checks the shape against the
// size of the file.
func readHeader(file string, r io.Reader, size int64) (npyHeader, error) {
	var h npyHeader
	var pre [12]byte
	if _, err := io.ReadFull(r, pre[:8]); err != nil || string(pre[:6]) != npyMagic {
		return h, formatErr(file, "not an .npy file: it does not start with \\x93NUMPY")
	}
	lenBytes := 2
	switch pre[6] {
	case 1:
	case 2, 3:
		lenBytes = 4
	default:
		return h, formatErr(file, ".npy version %d.%d is not known (1.0, 2.0 and 3.0 are)", pre[6], pre[7])
	}
	if _, err := io.ReadFull(r, pre[8:8+lenBytes]); err != nil {
		return h, formatErr(file, "ends inside its header")
	}
	n := int64(binary.LittleEndian.Uint32(append(pre[8:8+lenBytes:8+lenBytes], 0, 0)))
	start := int64(8+lenBytes) + n
	if n > maxNpyHeader || start > size {
		return h, formatErr(file, "a header of %d bytes is longer than the file or the limit of %d", n, maxNpyHeader)
	}
	text, err := readFull(file, r, n)
	if err != nil {
		return h, err
	}
	h, err = parseHeader(string(text))
	if err != nil {
		return h, formatErr(file, "%v", err)
	}
	count, ok := elements(h.dtype, h.dims)
	if !ok {
		return h, formatErr(file, "the shape of %s is beyond the limits (rank %d, %d bytes)", typeText(h.dtype, h.dims), types.MaxRank, int64(MaxBytes))
	}
	h.bytes = count * int64(h.dtype.Size())
	if have := size - start; have != h.bytes {
		return h, formatErr(file, "%s needs %d bytes of data, the file has %d", typeText(h.dtype, h.dims), h.bytes, have)
	}
	return h, nil
}

func readNpy(file string, r io.Reader, size int64, want *types.Type) (Tensor, error) {
	h, err := readHeader(file, r, size)
	if err != nil {
		return Tensor{}, err
	}
	if err := check(file, h.dtype, h.dims, want); err != nil {
		return Tensor{}, err
	}
	data, err := readFull(file, r, h.bytes)
	if err != nil {
		return Tensor{}, err
	}
	if h.swap {
		for w, i := h.dtype.Size(), 0; i < len(data); i += w {
			slices.Reverse(data[i : i+w])
		}
	}
	if h.fortran && len(h.dims) > 1 {
		data = fromFortran(data, h.dims, h.dtype.Size())
	}
	return Tensor{h.dtype, h.dims, data}, nil
}

// fromFortran reorders column-major elements to row-major ones.
func fromFortran(data []byte, dims []int64, w int) []byte {
	out := make([]byte, len(data))
	stride := make([]int64, len(dims))
	s := int64(w)
	for i, n := range dims {
		stride[i] = s
		s *= n
	}
	index := make([]int64, len(dims))
	for at, from := 0, int64(0); at < len(out); at += w {
		copy(out[at:at+w], data[from:])
		for k := len(dims) - 1; k >= 0; k-- {
			index[k]++
			from += stride[k]
			if index[k] < dims[k] {
				break
			}
			from -= stride[k] * dims[k]
			index[k] = 0
		}
	}
	return out
}

// parseHeader reads the dictionary literal: exactly three known keys, in any
// order. It is no Python parser: strings, booleans and one tuple of integers.
func parseHeader(text string) (npyHeader, error) {
	var h npyHeader
	s := strings.TrimSpace(text)
	inner, open := strings.CutPrefix(s, "{")
	inner, ok := strings.CutSuffix(inner, "}")
	if !open || !ok {
		return h, fmt.Errorf("the header is no dictionary")
	}
	seen := map[string]bool{}
	for rest := strings.TrimSpace(inner); rest != ""; {
		key, after, err := quoted(rest)
		if err != nil {
			return h, err
		}
		after, ok := strings.CutPrefix(strings.TrimSpace(after), ":")
		if !ok || seen[key] {
			return h, fmt.Errorf("the header's key %q is malformed or repeated", key)
		}
		seen[key] = true
		after = strings.TrimSpace(after)
		switch key {
		case "descr":
			after, err = h.parseDescr(after)
		case "fortran_order":
			if rest, ok := strings.CutPrefix(after, "True"); ok {
				h.fortran, after = true, rest
			} else if after, ok = strings.CutPrefix(after, "False"); !ok {
				err = fmt.Errorf("fortran_order is neither True nor False")
			}
		case "shape":
			after, err = h.parseShape(after)
		default:
			err = fmt.Errorf("the header has an unknown key %q", key)
		}
		if err != nil {
			return h, err
		}
		rest = strings.TrimSpace(after)
		if rest != "" {
			if rest, ok = strings.CutPrefix(rest, ","); !ok {
				return h, fmt.Errorf("the header has no comma after %q", key)
			}
			rest = strings.TrimSpace(rest)
		}
	}
	if len(seen) != 3 {
		return h, fmt.Errorf("the header lacks descr, fortran_order or shape")
	}
	return h, nil
}

func quoted(s string) (value, rest string, err error) {
	if s == "" || (s[0] != '\'' && s[0] != '"') {
		return "", "", fmt.Errorf("the header has %.10q where a string belongs", s)
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 {
		return "", "", fmt.Errorf("the header has a string without an end")
	}
	return s[1 : 1+end], s[2+end:], nil
}

func (h *npyHeader) parseDescr(s string) (rest string, err error) {
	if strings.HasPrefix(s, "[") {
		return "", fmt.Errorf("structured arrays are not supported: save one array per field")
	}
	d, rest, err := quoted(s)
	if err != nil {
		return "", err
	}
	little, swap := d, false
	if len(d) == 3 {
		switch {
		case d[0] == '>':
			little, swap = "<"+d[1:], true
		case d[0] == '=':
			little = "<" + d[1:]
		}
		if d[2] == '1' {
			little, swap = "|"+d[1:], false
		}
	}
	for _, row := range descrs {
		if row.descr == little {
			h.dtype, h.swap = row.dtype, swap
			return rest, nil
		}
	}
	return "", fmt.Errorf("numpy's type %q has no counterpart: bool, integers up to 64 bits, f16, f32 and f64 have", d)
}

func (h *npyHeader) parseShape(s string) (rest string, err error) {
	s, ok := strings.CutPrefix(s, "(")
	body, rest, ok2 := strings.Cut(s, ")")
	if !ok || !ok2 {
		return "", fmt.Errorf("the shape is no tuple")
	}
	h.dims = []int64{}
	for part := range strings.SplitSeq(body, ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), "L")
		if part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 {
			return "", fmt.Errorf("the shape has %.20q where a size belongs", part)
		}
		if h.dims = append(h.dims, n); len(h.dims) > types.MaxRank {
			return "", fmt.Errorf("the rank is more than %d", types.MaxRank)
		}
	}
	return rest, nil
}

// writeNpy writes version 1.0, byte for byte as numpy does.
func writeNpy(w io.Writer, t Tensor) error {
	head, err := npyHead(t)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	_, err = w.Write(t.Data)
	return err
}

func npyHead(t Tensor) (string, error) {
	descr := ""
	for _, row := range descrs {
		if row.dtype == t.DType {
			descr = row.descr
		}
	}
	if descr == "" {
		return "", fmt.Errorf("numpy has no type for %s", t.DType)
	}
	shape := ""
	for i, n := range t.Dims {
		if i > 0 {
			shape += ", "
		}
		shape += strconv.FormatInt(n, 10)
	}
	if len(t.Dims) == 1 {
		shape += ","
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	// numpy leaves room for the first dimension to grow to 20 digits in place.
	if len(t.Dims) > 0 {
		dict += strings.Repeat(" ", 21-len(strconv.FormatInt(t.Dims[0], 10)))
	}
	pad := 64 - (10+len(dict)+1)%64
	dict += strings.Repeat(" ", pad) + "\n"
	length := string([]byte{byte(len(dict)), byte(len(dict) >> 8)})
	return npyMagic + "\x01\x00" + length + dict, nil
}
