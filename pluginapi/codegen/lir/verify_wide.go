package lir

import "fmt"

// wide checks the vector operations whose operands differ in shape.
func (v *verifier) wide(s *Stmt) error {
	t := s.Type
	if !t.IsVec() || s.Op != MCast && !Defined(s.Op, t.Elem, true) {
		return fmt.Errorf("of %v", t)
	}
	var want []Type
	switch s.Op {
	case MLoad:
		want = []Type{MaskOf(t)}
	case MStore:
		want = []Type{t, MaskOf(t)}
	case Gather:
		want = []Type{v.indexOf(s, 0), MaskOf(t)}
	case Scatter:
		want = []Type{t, v.indexOf(s, 1), MaskOf(t)}
	case Dot2S:
		want = []Type{Vec(I16, 2*int(t.Lanes)), Vec(I16, 2*int(t.Lanes))}
	case Dot4US:
		want = []Type{Vec(I8, 4*int(t.Lanes)), Vec(I8, 4*int(t.Lanes))}
	case MCast:
		from := v.f.Types[s.Args[0]]
		if t.Elem != Mask || from.Elem != Mask || from.Lanes != t.Lanes {
			return fmt.Errorf("from %v to %v", from, t)
		}
		want = []Type{from}
	}
	if s.Op.HasAddr() {
		if err := v.addr(s); err != nil {
			return err
		}
		if k := v.f.Bufs[s.Addr.Buf].Kind; s.Op.Writes() && (k == BufIn || k == BufConst) {
			return fmt.Errorf("to a read-only buffer")
		}
		if (s.Op == Gather || s.Op == Scatter) && s.Imm <= 0 {
			return fmt.Errorf("stride %d", s.Imm)
		}
	}
	if err := v.uses(s.Args, want); err != nil {
		return err
	}
	if s.Op.Writes() {
		return nil
	}
	if len(s.Results) != 1 {
		return fmt.Errorf("%d results", len(s.Results))
	}
	return v.define(s.Results[0], t)
}

// indexOf is the type that the index of a gather or scatter must have: I64 lanes
// if it has them, else I32.
func (v *verifier) indexOf(s *Stmt, arg int) Type {
	e := I32
	if x := s.Args[arg]; x >= 0 && int(x) < len(v.f.Types) && v.f.Types[x].Elem == I64 {
		e = I64
	}
	return Vec(e, int(s.Type.Lanes))
}
