package mir

import "math/bits"

// Reg names a register operand: 0 is none, 1..FirstVirt-1 are the target's
// physical registers (index into Target.Regs), the rest are virtual.
type Reg uint32

const (
	// NoReg marks an absent operand, such as the index of a plain [base+disp].
	NoReg Reg = 0
	// FirstVirt is the first virtual register number.
	FirstVirt Reg = 256
	// MaxPhys is the exclusive limit of physical register numbers; RegSet has that many bits.
	MaxPhys = 128
)

// IsVirt reports whether r is a virtual register.
func (r Reg) IsVirt() bool { return r >= FirstVirt }

// IsPhys reports whether r is a physical register.
func (r Reg) IsPhys() bool { return r != NoReg && r < FirstVirt }

// Index is the position of a virtual register in Func.VRegs.
func (r Reg) Index() int { return int(r - FirstVirt) }

// VirtReg is the virtual register with the given index.
func VirtReg(i int) Reg { return FirstVirt + Reg(i) }

// Class is a register class: an index into Target.Classes. Registers of
// different classes never alias.
type Class uint8

// RegSet is a set of physical registers.
type RegSet [MaxPhys / 64]uint64

// Set builds a RegSet.
func Set(rs ...Reg) RegSet {
	var s RegSet
	for _, r := range rs {
		s.Add(r)
	}
	return s
}

// Add puts r in the set.
func (s *RegSet) Add(r Reg) { s[r/64] |= 1 << (r % 64) }

// Del takes r out of the set.
func (s *RegSet) Del(r Reg) { s[r/64] &^= 1 << (r % 64) }

// Has reports membership.
func (s RegSet) Has(r Reg) bool { return r < MaxPhys && s[r/64]>>(r%64)&1 != 0 }

// Or is the union.
func (s RegSet) Or(t RegSet) RegSet {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// And is the intersection.
func (s RegSet) And(t RegSet) RegSet {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

// Minus is the difference.
func (s RegSet) Minus(t RegSet) RegSet {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// Len counts the members.
func (s RegSet) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// List returns the members in ascending order.
func (s RegSet) List() []Reg {
	var out []Reg
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, Reg(i*64+bits.TrailingZeros64(w)))
		}
	}
	return out
}
