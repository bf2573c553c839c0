package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// malformed is how kerac speaks of a file that is no .keg: the file, the place,
// the section, the reason, in one line.
var malformed = regexp.MustCompile(`^kerac: bad\.keg: malformed \.keg: byte \d+ \([a-z0-9 ]+\): [^\n]+\n$`)

// readers are the commands that read an artefact, which is called bad.keg.
var readers = [][]string{
	{"run", "bad.keg", "--entry", "table", "--input", "k=k.json", "--output", "result=out.json"},
	{"run", "bad.keg", "--entry", "table", "--input", "k=k.json", "--target", "interp"},
	{"inspect", "bad.keg"},
	{"inspect", "bad.keg", "--stage", "asm"},
	{"verify", "bad.keg"},
	{"diff", "good.keg", "bad.keg"},
	{"diff", "bad.keg", "good.keg"},
	{"build", "bad.keg", "-o", "out.keg", "--target", "wasm"},
	{"fingerprint", "bad.keg"},
}

// damaged runs one command on each damaged file. A few in parallel.
func damaged(t *testing.T, good []byte, cases []damage) {
	t.Helper()
	const workers = 4
	var wg sync.WaitGroup
	for k := range workers {
		w := newWorld(t)
		w.write("good.keg", string(good))
		w.write("k.json", "[1,2,3,9]")
		wg.Go(func() {
			for i := k; i < len(cases); i += workers {
				c := cases[i]
				if err := os.WriteFile(w.path("bad.keg"), c.apply(good), 0o644); err != nil {
					t.Error(err)
				}
				r := w.kerac(readers[i%len(readers)]...)
				if r.code != 4 || !malformed.MatchString(r.err) || r.out != "" {
					t.Errorf("%v: kerac %q: exit %d\nstdout: %s\nstderr: %s", c, r.args, r.code, head(r.out), head(r.err))
				}
			}
			if left := w.ls(w.dir); len(left) != 3 {
				t.Errorf("files: %q", left)
			}
		})
	}
	wg.Wait()
}

// damage cuts a file at a byte, or flips one bit of that byte.
type damage struct {
	at, bit int
	cut     bool
}

func (d damage) String() string {
	if d.cut {
		return fmt.Sprintf("cut to %d bytes", d.at)
	}
	return fmt.Sprintf("byte %d bit %d", d.at, d.bit)
}

func (d damage) apply(good []byte) []byte {
	b := bytes.Clone(good)
	if d.cut {
		return b[:d.at]
	}
	b[d.at] ^= 1 << d.bit
	return b
}

// TestDamagedFile cuts and flips a file with three compiled targets. Quickly: the
// header, the section table, the borders of all sections, and a sample of the
// rest; with -long every byte.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("sample.kera", sample)
	w.must("build", "sample.kera", "-o", "good.keg")
	good := w.read("good.keg")
	var cases []damage
	add := func(at int) {
		if at >= 0 && at < len(good) {
			cases = append(cases, damage{at, at * 5 % 8, false}, damage{at, 0, true})
		}
	}
	step := 997
	if *long {
		step = 1
	}
	for at := 0; at < 96; at += min(step, 5) {
		add(at)
	}
	for _, data := range sections(t, good) {
		at := len(good) - cap(data)
		for _, edge := range []int{at - 1, at, at + len(data) - 1, at + len(data)} {
			add(edge)
		}
	}
	for at := 0; at < len(good); at += step {
		add(at)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		add(rng.IntN(len(good)))
	}
	t.Logf("%d damaged files of %d bytes", len(cases), len(good))
	damaged(t, good, cases)
}

// TestNoKeg: files that never were one.
func TestNoKeg(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, text := range map[string]string{
		"empty": "", "text": "hello\n", "magic": "KEG\x00", "zeros": strings.Repeat("\x00", 5000),
		"header": "KEG\x00\x01\x00\x00\x00\xff\xff\xff\xff" + strings.Repeat("\xff", 100),
		"major":  "KEG\x00\x02\x00\x00\x00" + strings.Repeat("\x00", 200),
	} {
		w.write("bad.keg", text)
		for _, args := range [][]string{{"inspect", "bad.keg"}, {"verify", "bad.keg"}, {"run", "bad.keg"}} {
			if r := w.want(4, args); !malformed.MatchString(r.err) {
				t.Errorf("%s: %q", name, r.err)
			}
			w.want(4, append(args, "--json"), `"exit": 4`, `"kind": "artefact"`, `"offset": `, `"section": "header"`, `"reason": `)
		}
	}
	w.want(1, []string{"inspect", "none.keg"}, "K0720", "none.keg cannot be read: no such file or directory")
	if err := os.Mkdir(w.path("dir.keg"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.want(1, []string{"inspect", "dir.keg"}, "K0720", "dir.keg cannot be read: is a directory")
}
