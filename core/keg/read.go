package keg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kera-lang/kera/core/digest"
)

// entry is a row of the section table with its bytes.
type entry struct {
	kind, flags uint32
	at          uint64
	b           []byte
	dig         digest.D
}

// parsed is a file whose header and section digests are right.
type parsed struct {
	minor       uint16
	fingerprint digest.D
	secs        []entry
}

// Read decodes a `.keg`. The result's blobs, targets and unknown sections
// alias b, which must not change. The error is a *FormatError.
func Read(b []byte, o ReadOptions) (*File, error) {
	p, err := parse(b)
	if err != nil {
		return nil, err
	}
	f, ferr := decode(p, o)
	if ferr != nil {
		return nil, ferr
	}
	return f, nil
}

// Fingerprint returns the graph fingerprint that the header states, after
// checking the header alone.
func Fingerprint(b []byte) (digest.D, error) {
	p, err := parseTable(b)
	if err != nil {
		return digest.D{}, err
	}
	return p.fingerprint, nil
}

func headerError(at int64, format string, args ...any) *FormatError {
	return &FormatError{Offset: at, Reason: fmt.Sprintf(format, args...)}
}

func parse(b []byte) (*parsed, error) {
	p, err := parseTable(b)
	if err != nil {
		return nil, err
	}
	if err := p.checkDigests(); err != nil {
		return nil, err
	}
	return p, nil
}

// parseTable checks the header, the table, the layout and the padding.
func parseTable(b []byte) (*parsed, error) {
	if len(b) < headerSize {
		return nil, headerError(int64(len(b)), "the file has %d bytes, a header %d", len(b), headerSize)
	}
	le := binary.LittleEndian
	if string(b[:4]) != "KEG\x00" {
		return nil, headerError(0, "not a .keg: it does not start with \"KEG\\0\"")
	}
	if major := le.Uint16(b[4:]); major != Major {
		return nil, headerError(4, "format version %d, this reads version %d", major, Major)
	}
	if le.Uint32(b[12:]) != 0 {
		return nil, headerError(12, "reserved bytes are not zero")
	}
	if le.Uint64(b[88:]) != 0 {
		return nil, headerError(88, "reserved bytes are not zero")
	}
	if n := le.Uint64(b[16:]); n != uint64(len(b)) {
		return nil, headerError(16, "the header states %d bytes, the file has %d", n, len(b))
	}
	count := uint64(le.Uint32(b[8:]))
	if count > uint64(len(b)-headerSize)/entrySize {
		return nil, headerError(8, "a table of %d sections does not fit the file", count)
	}
	tableEnd := headerSize + entrySize*count
	head := append([]byte(nil), b[:tableEnd]...)
	clear(head[digestAt : digestAt+digest.Size])
	if d := digest.Plain(head); !bytes.Equal(d[:], b[digestAt:digestAt+digest.Size]) {
		return nil, headerError(digestAt, "the digest of header and section table does not match")
	}
	p := &parsed{minor: le.Uint16(b[6:]), fingerprint: digest.D(b[24:56]), secs: make([]entry, count)}
	end := tableEnd
	for i := range p.secs {
		at := headerSize + entrySize*uint64(i)
		e := &p.secs[i]
		e.kind, e.flags, e.at = le.Uint32(b[at:]), le.Uint32(b[at+4:]), le.Uint64(b[at+8:])
		size := le.Uint64(b[at+16:])
		e.dig = digest.D(b[at+24 : at+56])
		if err := p.checkEntry(i, end, size, uint64(len(b))); err != nil {
			err.Offset = int64(at)
			return nil, err
		}
		for k := end; k < e.at; k++ {
			if b[k] != 0 {
				return nil, &FormatError{int64(k), e.kind, "padding is not zero"}
			}
		}
		end = e.at + size
		e.b = b[e.at:end:end]
	}
	if end != uint64(len(b)) {
		return nil, headerError(int64(end), "%d bytes after the last section", uint64(len(b))-end)
	}
	return p, nil
}

// checkEntry checks row i, which must start at the first aligned byte from end.
func (p *parsed) checkEntry(i int, end, size, fileLen uint64) *FormatError {
	e := &p.secs[i]
	bad := func(format string, args ...any) *FormatError {
		return &FormatError{Section: e.kind, Reason: fmt.Sprintf(format, args...)}
	}
	if e.kind == 0 || i > 0 && e.kind <= p.secs[i-1].kind {
		return bad("section kinds do not ascend")
	}
	if e.kind > KindTarget && p.secs[max(i-1, 0)].kind != e.kind-1 {
		return bad("target sections are not numbered without gaps")
	}
	known := e.kind <= KindPolicy || e.kind >= KindTarget
	if known && e.flags != flagsOf(e.kind) {
		return bad("flags are %d, not %d", e.flags, flagsOf(e.kind))
	}
	if !known && e.flags&FlagRequired != 0 {
		return bad("this version does not know a section kind that the file requires")
	}
	if want := alignUp(end, alignOf(e.kind)); e.at != want {
		return bad("section at %d, not at %d", e.at, want)
	}
	if e.at > fileLen || size > fileLen-e.at {
		return bad("%d bytes at %d in a file of %d", size, e.at, fileLen)
	}
	if size == 0 && known && e.kind >= KindBlobs {
		return bad("an empty section is left out")
	}
	return nil
}

// checkDigests checks the digest of every section, in parallel. Section 7's
// blobs are left to blobTable, which needs each blob's digest anyway.
func (p *parsed) checkDigests() error {
	ok := make([]bool, len(p.secs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(p.secs), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(p.secs); i = int(next.Add(1)) - 1 {
				e := &p.secs[i]
				switch {
				case e.kind == KindBlobs:
					ok[i] = true
				case e.kind >= KindTarget:
					ok[i] = digest.OfBlob(e.b) == e.dig
				default:
					ok[i] = digest.Plain(e.b) == e.dig
				}
			}
		})
	}
	wg.Wait()
	for i := range p.secs {
		if !ok[i] {
			return &FormatError{int64(p.secs[i].at), p.secs[i].kind, "the section's digest does not match"}
		}
	}
	return nil
}

// section returns the section of a kind, or nil.
func (p *parsed) section(kind uint32) *entry {
	for i := range p.secs {
		if p.secs[i].kind == kind {
			return &p.secs[i]
		}
	}
	return nil
}
