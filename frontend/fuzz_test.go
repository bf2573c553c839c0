package frontend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/std"
)

// corpus is all Kera source at hand: the library, the examples, the examples of
// the explanations.
func corpus() []string {
	out := []string{pidSource}
	for _, m := range std.Modules() {
		out = append(out, m.Text)
	}
	files, _ := filepath.Glob("../examples/*/*.kera")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			out = append(out, string(b))
		}
	}
	for _, e := range diag.Entries() {
		if e.Code < "K0500" {
			out = append(out, e.Example, e.Fixed)
		}
	}
	return out
}

// survive compiles a text that may be anything; it must not panic.
func survive(src string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	files := memFS(src)
	Compile(ctx, Options{FS: files, Main: "main.kera", Tests: true, Bind: map[string]int64{"n": 3, "m": 2},
		Embed: func(file, array string) (types.Type, []byte, error) { return types.Type{}, nil, fmt.Errorf("no files") }})
}

// FuzzCompile: no source makes the compiler panic, and what it accepts is a
// valid graph (Compile validates).
func FuzzCompile(f *testing.F) {
	for _, src := range corpus() {
		f.Add(src)
	}
	f.Fuzz(func(_ *testing.T, src string) {
		if len(src) < 1<<14 {
			survive(src)
		}
	})
}

var tokenRE = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*|[0-9][0-9a-z_.]*|"[^"\n]*"|\s+|.`)

// TestMutations compiles sources with tokens dropped, doubled, swapped and
// replaced by others of the corpus: mistakes near to those people make.
func TestMutations(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	r := rand.New(rand.NewPCG(1, 2))
	var all []string
	var texts [][]string
	for _, src := range corpus() {
		toks := tokenRE.FindAllString(src, -1)
		texts = append(texts, toks)
		all = append(all, toks...)
	}
	for _, toks := range texts {
		if len(toks) < 3 {
			continue
		}
		for range rounds {
			src := ""
			at := r.IntN(len(toks))
			other := r.IntN(len(toks))
			for i, tok := range toks {
				switch {
				case i != at:
				case r.IntN(4) == 0:
					tok = ""
				case r.IntN(3) == 0:
					tok += " " + tok
				case r.IntN(2) == 0:
					tok = toks[other]
				default:
					tok = all[r.IntN(len(all))]
				}
				src += tok
			}
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Fatalf("panic: %v\n%s", p, src)
					}
				}()
				survive(src)
			}()
		}
	}
}
