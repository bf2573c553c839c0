package isel

import (
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/plugins/x86/asm"
)

// lowering turns one lir.Func into machine IR.
type lowering struct {
	l    *Level
	f    *lir.Func
	b    *mir.Builder
	buf  *asm.Buffer
	pool []asm.Label // of Module.Consts
	an   *analysis

	reg  []mir.Reg   // register of each value, NoReg while it has none
	def  []*lir.Stmt // of deferred values and constants
	left []int32     // uses still to come
	late []lir.Value // deferred loads (or splats of them) that a store could spoil

	base   map[baseKey]mir.Reg
	alias  []int32 // of each buffer
	cache  map[constKey]mir.Reg
	undo   []constKey // entries of cache to drop at the end of the current block
	zipped zipPair
	exit   mir.Block
	depth  int
	node   mir.Node
}

type baseKey struct {
	kind  lir.BufKind
	index int
}

type constKey struct {
	t    lir.Type
	bits int64
	lane bool // LaneIx
	zip  bool // the indices that zip halves bits
}

// lower builds the machine IR of f.
func (l *Level) lower(f *lir.Func, buf *asm.Buffer, pool []asm.Label) (*mir.Func, error) {
	n := len(f.Types)
	lo := &lowering{l: l, f: f, buf: buf, pool: pool, an: analyse(l, f), node: mir.NoNode,
		reg: make([]mir.Reg, n), def: make([]*lir.Stmt, n), left: make([]int32, n),
		base: map[baseKey]mir.Reg{}, cache: map[constKey]mir.Reg{}}
	copy(lo.left, lo.an.uses)
	lo.b = mir.NewBuilder(l.target, f.Name, gpReg(asm.RDI), gpReg(asm.RSI), gpReg(asm.RDX), gpReg(asm.RCX))
	ps := append([]mir.Reg(nil), lo.b.Params(0)...)
	lo.reg[f.Tile] = ps[3]
	lo.buffers(ps)
	lo.hoist()
	lo.exit = lo.b.Block(gp)
	if lo.block(f.Body) {
		lo.b.Jump(lo.node, lo.exit, lo.use(f.Body.Yield[0]))
	}
	lo.b.Start(lo.exit)
	lo.b.Ret(mir.NoNode, l.pseudo["ret"], lo.b.Params(lo.exit)[0])
	return lo.b.Finish()
}

// buffers loads the base addresses and gives buffers their alias sets.
func (lo *lowering) buffers(ps []mir.Reg) {
	lo.alias = make([]int32, len(lo.f.Bufs))
	sets := int32(0)
	for i, x := range lo.f.Bufs {
		for j, y := range lo.f.Bufs[:i] {
			if x.Kind == y.Kind && x.Index == y.Index && x.Offset < y.Offset+y.Bytes && y.Offset < x.Offset+x.Bytes {
				if lo.alias[i] != 0 && lo.alias[i] != lo.alias[j] {
					lo.mergeAlias(lo.alias[i], lo.alias[j])
				}
				lo.alias[i] = lo.alias[j]
			}
		}
		if lo.alias[i] == 0 {
			sets++
			lo.alias[i] = sets
		}
		k := baseKey{x.Kind, x.Index}
		if _, ok := lo.base[k]; ok {
			continue
		}
		switch x.Kind {
		case lir.BufIn, lir.BufOut:
			lo.base[k] = lo.b.OpMem(mir.NoNode, lo.l.form("mov r64,m64"), mir.Addr{Base: ps[x.Kind], Disp: int32(8 * x.Index)})
		case lir.BufWork:
			lo.base[k] = ps[2]
		case lir.BufConst:
			lo.base[k] = lo.b.OpMem(mir.NoNode, lo.l.form("const lea r64,m64"), mir.Addr{Label: int32(lo.pool[x.Index]) + 1})
		default:
			panic(fmt.Sprintf("BUG: buffer kind %v", x.Kind))
		}
	}
}

func (lo *lowering) mergeAlias(a, b int32) {
	for i := range lo.alias {
		if lo.alias[i] == a {
			lo.alias[i] = b
		}
	}
}

// class is the register class of a type.
func (lo *lowering) class(t lir.Type) mir.Class {
	switch {
	case t.Elem == lir.Mask && lo.l.Masks:
		return mask
	case t.IsVec() || t.Elem.IsFloat() || t.Elem == lir.Mask:
		return vec
	}
	return gp
}

func (lo *lowering) classes(vs []lir.Value) []mir.Class {
	out := make([]mir.Class, len(vs))
	for i, v := range vs {
		out[i] = lo.class(lo.f.TypeOf(v))
	}
	return out
}

// block lowers the statements of b and reports whether control reaches its
// end. The values it yields are left to the caller.
func (lo *lowering) block(b *lir.Block) bool {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		lo.node = mir.Node(s.Node)
		switch s.Op {
		case lir.For:
			lo.flush(0)
			if !lo.forLoop(s) {
				return false
			}
		case lir.While:
			lo.flush(0)
			lo.while(s)
		case lir.If:
			lo.flush(0)
			if !lo.ifStmt(s) {
				return false
			}
		case lir.Return:
			lo.b.Jump(lo.node, lo.exit, lo.use(s.Args[0]))
			return false
		default:
			lo.stmt(s)
		}
	}
	return true
}

