package plan

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// Contractions (dot_general): every output element is a chain over the
// contracted index in ascending order, in chunks of 4096 terms that start from
// +0 and are then added up in order.
//
// The chain of one element cannot be split, but the elements are independent:
// the register tile holds R rows by V vectors of output elements, and walks k.
//
//	for each chunk of k                  strips of B packed k-major if that helps
//	  for each block of rows             stays in the second-level cache
//	    for each strip of V*L columns    stays in the first-level cache by rows
//	      for each tile of R rows        acc[R][V] = +0
//	        for k: b[V] = B[k, strip]; for r: acc[r] = fma(A[r,k], b, acc[r])
//
// Rows are dealt out so that tiles differ by one row at most. The last vector of
// a row is moved back to end with it, so that some columns are computed twice;
// where a row is shorter than a vector the columns past N are computed from
// zeros and never stored. Operands of another dtype (acc f64, i32, i64) are
// widened exactly while packing.
type contraction struct {
	node graph.NodeID
	acc  op.Acc
	kd   types.DType // what the kernel computes in
	res  types.DType
	x, y operand

	bDims, mDims, nDims, kDims []int64
	xb, xm, xk                 []int // axes of x
	yb, yn, yk                 []int // axes of y
	m, n, k                    int64
	swapped                    bool // x and y, m and n have changed places

	lanes, rows, vecs int64
	store             func(b []affine, m, n affine, v lir.Value)

	a     aSide
	b     bSide
	parts view   // [m][n, padded] chunk totals, where k > 4096
	from  turned // where turned columns are packed from, if they are
	grp   *grouping
	sums  view // accumulators between blocks of a chunk, where there are several
}

// aSide is where row m, term k of the left operand is: at + m*ms + k*ks.
type aSide struct {
	view   view
	ms, ks int64
	packed bool
}

type bSide struct {
	view   view // direct: the operand; packed: strips of [k][columns]
	ks     int64
	packed bool
	turned bool // direct, but the terms lie together, not the columns
}

func (e *emitter) dotGeneralNode(n graph.NodeID, ins []operand) []operand {
	if e.epi != nil && e.epi.node == n {
		return []operand{e.epi.hole(e, ins)}
	}
	c := e.contraction(n, ins)
	t := e.outType(n, 0)
	out := operand{typ: t, kind: inMemory, view: e.allocFor(0, t.DType, t.Shape())}
	if numElems(t.Shape()) == 0 {
		return []operand{out}
	}
	strides := dense(append(append([]int64{}, c.bDims...), c.m, c.n))
	c.store = func(b []affine, m, nn affine, v lir.Value) {
		a := fixed(0)
		for i, x := range b {
			a = a.add(x.scale(strides[i]))
		}
		a = a.add(m.scale(c.n)).add(nn) // m is 0 where the operands are swapped
		e.storeAt(out.view, t.DType, a, v)
	}
	if !e.contract(c) {
		panic("BUG: plan: a plain contraction has no scalar form")
	}
	if t.Rank() == 0 {
		v := e.loadAt(out.view, t.DType, fixed(0))
		e.drop(out)
		return []operand{{typ: t, kind: inScalar, val: v}}
	}
	return []operand{out}
}

func (e *emitter) contraction(n graph.NodeID, ins []operand) *contraction {
	as := e.g.Attrs(n)
	c := &contraction{node: n, acc: op.Acc(as.Int(op.KAcc)), x: ins[0], y: ins[1], res: e.outType(n, 0).DType}
	c.kd = map[op.Acc]types.DType{op.AccFMA: c.res, op.AccUnfused: c.res, op.AccF64: types.F64, op.AccI32: types.I32, op.AccI64: types.I64}[c.acc]
	xs, ys := c.x.typ.Shape(), c.y.typ.Shape()
	toInts := func(xs []int64) (out []int) {
		for _, x := range xs {
			out = append(out, int(x))
		}
		return out
	}
	c.xb, c.yb = toInts(as.Ints(op.KLhsBatch)), toInts(as.Ints(op.KRhsBatch))
	c.xk, c.yk = toInts(as.Ints(op.KLhsContract)), toInts(as.Ints(op.KRhsContract))
	free := func(r int, used ...[]int) (out []int) {
	axis:
		for d := range r {
			for _, u := range used {
				for _, a := range u {
					if a == d {
						continue axis
					}
				}
			}
			out = append(out, d)
		}
		return out
	}
	c.xm, c.yn = free(len(xs), c.xb, c.xk), free(len(ys), c.yb, c.yk)
	sizes := func(shape []int64, ax []int) (out []int64) {
		for _, a := range ax {
			out = append(out, shape[a])
		}
		return out
	}
	c.bDims, c.mDims, c.kDims, c.nDims = sizes(xs, c.xb), sizes(xs, c.xm), sizes(xs, c.xk), sizes(ys, c.yn)
	c.m, c.n, c.k = numElems(c.mDims), numElems(c.nDims), numElems(c.kDims)
	if c.n == 1 && c.m > 1 && !e.byRows(c) {
		c.swap()
	}
	return c
}

