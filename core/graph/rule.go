package graph

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// checker checks nodes by their op's rule. It keeps the lists it fills for one
// node for the next.
type checker struct {
	*Store
	in, out []types.Type
	regions []op.Sig
}

// node returns the rule that n breaks and how.
func (c *checker) node(n NodeID) (string, error) {
	for i, r := range c.Ins(n) {
		if r.Node < 0 || r.Node >= n || r.Out < 0 || int(r.Out) >= c.NumOuts(r.Node) {
			return "inputs precede", fmt.Errorf("input %d refers to output %d of node %d", i, r.Out, r.Node)
		}
	}
	if c.plain(n) {
		return "", nil
	}
	c.in, c.out, c.regions = c.in[:0], c.out[:0], c.regions[:0]
	for _, r := range c.Ins(n) {
		c.in = append(c.in, c.Type(r))
	}
	for _, t := range c.OutTypes(n) {
		c.out = append(c.out, c.types[t])
	}
	regions := c.Regions(n)
	if c.Op(n) == op.Switch {
		regions = distinct(regions)
	}
	for _, r := range regions {
		c.regions = append(c.regions, c.Sig(r))
	}
	inst := op.Inst{Op: c.Op(n), In: c.in, Attrs: c.Attrs(n), Regions: c.regions, Out: c.out}
	outs, err := op.Infer(&inst)
	if err != nil {
		return "types", err
	}
	if len(outs) != len(c.out) {
		return "types", fmt.Errorf("has %d outputs, wants %d", len(c.out), len(outs))
	}
	for i := range outs {
		if !outs[i].Equal(c.out[i]) {
			return "types", fmt.Errorf("output %d is %v, wants %v", i, c.out[i], outs[i])
		}
	}
	if inst.Op == op.Const {
		return "canonical constants", c.checkConst(inst.Attrs, outs[0])
	}
	return "", nil
}

// plain reports whether n is a right elementwise node of one type, the common
// case, without building what its rule wants to see.
func (c *checker) plain(n NodeID) bool {
	info, ok := op.Lookup(c.Op(n))
	ins, outs := c.Ins(n), c.OutTypes(n)
	if !ok || !info.SameTypes() || len(ins) != info.Arity || len(outs) != 1 || len(c.Attrs(n)) != 0 || len(c.Regions(n)) != 0 {
		return false
	}
	t := outs[0]
	for _, r := range ins {
		if c.OutTypes(r.Node)[r.Out] != t {
			return false
		}
	}
	return c.types[t].Kind == types.KindTensor && info.Takes(c.types[t].DType)
}

// distinct leaves out repeated regions of a switch, so that one that names a
// large region many times costs no more than it takes to write it. All regions
// of a switch have one signature, so it does not matter which stands first.
func distinct(rs []RegionID) []RegionID {
	if len(rs) <= 8 {
		return rs
	}
	out := slices.Clone(rs)
	slices.Sort(out)
	return slices.Compact(out)
}
