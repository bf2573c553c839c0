package e2e

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/keg"
	"github.com/kera-lang/kera/core/keg/section"
)

// victim has one constant to be patched and buffers whose sizes can lie.
const victim = `pub fn f(x: f64[40]) -> f64[40] { x * 1.2578125 + 3.0 }
pub fn g(x: i64) -> i64 { x + 7 }
`

// tampered is a file whose digests are right and whose section is not.
type tampered struct {
	what   string
	target string // x86:avx2 or wasm:simd128
	change func(d *section.Descriptor, code []byte) []byte
	run    []int // what `kerac run` may end with
	verify int
	texts  []string // that verify says
}

func entry(d *section.Descriptor, name string) *section.Entry {
	e, _ := d.Entry(name)
	return e
}

// fill gives code of the same size made of a repeated pattern.
func fill(pattern ...byte) func(*section.Descriptor, []byte) []byte {
	return func(_ *section.Descriptor, code []byte) []byte {
		for i := range code {
			code[i] = pattern[i%len(pattern)]
		}
		return code
	}
}

// edit changes the descriptor only.
func edit(f func(d *section.Descriptor)) func(*section.Descriptor, []byte) []byte {
	return func(d *section.Descriptor, code []byte) []byte { f(d); return code }
}

// patch replaces a 64-bit float in the code.
func patch(from, to float64) func(*section.Descriptor, []byte) []byte {
	return func(_ *section.Descriptor, code []byte) []byte {
		var a, b [8]byte
		binary.LittleEndian.PutUint64(a[:], math.Float64bits(from))
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(to))
		if !bytes.Contains(code, a[:]) {
			panic("the constant is not in the code")
		}
		return bytes.ReplaceAll(code, a[:], b[:])
	}
}

const (
	cpu  = "x86:avx2"
	wasm = "wasm:simd128"
)