// byRows reports whether a matrix-vector product should walk the rows of the
// matrix one element at a time, because that is how it lies in memory and
// turning vectors costs more.
func (e *emitter) byRows(c *contraction) bool {
	if e.tgt.MatvecRows == 0 || c.x.kind != inMemory || c.x.typ.DType != c.kd {
		return false
	}
	ks, ok := oneStride(c.x.typ.Shape(), c.x.view.strides, c.xk)
	return ok && ks == 1 && !(e.tgt.VecBytes >= turnBytes && c.m >= int64(e.tgt.VecBytes/c.kd.Size()))
}

// swap exchanges the operands, so that the one output axis is the vector axis:
// the product is commutative to the bit, the one NaN aside.
func (c *contraction) swap() {
	c.swapped = true
	c.x, c.y = c.y, c.x
	c.mDims, c.nDims = c.nDims, c.mDims
	c.xb, c.yb = c.yb, c.xb
	c.xm, c.yn = c.yn, c.xm
	c.xk, c.yk = c.yk, c.xk
	c.m, c.n = c.n, c.m
}

// element computes one operand element at flat indices, widened to kd.
func (e *emitter) operandAt(c *contraction, o operand, bAx, fAx, kAx []int, fDims []int64, b []affine, f, k affine) lir.Value {
	idx := make([]affine, o.typ.Rank())
	for i, a := range bAx {
		idx[a] = b[i]
	}
	fi := e.reshapeIndex(fDims, []int64{numElems(fDims)}, []affine{f})
	for i, a := range fAx {
		idx[a] = fi[i]
	}
	ki := e.reshapeIndex(c.kDims, []int64{c.k}, []affine{k})
	for i, a := range kAx {
		idx[a] = ki[i]
	}
	v := e.eval(o, idx)
	if o.typ.DType != c.kd {
		v = e.widen(o.typ.DType, c.kd, v)
	}
	return v
}

func (e *emitter) widen(from, to types.DType, v lir.Value) lir.Value {
	if wide(from) && wide(to) || to == types.I32 {
		return v // bytes are already extended by their signedness
	}
	return e.convert(from, to, v)
}

// oneStride returns the stride of axes walked as one flat index.
func oneStride(shape, strides []int64, ax []int) (int64, bool) {
	s, n := int64(0), int64(1)
	for i := len(ax) - 1; i >= 0; i-- {
		d := ax[i]
		if shape[d] == 1 {
			continue
		}
		if n == 1 {
			s = strides[d]
		} else if strides[d] != s*n {
			return 0, false
		}
		n *= shape[d]
	}
	return s, true
}

func (e *emitter) contract(c *contraction) bool {
	if c.k == 0 {
		e.emptyContraction(c)
		return true
	}
	if !e.chooseTile(c) {
		return false
	}
	e.flops += 2 * float64(numElems(c.bDims)) * float64(c.m) * float64(c.n) * float64(c.k)
	e.placeOperands(c)
	one := func(b []affine) {
		if c.a.packed {
			e.packA(c, b)
		}
		e.chunks(c, b)
	}
	if len(c.bDims) > 0 && !c.a.packed && !c.b.packed && c.sums.alloc == nil && c.parts.alloc == nil {
		// The members of a batch share nothing.
		work := numElems(c.bDims[1:]) * c.m * c.n * c.k / workPerLane
		e.together(c.bDims[0], work, func(i affine) {
			e.nest(c.bDims[1:], func(in []affine) { one(append([]affine{i}, in...)) })
		})
	} else {
		e.nest(c.bDims, one)
	}
	for _, v := range []view{c.parts, c.a.view, c.b.view, c.sums} {
		if v.alloc != nil && v.alloc.refs == 0 {
			e.free(v)
		}
	}
	return true
}

