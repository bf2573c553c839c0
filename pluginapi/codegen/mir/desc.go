package mir

import "fmt"

// Op is an opcode of the target: an index into Target.Descs. Row 0 is invalid.
type Op uint16

// Role says what an instruction does with a register operand.
type Role uint8

const (
	// Use reads the operand.
	Use Role = iota
	// Def writes the operand; it is the definition of its virtual register.
	Def
	// Temp is a scratch register the emitter may overwrite from start to end. The
	// builder makes a fresh virtual register for it; nobody reads it.
	Temp
)

// Constraint restricts which register an operand may get.
type Constraint uint8

const (
	// Any register of the class.
	Any Constraint = iota
	// Fixed means exactly Operand.Reg.
	Fixed
	// Reuse (definitions only) means the register of use operand Operand.Reuse: the
	// two-operand form.
	Reuse
)

// Operand is one row of an instruction's operand list.
type Operand struct {
	Class      Class
	Role       Role
	Constraint Constraint
	Reg        Reg   // for Fixed
	Reuse      uint8 // for Reuse: index of the use operand
	// Early on a Def: written before the uses are read.
	Early bool
	// Late on a Use: read until the end, so no Def shares its register.
	Late bool
}

// Shorthands for instruction tables.

// D is an unconstrained definition.
func D(c Class) Operand { return Operand{Class: c, Role: Def} }

// DEarly is a definition written before the uses are read.
func DEarly(c Class) Operand { return Operand{Class: c, Role: Def, Early: true} }

// DFixed is a definition in a given register.
func DFixed(c Class, r Reg) Operand {
	return Operand{Class: c, Role: Def, Constraint: Fixed, Reg: r}
}

// DReuse is a definition in the register of use operand i (an index into Operands).
func DReuse(c Class, i int) Operand {
	return Operand{Class: c, Role: Def, Constraint: Reuse, Reuse: uint8(i)}
}

// U is an unconstrained use.
func U(c Class) Operand { return Operand{Class: c, Role: Use} }

// ULate is a use whose register stays untouched until the instruction ends.
func ULate(c Class) Operand { return Operand{Class: c, Role: Use, Late: true} }

// UFixed is a use in a given register.
func UFixed(c Class, r Reg) Operand {
	return Operand{Class: c, Role: Use, Constraint: Fixed, Reg: r}
}

// T is a scratch register.
func T(c Class) Operand { return Operand{Class: c, Role: Temp, Early: true} }

// TFixed is a given scratch register.
func TFixed(c Class, r Reg) Operand {
	return Operand{Class: c, Role: Temp, Constraint: Fixed, Reg: r, Early: true}
}

// Effect is an instruction's effect on memory.
type Effect uint8

const (
	// MemNone touches no memory.
	MemNone Effect = 0
	// MemRead reads MemSize bytes at its address.
	MemRead Effect = 1
	// MemWrite writes MemSize bytes at its address.
	MemWrite Effect = 2
	// MemBarrier orders against every other memory access.
	MemBarrier Effect = 7
)

// Term is the kind of terminator.
type Term uint8

const (
	// TermNone is not a terminator.
	TermNone Term = iota
	// TermJump has one successor and no register operands.
	TermJump
	// TermBranch has two or more successors.
	TermBranch
	// TermRet leaves the function.
	TermRet
)

// Resource is a bit set of implicit machine state (flags, rounding mode, ...): it
// orders instructions in the scheduler only. It may not carry a value from one
// instruction to the next across which the allocator could insert code that
// overwrites it.
type Resource uint32

// Desc describes one instruction: everything the target-independent half needs.
type Desc struct {
	Name     string
	Operands []Operand
	// HasAddr appends two operand slots, base and index (each may be NoReg), both
	// uses, after Operands; the rest of the address is in the Payload.
	HasAddr bool
	// LateAddr keeps base and index untouched until the instruction ends.
	LateAddr bool
	// IndexClass is the index's class when it is not Target.AddrClass (gathers);
	// used if VecIndex is set.
	VecIndex   bool
	IndexClass Class

	Effect  Effect
	MemSize uint16 // bytes accessed, 0 = unknown

	Term Term
	// Clobbers are destroyed; no operand but a Fixed one may be in them.
	Clobbers RegSet

	ResUse, ResDef Resource

	Latency uint8  // cycles from operands to result; 0 counts as 1
	Ports   uint16 // execution ports it may go to, a bit set; 0 = takes none
	Uops    uint8  // how many port slots it takes; 0 counts as 1

	// Remat: the only operand is one unconstrained definition and no memory that can
	// change is read, so re-executing it anywhere gives the same value. A row with
	// HasAddr may set it (constant pool loads); it then holds for those instructions
	// whose base and index are NoReg.
	Remat bool
}

