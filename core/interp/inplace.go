package interp

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

// An update may write into its operand's buffer when nothing can read that
// buffer again. Without this a loop that fills an array element by element
// would take quadratic time. It is done in two cases only:
//
//   - always: the operand was made by another update of the same region, every
//     use of it copies what it reads (no reshape, tuple, call, ... that could
//     share the buffer), and this update is the last use;
//   - warm: the operand is a loop's carried value, used in that way, and the
//     body returns for it the output of an update that is shared with nothing,
//     so from the second trip on the buffer is the loop's own.
//
// Values that are kept for Locate are never written.
type inPlace uint8

const (
	never inPlace = iota
	always
	warm
)

// shares lists the ops whose outputs may be the buffers of their inputs.
func shares(c op.Code) bool {
	switch c {
	case op.Call, op.Fusion, op.Switch, op.Loop, op.Tuple, op.Get, op.Reshape:
		return true
	}
	return false
}

// owners finds which updates of a region may write in place.
type owners struct {
	p     *plan
	fixed map[graph.NodeID]bool
	maker map[int32]*node // producer of a slot, nil for parameters
	order map[graph.NodeID]int
	uses  map[int32][]*node
}

func newOwners(p *plan, nodes []*node, fixed map[graph.NodeID]bool) *owners {
	w := &owners{p, fixed, map[int32]*node{}, map[graph.NodeID]int{}, map[int32][]*node{}}
	for i, n := range nodes {
		w.order[n.id] = i
		for j := range n.out {
			w.maker[n.o+int32(j)] = n
		}
		for _, s := range n.ins {
			w.uses[s] = append(w.uses[s], n)
		}
	}
	return w
}

// private reports that slot s is used by nothing that may share its buffer.
func (w *owners) private(s int32) bool {
	for _, n := range w.uses[s] {
		if shares(n.op) {
			return false
		}
	}
	return true
}

func (w *owners) results(s int32) (n int) {
	for _, r := range w.p.results {
		if r == s {
			n++
		}
	}
	return n
}

// lastUse reports that n, an update, uses s as its operand alone and is the
// last to use it.
func (w *owners) lastUse(s int32, n *node) bool {
	if w.results(s) > 0 || !w.private(s) {
		return false
	}
	times := 0
	for _, u := range w.uses[s] {
		if w.order[u.id] > w.order[n.id] {
			return false
		}
		if u == n {
			times++
		}
	}
	return times == 1
}

// fresh reports that slot s holds a buffer an update of this region made and
// run by run makes again.
func (w *owners) fresh(s int32) bool {
	m := w.maker[s]
	return m != nil && m.op == op.Update && !w.fixed[m.id]
}

// mode decides for one node.
func (w *owners) mode(n *node) inPlace {
	if n.op != op.Update || n.out[0].Rank() == 0 || w.fixed[n.id] || !w.lastUse(n.ins[0], n) {
		return never
	}
	s := n.ins[0]
	if w.fresh(s) {
		return always
	}
	// A loop body's parameter 1+i is what its result i was in the trip before.
	for k, ps := range w.p.params {
		i := k - 1
		if ps != s || i < 0 || i >= len(w.p.results) {
			continue
		}
		if r := w.p.results[i]; w.fresh(r) && w.results(r) == 1 && w.private(r) {
			return warm
		}
	}
	return never
}
