package conformance

import (
	"fmt"
	"math/rand/v2"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Random returns a graph of one entry, "f", made of about size random nodes:
// elementwise chains, shape changes, reductions, contractions, maps with checks,
// loops and switches, sharing each other's results. The same seed gives the same
// graph. It is what differential tests of passes and backends run on.
func Random(seed uint64, size int) *graph.Graph {
	s := newSuite()
	r := &random{suite: s, rng: rand.New(rand.NewPCG(seed, 0x6b657261))}
	params := []types.Type{
		types.Tensor(types.F32, 6, 20), types.Tensor(types.F32, 20), types.Tensor(types.F64, 33),
		types.Tensor(types.I32, 6, 20), types.Tensor(types.I64, 33), types.Tensor(types.U8, 20),
		types.Scalar(types.I64), types.Scalar(types.F32), types.Scalar(types.Bool),
		types.Tensor(types.F64, 3, 5, 4), types.Tensor(types.I8, 9, 6), types.Tensor(types.U16, 70), types.Tensor(types.Bool, 33),
	}
	s.trapping("f", params, func(p []graph.Ref) []graph.Ref {
		r.pool = p
		for range size {
			r.step(2)
		}
		return r.finish()
	})
	return s.g
}

type random struct {
	*suite
	rng   *rand.Rand
	pool  []graph.Ref
	codes []graph.Ref
}

func (r *random) any() graph.Ref { return r.pool[r.rng.IntN(len(r.pool))] }

// where picks a pool member, preferring recent ones, for which ok holds.
func (r *random) where(ok func(t types.Type) bool) (graph.Ref, bool) {
	for range 20 {
		i := len(r.pool) - 1 - min(r.rng.IntN(len(r.pool)), r.rng.IntN(len(r.pool)))
		if x := r.pool[i]; ok(r.Type(x)) {
			return x, true
		}
	}
	return graph.Ref{}, false
}

func (r *random) push(xs ...graph.Ref) { r.pool = append(r.pool, xs...) }

// like returns a pool member of type t, or a constant or stretched scalar.
func (r *random) like(t types.Type) graph.Ref {
	if x, ok := r.where(t.Equal); ok && r.rng.IntN(4) > 0 {
		return x
	}
	bits := r.rng.Uint64()
	switch {
	case t.DType == types.Bool:
		bits &= 1
	case t.DType == types.F32:
		bits = 0x3f800000 + bits&0xffffff
	case t.DType == types.F64:
		bits = 0x3ff0000000000000 + bits&0xfffffffffffff
	case r.rng.IntN(2) == 0:
		bits &= 7
	}
	k := r.ScalarBits(t.DType, bits)
	if t.Rank() == 0 {
		return k
	}
	return r.Broadcast(k, t)
}

func (r *random) step(depth int) {
	switch n := r.rng.IntN(30); {
	case n >= 24:
		r.rare(depth, n-24)
	case n < 11:
		r.elementwise()
	case n < 16:
		r.shape()
	case n < 18:
		r.reduce()
	case n < 20:
		r.contract()
	case n == 20:
		r.order()
	case depth > 0 && n == 21:
		r.loop(depth)
	case depth > 0 && n == 22:
		r.choice(depth)
	default:
		r.mapped()
	}
}

func (r *random) elementwise() {
	var codes []op.Info
	for _, row := range op.All() {
		if row.Class == op.Elementwise {
			codes = append(codes, row)
		}
	}
	row := codes[r.rng.IntN(len(codes))]
	x, ok := r.where(func(t types.Type) bool { return row.Takes(t.DType) })
	if !ok {
		return
	}
	t := r.Type(x)
	switch row.Code {
	case op.Compare:
		k := op.CompareKind(r.rng.IntN(int(op.NumCompareKinds)))
		r.push(r.N(op.Compare, op.NewAttrs(kind(k), op.Int(op.KOrder, 0)), x, r.like(t)))
	case op.Select:
		a := r.any()
		at := r.Type(a)
		r.push(r.N(op.Select, nil, r.like(at.WithDType(types.Bool)), a, r.like(at)))
	case op.Convert, op.Bitcast:
		for range 8 {
			to := types.DTypes()[r.rng.IntN(len(types.DTypes()))]
			if to == types.Bool || to == t.DType || to.Class() == types.ClassStorage || (row.Code == op.Bitcast && to.Size() != t.DType.Size()) {
				continue
			}
			r.push(r.Must(graph.NodeDef{Op: row.Code, Outs: []types.Type{t.WithDType(to)}, Ins: []graph.Ref{x}}))
			return
		}
	case op.ConvertOverflow:
		r.push(r.N(op.ConvertOverflow, op.Attrs{op.Int(op.KTo, int64(types.I32))}, x))
	default:
		ins := []graph.Ref{x}
		for len(ins) < row.Arity {
			ins = append(ins, r.like(t))
		}
		r.push(r.N(row.Code, nil, ins...))
	}
}

func (r *random) shape() {
	x, ok := r.where(func(t types.Type) bool { return t.Rank() > 0 && t.NumElems() > 0 && t.NumElems() < 400 })
	if !ok {
		return
	}
	t := r.Type(x)
	sh := t.Shape()
	switch r.rng.IntN(6) {
	case 0:
		r.push(r.Reshape(x, t.NumElems()))
	case 1:
		perm := r.rng.Perm(t.Rank())
		ax := make([]int64, len(perm))
		for i, p := range perm {
			ax[i] = int64(p)
		}
		r.push(r.N(op.Transpose, op.Attrs{op.Ints(op.KAxes, ax...)}, x))
	case 2:
		if t.Rank() == 1 {
			r.push(r.Broadcast(x, t.WithShape(6, sh[0])))
		}
	case 3:
		sizes, strides, starts := make([]int64, len(sh)), make([]int64, len(sh)), []graph.Ref{x}
		for i, d := range sh {
			sizes[i], strides[i] = 1+r.rng.Int64N(d), 1
			starts = append(starts, r.like(types.Scalar(types.I64)))
		}
		r.push(r.N(op.Slice, op.Attrs{op.Ints(op.KSizes, sizes...), op.Ints(op.KStrides, strides...)}, starts...))
	case 4:
		a := r.rng.Int64N(int64(t.Rank()))
		r.push(r.N(op.Concat, op.Attrs{op.Int(op.KAxis, a)}, x, r.like(t)))
	case 5:
		ix, ok := r.where(func(t types.Type) bool { return t.DType.IsInt() && t.Rank() == 1 && t.NumElems() < 40 })
		if ok {
			r.push(r.N(op.Gather, op.Attrs{op.Int(op.KAxis, r.rng.Int64N(int64(t.Rank())))}, x, ix))
		}
	}
}

func (r *random) reduce() {
	x, ok := r.where(func(t types.Type) bool { return t.Rank() > 0 && op.Reduce.Info().Takes(t.DType) })
	if !ok {
		return
	}
	t := r.Type(x)
	k := op.ReduceKind(r.rng.IntN(int(op.NumReduceKinds)))
	if k <= op.RMax && t.DType == types.Bool || k >= op.RAnd && t.DType.IsFloat() {
		k = map[bool]op.ReduceKind{true: op.ROr, false: op.Sum}[t.DType == types.Bool]
	}
	axes := []int64{r.rng.Int64N(int64(t.Rank()))}
	if r.rng.IntN(3) == 0 {
		axes = axes[:0]
		for a := range t.Rank() {
			axes = append(axes, int64(a))
		}
	}
	r.push(r.Reduce(k, x, axes...))
}

func (r *random) contract() {
	x, ok := r.where(func(t types.Type) bool { return t.Rank() == 2 && t.DType.IsFloat() })
	if !ok {
		return
	}
	t := r.Type(x)
	y := r.N(op.Transpose, op.Attrs{op.Ints(op.KAxes, 1, 0)}, r.like(t))
	if r.rng.IntN(3) == 0 {
		y = r.like(t.WithShape(t.Shape()[1], 7))
	}
	acc := []op.Acc{op.AccFMA, op.AccUnfused, op.AccF64}[r.rng.IntN(3)]
	if t.DType == types.F64 && acc == op.AccF64 {
		acc = op.AccFMA
	}
	r.push(r.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(acc)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
		op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0)), x, y))
}

