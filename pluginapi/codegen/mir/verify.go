package mir

import "fmt"

// Verify checks the invariants of the package comment on a virtual function: operand
// shapes, single definitions that dominate their uses, terminators and edges.
func (f *Func) Verify() error {
	if f.Allocated {
		return fmt.Errorf("mir: %s is already allocated", f.Name)
	}
	if len(f.Blocks) == 0 || len(f.Layout) == 0 || f.Layout[0] != 0 {
		return fmt.Errorf("mir: %s has no entry block", f.Name)
	}
	if len(f.EntryRegs) != len(f.BlockParams(0)) {
		return fmt.Errorf("mir: %s: %d entry registers for %d parameters", f.Name, len(f.EntryRegs), len(f.BlockParams(0)))
	}
	started := make([]int, len(f.Blocks))
	for _, b := range f.Layout {
		started[b]++
	}
	for b := range f.Blocks {
		if started[b] != 1 {
			return fmt.Errorf("mir: %s: block b%d is laid out %d times", f.Name, b, started[b])
		}
		if err := f.verifyBlock(Block(b)); err != nil {
			return fmt.Errorf("mir: %s: b%d: %w", f.Name, b, err)
		}
	}
	return f.verifySSA()
}

func (f *Func) verifyBlock(b Block) error {
	bi := &f.Blocks[b]
	if bi.First < 0 || bi.End <= bi.First || int(bi.End) > len(f.Insts) {
		return fmt.Errorf("empty block")
	}
	for i := bi.First; i < bi.End; i++ {
		d := f.Desc(i)
		if (d.Term != TermNone) != (i == bi.End-1) {
			return fmt.Errorf("%s at %d: terminator not at the end, or missing", d.Name, i)
		}
		rs := f.InstRegs(i)
		want := len(d.Operands)
		if d.HasAddr {
			want += 2
		}
		if len(rs) != want {
			return fmt.Errorf("%s at %d has %d operands, want %d", d.Name, i, len(rs), want)
		}
		for k, r := range rs {
			if r == NoReg && k >= len(d.Operands) {
				continue
			}
			if !r.IsVirt() || r.Index() >= len(f.VRegs) || f.ClassOf(r) != f.Target.OperandSpec(d, k).Class {
				return fmt.Errorf("%s at %d: operand %d is no virtual register of its class", d.Name, i, k)
			}
		}
	}
	if d := f.Desc(bi.End - 1); (d.Term == TermRet) != (bi.NEdges == 0) || (d.Term == TermJump) != (bi.NEdges == 1) {
		return fmt.Errorf("%s with %d successors", d.Name, bi.NEdges)
	}
	for _, e := range f.Succs(b) {
		if e.To == 0 {
			return fmt.Errorf("edge to the entry block")
		}
		ps := f.BlockParams(e.To)
		if len(ps) != int(e.NArgs) {
			return fmt.Errorf("%d arguments for b%d, want %d", e.NArgs, e.To, len(ps))
		}
		for k, r := range f.EdgeArgs(e) {
			if !r.IsVirt() || f.ClassOf(r) != f.ClassOf(ps[k]) {
				return fmt.Errorf("argument %d of b%d has the wrong class", k, e.To)
			}
		}
	}
	return nil
}

func (f *Func) verifySSA() error {
	c := BuildCFG(f)
	const none, param = int32(-1), int32(-2)
	defAt := make([]int32, len(f.VRegs))
	defBlk := make([]Block, len(f.VRegs))
	for i := range defAt {
		defAt[i] = none
	}
	define := func(r Reg, b Block, at int32) error {
		if defAt[r.Index()] != none {
			return fmt.Errorf("mir: %s: v%d defined twice", f.Name, r.Index())
		}
		defAt[r.Index()], defBlk[r.Index()] = at, b
		return nil
	}
	for b := range f.Blocks {
		for _, p := range f.BlockParams(Block(b)) {
			if err := define(p, Block(b), param); err != nil {
				return err
			}
		}
		bi := &f.Blocks[b]
		for i := bi.First; i < bi.End; i++ {
			for k, o := range f.Desc(i).Operands {
				if o.Role != Use {
					if err := define(f.InstRegs(i)[k], Block(b), i); err != nil {
						return err
					}
				}
			}
		}
	}
	check := func(r Reg, b Block, at int32) error {
		d, db := defAt[r.Index()], defBlk[r.Index()]
		if d == none || db == b && d >= at || db != b && !c.Dominates(db, b) {
			return fmt.Errorf("mir: %s: use of v%d in b%d is not dominated by its definition", f.Name, r.Index(), b)
		}
		return nil
	}
	for _, b := range c.RPO {
		bi := &f.Blocks[b]
		for i := bi.First; i < bi.End; i++ {
			d := f.Desc(i)
			for k, r := range f.InstRegs(i) {
				if r == NoReg || k < len(d.Operands) && d.Operands[k].Role != Use {
					continue
				}
				if err := check(r, b, i); err != nil {
					return err
				}
			}
		}
		for _, e := range f.Succs(b) {
			for _, r := range f.EdgeArgs(e) {
				if err := check(r, b, bi.End); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
