package e2e

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTooLarge: what does not fit is refused before anything is allocated.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.kera", `pub fn wide(x: f64[1000000, 3000]) -> f64 { sum(x) }
pub fn tall(x: f64) -> f64[1000000, 300000] { map i in 0..1000000, j in 0..300000 { x + f64(i + j) } }
pub fn inner(x: f64) -> f64 { sum(map i in 0..1000000, j in 0..300000 { x + f64(i + j) }) }
`)
	w.write("x.json", "1")
	w.must("build", "p.kera", "-o", "p.keg", "--target", cpu)
	w.want(1, []string{"verify", "p.keg"}, "p.keg: entry inner: limit exceeded: more than 8589934592 bytes of tensors")
	w.want(1, []string{"verify", "p.keg", "--entry", "wide"}, "entry wide: inputs and outputs of 24000000008 bytes")
	w.want(1, []string{"run", "p.keg", "--entry", "tall", "--input", "x=x.json", "--target", "interp"}, "limit exceeded")
	if r := w.kerac("run", "p.keg", "--entry", "tall", "--input", "x=x.json"); r.code != 1 || !strings.Contains(r.err, "not enough memory") && !strings.Contains(r.err, "limit exceeded") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	w.want(8, []string{"build", "p.kera", "-o", "q.keg", "--target", "wasm"}, "wasm:simd128: entry ", "wasm32 has", "[WASM-0002]")
}

// grow makes sources of a given size; compiling them is to take a time that grows
// about as they do.
var grow = []struct {
	name  string
	sizes [2]int
	text  func(n int) string
}{
	{"functions that call each other", [2]int{250, 500}, func(n int) string {
		var b strings.Builder
		b.WriteString("fn g0(x: f64) -> f64 { x * 0.5 + 1.0 }\n")
		for i := 1; i < n; i++ {
			callee := i - 1
			if i%30 == 0 {
				callee = 0
			}
			fmt.Fprintf(&b, "fn g%d(x: f64) -> f64 {\n    let a = g%d(x) * %d.0\n    let b = if a > %d.5 { a - 1.0 } else { a + 2.0 }\n    a + b * 0.25\n}\n", i, callee, i, i)
		}
		b.WriteString("pub fn main(x: f64) -> f64 { 0.0")
		for i := 29; i < n; i += 30 {
			fmt.Fprintf(&b, " + g%d(x)", i)
		}
		b.WriteString(" }\n")
		return b.String()
	}},
	{"entries", [2]int{250, 500}, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "pub fn e%d(x: f64[16], y: f64) -> f64[16] {\n    let a = x * %d.5 + y\n    max(a, %d.0) / (a + 1.0)\n}\n", i, i, i)
		}
		return b.String()
	}},
	{"lines of one entry", [2]int{1000, 2000}, func(n int) string {
		var b strings.Builder
		b.WriteString("pub fn main(x: i64) -> i64 {\n    let v0 = x\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, "    let v%d = v%d + %d * v%d %% 1000\n", i, i-1, i, max(0, i-3))
		}
		fmt.Fprintf(&b, "    v%d\n}\n", n-1)
		return b.String()
	}},
	{"tensor operations of one entry", [2]int{500, 1000}, func(n int) string {
		var b strings.Builder
		b.WriteString("pub fn main(x: f64[64]) -> f64[64] {\n    let v0 = x\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, "    let v%d = v%d * %d.25 + v%d\n", i, i-1, i, max(0, i-7))
		}
		fmt.Fprintf(&b, "    v%d\n}\n", n-1)
		return b.String()
	}},
}

// TestGrowth: twice the source takes about twice the time, and the result is
// right. With -long four times the sizes.
func TestGrowth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("off.yaml", "cache: {off: true}\n")
	for _, g := range grow {
		var took [2]time.Duration
		for i, n := range g.sizes {
			if *long {
				n *= 4
			}
			w.write("g.kera", g.text(n))
			r := w.must("build", "g.kera", "-o", "g.keg", "--config", "off.yaml")
			took[i] = r.took
			if n <= 500 && g.name != "entries" || *long {
				w.want(0, []string{"verify", "g.keg", "--cases", "3"})
			}
			t.Logf("%s: %d in %v, %d bytes", g.name, n, r.took.Round(time.Millisecond), len(w.read("g.keg")))
		}
		// Other work on the machine disturbs: only what is far off counts.
		if took[1] > 6*took[0]+2*time.Second {
			t.Errorf("%s: %v, and %v for twice as much", g.name, took[0], took[1])
		}
	}
}

// TestDeepNesting: what is too deep is a diagnostic, whatever it is made of.
func TestDeepNesting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, text := range map[string]func(n int) string{
		"parentheses": func(n int) string { return strings.Repeat("(", n) + "x" + strings.Repeat(")", n) },
		"minuses":     func(n int) string { return strings.Repeat("-(", n) + "x" + strings.Repeat(")", n) },
		"additions":   func(n int) string { return "x" + strings.Repeat(" + 1.0", n) },
		"blocks":      func(n int) string { return strings.Repeat("{ ", n) + "x" + strings.Repeat(" }", n) },
		"branches": func(n int) string {
			return strings.Repeat("if x > 1.0 { ", n) + "x" + strings.Repeat(" } else { 2.0 }", n)
		},
		"maps":     func(n int) string { return strings.Repeat("sum(map i in 0..2 { ", n) + "x" + strings.Repeat(" })", n) },
		"brackets": func(n int) string { return strings.Repeat("[", n) + "x" + strings.Repeat("]", n) },
		"comments": func(n int) string { return strings.Repeat("/* ", n) + strings.Repeat(" */", n) + " x" },
	} {
		for _, n := range []int{20, 300, 20000} {
			w.write("d.kera", "pub fn f(x: f64) -> f64 { "+text(n)+" }\n")
			r := w.kerac("build", "d.kera", "-o", "d.keg", "--target", "none")
			if r.code > 1 || r.code == 1 && !strings.Contains(r.err, "error[K0") || r.took > 20*time.Second {
				t.Errorf("%d %s: exit %d in %v\n%s", n, name, r.code, r.took, head(r.err))
			}
			if len(r.err) > 20000 {
				t.Errorf("%d %s: %d bytes of messages", n, name, len(r.err))
			}
		}
	}
}

// TestManyAtOnce: commands that share a cache and an output do not disturb one
// another, and the output is always one of the whole files.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.kera", sample)
	w.write("b.kera", plusOne)
	want := map[string]bool{}
	for _, f := range []string{"a", "b"} {
		w.must("build", f+".kera", "-o", f+".keg")
		want[string(w.read(f+".keg"))] = true
	}
	w.write("kera.yaml", "cache: {dir: shared}\n")
	var wg sync.WaitGroup
	for k := range max(4, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range 4 {
				r := w.kerac("build", string("ab"[(k+i)%2])+".kera", "-o", "o.keg")
				if r.code != 0 || !want[string(w.read("o.keg"))] {
					t.Errorf("exit %d, %s; not one of the whole files", r.code, r.err)
				}
			}
		})
	}
	wg.Wait()
	if left := w.ls(w.dir); bytes.Contains([]byte(strings.Join(left, " ")), []byte(".tmp")) {
		t.Errorf("left behind: %q", left)
	}
}
