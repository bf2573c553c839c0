package asm

import (
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"
)

// TestJumps checks relaxation: a short and a long loop, a forward branch
// across padding, and a call.
func TestJumps(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("not checked: objdump is not installed")
	}
	tab := Instructions()
	b := NewBuffer()
	top, out, far := b.NewLabel(), b.NewLabel(), b.NewLabel()
	nop := tab.Get("xor r64,r64")
	b.Emit(tab.Get("je rel"), 0, L(far))
	b.Align(32)
	b.Bind(top)
	b.Emit(nop, 0, R(RAX), R(RAX))
	b.Emit(tab.Get("jne rel"), 0, L(top))
	b.Emit(tab.Get("jmp rel"), 0, L(out))
	for i := 0; i < 60; i++ {
		b.Emit(nop, 0, R(RAX), R(RAX))
	}
	b.Bind(out)
	b.Emit(tab.Get("call rel"), 0, L(top))
	b.Bind(far)
	b.Emit(tab.Get("ret"), 0)
	c := b.Finish()
	lines := strings.Join(disassemble(t, objdump, c.Bytes), "\n")
	for _, w := range []string{"je     0xe3", "jne    0x20", "jmp    0xde", "call   0x20", "ret"} {
		if !strings.Contains(lines, w) {
			t.Errorf("no %q in\n%s", w, lines)
		}
	}
	if c.Offset(top) != 32 || c.Bytes[c.Offset(far)] != 0xC3 {
		t.Errorf("labels at %d and %d", c.Offset(top), c.Offset(far))
	}
}

func TestConstantsAndNodes(t *testing.T) {
	tab := Instructions()
	b := NewBuffer()
	one := b.Const([]byte{0, 0, 0x80, 0x3f})
	wide := b.Const(make([]byte, 32))
	if b.Const([]byte{0, 0, 0x80, 0x3f}) != one {
		t.Error("equal constants are not shared")
	}
	b.SetNode(3)
	b.Emit(tab.Get("vaddss x,x,m32"), 0, R(0), R(1), M(MemLabel(one)))
	b.SetNode(5)
	b.Emit(tab.Get("vpermilps y,m256,i"), 0, R(0), M(MemLabel(wide)), I(3))
	b.SetNode(5)
	b.Emit(tab.Get("ret"), 0)
	c := b.Finish()
	if c.Offset(one)%4 != 0 || c.Offset(wide)%32 != 0 || c.Offset(one) < c.Text {
		t.Errorf("constants at %d and %d after %d bytes of text", c.Offset(one), c.Offset(wide), c.Text)
	}
	// vaddss: C5 F2 58 05 disp32 (8 bytes); vpermilps: C4 E3 7D 04 05 disp32 ib (10 bytes).
	if d := int(int32(binary.LittleEndian.Uint32(c.Bytes[4:]))); 8+d != c.Offset(one) {
		t.Errorf("scalar constant: displacement %d", d)
	}
	if d := int(int32(binary.LittleEndian.Uint32(c.Bytes[13:]))); 18+d != c.Offset(wide) {
		t.Errorf("vector constant before an immediate: displacement %d", d)
	}
	want := []CodeNode{{0, 3}, {8, 5}}
	if len(c.Nodes) != 2 || c.Nodes[0] != want[0] || c.Nodes[1] != want[1] {
		t.Errorf("node map %v, want %v", c.Nodes, want)
	}
}

func TestTableIsComplete(t *testing.T) {
	for _, f := range Instructions().Forms {
		if f.Lat == 0 || f.Ports == 0 {
			t.Errorf("%s has no latency or ports", f.Key)
		}
		if f.kind == encVector && !f.hasVex && !f.hasEvex {
			t.Errorf("%s has no encoding", f.Key)
		}
	}
}
