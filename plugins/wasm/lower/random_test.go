package lower

import (
	"math/rand/v2"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// generator makes well-formed random programs that always end.
type generator struct {
	r     *rand.Rand
	b     *lir.Builder
	scope []lir.Value
	depth int
	size  int
	bufs  []int
	early bool
}

const bufBytes = 256

var someTypes = []lir.Type{lir.TI32, lir.TI64, lir.TF32, lir.TF64, lir.TIx, lir.Vec(lir.I32, 4), lir.Vec(lir.I64, 2),
	lir.Vec(lir.F32, 4), lir.Vec(lir.F64, 2), lir.Vec(lir.F32, 2), lir.Vec(lir.I32, 2)}

func pick[T any](r *rand.Rand, xs []T) T { return xs[r.IntN(len(xs))] }

// value finds a value of type t in scope, or makes a constant.
func (g *generator) value(t lir.Type) lir.Value {
	if g.r.IntN(8) > 0 {
		for range 20 {
			if len(g.scope) == 0 {
				break
			}
			// recent values are more likely, so expressions get deep
			i := len(g.scope) - 1 - min(int(g.r.ExpFloat64()*4), len(g.scope)-1)
			if v := g.scope[i]; g.b.F.Types[v] == t {
				return v
			}
		}
	}
	return g.add(g.b.Const(t, int64(pick(g.r, edges(t.Elem)))))
}

func (g *generator) add(v lir.Value) lir.Value { g.scope = append(g.scope, v); return v }

// clean makes NaN visible only in its one form.
func (g *generator) clean(v lir.Value) lir.Value {
	if g.b.F.Types[v].Elem.IsFloat() {
		return g.b.Op(lir.Canon, v)
	}
	return v
}

// addr is an address with room for n bytes.
func (g *generator) addr(buf int, n int) lir.Addr {
	if g.r.IntN(3) == 0 {
		return lir.At(buf, int64(g.r.IntN(bufBytes-n)))
	}
	ix := g.b.Op(lir.And, g.value(lir.TIx), g.b.Ix(15))
	if g.r.IntN(2) == 0 {
		g.add(ix) // several accesses share it
	}
	scale := pick(g.r, []uint8{1, 2, 4, 8})
	if g.r.IntN(4) == 0 { // a negative displacement
		return lir.Addr{Buf: buf, Index: g.b.Op(lir.Add, ix, g.b.Ix(4)), Scale: scale, Disp: -4 * int64(scale) * int64(g.r.IntN(2))}
	}
	return lir.Addr{Buf: buf, Index: ix, Scale: scale, Disp: int64(g.r.IntN(bufBytes - n - 15*8))}
}

func (g *generator) statements(n int) {
	for range n {
		if g.size++; g.size > 250 {
			return
		}
		g.b.Node = int32(g.size)
		g.statement()
	}
}

func (g *generator) statement() {
	b, r := g.b, g.r
	t := pick(r, someTypes)
	switch k := r.IntN(24); {
	case k < 10:
		g.operation(t)
	case k < 12 && t != lir.TIx:
		g.add(b.Load(t, memOf(t.Elem), g.addr(pick(r, g.bufs), t.Elem.Size()*int(t.Lanes))))
	case k == 12:
		m := pick(r, []lir.Mem{lir.M8S, lir.M8U, lir.M16S, lir.M16U})
		g.add(b.Load(lir.TI32, m, g.addr(pick(r, g.bufs), m.Size())))
	case k < 15 && t != lir.TIx:
		b.Store(memOf(t.Elem), g.addr(2+r.IntN(2), t.Elem.Size()*int(t.Lanes)), g.clean(g.value(t)))
	case k == 15:
		m := pick(r, []lir.Mem{lir.M8S, lir.M16U})
		b.Store(m, g.addr(2+r.IntN(2), m.Size()), g.value(lir.TI32))
	case k == 16 && t.IsVec():
		g.add(b.Splat(g.value(t.Scalar()), int(t.Lanes)))
	case k == 17 && t.IsVec():
		g.add(b.Extract(g.value(t), r.IntN(int(t.Lanes))))
	case k == 18 && t.IsVec():
		g.compare(t)
	case k == 19:
		g.convert()
	case g.depth < 3:
		g.depth++
		g.structure()
		g.depth--
	}
}

func (g *generator) operation(t lir.Type) {
	for range 30 {
		o := lir.Op(1 + g.r.IntN(int(lir.NumOps)-1))
		if elsewhere[o] && o != lir.Select || laneOps[o] || lir.IsConversion(o) || !lir.Defined(o, t.Elem, t.IsVec()) {
			continue
		}
		if o >= lir.DivS && o <= lir.RemU {
			if t == lir.TIx {
				continue
			}
			d := g.b.Op(lir.Or, g.b.Op(lir.And, g.value(t), g.b.Const(t, 0xFF)), g.b.Const(t, 1))
			g.add(g.b.Op(o, g.value(t), d))
			return
		}
		if o == lir.Select {
			if !t.IsVec() {
				g.add(g.b.Op(o, g.value(lir.TI32), g.value(t), g.value(t)))
			}
			return
		}
		args := make([]lir.Value, o.Info().Arity)
		for i := range args {
			args[i] = g.value(t)
			if o == lir.FCopysign {
				args[i] = g.clean(args[i])
			}
		}
		if t.IsVec() && (o == lir.Shl || o == lir.ShrS || o == lir.ShrU) && g.r.IntN(3) > 0 {
			args[1] = g.b.Splat(g.value(t.Scalar()), int(t.Lanes))
		}
		v := g.b.Op(o, args...)
		if g.b.F.Types[v].Elem != lir.Mask {
			g.add(v)
		}
		return
	}
}

// compare uses a mask in every way there is.
func (g *generator) compare(t lir.Type) {
	b := g.b
	eq, lt := lir.Eq, lir.LtU
	if t.Elem.IsFloat() {
		eq, lt = lir.FEq, lir.FLt
	}
	m := b.Op(lir.MOr, b.Op(lir.MNot, b.Op(eq, g.value(t), g.value(t))), b.Op(lt, g.value(t), g.value(t)))
	m = b.Op(lir.MAnd, m, b.Op(lir.MNot, b.Op(lt, g.value(t), g.value(t))))
	g.add(b.Op(lir.Select, m, g.value(t), g.value(t)))
	g.add(b.Op(lir.MAny, m))
	if t.Elem == lir.I32 || t.Elem == lir.I64 {
		g.add(b.Op(lir.Add, g.value(t), b.LaneIx(t)))
	}
	g.add(b.Zip(g.value(t), g.value(t), g.r.IntN(2)))
	// only the lanes that LaneDown defines may be seen
	down := b.LaneDown(g.value(t), int(t.Lanes)/2)
	g.add(b.Extract(down, g.r.IntN(int(t.Lanes)/2)))
}

func (g *generator) convert() {
	o := lir.Wrap + lir.Op(g.r.IntN(int(lir.FromBits-lir.Wrap)+1))
	p := pick(g.r, conversions[o])
	if p[0] == lir.Ix || p[1] == lir.Ix {
		return // sizes decide what the value may be
	}
	from, to := lir.Type{Elem: p[0], Lanes: 1}, lir.Type{Elem: p[1], Lanes: 1}
	if g.r.IntN(2) == 0 && lir.Defined(o, p[1], true) && !laneOps[o] {
		from, to = lir.Vec(p[0], 2), lir.Vec(p[1], 2)
	}
	v := g.value(from)
	if o == lir.BitsOf {
		v = g.clean(v)
	}
	g.add(g.b.Conv(o, to, v))
}

// inside runs body with its own scope.
func (g *generator) inside(params []lir.Value, n int, yield []lir.Type) []lir.Value {
	mark := len(g.scope)
	g.scope = append(g.scope, params...)
	g.statements(n)
	out := make([]lir.Value, len(yield))
	for i, t := range yield {
		out[i] = g.value(t)
	}
	g.scope = g.scope[:mark]
	return out
}

func (g *generator) structure() {
	b, r := g.b, g.r
	var ts []lir.Type
	var carried []lir.Value
	for range r.IntN(4) {
		t := pick(r, someTypes)
		ts, carried = append(ts, t), append(carried, g.value(t))
	}
	n := 1 + r.IntN(8)
	switch r.IntN(7) {
	case 0, 1, 2:
		lo, hi := b.Ix(int64(r.IntN(3))), b.Ix(int64(r.IntN(6)))
		if r.IntN(2) == 0 {
			hi = b.Op(lir.And, g.value(lir.TIx), b.Ix(7))
		}
		g.scope = append(g.scope, b.For(lo, hi, int64(1+r.IntN(3)), carried, func(i lir.Value, c []lir.Value) []lir.Value {
			return g.inside(append([]lir.Value{i}, c...), n, ts)
		})...)
	case 3:
		res := b.While(append([]lir.Value{b.I32(0)}, carried...), func(c []lir.Value) lir.Value {
			g.inside(c, r.IntN(3), nil)
			return b.Op(lir.LtS, c[0], b.I32(int32(1+r.IntN(4))))
		}, func(c []lir.Value) []lir.Value {
			y := g.inside(c, n, ts)
			return append([]lir.Value{b.Op(lir.Add, c[0], b.I32(1))}, y...)
		})
		g.scope = append(g.scope, res...)
	case 4, 5:
		side := func() []lir.Value { return g.inside(nil, n/2, ts) }
		g.scope = append(g.scope, b.If(g.value(lir.TI32), ts, side, side)...)
	case 6:
		if !g.early {
			return
		}
		b.If(b.Op(lir.Eq, g.value(lir.TI32), b.I32(7)), nil, func() []lir.Value {
			b.Return(g.inside(nil, 2, []lir.Type{lir.TI32})[0])
			return nil
		}, nil)
	}
}

// randomProgram makes a program from a seed; early allows it to return early.
func randomProgram(seed uint64, early bool) *program {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &generator{r: r, b: lir.NewFunc("f"), early: early}
	in, consts := make([]byte, bufBytes), make([]byte, bufBytes+8)
	for i := range in {
		in[i], consts[i] = byte(r.Uint32()), byte(r.Uint32())
	}
	g.bufs = []int{
		g.b.Buf(lir.Buf{Kind: lir.BufIn, Index: 0, Bytes: bufBytes}),
		g.b.Buf(lir.Buf{Kind: lir.BufConst, Index: 0, Offset: 8, Bytes: bufBytes}),
		g.b.Buf(lir.Buf{Kind: lir.BufOut, Index: 0, Bytes: bufBytes}),
		g.b.Buf(lir.Buf{Kind: lir.BufWork, Offset: 64, Bytes: bufBytes}),
	}
	// scratch memory starts as copies, since its content is arbitrary
	out2 := g.b.Buf(lir.Buf{Kind: lir.BufOut, Index: 1, Bytes: 1 << 16})
	g.b.For(g.b.Ix(0), g.b.Ix(bufBytes), 8, nil, func(i lir.Value, _ []lir.Value) []lir.Value {
		for _, buf := range g.bufs[2:] {
			g.b.Store(lir.M64, lir.Addr{Buf: buf, Index: i, Scale: 1}, g.b.Load(lir.TI64, lir.M64, lir.Addr{Buf: 0, Index: i, Scale: 1}))
		}
		return nil
	})
	g.add(g.b.F.Tile)
	g.statements(60)
	at := int64(0)
	for _, v := range g.scope {
		t := g.b.F.Types[v]
		if t == lir.TIx {
			v, t = g.b.Conv(lir.IxToI32, lir.TI32, v), lir.TI32
		}
		g.b.Store(memOf(t.Elem), lir.At(out2, at), g.clean(v))
		at += 16
	}
	f := g.b.Finish(g.b.I32(0))
	return &program{m: &lir.Module{Funcs: []*lir.Func{f}, Consts: [][]byte{consts}}, in: [][]byte{in},
		outSize: []int{bufBytes, int(at)}, work: 64 + bufBytes, tiles: 2}
}

func TestRandomPrograms(t *testing.T) {
	machine := newMachine(t)
	n := uint64(120)
	if testing.Short() {
		n = 50
	}
	for seed := range n {
		split := splitAbove
		if seed%2 == 1 {
			split = int(seed % 37)
		}
		if randomProgram(seed, seed%3 > 0).check(t, machine, split); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestSameBytes(t *testing.T) {
	a, b := compileBytes(t, 5), compileBytes(t, 5)
	if string(a) != string(b) {
		t.Error("the same IR gives different bytes")
	}
}

func TestLongFunctionsAreSplit(t *testing.T) {
	f := randomProgram(3, false).m.Funcs[0]
	if n := len(parts(f, 20, 5)); n < 2 {
		t.Errorf("%d parts", n)
	}
	if ps := parts(f, splitAbove, partSize); ps != nil {
		t.Errorf("a short function has %d parts", len(ps))
	}
}
