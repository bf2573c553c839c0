package keg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
)

// TestGolden: committed files stay readable, describe the graphs they were made
// of, and are rewritten byte for byte.
func TestGolden(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join("testdata", s.name+".keg")
			made := s.make(t)
			if os.Getenv("KERA_UPDATE") != "" {
				if err := WriteFile(path, made, WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			o, err := Open(path, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			if b := encoded(t, o.File); !bytes.Equal(b, o.Data) {
				t.Error("the file is not rewritten byte for byte")
			}
			if b := encoded(t, made); !bytes.Equal(b, o.Data) {
				t.Error("the same content gives other bytes than the committed file")
			}
			want, err1 := made.Graph.Fingerprint()
			got, err2 := o.Graph.Fingerprint()
			head, err3 := Fingerprint(o.Data)
			if want != got || want != head || err1 != nil || err2 != nil || err3 != nil {
				t.Errorf("fingerprints %v, %v, %v (%v, %v, %v)", want, got, head, err1, err2, err3)
			}
			if err := graph.VerifyDigests(o.Graph); err != nil {
				t.Error(err)
			}
		})
	}
}

func wantFormatError(t *testing.T, err error, what string) {
	t.Helper()
	var f *FormatError
	if !errors.As(err, &f) {
		t.Fatalf("%s: got %v, want a *FormatError", what, err)
	}
}

// TestTruncated: a file cut at any byte is refused.
func TestTruncated(t *testing.T) {
	for _, f := range []*File{tiny(t), full(t)} {
		b := encoded(t, f)
		for n := range b {
			_, err := Read(b[:n:n], ReadOptions{})
			wantFormatError(t, err, "cut")
		}
	}
}

// TestFlipped: a file with any bit flipped is refused.
func TestFlipped(t *testing.T) {
	b := encoded(t, tiny(t))
	for bit := range 8 * len(b) {
		b[bit/8] ^= 1 << (bit % 8)
		_, err := Read(b, ReadOptions{})
		wantFormatError(t, err, "flipped")
		b[bit/8] ^= 1 << (bit % 8)
	}
	if _, err := Read(b, ReadOptions{}); err != nil {
		t.Fatal(err)
	}
	b = encoded(t, full(t))
	for bit := 0; bit < 8*len(b); bit += 61 {
		b[bit/8] ^= 1 << (bit % 8)
		_, err := Read(b, ReadOptions{})
		wantFormatError(t, err, "flipped")
		b[bit/8] ^= 1 << (bit % 8)
	}
}

// TestRefused: what a writer must not write, and a reader must not take.
func TestRefused(t *testing.T) {
	change := func(do func(f *File)) *File {
		f := full(t)
		do(f)
		return f
	}
	for name, f := range map[string]*File{
		"required unknown section": change(func(f *File) { f.Unknown[0].Flags = FlagRequired }),
		"known kind as unknown":    change(func(f *File) { f.Unknown[0].Kind = KindPlan }),
		"two equal targets":        change(func(f *File) { f.Targets[1] = f.Targets[0] }),
		"name that is not text":    change(func(f *File) { f.Graph.Exports[0].Params[0].Name = "\xff" }),
		"missing blob": change(func(f *File) {
			f.Graph.Exports[0].Bound = []graph.Bound{{Type: f.Graph.Exports[0].Bound[0].Type, Blob: digest.Plain(nil)}}
		}),
	} {
		if _, err := Encode(f, WriteOptions{}); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	b := encoded(t, full(t))
	for i := range 11 {
		row := b[headerSize+entrySize*i:]
		if binary.LittleEndian.Uint32(row) == 40 {
			row[4] |= byte(FlagRequired)
		}
	}
	reseal(b)
	_, err := Read(b, ReadOptions{})
	wantFormatError(t, err, "required unknown section")
	if !strings.Contains(err.Error(), "requires") {
		t.Error(err)
	}
}

// TestMemory: reading allocates a small multiple of the file.
func TestMemory(t *testing.T) {
	b := encoded(t, &File{Graph: wide(20000)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Read(b, ReadOptions{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*uint64(len(b)) {
		t.Errorf("%d bytes allocated to read %d", n, len(b))
	}
}

// TestReplace: adding a target keeps every other section.
func TestReplace(t *testing.T) {
	f := full(t)
	all := encoded(t, f)
	last := f.Targets[1]
	f.Targets = f.Targets[:1]
	less := encoded(t, f)
	got, err := Replace(less, last)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, all) {
		t.Error("adding the target gives another file than writing both")
	}
	again, err := Replace(got, last)
	if err != nil || !bytes.Equal(again, all) {
		t.Errorf("replacing a target by itself changes the file (%v)", err)
	}
}

// TestInsertionOrder: what else the store holds, and in which order it was
// inserted, leaves the bytes alone.
func TestInsertionOrder(t *testing.T) {
	for _, s := range samples {
		f := s.make(t)
		f.Graph.Prov = graph.Prov{}
		want := encoded(t, f)
		h := graph.New()
		b := graph.B{Store: h.Store}
		b.F64(12345)
		graph.CopyBlobs(h.Store, f.Graph.Store)
		w := &graph.Rewriter{Src: f.Graph.Store, Dst: h.Store}
		h.Exports = append(h.Exports, f.Graph.Exports...)
		for i := len(h.Exports) - 1; i >= 0; i-- {
			x := &h.Exports[i]
			var err1, err2 error
			if x.Optimised != graph.None {
				x.Optimised, err1 = w.Region(x.Optimised)
			}
			x.Region, err2 = w.Region(x.Region)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
		}
		h.Prov = graph.Prov{}
		f.Graph = h
		if got := encoded(t, f); !bytes.Equal(got, want) {
			t.Errorf("%s: another insertion order gives other bytes", s.name)
		}
	}
}
