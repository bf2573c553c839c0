package conformance

import (
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

func TestComplete(t *testing.T) {
	used := Ops()
	for _, row := range op.All() {
		if !used[row.Code] {
			t.Errorf("no case uses %s", row.Name)
		}
	}
	for _, g := range Groups() {
		if err := graph.Validate(g.Graph, "conformance"); err != nil {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
}
