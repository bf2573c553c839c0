package tensorio

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/types"
)

func file(t testing.TB, name, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func f32s(dims []int64, vs ...float32) Tensor {
	t := Tensor{types.F32, dims, nil}
	for _, v := range vs {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
	}
	return t
}

func same(a, b Tensor) bool {
	return a.DType == b.DType && fmt.Sprint(a.Dims) == fmt.Sprint(b.Dims) && bytes.Equal(a.Data, b.Data)
}

// TestRoundTrip writes every dtype in every format that can hold it and reads the
// same bits back.
func TestRoundTrip(t *testing.T) {
	inf := float32(math.Inf(1))
	tensors := []Tensor{
		f32s([]int64{2, 3}, 0, float32(math.Copysign(0, -1)), inf, -inf, math.SmallestNonzeroFloat32, math.MaxFloat32),
		f32s([]int64{}, float32(math.Float32frombits(0x7fc00000))),
		f32s([]int64{0, 3}), f32s([]int64{2, 0, 4}), f32s([]int64{1, 1, 2}, 1.1, 16777217),
		{types.Bool, []int64{3}, []byte{1, 0, 1}},
	}
	for _, d := range types.DTypes() {
		if d != types.Bool && d != types.BF16 && !d.IsFloat() {
			tensors = append(tensors, Tensor{d, []int64{2}, append(bytes.Repeat([]byte{0x80}, d.Size()), bytes.Repeat([]byte{0x01}, d.Size())...)})
		}
	}
	tensors = append(tensors, Tensor{types.F64, []int64{4}, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(
		bytes.Repeat([]byte{1, 0}, 8), 0x7ff8000000000000), math.Float64bits(0.1))})
	for _, want := range tensors {
		ty := want.Type()
		for _, ext := range Extensions() {
			if CanWrite("x"+ext, ty) != nil {
				continue
			}
			p := filepath.Join(t.TempDir(), "x"+ext)
			if err := Write(p, "x", want); err != nil {
				t.Fatalf("%s %s: %v", ext, TypeText(ty), err)
			}
			got, err := Read(p, "x", &ty)
			if err != nil || !same(got, want) {
				t.Errorf("%s %s: got %v %x, want %x: %v", ext, TypeText(ty), got.Dims, got.Data, want.Data, err)
			}
			d, dims, err := Shape(p, "x")
			if ext[:3] == ".np" && (err != nil || d != want.DType || fmt.Sprint(dims) != fmt.Sprint(want.Dims)) {
				t.Errorf("Shape(%s) = %s %v %v", p, d, dims, err)
			}
		}
	}
}

// TestNumpyBytes checks that files written by numpy come back byte for byte.
func TestNumpyBytes(t *testing.T) {
	for _, p := range []string{"digits/images.npy", "digits/labels.npy", "var/prices.npy"} {
		p = filepath.Join("../../examples", p)
		v, err := Read(p, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := writeNpy(&b, v); err != nil {
			t.Fatal(err)
		}
		if want, _ := os.ReadFile(p); !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s is written differently", p)
		}
	}
	w, err := Read("../../examples/digits/weights.npz:w2", "", nil)
	if err != nil || fmt.Sprint(w.Dims) != "[32 10]" {
		t.Errorf("weights: %v %v", w.Dims, err)
	}
}

func npy(version, descr, fortran, shape, data string) string {
	dict := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s}\n", descr, fortran, shape)
	n := string(binary.LittleEndian.AppendUint16(nil, uint16(len(dict))))
	if version != "\x01\x00" {
		n += "\x00\x00"
	}
	return npyMagic + version + n + dict + data
}

func TestNpyVariants(t *testing.T) {
	want := Tensor{types.I16, []int64{2, 3}, []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}}
	for name, content := range map[string]string{
		"big-endian": npy("\x01\x00", "'>i2'", "False", "(2, 3)", "\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06"),
		"fortran":    npy("\x02\x00", "'<i2'", "True", "(2L, 3L)", "\x01\x00\x04\x00\x02\x00\x05\x00\x03\x00\x06\x00"),
		"both":       npy("\x03\x00", `">i2"`, "True", "(2, 3)", "\x00\x01\x00\x04\x00\x02\x00\x05\x00\x03\x00\x06"),
	} {
		got, err := Read(file(t, "a.npy", content), "", nil)
		if err != nil || !same(got, want) {
			t.Errorf("%s: %v %x %v", name, got.Dims, got.Data, err)
		}
	}
}