func (e *emitter) emptyContraction(c *contraction) {
	e.nest(c.bDims, func(b []affine) {
		e.loop(c.m, func(m affine) {
			e.loop(c.n, func(n affine) { c.store(b, m, n, e.zero(c.res)) })
		})
	})
}

// chooseTile takes the target's register tile where every vector operation of
// the kernel and of its epilogue exists, else single elements. Half vectors
// serve rows shorter than a full one. With few rows the registers hold more
// columns.
func (e *emitter) chooseTile(c *contraction) bool {
	full := int64(e.tgt.VecBytes / c.kd.Size())
	widths := []int64{full, full / 2}
	if c.n < full {
		widths = []int64{full / 2, full}
	}
	most, vecs := int64(e.tgt.MatmulRows), int64(e.tgt.MatmulVecs)
	if c.n > 1 && most > 0 && vecs > 0 {
		for _, lanes := range widths {
			if lanes < 2 {
				continue
			}
			c.lanes, c.rows = lanes, evenly(c.m, most)
			c.vecs = evenly((c.n+lanes-1)/lanes, max(most*vecs/(c.rows+1), vecs))
			if e.can(int(lanes), func() { e.probeTile(c) }) {
				return true
			}
		}
	}
	c.lanes, c.rows, c.vecs = 1, evenly(c.m, 4), min(2, c.n)
	if c.n == 1 && e.tgt.MatvecRows > 0 {
		c.rows = evenly(c.m, int64(e.tgt.MatvecRows))
	}
	return e.can(1, func() { e.probeTile(c) })
}

// evenly is the larger size of pieces, at most of size most, that differ by one.
func evenly(n, most int64) int64 {
	pieces := (n + most - 1) / most
	return (n + pieces - 1) / pieces
}

// can reports whether f could be emitted with the given lanes; it leaves
// nothing behind.
func (e *emitter) can(lanes int, f func()) bool {
	mark, seq := e.b.Mark(), e.seq
	ok := e.try(lanes, f)
	e.b.Reset(mark)
	e.seq = seq
	return ok
}

// probeTile emits what a tile does to one accumulator.
func (e *emitter) probeTile(c *contraction) {
	lane := fixed(0).inLanes(c.lanes)
	b := make([]affine, len(c.bDims))
	for i := range b {
		b[i] = fixed(0)
	}
	t := e.kernelType(c)
	if t.IsVec() {
		for _, o := range []lir.Op{lir.Const, lir.Load, lir.Store, lir.Splat} {
			e.hasVec(o, t.Elem, lir.None, int(t.Lanes))
		}
	}
	acc := e.b.Const(t, 0)
	acc = e.mac(c, e.b.Const(t.Scalar(), 0), acc, acc)
	c.store(b, fixed(0), lane, e.finish(c, e.addTotal(c, acc, acc)))
}

func (e *emitter) kernelType(c *contraction) lir.Type {
	t := lirType(c.kd)
	if c.lanes > 1 {
		t = lir.Vec(t.Elem, int(c.lanes))
	}
	return t
}

// mac is one term of the chain.
func (e *emitter) mac(c *contraction, a, b, acc lir.Value) lir.Value {
	switch {
	case !c.kd.IsFloat():
		return e.op(lir.Add, acc, e.op(lir.Mul, a, b))
	case c.acc == op.AccFMA:
		return e.op(lir.FMA, a, b, acc)
	}
	return e.op(lir.FAdd, acc, e.op(lir.FMul, a, b))
}

func (e *emitter) addTotal(c *contraction, total, acc lir.Value) lir.Value {
	if c.kd.IsFloat() {
		return e.op(lir.FAdd, total, acc)
	}
	return e.op(lir.Add, total, acc)
}

// finish rounds the accumulator to the result dtype.
func (e *emitter) finish(c *contraction, v lir.Value) lir.Value {
	if c.kd == types.F64 && c.res == types.F32 {
		return e.conv(lir.Demote, lir.F32, v)
	}
	return v
}