func (r *random) order() {
	x, ok := r.where(func(t types.Type) bool { return t.Rank() > 0 && t.NumElems() > 0 && op.ArgMax.Info().Takes(t.DType) })
	if !ok {
		return
	}
	a := op.Int(op.KAxis, r.rng.Int64N(int64(r.Type(x).Rank())))
	switch r.rng.IntN(3) {
	case 0:
		r.push(r.N(op.Sort, op.NewAttrs(a, op.Int(op.KDescending, r.rng.Int64N(2))), x))
	case 1:
		r.push(r.N(op.ArgMin, op.Attrs{a}, x))
	case 2:
		r.push(r.N(op.ArgMax, op.Attrs{a}, x))
	}
}

// rare are the steps that need no more than one case in thirty.
func (r *random) rare(depth, n int) {
	switch n {
	case 0:
		r.update()
	case 1:
		r.dot()
	case 2:
		r.integerMatmul()
	case 3:
		a, b := r.any(), r.any()
		t := r.N(op.Tuple, nil, a, r.N(op.Tuple, nil, b))
		r.push(r.N(op.Get, op.Attrs{op.Int(op.KIndex, 0)}, r.N(op.Get, op.Attrs{op.Int(op.KIndex, 1)}, t)))
	case 4:
		if depth > 0 {
			r.call(depth)
		}
	case 5:
		r.rows()
	}
}

