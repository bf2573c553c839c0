package keg

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/op"
)

// TestOpTable: docs/spec/encoding.md lists the ops as core/op declares them.
func TestOpTable(t *testing.T) {
	const path, begin, end = "../../docs/spec/encoding.md", "<!-- ops: checked against core/op by core/keg -->\n", "<!-- end -->"
	var b strings.Builder
	b.WriteString("| op | | version | inputs | regions | attributes | |\n|---|---|---|---|---|---|---|\n")
	number := func(n int) string {
		if n < 0 {
			return "*"
		}
		return fmt.Sprint(n)
	}
	for _, r := range op.All() {
		var keys []string
		for _, a := range r.Attrs {
			keys = append(keys, a.Key.String())
		}
		fmt.Fprintf(&b, "| %d | `%s` | %d | %s | %s | %s | %s |\n", r.Code, r.Name, r.Version, number(r.Arity), number(r.Regions), strings.Join(keys, " "), r.Doc)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("the page has no marks around the table of ops")
	}
	want := before + begin + b.String() + end + after
	if string(page) == want {
		return
	}
	if os.Getenv("KERA_UPDATE") == "" {
		t.Fatal("the page's table of ops is not what core/op declares")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