var tamperedSections = []tampered{
	{"a constant", cpu, patch(1.2578125, 1.2578126), []int{0}, 3, []string{"entry f", cpu + " differs from the interpreter"}},
	{"a constant", wasm, patch(1.2578125, 1.2578126), []int{0}, 3, []string{"entry f", wasm + " differs from the interpreter"}},
	{"the code returns at once", cpu, fill(0x31, 0xc0, 0xc3), []int{0, 7, 9}, 3, []string{cpu, "entry f"}},
	{"the code faults", cpu, fill(0x0f, 0x0b), []int{7}, 7, []string{"the code for " + cpu + " crashed: SIGILL", "entry f"}},
	{"the code is zeros", cpu, fill(0), []int{7}, 7, []string{"the code for " + cpu + " crashed"}},
	{"the code is random", cpu, fill(0x91, 0x3c, 0x07, 0xe5, 0x5a), []int{7}, 7, []string{"the code for " + cpu + " crashed"}},
	{"the code jumps away", cpu, fill(0x31, 0xc0, 0xff, 0xe0), []int{7}, 7, []string{"the code for " + cpu + " crashed"}},
	{"the code ends the process", cpu, fill(0xb8, 0xe7, 0x00, 0x00, 0x00, 0xbf, 0x00, 0x00, 0x00, 0x00, 0x0f, 0x05), []int{7, 8}, -1, nil},
	{"the code recurses", cpu, fill(0xe8, 0xfb, 0xff, 0xff, 0xff), []int{7}, 7, []string{"the code for " + cpu + " crashed"}},
	{"a trap of no kind", cpu, fill(0xb8, 0x2a, 0x00, 0x00, 0x00, 0xc3), []int{7, 3}, -1, []string{cpu}},
	{"the module is garbage", wasm, fill(0x91, 0x3c), []int{4, 7}, -1, []string{wasm}},
	{"the module is zeros", wasm, fill(0), []int{4, 7}, -1, []string{wasm}},
	{"the module is empty", wasm, func(d *section.Descriptor, _ []byte) []byte {
		d.CodeMap, d.Nodes, d.Folded = nil, nil, nil
		return []byte("\x00asm\x01\x00\x00\x00")
	}, []int{4, 7}, -1, []string{wasm}},
	{"a larger input", cpu, edit(func(d *section.Descriptor) { entry(d, "f").Inputs[0].Dims = []int64{4000} }), []int{4}, 4, []string{"compiled from another graph"}},
	{"a larger output", cpu, edit(func(d *section.Descriptor) { entry(d, "f").Outputs[0].Dims = []int64{4000} }), []int{4}, 4, []string{"compiled from another graph"}},
	{"a smaller output", cpu, edit(func(d *section.Descriptor) { entry(d, "f").Outputs[0].Dims = []int64{1} }), []int{4}, 4, []string{"compiled from another graph"}},
	{"a larger output", wasm, edit(func(d *section.Descriptor) { entry(d, "f").Outputs[0].Dims = []int64{4000} }), []int{4}, 4, []string{"compiled from another graph"}},
	{"a huge input", wasm, edit(func(d *section.Descriptor) { entry(d, "f").Inputs[0].Dims = []int64{1 << 40} }), []int{4}, 4, nil},
	{"no outputs", cpu, edit(func(d *section.Descriptor) { entry(d, "f").Outputs = nil }), []int{4}, 4, []string{"compiled from another graph"}},
	{"another region", cpu, edit(func(d *section.Descriptor) { entry(d, "f").Region = digest.Plain([]byte("x")) }), []int{4}, 4, []string{"compiled from another graph"}},
	{"an entry less", cpu, edit(func(d *section.Descriptor) { d.Entries = d.Entries[1:] }), []int{4}, 4, []string{"has no entry f"}},
	{"an entry less", wasm, edit(func(d *section.Descriptor) { d.Entries = d.Entries[1:] }), []int{4}, 4, []string{"has no entry f"}},
	{"a symbol that is not there", wasm, edit(func(d *section.Descriptor) { entry(d, "f").Phases[0].Symbol = "nowhere" }), []int{4, 7}, -1, []string{wasm}},
	{"the start is elsewhere", cpu, edit(func(d *section.Descriptor) { entry(d, "f").Phases[0].Offset += 3 }), []int{0, 7, 9, 3}, -1, nil},
	{"work memory beyond reason", cpu, edit(func(d *section.Descriptor) { entry(d, "f").Work = 1 << 45 }), []int{0, 8}, -1, nil},
	{"work memory beyond reason", wasm, edit(func(d *section.Descriptor) { entry(d, "f").Work = 1 << 45 }), []int{0, 8}, -1, nil},
	{"features of no processor", cpu, edit(func(d *section.Descriptor) { d.Features = []string{"zz\x1b[31m"} }), []int{8}, 0, []string{"not checked", "this CPU has no"}},
	{"another architecture", cpu, edit(func(d *section.Descriptor) { d.Triple = "vax-vms" }), []int{8}, 0, []string{"not checked"}},
	{"a plugin by path", wasm, edit(func(d *section.Descriptor) { d.Plugin.Name = "../../../../bin/true" }), []int{8}, 0, []string{"not checked"}},
	{"a plugin of another name", wasm, edit(func(d *section.Descriptor) { d.Plugin.Name = "wasn\x1b]0;x\a" }), []int{8}, 0, []string{"not checked"}},
	{"an artifact of another kind", wasm, edit(func(d *section.Descriptor) { d.Kind = "bitstream" }), []int{8}, 0, []string{"not checked"}},
	{"an absent target with a colourful reason", cpu, func(d *section.Descriptor, _ []byte) []byte {
		*d = section.Descriptor{Triple: d.Triple, Kind: "absent", Options: []section.Option{{Name: "reason", Value: "\x1b[31mred\nline\x07"}}}
		return nil
	}, []int{8}, 0, []string{"not checked", "it was not built"}},
}

