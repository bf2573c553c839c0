package section

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/types"
)

var update = flag.Bool("update", false, "rewrite golden files")

func sample() *Descriptor {
	return &Descriptor{
		Triple:   "x86_64-linux",
		Features: []string{"avx2", "fma"},
		Kind:     KindCode,
		Plugin:   Plugin{Name: "x86", Version: "0.1.0", Binary: digest.Plain([]byte("bin")), ProtocolMajor: 1},
		Options:  []Option{{"unroll", "4"}},
		Entries: []Entry{{
			Name:      "main",
			Region:    digest.Plain([]byte("region")),
			Inputs:    []Buffer{{types.F32, []int64{4, 8}, 64}, {types.Bool, nil, 1}},
			Outputs:   []Buffer{{types.I64, []int64{3}, 64}},
			Work:      128,
			WorkAlign: 64,
			Phases:    []Phase{{Symbol: "p0", Offset: 0, Tiles: 4}, {Symbol: "p1", Offset: 32, Tiles: 1, Loop: &Loop{Cond: 8, Back: 0}}},
		}},
		Nodes:    []digest.D{digest.Plain([]byte("a")), digest.Plain([]byte("b"))},
		CodeMap:  []CodeMapEntry{{0, 1}, {16, 0}},
		Folded:   []uint32{1},
		Estimate: &Estimate{Min: 1, Typ: 2, Max: 3, Confidence: 0.5, Resources: []Resource{{"dsp", 7}}},
		Extra:    []Record{{99, []byte("later")}},
	}
}

func marshal(t testing.TB, d *Descriptor) []byte {
	t.Helper()
	b, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	for _, d := range []*Descriptor{sample(), {Triple: "wasm32", Kind: KindWasm}} {
		b := marshal(t, d)
		got, err := Unmarshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, d) {
			t.Errorf("got %+v, want %+v", got, d)
		}
	}
}

// TestGolden pins the bytes: what is written today must stay readable.
func TestGolden(t *testing.T) {
	const file = "testdata/descriptor.hex"
	b := marshal(t, sample())
	if *update || os.Getenv("KERA_UPDATE") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(hex.EncodeToString(b)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b); got != strings.TrimSpace(string(want)) {
		t.Errorf("encoding changed:\n got %s\nwant %s", got, want)
	}
}

func TestTruncationAndTrailing(t *testing.T) {
	d := sample()
	d.Extra = nil
	b := marshal(t, d)
	for n := range b {
		got, err := Unmarshal(b[:n])
		if err == nil {
			// A cut at a record border is a shorter descriptor; it must be one in full.
			if !bytes.Equal(marshal(t, got), b[:n]) {
				t.Errorf("cut at %d accepted as something else", n)
			}
			continue
		}
		var fe *FormatError
		if !errors.As(err, &fe) || fe.Offset > n {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	if _, err := Unmarshal(append(b, 0)); err == nil {
		t.Error("trailing byte accepted")
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		edit func(*Descriptor)
	}{
		{"empty triple", func(d *Descriptor) { d.Triple = "" }},
		{"does not sort after", func(d *Descriptor) { d.Features = []string{"fma", "avx2"} }},
		{"does not sort after", func(d *Descriptor) { d.Entries = append(d.Entries, d.Entries[0]) }},
		{"not text", func(d *Descriptor) { d.Plugin.Name = "a\x00b" }},
		{"alignment 3", func(d *Descriptor) { d.Entries[0].WorkAlign = 3 }},
		{"no phases", func(d *Descriptor) { d.Entries[0].Phases = nil }},
		{"goes forward", func(d *Descriptor) { d.Entries[0].Phases[1].Loop.Back = 2 }},
		{"loop condition at 126", func(d *Descriptor) { d.Entries[0].Phases[1].Loop.Cond = 126 }},
		{"negative dimension", func(d *Descriptor) { d.Entries[0].Inputs[0].Dims[0] = -1 }},
		{"unknown dtype", func(d *Descriptor) { d.Entries[0].Inputs[0].DType = 200 }},
		{"exceeds", func(d *Descriptor) { d.Entries[0].Inputs[0].Dims[0] = 1 << 50 }},
		{"node 2 of 2", func(d *Descriptor) { d.CodeMap[0].Node = 2 }},
		{"offset 0 follows 0", func(d *Descriptor) { d.CodeMap[1].Offset = 0 }},
		{"not in order", func(d *Descriptor) { d.Estimate.Min = 9 }},
		{"outside 0..1", func(d *Descriptor) { d.Estimate.Confidence = 2 }},
		{"out of order", func(d *Descriptor) { d.Extra[0].Tag = 1 }},
	} {
		d := sample()
		c.edit(d)
		if _, err := d.Marshal(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestPayload(t *testing.T) {
	art := bytes.Repeat([]byte{0x90}, 40)
	p, err := Pack(sample(), art)
	if err != nil {
		t.Fatal(err)
	}
	d, got, err := Open(p)
	if err != nil || !bytes.Equal(got, art) || !reflect.DeepEqual(d, sample()) {
		t.Fatalf("Open: %v", err)
	}
	if (len(p)-len(art))%PageSize != 0 {
		t.Errorf("artifact at %d, not on a page", len(p)-len(art))
	}
	for n := range p {
		if _, _, err := Open(p[:n]); err == nil {
			t.Fatalf("payload cut at %d accepted", n)
		}
	}
	p[len(p)-len(art)-1] = 1
	if _, _, err := Open(p); err == nil {
		t.Error("dirty padding accepted")
	}
	if _, err := Pack(sample(), art[:16]); err == nil {
		t.Error("phase outside the artifact accepted")
	}
}

func TestNodeAt(t *testing.T) {
	d := sample()
	for off, want := range map[uint64]digest.D{0: d.Nodes[1], 15: d.Nodes[1], 16: d.Nodes[0], 999: d.Nodes[0]} {
		if got, ok := d.NodeAt(off); !ok || got != want {
			t.Errorf("NodeAt(%d) = %v, %v", off, got, ok)
		}
	}
	d.CodeMap[0].Offset = 4
	if _, ok := d.NodeAt(3); ok {
		t.Error("NodeAt before the first entry found a node")
	}
}

// FuzzUnmarshal: no input panics, and what is accepted is the one encoding.
func FuzzUnmarshal(f *testing.F) {
	f.Add(marshal(f, sample()))
	p, err := Pack(sample(), make([]byte, 64))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p)
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := Unmarshal(b); err == nil && !bytes.Equal(marshal(t, d), b) {
			t.Error("accepted a second spelling")
		}
		if d, art, err := Open(b); err == nil {
			again, err := Pack(d, art)
			if err != nil || !bytes.Equal(again, b) {
				t.Errorf("payload does not round trip: %v", err)
			}
		}
	})
}
