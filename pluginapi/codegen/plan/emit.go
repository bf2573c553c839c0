package plan

import (
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// emitter builds one function. It is single use.
type emitter struct {
	g   *graph.Graph
	b   *lir.Builder
	tgt *lir.Target
	mem *arena
	out *Plan // receives constants and provenance

	heavy  map[op.Code]heavyRule
	nodeIx map[graph.NodeID]int32
	consts map[graph.NodeID]int // const node -> buffer

	seq       int       // numbers lazy nodes
	tailBuf   int       // see tail
	epi       *epilogue // the contraction whose fusion is being emitted, or nil
	flops     float64
	grain     int64          // work worth a tile
	scratched int            // how often scratch memory was taken so far
	lastUse   []bool         // of each input of the node being emitted, see donatable
	given     map[*alloc]int // see give
	want      []*view        // where the outputs of the node being emitted should go, see allocFor
	lanes     int            // vector lanes of the code being emitted, 1 for scalar
	rec       *recorder      // what a probe of a loop nest touches, or nil
	memo      []memoTab      // values of lazy nodes, innermost block last
}

type memoTab map[string]lir.Value

// needScalar is called where code has no vector form.
func (e *emitter) needScalar(what string) {
	if e.lanes > 1 {
		e.failVec("%s has no vector form", what)
	}
}

// try emits with the given number of lanes and reports whether it could; on
// failure nothing is left behind.
func (e *emitter) try(lanes int, f func()) (ok bool) {
	mark, memo, was, held := e.b.Mark(), len(e.memo), e.lanes, e.mem.snapshot()
	defer func() {
		e.lanes = was
		if r := recover(); r != nil {
			if _, vec := r.(vecFail); !vec {
				panic(r)
			}
			e.b.Reset(mark)
			e.memo = e.memo[:memo]
			e.mem.restore(held)
			ok = false
		}
	}()
	e.lanes = lanes
	e.memo = append(e.memo, memoTab{})
	f()
	e.memo = e.memo[:memo]
	return true
}

func (e *emitter) next() int { e.seq++; return e.seq }

// scope runs f with a memo table of its own: what a block computes is not
// visible outside it.
func (e *emitter) scope(f func()) {
	e.memo = append(e.memo, memoTab{})
	f()
	e.memo = e.memo[:len(e.memo)-1]
}

func (e *emitter) lookup(key string) (lir.Value, bool) {
	for i := len(e.memo) - 1; i >= 0; i-- {
		if v, ok := e.memo[i][key]; ok {
			return v, true
		}
	}
	return lir.NoValue, false
}

func (e *emitter) remember(key string, v lir.Value) { e.memo[len(e.memo)-1][key] = v }

// loop emits a counted loop without carried values over [0, n).
func (e *emitter) loop(n int64, body func(i affine)) {
	switch {
	case n <= 0:
	case n == 1:
		body(fixed(0))
	default:
		e.b.For(e.b.Ix(0), e.b.Ix(n), 1, nil, func(i lir.Value, _ []lir.Value) []lir.Value {
			e.scope(func() { body(counter(i, n)) })
			return nil
		})
	}
}

// together emits a loop whose trips are independent: each reads what was there
// before and writes places of its own. Big ones are marked, so that their trips
// may be spread over threads. work is what one trip costs, in elements. A trip
// that needs scratch memory shares it with the others and so keeps its turn.
func (e *emitter) together(n int64, work int64, body func(i affine)) {
	e.independent(work, func() { e.loop(n, body) })
}

// independent marks the one loop that f emits last.
func (e *emitter) independent(work int64, f func()) {
	before := e.scratched
	f()
	if e.scratched == before {
		e.b.Independent(max(e.grain/max(work, 1), 1))
	}
}

// nest emits loops over dims, the last innermost.
func (e *emitter) nest(dims []int64, body func(idx []affine)) {
	idx := make([]affine, len(dims))
	var level func(d int)
	level = func(d int) {
		if d == len(dims) {
			body(append([]affine{}, idx...))
			return
		}
		e.loop(dims[d], func(i affine) { idx[d] = i; level(d + 1) })
	}
	level(0)
}

// carry emits a counted loop over [lo, hi) by step with carried values.
func (e *emitter) carry(lo, hi, step int64, init []lir.Value, body func(i affine, c []lir.Value) []lir.Value) []lir.Value {
	if hi <= lo {
		return init
	}
	if hi-lo <= step {
		return body(fixed(lo), init)
	}
	return e.b.For(e.b.Ix(lo), e.b.Ix(hi), step, init, func(i lir.Value, c []lir.Value) (out []lir.Value) {
		a := affine{terms: []term{{i, 1}}, known: true, lo: lo, hi: lo + (hi-lo-1)/step*step}
		e.scope(func() { out = body(a, c) })
		return out
	})
}

// choose emits an if whose sides give values of types ts.
func (e *emitter) choose(c lir.Value, ts []lir.Type, then, els func() []lir.Value) []lir.Value {
	e.needScalar("a branch")
	side := func(f func() []lir.Value) func() []lir.Value {
		return func() (out []lir.Value) {
			e.scope(func() {
				if f != nil {
					out = f()
				}
			})
			return out
		}
	}
	return e.b.If(c, ts, side(then), side(els))
}

// Memory.

// allocBuf takes work memory for a dense value and declares a buffer for it.
func (e *emitter) allocBuf(d types.DType, dims []int64) view {
	e.needScalar("work memory")
	e.scratched++
	a := e.mem.get(numElems(dims) * int64(d.Size()))
	buf := e.b.Buf(lir.Buf{Kind: lir.BufWork, Offset: a.off, Bytes: a.size})
	return view{buf: buf, alloc: a, strides: dense(dims)}
}

// allocFor is allocBuf for output i of the node being emitted, which may have a
// place already: an output of the entry.
func (e *emitter) allocFor(i int, d types.DType, dims []int64) view {
	if i < len(e.want) && e.want[i] != nil {
		return *e.want[i]
	}
	return e.allocBuf(d, dims)
}

// scratch takes work memory for raw elements; the caller frees it.
func (e *emitter) scratch(bytes int64) view {
	e.needScalar("work memory")
	e.scratched++
	a := e.mem.get(bytes)
	buf := e.b.Buf(lir.Buf{Kind: lir.BufWork, Offset: a.off, Bytes: a.size})
	return view{buf: buf, alloc: a, strides: []int64{1}}
}

func (e *emitter) free(v view) { e.mem.put(v.alloc) }

// loadAt reads element offset a of a view's buffer, as a vector where a moves
// with the lane.
func (e *emitter) loadAt(v view, d types.DType, a affine) lir.Value {
	if e.rec != nil {
		e.rec.access(a)
	}
	t := lirType(d)
	if a.lane != 0 && e.lanes > 1 {
		if a.lane != 1 || memOf(d) < lir.M32 {
			e.failVec("a strided or narrow access")
		}
		e.hasVec(lir.Load, t.Elem, lir.None, e.lanes)
		t = lir.Vec(t.Elem, e.lanes)
	}
	return e.b.Load(t, memOf(d), e.addr(v.buf, a, int64(d.Size())))
}

// storeAt writes element offset a; floats that leave through an output are
// made canonical.
func (e *emitter) storeAt(v view, d types.DType, a affine, x lir.Value) {
	if e.rec != nil {
		e.rec.access(a)
	}
	if a.lane != 0 && e.lanes > 1 {
		if a.lane != 1 || memOf(d) < lir.M32 {
			e.failVec("a strided or narrow store")
		}
		if !e.isVec(x) {
			x = e.splat(x, e.lanes)
		}
		t := e.b.TypeOf(x)
		if t.Elem == lir.Mask {
			e.failVec("a store of masks")
		}
		e.hasVec(lir.Store, t.Elem, lir.None, e.lanes)
	} else if e.isVec(x) {
		e.failVec("a store of lanes to one place")
	}
	if e.b.F.Bufs[v.buf].Kind == lir.BufOut && d.IsFloat() {
		x = e.op(lir.Canon, x)
	}
	e.b.Store(memOf(d), e.addr(v.buf, a, int64(d.Size())), x)
}

// at sets the provenance of what is emitted next.
func (e *emitter) at(n graph.NodeID) func() {
	was := e.b.Node
	e.b.Node = e.nodeIndex(n)
	return func() { e.b.Node = was }
}

func (e *emitter) nodeIndex(n graph.NodeID) int32 {
	if i, ok := e.nodeIx[n]; ok {
		return i
	}
	i := int32(len(e.out.Nodes))
	e.out.Nodes = append(e.out.Nodes, e.g.Digest(n))
	e.nodeIx[n] = i
	return i
}

// recorder notes what a probe of a loop nest touches.
type recorder struct {
	accesses []affine
	raw      map[lir.Value]bool // counters used other than in addresses
}

func (r *recorder) access(a affine) { r.accesses = append(r.accesses, a) }

// tail is a few bytes of work memory for the ragged end of a vector loop. It is
// taken for the whole function, so that vector code may use it too.
func (e *emitter) tail(bytes int64) int {
	if bytes > maxVecBytes {
		panic("BUG: plan: vector wider than its scratch")
	}
	e.scratched++
	return e.tailBuf
}

const maxVecBytes = 64
