package e2e

import (
	"math"
	"os"
	"strings"
	"testing"
)

const inputs = `struct S { a: f32[3], k: f32 }
pub fn f(x: f32[3], k: f32) -> f32[3] { x * k }
pub fn g(s: S, n: (i64, bool)) -> S { S { a: if n.1 { s.a * f32(n.0) } else { s.a }, k: s.k } }
pub fn h(x: u8[2]) -> u8[2] { x }
`

// TestWrongInputs: each mistake is one message that names the input, the file,
// and what was found and needed, with exit code 1 or 2, and no output is written.
func TestWrongInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.kera", inputs)
	w.must("build", "p.kera", "-o", "p.keg")
	good := npy("<f4", []int{3}, words(4, 0x3f800000, 0x40000000, 0x40400000))
	files := map[string]string{
		"x.npy": good, "k.json": "2", "x4.json": "[1,2,3,4]", "x1x3.json": "[[1,2,3]]", "cut.npy": good[:len(good)-1], "long.npy": good + "\x00",
		"header.npy": good[:60], "empty.npy": "", "empty.json": "", "empty.csv": "", "text.npy": "hello, I am no array",
		"f8.npy": npy("<f8", []int{3}, make([]byte, 24)), "i4.npy": npy("<i4", []int{3}, make([]byte, 12)), "be.npy": npy(">f4", []int{3}, []byte{0x3f, 0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0x40, 0, 0}),
		"obj.npy": npy("|O", []int{3}, make([]byte, 24)), "neg.npy": npy("<f4", []int{-3}, make([]byte, 12)), "many.npy": npy("<f4", []int{1 << 40, 1 << 40}, nil),
		"fortran.npy": strings.Replace(npy("<f4", []int{3, 1}, make([]byte, 12)), "False", "True ", 1), "bad.npz": "PK\x03\x04 and no more",
		"obj.json": `{"a": 1}`, "open.json": "[1,2", "ragged.json": "[[1],[2,3]]", "text.json": `["a","b","c"]`, "huge.json": "[1e999,0,0]", "more.json": "[1,2,3] 4",
		"deep.json": strings.Repeat("[", 100000), "null.json": "[null,1,2]", "rag.csv": "1,2\n3\n", "word.csv": "a\nb\nc\nd\n", "u8.json": "[256,0]", "half.json": "[0.5,0]", "minus.json": "[-1,0]",
		"true.json": "true",
	}
	for name, text := range files {
		w.write(name, text)
	}
	f := func(x string, more ...string) []string {
		return append([]string{"run", "p.keg", "--entry", "f", "--input", "x=" + x, "--input", "k=k.json", "--output", "result=out.npy"}, more...)
	}
	for _, c := range []struct {
		code  int
		args  []string
		texts []string
	}{
		{1, f("x4.json"), []string{"K0713", "input x: x4.json holds the shape [4], but f32[3] is needed"}},
		{1, f("x1x3.json"), []string{"K0713", "x1x3.json holds the shape [1, 3], but f32[3] is needed"}},
		{1, f("k.json"), []string{"K0713", "k.json holds", "but f32[3] is needed"}},
		{1, f("f8.npy"), []string{"K0713", "f8.npy holds f64[3], but f32[3] is needed"}},
		{1, f("i4.npy"), []string{"K0713", "i4.npy holds i32[3], but f32[3] is needed"}},
		{1, f("obj.npy"), []string{"K0714", "obj.npy", "|O"}},
		{1, f("neg.npy"), []string{"K0714", "neg.npy"}},
		{1, f("many.npy"), []string{"many.npy"}},
		{1, f("fortran.npy"), []string{"fortran.npy"}},
		{1, f("cut.npy"), []string{"K0714", "cut.npy: f32[3] needs 12 bytes of data, the file has 11"}},
		{1, f("long.npy"), []string{"K0714", "long.npy"}},
		{1, f("header.npy"), []string{"K0714", "header.npy"}},
		{1, f("text.npy"), []string{"K0714", "text.npy: not an .npy file"}},
		{1, f("empty.npy"), []string{"K0714", "empty.npy"}},
		{1, f("empty.json"), []string{"K0714", "empty.json", "is empty"}},
		{1, f("empty.csv"), []string{"empty.csv"}},
		{1, f("bad.npz"), []string{"K0714", "bad.npz"}},
		{1, f("obj.json"), []string{"K0714", "obj.json", "object"}},
		{1, f("open.json"), []string{"K0714", "open.json", "before byte 4"}},
		{1, f("ragged.json"), []string{"K0714", "ragged.json"}},
		{1, f("text.json"), []string{"K0714", "text.json", `the string "a"`}},
		{1, f("huge.json"), []string{"K0714", "huge.json", "element [0]: 1e999"}},
		{1, f("more.json"), []string{"K0714", "more.json", "before byte 9: more text after the value"}},
		{1, f("deep.json"), []string{"K0714", "deep.json"}},
		{1, f("null.json"), []string{"K0714", "null.json", "null"}},
		{1, f("rag.csv"), []string{"K0714", "rag.csv", "line 2"}},
		{1, f("word.csv"), []string{"K0714", "word.csv"}},
		{1, f("none.npy"), []string{"K0714", "cannot read none.npy: no such file"}},
		{1, f("/"), []string{"K0714", "not a regular file"}},
		{1, f("x.txt"), []string{"K0714", "x.txt"}},
		{1, f("x.npy:member"), []string{"K0714", "x.npy"}},
		{1, []string{"run", "p.keg", "--entry", "f", "--input", "x=x.npy"}, []string{"K0711", "needs the input k, f32"}},
		{1, []string{"run", "p.keg", "--entry", "f"}, []string{"K0711", "input x, f32[3]", "input k, f32"}},
		{1, f("x.npy", "--input", "z=x.npy"), []string{"K0712", `no input "z"`, "inputs: x f32[3], k f32"}},
		{2, f("x.npy", "--input", "x=x.npy"), []string{"x is given twice"}},
		{2, f("x.npy", "--input", "x"), []string{"write NAME=PATH"}},
		{1, f("x.npy", "--output", "y=out2.npy"), []string{"K0712", `no output "y"`}},
		{2, f("x.npy", "--output", "result=out2.npy"), []string{"result is given twice"}},
		{1, []string{"run", "p.keg", "--entry", "f", "--input", "x=x.npy", "--input", "k=k.json", "--output", "result=no/such/folder/o.npy"}, []string{"K0715", "cannot write no/such/folder/o.npy: no such file or directory"}},
		{1, []string{"run", "p.keg", "--entry", "f", "--input", "x=x.npy", "--input", "k=k.json", "--output", "result=/dev/full"}, []string{"K0715", "/dev/full"}},
		{1, []string{"run", "p.keg", "--entry", "f", "--input", "x=x.npy", "--input", "k=k.json", "--output", "result=out.txt"}, []string{"K0715", "out.txt"}},
		{1, []string{"run", "p.keg", "--entry", "f", "--input", "x=x.npy", "--input", "k=k.json", "--output", "result=x.npy"}, []string{"K0717", "output result would overwrite x.npy"}},
		{1, []string{"run", "p.keg", "--entry", "f", "--input", "x=x.npy", "--input", "k=k.json", "--output", "result=./p.keg"}, []string{"K0717"}},
		{1, []string{"run", "p.keg", "--entry", "ff", "--input", "x=x.npy"}, []string{"K0710", `no entry "ff"`, "entries: f, g, h"}},
		{1, []string{"run", "p.keg", "--input", "x=x.npy"}, []string{"K0710", "entries: f, g, h"}},
		{4, f("x.npy", "--target", "arm"), []string{"K0704", `no section for "arm"`, "interp"}},
		{1, []string{"run", "p.kera", "--entry", "f", "--input", "x=x.npy", "--input", "k=k.json", "--target", "x86:avx9"}, []string{"K0704", `no backend has a target "x86:avx9"`}},
		{8, []string{"run", "p.kera", "--entry", "f", "--input", "x=x.npy", "--input", "k=k.json", "--target", "arm"}, []string{"K0703"}},
		{4, []string{"verify", "p.keg", "--target", "arm"}, []string{"K0704"}},
		{1, []string{"verify", "p.keg", "--entry", "q"}, []string{"K0710"}},
		{1, []string{"verify", "p.keg", "--input", "x=x.npy"}, []string{"K0710", "--entry"}},
		{2, []string{"verify", "p.keg", "--cases", "-1"}, []string{"--cases"}},
		{2, []string{"verify", "p.keg", "--seed", "x"}, []string{"--seed"}},
		{1, []string{"run", "p.keg", "--entry", "g", "--input", "s=x.npy", "--input", "n.0=k.json", "--input", "n.1=true.json"}, []string{"K0711", "input s has fields", "s.a, s.k"}},
		{1, []string{"run", "p.keg", "--entry", "g", "--input", "s.a=x.npy", "--input", "s.k=k.json", "--input", "n.0=k.json", "--input", "n.1=k.json"}, []string{"K0714", "input n.1", "no bool"}},
		{1, []string{"run", "p.keg", "--entry", "h", "--input", "x=u8.json"}, []string{"K0714", "u8.json: element [0]: 256"}},
		{1, []string{"run", "p.keg", "--entry", "h", "--input", "x=half.json"}, []string{"K0714", "half.json: element [0]: 0.5"}},
		{1, []string{"run", "p.keg", "--entry", "h", "--input", "x=minus.json"}, []string{"K0714", "minus.json: element [0]: -1"}},
	} {
		r := w.want(c.code, c.args, c.texts...)
		if n := strings.Count(r.err, "error[") + strings.Count(r.err, "kerac: "); n < 1 || n > 2 {
			t.Errorf("kerac %q: %d messages\n%s", c.args, n, r.err)
		}
		j := w.kerac(append(c.args, "--json")...)
		if j.code != c.code || decode[struct{ Error struct{ Exit int } }](t, j).Error.Exit != c.code {
			t.Errorf("kerac %q: exit %d with --json\n%s", c.args, j.code, j.out)
		}
		for _, o := range []string{"out.npy", "out2.npy", "out.txt"} {
			if w.exists(o) {
				t.Fatalf("kerac %q wrote %s", c.args, o)
			}
		}
	}
	for _, x := range []string{"x.npy", "be.npy"} {
		w.want(0, f(x))
		if got := payload(t, w.read("out.npy")); string(got) != string(words(4, 0x40000000, 0x40800000, 0x40c00000)) {
			t.Errorf("%s gives %x", x, got)
		}
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(w.dir, 0o555); err != nil {
			t.Fatal(err)
		}
		w.want(1, []string{"build", "p.kera", "-o", "new.keg"}, "cannot write new.keg: permission denied")
		if err := os.Chmod(w.dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// exotic is an identity for each type and rank, which still computes: on every
// target the values pass through code.
const exotic = `pub fn f64s(x: f64[9]) -> f64[9] { x * 1.0 }
pub fn f32s(x: f32[9]) -> f32[9] { x * 1.0 }
pub fn keep(x: f64[9]) -> f64[9] { x[..] }
pub fn bools(x: bool[3]) -> bool[3] { map i in 0..3 { !!x[i] } }
pub fn i8s(x: i8[3]) -> i8[3] { x +% 0 }
pub fn u64s(x: u64[3]) -> u64[3] { x +% 0 }
pub fn none(x: f64[0, 3], y: i32[2, 0]) -> (f64[0, 3], i32[2, 0], f64, f64[3]) { (x + 1.0, y +% 1, sum(x), max(x, axis = 0)) }
pub fn rank8(x: i16[1, 2, 1, 3, 1, 2, 1, 2]) -> i16[2, 1, 2, 1, 3, 1, 2, 1] { transpose(x) }
pub fn scalar(x: u16, y: bool) -> (u16, bool) { (x +% 1, !y) }
`

// TestExoticValues: values that tools like to lose, in every format, on every
// target, to the bit.
func TestExoticValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.kera", exotic)
	w.must("build", "p.kera", "-o", "p.keg")
	nan := uint64(0x7ff8000000000000)
	f64in := words(8, 0x7ff0000000000001, 0xfff8000000000123, 0x8000000000000000, 1, 0x800fffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, math.Float64bits(math.MaxFloat64), math.Float64bits(0.1))
	f64out := words(8, nan, nan, 0x8000000000000000, 1, 0x800fffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, math.Float64bits(math.MaxFloat64), math.Float64bits(0.1))
	f32in := words(4, 0x7f800001, 0xffc00123, 0x80000000, 1, 0x807fffff, 0x7f800000, 0xff800000, 0x7f7fffff, 0x3dcccccd)
	f32out := words(4, 0x7fc00000, 0x7fc00000, 0x80000000, 1, 0x807fffff, 0x7f800000, 0xff800000, 0x7f7fffff, 0x3dcccccd)
	ramp := []byte{}
	for i := range 24 {
		ramp = append(ramp, byte(i), byte(i*7))
	}
	type leaf struct {
		name, descr string
		shape       []int
		data        []byte
	}
	for _, c := range []struct {
		entry string
		in    []leaf
		out   []leaf
	}{
		{"f64s", []leaf{{"x", "<f8", []int{9}, f64in}}, []leaf{{"result", "<f8", []int{9}, f64out}}},
		{"keep", []leaf{{"x", "<f8", []int{9}, f64in}}, []leaf{{"result", "<f8", []int{9}, f64out}}},
		{"f32s", []leaf{{"x", "<f4", []int{9}, f32in}}, []leaf{{"result", "<f4", []int{9}, f32out}}},
		{"bools", []leaf{{"x", "|b1", []int{3}, []byte{1, 0, 1}}}, []leaf{{"result", "|b1", []int{3}, []byte{1, 0, 1}}}},
		{"i8s", []leaf{{"x", "|i1", []int{3}, []byte{0x80, 0xff, 0x7f}}}, []leaf{{"result", "|i1", []int{3}, []byte{0x80, 0xff, 0x7f}}}},
		{"u64s", []leaf{{"x", "<u8", []int{3}, words(8, 1<<63, 1<<53+1, ^uint64(0))}}, []leaf{{"result", "<u8", []int{3}, words(8, 1<<63, 1<<53+1, ^uint64(0))}}},
		{"none", []leaf{{"x", "<f8", []int{0, 3}, nil}, {"y", "<i4", []int{2, 0}, nil}},
			[]leaf{{"0", "<f8", []int{0, 3}, nil}, {"1", "<i4", []int{2, 0}, nil}, {"2", "<f8", nil, words(8, 0)}, {"3", "<f8", []int{3}, words(8, 0xfff0000000000000, 0xfff0000000000000, 0xfff0000000000000)}}},
		{"rank8", []leaf{{"x", "<i2", []int{1, 2, 1, 3, 1, 2, 1, 2}, ramp}}, []leaf{{"result", "<i2", []int{2, 1, 2, 1, 3, 1, 2, 1}, nil}}},
		{"scalar", []leaf{{"x", "<u2", nil, words(2, 65535)}, {"y", "|b1", nil, []byte{0}}}, []leaf{{"0", "<u2", nil, words(2, 0)}, {"1", "|b1", nil, []byte{1}}}},
	} {
		verify := []string{"verify", "p.keg", "--entry", c.entry}
		for _, l := range c.in {
			w.write(c.entry+"."+l.name+".npy", npy(l.descr, l.shape, l.data))
			verify = append(verify, "--input", l.name+"="+c.entry+"."+l.name+".npy")
		}
		w.want(0, verify)
		digests := map[string]string{}
		for _, target := range []string{"interp", "wasm", ""} {
			run := append([]string{"run", "p.keg", "--entry", c.entry}, verify[4:]...)
			for _, l := range c.out {
				run = append(run, "--output", l.name+"=o."+l.name+".npy")
			}
			if target != "" {
				run = append(run, "--target", target)
			}
			r := w.want(0, append(run, "--json"))
			digests[decode[struct{ Digest string }](t, r).Digest] = target
			for _, l := range c.out {
				got := w.read("o." + l.name + ".npy")
				if l.data != nil && string(payload(t, got)) != string(l.data) {
					t.Errorf("%s on %q: %s is %x, want %x", c.entry, target, l.name, payload(t, got), l.data)
				}
				if want := npy(l.descr, l.shape, payload(t, got)); string(got) != want {
					t.Errorf("%s: %s has another header: %q, want %q", c.entry, l.name, got[:min(128, len(got))], want[:128])
				}
			}
		}
		if len(digests) != 1 {
			t.Errorf("%s: digests %v", c.entry, digests)
		}
		// Through each text format and back: the same bits, or a refusal where the
		// format cannot say the shape.
		for _, ext := range []string{".json", ".npz", ".csv"} {
			run := append([]string{"run", "p.keg", "--entry", c.entry}, verify[4:]...)
			for _, l := range c.out {
				run = append(run, "--output", l.name+"=t."+l.name+ext)
			}
			r := w.kerac(run...)
			if r.code != 0 {
				if ext != ".csv" || len(c.out[0].shape) <= 2 && c.entry != "none" || !strings.Contains(r.err, "K0715") {
					t.Errorf("%s to %s: exit %d, %s", c.entry, ext, r.code, r.err)
				}
				continue
			}
			if len(c.in) != 1 || c.entry == "rank8" {
				continue
			}
			r = w.want(0, []string{"run", "p.keg", "--entry", c.entry, "--input", "x=t.result" + ext, "--output", "result=o.npy"})
			if got := payload(t, w.read("o.npy")); string(got) != string(c.out[0].data) {
				t.Errorf("%s through %s: %x, want %x", c.entry, ext, got, c.out[0].data)
			}
		}
	}
	w.want(0, []string{"verify", "p.keg", "--cases", "40", "--seed", "3"})
}