func (r *random) update() {
	x, ok := r.where(func(t types.Type) bool { return t.Rank() > 0 && t.NumElems() > 0 && t.NumElems() < 400 })
	if !ok {
		return
	}
	t := r.Type(x)
	sizes, ins := t.Shape(), []graph.Ref{x, {}}
	for i, d := range sizes {
		sizes[i] = 1 + r.rng.Int64N(d)
		ins = append(ins, r.like(types.Scalar(types.I64)))
	}
	ins[1] = r.like(t.WithShape(sizes...))
	r.push(r.N(op.Update, nil, ins...))
}

func (r *random) dot() {
	x, ok := r.where(func(t types.Type) bool { return t.Rank() > 0 && t.DType.IsFloat() })
	if ok {
		t := r.Type(x)
		r.push(r.N(op.Dot, op.Attrs{op.Int(op.KAxis, r.rng.Int64N(int64(t.Rank())))}, x, r.like(t)))
	}
}

func (r *random) integerMatmul() {
	x, ok := r.where(func(t types.Type) bool { return t.Rank() == 2 && t.DType.IsInt() })
	if !ok {
		return
	}
	t := r.Type(x)
	acc := op.AccI64
	if t.DType.Size() == 1 && r.rng.IntN(2) == 0 {
		acc = op.AccI32
	}
	y := r.like(t.WithShape(t.Shape()[1], 5))
	r.push(r.N(op.DotGeneral, op.NewAttrs(op.Int(op.KAcc, int64(acc)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch),
		op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 0)), x, y))
}

// call calls a region of two values, twice with exchanged ones if they agree.
func (r *random) call(depth int) {
	x, y := r.any(), r.any()
	ps := []types.Type{r.Type(x), r.Type(y)}
	body := r.body(ps, depth, func() []graph.Ref {
		return []graph.Ref{r.like(ps[0]), r.any(), r.TrapJoin(r.codes...)}
	})
	out := r.Apply(op.Call, nil, []graph.RegionID{body}, x, y)
	r.push(out[0], out[1])
	r.codes = append(r.codes, out[2])
	if ps[0].Equal(ps[1]) {
		r.push(r.Apply(op.Call, nil, []graph.RegionID{body}, y, x)[0])
	}
}

// rows maps over the rows of a matrix: tensor results and a scalar beside them.
func (r *random) rows() {
	x, ok := r.where(func(t types.Type) bool {
		return t.Rank() == 2 && t.NumElems() > 0 && t.NumElems() < 400 && t.DType.IsFloat()
	})
	if !ok {
		return
	}
	t := r.Type(x)
	n, m := t.Shape()[0], t.Shape()[1]
	ps := []types.Type{types.Scalar(types.I64), t}
	p := r.Params(ps...)
	row := r.Reshape(r.Slice(p[1], []int64{1, m}, p[0], r.I64(0)), m)
	total := r.Reduce(op.Sum, row, 0)
	scaled := r.N(op.Div, nil, row, r.Broadcast(total, r.Type(row)))
	body := r.Region(ps, scaled, total)
	r.push(r.Apply(op.Map, op.NewAttrs(op.Ints(op.KDims, n), op.Int(op.KTraps, 0)), []graph.RegionID{body}, x)...)
}

// body builds a region over params by a few random steps and returns what pick
// chooses.
func (r *random) body(params []types.Type, depth int, pick func() []graph.Ref) graph.RegionID {
	outer, codes := r.pool, r.codes
	r.pool, r.codes = r.Params(params...), nil
	for range 3 + r.rng.IntN(4) {
		r.step(depth - 1)
	}
	res := pick()
	r.pool, r.codes = outer, codes
	return r.Region(params, res...)
}

