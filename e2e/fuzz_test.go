package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/keg"
)

// TestRandomSections changes random bytes of compiled sections and makes the
// digests right again: any byte of a WebAssembly section, and of CPU sections the
// description (their code is free to do what it likes, which no check can judge).
// kerac may say anything of the table but must say it, and verify may call a
// target equal only if it gave the right outputs, which it compared itself.
func TestRandomSections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f.kera", victim+"pub fn t(x: i64[5]) -> i64 { sum(map i in 0..5 { x[i] * 3 / (x[0] - 1) }) }\n")
	w.must("build", "f.kera", "-o", "good.keg", "--target", cpu, "--target", wasm)
	good := w.read("good.keg")
	rng := rand.New(rand.NewPCG(1, 2))
	n := 60
	if *long {
		n = 4000
	}
	codes := map[int]int{}
	for i := range n {
		f := open(t, good)
		k := i % len(f.Targets)
		target := &f.Targets[k]
		payload := bytes.Clone(target.Payload)
		size := len(payload)
		if target.Desc.Plugin.Name == "x86" {
			size = 16 + int(binary.LittleEndian.Uint64(payload))
		}
		for range 1 + rng.IntN(3) {
			at := rng.IntN(size)
			switch rng.IntN(3) {
			case 0:
				payload[at] ^= 1 << rng.IntN(8)
			case 1:
				payload[at] = byte(rng.Uint32())
			default:
				payload[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[rng.IntN(5)]
			}
		}
		f.Targets[k] = keg.Target{Payload: payload, Desc: target.Desc, Artifact: payload[len(payload)-len(target.Artifact):]}
		b, err := keg.Encode(f, keg.WriteOptions{})
		if err != nil {
			continue // the writer refuses it
		}
		w.write("bad.keg", string(b))
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		c := w.command(ctx, nil, "verify", "bad.keg", "--cases", "2")
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it may never end
		var out, stderr bytes.Buffer
		c.Stdout, c.Stderr = &out, &stderr
		err = c.Run()
		cancel()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		r := result{args: c.Args[1:], code: c.ProcessState.ExitCode(), out: out.String(), err: stderr.String()}
		w.check(r)
		codes[r.code]++
		if !slices.Contains([]int{0, 3, 4, 7, 8, 130}, r.code) || strings.Contains(r.err, "internal fault") {
			w.write("found.keg", string(b))
			t.Fatalf("case %d: exit %d\n%s%s", i, r.code, r.out, r.err)
		}
	}
	t.Logf("exit codes of %d files: %v", n, codes)
}
