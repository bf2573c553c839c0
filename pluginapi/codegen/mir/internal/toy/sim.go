package toy

import (
	"fmt"
	"slices"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// MemCells is the size of the simulated memory in 8-byte cells; addresses wrap.
const MemCells = 64

// Result is what a run can be compared by.
type Result struct {
	Ret   uint64
	Mem   [MemCells]uint64
	Steps int
}

const garbage = 0xdeadbeefcafef00d

// Run interprets f, virtual or allocated, and fails after fuel instructions or where
// the code reads what was never written.
func Run(f *mir.Func, args []uint64, mem [MemCells]uint64, fuel int) (Result, error) {
	s := &sim{f: f, regs: map[mir.Reg]uint64{}, slots: map[int32]uint64{}, res: Result{Mem: mem}}
	for k, r := range f.EntryRegs {
		if f.Allocated {
			s.regs[r] = args[k]
		} else {
			s.regs[f.BlockParams(0)[k]] = args[k]
		}
	}
	b := mir.Block(0)
	for {
		bi := &f.Blocks[b]
		taken := -1
		for i := bi.First; i < bi.End; i++ {
			if s.res.Steps++; s.res.Steps > fuel {
				return s.res, fmt.Errorf("toy: out of fuel in b%d", b)
			}
			var err error
			if taken, err = s.step(i); err != nil {
				return s.res, fmt.Errorf("toy: b%d: %s: %w", b, f.InstString(i), err)
			}
		}
		if bi.NEdges == 0 {
			return s.res, nil
		}
		e := f.Succs(b)[taken]
		vals := make([]uint64, e.NArgs)
		for k, r := range f.EdgeArgs(e) {
			vals[k] = s.regs[r]
		}
		for k, v := range vals {
			s.regs[f.BlockParams(e.To)[k]] = v
		}
		b = e.To
	}
}

type sim struct {
	f     *mir.Func
	regs  map[mir.Reg]uint64
	slots map[int32]uint64
	res   Result
}

func (s *sim) step(i int32) (taken int, err error) {
	d, rs, p := s.f.Desc(i), s.f.InstRegs(i), s.f.Payload(i)
	op := s.f.Insts[i].Op
	inserted := s.f.Allocated && s.f.Insts[i].Orig == mir.OrigMove
	if s.f.Allocated {
		// What is written early destroys its register before anything is read, unless
		// the row itself says that both are one fixed register.
		reads := map[mir.Reg]bool{}
		for k, o := range d.Operands {
			if o.Role == mir.Use && o.Constraint == mir.Fixed {
				reads[rs[k]] = true
			}
		}
		for k, o := range d.Operands {
			if o.Early && !reads[rs[k]] {
				s.regs[rs[k]] = garbage
			}
		}
		for _, r := range d.Clobbers.List() {
			if !reads[r] {
				s.regs[r] = garbage
			}
		}
	}
	var u []uint64
	for k, r := range rs {
		if r == mir.NoReg {
			u = append(u, 0)
			continue
		}
		if k < len(d.Operands) && d.Operands[k].Role != mir.Use {
			continue
		}
		v, ok := s.regs[r]
		if !ok && inserted {
			v = garbage // moving rubbish about is harmless
		} else if !ok {
			return 0, fmt.Errorf("reads %s before it is written", s.f.RegString(r))
		}
		u = append(u, v)
	}
	var addr uint64
	if d.HasAddr {
		n := len(u)
		addr = u[n-2] + u[n-1]*uint64(p.Scale) + uint64(int64(p.Disp))
		u = u[:n-2]
	}
	cell := &s.res.Mem[addr/8%MemCells]
	var out []uint64
	switch op {
	case Const, VSet:
		out = []uint64{uint64(p.Imm)}
	case Add:
		out = []uint64{u[0] + u[1]}
	case Lea:
		out = []uint64{addr}
	case Mul:
		out = []uint64{u[0] * u[1]}
	case Shl:
		out = []uint64{u[0] << (u[1] & 63)}
	case Div:
		q := u[1]&0xffff + 1
		out = []uint64{u[0] / q, u[0] % q}
	case Sel:
		out = []uint64{u[3], 0}
		if u[0] < u[1] {
			out[0] = u[2]
		}
	case Call:
		out = []uint64{u[0]*3 + u[1]}
	case Load, VLoad:
		out = []uint64{*cell}
	case Store, VStore:
		*cell = u[0]
	case VCvt:
		out = []uint64{u[0] ^ 0x5555}
	case VFma:
		out = []uint64{u[0] + u[1]*u[2]}
	case VFmaM:
		out = []uint64{u[0] + u[1]**cell}
	case VGet, Move, VMove, KMove:
		out = []uint64{u[0]}
	case KCmp:
		out = []uint64{0}
		if u[0] < u[1] {
			out[0] = 1
		}
	case KSel:
		out = []uint64{u[2]}
		if u[0] != 0 {
			out[0] = u[1]
		}
	case Two:
		out = []uint64{u[0] - u[1], u[0] ^ u[1]}
	case Br:
		if u[0] >= u[1] {
			taken = 1
		}
	case DecBr:
		out = []uint64{u[0] - 1}
		if out[0] == 0 {
			taken = 1
		}
	case Ret:
		s.res.Ret = u[0]
	case Spill, VSpill, KSpill:
		s.slots[p.Slot] = u[0]
	case Reload, VReload, KReload:
		v, ok := s.slots[p.Slot]
		if !ok {
			v = garbage
		}
		out = []uint64{v}
	case Swap, VSwap, KSwap:
		s.regs[rs[0]], s.regs[rs[1]] = u[1], u[0]
	case Jump:
	default:
		return 0, fmt.Errorf("unknown instruction")
	}
	out = slices.Clone(out)
	for k, o := range d.Operands {
		switch o.Role {
		case mir.Def:
			s.regs[rs[k]], out = out[0], out[1:]
		case mir.Temp:
			if s.f.Allocated {
				s.regs[rs[k]] = garbage
			}
		}
	}
	return taken, nil
}
