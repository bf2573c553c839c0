package op

import (
	"fmt"

	"github.com/kera-lang/kera/core/types"
)

// Rules of the shape ops.

func ruleIota(n *Inst) ([]types.Type, error) {
	t, err := n.declared()
	if err != nil {
		return nil, err
	}
	if !t.IsTensor() || !n.info().Takes(t.DType) {
		return nil, fmt.Errorf("type %v is not a numeric tensor", t)
	}
	if _, err := n.axis(KAxis, t); err != nil {
		return nil, err
	}
	return one(t), nil
}

func ruleReshape(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	t, err := n.declared()
	if err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	if !t.IsTensor() || t.DType != x.DType || t.Space != x.Space {
		return nil, fmt.Errorf("from %v to %v", x, t)
	}
	if !x.Static() || !t.Static() || x.NumElems() != t.NumElems() {
		return nil, fmt.Errorf("from %v to %v changes the number of elements", x, t)
	}
	return one(t), nil
}

func ruleBroadcast(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	t, err := n.declared()
	if err != nil {
		return nil, err
	}
	ax := n.Attrs.Ints(KAxes)
	if !t.IsTensor() || t.DType != x.DType || t.Space != x.Space {
		return nil, fmt.Errorf("from %v to %v", x, t)
	}
	if len(ax) != x.Rank() || !ascending(ax) {
		return nil, fmt.Errorf("mapping %v for rank %d must give each input axis an output axis, ascending", ax, x.Rank())
	}
	if err := axes(ax, t.Rank()); err != nil {
		return nil, err
	}
	for i, a := range ax {
		if x.Dims[i] != t.Dims[a] && x.Dims[i] != types.Num(1) {
			return nil, fmt.Errorf("axis %d of %v does not stretch to axis %d of %v", i, x, a, t)
		}
	}
	return one(t), nil
}

func ruleTranspose(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	ax := n.Attrs.Ints(KAxes)
	if len(ax) != x.Rank() {
		return nil, fmt.Errorf("permutation %v for rank %d", ax, x.Rank())
	}
	if err := axes(ax, x.Rank()); err != nil {
		return nil, err
	}
	dims := make([]types.Dim, len(ax))
	for i, a := range ax {
		dims[i] = x.Dims[a]
	}
	return one(x.WithDims(dims)), nil
}

func ruleSlice(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	sizes, strides := n.Attrs.Ints(KSizes), n.Attrs.Ints(KStrides)
	if len(sizes) != x.Rank() || len(strides) != x.Rank() {
		return nil, fmt.Errorf("%d sizes and %d strides for rank %d", len(sizes), len(strides), x.Rank())
	}
	if err := n.starts(1, x.Rank()); err != nil {
		return nil, err
	}
	for i := range sizes {
		d, err := dimOf(x, i)
		if err != nil {
			return nil, err
		}
		if sizes[i] < 0 || strides[i] < 1 || sizes[i] > types.MaxBytes || strides[i] > types.MaxBytes {
			return nil, fmt.Errorf("size %d, stride %d on axis %d", sizes[i], strides[i], i)
		}
		if sizes[i] <= 1 && strides[i] != 1 {
			return nil, fmt.Errorf("stride %d of a single element is spelled 1", strides[i])
		}
		if d == 0 || sizes[i] == 0 {
			continue // an empty source reads as zero
		}
		if sizes[i] > d || (sizes[i]-1) > (d-1)/strides[i] {
			return nil, fmt.Errorf("window of %d by %d does not fit axis %d of %v", sizes[i], strides[i], i, x)
		}
	}
	return one(x.WithShape(sizes...)), nil
}

func ruleUpdate(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	u, err := n.tensor(1)
	if err != nil {
		return nil, err
	}
	if u.DType != x.DType || u.Space != x.Space || u.Rank() != x.Rank() {
		return nil, fmt.Errorf("window %v for %v", u, x)
	}
	if err := n.starts(2, x.Rank()); err != nil {
		return nil, err
	}
	for i := range x.Dims {
		d, err := dimOf(x, i)
		if err != nil {
			return nil, err
		}
		w, err := dimOf(u, i)
		if err != nil {
			return nil, err
		}
		if w > d {
			return nil, fmt.Errorf("window %v is larger than %v", u, x)
		}
	}
	return one(x), nil
}

func ruleConcat(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	a, err := n.axis(KAxis, x)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	dims := append([]types.Dim{}, x.Dims...)
	for i, t := range n.In {
		if t.Kind != types.KindTensor || t.Rank() != x.Rank() {
			return nil, fmt.Errorf("input %d is %v, input 0 is %v", i, t, x)
		}
		d, err := dimOf(t, a)
		if err != nil {
			return nil, err
		}
		same := append([]types.Dim{}, t.Dims...)
		same[a] = x.Dims[a]
		if !t.WithDims(same).Equal(x) {
			return nil, fmt.Errorf("input %d is %v, input 0 is %v", i, t, x)
		}
		if total += d; total > types.MaxBytes {
			return nil, fmt.Errorf("result is too large")
		}
	}
	dims[a] = types.Num(total)
	return one(x.WithDims(dims)), nil
}

func ruleGather(n *Inst) ([]types.Type, error) {
	x, err := n.data(0)
	if err != nil {
		return nil, err
	}
	ix, err := n.tensor(1)
	if err != nil {
		return nil, err
	}
	if !ix.DType.IsInt() {
		return nil, fmt.Errorf("indices are %v, not integers", ix)
	}
	a, err := n.axis(KAxis, x)
	if err != nil {
		return nil, err
	}
	dims := append([]types.Dim{}, x.Dims[:a]...)
	dims = append(dims, ix.Dims...)
	dims = append(dims, x.Dims[a+1:]...)
	return one(x.WithDims(dims)), nil
}