// nested lowers an inner block with its parameters bound and gives its
// yields to then, before what the block cached goes out of scope.
func (lo *lowering) nested(b *lir.Block, params []mir.Reg, then func(yields []mir.Reg)) bool {
	for i, p := range b.Params {
		lo.reg[p] = params[i]
	}
	mark := len(lo.undo)
	lo.zipped = zipPair{}
	reached := lo.block(b)
	if reached {
		ys := make([]mir.Reg, 0, len(b.Yield)+1)
		if then != nil {
			for _, y := range b.Yield {
				ys = append(ys, lo.use(y))
			}
			then(ys)
		}
	}
	lo.leave(mark)
	return reached
}

// leave forgets what is valid only inside the block that ends: deferred loads,
// and constants cached since mark.
func (lo *lowering) leave(mark int) {
	lo.late = lo.late[:0]
	lo.zipped = zipPair{}
	for _, k := range lo.undo[mark:] {
		delete(lo.cache, k)
	}
	lo.undo = lo.undo[:mark]
}

func (lo *lowering) bind(vs []lir.Value, rs []mir.Reg) {
	for i, v := range vs {
		lo.reg[v] = rs[i]
	}
}

// forLoop lowers a counted loop, rotated: the test is at the bottom, and
// before the loop only where the trip count is not known to be positive.
func (lo *lowering) forLoop(s *lir.Stmt) bool {
	n := lo.node
	args := make([]mir.Reg, 0, len(s.Args))
	for _, v := range s.Args[2:] {
		args = append(args, lo.use(v))
	}
	lo1, lok := lo.constOf(s.Args[0])
	hi1, hok := lo.constOf(s.Args[1])
	start := lo.use(s.Args[0])
	hiImm := hok && fits32(hi1)
	var end mir.Reg
	if !hiImm {
		end = lo.use(s.Args[1])
	}
	exit := lo.b.Block(lo.classes(s.Results)...)
	head := lo.b.Block(append([]mir.Class{gp}, lo.classes(s.Results)...)...)
	if !(lok && hok && lo1 < hi1) {
		cmp := lo.cmp64(start, end, hi1, hiImm)
		lo.b.Branch(n, cmp.br, mir.Args{Uses: cmp.uses, Imm: cmp.imm, Cond: ccL}, mir.To(head, append([]mir.Reg{start}, args...)...), mir.To(exit, args...))
	} else {
		lo.b.Jump(n, head, append([]mir.Reg{start}, args...)...)
	}
	lo.b.Start(head)
	lo.depth++
	params := append([]mir.Reg(nil), lo.b.Params(head)...)
	reached := lo.nested(s.Blocks[0], params, func(ys []mir.Reg) {
		lo.node = n
		next := lo.addImm64(params[0], s.Imm)
		cmp := lo.cmp64(next, end, hi1, hiImm)
		lo.b.Branch(n, cmp.br, mir.Args{Uses: cmp.uses, Imm: cmp.imm, Cond: ccL}, mir.To(head, append([]mir.Reg{next}, ys...)...), mir.To(exit, ys...))
	})
	lo.depth--
	if !reached && lok && hok && lo1 < hi1 {
		lo.dead(exit) // the body always leaves the function
		return false
	}
	lo.b.Start(exit)
	lo.bind(s.Results, lo.b.Params(exit))
	return true
}

// while puts the condition below the body, so that an iteration has one jump.
func (lo *lowering) while(s *lir.Stmt) {
	n := lo.node
	args := make([]mir.Reg, len(s.Args))
	for i, v := range s.Args {
		args[i] = lo.use(v)
	}
	cs := lo.classes(s.Results)
	cond, body, exit := lo.b.Block(cs...), lo.b.Block(cs...), lo.b.Block(cs...)
	lo.b.Jump(n, cond, args...)
	lo.depth++
	lo.b.Start(body)
	lo.nested(s.Blocks[1], append([]mir.Reg(nil), lo.b.Params(body)...), func(ys []mir.Reg) { lo.b.Jump(n, cond, ys...) })
	lo.b.Start(cond)
	params := append([]mir.Reg(nil), lo.b.Params(cond)...)
	lo.bind(s.Blocks[0].Params, params)
	mark := len(lo.undo)
	if lo.block(s.Blocks[0]) {
		c := lo.condition(s.Blocks[0].Yield[0])
		lo.b.Branch(n, c.br, mir.Args{Uses: c.uses, Imm: c.imm, Cond: c.cond}, mir.To(body, params...), mir.To(exit, params...))
	}
	lo.leave(mark)
	lo.depth--
	lo.b.Start(exit)
	lo.bind(s.Results, lo.b.Params(exit))
}

func (lo *lowering) ifStmt(s *lir.Stmt) bool {
	n := lo.node
	c := lo.condition(s.Args[0])
	then, els := lo.b.Block(), lo.b.Block()
	join := lo.b.Block(lo.classes(s.Results)...)
	lo.b.Branch(n, c.br, mir.Args{Uses: c.uses, Imm: c.imm, Cond: c.cond}, mir.To(then), mir.To(els))
	reached := false
	for i, blk := range []mir.Block{then, els} {
		lo.b.Start(blk)
		if lo.nested(s.Blocks[i], nil, func(ys []mir.Reg) { lo.b.Jump(n, join, ys...) }) {
			reached = true
		}
	}
	if !reached {
		lo.dead(join)
		return false
	}
	lo.b.Start(join)
	lo.bind(s.Results, lo.b.Params(join))
	return true
}

// dead fills a block that nothing jumps to: every declared block needs a body.
func (lo *lowering) dead(b mir.Block) {
	lo.b.Start(b)
	lo.b.Jump(mir.NoNode, lo.exit, lo.b.Op(mir.NoNode, lo.l.pseudo["zero.gp"]))
}