// TestTampered: sections that lie. What kerac says of them has the right exit
// code, and verify never calls them equal.
func TestTampered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", victim)
	w.must("build", "f.kera", "-o", "good.keg", "--target", cpu, "--target", wasm)
	w.write("x.json", "["+strings.Repeat("1.5,", 39)+"2]")
	good := w.read("good.keg")
	if r := w.kerac("verify", "good.keg"); !strings.Contains(r.out, "natively") || strings.Contains(r.out, "not checked") {
		t.Skipf("not checked: this machine does not run all targets:\n%s", r.out)
	}
	for _, c := range tamperedSections {
		name := c.target + ", " + c.what
		f := open(t, good)
		i := slices.IndexFunc(f.Targets, func(x keg.Target) bool { return strings.HasPrefix(c.target, x.Desc.Plugin.Name) })
		d := f.Targets[i].Desc
		code := c.change(d, bytes.Clone(f.Targets[i].Artifact))
		target, err := keg.NewTarget(d, code)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f.Targets = slices.Delete(f.Targets, i, i+1)
		f.SetTarget(target)
		b, err := keg.Encode(f, keg.WriteOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w.write("bad.keg", string(b))
		label := c.target
		if d.Plugin.Name == "" || d.Triple == "vax-vms" || d.Plugin.Name != strings.Split(c.target, ":")[0] || len(d.Features) == 1 && strings.HasPrefix(d.Features[0], "zz") {
			label = d.Triple
		}
		os.Remove(w.path("o.npy"))
		r := w.kerac("run", "bad.keg", "--entry", "f", "--target", label, "--input", "x=x.json", "--output", "result=o.npy")
		if !slices.Contains(c.run, r.code) {
			t.Errorf("%s: run: exit %d, want %v\n%s%s", name, r.code, c.run, r.out, r.err)
		}
		if w.exists("o.npy") && r.code != 0 {
			t.Errorf("%s: an output of a failed run was written", name)
		}
		v := w.kerac("verify", "bad.keg", "--cases", "3")
		if c.verify >= 0 && v.code != c.verify || c.verify < 0 && v.code == 0 && !strings.Contains(c.what, "work memory") {
			t.Errorf("%s: verify: exit %d, want %d\n%s%s", name, v.code, c.verify, v.out, v.err)
		}
		for _, s := range c.texts {
			if !strings.Contains(v.out+v.err, s) {
				t.Errorf("%s: verify does not say %q:\n%s%s", name, s, v.out, v.err)
			}
		}
		for _, args := range [][]string{{"inspect", "bad.keg"}, {"inspect", "bad.keg", "--stage", "sections"}, {"inspect", "bad.keg", "--stage", "asm"}} {
			if r := w.kerac(args...); r.code != 0 && r.code != 4 {
				t.Errorf("%s: %q: exit %d\n%s", name, args, r.code, r.err)
			}
		}
	}
}

// TestDescriptorOutOfRange: a section that NewTarget would refuse to make.
func TestDescriptorOutOfRange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", victim)
	w.must("build", "f.kera", "-o", "good.keg", "--target", cpu)
	f := open(t, w.read("good.keg"))
	d := f.Targets[0].Desc
	size := uint64(len(f.Targets[0].Artifact))
	var old, bad [8]byte
	e := entry(d, "g")
	binary.LittleEndian.PutUint64(old[:], e.Phases[0].Offset)
	binary.LittleEndian.PutUint64(bad[:], size+16)
	if e.Phases[0].Offset == 0 {
		t.Fatal("the entry is to be the second")
	}
	payload := bytes.Replace(f.Targets[0].Payload, old[:], bad[:], 1)
	f.Targets[0] = keg.Target{Payload: payload, Desc: d, Artifact: f.Targets[0].Artifact}
	b, err := keg.Encode(f, keg.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.write("bad.keg", string(b))
	if r := w.want(4, []string{"verify", "bad.keg"}, "target 0"); !malformed.MatchString(r.err) {
		t.Errorf("%q", r.err)
	}
}

// TestEndlessCode: code that never returns is interrupted like any other run.
func TestEndlessCode(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"run", "verify"} {
		w := newWorld(t)
		w.write("f.kera", "pub fn g(x: i64) -> i64 { x + 7 }\n")
		w.write("x.json", "1")
		w.must("build", "f.kera", "-o", "g.keg", "--target", cpu)
		f := open(t, w.read("g.keg"))
		code := fill(0xeb, 0xfe)(nil, bytes.Clone(f.Targets[0].Artifact))
		target, err := keg.NewTarget(f.Targets[0].Desc, code)
		if err != nil {
			t.Fatal(err)
		}
		f.SetTarget(target)
		b, err := keg.Encode(f, keg.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.write("g.keg", string(b))
		r := w.signalled(syscall.SIGINT, nil, w.busy("kera-runner"), verb, "g.keg", "--input", "x=x.json", "--target", "x86")
		if r.code != 130 || r.err != "kerac: cancelled\n" {
			t.Errorf("%s: exit %d, %q", verb, r.code, r.err)
		}
	}
}
