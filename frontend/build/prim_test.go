package build

import (
	"testing"

	"github.com/kera-lang/kera/frontend/check"
)

// noLowering are the rows that package check makes other nodes of.
var noLowering = map[string]bool{"broadcast": true, "len": true}

// TestEveryBuiltinHasALowering compares the table of builtins with lowerings.
func TestEveryBuiltinHasALowering(t *testing.T) {
	known := map[string]bool{"bits": true}
	for _, r := range check.Builtins() {
		known[r.Name] = true
		if _, ok := lowerings[r.Name]; ok == noLowering[r.Name] {
			t.Errorf("%s: has a lowering: %v", r.Name, ok)
		}
		if r.Sig == "" || r.Doc == "" || r.Lower == "" {
			t.Errorf("%s is not documented", r.Name)
		}
	}
	for name := range lowerings {
		if !known[name] {
			t.Errorf("%s is lowered but not declared", name)
		}
	}
}
