package graph

import (
	"math/bits"
	"slices"
)

// Order returns the nodes of region r in topological order (ascending id).
func (s *Store) Order(r RegionID) []NodeID { return s.reach(s.Results(r)) }

// Reach returns the nodes that refs reach through inputs, not into contained
// regions, in topological order.
func (s *Store) Reach(refs []Ref) []NodeID { return s.reach(refs) }

func (s *Store) reach(roots []Ref) []NodeID {
	top := NodeID(-1)
	for _, r := range roots {
		top = max(top, r.Node)
	}
	// Inputs precede, so nothing above the last root is reached, and one pass
	// downwards over a bit set sees every node after all its users.
	seen := make([]uint64, (int(top)+64)/64)
	for _, r := range roots {
		seen[r.Node/64] |= 1 << (r.Node % 64)
	}
	count := 0
	for w := len(seen) - 1; w >= 0; w-- {
		// Inputs may set lower bits of this very word: look again until done.
		for done := uint64(0); seen[w] != done; {
			bit := 63 - bits.LeadingZeros64(seen[w]&^done)
			done |= 1 << bit
			count++
			for _, in := range s.Ins(NodeID(w*64 + bit)) {
				seen[in.Node/64] |= 1 << (in.Node % 64)
			}
		}
	}
	out := make([]NodeID, 0, count)
	for w, set := range seen {
		for ; set != 0; set &= set - 1 {
			out = append(out, NodeID(w*64+bits.TrailingZeros64(set)))
		}
	}
	return out
}

// RegionsUnder returns root and every region contained in it, at any depth,
// each once, contained ones first.
func (s *Store) RegionsUnder(roots ...RegionID) []RegionID {
	seen := map[RegionID]bool{}
	var out []RegionID
	var visit func(r RegionID)
	visit = func(r RegionID) {
		if r < 0 || seen[r] {
			return
		}
		seen[r] = true
		for _, n := range s.Order(r) {
			for _, c := range s.Regions(n) {
				visit(c)
			}
		}
		out = append(out, r)
	}
	for _, r := range roots {
		visit(r)
	}
	return out
}

// Users maps each node of region r to the nodes of r that use it, in order.
// Results count as no user; see UseCounts.
func (s *Store) Users(r RegionID) map[NodeID][]NodeID {
	order := s.Order(r)
	users := make(map[NodeID][]NodeID, len(order))
	for _, n := range order {
		for i, in := range s.Ins(n) {
			if slices.ContainsFunc(s.Ins(n)[:i], func(x Ref) bool { return x.Node == in.Node }) {
				continue
			}
			users[in.Node] = append(users[in.Node], n)
		}
	}
	return users
}

// UseCounts counts the uses of each reference in region r, results included.
func (s *Store) UseCounts(r RegionID) map[Ref]int {
	order := s.Order(r)
	uses := make(map[Ref]int, len(order))
	for _, n := range order {
		for _, in := range s.Ins(n) {
			uses[in]++
		}
	}
	for _, x := range s.Results(r) {
		uses[x]++
	}
	return uses
}
