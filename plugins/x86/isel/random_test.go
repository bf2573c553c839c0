package isel

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// gen makes random functions: nested loops and choices over values of every
// type, with loads and stores that may alias.
type gen struct {
	*rand.Rand
	l     *Level
	b     *lir.Builder
	bufs  []int
	vals  map[lir.Type][]lir.Value
	types []lir.Type
	fuel  int
	ix    []lir.Value // loop counters below 16
}

const bufBytes = 2048

func randomFunc(l *Level, seed int64) *lir.Module {
	g := &gen{Rand: rand.New(rand.NewSource(seed)), l: l, b: lir.NewFunc("random"), vals: map[lir.Type][]lir.Value{}, fuel: 60}
	n := l.VecBytes
	g.types = []lir.Type{lir.TI32, lir.TI64, lir.TF32, lir.TF64, lir.Vec(lir.F32, n/4), lir.Vec(lir.F64, n/8), lir.Vec(lir.I32, n/4), lir.Vec(lir.I64, n/8), lir.Vec(lir.F32, n/8)}
	g.bufs = []int{
		g.b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: bufBytes}),
		g.b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: bufBytes}),
		g.b.Buf(lir.Buf{Kind: lir.BufWork, Offset: 0, Bytes: bufBytes}),
		g.b.Buf(lir.Buf{Kind: lir.BufWork, Offset: 64, Bytes: bufBytes - 64}),
		g.b.Buf(lir.Buf{Kind: lir.BufConst, Index: 0, Bytes: bufBytes}),
	}
	g.ix = []lir.Value{g.b.F.Tile}
	// Work memory starts undefined.
	g.b.For(g.b.Ix(0), g.b.Ix(bufBytes), int64(n), nil, func(i lir.Value, _ []lir.Value) []lir.Value {
		g.b.Store(lir.M32, lir.Addr{Buf: g.bufs[2], Index: i, Scale: 1}, g.b.Const(lir.Vec(lir.I32, n/4), 7))
		return nil
	})
	for _, t := range g.types {
		g.add(g.constant(t))
		g.add(g.load(t))
	}
	g.stmts(14, 0)
	for i, t := range g.types {
		v := g.pick(t)
		if t.Elem.IsFloat() {
			v = g.b.Op(lir.Canon, v)
		}
		g.b.Store(memOf(t), lir.At(g.bufs[1], int64(i*64)), v)
	}
	consts := make([]byte, bufBytes)
	for i := range consts {
		consts[i] = byte(g.Intn(256))
	}
	return &lir.Module{Funcs: []*lir.Func{g.b.Finish(g.b.I32(0))}, Consts: [][]byte{consts}}
}

func memOf(t lir.Type) lir.Mem {
	if t.Elem.Size() == 8 {
		return lir.M64
	}
	return lir.M32
}

func (g *gen) add(v lir.Value) { t := g.b.F.TypeOf(v); g.vals[t] = append(g.vals[t], v) }

func (g *gen) pick(t lir.Type) lir.Value {
	vs := g.vals[t]
	if len(vs) == 0 {
		return g.constant(t)
	}
	if g.Intn(3) > 0 { // recent ones more often
		return vs[len(vs)-1-g.Intn(min(len(vs), 4))]
	}
	return vs[g.Intn(len(vs))]
}

func (g *gen) constant(t lir.Type) lir.Value {
	ed := edges(t.Elem)
	return g.b.Const(t, int64(ed[g.Intn(len(ed))]))
}

func (g *gen) addr(bytes int, buf int) lir.Addr {
	if g.Intn(2) == 0 {
		return lir.At(buf, int64(g.Intn((bufBytes-64-bytes)/8))*8)
	}
	return lir.Addr{Buf: buf, Index: g.ix[g.Intn(len(g.ix))], Scale: []uint8{1, 2, 4, 8}[g.Intn(4)], Disp: int64(g.Intn(bufBytes-64-16*8-bytes)) &^ 7}
}

func (g *gen) load(t lir.Type) lir.Value {
	m := memOf(t)
	if t == lir.TI32 && g.Intn(2) == 0 {
		m = lir.Mem(g.Intn(4))
	}
	v := g.b.Load(t, m, g.addr(t.Elem.Size()*int(t.Lanes), g.bufs[g.Intn(len(g.bufs))]))
	return v
}

