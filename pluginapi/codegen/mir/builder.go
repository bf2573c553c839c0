package mir

import "fmt"

// Builder makes a Func. Blocks are declared in any order with Block and filled one
// at a time: Start, instructions, and one terminator (Jump, Branch or Ret). Misuse is
// a bug in the back end and panics.
type Builder struct {
	F   *Func
	cur Block
}

// NewBuilder starts a function. The entry block, number 0, is created and started;
// its parameters arrive in the registers given, and EntryParams returns them.
func NewBuilder(t *Target, name string, entryRegs ...Reg) *Builder {
	b := &Builder{F: &Func{Name: name, Target: t, EntryRegs: entryRegs}, cur: NoBlock}
	cs := make([]Class, len(entryRegs))
	for i, r := range entryRegs {
		cs[i] = t.Regs[r].Class
	}
	b.Start(b.Block(cs...))
	for i, p := range b.Params(0) {
		b.F.VRegs[p.Index()].Hint = entryRegs[i]
	}
	return b
}

// newReg makes a virtual register.
// emitting methods make their own.
func (b *Builder) newReg(c Class) Reg {
	b.F.VRegs = append(b.F.VRegs, VRegInfo{Class: c})
	return VirtReg(len(b.F.VRegs) - 1)
}

// Block declares a block with parameters of the given classes.
func (b *Builder) Block(params ...Class) Block {
	f := b.F
	bi := BlockInfo{First: -1, End: -1, Params: int32(len(f.Params)), NParams: int32(len(params))}
	for _, c := range params {
		f.Params = append(f.Params, b.newReg(c))
	}
	f.Blocks = append(f.Blocks, bi)
	return Block(len(f.Blocks) - 1)
}

// Params are a block's parameters.
func (b *Builder) Params(blk Block) []Reg { return b.F.BlockParams(blk) }

// Start begins filling blk; blocks are laid out in the order they are started.
func (b *Builder) Start(blk Block) {
	if b.cur != NoBlock {
		panic(fmt.Sprintf("BUG: mir: block b%d started before b%d was terminated", blk, b.cur))
	}
	bi := &b.F.Blocks[blk]
	if bi.First >= 0 {
		panic(fmt.Sprintf("BUG: mir: block b%d started twice", blk))
	}
	bi.First = int32(len(b.F.Insts))
	b.F.Layout = append(b.F.Layout, blk)
	b.cur = blk
}

// Current is the block being filled, or NoBlock.
func (b *Builder) Current() Block { return b.cur }

// Args are the optional parts of an instruction.
type Args struct {
	Uses []Reg // one per Use operand, in Desc order
	Mem  Addr  // for HasAddr
	Imm  int64
	Cond uint8
}

// Emit appends an instruction for graph node n and returns its index. Registers for
// its definitions and temporaries are made here; Def and Def2 return them.
func (b *Builder) Emit(n Node, op Op, a Args) int32 {
	if d := b.F.Target.Desc(op); d.Term != TermNone {
		panic("BUG: mir: terminator " + d.Name + " passed to Emit")
	}
	return b.emit(n, op, a)
}

func (b *Builder) emit(n Node, op Op, a Args) int32 {
	f := b.F
	if b.cur == NoBlock {
		panic("BUG: mir: instruction outside a block")
	}
	d := f.Target.Desc(op)
	in := Inst{Op: op, Node: n, Ops: int32(len(f.Regs)), Pay: -1, Orig: int32(len(f.Insts))}
	u := 0
	for _, o := range d.Operands {
		if o.Role != Use {
			r := b.newReg(o.Class)
			if o.Constraint == Fixed {
				f.VRegs[r.Index()].Hint = o.Reg
			}
			f.Regs = append(f.Regs, r)
			continue
		}
		if u >= len(a.Uses) {
			panic(fmt.Sprintf("BUG: mir: %s needs more than %d uses", d.Name, len(a.Uses)))
		}
		b.checkUse(d, a.Uses[u], o.Class)
		f.Regs = append(f.Regs, a.Uses[u])
		u++
	}
	if u != len(a.Uses) {
		panic(fmt.Sprintf("BUG: mir: %s takes %d uses, got %d", d.Name, u, len(a.Uses)))
	}
	m := a.Mem
	p := Payload{Imm: a.Imm, Cond: a.Cond, Disp: m.Disp, Label: m.Label, Slot: m.Slot, Alias: m.Alias}
	if d.HasAddr {
		for k, r := range [2]Reg{m.Base, m.Index} {
			if r != NoReg {
				b.checkUse(d, r, f.Target.OperandSpec(d, len(d.Operands)+k).Class)
			}
			f.Regs = append(f.Regs, r)
		}
		p.Scale = max(m.Scale, 1)
		if m.Index == NoReg {
			p.Scale = 0
		}
	} else if m != (Addr{}) {
		panic("BUG: mir: " + d.Name + " takes no address")
	}
	in.NOps = uint16(int32(len(f.Regs)) - in.Ops)
	if p != (Payload{}) {
		in.Pay = int32(len(f.Payloads))
		f.Payloads = append(f.Payloads, p)
	}
	f.Insts = append(f.Insts, in)
	return int32(len(f.Insts) - 1)
}

