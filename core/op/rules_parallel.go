package op

import (
	"fmt"

	"github.com/kera-lang/kera/core/types"
)

// Rules of the parallel ops.

// ruleMap: the region takes one i64 per index axis, then the invariants. Each
// result of type t becomes an output of dims ++ t's dims; with traps the last
// result is a trap code, joined instead of stacked.
func ruleMap(n *Inst) ([]types.Type, error) {
	space, r := n.Attrs.Ints(KDims), n.Regions[0]
	want := make([]types.Type, 0, len(space)+len(n.In))
	for _, d := range space {
		if d < 0 {
			return nil, fmt.Errorf("negative dimension %d", d)
		}
		want = append(want, types.Scalar(types.I64))
	}
	want = append(want, n.In...)
	if err := equalAll(want, r.Params, "region parameter"); err != nil {
		return nil, err
	}
	results, traps := r.Results, n.Attrs.Int(KTraps)
	if traps != 0 && traps != 1 {
		return nil, fmt.Errorf("traps is %d, not 0 or 1", traps)
	}
	if traps == 1 {
		if len(results) == 0 || !results[len(results)-1].Equal(types.Trap()) {
			return nil, fmt.Errorf("the last region result is not a trap code")
		}
		results = results[:len(results)-1]
	}
	var out []types.Type
	for i, t := range results {
		if !t.IsTensor() {
			return nil, fmt.Errorf("region result %d is %v, not a tensor", i, t)
		}
		dims := make([]types.Dim, 0, len(space)+t.Rank())
		for _, d := range space {
			dims = append(dims, types.Num(d))
		}
		out = append(out, t.WithDims(append(dims, t.Dims...)))
	}
	if traps == 1 {
		out = append(out, types.Trap())
	}
	return out, nil
}

func without(t types.Type, drop []int64) types.Type {
	var gone [types.MaxRank]bool
	for _, a := range drop {
		gone[a] = true
	}
	var dims []types.Dim
	for i, d := range t.Dims {
		if !gone[i] {
			dims = append(dims, d)
		}
	}
	return t.WithDims(dims)
}

func ruleReduce(n *Inst) ([]types.Type, error) {
	if len(n.In) != 1 && len(n.In) != 2 {
		return nil, fmt.Errorf("takes a tensor and at most an initial value, has %d inputs", len(n.In))
	}
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	k := ReduceKind(n.Attrs.Int(KKind))
	switch {
	case k < 0 || k >= NumReduceKinds:
		return nil, fmt.Errorf("unknown reduction %d", k)
	case k <= RMax && x.DType == types.Bool, k >= RAnd && x.DType.IsFloat():
		return nil, fmt.Errorf("%v of %v", k, x.DType)
	}
	ax := n.Attrs.Ints(KAxes)
	if err := axes(ax, x.Rank()); err != nil {
		return nil, err
	}
	if len(ax) == 0 || !ascending(ax) {
		return nil, fmt.Errorf("axes %v must ascend and name at least one", ax)
	}
	if len(n.In) == 2 {
		init := types.Scalar(x.DType)
		init.Space = x.Space
		if !n.In[1].Equal(init) {
			return nil, fmt.Errorf("initial value is %v, not %v", n.In[1], init)
		}
	}
	return one(without(x, ax)), nil
}

func ruleDot(n *Inst) ([]types.Type, error) {
	out, err := ruleSame(n)
	if err != nil {
		return nil, err
	}
	a, err := n.axis(KAxis, out[0])
	if err != nil {
		return nil, err
	}
	return one(without(out[0], []int64{int64(a)})), nil
}

func ruleDotGeneral(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	y, err := n.data(1)
	if err != nil {
		return nil, err
	}
	acc := Acc(n.Attrs.Int(KAcc))
	res, ok := AccResult(acc, x.DType, y.DType)
	if !ok {
		return nil, fmt.Errorf("acc %v does not take %v and %v", acc, x.DType, y.DType)
	}
	if x.Space != y.Space {
		return nil, fmt.Errorf("inputs %v and %v are in different spaces", x, y)
	}
	xb, yb := n.Attrs.Ints(KLhsBatch), n.Attrs.Ints(KRhsBatch)
	xc, yc := n.Attrs.Ints(KLhsContract), n.Attrs.Ints(KRhsContract)
	if len(xb) != len(yb) || len(xc) != len(yc) {
		return nil, fmt.Errorf("batch axes %v and %v, contracted axes %v and %v do not pair", xb, yb, xc, yc)
	}
	xUsed := append(append([]int64{}, xb...), xc...)
	yUsed := append(append([]int64{}, yb...), yc...)
	if err := axes(xUsed, x.Rank()); err != nil {
		return nil, fmt.Errorf("left: %w", err)
	}
	if err := axes(yUsed, y.Rank()); err != nil {
		return nil, fmt.Errorf("right: %w", err)
	}
	var dims []types.Dim
	for i := range xUsed {
		if x.Dims[xUsed[i]] != y.Dims[yUsed[i]] {
			return nil, fmt.Errorf("axis %d of %v does not match axis %d of %v", xUsed[i], x, yUsed[i], y)
		}
		if i < len(xb) {
			dims = append(dims, x.Dims[xUsed[i]])
		}
	}
	dims = append(dims, without(x, xUsed).Dims...)
	dims = append(dims, without(y, yUsed).Dims...)
	return one(x.WithDType(res).WithDims(dims)), nil
}

// AccResult returns the result dtype of dot_general for an accumulation and
// the input dtypes, or false if the accumulation does not take them.
func AccResult(acc Acc, x, y types.DType) (types.DType, bool) {
	byteInt := func(d types.DType) bool { return d == types.I8 || d == types.U8 }
	switch acc {
	case AccFMA, AccUnfused:
		if x != y {
			return 0, false
		}
		switch {
		case x.IsFloat():
			return x, true
		case x.Class() == types.ClassStorage:
			return types.F32, true
		}
	case AccF64:
		if x == y && (x == types.F32 || x.Class() == types.ClassStorage) {
			return types.F32, true
		}
	case AccI32:
		if byteInt(x) && byteInt(y) {
			return types.I32, true
		}
	case AccI64:
		if x.IsInt() && y.IsInt() {
			return types.I64, true
		}
	}
	return 0, false
}

func ruleSort(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	if _, err := n.axis(KAxis, x); err != nil {
		return nil, err
	}
	if d := n.Attrs.Int(KDescending); d != 0 && d != 1 {
		return nil, fmt.Errorf("descending is %d, not 0 or 1", d)
	}
	for i, t := range n.In {
		if !t.IsTensor() || !t.SameDims(x) || t.Space != x.Space {
			return nil, fmt.Errorf("input %d is %v, input 0 is %v", i, t, x)
		}
	}
	return append([]types.Type{}, n.In...), nil
}

func ruleArg(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	a, err := n.axis(KAxis, x)
	if err != nil {
		return nil, err
	}
	if d, err := dimOf(x, a); err != nil || d == 0 {
		return nil, fmt.Errorf("axis %d of %v is empty or free", a, x)
	}
	return one(without(x, []int64{int64(a)}).WithDType(types.I64)), nil
}