func (g *gen) store() {
	t := g.types[g.Intn(len(g.types))]
	v := g.pick(t)
	if t.Elem.IsFloat() {
		v = g.b.Op(lir.Canon, v)
	}
	m := memOf(t)
	if t == lir.TI32 && g.Intn(2) == 0 {
		m = lir.Mem(g.Intn(4))
	}
	g.b.Store(m, g.addr(t.Elem.Size()*int(t.Lanes), g.bufs[1+g.Intn(3)]), v)
}

// scoped runs f and forgets the values it made.
func (g *gen) scoped(f func()) {
	mark := map[lir.Type]int{}
	for t, vs := range g.vals {
		mark[t] = len(vs)
	}
	ix := len(g.ix)
	f()
	for t := range g.vals {
		g.vals[t] = g.vals[t][:mark[t]]
	}
	g.ix = g.ix[:ix]
}

func (g *gen) someTypes() []lir.Type {
	var ts []lir.Type
	for i := g.Intn(4); i > 0; i-- {
		ts = append(ts, g.types[g.Intn(len(g.types))])
	}
	return ts
}

func (g *gen) picks(ts []lir.Type) []lir.Value {
	var vs []lir.Value
	for _, t := range ts {
		vs = append(vs, g.pick(t))
	}
	return vs
}

func (g *gen) stmts(n, depth int) {
	for i := 0; i < n && g.fuel > 0; i++ {
		g.fuel--
		switch k := g.Intn(20); {
		case k < 3:
			g.store()
		case k < 6:
			g.add(g.load(g.types[g.Intn(len(g.types))]))
		case k == 6 && depth < 3:
			ts := g.someTypes()
			step := int64(1 + g.Intn(3))
			hi := g.b.Ix(int64(g.Intn(9)))
			res := g.b.For(g.b.Ix(int64(g.Intn(3))), hi, step, g.picks(ts), func(i lir.Value, c []lir.Value) (ys []lir.Value) {
				g.scoped(func() {
					g.ix = append(g.ix, i)
					for _, v := range c {
						g.add(v)
					}
					g.stmts(5, depth+1)
					ys = g.picks(ts)
				})
				return ys
			})
			for _, v := range res {
				g.add(v)
			}
		case k == 7 && depth < 3:
			ts := append([]lir.Type{lir.TI32}, g.someTypes()...)
			init := g.picks(ts)
			init[0] = g.b.I32(int32(g.Intn(6)))
			res := g.b.While(init, func(c []lir.Value) lir.Value {
				return g.b.Op(lir.LtS, c[0], g.b.I32(8))
			}, func(c []lir.Value) (ys []lir.Value) {
				g.scoped(func() {
					for _, v := range c {
						g.add(v)
					}
					g.stmts(4, depth+1)
					ys = g.picks(ts)
					ys[0] = g.b.Op(lir.Add, c[0], g.b.I32(int32(1+g.Intn(3))))
				})
				return ys
			})
			for _, v := range res {
				g.add(v)
			}
		case k < 10 && depth < 4:
			ts := g.someTypes()
			side := func() (ys []lir.Value) {
				g.scoped(func() {
					g.stmts(3, depth+1)
					if g.Intn(12) == 0 {
						g.b.Return(g.b.I32(int32(g.Intn(4))))
					}
					ys = g.picks(ts)
				})
				return ys
			}
			for _, v := range g.b.If(g.truth(), ts, side, side) {
				g.add(v)
			}
		default:
			g.op()
		}
	}
}

var comparisons = []lir.Op{lir.Eq, lir.Ne, lir.LtS, lir.LtU, lir.LeS, lir.LeU}
var floatComparisons = []lir.Op{lir.FEq, lir.FNe, lir.FLt, lir.FLe}

func (g *gen) compareAt(t lir.Type) lir.Value {
	ops := comparisons
	if t.Elem.IsFloat() {
		ops = floatComparisons
	}
	return g.b.Op(ops[g.Intn(len(ops))], g.pick(t), g.pick(t))
}

