// Package toy is a small instruction set with every kind of operand constraint, an
// interpreter for functions before and after allocation, and a generator of random
// programs. The tests of the machine IR packages run both forms and compare.
package toy

import (
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// Classes.
const (
	GP mir.Class = iota
	Vec
	Mask
)

// Opcodes.
const (
	_     mir.Op = iota
	Const        // d = imm                    (rematerialisable)
	Add          // d{reuse} = a + b
	Lea          // d = a + b*scale + disp, address form
	Mul          // d{early} = a * b
	Shl          // d{reuse} = a << r2
	Div          // r0, r1 = r0:r1 / a, late use
	Sel          // d = cond(a,b) ? c : e, all late, with a temporary
	Call         // d{r0} = f(a{r0}, b{r1}), clobbers a lot
	Load         // d = mem[addr]
	Store        // mem[addr] = a
	VSet         // v = splat imm              (rematerialisable)
	VCvt         // v = splat gp
	VFma         // d{reuse} = d + a*b
	VFmaM        // d{reuse} = d + a*mem[addr]
	VGet         // gp = v
	VLoad
	VStore
	KCmp // k = a < b
	KSel // v = k ? a : b
	Two  // d1{reuse a}, d2{reuse b} = a-b, a^b
	Jump
	Br    // cond a, b
	DecBr // d{reuse} = a - 1; taken while d != 0
	Ret   // r0
	Move
	VMove
	KMove
	Spill
	Reload
	VSpill
	VReload
	KSpill
	KReload
	Swap
	VSwap
	KSwap
	numOps
)

// R, X and K name the physical registers of a target with the given sizes.
func R(i int) mir.Reg { return mir.Reg(1 + i) }

// X is vector register i; it follows 32 general ones.
func X(i int) mir.Reg { return mir.Reg(33 + i) }

// K is mask register i.
func K(i int) mir.Reg { return mir.Reg(65 + i) }

func row(name string, lat uint8, ports uint16, ops ...mir.Operand) mir.Desc {
	return mir.Desc{Name: name, Operands: ops, Latency: lat, Ports: ports}
}

// New makes a target with the given number of allocatable registers per class: at
// least 6 gp, 4 vec and 2 mask.
func New(gp, vec, mask int) *mir.Target {
	t := &mir.Target{Name: "toy", AddrClass: GP, Jump: Jump, IssueWidth: 2, Regs: make([]mir.RegInfo, 74)}
	name := func(first mir.Reg, n int, c mir.Class, letter string) []mir.Reg {
		var out []mir.Reg
		for i := range n {
			r := first + mir.Reg(i)
			t.Regs[r] = mir.RegInfo{Name: fmt.Sprintf("%s%d", letter, i), Class: c, Enc: uint8(i)}
			out = append(out, r)
		}
		return out
	}
	rs, xs, ks := name(R(0), 32, GP, "r"), name(X(0), 32, Vec, "x"), name(K(0), 8, Mask, "k")
	t.Classes = []mir.ClassInfo{
		{Name: "gp", Allocatable: rs[:gp], SlotSize: 8, SlotAlign: 8, Move: Move, Load: Reload, Store: Spill, Swap: Swap},
		{Name: "vec", Allocatable: xs[:vec], SlotSize: 64, SlotAlign: 64, Move: VMove, Load: VReload, Store: VSpill, Swap: VSwap},
		{Name: "mask", Allocatable: ks[:mask], SlotSize: 8, SlotAlign: 8, Move: KMove, Load: KReload, Store: KSpill, Swap: KSwap},
	}
	t.Descs = descs()
	if err := t.Check(); err != nil {
		panic("BUG: " + err.Error())
	}
	return t
}

func descs() []mir.Desc {
	d := make([]mir.Desc, numOps)
	const alu, mulPort, ldPort, stPort, fp = 0b0011, 0b0001, 0b1100, 0b10000, 0b100001
	gd, gu := mir.D(GP), mir.U(GP)
	vd, vu := mir.D(Vec), mir.U(Vec)
	d[Const] = row("const", 1, alu, gd)
	d[Const].Remat = true
	d[Add] = row("add", 1, alu, mir.DReuse(GP, 1), gu, gu)
	d[Lea] = row("lea", 1, alu, gd)
	d[Lea].HasAddr = true
	d[Mul] = row("mul", 3, mulPort, mir.DEarly(GP), gu, gu)
	d[Shl] = row("shl", 1, alu, mir.DReuse(GP, 1), gu, mir.UFixed(GP, R(2)))
	d[Div] = row("div", 20, mulPort, mir.DFixed(GP, R(0)), mir.DFixed(GP, R(1)), mir.UFixed(GP, R(0)), mir.ULate(GP))
	d[Sel] = row("sel", 2, alu, gd, mir.T(GP), mir.ULate(GP), mir.ULate(GP), gu, gu)
	d[Call] = row("call", 5, mulPort, mir.DFixed(GP, R(0)), mir.UFixed(GP, R(0)), mir.UFixed(GP, R(1)))
	d[Call].Clobbers = mir.Set(R(1), R(3), X(0), X(1), K(0))
	d[Load] = row("load", 5, ldPort, gd)
	d[Store] = row("store", 1, stPort, gu)
	d[VSet] = row("vset", 1, fp, vd)
	d[VSet].Remat = true
	d[VCvt] = row("vcvt", 3, fp, vd, gu)
	d[VFma] = row("vfma", 4, fp, mir.DReuse(Vec, 1), vu, vu, vu)
	d[VFmaM] = row("vfmam", 4, fp, mir.DReuse(Vec, 1), vu, vu)
	d[VGet] = row("vget", 3, fp, gd, vu)
	d[VLoad] = row("vload", 6, ldPort, vd)
	d[VStore] = row("vstore", 1, stPort, vu)
	d[KCmp] = row("kcmp", 3, fp, mir.D(Mask), vu, vu)
	d[KSel] = row("ksel", 1, fp, vd, mir.U(Mask), vu, vu)
	d[Two] = row("two", 2, alu, mir.DReuse(GP, 2), mir.DReuse(GP, 3), gu, gu)
	d[Jump] = row("jump", 1, alu)
	d[Jump].Term = mir.TermJump
	d[Br] = row("br", 1, alu, gu, gu)
	d[Br].Term = mir.TermBranch
	d[DecBr] = row("decbr", 1, alu, mir.DReuse(GP, 1), gu)
	d[DecBr].Term = mir.TermBranch
	d[Ret] = row("ret", 1, alu, mir.UFixed(GP, R(0)))
	d[Ret].Term = mir.TermRet
	for i, c := range []mir.Class{GP, Vec, Mask} {
		p := []string{"", "v", "k"}[i]
		d[Move+mir.Op(i)] = row(p+"move", 1, alu, mir.D(c), mir.U(c))
		d[Spill+mir.Op(2*i)] = row(p+"spill", 1, stPort, mir.U(c))
		d[Reload+mir.Op(2*i)] = row(p+"reload", 5, ldPort, mir.D(c))
		d[Swap+mir.Op(i)] = row(p+"swap", 2, alu, mir.U(c), mir.U(c))
	}
	for _, op := range []mir.Op{Load, VFmaM, VLoad, Reload, VReload, KReload} {
		d[op].HasAddr, d[op].Effect, d[op].MemSize = true, mir.MemRead, 8
	}
	for _, op := range []mir.Op{Store, VStore, Spill, VSpill, KSpill} {
		d[op].HasAddr, d[op].Effect, d[op].MemSize = true, mir.MemWrite, 8
	}
	return d
}
