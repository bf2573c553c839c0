package section

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/types"
)

// FormatError says where an encoding is malformed and why.
type FormatError struct {
	Offset int
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("section: malformed at byte %d: %s", e.Offset, e.Reason)
}

// reader walks untrusted bytes. After the first failure every read gives zero.
type reader struct {
	b   []byte
	at  int
	err *FormatError
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &FormatError{r.at, fmt.Sprintf(format, args...)}
	}
}

func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b)-r.at {
		r.fail("%d bytes wanted, %d left", n, len(r.b)-r.at)
		return nil
	}
	s := r.b[r.at : r.at+n]
	r.at += n
	return s
}

func (r *reader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) str() string {
	n := r.u32()
	if n > maxString {
		r.fail("string of %d bytes", n)
		return ""
	}
	return string(r.take(int(n)))
}

func (r *reader) digest() (d digest.D) {
	copy(d[:], r.take(digest.Size))
	return d
}

// count reads a list length whose elements take at least each bytes, so that
// no length can ask for more memory than a small multiple of the input.
func (r *reader) count(each int) int {
	n := r.u32()
	if r.err == nil && int64(n)*int64(each) > int64(len(r.b)-r.at) {
		r.fail("list of %d elements in %d bytes", n, len(r.b)-r.at)
		return 0
	}
	return int(n)
}

// list reads a counted list; empty stays nil.
func list[T any](r *reader, each int, read func() T) []T {
	n := r.count(each)
	if n == 0 {
		return nil
	}
	out := make([]T, 0, n)
	for i := 0; i < n && r.err == nil; i++ {
		out = append(out, read())
	}
	return out
}

// Unmarshal decodes and checks a descriptor. The error is a *FormatError.
func Unmarshal(b []byte) (*Descriptor, error) {
	r := &reader{b: b}
	d := new(Descriptor)
	var last uint32
	for r.at < len(b) && r.err == nil {
		tag := r.u32()
		n := r.u32()
		if r.err == nil && tag <= last {
			r.fail("record %d follows record %d", tag, last)
		}
		last = tag
		start := r.at
		if int64(n) > int64(len(b)-start) {
			r.fail("record %d of %d bytes, %d left", tag, n, len(b)-start)
		}
		if r.err != nil {
			break
		}
		body := &reader{b: b[:start+int(n)], at: start}
		d.decodeRecord(body, tag)
		if body.err == nil && body.at != len(body.b) {
			body.fail("record %d has %d bytes too many", tag, len(body.b)-body.at)
		}
		r.err = body.err
		r.at = start + int(n)
	}
	if r.err == nil {
		// Without a target record the triple is empty and Check says so; a
		// missing plugin record would re-encode as one.
		if err := d.Check(); err != nil {
			r.fail("%v", err)
		} else if again, err := d.Marshal(); err != nil || string(again) != string(b) {
			r.fail("not the canonical encoding")
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return d, nil
}

func (d *Descriptor) decodeRecord(r *reader, tag uint32) {
	switch tag {
	case tagTarget:
		d.Triple = r.str()
		d.Kind = r.str()
		d.Features = list(r, 4, r.str)
	case tagPlugin:
		d.Plugin.Name = r.str()
		d.Plugin.Version = r.str()
		d.Plugin.Binary = r.digest()
		d.Plugin.ProtocolMajor = r.u32()
		d.Plugin.ProtocolMinor = r.u32()
	case tagOptions:
		d.Options = list(r, 8, func() Option { return Option{r.str(), r.str()} })
	case tagEntries:
		d.Entries = list(r, 60, r.entry)
	case tagNodes:
		d.Nodes = list(r, digest.Size, r.digest)
	case tagCodeMap:
		d.CodeMap = list(r, 12, func() CodeMapEntry { return CodeMapEntry{r.u64(), r.u32()} })
	case tagFolded:
		d.Folded = list(r, 4, r.u32)
	case tagEstimate:
		d.Estimate = &Estimate{Min: r.u64(), Typ: r.u64(), Max: r.u64(), Confidence: math.Float64frombits(r.u64())}
		d.Estimate.Resources = list(r, 12, func() Resource { return Resource{r.str(), r.u64()} })
	default:
		d.Extra = append(d.Extra, Record{tag, append([]byte(nil), r.take(len(r.b)-r.at)...)})
	}
}

func (r *reader) entry() Entry {
	e := Entry{Name: r.str(), Region: r.digest()}
	e.Inputs = list(r, 6, r.buffer)
	e.Outputs = list(r, 6, r.buffer)
	e.Work = r.u64()
	e.WorkAlign = r.u32()
	e.Phases = list(r, 21, r.phase)
	return e
}

func (r *reader) buffer() Buffer {
	b := Buffer{DType: types.DType(r.u8())}
	rank := int(r.u8())
	if rank > types.MaxRank {
		r.fail("rank %d exceeds %d", rank, types.MaxRank)
		return b
	}
	for i := 0; i < rank; i++ {
		b.Dims = append(b.Dims, int64(r.u64()))
	}
	b.Align = r.u32()
	return b
}

func (r *reader) phase() Phase {
	p := Phase{Symbol: r.str(), Offset: r.u64(), Tiles: r.u64()}
	switch r.u8() {
	case 0:
	case 1:
		p.Loop = &Loop{Cond: r.u64(), Back: r.u32()}
	default:
		r.fail("loop flag is neither 0 nor 1")
	}
	return p
}
