package frontend

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// TestTour runs every form of the language on generated inputs, edge values
// among them, and keeps what it gave: a trap, or the digest of the outputs.
func TestTour(t *testing.T) {
	src, err := os.ReadFile("testdata/tour.kera")
	if err != nil {
		t.Fatal(err)
	}
	g := mustCompile(t, string(src), Options{})
	m := interp.New(g.Store, interp.DefaultLimits())
	var b strings.Builder
	for i := range g.Exports {
		x := &g.Exports[i]
		fmt.Fprintf(&b, "%s:", x.Name)
		for k := range 4 {
			out, trap, err := m.Run(context.Background(), x, interp.GenAll(g.UserParams(x), 7, k))
			switch {
			case err != nil:
				t.Fatal(x.Name, err)
			case trap != op.TrapNone:
				fmt.Fprintf(&b, " trap(%v)", trap)
			default:
				fmt.Fprintf(&b, " %s", outputDigest(out))
			}
		}
		b.WriteString("\n")
	}
	golden(t, "tour.outputs", b.String())
}

func outputDigest(out []interp.Value) string {
	var ts []types.Type
	var data [][]byte
	for _, v := range out {
		for _, leaf := range v.Leaves(nil) {
			ts, data = append(ts, leaf.Type), append(data, leaf.Data)
		}
	}
	return graph.ValueDigest(ts, data).Short()
}
