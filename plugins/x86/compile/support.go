package compile

import (
	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/pluginapi/codegen/plan"
	"github.com/kera-lang/kera/pluginapi/sdk"
	"github.com/kera-lang/kera/plugins/x86/isel"
)

// Support says which nodes of the entries' regions the target takes, in
// connected groups, and why it refuses the others, each named once.
func Support(g *graph.Graph, l *isel.Level, entries []string) sdk.Support {
	groups, refused := plan.Groups(g, options(l, entries))
	out := sdk.Support{Groups: groups}
	seen := map[digest.D]bool{}
	for _, r := range refused {
		if d := g.Digest(r.Node); !seen[d] {
			seen[d] = true
			out.Refused = append(out.Refused, sdk.Refusal{Node: d, Reason: r.Reason})
		}
	}
	return out
}
