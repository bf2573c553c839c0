package frontend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/diag"
)

// TestScale: long and deep programs compile, or are refused with a reason.
func TestScale(t *testing.T) {
	var lets, ifs, calls, deep, wide strings.Builder
	lets.WriteString("pub fn main() -> i64 {\nlet x0 = 1\n")
	for i := range 3000 {
		fmt.Fprintf(&lets, "let x%d = x%d + %d\n", i+1, i, i)
	}
	lets.WriteString("x3000\n}\n")
	ifs.WriteString("pub fn main() -> i64 {\nlet mut s = 0\n")
	for i := range 1000 {
		fmt.Fprintf(&ifs, "let v%d = s\nif s > %d { s += v%d } else { s += 1 }\n", i, i*3, i)
	}
	ifs.WriteString("s\n}\n")
	calls.WriteString("fn g0(x: i64) -> i64 { x + 1 }\n")
	for i := range 50 {
		fmt.Fprintf(&calls, "fn g%d(x: i64) -> i64 { g%d(x) + g%d(x + 1) }\n", i+1, i, i)
	}
	deep.WriteString(calls.String())
	calls.WriteString("pub fn main(x: i64) -> i64 { g50(x) }\n")
	for i := range 30 {
		fmt.Fprintf(&deep, "fn g%d(x: i64) -> i64 { g%d(x) }\n", i+51, i+50)
	}
	deep.WriteString("pub fn main(x: i64) -> i64 { g80(x) }\n")
	wide.WriteString("fn g[n](x: f64[n]) -> f64 { sum(x) }\npub fn main() -> f64 {\nlet mut s = 0.0\n")
	for i := range 400 {
		fmt.Fprintf(&wide, "s += g[%d](broadcast(1.0, [%d]))\n", i, i)
	}
	wide.WriteString("s\n}\n")
	cases := []struct {
		name, src, want string
		code            diag.Code
	}{
		{"a long sum", "pub fn main() -> i64 { 0" + strings.Repeat(" + 1", 2000) + " }", "2000", ""},
		{"deep parentheses", "pub fn main() -> i64 { " + strings.Repeat("(", 200) + "7" + strings.Repeat(")", 200) + " }", "7", ""},
		{"many variables", lets.String(), "4498501", ""},
		{"many branches", ifs.String(), "1000", ""},
		{"shared calls", calls.String(), "", ""},
		{"calls too deep", deep.String(), "", diag.BuildLimit},
		{"many instances", wide.String(), "79800", ""},
		{"a large array", "pub fn main() -> i64 { sum([" + strings.Repeat("1, ", 5000) + "0]) }", "5000", ""},
		{"an endless constant", "const A: i64 = { let mut s = 0; for i in 0..i64.MAX { s +%= i }; s }\n", "", diag.BuildLimit},
		{"a constant without end in memory", "const A: f64 = sum(broadcast(1.0, [1 << 40]))\n", "", diag.NotADim},
		{"a huge constant", "const A: f64 = sum(map i in 0..1099511627776 { f64(i) })\n", "", diag.BuildLimit},
		{"a type too large", "pub fn main(x: f64[1099511627776, 1099511627776]) -> f64 { 1.0 }\n", "", diag.InstanceShape},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, ds := compileText(c.src, Options{})
			switch {
			case c.code != "":
				if len(ds) == 0 || ds[0].Code != c.code {
					t.Error(texts(ds))
				}
			case res.Graph == nil:
				t.Error(texts(ds))
			case c.want != "":
				if got := runMain(res.Graph); got != c.want {
					t.Errorf("gives %s, want %s", got, c.want)
				}
			}
		})
	}
}
