package wire

import (
	"bytes"
	"io"
	"reflect"
	"testing"
)

var call = &Call{Module: 3, Work: 128, WorkAlign: 64, Threads: 2, Repeat: 1,
	Phases: []Phase{{Offset: 64, Tiles: 9}, {Offset: 128, Tiles: 1, HasLoop: true, Cond: 8, Back: 1}}, In: []uint64{1, 2}, Out: []uint64{5}}

func TestCallRoundTrip(t *testing.T) {
	b := call.Encode()
	got, err := DecodeCall(b)
	if err != nil || !reflect.DeepEqual(got, call) {
		t.Errorf("%+v, %v", got, err)
	}
	for n := range b {
		if _, err := DecodeCall(b[:n]); err == nil {
			t.Errorf("accepted %d of %d bytes", n, len(b))
		}
	}
	if _, err := DecodeCall(append(b, 0)); err == nil {
		t.Error("accepted a trailing byte")
	}
}

func TestResultRoundTrip(t *testing.T) {
	r := &Result{Trap: 2, Signal: 11, Offset: 77, Addr: 5, Tile: 3, Phase: 1, Nanoseconds: 99}
	got, err := DecodeResult(r.Encode())
	if err != nil || *got != *r {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	if err := WriteFrame(&b, OpLoad, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	op, p, err := ReadFrame(bytes.NewReader(b.Bytes()))
	if err != nil || op != OpLoad || string(p) != "abc" {
		t.Errorf("%v %q %v", op, p, err)
	}
	if _, _, err := ReadFrame(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("empty input: %v", err)
	}
	for _, bad := range []string{"\x03\x00\x00\x00abc", "\xff\xff\xff\xff", b.String()[:9]} {
		if _, _, err := ReadFrame(bytes.NewReader([]byte(bad))); err == nil || err == io.EOF {
			t.Errorf("frame %q: %v", bad, err)
		}
	}
}

// FuzzDecodeCall: no input panics or asks for much memory, and what is
// accepted has one spelling.
func FuzzDecodeCall(f *testing.F) {
	f.Add(call.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := DecodeCall(b); err == nil {
			again, err := DecodeCall(c.Encode())
			if err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("%+v, %v", again, err)
			}
		}
	})
}
