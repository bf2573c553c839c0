package compile

import (
	"bytes"
	"context"
	"testing"

	"github.com/kera-lang/kera/pluginapi/conformance"
)

// TestBigContractions: shapes that are packed group by group, in blocks of
// terms, or streamed, against the interpreter.
func TestBigContractions(t *testing.T) {
	if testing.Short() {
		t.Skip("not checked: millions of products")
	}
	ctx := context.Background()
	for _, c := range []speedCase{
		matmulCase(1, 2100, 515), matmulCase(7, 1030, 1025), matmulCase(40, 1000, 300), matmulCase(129, 100, 131), matmulCase(301, 1100, 1),
		turnedCase(3, 1100, 70), turnedCase(40, 1000, 300),
	} {
		g := c.graph(t)
		calls, err := conformance.Calls(ctx, g, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range Levels() {
			t.Run(c.name+"/"+l.Name, func(t *testing.T) {
				r := runner(t, l)
				s := mustCompile(t, g, l)
				m, err := r.Load(ctx, s.Artifact)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Unload(ctx)
				p := &pool{t: t, r: r}
				if trap, out := p.call(m, &s.Descriptor.Entries[0], calls[0].Inputs); trap != 0 || !bytes.Equal(out[0], calls[0].Outputs[0]) {
					t.Errorf("trap %d, or the result differs", trap)
				}
			})
		}
	}
}
