package isel

import (
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/plugins/x86/asm"
)

// emitter writes one allocated function.
type emitter struct {
	l      *Level
	f      *mir.Func
	b      *asm.Buffer
	tab    *asm.Table
	labels []asm.Label
	saved  []asm.Reg // callee-saved registers pushed by the prologue
	frame  frameKind
	args   []asm.Arg
	regs   []asm.Reg
}

type frameKind uint8

const (
	frameNone    frameKind = iota
	framePlain             // sub rsp; alignment as the caller left it
	frameAligned           // rsp rounded down, the old one kept at the frame's top
)

var calleeSaved = []asm.Reg{asm.RBX, asm.RBP, asm.R12, asm.R13, asm.R14, asm.R15}

func (e *emitter) emit(key string, args ...asm.Arg) { e.b.Emit(e.tab.Get(key), 0, args...) }

// emitFunc appends the code of f to b.
func (l *Level) emitFunc(f *mir.Func, b *asm.Buffer) {
	e := &emitter{l: l, f: f, b: b, tab: asm.Instructions()}
	e.labels = make([]asm.Label, len(f.Blocks))
	for i := range e.labels {
		e.labels[i] = b.NewLabel()
	}
	b.SetNode(int32(mir.NoNode))
	e.prologue()
	heads := loopHeads(f)
	for i, blk := range f.Layout {
		if heads[blk] {
			b.Align(32)
		}
		b.Bind(e.labels[blk])
		next := mir.NoBlock
		if i+1 < len(f.Layout) {
			next = f.Layout[i+1]
		}
		bi := &f.Blocks[blk]
		for k := bi.First; k < bi.End; k++ {
			e.inst(k, blk, next)
		}
	}
}

// loopHeads marks blocks that a later block jumps back to.
func loopHeads(f *mir.Func) []bool {
	heads := make([]bool, len(f.Blocks))
	pos := make([]int, len(f.Blocks))
	for i, b := range f.Layout {
		pos[b] = i
	}
	for i, b := range f.Layout {
		for _, s := range f.Succs(b) {
			if pos[s.To] <= i {
				heads[s.To] = true
			}
		}
	}
	return heads
}

func (e *emitter) prologue() {
	for _, r := range calleeSaved {
		if e.f.Used.Has(gpReg(r)) {
			e.saved = append(e.saved, r)
			e.emit("push r64", asm.R(r))
		}
	}
	size := int64(e.f.FrameSize)
	switch {
	case size == 0:
	case e.f.FrameAlign <= 8:
		e.frame = framePlain
		e.emit("sub r64,i", asm.R(asm.RSP), asm.I(size))
	default:
		// rax carries nothing on entry.
		e.frame = frameAligned
		align := int64(e.f.FrameAlign)
		e.emit("mov r64,r64", asm.R(asm.RAX), asm.R(asm.RSP))
		e.emit("sub r64,i", asm.R(asm.RSP), asm.I(size+8))
		e.emit("and r64,i", asm.R(asm.RSP), asm.I(-align))
		e.emit("mov m64,r64", asm.M(asm.MemBD(asm.RSP, int32(size))), asm.R(asm.RAX))
	}
}

func (e *emitter) epilogue() {
	size := e.f.FrameSize
	switch e.frame {
	case framePlain:
		e.emit("add r64,i", asm.R(asm.RSP), asm.I(int64(size)))
	case frameAligned:
		e.emit("mov r64,m64", asm.R(asm.RSP), asm.M(asm.MemBD(asm.RSP, size)))
	}
	for i := len(e.saved) - 1; i >= 0; i-- {
		e.emit("pop r64", asm.R(e.saved[i]))
	}
	e.emit("vzeroupper")
	e.emit("ret")
}

func (e *emitter) inst(i int32, blk, next mir.Block) {
	in := &e.f.Insts[i]
	e.b.SetNode(int32(in.Node))
	row := &e.l.rows[in.Op]
	rs := e.f.InstRegs(i)
	e.regs = e.regs[:0]
	for _, r := range rs {
		e.regs = append(e.regs, e.enc(r))
	}
	pay := e.f.Payload(i)
	d := e.l.target.Desc(in.Op)
	if row.pseudo != nil {
		x := &expansion{r: e.regs, imm: pay.Imm, cond: pay.Cond}
		switch d.Term {
		case mir.TermJump:
			e.jumpTo(e.f.Succs(blk)[0].To, next)
		case mir.TermBranch:
			row.pseudo.expand(e, x)
			e.branch(x.cond, e.f.Succs(blk), next)
		case mir.TermRet:
			e.epilogue()
		default:
			row.pseudo.expand(e, x)
		}
		return
	}
	e.args = e.args[:0]
	for _, s := range row.slots {
		switch s.kind {
		case argReg:
			e.args = append(e.args, asm.R(e.regs[s.reg]))
		case argImm:
			e.args = append(e.args, asm.I(pay.Imm))
		case argMem:
			e.args = append(e.args, asm.M(e.mem(i, len(d.Operands))))
		}
	}
	k := asm.Reg(0)
	if row.mask >= 0 {
		k = e.regs[row.mask]
	}
	if isMove(row.form) && e.args[0].Reg == e.args[1].Reg {
		return
	}
	e.b.Emit(row.form, k, e.args...)
}

// isMove reports whether f does nothing when its operands are one register:
// 64-bit and vector copies the allocator inserts.
func isMove(f *asm.Form) bool {
	switch f.Key {
	case "mov r64,r64", "vmovaps y,y", "vmovaps z,z", "kmovw k,k":
		return true
	}
	return false
}

func (e *emitter) enc(r mir.Reg) asm.Reg {
	if r == mir.NoReg {
		return asm.NoReg
	}
	return e.l.target.Regs[r].Enc
}

// mem is the address of instruction i, whose base is register operand n.
func (e *emitter) mem(i int32, n int) asm.Mem {
	a := e.f.Addr(i)
	m := asm.Mem{Base: e.regs[n], Index: e.regs[n+1], Scale: a.Scale, Disp: a.Disp}
	switch {
	case a.Label != 0:
		m.RIP, m.Label = true, asm.Label(a.Label-1)
	case a.Slot != 0:
		m.Base = asm.RSP
		m.Disp += e.f.Slots[a.Slot-1].Offset
	}
	return m
}

func (e *emitter) jumpTo(to, next mir.Block) {
	if to != next {
		e.emit("jmp rel", asm.L(e.labels[to]))
	}
}

// branch jumps to the first successor if cond holds, else to the second.
func (e *emitter) branch(cond uint8, succs []mir.Edge, next mir.Block) {
	yes, no := succs[0].To, succs[1].To
	if yes == next {
		yes, no, cond = no, yes, negate(cond)
	}
	switch cond {
	case ccOrdered: // equal and ordered: leave when unordered or unequal
		e.emit("jp rel", asm.L(e.labels[no]))
		e.emit("je rel", asm.L(e.labels[yes]))
	case ccUnordered:
		e.emit("jp rel", asm.L(e.labels[yes]))
		e.emit("jne rel", asm.L(e.labels[yes]))
	default:
		e.emit("j"+ccNames[cond&15]+" rel", asm.L(e.labels[yes]))
	}
	e.jumpTo(no, next)
}
