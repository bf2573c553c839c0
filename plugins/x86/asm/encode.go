package asm

import "fmt"

// Emit appends one instruction. mask is the opmask register of masked forms
// and ignored by others. Operands that cannot be encoded are a bug of the
// caller and panic.
func (b *Buffer) Emit(f *Form, mask Reg, args ...Arg) {
	if f.kind == encJump {
		b.jump(f, args[0].Label)
		return
	}
	e := enc{f: f}
	if k := len(f.Ops) - visible(f); len(args)+k != len(f.Ops) {
		panic(fmt.Sprintf("BUG: %s takes %d operands, got %d", f.Key, len(f.Ops)-k, len(args)))
	}
	a := 0
	for i := range f.Ops {
		o := &f.Ops[i]
		if o.Hidden {
			continue
		}
		e.operand(o, &args[a])
		a++
	}
	switch f.kind {
	case encVector:
		e.vector(b, mask)
	default:
		e.legacy(b)
	}
}

func visible(f *Form) int {
	n := 0
	for i := range f.Ops {
		if !f.Ops[i].Hidden {
			n++
		}
	}
	return n
}

// enc gathers the operands of one instruction by encoding slot.
type enc struct {
	f       *Form
	reg, rm Reg
	vvvv    Reg
	op      Reg
	is4     Reg
	mem     *Mem
	memSize uint8
	bcast   bool
	imm     int64
	rex8    bool // an 8-bit register 4..7 needs an empty REX
	highVec bool // a vector register above 15: EVEX only
}

func (e *enc) operand(o *Operand, a *Arg) {
	if o.IsReg() {
		limit := Reg(16)
		switch o.Kind {
		case KVec:
			limit = 32
			e.highVec = e.highVec || a.Reg > 15
		case KMask:
			limit = 8
		case KGP:
			e.rex8 = e.rex8 || o.Size == 1 && o.Slot != SlotFixed && a.Reg >= 4
		}
		if a.Reg >= limit || o.Fixed != NoReg && a.Reg != o.Fixed {
			panic(fmt.Sprintf("BUG: register %d in %s", a.Reg, e.f.Key))
		}
	}
	switch o.Slot {
	case SlotReg:
		e.reg = a.Reg
	case SlotRM:
		if o.IsMem() {
			e.mem, e.memSize, e.bcast = &a.Mem, o.Size, o.Kind == KBcast
		} else {
			e.rm = a.Reg
		}
	case SlotV:
		e.vvvv = a.Reg
	case SlotOp:
		e.op = a.Reg
	case SlotIs4:
		e.is4 = a.Reg
	case SlotImm:
		e.imm = a.Imm
	}
}

// rxb returns the high bits of ModRM.reg, the index and ModRM.rm.
func (e *enc) rxb() (r, x, bb uint8) {
	r = e.reg >> 3 & 1
	if e.mem == nil {
		return r, 0, e.rm >> 3 & 1
	}
	if e.mem.Index != NoReg {
		x = e.mem.Index >> 3 & 1
	}
	if e.mem.Base != NoReg {
		bb = e.mem.Base >> 3 & 1
	}
	return r, x, bb
}

func (e *enc) legacy(b *Buffer) {
	f := e.f
	if f.pp != 0 {
		b.put([4]uint8{0, 0x66, 0xF3, 0xF2}[f.pp])
	}
	r, x, bb := e.rxb()
	if !f.modrm {
		bb = e.op >> 3 & 1
	}
	rex := r<<2 | x<<1 | bb
	if f.legacyW {
		rex |= 8
	}
	if rex != 0 || e.rex8 {
		b.put(0x40 | rex)
	}
	if f.opmap >= 1 {
		b.put(0x0F)
	}
	if f.opmap == 2 {
		b.put(0x38)
	}
	op, immSize := f.opcode, f.immSize
	if f.shortImm != 0 && e.imm == int64(int8(e.imm)) {
		op, immSize = f.shortImm, 1
	}
	if !f.modrm {
		b.put(op | e.op&7)
	} else {
		b.put(op)
		e.modrm(b, 1, immSize)
	}
	e.immediate(b, immSize)
}

