package digest

import (
	"bytes"
	"testing"
)

func TestTags(t *testing.T) {
	seen := map[[16]byte]bool{}
	for _, d := range Domains() {
		tag := d.Tag()
		if seen[tag] || !bytes.HasPrefix(tag[:], []byte("KERA:"+string(d)+":1")) {
			t.Errorf("%s has tag %q", d, tag)
		}
		seen[tag] = true
	}
	if Of(Node, []byte("ab"), []byte("c")) != Of(Node, []byte("abc")) || Of(Node) == Of(Region) {
		t.Error("a digest depends on the parts, or not on the domain")
	}
}

// TestRoot compares with the definition written down once more.
func TestRoot(t *testing.T) {
	plain := func(b []byte) D {
		var level []D
		for i := 0; i == 0 || i*ChunkSize < len(b); i++ {
			idx := [8]byte{byte(i)}
			level = append(level, Of(Leaf, idx[:], b[i*ChunkSize:min((i+1)*ChunkSize, len(b))]))
		}
		for len(level) > 1 {
			var up []D
			for ; len(level) > 1; level = level[2:] {
				up = append(up, Of(Parent, level[0][:], level[1][:]))
			}
			level = append(up, level...)
		}
		return level[0]
	}
	b := make([]byte, 5*ChunkSize+3)
	for i := range b {
		b[i] = byte(i * i >> 7)
	}
	for _, n := range []int{0, 1, ChunkSize - 1, ChunkSize, ChunkSize + 1, 3 * ChunkSize, len(b)} {
		if Root(b[:n]) != plain(b[:n]) {
			t.Errorf("the root of %d bytes differs", n)
		}
	}
}

func TestParse(t *testing.T) {
	d := Plain([]byte("x"))
	if p, err := Parse(d.String()); err != nil || p != d {
		t.Error(p, err)
	}
	for _, s := range []string{"", "00", d.String() + "00", "zz" + d.String()[2:]} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}
