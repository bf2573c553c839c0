package asm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// extremes lists the register numbers worth testing for an operand.
func extremes(f *Form, o *Operand) []Reg {
	if o.Fixed != NoReg {
		return []Reg{o.Fixed}
	}
	switch o.Kind {
	case KGP:
		return []Reg{RAX, RCX, RSP, RBP, RSI, R8, R12, R13, R15}
	case KMask:
		return []Reg{0, 1, 7}
	}
	if f.NarrowRegs {
		return []Reg{0, 3, 7, 8, 15}
	}
	return []Reg{0, 7, 8, 15, 16, 24, 31}
}

func memExtremes(size uint8) []Mem {
	var out []Mem
	disps := []int32{0, 1, -1, 127, 128, -128, -129, 1<<31 - 1, -1 << 31,
		int32(size), 127 * int32(size), 128 * int32(size), -128 * int32(size), -129 * int32(size)}
	for _, base := range []Reg{RAX, RSP, RBP, R8, R12, R13, R15} {
		for _, d := range disps {
			out = append(out, MemBD(base, d))
		}
	}
	for _, base := range []Reg{RAX, RSP, RBP, R12, R13} {
		for i, index := range []Reg{RAX, RBP, R12, R13, R15} {
			out = append(out, MemBID(base, index, 1<<(i%4), disps[i]))
		}
	}
	return append(out, MemBID(NoReg, RCX, 8, 64), MemBID(NoReg, R12, 2, 0))
}

func immExtremes(f *Form, o *Operand) []int64 {
	switch {
	case f.predicates() == 32:
		out := make([]int64, 32)
		for i := range out {
			out[i] = int64(i)
		}
		return out
	case f.predicates() == 8:
		return []int64{0, 1, 2, 3, 4, 5, 6, 7}
	case o.Size == 1 && (strings.HasPrefix(f.Key, "sh") || strings.HasPrefix(f.Key, "sa")):
		return []int64{2, 31}
	case o.Size == 1:
		return []int64{2, 127, 255}
	case o.Size == 4:
		return []int64{0, 1, 127, -128, 128, -129, 1<<31 - 1, -1 << 31}
	}
	return []int64{1 << 40, -1 << 63, 0x123456789abcdef}
}

func (f *Form) predicates() int {
	switch {
	case strings.HasPrefix(f.Name, "vcmp"):
		return 32
	case strings.HasPrefix(f.Name, "vpcmp") && f.immSize == 1:
		return 8
	}
	return 0
}

// enumerate calls visit with every operand of f at each of its extremes, the
// others at values that rotate.
func enumerate(f *Form, visit func(mask Reg, args []Arg)) {
	var choices [][]Arg
	longest := 1
	for i := range f.Ops {
		o := &f.Ops[i]
		if o.Hidden {
			continue
		}
		var c []Arg
		switch {
		case o.IsReg():
			for _, r := range extremes(f, o) {
				c = append(c, R(r))
			}
		case o.IsMem():
			for _, m := range memExtremes(o.Size) {
				c = append(c, M(m))
			}
		case o.Kind == KImm:
			for _, v := range immExtremes(f, o) {
				c = append(c, I(v))
			}
		}
		longest = max(longest, len(c))
		choices = append(choices, c)
	}
	for n := 0; n < longest; n++ {
		args := make([]Arg, len(choices))
		for i, c := range choices {
			args[i] = c[(n+i*n/len(c)+i)%len(c)]
		}
		visit(Reg(1+n%7), args)
	}
}

var spaces = regexp.MustCompile(`\s+`)

func TestObjdump(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("not checked: objdump is not installed")
	}
	b := NewBuffer()
	var want []string
	for _, f := range Instructions().Forms {
		if f.kind == encJump {
			continue
		}
		enumerate(f, func(mask Reg, args []Arg) {
			if f.Key == "xchg r32,r32" || f.Key == "xchg r64,r64" {
				if args[0].Reg == RAX || args[1].Reg == RAX {
					return // objdump prints the other operand order
				}
			}
			b.Emit(f, mask, args...)
			want = append(want, Print(f, mask, args...))
		})
	}
	got := disassemble(t, objdump, b.Finish().Bytes)
	if len(got) != len(want) {
		t.Errorf("wrote %d instructions, objdump reads %d", len(want), len(got))
	}
	bad := 0
	for i := range want {
		if i >= len(got) || normal(got[i]) != normal(want[i]) {
			g := "nothing"
			if i < len(got) {
				g = got[i]
			}
			t.Errorf("instruction %d: wrote %q, objdump reads %q", i, want[i], g)
			if bad++; bad > 40 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d forms, %d instructions", len(Instructions().Forms), len(want))
}

func disassemble(t *testing.T, objdump string, code []byte) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-mi386:x86-64", "-Mintel", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range strings.Split(string(out), "\n") {
		if addr, text, ok := strings.Cut(l, ":\t"); ok && !strings.Contains(addr, "file format") {
			lines = append(lines, text)
		}
	}
	return lines
}

func normal(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s = strings.TrimSpace(spaces.ReplaceAllString(s, " "))
	s = strings.TrimPrefix(s, "rex ")
	return s
}