// TestRefusals names the file and the reason for every kind of wrong file.
func TestRefusals(t *testing.T) {
	f, i, b := types.Tensor(types.F32, 2), types.Tensor(types.I8, 2), types.Tensor(types.Bool, 2)
	zipped := func(method uint16, content string) string {
		var buf bytes.Buffer
		z := zip.NewWriter(&buf)
		w, _ := z.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: method})
		w.Write([]byte(content))
		z.Close()
		return buf.String()
	}
	good := npy("\x01\x00", "'<f4'", "False", "(2,)", "12345678")
	for _, c := range []struct {
		name, content string
		want          *types.Type
		message       string
	}{
		{"a.npy", good, &i, "holds f32[2], but i8[2] is needed"},
		{"a.npy", npy("\x01\x00", "'<f4'", "False", "(1,2)", "12345678"), &f, "holds f32[1, 2], but f32[2] is needed"},
		{"a.npy", "", &f, "not an .npy file"},
		{"a.npy", good[:20], &f, "longer than the file"},
		{"a.npy", good[:len(good)-1], &f, "needs 8 bytes of data, the file has 7"},
		{"a.npy", npy("\x01\x00", "'<f4'", "False", "(99999999999,9)", ""), nil, "beyond the limits"},
		{"a.npy", npy("\x01\x00", "'<f4'", "False", "(4294967296,4294967296)", ""), nil, "beyond the limits"},
		{"a.npy", npy("\x01\x00", "'<f4'", "False", "(1000000,)", ""), nil, "needs 4000000 bytes"},
		{"a.npy", npy("\x01\x00", "'<f4'", "False", "(-1,)", ""), nil, "where a size belongs"},
		{"a.npy", npy("\x01\x00", "'<f4'", "False", "(1,1,1,1,1,1,1,1,1)", "1234"), nil, "rank is more than 8"},
		{"a.npy", npy("\x09\x00", "'<f4'", "False", "(2,)", ""), nil, "version 9.0"},
		{"a.npy", npy("\x01\x00", "'<c8'", "False", "(1,)", "12345678"), nil, "has no counterpart"},
		{"a.npy", npy("\x01\x00", "[('a', '<f4')]", "False", "(1,)", "1234"), nil, "structured"},
		{"a.npy", npy("\x01\x00", "'|b1'", "False", "(2,)", "\x00\x02"), &b, "a bool is 0 or 1"},
		{"a.npz", "PK", &f, "not an .npz file"},
		{"a.npz", zipped(zip.Deflate, npy("\x01\x00", "'<f4'", "False", "(25000000,)", strings.Repeat("\x00", 1e8))), &f, "holds f32[25000000], but f32[2]"},
		{"a.npz:b", zipped(zip.Store, good), &f, `no member "b"; it has a`},
		{"a.json", "[1,2,3]", &f, "holds the shape [3], but f32[2]"},
		{"a.json", "[1,2.5]", &i, "element [1]: 2.5 is no i8"},
		{"a.json", "[1,128]", &i, "out of the range of i8"},
		{"a.json", "[1,0]", &b, "is no bool"},
		{"a.json", "[1e39,0]", &f, "rounds to infinity as f32"},
		{"a.json", "[1,[2]]", &f, "a list where a number belongs"},
		{"a.json", "[[1],2]", &f, "a number where a list belongs"},
		{"a.json", "[[1],[2,3]]", &f, "beside one of"},
		{"a.json", "[1,null]", &f, "null is no number"},
		{"a.json", `[1,"nan"]`, &f, "only \"NaN\""},
		{"a.json", "[1,2", &f, "ends inside a list"},
		{"a.json", "[1,2] 3", &f, "more text"},
		{"a.json", `{"a":1}`, &f, "an object"},
		{"a.json", strings.Repeat("[", 100000), &f, "nested deeper than 8"},
		{"a.csv", "x,y\n1,2\n3\n", nil, "wrong number of fields"},
		{"a.csv", "1\nq\n", &f, "line 2, column 1: \"q\" is no number"},
		{"a.txt", "1", &f, "is none of"},
	} {
		name, member, _ := strings.Cut(c.name, ":")
		p := file(t, name, c.content)
		if member != "" {
			p += ":" + member
		}
		_, err := Read(p, "", c.want)
		if err == nil || !strings.Contains(err.Error(), c.message) || !strings.Contains(err.Error(), strings.TrimSuffix(p, ":"+member)) {
			t.Errorf("%s %.60q: error %v, want %q and the file", c.name, c.content, err, c.message)
		}
	}
	if _, err := Read("/nonexistent/a.npy", "", nil); err == nil || err.Error() != "cannot read /nonexistent/a.npy: no such file or directory" {
		t.Errorf("missing file: %v", err)
	}
}

