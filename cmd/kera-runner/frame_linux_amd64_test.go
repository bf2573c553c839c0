package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestFrameOffsets compares the offsets that the assembly uses with the type.
func TestFrameOffsets(t *testing.T) {
	var f frame
	src, err := os.ReadFile("call_linux_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	for name, off := range map[string]uintptr{
		"fn": unsafe.Offsetof(f.fn), "in": unsafe.Offsetof(f.in), "out": unsafe.Offsetof(f.out),
		"work": unsafe.Offsetof(f.work), "tile": unsafe.Offsetof(f.tile), "stack": unsafe.Offsetof(f.stack),
		"sp": unsafe.Offsetof(f.sp), "bp": unsafe.Offsetof(f.bp), "mxcsr": unsafe.Offsetof(f.mxcsr),
		"newcsr": unsafe.Offsetof(f.newcsr), "ret": unsafe.Offsetof(f.ret), "sig": unsafe.Offsetof(f.sig),
		"rip": unsafe.Offsetof(f.rip), "addr": unsafe.Offsetof(f.addr),
	} {
		if line := fmt.Sprintf("#define f_%s %d\n", name, off); !strings.Contains(string(src), line) {
			t.Errorf("the assembly lacks %q", line)
		}
	}
	if !strings.Contains(string(src), fmt.Sprintf("$%#x,", stackSlot-1)) {
		t.Errorf("the assembly does not know the stack slot size %#x", stackSlot)
	}
}
