package graph

import "slices"

// Order returns the nodes of region r in topological order (ascending id).
func (s *Store) Order(r RegionID) []NodeID { return s.reach(s.Results(r)) }

// Reach returns the nodes that refs reach through inputs, not into contained
// regions, in topological order.
func (s *Store) Reach(refs []Ref) []NodeID { return s.reach(refs) }

func (s *Store) reach(roots []Ref) []NodeID {
	seen := make(map[NodeID]struct{}, 2*len(roots))
	var out, stack []NodeID
	push := func(n NodeID) {
		if _, ok := seen[n]; !ok {
			seen[n] = struct{}{}
			stack = append(stack, n)
		}
	}
	for _, r := range roots {
		push(r.Node)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = append(out, n)
		for _, in := range s.Ins(n) {
			push(in.Node)
		}
	}
	slices.Sort(out)
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
	users := map[NodeID][]NodeID{}
	for _, n := range s.Order(r) {
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
	uses := map[Ref]int{}
	for _, n := range s.Order(r) {
		for _, in := range s.Ins(n) {
			uses[in]++
		}
	}
	for _, x := range s.Results(r) {
		uses[x]++
	}
	return uses
}