func (b *Builder) checkUse(d *Desc, r Reg, c Class) {
	if !r.IsVirt() || r.Index() >= len(b.F.VRegs) || b.F.ClassOf(r) != c {
		panic(fmt.Sprintf("BUG: mir: %s: register %d is not a virtual register of class %s", d.Name, r, b.F.Target.Classes[c].Name))
	}
}

// DefK is the k-th definition of instruction i.
func (b *Builder) DefK(i int32, k int) Reg {
	d := b.F.Desc(i)
	for j, o := range d.Operands {
		if o.Role == Def {
			if k == 0 {
				return b.F.InstRegs(i)[j]
			}
			k--
		}
	}
	panic("BUG: mir: " + d.Name + " has no such definition")
}

// Op emits a register instruction and returns its first definition.
func (b *Builder) Op(n Node, op Op, uses ...Reg) Reg {
	return b.DefK(b.Emit(n, op, Args{Uses: uses}), 0)
}

// OpImm is Op with an immediate.
func (b *Builder) OpImm(n Node, op Op, imm int64, uses ...Reg) Reg {
	return b.DefK(b.Emit(n, op, Args{Uses: uses, Imm: imm}), 0)
}

// OpMem is Op with a memory operand: loads, and arithmetic that reads memory.
func (b *Builder) OpMem(n Node, op Op, m Addr, uses ...Reg) Reg {
	return b.DefK(b.Emit(n, op, Args{Uses: uses, Mem: m}), 0)
}

// Store emits an instruction with a memory operand and no definition.
func (b *Builder) Store(n Node, op Op, m Addr, uses ...Reg) {
	b.Emit(n, op, Args{Uses: uses, Mem: m})
}

// Succ is a successor with its arguments.
type Succ struct {
	To   Block
	Args []Reg
}

// To names a successor.
func To(blk Block, args ...Reg) Succ { return Succ{blk, args} }

// Jump ends the block with the target's plain jump.
func (b *Builder) Jump(n Node, to Block, args ...Reg) {
	b.terminate(n, b.F.Target.Jump, Args{}, To(to, args...))
}

// Branch ends the block with a conditional terminator; the order of successors is
// the target's convention (usually taken, then not taken).
func (b *Builder) Branch(n Node, op Op, a Args, succs ...Succ) { b.terminate(n, op, a, succs...) }

// Ret ends the block with an instruction that leaves the function.
func (b *Builder) Ret(n Node, op Op, uses ...Reg) { b.terminate(n, op, Args{Uses: uses}) }

func (b *Builder) terminate(n Node, op Op, a Args, succs ...Succ) {
	f := b.F
	d := f.Target.Desc(op)
	want := map[Term]bool{TermJump: len(succs) == 1, TermBranch: len(succs) >= 2, TermRet: len(succs) == 0}
	if !want[d.Term] {
		panic(fmt.Sprintf("BUG: mir: %s is no terminator with %d successors", d.Name, len(succs)))
	}
	b.emit(n, op, a)
	bi := &f.Blocks[b.cur]
	bi.Edges, bi.NEdges = int32(len(f.Edges)), int32(len(succs))
	for _, s := range succs {
		ps := b.Params(s.To)
		if len(ps) != len(s.Args) {
			panic(fmt.Sprintf("BUG: mir: b%d takes %d arguments, got %d", s.To, len(ps), len(s.Args)))
		}
		for k, r := range s.Args {
			b.checkUse(d, r, f.ClassOf(ps[k]))
		}
		f.Edges = append(f.Edges, Edge{s.To, int32(len(f.Args)), int32(len(s.Args))})
		f.Args = append(f.Args, s.Args...)
	}
	bi.End = int32(len(f.Insts))
	b.cur = NoBlock
}

// NewSlot reserves a frame slot and returns its 1-based number for Addr.Slot.
func (b *Builder) NewSlot(size, align int32) int32 { return b.F.NewSlot(size, align) }

// NewSlot reserves a frame slot and returns its 1-based number.
func (f *Func) NewSlot(size, align int32) int32 {
	f.Slots = append(f.Slots, SlotInfo{Size: size, Align: align})
	return int32(len(f.Slots))
}

// Hint asks for a physical register for v; the allocator follows it where it is free.
func (b *Builder) Hint(v, phys Reg) { b.F.VRegs[v.Index()].Hint = phys }

// Finish checks the function and returns it.
func (b *Builder) Finish() (*Func, error) {
	if b.cur != NoBlock {
		return nil, fmt.Errorf("mir: %s: block b%d has no terminator", b.F.Name, b.cur)
	}
	if err := b.F.Verify(); err != nil {
		return nil, err
	}
	return b.F, nil
}
