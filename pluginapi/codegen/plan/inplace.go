package plan

import (
	"container/heap"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
)

// In-place updates. An update, the carried value of a loop and the result of a
// switch may take over the memory of an input that nobody will read again, so
// that a loop which fills an array costs one store a trip and not a copy.
//
// Memory counts who holds it (alloc.refs). An input may be taken over if this
// is its last use in the region and the only holders are its own name there and
// those that gave it away: a loop gives its state to its body, a switch its
// adopted inputs to its arms. Everything else that could still read the old
// contents - a view, a lazy value, a second name - is a holder too, and forbids it.

// donatable reports whether input i of the node being emitted may be overwritten.
func (e *emitter) donatable(i int, o operand) bool {
	if i >= len(e.lastUse) || !e.lastUse[i] || o.kind != inMemory || o.view.alloc == nil {
		return false
	}
	a := o.view.alloc
	return a.refs == e.given[a]+1 && o.view.off.isConst() && o.view.off.c == 0 && o.view.contiguous(o.typ.Shape())
}

// lastUses says of each input of n whether this is its last use in the region.
func (e *emitter) lastUses(n graph.NodeID, uses map[graph.Ref]int) []bool {
	ins := e.g.Ins(n)
	out := make([]bool, len(ins))
	for i, x := range ins {
		out[i] = uses[x] == 1
	}
	return out
}

// give runs f while the state's memory counts as given away by its present
// holders.
func (e *emitter) give(state []operand, f func()) {
	was := map[*alloc]int{}
	for _, s := range state {
		if s.kind == inMemory && s.view.alloc != nil {
			a := s.view.alloc
			was[a] = e.given[a]
			e.given[a] = a.refs
		}
	}
	f()
	for a, n := range was {
		e.given[a] = n
	}
}

// adoptable finds, for result i of a switch, the input whose memory every arm
// gives back: as it was, or updated.
func (e *emitter) adoptable(regs []graph.RegionID, ins []operand, i int) (int, bool) {
	for j := 1; j < len(ins); j++ {
		if e.donatable(j, ins[j]) && e.armsDerive(regs, i, int64(j-1)) {
			return j, true
		}
	}
	return 0, false
}

// derives reports whether x is parameter p of its region after any number of
// updates, of loops that carry it and of switches that give it back.
func (e *emitter) derives(x graph.Ref, p int64) bool {
	ins := e.g.Ins(x.Node)
	switch e.g.Op(x.Node) {
	case op.Param:
		return e.g.Attrs(x.Node).Int(op.KIndex) == p
	case op.Update:
		return e.derives(ins[0], p)
	case op.Loop:
		return int(x.Out) < len(ins)-1 && int64(x.Out) < e.g.Attrs(x.Node).Int(op.KCarried) && e.derives(ins[1+x.Out], p)
	case op.Switch:
		for j := 1; j < len(ins); j++ {
			if e.armsDerive(e.g.Regions(x.Node), int(x.Out), int64(j-1)) && e.derives(ins[j], p) {
				return true
			}
		}
	}
	return false
}

// armsDerive reports whether result i of every region derives from parameter p.
func (e *emitter) armsDerive(regs []graph.RegionID, i int, p int64) bool {
	for _, r := range regs {
		if !e.derives(e.g.Results(r)[i], p) {
			return false
		}
	}
	return true
}

// order lists the nodes of a region so that those that may overwrite their
// input - updates, loops, switches - come as late as their users allow, after
// the reads of what they overwrite. Regions without updates keep the order of
// their ids.
func (e *emitter) order(r graph.RegionID) []graph.NodeID {
	ids := e.g.Order(r)
	writes := false
	for _, n := range ids {
		writes = writes || e.overwrites(n)
	}
	if !writes {
		return ids
	}
	waiting := make(map[graph.NodeID]int, len(ids))
	users := e.g.Users(r)
	q := &ready{e: e}
	for _, n := range ids {
		seen := map[graph.NodeID]bool{}
		for _, in := range e.g.Ins(n) {
			seen[in.Node] = true
		}
		if waiting[n] = len(seen); len(seen) == 0 {
			q.ids = append(q.ids, n)
		}
	}
	heap.Init(q)
	out := make([]graph.NodeID, 0, len(ids))
	for q.Len() > 0 {
		n := heap.Pop(q).(graph.NodeID)
		out = append(out, n)
		for _, u := range users[n] {
			if waiting[u]--; waiting[u] == 0 {
				heap.Push(q, u)
			}
		}
	}
	return out
}

func (e *emitter) overwrites(n graph.NodeID) bool {
	switch e.g.Op(n) {
	case op.Update, op.Loop, op.Switch:
		return true
	}
	return false
}

// ready is the queue of nodes whose inputs are there: reads before writes, then
// by id.
type ready struct {
	e   *emitter
	ids []graph.NodeID
}

func (q *ready) Len() int { return len(q.ids) }

func (q *ready) Less(i, j int) bool {
	a, b := q.e.overwrites(q.ids[i]), q.e.overwrites(q.ids[j])
	if a != b {
		return b
	}
	return q.ids[i] < q.ids[j]
}

func (q *ready) Swap(i, j int) { q.ids[i], q.ids[j] = q.ids[j], q.ids[i] }

func (q *ready) Push(x any) { q.ids = append(q.ids, x.(graph.NodeID)) }

func (q *ready) Pop() any {
	n := len(q.ids) - 1
	x := q.ids[n]
	q.ids = q.ids[:n]
	return x
}
