// Package asm is the x86-64 instruction table and its encoder.
//
// Every instruction is declared once, as a row of the tables in rows_*.go
// (mnemonic, encoding in the vendor manuals' notation, operands, latency,
// ports). A row is expanded into forms: one per vector length, operand size,
// and register/memory/broadcast/masked alternative. The printer, the
// encoder, the defs and uses that the register allocator sees, the
// scheduling class and the enumeration in the tests all derive from the form.
//
// What must hold: the bytes of every form, for every register and
// displacement extreme, disassemble (with binutils' objdump) to the text of
// the printer. Code is position independent and has no relocations.
package asm

// Class is a register class.
type Class uint8

const (
	ClassGP Class = iota
	ClassVec
	ClassMask
)

// Reg is a register number within its class: 0..15 for gp, 0..31 for vec,
// 0..7 for mask.
type Reg = uint8

// General purpose registers by their encoding.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// NoReg marks an absent base or index register.
const NoReg Reg = 0xff

// Kind is what an operand of a form is.
type Kind uint8

const (
	KNone  Kind = iota
	KGP         // general purpose register of Size bytes
	KVec        // vector register of Size bytes (16, 32, 64)
	KMask       // mask register
	KMem        // memory of Size bytes
	KBcast      // memory element of Size bytes, broadcast (EVEX)
	KImm        // immediate of Size bytes
	KLabel      // code label, pc relative
)

// Slot is where an operand is encoded.
type Slot uint8

const (
	SlotNone  Slot = iota
	SlotReg        // ModRM.reg
	SlotRM         // ModRM.rm
	SlotV          // VEX/EVEX.vvvv
	SlotIs4        // high half of the immediate byte
	SlotOp         // low bits of the opcode
	SlotImm        // immediate bytes
	SlotRel        // pc-relative target
	SlotFixed      // implied by the opcode
)

// Access says how an instruction touches an operand.
type Access uint8

const (
	Read      Access = 1
	Write     Access = 2
	ReadWrite Access = 3
)

// Operand is one operand of a form.
type Operand struct {
	Kind   Kind
	Slot   Slot
	Access Access
	Size   uint8 // bytes of the register, memory access or immediate
	Fixed  Reg   // the only register allowed, or NoReg
	Hidden bool  // not written in assembly text (rax of mul)
}

// Class returns the register class of a register operand.
func (o Operand) Class() Class {
	switch o.Kind {
	case KVec:
		return ClassVec
	case KMask:
		return ClassMask
	}
	return ClassGP
}

// IsReg reports whether the operand is a register.
func (o Operand) IsReg() bool { return o.Kind == KGP || o.Kind == KVec || o.Kind == KMask }

// IsMem reports whether the operand is a memory reference.
func (o Operand) IsMem() bool { return o.Kind == KMem || o.Kind == KBcast }

// Feature is a set of CPU features a form needs.
type Feature uint32

const (
	AVX Feature = 1 << iota
	AVX2
	FMA
	BMI
	F16C
	AVX512F
	AVX512DQ
	AVX512BW
	AVX512VL
	AVX512CD
)

// Level masks: what each of the backend's feature sets provides.
const (
	LevelAVX2   = AVX | AVX2 | FMA | BMI | F16C
	LevelAVX512 = LevelAVX2 | AVX512F | AVX512DQ | AVX512BW | AVX512VL | AVX512CD
)

// Ports is a set of execution ports of a Golden Cove class core.
type Ports uint16

const (
	P0 Ports = 1 << iota
	P1
	P2
	P3
	P4
	P5
	P6
	P7
	P8
	P9
	P10
	P11
	PLoad  = P2 | P3 | P11
	PStore = P4 | P9
	PALU   = P0 | P1 | P5 | P6 | P10
	PVec   = P0 | P1 | P5
	PFMA   = P0 | P1
)

// MaskMode is how a form uses an EVEX opmask.
type MaskMode uint8

const (
	MaskNone  MaskMode = iota
	MaskMerge          // {k}: unselected elements keep the destination
	MaskZero           // {k}{z}: unselected elements become zero
)

// Form is one encodable instruction form.
type Form struct {
	Name     string
	Key      string // e.g. "vaddps z,z,m"; unique in the table
	Ops      []Operand
	Mask     MaskMode
	Features Feature // needed by the cheapest encoding the form has
	Lat      uint8   // cycles from the last register input to the result
	Ports    Ports
	Sem      string // semantic op, e.g. "fadd.f32"; empty if none
	// NarrowRegs is set when only vector registers 0..15 can be encoded.
	NarrowRegs bool
	// Flags effects, for the scheduler.
	ReadsFlags, WritesFlags bool
	Branch                  bool // ends a block or diverts control

	kind            encKind
	pp, opmap       uint8
	opcode          uint8
	vl              uint8 // 0,1,2
	legacyW         bool
	vexW, evexW     uint8
	hasVex, hasEvex bool
	digit           int8 // ModRM.reg extension or -1
	modrm           bool
	shortImm        uint8 // opcode with a sign-extended imm8, or 0
	immSize         uint8
	cc              int8 // condition of jcc, or -1
	id              int32
}

// ID is the index of the form in its table.
func (f *Form) ID() int { return int(f.id) }

type encKind uint8

const (
	encLegacy encKind = iota
	encVector
	encJump
)

// Mem is a memory reference: [Base + Index*Scale + Disp], or the constant
// Const of the buffer's pool (plus Disp) when RIP is set.
type Mem struct {
	Base, Index Reg
	Scale       uint8
	Disp        int32
	RIP         bool
	Label       Label
}

// MemBD is a base and displacement reference.
func MemBD(base Reg, disp int32) Mem { return Mem{Base: base, Index: NoReg, Scale: 1, Disp: disp} }

// MemBID is a base, scaled index and displacement reference.
func MemBID(base, index Reg, scale uint8, disp int32) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

// MemLabel refers to a label (usually a pooled constant) relative to rip.
func MemLabel(l Label) Mem { return Mem{Base: NoReg, Index: NoReg, RIP: true, Label: l} }

// Arg is an actual operand: which field counts follows from the form.
type Arg struct {
	Reg   Reg
	Mem   Mem
	Imm   int64
	Label Label
}

// R, M, I and L build arguments.
func R(r Reg) Arg   { return Arg{Reg: r} }
func M(m Mem) Arg   { return Arg{Mem: m} }
func I(v int64) Arg { return Arg{Imm: v} }
func L(l Label) Arg { return Arg{Label: l} }