// ClassInfo describes a register class.
type ClassInfo struct {
	Name string
	// Allocatable registers, in order of preference.
	Allocatable []Reg
	// SlotSize and SlotAlign of a spilled register, in bytes.
	SlotSize, SlotAlign int32
	// Move is {def any, use any}. Load is {def any} and Store {use any}, both with
	// HasAddr and Payload.Slot. Swap exchanges two registers: {use any, use any}
	// whose two operands are both read and written; the emitter may expand it
	// (three xors for vectors). None of them may define a Resource others use.
	Move, Load, Store, Swap Op
}

// RegInfo describes a physical register.
type RegInfo struct {
	Name  string
	Class Class
	Enc   uint8 // hardware number, for the encoder
}

// Target is the table a back end fills. It is immutable once built.
type Target struct {
	Name      string
	Classes   []ClassInfo
	Regs      []RegInfo // index 0 is NoReg
	Descs     []Desc    // index 0 is invalid
	AddrClass Class
	Jump      Op // plain jump, for split edges
	// IssueWidth is the number of instructions the scheduler issues per cycle.
	IssueWidth int
	// CondName prints Payload.Cond in dumps; nil prints a number.
	CondName func(op Op, cond uint8) string
}

// Desc returns the row of op.
func (t *Target) Desc(op Op) *Desc { return &t.Descs[op] }

// Check validates the table; a target's own tests call it.
func (t *Target) Check() error {
	if len(t.Regs) > MaxPhys {
		return fmt.Errorf("mir: target %s has %d registers, the limit is %d", t.Name, len(t.Regs)-1, MaxPhys-1)
	}
	var used Resource
	for i := 1; i < len(t.Descs); i++ {
		d := &t.Descs[i]
		used |= d.ResUse
		if err := t.checkDesc(d); err != nil {
			return fmt.Errorf("mir: target %s, instruction %d %q: %w", t.Name, i, d.Name, err)
		}
	}
	for i := 1; i < len(t.Descs); i++ {
		if d := &t.Descs[i]; d.Remat && d.ResDef&used != 0 {
			return fmt.Errorf("mir: target %s: rematerialisable %q overwrites a resource", t.Name, d.Name)
		}
	}
	for c, ci := range t.Classes {
		for _, r := range ci.Allocatable {
			if int(r) >= len(t.Regs) || t.Regs[r].Class != Class(c) {
				return fmt.Errorf("mir: target %s: class %s lists foreign register %d", t.Name, ci.Name, r)
			}
		}
		for _, op := range []Op{ci.Move, ci.Load, ci.Store, ci.Swap} {
			if op == 0 || t.Descs[op].ResDef&used != 0 {
				return fmt.Errorf("mir: target %s: class %s has a missing or unsuitable move, load, store or swap", t.Name, ci.Name)
			}
		}
	}
	return nil
}

func (t *Target) checkDesc(d *Desc) error {
	if d.Name == "" {
		return fmt.Errorf("no name")
	}
	virtUses, defs := 0, 0
	for k, o := range d.Operands {
		if int(o.Class) >= len(t.Classes) {
			return fmt.Errorf("operand %d: no such class", k)
		}
		switch o.Constraint {
		case Fixed:
			if o.Reg == NoReg || int(o.Reg) >= len(t.Regs) || t.Regs[o.Reg].Class != o.Class {
				return fmt.Errorf("operand %d: fixed register is not of its class", k)
			}
		case Reuse:
			if o.Role != Def || int(o.Reuse) >= len(d.Operands) {
				return fmt.Errorf("operand %d: reuse on a non-definition or out of range", k)
			}
			if u := d.Operands[o.Reuse]; u.Role != Use || u.Constraint != Any || u.Class != o.Class || u.Late {
				return fmt.Errorf("operand %d: reuses operand %d, which is no plain use of its class", k, o.Reuse)
			}
		}
		if o.Role == Use {
			virtUses++
		} else if o.Role == Def {
			defs++
		}
	}
	if d.Remat && (virtUses != 0 || defs != 1 || len(d.Operands) != 1 || d.Operands[0].Constraint != Any ||
		d.Clobbers != RegSet{} || d.Effect&MemWrite != 0) {
		return fmt.Errorf("rematerialisable, but not just one free definition")
	}
	if d.Term == TermJump && (len(d.Operands) != 0 || d.HasAddr) {
		return fmt.Errorf("jump with operands")
	}
	return nil
}
