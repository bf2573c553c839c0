package mir

import "slices"

// Node is the index of the graph node an instruction was made for.
type Node int32

// NoNode marks glue that belongs to no node (prologue, the allocator's edge moves).
const NoNode Node = -1

// Block names a basic block.
type Block int32

// NoBlock is the absent block.
const NoBlock Block = -1

// Inst is one machine instruction; its registers are Func.Regs[Ops:Ops+NOps].
type Inst struct {
	Op   Op
	NOps uint16
	Node Node
	Ops  int32
	Pay  int32 // index into Func.Payloads, -1 if none
	// Orig is, in an allocated function, the index of this instruction in the
	// function before allocation, or -1 for inserted code (OrigRemat etc. below).
	Orig int32
}

// Inserted code is marked in Inst.Orig by these values, so that dumps, statistics and
// the checker know it for what it is. Rematerialised instructions hold
// OrigRemat - vreg index.
const (
	OrigMove  int32 = -1 // register move, spill store, reload or swap
	OrigJump  int32 = -2 // jump of a split edge
	OrigRemat int32 = -16
)

// Payload holds what is not a register. The zero value means absent, field by field.
type Payload struct {
	Imm  int64
	Disp int32
	// Label is 1-based, its meaning given by the target (constant pool entry, ...).
	// Memory at a label is constant.
	Label int32
	Slot  int32 // 1-based frame slot; the address is slot + Disp (+ base + index)
	// Alias is an alias set for the scheduler: accesses in two different non-zero
	// sets never overlap (two buffers the plan keeps apart). 0 may alias anything.
	Alias int32
	Scale uint8 // of the index: 1, 2, 4, 8; 0 counts as 1
	Cond  uint8 // condition, predicate, rounding mode: the target's own
}

// Addr is a memory operand for the builder.
type Addr struct {
	Base, Index Reg
	Scale       uint8
	Disp        int32
	Label, Slot int32
	Alias       int32
}

// Edge is one successor of a block with the arguments for its parameters,
// Func.Args[Args:Args+NArgs].
type Edge struct {
	To    Block
	Args  int32
	NArgs int32
}

// BlockInfo is one basic block.
type BlockInfo struct {
	First, End      int32 // Func.Insts[First:End]; the last is the terminator
	Params, NParams int32 // Func.Params
	Edges, NEdges   int32 // Func.Edges

}

// VRegInfo describes a virtual register.
type VRegInfo struct {
	Class Class
	Hint  Reg // preferred physical register, or NoReg
}

// SlotInfo is a frame slot.
type SlotInfo struct {
	Size, Align int32
	Offset      int32 // from the frame base, set by regalloc's frame layout
}

// Func is a function in flat slices. Before allocation its registers are virtual;
// afterwards all are physical and block parameters are gone.
type Func struct {
	Name     string
	Target   *Target
	Insts    []Inst
	Regs     []Reg
	Payloads []Payload
	Blocks   []BlockInfo
	Params   []Reg
	Edges    []Edge
	Args     []Reg
	VRegs    []VRegInfo
	Slots    []SlotInfo
	// EntryRegs are the physical registers in which the entry block's parameters
	// arrive (the calling convention).
	EntryRegs []Reg
	// Layout is the order in which blocks are emitted; Layout[0] is the entry, block 0.
	Layout []Block

	// Set by allocation.
	Allocated  bool
	Used       RegSet // physical registers written anywhere: what a prologue must save
	FrameSize  int32
	FrameAlign int32
}

// Clone copies f; the target is shared.
func (f *Func) Clone() *Func {
	g := *f
	g.Insts = slices.Clone(f.Insts)
	g.Regs = slices.Clone(f.Regs)
	g.Payloads = slices.Clone(f.Payloads)
	g.Blocks = slices.Clone(f.Blocks)
	g.Params = slices.Clone(f.Params)
	g.Edges = slices.Clone(f.Edges)
	g.Args = slices.Clone(f.Args)
	g.VRegs = slices.Clone(f.VRegs)
	g.Slots = slices.Clone(f.Slots)
	g.EntryRegs = slices.Clone(f.EntryRegs)
	g.Layout = slices.Clone(f.Layout)
	return &g
}

// NumInsts is the number of instructions.
func (f *Func) NumInsts() int { return len(f.Insts) }

// NumBlocks is the number of blocks.
func (f *Func) NumBlocks() int { return len(f.Blocks) }

// InstRegs are the register operands of instruction i, in Desc order, then base and
// index if the instruction has an address.
func (f *Func) InstRegs(i int32) []Reg {
	in := &f.Insts[i]
	return f.Regs[in.Ops : in.Ops+int32(in.NOps) : in.Ops+int32(in.NOps)]
}

// Desc is the table row of instruction i.
func (f *Func) Desc(i int32) *Desc { return &f.Target.Descs[f.Insts[i].Op] }

// Payload is the payload of instruction i, zero if it has none.
func (f *Func) Payload(i int32) Payload {
	if p := f.Insts[i].Pay; p >= 0 {
		return f.Payloads[p]
	}
	return Payload{}
}

// Addr is the memory operand of instruction i (of an instruction with HasAddr).
func (f *Func) Addr(i int32) Addr {
	rs, p := f.InstRegs(i), f.Payload(i)
	n := len(f.Desc(i).Operands)
	return Addr{Base: rs[n], Index: rs[n+1], Scale: p.Scale, Disp: p.Disp, Label: p.Label, Slot: p.Slot, Alias: p.Alias}
}

// BlockParams are the parameters of block b.
func (f *Func) BlockParams(b Block) []Reg {
	bi := &f.Blocks[b]
	return f.Params[bi.Params : bi.Params+bi.NParams : bi.Params+bi.NParams]
}

// Succs are the successor edges of block b.
func (f *Func) Succs(b Block) []Edge {
	bi := &f.Blocks[b]
	return f.Edges[bi.Edges : bi.Edges+bi.NEdges : bi.Edges+bi.NEdges]
}

// EdgeArgs are the arguments e passes.
func (f *Func) EdgeArgs(e Edge) []Reg { return f.Args[e.Args : e.Args+e.NArgs : e.Args+e.NArgs] }

// Terminator is the index of block b's last instruction.
func (f *Func) Terminator(b Block) int32 { return f.Blocks[b].End - 1 }

// ClassOf is the class of a virtual or physical register.
func (f *Func) ClassOf(r Reg) Class {
	if r.IsVirt() {
		return f.VRegs[r.Index()].Class
	}
	return f.Target.Regs[r].Class
}

// OperandSpec describes operand k of an instruction with descriptor d: a row of its
// table, or the implied rows of base and index.
func (t *Target) OperandSpec(d *Desc, k int) Operand {
	if k < len(d.Operands) {
		return d.Operands[k]
	}
	c := t.AddrClass
	if k == len(d.Operands)+1 && d.VecIndex {
		c = d.IndexClass
	}
	return Operand{Class: c, Role: Use, Late: d.LateAddr}
}
