package op

import (
	"fmt"

	"github.com/kera-lang/kera/core/types"
)

// Rules of the structure ops.

func ruleConst(n *Inst) ([]types.Type, error) {
	t, err := n.declared()
	if err != nil {
		return nil, err
	}
	if !t.IsTensor() || !t.Static() {
		return nil, fmt.Errorf("type %v is not a static tensor", t)
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	a, _ := n.Attrs.Get(KValue)
	size := uint64(t.NumBytes())
	switch a.Kind {
	case ABytes:
		if uint64(len(a.Bytes)) != size {
			return nil, fmt.Errorf("%d bytes for %v, which has %d", len(a.Bytes), t, size)
		}
		if size > MaxInline {
			return nil, fmt.Errorf("%d bytes inline, more than %d", size, MaxInline)
		}
	case ABlob:
		if a.Len != size {
			return nil, fmt.Errorf("blob of %d bytes for %v, which has %d", a.Len, t, size)
		}
		if size <= MaxInline || size > MaxRegionConst {
			return nil, fmt.Errorf("blob of %d bytes: constants up to %d are inline, over %d are bound parameters", size, MaxInline, MaxRegionConst)
		}
	}
	return one(t), nil
}

func ruleParam(n *Inst) ([]types.Type, error) {
	t, err := n.declared()
	if err != nil {
		return nil, err
	}
	if i := n.Attrs.Int(KIndex); i < 0 || i > 1<<20 {
		return nil, fmt.Errorf("index %d is out of range", i)
	}
	return one(t), nil
}

func ruleCall(n *Inst) ([]types.Type, error) {
	if err := equalAll(n.Regions[0].Params, n.In, "argument"); err != nil {
		return nil, err
	}
	return n.Regions[0].Results, nil
}

func ruleTuple(n *Inst) ([]types.Type, error) { return one(types.Tuple(n.In...)), nil }

func ruleGet(n *Inst) ([]types.Type, error) {
	t, i := n.In[0], n.Attrs.Int(KIndex)
	if t.Kind != types.KindTuple {
		return nil, fmt.Errorf("%v is not a tuple", t)
	}
	if i < 0 || i >= int64(len(t.Elems)) {
		return nil, fmt.Errorf("field %d of %v", i, t)
	}
	return one(t.Elems[i]), nil
}

func ruleSwitch(n *Inst) ([]types.Type, error) {
	if len(n.In) < 1 || len(n.Regions) < 1 {
		return nil, fmt.Errorf("wants a selector and at least one region")
	}
	if s := n.In[0]; !s.IsScalar() || !(s.DType.IsInt() || s.DType == types.Bool) {
		return nil, fmt.Errorf("selector is %v, not an integer or bool scalar", s)
	}
	for i, r := range n.Regions {
		if err := equalAll(r.Params, n.In[1:], fmt.Sprintf("region %d parameter", i)); err != nil {
			return nil, err
		}
		if err := equalAll(n.Regions[0].Results, r.Results, fmt.Sprintf("region %d result", i)); err != nil {
			return nil, err
		}
	}
	return n.Regions[0].Results, nil
}

// ruleLoop: inputs are the i64 trip bound, the carried values, then the
// invariants; both regions take (i64 trip, carried, invariants); the outputs
// are the carried values and the i64 number of trips made.
func ruleLoop(n *Inst) ([]types.Type, error) {
	c := n.Attrs.Int(KCarried)
	if c < 0 || len(n.In) < 1 || c > int64(len(n.In)-1) {
		return nil, fmt.Errorf("carries %d of %d inputs", c, len(n.In)-1)
	}
	if !n.In[0].IsScalar(types.I64) {
		return nil, fmt.Errorf("trip bound is %v, not i64", n.In[0])
	}
	carried := n.In[1 : 1+c]
	for i, name := range [2]string{"condition", "body"} {
		if err := equalAll(n.Regions[i].Params, n.In, name+" parameter"); err != nil {
			return nil, err
		}
	}
	if err := equalAll(one(types.Scalar(types.Bool)), n.Regions[0].Results, "condition result"); err != nil {
		return nil, err
	}
	if err := equalAll(carried, n.Regions[1].Results, "body result"); err != nil {
		return nil, err
	}
	out := append([]types.Type{}, carried...)
	return append(out, types.Scalar(types.I64)), nil
}

func ruleTrapIf(n *Inst) ([]types.Type, error) {
	if !n.In[0].IsScalar(types.Bool) {
		return nil, fmt.Errorf("input is %v, not a bool scalar", n.In[0])
	}
	if k := TrapKind(n.Attrs.Int(KKind)); k <= TrapNone || k >= NumTrapKinds {
		return nil, fmt.Errorf("unknown trap kind %d", k)
	}
	return one(types.Trap()), nil
}

func ruleTrapJoin(n *Inst) ([]types.Type, error) {
	want := []types.Type{types.Trap(), types.Trap()}
	return one(types.Trap()), equalAll(want, n.In, "input")
}

// Rules of the elementwise ops.

func ruleSame(n *Inst) ([]types.Type, error) {
	t, err := n.data(0)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(n.In); i++ {
		if !t.Equal(n.In[i]) {
			return nil, fmt.Errorf("input %d is %v, input 0 is %v", i, n.In[i], t)
		}
	}
	return one(t), nil
}

func rulePredicate(n *Inst) ([]types.Type, error) {
	out, err := ruleSame(n)
	if err != nil {
		return nil, err
	}
	return one(out[0].WithDType(types.Bool)), nil
}

func ruleCompare(n *Inst) ([]types.Type, error) {
	if k := CompareKind(n.Attrs.Int(KKind)); k < 0 || k >= NumCompareKinds {
		return nil, fmt.Errorf("unknown comparison %d", k)
	}
	o := Order(n.Attrs.Int(KOrder))
	if o < 0 || o >= NumOrders {
		return nil, fmt.Errorf("unknown order %d", o)
	}
	if o == Total && len(n.In) > 0 && !n.In[0].DType.IsFloat() {
		return nil, fmt.Errorf("the total order is spelled only on floats")
	}
	return rulePredicate(n)
}

func ruleSelect(n *Inst) ([]types.Type, error) {
	c, err := n.data(0)
	if err != nil {
		return nil, err
	}
	a, err := n.tensor(1)
	if err != nil {
		return nil, err
	}
	if !a.Equal(n.In[2]) {
		return nil, fmt.Errorf("arms are %v and %v", a, n.In[2])
	}
	if !c.Equal(a.WithDType(types.Bool)) {
		return nil, fmt.Errorf("condition is %v for arms %v", c, a)
	}
	return one(a), nil
}

func ruleConvert(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	t, err := n.declared()
	if err != nil {
		return nil, err
	}
	if !t.Equal(x.WithDType(t.DType)) {
		return nil, fmt.Errorf("from %v to %v changes more than the dtype", x, t)
	}
	if t.DType == types.Bool || t.DType == x.DType {
		return nil, fmt.Errorf("from %v to %v is not a conversion (to bool: compare)", x.DType, t.DType)
	}
	return one(t), nil
}

func ruleBitcast(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	t, err := n.declared()
	if err != nil {
		return nil, err
	}
	if !t.Equal(x.WithDType(t.DType)) || t.DType.Size() != x.DType.Size() || t.DType == types.Bool || t.DType == x.DType {
		return nil, fmt.Errorf("from %v to %v", x, t)
	}
	return one(t), nil
}

func ruleConvertOverflow(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	to := n.Attrs.Int(KTo)
	if to < 0 || to > 255 || !types.DType(to).IsInt() {
		return nil, fmt.Errorf("target %d is not an integer dtype", to)
	}
	return one(x.WithDType(types.Bool)), nil
}