func (e *enc) vector(b *Buffer, mask Reg) {
	f := e.f
	r, x, bb := e.rxb()
	useEvex := f.Mask != MaskNone || e.bcast || e.highVec || f.vl == 2 || !f.hasVex
	if useEvex && !f.hasEvex {
		panic("BUG: no EVEX encoding for the operands of " + f.Key)
	}
	if !useEvex {
		if x|bb == 0 && f.opmap == 1 && f.vexW == 0 {
			b.put(0xC5)
			b.put((r^1)<<7 | (e.vvvv^15)&15<<3 | f.vl<<2 | f.pp)
		} else {
			b.put(0xC4)
			b.put((r^1)<<7 | (x^1)<<6 | (bb^1)<<5 | f.opmap)
			b.put(f.vexW<<7 | (e.vvvv^15)&15<<3 | f.vl<<2 | f.pp)
		}
		b.put(f.opcode)
		if f.modrm {
			e.modrm(b, 1, f.immSize)
		}
		e.vexImm(b)
		return
	}
	r4 := e.reg >> 4 & 1
	if e.mem == nil {
		x = e.rm >> 4 & 1
	}
	if f.Mask != MaskNone && (mask == 0 || mask > 7) {
		panic("BUG: opmask of " + f.Key)
	}
	p2 := f.vl<<5 | (e.vvvv>>4&1^1)<<3
	if f.Mask != MaskNone {
		p2 |= mask
	}
	if f.Mask == MaskZero && f.Ops[0].Kind != KMask {
		p2 |= 0x80
	}
	if e.bcast {
		p2 |= 0x10
	}
	b.put(0x62)
	b.put((r^1)<<7 | (x^1)<<6 | (bb^1)<<5 | (r4^1)<<4 | f.opmap)
	b.put(f.evexW<<7 | (e.vvvv^15)&15<<3 | 4 | f.pp)
	b.put(p2)
	b.put(f.opcode)
	e.modrm(b, int32(e.memSize), f.immSize)
	e.vexImm(b)
}

func (e *enc) vexImm(b *Buffer) {
	for i := range e.f.Ops {
		if e.f.Ops[i].Slot == SlotIs4 {
			b.put(e.is4 << 4)
			return
		}
	}
	e.immediate(b, e.f.immSize)
}

func (e *enc) immediate(b *Buffer, size uint8) {
	v := e.imm
	switch {
	case size == 1 && v != int64(int8(v)) && v != int64(uint8(v)),
		size == 4 && v != int64(int32(v)) && v != int64(uint32(v)):
		panic(fmt.Sprintf("BUG: immediate %d of %s", v, e.f.Key))
	}
	for i := uint8(0); i < size; i++ {
		b.put(uint8(v >> (8 * i)))
	}
}

// modrm writes ModRM, SIB and displacement; n is the disp8 scale.
func (e *enc) modrm(b *Buffer, n int32, immSize uint8) {
	reg := e.reg & 7
	if e.f.digit >= 0 {
		reg = uint8(e.f.digit)
	}
	if e.mem == nil {
		b.put(0xC0 | reg<<3 | e.rm&7)
		return
	}
	m := e.mem
	if m.RIP {
		b.put(reg<<3 | 5)
		b.ripFixup(m, immSize)
		return
	}
	if m.Index == RSP {
		panic("BUG: rsp as index in " + e.f.Key)
	}
	if m.Base == NoReg {
		idx := uint8(4)
		if m.Index != NoReg {
			idx = m.Index & 7
		}
		b.put(reg<<3 | 4)
		b.put(scaleBits(m.Scale)<<6 | idx<<3 | 5)
		b.put32(m.Disp)
		return
	}
	mod := uint8(2)
	switch {
	case m.Disp == 0 && m.Base&7 != 5:
		mod = 0
	case m.Disp%n == 0 && m.Disp/n >= -128 && m.Disp/n <= 127:
		mod = 1
	}
	if m.Index != NoReg || m.Base&7 == 4 {
		idx := uint8(4)
		if m.Index != NoReg {
			idx = m.Index & 7
		}
		b.put(mod<<6 | reg<<3 | 4)
		b.put(scaleBits(m.Scale)<<6 | idx<<3 | m.Base&7)
	} else {
		b.put(mod<<6 | reg<<3 | m.Base&7)
	}
	switch mod {
	case 1:
		b.put(uint8(int8(m.Disp / n)))
	case 2:
		b.put32(m.Disp)
	}
}

func scaleBits(s uint8) uint8 {
	switch s {
	case 0, 1:
		return 0
	case 2:
		return 1
	case 4:
		return 2
	case 8:
		return 3
	}
	panic(fmt.Sprintf("BUG: scale %d", s))
}
