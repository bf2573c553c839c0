package keg

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

// reseal makes the file length, the section digests and the header digest of b
// right as far as its table can be followed, so that what lies behind them is
// reached by a changed file.
func reseal(b []byte) {
	if len(b) < headerSize {
		return
	}
	le := binary.LittleEndian
	le.PutUint64(b[16:], uint64(len(b)))
	n := min(uint64(le.Uint32(b[8:])), uint64(len(b)-headerSize)/entrySize)
	for i := range n {
		row := b[headerSize+entrySize*i:]
		kind, at, size := le.Uint32(row), le.Uint64(row[8:]), le.Uint64(row[16:])
		if at > uint64(len(b)) || size > uint64(len(b))-at {
			continue
		}
		s := b[at : at+size]
		var d digest.D
		switch {
		case kind == KindBlobs && len(s) >= 8 && uint64(le.Uint32(s)) <= uint64(len(s)-8)/48:
			var list []digest.D
			head := s[:blobHead(uint64(le.Uint32(s)))]
			for k := 8; k < len(head); k += 48 {
				list = append(list, digest.D(head[k:k+32]))
			}
			d = blobsDigest(head, list)
		case kind >= KindTarget:
			d = digest.OfBlob(s)
		default:
			d = digest.Plain(s)
		}
		copy(row[24:], d[:])
	}
	end := headerSize + entrySize*n
	clear(b[digestAt : digestAt+digest.Size])
	d := digest.Plain(b[:end])
	copy(b[digestAt:], d[:])
}

var statedDigest = regexp.MustCompile(`has (?:digest )?([0-9a-f]{64})$`)

// readSealed reseals b and reads it; where the reader names the digest it would
// accept, that digest is put in and b read again.
func readSealed(b []byte) (*File, error) {
	for {
		reseal(b)
		f, err := Read(b, ReadOptions{})
		var fe *FormatError
		if !errors.As(err, &fe) {
			return f, err
		}
		m := statedDigest.FindStringSubmatch(fe.Reason)
		if m == nil || fe.Offset+digest.Size > int64(len(b)) {
			return nil, err
		}
		want, _ := hex.DecodeString(m[1])
		at := b[fe.Offset : fe.Offset+digest.Size]
		if bytes.Equal(at, want) {
			return nil, err
		}
		copy(at, want)
	}
}

// FuzzRead: whatever the bytes, reading does not panic and fails with a
// *FormatError or gives a file that is written back to the same bytes.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.keg"))
	if err != nil || len(paths) == 0 {
		f.Fatal("no golden files", err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func([]byte) (*File, error){func(b []byte) (*File, error) { return Read(b, ReadOptions{}) }, readSealed} {
			b := bytes.Clone(b)
			file, err := read(b)
			if err != nil {
				var fe *FormatError
				if !errors.As(err, &fe) {
					t.Fatalf("%T: %v", err, err)
				}
				if fe.Offset < 0 || fe.Offset > int64(len(b)) {
					t.Fatalf("offset %d of %d: %v", fe.Offset, len(b), err)
				}
				continue
			}
			out, err := Encode(file, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out, b) {
				t.Fatal("accepted, but written back as other bytes")
			}
			if err := graph.VerifyDigests(file.Graph); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSealedFlips: with every digest made right again, a file with any bit
// flipped is refused, or is the canonical file of another graph.
func TestSealedFlips(t *testing.T) {
	for _, s := range samples {
		orig := encoded(t, s.make(t))
		if len(orig) > 4096 {
			continue
		}
		accepted := 0
		stride := 1 // every bit of the smallest file, a sample of the others
		if s.name != "tiny" {
			stride = 5
		}
		for bit := 0; bit < 8*len(orig); bit += stride {
			b := bytes.Clone(orig)
			b[bit/8] ^= 1 << (bit % 8)
			f, err := readSealed(b)
			if err != nil {
				wantFormatError(t, err, "flipped")
				continue
			}
			accepted++
			if out := encoded(t, f); !bytes.Equal(out, b) {
				t.Fatalf("%s: bit %d flipped: accepted, but written back as other bytes", s.name, bit)
			}
		}
		t.Logf("%s: %d of %d flips make another graph", s.name, accepted, 8*len(orig)/stride)
	}
}
