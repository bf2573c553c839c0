package tensorio

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kera-lang/kera/core/types"
)

// maxTextBytes bounds a .json or .csv file: their cells take several times the
// room of the text while they are read.
const maxTextBytes = 1 << 28

// cells is a text file before its numbers have a type.
type cells struct {
	dims []int64
	text []string
}

func parseText(file string, r io.Reader) (cells, error) {
	limited := &io.LimitedReader{R: r, N: maxTextBytes + 1}
	var c cells
	var err error
	if extension(file) == ".json" {
		c, err = parseJSON(file, limited)
	} else {
		c, err = parseCSV(file, limited)
	}
	if limited.N <= 0 {
		return c, formatErr(file, "more than %d bytes of text: use .npy", maxTextBytes)
	}
	return c, err
}

func readText(file string, r io.Reader, want *types.Type) (Tensor, error) {
	c, err := parseText(file, r)
	if err != nil {
		return Tensor{}, err
	}
	d, dims := types.F64, c.dims
	if want != nil {
		if !want.IsTensor() || !want.Static() {
			return Tensor{}, &MismatchError{file, shapeText(c.dims), TypeText(*want)}
		}
		d = want.DType
		if !fits(c, want.Shape(), extension(file)) {
			return Tensor{}, &MismatchError{file, "the shape " + shapeText(c.dims), TypeText(*want)}
		}
		dims = want.Shape()
	}
	t := Tensor{d, dims, make([]byte, len(c.text)*d.Size())}
	for i, s := range c.text {
		if err := putCell(t.Data[i*d.Size():], d, s); err != nil {
			return Tensor{}, formatErr(file, "element %s: %v", indexText(dims, i), err)
		}
	}
	return t, nil
}

// fits compares shapes. Nested lists cannot show what lies behind a size of zero,
// and a .csv file cannot tell a column, a row and a list apart.
func fits(c cells, want []int64, ext string) bool {
	if slices.Equal(c.dims, want) {
		return true
	}
	n, ok := elements(types.I8, want)
	if !ok || n != int64(len(c.text)) {
		return false
	}
	if n == 0 {
		return ext == ".csv" || len(c.dims) <= len(want) && slices.Equal(c.dims, want[:len(c.dims)])
	}
	return ext == ".csv" && len(want) <= 1 && len(c.dims) == 2 && (c.dims[0] == 1 || c.dims[1] == 1)
}

func shapeText(dims []int64) string {
	parts := make([]string, len(dims))
	for i, n := range dims {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func indexText(dims []int64, i int) string {
	at := make([]int64, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k] = int64(i) % dims[k]
		i /= int(dims[k])
	}
	return shapeText(at)
}

// parseJSON reads nested lists of equal length. It keeps numbers as written.
func parseJSON(file string, r io.Reader) (cells, error) {
	var c cells
	dec := json.NewDecoder(bufio.NewReader(r))
	dec.UseNumber()
	counts := []int64{} // elements so far in each open list
	known := []bool{}   // whether dims[depth] was set by a closed list
	leaf := -1          // depth of the numbers, -1 while none was seen
	bad := func(format string, args ...any) (cells, error) {
		return c, formatErr(file, "before byte %d: %s", dec.InputOffset(), fmt.Sprintf(format, args...))
	}
	for {
		tok, err := dec.Token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the text ends inside a list")
				if len(counts) == 0 {
					return c, formatErr(file, "the file is empty")
				}
			}
			return bad("%v", err)
		}
		depth := len(counts)
		text := ""
		switch v := tok.(type) {
		case json.Delim:
			switch v {
			case '[':
				if depth == types.MaxRank {
					return bad("lists nested deeper than %d", types.MaxRank)
				}
				if depth > 0 {
					counts[depth-1]++
				}
				if counts = append(counts, 0); len(c.dims) < depth+1 {
					if leaf >= 0 {
						return bad("a list where a number belongs")
					}
					c.dims, known = append(c.dims, 0), append(known, false)
				}
			case ']':
				if known[depth-1] && c.dims[depth-1] != counts[depth-1] {
					return bad("a list of %d elements beside one of %d", counts[depth-1], c.dims[depth-1])
				}
				if leaf >= 0 && leaf != len(c.dims) {
					return bad("lists of different depth")
				}
				c.dims[depth-1], known[depth-1] = counts[depth-1], true
				counts = counts[:depth-1]
			default:
				return bad("an object; a tensor is nested lists of numbers")
			}
		case json.Number:
			text = v.String()
		case string:
			text = v
			if v != "NaN" && v != "Infinity" && v != "-Infinity" {
				return bad("the string %.20q; only \"NaN\", \"Infinity\" and \"-Infinity\" stand for numbers", v)
			}
		case bool:
			text = strconv.FormatBool(v)
		default:
			return bad("null is no number")
		}
		if text != "" {
			if depth != len(c.dims) {
				return bad("a number where a list belongs")
			}
			leaf = depth
			if depth > 0 {
				counts[depth-1]++
			}
			c.text = append(c.text, text)
		}
		if len(counts) == 0 {
			break
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bad("more text after the value")
	}
	return c, nil
}

