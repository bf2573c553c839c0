package kera_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/kera-lang/kera/core/numeric"
)

// markdown lists the repository's pages, slash paths from its root.
func markdown(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != "." && (strings.HasPrefix(name, ".") || name == "bin" || name == "out" || name == "testdata") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".md") {
			out = append(out, filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no page found: the test runs in the wrong folder")
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// block is a fenced block of a page.
type block struct {
	line int // of the first line inside
	info string
	body []string
}

// blocks splits a page into its fenced blocks and the text around them.
func blocks(page string) (fenced []block, prose string) {
	var b strings.Builder
	var cur *block
	for i, l := range strings.Split(page, "\n") {
		info, fence := strings.CutPrefix(strings.TrimSpace(l), "```")
		switch {
		case fence && cur == nil:
			cur = &block{line: i + 2, info: info}
		case fence:
			fenced = append(fenced, *cur)
			cur = nil
		case cur != nil:
			cur.body = append(cur.body, l)
		default:
			b.WriteString(l)
		}
		b.WriteByte('\n')
	}
	return fenced, b.String()
}

var (
	linkForm  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// slugs lists the anchors of a page's headings.
func slugs(page string) map[string]bool {
	_, prose := blocks(page)
	out := map[string]bool{}
	for _, l := range strings.Split(prose, "\n") {
		if title := strings.TrimLeft(l, "#"); title != l && strings.HasPrefix(title, " ") {
			s := notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			out[strings.ReplaceAll(s, " ", "-")] = true
		}
	}
	return out
}

// TestLinks: every relative link leads to a file, and to a heading if it names one.
func TestLinks(t *testing.T) {
	for _, page := range markdown(t) {
		_, prose := blocks(read(t, page))
		for i, l := range strings.Split(prose, "\n") {
			for _, m := range linkForm.FindAllStringSubmatch(codeSpan.ReplaceAllString(l, "x"), -1) {
				target, anchor, _ := strings.Cut(m[1], "#")
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				path := page
				if target != "" {
					path = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
				}
				if _, err := os.Stat(path); err != nil || strings.HasPrefix(path, "..") {
					t.Errorf("%s:%d: the link %s leads nowhere", page, i+1, m[1])
				} else if anchor != "" && strings.HasSuffix(path, ".md") && !slugs(read(t, path))[anchor] {
					t.Errorf("%s:%d: %s has no heading #%s", page, i+1, path, anchor)
				}
			}
		}
	}
}

// TestDocsIndex: docs/README.md names every page under docs.
func TestDocsIndex(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, page := range markdown(t) {
		if rel, ok := strings.CutPrefix(page, "docs/"); ok && rel != "README.md" && !strings.Contains(index, "]("+rel+")") {
			t.Errorf("docs/README.md does not name %s", rel)
		}
	}
}

// TestNoMachinePaths: pages speak of the repository, not of somebody's machine.
func TestNoMachinePaths(t *testing.T) {
	private := regexp.MustCompile(`(^|[\s"'(=` + "`" + `])/(work|home|root|Users|mnt)/`)
	for _, page := range markdown(t) {
		for i, l := range strings.Split(read(t, page), "\n") {
			if private.MatchString(l) {
				t.Errorf("%s:%d: a path of one machine: %s", page, i+1, l)
			}
		}
	}
}

// session is a command of a `sh` block with the output shown for it. A command
// is a line that starts with "$ ", continued by lines that start with "> ".
type session struct {
	line    int
	command string
	output  []string
}

func sessions(page string) (out []session) {
	fenced, _ := blocks(page)
	for _, b := range fenced {
		if b.info != "sh" {
			continue
		}
		for i, l := range b.body {
			if cmd, ok := strings.CutPrefix(l, "$ "); ok {
				out = append(out, session{b.line + i, cmd, nil})
			} else if len(out) == 0 {
				continue
			} else if more, ok := strings.CutPrefix(l, "> "); ok && out[len(out)-1].output == nil {
				out[len(out)-1].command += "\n" + more
			} else {
				s := &out[len(out)-1]
				s.output = append(s.output, l)
			}
		}
	}
	return out
}

// Times, sizes and counts of nodes change with the machine and with better code;
// widths of columns follow them. All else must be as shown.
var varies = []struct {
	form *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`[0-9.]+ (ns|us|ms|s)\b`), "TIME"},
	{regexp.MustCompile(`[0-9]+( work)? bytes`), "N bytes"},
	{regexp.MustCompile(`[0-9]+ (nodes|pieces|folded)`), "N $1"},
	{regexp.MustCompile(`\s+`), " "},
}

func plain(s string) string {
	for _, v := range varies {
		s = v.form.ReplaceAllString(s, v.to)
	}
	return strings.TrimSpace(s)
}

// lineMatches compares a shown line with a real one. "..." stands for any text;
// a row of a target this machine does not run is as good as the one shown.
func lineMatches(shown, real string) bool {
	shown, real = plain(shown), plain(real)
	if f := strings.Fields(shown); len(f) > 0 && strings.HasPrefix(real, f[0]+" ") && strings.Contains(real, "not checked") {
		return true
	}
	parts := strings.Split(shown, "...")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(real)
}

// matches compares outputs; a line "..." stands for any number of lines.
func matches(shown, real []string) bool {
	switch {
	case len(shown) == 0:
		return len(real) == 0
	case strings.TrimSpace(shown[0]) == "...":
		for i := 0; i <= len(real); i++ {
			if matches(shown[1:], real[i:]) {
				return true
			}
		}
		return false
	}
	return len(real) > 0 && lineMatches(shown[0], real[0]) && matches(shown[1:], real[1:])
}

func lines(s string) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// TestReadme runs the tour of README.md, in a folder that looks like the
// repository, against the built commands.
func TestReadme(t *testing.T) {
	steps := sessions(read(t, "README.md"))
	if len(steps) < 5 {
		t.Fatalf("README.md shows %d commands", len(steps))
	}
	if _, err := os.Stat("bin/kerac"); err != nil {
		t.Skip("not checked: bin/kerac is not built (make build)")
	}
	if runtime.GOOS != "linux" || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		t.Skip("not checked: the tour runs x86 code with AVX2")
	}
	if testing.Short() {
		t.Skip("not checked: the tour takes some seconds")
	}
	dir := t.TempDir()
	for _, name := range []string{"bin", "examples"} {
		abs, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(abs, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "NO_COLOR=1", "KERA_PLUGIN_PATH=", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, s := range steps {
		if strings.HasPrefix(s.command, "make ") || strings.HasPrefix(s.command, "git ") {
			continue // this test is part of them
		}
		cmd := exec.CommandContext(ctx, "bash", "-c", s.command)
		cmd.Dir, cmd.Env = dir, env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // what it prints tells; some commands fail on purpose
		shown := lines(strings.Join(s.output, "\n"))
		if real := lines(out.String()); !matches(shown, real) {
			t.Errorf("README.md:%d: $ %s\nshown:\n%s\nreal:\n%s", s.line, s.command, strings.Join(shown, "\n"), strings.Join(real[:min(len(real), 60)], "\n"))
		}
	}
}

// TestLineMatches checks the comparison itself.
func TestLineMatches(t *testing.T) {
	for _, c := range []struct {
		shown, real string
		want        bool
	}{
		{"a  b", "a b", true},
		{"a b", "a c", false},
		{"ran in 1.5 ms", "ran in 300 us", true},
		{"code 100 bytes", "code     7 bytes", true},
		{"x ... z", "x y y z", true},
		{"x ... z", "x y y", false},
		{"x86:avx512  natively  1 ms  =  af", "x86:avx512  not checked: no avx512f", true},
		{"x86:avx512  natively  1 ms  =  af", "x86:avx512  natively  1 ms  =  b0", false},
		{"[a](b)", "[a](b)", true},
	} {
		if got := lineMatches(c.shown, c.real); got != c.want {
			t.Errorf("lineMatches(%q, %q) = %v", c.shown, c.real, got)
		}
	}
}

// TestReductionExample computes the worked examples of docs/spec/numerics.md.
func TestReductionExample(t *testing.T) {
	add := func(a, b float32) float32 { return a + b }
	if got := numeric.ReduceSlice([]float32{1e8, 1, -1e8, 1, 3}, add); got != 2 {
		t.Errorf("the sum of five is %v, not 2", got)
	}
	join := func(a, b string) string { return "(" + a + "+" + b + ")" }
	var xs []string
	for i := range 130 {
		xs = append(xs, strconv.Itoa(i))
	}
	tree := numeric.ReduceSlice(xs, join)
	for _, lane := range []string{"((0+64)+128)", "((1+65)+129)", "(2+66)", "(63+127)"} {
		if !strings.Contains(tree, lane) {
			t.Errorf("no lane %s in %s", lane, tree)
		}
	}
}

// TestOrders writes the pseudo-code of docs/spec/numerics.md down once more and
// compares it with core/numeric, on an operation that shows every difference in
// order.
func TestOrders(t *testing.T) {
	comb := func(a, b uint64) uint64 { return (a*0x9e3779b97f4a7c15 ^ b) * 0xbf58476d1ce4e5b9 }
	var reduce func(x []uint64) uint64
	reduce = func(x []uint64) uint64 {
		n := len(x)
		if n > 4096 {
			var parts []uint64
			for lo := 0; lo < n; lo += 4096 {
				parts = append(parts, reduce(x[lo:min(lo+4096, n)]))
			}
			return reduce(parts)
		}
		live := min(n, 64)
		var lane [64]uint64
		for j := range live {
			lane[j] = x[j]
			for i := j + 64; i < n; i += 64 {
				lane[j] = comb(lane[j], x[i])
			}
		}
		for _, h := range []int{32, 16, 8, 4, 2, 1} {
			for i := 0; i < h && i+h < live; i++ {
				lane[i] = comb(lane[i], lane[i+h])
			}
			live = min(live, h)
		}
		return lane[0]
	}
	chain := func(x []uint64) uint64 {
		total := uint64(0)
		for lo := 0; lo < len(x); lo += 4096 {
			acc := uint64(0)
			for _, v := range x[lo:min(lo+4096, len(x))] {
				acc = comb(acc, v)
			}
			if lo == 0 {
				total = acc
			} else {
				total = comb(total, acc)
			}
		}
		return total
	}
	for _, n := range []int{1, 2, 5, 33, 63, 64, 65, 100, 130, 4095, 4096, 4097, 10000, 4096*65 + 7} {
		x := make([]uint64, n)
		for i := range x {
			x[i] = comb(uint64(i), 7)
		}
		if numeric.ReduceSlice(x, comb) != reduce(x) {
			t.Errorf("reductions of %d elements differ", n)
		}
		if numeric.Chain(n, 0, func(acc uint64, i int) uint64 { return comb(acc, x[i]) }, comb) != chain(x) {
			t.Errorf("chains of %d terms differ", n)
		}
	}
}
