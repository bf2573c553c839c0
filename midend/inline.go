package midend

import (
	"context"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

// maxInlined bounds the nodes of a region that calls may be inlined into, so
// that a call tree that doubles at every level stays a tree of calls.
const maxInlined = 1 << 16

// inlinePass replaces calls by the callee's body. Contained regions are
// rewritten first, so a callee has no calls left when it is copied.
func inlinePass(o *optimiser, _ context.Context) regionFunc {
	added := 0
	return o.local(func(_ *graph.Rewriter, _ graph.NodeID, def *graph.NodeDef) ([]graph.Ref, error) {
		if def.Op != op.Call || o.keep[o.g.RegionDigest(def.Regions[0])] {
			return nil, nil
		}
		n := len(o.g.Order(def.Regions[0]))
		if added+n > maxInlined {
			return nil, nil
		}
		added += n
		return o.substitute(def.Regions[0], def.Ins)
	})
}

func paramIndex(s *graph.Store, n graph.NodeID) (int64, bool) {
	if s.Op(n) != op.Param {
		return 0, false
	}
	return s.Attrs(n).Int(op.KIndex), true
}
