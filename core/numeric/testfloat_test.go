package numeric

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/types"
)

// sharedDir finds shared/NAME in a parent of the test's directory.
func sharedDir(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		p := filepath.Join(dir, "shared", name)
		if st, err := os.Stat(p); err == nil && st.IsDir() {
			return p
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skipf("not checked: no shared/%s above the test", name)
		}
		dir = up
	}
}

var testfloatTypes = map[string]types.DType{
	"f16": types.F16, "bf16": types.BF16, "f32": types.F32, "f64": types.F64,
	"i32": types.I32, "i64": types.I64, "ui32": types.U32, "ui64": types.U64,
}

// testfloatFunc gives the function that a vector file's name stands for.
func testfloatFunc(name string) func(in []uint64) uint64 {
	from, rest, _ := strings.Cut(name, "_")
	d := testfloatTypes[from]
	if to, ok := strings.CutPrefix(rest, "to_"); ok {
		f := ConvertOf(d, testfloatTypes[to])
		return func(in []uint64) uint64 { return f(in[0]) }
	}
	for n, op := range map[string]Op{"add": Add, "sub": Sub, "mul": Mul, "div": Div} {
		if n == rest {
			f := BinaryOf(op, d)
			return func(in []uint64) uint64 { return f(in[0], in[1]) }
		}
	}
	for n, op := range map[string]Op{"sqrt": Sqrt, "floor": Floor, "ceil": Ceil, "trunc": Trunc, "round_even": RoundEven} {
		if n == rest {
			f := UnaryOf(op, d)
			return func(in []uint64) uint64 { return f(in[0]) }
		}
	}
	for n, p := range map[string]Pred{"eq": EQ, "lt": LT, "le": LE} {
		if n == rest {
			f := CompareOf(p, false, d)
			return func(in []uint64) uint64 { return f(in[0], in[1]) }
		}
	}
	if rest == "mulAdd" {
		f := TernaryOf(FMA, d)
		return func(in []uint64) uint64 { return f(in[0], in[1], in[2]) }
	}
	return nil
}

// TestTestFloat runs every case of Berkeley TestFloat's generator.
func TestTestFloat(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedDir(t, "vectors"), "testfloat", "*.txt.gz"))
	if err != nil || len(files) == 0 {
		t.Skip("not checked: no testfloat vectors")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt.gz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := testfloatFunc(name)
			if f == nil {
				t.Fatalf("no function for vector file %s", name)
			}
			r, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			z, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			bad := 0
			for sc := bufio.NewScanner(z); sc.Scan() && bad < 5; {
				var v [4]uint64
				fs := strings.Fields(sc.Text())
				for i, s := range fs {
					if v[i], err = strconv.ParseUint(s, 16, 64); err != nil {
						t.Fatal(err)
					}
				}
				n := len(fs) - 1
				if got := f(v[:n]); got != v[n] {
					t.Errorf("%s(%s) = %x, want %s", name, strings.Join(fs[:n], ", "), got, fs[n])
					bad++
				}
			}
		})
	}
}