// parseCSV reads rows of cells. A first row without a single number is a heading.
func parseCSV(file string, r io.Reader) (cells, error) {
	var c cells
	rd := csv.NewReader(bufio.NewReader(r))
	rd.TrimLeadingSpace, rd.ReuseRecord = true, true
	rows, columns := int64(0), int64(0)
	for first := true; ; first = false {
		row, err := rd.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return c, formatErr(file, "%v", err)
		}
		if first && !slices.ContainsFunc(row, isCell) {
			continue
		}
		for i, s := range row {
			s = strings.TrimSpace(s)
			if !isCell(s) {
				line, col := rd.FieldPos(i)
				return c, formatErr(file, "line %d, column %d: %.20q is no number", line, col, s)
			}
			c.text = append(c.text, strings.Clone(s))
		}
		rows, columns = rows+1, int64(len(row))
	}
	c.dims = []int64{rows, columns}
	return c, nil
}

func isCell(s string) bool {
	s = strings.TrimSpace(s)
	if s == "true" || s == "false" {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// putCell converts one number, exactly for integers and with one rounding for
// floats.
func putCell(dst []byte, d types.DType, s string) error {
	le := binary.LittleEndian
	switch d.Class() {
	case types.ClassBool:
		switch s {
		case "false":
			dst[0] = 0
		case "true":
			dst[0] = 1
		default:
			return fmt.Errorf("%.40s is no bool: write true or false", s)
		}
		return nil
	case types.ClassSigned, types.ClassUnsigned:
		return putInt(dst, d, s)
	case types.ClassFloat:
		if strings.ContainsAny(s, "xX_") {
			return fmt.Errorf("%.40s is no decimal number", s)
		}
		v, err := strconv.ParseFloat(s, d.Bits())
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("%.40s rounds to infinity as %s", s, d)
		case err != nil:
			return fmt.Errorf("%.40s is no number", s)
		case d == types.F32:
			le.PutUint32(dst, math.Float32bits(float32(v)))
		default:
			le.PutUint64(dst, math.Float64bits(v))
		}
		return nil
	}
	return fmt.Errorf("%s cannot be read from text: use .npy", d)
}

func putInt(dst []byte, d types.DType, s string) error {
	var bits uint64
	var err error
	if d.IsSigned() {
		var v int64
		v, err = strconv.ParseInt(s, 10, d.Bits())
		bits = uint64(v)
	} else {
		bits, err = strconv.ParseUint(s, 10, d.Bits())
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%.40s is out of the range of %s", s, d)
	case err != nil:
		return fmt.Errorf("%.40s is no %s", s, d)
	}
	for i := range d.Size() {
		dst[i] = byte(bits >> (8 * i))
	}
	return nil
}

// CellText is one element as text: decimal, exact, "NaN", "Infinity" or
// "-Infinity" for floats that have no number.
func CellText(t Tensor, i int) string {
	w := t.DType.Size()
	b := t.Data[i*w : i*w+w]
	var bits uint64
	for k := range w {
		bits |= uint64(b[k]) << (8 * k)
	}
	switch {
	case t.DType == types.Bool:
		return strconv.FormatBool(bits != 0)
	case t.DType.IsSigned():
		shift := 64 - t.DType.Bits()
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	case t.DType.IsInt():
		return strconv.FormatUint(bits, 10)
	case t.DType == types.F32:
		return floatText(float64(math.Float32frombits(uint32(bits))), 32)
	case t.DType == types.F64:
		return floatText(math.Float64frombits(bits), 64)
	}
	return fmt.Sprintf("0x%0*x", 2*w, bits)
}

func floatText(v float64, size int) string {
	switch {
	case v != v:
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(v, 'e', -1, size)
	}
	return strconv.FormatFloat(v, 'f', -1, size)
}

func quoteCell(s string) string {
	if c := s[len(s)-1]; c == 'N' || c == 'y' {
		return `"` + s + `"`
	}
	return s
}
