package lower

import (
	"math"
	"math/bits"
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
)

// base names a pointer that a phase function is given: an entry of one of its
// tables. Work memory and constants need no such pointer.
type base struct {
	kind  lir.BufKind
	index int
}

// addrKey names an address without its displacement.
type addrKey struct {
	b     base
	index lir.Value
	scale uint8
}

// loadBases reads what b needs of the tables, once, at the start of a function.
func (c *fn) loadBases(b *lir.Block) {
	used := make([]bool, len(c.src.Bufs))
	eachStmt(b, func(s *lir.Stmt) {
		if s.Op.HasAddr() {
			used[s.Addr.Buf] = true
		}
	})
	for i, b := range c.src.Bufs {
		k := base{b.Kind, b.Index}
		if _, ok := c.bases[k]; ok || !used[i] || (b.Kind != lir.BufIn && b.Kind != lir.BufOut) {
			continue
		}
		table := paramIn
		if b.Kind == lir.BufOut {
			table = paramOut
		}
		l := c.f.Local(wasmType(lir.TIx))
		c.f.Get(table)
		c.f.I("i32.load", 2, 4*uint64(b.Index))
		c.f.Set(l)
		c.bases[k] = l
	}
}

// scope is what the code of one block shares: addresses, and factors of fused
// steps widened to f64. The counts say who would share, so nothing is kept for a
// single use.
type scope struct {
	addrs    map[addrKey]uint32
	accesses map[addrKey]int
	wide     map[lir.Value][2]uint32
	factors  map[lir.Value]int
}

func (c *fn) enter(b *lir.Block) {
	s := scope{map[addrKey]uint32{}, map[addrKey]int{}, map[lir.Value][2]uint32{}, map[lir.Value]int{}}
	for i := range b.Stmts {
		st := &b.Stmts[i]
		switch {
		case (st.Op == lir.Load && c.v[st.Results[0]].uses > 0) || st.Op == lir.Store:
			s.accesses[c.keyOf(st.Addr)]++
		case st.Op == lir.FMA && inlineFMA(st.Type) && c.v[st.Results[0]].uses > 0:
			for _, v := range c.operands(st)[:2] {
				s.factors[v]++
			}
		}
	}
	c.scopes = append(c.scopes, s)
}

func (c *fn) leave() {
	n := len(c.scopes) - 1
	var ls []uint32
	for _, l := range c.scopes[n].addrs {
		ls = append(ls, l)
	}
	for _, w := range c.scopes[n].wide {
		ls = append(ls, w[0])
		if w[1] != w[0] {
			ls = append(ls, w[1])
		}
	}
	slices.Sort(ls) // maps have no order, and the order of free locals shows
	for _, l := range ls {
		c.f.Free(l)
	}
	c.scopes = c.scopes[:n]
}

func (c *fn) keyOf(a lir.Addr) addrKey {
	b := c.src.Bufs[a.Buf]
	k := addrKey{base{b.Kind, b.Index}, a.Index, a.Scale}
	if b.Kind == lir.BufWork {
		k.b.index = 0
	}
	return k
}

// address pushes an address and returns the offset immediate that completes it.
func (c *fn) address(a lir.Addr) uint64 {
	buf := c.src.Bufs[a.Buf]
	off := buf.Offset + a.Disp
	if buf.Kind == lir.BufConst {
		off += int64(c.consts[buf.Index])
	}
	c.dynamic(a, buf.Kind)
	if off < 0 || a.Index != lir.NoValue && !c.above[a.Index] && off > 0 {
		c.f.I32(int32(off))
		c.f.I("i32.add")
		off = 0
	}
	if off > math.MaxUint32 {
		panic("BUG: lower: offset beyond a 32-bit memory")
	}
	return uint64(off)
}

// dynamic pushes the part of an address that is not constant.
func (c *fn) dynamic(a lir.Addr, kind lir.BufKind) {
	k := c.keyOf(a)
	if a.Index == lir.NoValue {
		c.pointer(k.b)
		return
	}
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if l, ok := c.scopes[i].addrs[k]; ok {
			c.f.Get(l)
			c.release(a.Index)
			return
		}
	}
	if kind != lir.BufConst {
		c.pointer(k.b)
	}
	c.push(a.Index)
	if a.Scale > 1 {
		c.f.I32(int32(bits.TrailingZeros8(a.Scale)))
		c.f.I("i32.shl")
	}
	if kind != lir.BufConst {
		c.f.I("i32.add")
	}
	top := len(c.scopes) - 1
	if c.scopes[top].accesses[k] > 1 {
		l := c.f.Local(wasmType(lir.TIx))
		c.f.Tee(l)
		c.scopes[top].addrs[k] = l
	}
}

func (c *fn) pointer(b base) {
	switch b.kind {
	case lir.BufWork:
		c.f.Get(paramWork)
	case lir.BufConst:
		c.f.I32(0)
	default:
		c.f.Get(c.bases[b])
	}
}

// scalarMem names scalar accesses by memory form.
var scalarMem = [...]struct{ load, store string }{
	lir.M8S: {"load8_s", "store8"}, lir.M8U: {"load8_u", "store8"},
	lir.M16S: {"load16_s", "store16"}, lir.M16U: {"load16_u", "store16"},
	lir.M32: {"load", "store"}, lir.M64: {"load", "store"},
}

func (c *fn) memLoad(s *lir.Stmt) {
	off := c.address(s.Addr)
	align := uint64(bits.TrailingZeros(uint(s.Mem.Size())))
	switch {
	case !s.Type.IsVec():
		c.f.I(wasmType(s.Type).String()+"."+scalarMem[s.Mem].load, align, off)
	case half(s.Type):
		c.f.I("v128.load64_zero", align, off)
	case quarter(s.Type):
		c.f.I("v128.load32_zero", align, off)
	default:
		c.f.I("v128.load", align, off)
	}
}

func (c *fn) memStore(s *lir.Stmt) {
	c.f.At(s.Node)
	off := c.address(s.Addr)
	c.push(s.Args[0])
	c.f.At(s.Node)
	align := uint64(bits.TrailingZeros(uint(s.Mem.Size())))
	switch {
	case !s.Type.IsVec():
		c.f.I(wasmType(s.Type).String()+"."+scalarMem[s.Mem].store, align, off)
	case half(s.Type):
		c.f.I("v128.store64_lane", align, off, 0)
	case quarter(s.Type):
		c.f.I("v128.store32_lane", align, off, 0)
	default:
		c.f.I("v128.store", align, off)
	}
}

// half reports whether a vector fills only the low half of a v128.
func half(t lir.Type) bool { return int(t.Lanes)*laneBytes(t) == 8 }

// quarter likewise, of four bytes.
func quarter(t lir.Type) bool { return int(t.Lanes)*laneBytes(t) == 4 }

func laneBytes(t lir.Type) int {
	if t.Elem == lir.Mask {
		return int(t.Bits) / 8
	}
	return t.Elem.Size()
}