// TestZipLies alters the sizes an .npz declares; reading must fail, not allocate.
func TestZipLies(t *testing.T) {
	var buf bytes.Buffer
	if err := writeNpz(&buf, []Named{{"a", f32s([]int64{2}, 1, 2)}}); err != nil {
		t.Fatal(err)
	}
	good := buf.Bytes()
	for at := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << bit
			got, err := Read(file(t, "a.npz", string(bad)), "a", nil)
			if err == nil && !same(got, f32s([]int64{2}, 1, 2)) {
				t.Errorf("byte %d bit %d: another value and no error", at, bit)
			}
		}
	}
}

func TestCSVForms(t *testing.T) {
	for _, c := range []struct {
		content string
		dims    []int64
	}{
		{"1\n2\n", []int64{2}}, {"1,2\n", []int64{2}}, {"a,b\n1,2\n", []int64{2}}, {"1,2\n", []int64{1, 2}}, {"1\n2\n", []int64{2, 1}},
	} {
		ty := types.Tensor(types.F32, c.dims...)
		got, err := Read(file(t, "a.csv", c.content), "", &ty)
		if err != nil || !same(got, f32s(c.dims, 1, 2)) {
			t.Errorf("%q as %v: %v %v", c.content, c.dims, got, err)
		}
	}
}

// FuzzRead reads hostile bytes in every format; what is accepted must come back
// the same after being written and read again.
func FuzzRead(f *testing.F) {
	f.Add(uint8(0), []byte(npy("\x01\x00", "'>f4'", "True", "(1,2)", "12345678")))
	var z bytes.Buffer
	if err := writeNpz(&z, []Named{{"a", f32s([]int64{1}, 1)}}); err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(1), z.Bytes())
	f.Add(uint8(2), []byte(`[[1,2.5e-3],["NaN",-0]]`))
	f.Add(uint8(3), []byte("a,b\n1,2\n"))
	f.Fuzz(func(t *testing.T, kind uint8, content []byte) {
		ext := Extensions()[int(kind)%len(Extensions())]
		p := file(t, "a"+ext, string(content))
		v, err := Read(p, "a", nil)
		if err != nil {
			return
		}
		if n, ok := elements(v.DType, v.Dims); !ok || int(n)*v.DType.Size() != len(v.Data) {
			t.Fatalf("%v has %d bytes", v.Dims, len(v.Data))
		}
		for _, n := range v.Dims {
			if n > 1<<16 {
				return // an empty tensor of many rows
			}
		}
		q := filepath.Join(filepath.Dir(p), "b.json")
		if v.DType == types.F16 {
			q = filepath.Join(filepath.Dir(p), "b.npy")
		}
		if err := Write(q, "a", v); err != nil {
			t.Fatal(err)
		}
		ty := v.Type()
		back, err := Read(q, "a", &ty)
		if err != nil || !same(back, v) {
			t.Fatalf("%v %x came back as %x: %v", v.Dims, v.Data, back.Data, err)
		}
	})
}