func (r *random) loop(depth int) {
	x, y := r.any(), r.any()
	i64 := types.Scalar(types.I64)
	ps := []types.Type{i64, r.Type(x), types.Trap(), r.Type(y)}
	cond := r.Region(ps, r.Bool(true))
	if r.rng.IntN(2) == 0 {
		cond = r.Region(ps, r.Compare(op.LT, r.Param(0, i64), r.I64(r.rng.Int64N(4))))
	}
	body := r.body(ps, depth, func() []graph.Ref {
		return []graph.Ref{r.like(ps[1]), r.TrapJoin(append([]graph.Ref{r.Param(2, types.Trap())}, r.codes...)...)}
	})
	bound := r.I64(r.rng.Int64N(5))
	out := r.Apply(op.Loop, op.Attrs{op.Int(op.KCarried, 2)}, []graph.RegionID{cond, body}, bound, x, r.NoTrap(), y)
	r.push(out[0], out[2])
	r.codes = append(r.codes, out[1])
}

func (r *random) choice(depth int) {
	sel, ok := r.where(func(t types.Type) bool { return t.IsScalar() && (t.DType.IsInt() || t.DType == types.Bool) })
	if !ok {
		return
	}
	x, y := r.any(), r.any()
	ps := []types.Type{r.Type(x), r.Type(y)}
	arm := func() graph.RegionID {
		return r.body(ps, depth, func() []graph.Ref { return []graph.Ref{r.like(ps[0]), r.TrapJoin(r.codes...)} })
	}
	out := r.Apply(op.Switch, nil, []graph.RegionID{arm(), arm(), arm()}, sel, x, y)
	r.push(out[0])
	r.codes = append(r.codes, out[1])
}

// mapped reads a tensor at an index computed from the map's, with a bounds
// check that may or may not be provable.
func (r *random) mapped() {
	x, ok := r.where(func(t types.Type) bool {
		return t.Rank() == 1 && t.NumElems() > 4 && t.DType != types.Bool && t.NumElems() < 200
	})
	if !ok {
		return
	}
	t := r.Type(x)
	n := t.NumElems()
	i64 := types.Scalar(types.I64)
	ps := []types.Type{i64, t}
	p := r.Params(ps...)
	at := r.N(op.Add, nil, p[0], r.I64(r.rng.Int64N(3)))
	switch r.rng.IntN(4) {
	case 0:
		at = r.N(op.Rem, nil, r.N(op.Mul, nil, at, r.I64(1+r.rng.Int64N(5))), r.I64(1+r.rng.Int64N(n)))
	case 1:
		at = r.N(op.Div, nil, r.N(op.Add, nil, at, r.I64(r.rng.Int64N(9)-4)), r.I64(1+r.rng.Int64N(4)))
	}
	v := r.Reshape(r.Slice(p[1], []int64{1}, at))
	w := r.Reshape(r.Slice(p[1], []int64{1}, p[0]))
	v = r.N([]op.Code{op.Add, op.Mul, op.Max}[r.rng.IntN(3)], nil, v, w)
	code := r.TrapIf(op.TrapIndex, r.Compare(op.GE, at, r.I64(n)))
	if t.DType.IsInt() && r.rng.IntN(3) == 0 {
		code = r.TrapJoin(code, r.TrapIf(op.TrapOverflow, r.N(op.MulOverflow, nil, v, w)))
	}
	body := r.Region(ps, v, code)
	out := r.Apply(op.Map, op.NewAttrs(op.Ints(op.KDims, n-2-r.rng.Int64N(2)), op.Int(op.KTraps, 1)), []graph.RegionID{body}, x)
	r.push(out[0])
	r.codes = append(r.codes, out[1])
}

// finish returns the last values and the joined trap code. A third of the
// graphs drop their checks, so that results are compared more often.
func (r *random) finish() []graph.Ref {
	n := min(6, len(r.pool))
	out := append([]graph.Ref{}, r.pool[len(r.pool)-n:]...)
	if r.rng.IntN(3) == 0 {
		return append(out, r.NoTrap())
	}
	return append(out, r.TrapJoin(r.codes...))
}

// Name names a random graph in test output.
func Name(seed uint64) string { return fmt.Sprintf("seed %d", seed) }