func (g *gen) truth() lir.Value {
	switch g.Intn(4) {
	case 0:
		return g.pick(lir.TI32)
	case 1:
		t := g.types[4+g.Intn(5)]
		m := g.compareAt(t)
		if g.Intn(2) == 0 {
			m = g.b.Op(lir.MNot, m)
		}
		return g.b.Op(lir.MAny, g.b.Op([]lir.Op{lir.MAnd, lir.MOr}[g.Intn(2)], m, g.compareAt(t)))
	}
	return g.compareAt(g.types[g.Intn(4)])
}

// op adds a random operation of a random type.
func (g *gen) op() {
	t := g.types[g.Intn(len(g.types))]
	var v lir.Value
	switch op := lir.Op(g.Intn(int(lir.FromBits-lir.Const) + 1)); {
	case op == lir.Splat && t.IsVec():
		v = g.b.Splat(g.pick(t.Scalar()), int(t.Lanes))
	case op == lir.Extract && t.IsVec():
		v = g.b.Extract(g.pick(t), g.Intn(int(t.Lanes)))
	case op == lir.LaneDown && t.IsVec():
		h := 1
		for h*2 < int(t.Lanes) && g.Intn(2) == 0 {
			h *= 2
		}
		v = g.b.Extract(g.b.LaneDown(g.pick(t), h), g.Intn(h))
	case op == lir.Zip && t.IsVec():
		v = g.b.Zip(g.pick(t), g.pick(t), g.Intn(2))
	case op == lir.LaneIx && t.IsVec() && !t.Elem.IsFloat():
		v = g.b.LaneIx(t)
	case op == lir.Select:
		c := g.truth()
		if t.IsVec() {
			c = g.compareAt(t)
		}
		v = g.b.Op(op, c, g.pick(t), g.pick(t))
	case isConv(op):
		v = g.conv(op, t)
	case op <= lir.Store || laneOps[op] || isPredicate(op) || op >= lir.MAnd && op <= lir.MAny || !lir.Defined(op, t.Elem, t.IsVec()),
		t.IsVec() && !g.l.hasVec(op, t.Elem, lir.None, int(t.Lanes)):
		v = g.compareAt(g.types[g.Intn(4)])
	default:
		args := g.picks([]lir.Type{t, t, t}[:op.Info().Arity])
		switch op {
		case lir.DivS, lir.DivU, lir.RemS, lir.RemU:
			args[1] = g.b.Op(lir.Or, g.b.Op(lir.ShrU, args[1], g.b.Const(t, 1)), g.b.Const(t, 1))
		case lir.FCopysign:
			args[1] = g.b.Op(lir.Canon, args[1])
		}
		v = g.b.Op(op, args...)
	}
	g.add(v)
}

func (g *gen) conv(op lir.Op, t lir.Type) lir.Value {
	for _, f := range g.types {
		if f.Lanes != t.Lanes || g.Intn(3) == 0 {
			continue
		}
		if valid(g.l, op, f.Elem, t.Elem, int(t.Lanes)) {
			x := g.pick(f)
			if op == lir.BitsOf {
				x = g.b.Op(lir.Canon, x)
			}
			return g.b.Conv(op, t, x)
		}
	}
	return g.constant(t)
}

// checkSeed compares one random function with the evaluator.
func checkSeed(t *testing.T, l *Level, seed int64) {
	t.Helper()
	m := randomFunc(l, seed)
	if err := lir.Verify(m.Funcs[0]); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	in := make([]byte, bufBytes)
	r := rand.New(rand.NewSource(seed))
	for i := range in {
		in[i] = byte(r.Intn(256))
	}
	same(t, l, m, fmt.Sprintf("seed %d", seed), [][]byte{in}, []int{bufBytes}, bufBytes, 3)
}

// FuzzRandomFunctions explores more seeds than the test.
func FuzzRandomFunctions(f *testing.F) {
	f.Add(int64(1 << 32))
	f.Fuzz(func(t *testing.T, seed int64) {
		for _, l := range levels() {
			runner(t, l)
			checkSeed(t, l, seed)
		}
	})
}

func TestRandomFunctions(t *testing.T) {
	n := int64(120)
	if testing.Short() {
		n = 20
	}
	for _, l := range levels() {
		t.Run(l.Name, func(t *testing.T) {
			runner(t, l)
			for seed := int64(0); seed < n; seed++ {
				checkSeed(t, l, seed)
				if t.Failed() {
					return
				}
			}
		})
	}
}
