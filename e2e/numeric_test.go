package e2e

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fieldCases says how a row of the field cases is written in Kera: parameters a,
// b, c with the types of the inputs. Rows that need functions the library does not
// have yet are named without a program.
var fieldCases = map[string]struct {
	param, result string
	body          string
	trap          string // where the source checks what the graph defines
}{
	"div-self":            {param: "f32", result: "f32", body: "a / a"},
	"div-exact":           {param: "f32", result: "f32", body: "a / b"},
	"no-fuse":             {param: "f64", result: "f64", body: "1.0 - a * b"},
	"unfused-chain":       {param: "f32", result: "f32", body: "a * b + c"},
	"fused-chain":         {param: "f32", result: "f32", body: "fma(a, b, c)"},
	"fma-double-rounding": {param: "f32", result: "f32", body: "fma(a, b, c)"},
	"inf-times-denormal":  {param: "f32", result: "f32", body: "a * b"},
	"inf-to-int":          {param: "f32", result: "i32", body: "i32.sat(a)"},
	"neg-to-u8":           {param: "f32", result: "u8", body: "u8.sat(a)"},
	"nan-sign":            {param: "f32", result: "u32", body: "u32.bits(a / b)"},
	"round-half":          {param: "f32", result: "f32", body: "round_even(a)"},
	"int-div-zero":        {param: "i32", result: "i32", body: "a / b", trap: "division"},
	"shift-negative":      {param: "i32", result: "i32", body: "a >> b", trap: "overflow"},
	"tanh-last-lane":      {}, "sinh-length": {}, "cos-platform": {}, "sin-small": {}, "exp-subnormal": {},
	"requantise": {},
}

// shiftInputs stands for the one row whose inputs are words.
const shiftInputs = "00000001 ffffffff"

// TestFieldCases: the computations that went wrong in public tools, each as a
// scalar, and in a tensor of 37 elements in which every lane and the tail has it.
func TestFieldCases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(repo, "..", "shared", "cases", "numeric.tsv")
	table, err := os.ReadFile(path)
	if err != nil {
		t.Skip("not checked: ../shared/cases/numeric.tsv is not there")
	}
	w := newWorld(t)
	var source strings.Builder
	type run struct {
		entry, trap string
		inputs      []string // bits
		want        string   // bits
		param, res  string
		n           int
	}
	var runs []run
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		col := strings.Split(line, "\t")
		if i == 0 || len(col) < 4 {
			continue
		}
		c, known := fieldCases[col[0]]
		switch {
		case !known:
			t.Errorf("%s: no program for this row", col[0])
			continue
		case c.body == "":
			t.Logf("%s: not checked, the library has no such function yet", col[0])
			continue
		}
		if col[0] == "shift-negative" {
			col[2], col[3] = shiftInputs, ""
		}
		// "a; b" are two inputs one after the other, "a b" two parameters.
		wants := strings.Split(col[3], ";")
		for k, in := range strings.Split(col[2], ";") {
			words := strings.Fields(in)
			for _, n := range []int{0, 37} {
				name := strings.ReplaceAll(col[0], "-", "_")
				shape := ""
				if n > 0 {
					name, shape = name+"_37", "[37]"
				}
				if k == 0 {
					params := []string{}
					for p := range words {
						params = append(params, string(rune('a'+p))+": "+c.param+shape)
					}
					source.WriteString("pub fn " + name + "(" + strings.Join(params, ", ") + ") -> " + c.result + shape + " { " + c.body + " }\n")
				}
				runs = append(runs, run{name, c.trap, words, strings.TrimSpace(wants[min(k, len(wants)-1)]), c.param, c.result, n})
			}
		}
	}
	w.write("p.kera", source.String())
	w.must("build", "p.kera", "-o", "p.keg")
	descr := map[string]string{"f32": "<f4", "f64": "<f8", "i32": "<i4", "u32": "<u4", "u8": "|u1"}
	for _, r := range runs {
		shape, count := []int(nil), 1
		if r.n > 0 {
			shape, count = []int{r.n}, r.n
		}
		args := []string{"p.keg", "--entry", r.entry}
		for k, bits := range r.inputs {
			name := string(rune('a' + k))
			w.write(name+".npy", npy(descr[r.param], shape, []byte(strings.Repeat(string(little(t, bits)), count))))
			args = append(args, "--input", name+"="+name+".npy")
		}
		for _, target := range []string{"interp", "wasm", "x86:avx2", "x86:avx512"} {
			got := w.kerac(append(append([]string{"run"}, args...), "--target", target, "--output", "result=o.npy")...)
			if got.code == 8 && strings.Contains(got.err, "no section for") {
				t.Logf("%s on %s: not checked", r.entry, target)
				continue
			}
			if r.trap != "" {
				w.expect(got, 9, "trap: "+r.trap)
				continue
			}
			w.expect(got, 0)
			want := strings.Repeat(string(little(t, r.want)), count)
			if have := string(payload(t, w.read("o.npy"))); have != want {
				t.Errorf("%s on %s: %x, want %x", r.entry, target, have, want)
			}
		}
		w.want(0, append([]string{"verify"}, args...))
	}
	t.Logf("%d programs", len(runs))
}

// little turns bits written as one hexadecimal number into bytes.
func little(t *testing.T, bits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(bits)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(b)
	return b
}
