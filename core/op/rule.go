package op

import (
	"fmt"

	"github.com/kera-lang/kera/core/types"
)

// Sig is the signature of a contained region.
type Sig struct {
	Params  []types.Type
	Results []types.Type
}

// Inst is what a type rule sees of a node. Out holds the declared output
// types; ops whose output is not implied by their inputs (const, param,
// convert, iota, reshape, ...) take it from there.
type Inst struct {
	Op      Code
	In      []types.Type
	Attrs   Attrs
	Regions []Sig
	Out     []types.Type

	row *Info // set by Infer
}

// rule returns the output types an instance must have.
type rule func(n *Inst) ([]types.Type, error)

// Infer checks n against its row and returns the output types it must have.
// Out may be empty for ops whose outputs are implied.
func Infer(n *Inst) ([]types.Type, error) {
	info, ok := Lookup(n.Op)
	if !ok {
		return nil, fmt.Errorf("unknown opcode %d", n.Op)
	}
	if info.Arity >= 0 && len(n.In) != info.Arity {
		return nil, fmt.Errorf("%s takes %d inputs, has %d", info.Name, info.Arity, len(n.In))
	}
	if info.Regions >= 0 && len(n.Regions) != info.Regions {
		return nil, fmt.Errorf("%s has %d regions, wants %d", info.Name, len(n.Regions), info.Regions)
	}
	if len(n.Attrs) != len(info.Attrs) {
		return nil, fmt.Errorf("%s has %d attributes, wants %d", info.Name, len(n.Attrs), len(info.Attrs))
	}
	for i, spec := range info.Attrs {
		a := &n.Attrs[i]
		if a.Key != spec.Key {
			return nil, fmt.Errorf("%s has attribute %v where it wants %v", info.Name, a.Key, spec.Key)
		}
		if a.Kind != spec.Kind && !(spec.Kind == 0 && (a.Kind == ABytes || a.Kind == ABlob)) {
			return nil, fmt.Errorf("%s attribute %v has the wrong form", info.Name, a.Key)
		}
	}
	n.row = info
	out, err := info.rule(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", info.Name, err)
	}
	for _, t := range out {
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("%s: result type: %w", info.Name, err)
		}
	}
	return out, nil
}

// SameTypes reports whether the op is elementwise with inputs and output of one
// type, so that a checker needs no more than the row.
func (i *Info) SameTypes() bool {
	switch i.Code {
	case Compare, Select, Convert, Bitcast, AddOverflow, SubOverflow, MulOverflow, ConvertOverflow:
		return false
	}
	return i.Class == Elementwise
}

func (n *Inst) info() *Info { return n.row }

// declared returns the one declared output type.
func (n *Inst) declared() (types.Type, error) {
	if len(n.Out) != 1 {
		return types.Type{}, fmt.Errorf("wants one declared output type, has %d", len(n.Out))
	}
	return n.Out[0], nil
}

func one(t types.Type) []types.Type { return []types.Type{t} }

// tensor checks that input i is a tensor.
func (n *Inst) tensor(i int) (types.Type, error) {
	if i >= len(n.In) {
		return types.Type{}, fmt.Errorf("input %d is missing", i)
	}
	t := n.In[i]
	if !t.IsTensor() {
		return t, fmt.Errorf("input %d is %v, not a tensor", i, t)
	}
	return t, nil
}

// data checks that input i is a tensor of a dtype the row takes.
func (n *Inst) data(i int) (types.Type, error) {
	t, err := n.tensor(i)
	if err != nil {
		return t, err
	}
	if !n.info().Takes(t.DType) {
		return t, fmt.Errorf("input %d: dtype %v is not taken", i, t.DType)
	}
	return t, nil
}

// axis checks that attribute k is an axis of t.
func (n *Inst) axis(k Key, t types.Type) (int, error) {
	a := n.Attrs.Int(k)
	if a < 0 || a >= int64(t.Rank()) {
		return 0, fmt.Errorf("axis %d is not an axis of %v", a, t)
	}
	return int(a), nil
}

// axes checks that ks are distinct axes of a tensor of rank r.
func axes(ks []int64, r int) error {
	var seen [types.MaxRank]bool
	for _, a := range ks {
		if a < 0 || a >= int64(r) {
			return fmt.Errorf("axis %d is out of range for rank %d", a, r)
		}
		if seen[a] {
			return fmt.Errorf("axis %d appears twice", a)
		}
		seen[a] = true
	}
	return nil
}

func ascending(ks []int64) bool {
	for i := 1; i < len(ks); i++ {
		if ks[i-1] >= ks[i] {
			return false
		}
	}
	return true
}

// starts checks the i64 scalar start indices of slice and update.
func (n *Inst) starts(from, rank int) error {
	if len(n.In) != from+rank {
		return fmt.Errorf("wants %d start indices, has %d", rank, len(n.In)-from)
	}
	for i := from; i < len(n.In); i++ {
		if !n.In[i].IsScalar(types.I64) {
			return fmt.Errorf("start index %d is %v, not i64", i-from, n.In[i])
		}
	}
	return nil
}

// dimOf returns a dimension as a number; free dimensions must be equal by
// other means, so rules that need the number refuse them.
func dimOf(t types.Type, a int) (int64, error) {
	if t.Dims[a].Var {
		return 0, fmt.Errorf("axis %d of %v is a free dimension", a, t)
	}
	return t.Dims[a].Size, nil
}

func equalAll(want, got []types.Type, what string) error {
	if len(want) != len(got) {
		return fmt.Errorf("%s: wants %d, has %d", what, len(want), len(got))
	}
	for i := range want {
		if !want[i].Equal(got[i]) {
			return fmt.Errorf("%s %d: wants %v, has %v", what, i, want[i], got[i])
		}
	}
	return nil
}
