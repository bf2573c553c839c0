package lir

import "fmt"

// Verify checks that f is well formed: values defined once and before use,
// types by each op's row, buffers and addresses sane. A failure is a fault of
// the plan, never of a user.
func Verify(f *Func) error {
	v := &verifier{f: f, def: make([]bool, len(f.Types))}
	if err := v.define(f.Tile, TIx); err != nil {
		return fmt.Errorf("lir: %s: %w", f.Name, err)
	}
	if err := v.block(f.Body, nil, []Type{TI32}); err != nil {
		return fmt.Errorf("lir: %s: %w", f.Name, err)
	}
	return nil
}

type verifier struct {
	f   *Func
	def []bool // in scope
}

func (v *verifier) define(x Value, t Type) error {
	if x < 0 || int(x) >= len(v.def) {
		return fmt.Errorf("value %d out of range", x)
	}
	if v.def[x] {
		return fmt.Errorf("value %d defined twice", x)
	}
	if v.f.Types[x] != t {
		return fmt.Errorf("value %d is %v, defined as %v", x, v.f.Types[x], t)
	}
	v.def[x] = true
	return nil
}

func (v *verifier) use(x Value, t Type) error {
	if x < 0 || int(x) >= len(v.def) || !v.def[x] {
		return fmt.Errorf("value %d used where it is not defined", x)
	}
	if v.f.Types[x] != t {
		return fmt.Errorf("value %d is %v, used as %v", x, v.f.Types[x], t)
	}
	return nil
}

func (v *verifier) uses(xs []Value, ts []Type) error {
	if len(xs) != len(ts) {
		return fmt.Errorf("%d values for %d", len(xs), len(ts))
	}
	for i := range xs {
		if err := v.use(xs[i], ts[i]); err != nil {
			return err
		}
	}
	return nil
}

// block checks b; what it defines goes out of scope at its end.
func (v *verifier) block(b *Block, params, yield []Type) error {
	var scope []Value
	if len(b.Params) != len(params) {
		return fmt.Errorf("block has %d parameters, wants %d", len(b.Params), len(params))
	}
	for i, p := range b.Params {
		if err := v.define(p, params[i]); err != nil {
			return err
		}
	}
	scope = append(scope, b.Params...)
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if err := v.stmt(s); err != nil {
			return fmt.Errorf("%v: %w", s.Op, err)
		}
		scope = append(scope, s.Results...)
	}
	if err := v.uses(b.Yield, yield); err != nil {
		return fmt.Errorf("yield: %w", err)
	}
	for _, x := range scope {
		v.def[x] = false
	}
	return nil
}

func (v *verifier) stmt(s *Stmt) error {
	if s.Op == OpInvalid || s.Op >= NumOps {
		return fmt.Errorf("unknown op")
	}
	info := s.Op.Info()
	if info.Arity >= 0 && len(s.Args) != info.Arity {
		return fmt.Errorf("%d arguments, wants %d", len(s.Args), info.Arity)
	}
	if info.sig == sShape {
		return v.special(s)
	}
	if info.sig != sMask && !Defined(s.Op, s.Type.Elem, s.Type.IsVec()) {
		return fmt.Errorf("not defined on %v", s.Type)
	}
	res := s.Type
	var want []Type
	switch info.sig {
	case sSame, sCmp:
		for range s.Args {
			want = append(want, s.Type)
		}
		if info.sig == sCmp {
			res = TI32
			if s.Type.IsVec() {
				res = MaskOf(s.Type)
			}
		}
	case sSelect:
		c := TI32
		if s.Type.IsVec() {
			c = MaskOf(s.Type)
		}
		want = []Type{c, s.Type, s.Type}
	case sMask:
		if s.Type.Elem != Mask {
			return fmt.Errorf("on %v", s.Type)
		}
		for range s.Args {
			want = append(want, s.Type)
		}
		if s.Op == MAny {
			res = TI32
		}
	case sConv:
		at := v.f.Types[s.Args[0]]
		ok := at.Lanes == s.Type.Lanes
		found := false
		for _, e := range convFrom(s.Op, s.Type.Elem) {
			found = found || at.Elem == e
		}
		if !ok || !found {
			return fmt.Errorf("from %v to %v", at, s.Type)
		}
		want = []Type{at}
	}
	if err := v.uses(s.Args, want); err != nil {
		return err
	}
	if len(s.Results) != 1 {
		return fmt.Errorf("%d results", len(s.Results))
	}
	return v.define(s.Results[0], res)
}

func (v *verifier) special(s *Stmt) error {
	one := func(t Type) error {
		if len(s.Results) != 1 {
			return fmt.Errorf("%d results", len(s.Results))
		}
		return v.define(s.Results[0], t)
	}
	switch s.Op {
	case Const:
		return one(s.Type)
	case LaneIx:
		if !s.Type.IsVec() || !Defined(LaneIx, s.Type.Elem, true) {
			return fmt.Errorf("of %v", s.Type)
		}
		return one(s.Type)
	case Splat:
		if !s.Type.IsVec() || !Defined(Splat, s.Type.Elem, true) {
			return fmt.Errorf("to %v", s.Type)
		}
		if err := v.use(s.Args[0], s.Type.Scalar().Carrier()); err != nil {
			return err
		}
		return one(s.Type)
	case Zip:
		if !s.Type.IsVec() || s.Imm&^1 != 0 {
			return fmt.Errorf("half %d of %v", s.Imm, s.Type)
		}
		for _, a := range s.Args {
			if err := v.use(a, s.Type); err != nil {
				return err
			}
		}
		return one(s.Type)
	case Extract:
		t := v.f.Types[s.Args[0]]
		if !t.IsVec() || t.Elem != s.Type.Elem || s.Imm < 0 || s.Imm >= int64(t.Lanes) {
			return fmt.Errorf("lane %d of %v", s.Imm, t)
		}
		if err := v.use(s.Args[0], t); err != nil {
			return err
		}
		return one(s.Type)
	case Load:
		if err := v.addr(s); err != nil {
			return err
		}
		return one(s.Type)
	case Store:
		if err := v.addr(s); err != nil {
			return err
		}
		if k := v.f.Bufs[s.Addr.Buf].Kind; k == BufIn || k == BufConst {
			return fmt.Errorf("to a read-only buffer")
		}
		return v.use(s.Args[0], s.Type)
	case MLoad, MStore, Gather, Scatter, Dot2S, Dot4US, MCast:
		return v.wide(s)
	case For:
		return v.forStmt(s)
	case While:
		return v.while(s)
	case If:
		return v.ifStmt(s)
	case Return:
		return v.use(s.Args[0], TI32)
	}
	return fmt.Errorf("unknown op")
}

func (v *verifier) addr(s *Stmt) error {
	a := s.Addr
	if a.Buf < 0 || a.Buf >= len(v.f.Bufs) {
		return fmt.Errorf("buffer %d of %d", a.Buf, len(v.f.Bufs))
	}
	switch a.Scale {
	case 1, 2, 4, 8:
	default:
		return fmt.Errorf("scale %d", a.Scale)
	}
	want := s.Type.Elem.Size()
	switch {
	case s.Type.Elem == Mask && s.Type.IsVec() && s.Mem == M8U:
	case s.Type.Elem == Mask || s.Type.Elem == Ix || s.Type.Elem == None:
		return fmt.Errorf("of %v", s.Type)
	case s.Mem >= MF16:
		if s.Type.Elem != F32 {
			return fmt.Errorf("access as %v of %v", s.Mem, s.Type)
		}
	case s.Type.Elem == I8 || s.Type.Elem == I16:
		if !s.Type.IsVec() || s.Mem.Size() != want {
			return fmt.Errorf("access of %d bytes for %v", s.Mem.Size(), s.Type)
		}
	case s.Mem < M32 && s.Type != TI32:
		return fmt.Errorf("narrow access of %v", s.Type)
	case s.Mem >= M32 && s.Mem.Size() != want:
		return fmt.Errorf("access of %d bytes for %v", s.Mem.Size(), s.Type)
	}
	if a.Index == NoValue && (s.Op == Load || s.Op == Store) {
		n := int64(s.Mem.Size()) * int64(s.Type.Lanes)
		if a.Disp < 0 || a.Disp+n > v.f.Bufs[a.Buf].Bytes {
			return fmt.Errorf("bytes %d..%d of a buffer of %d", a.Disp, a.Disp+n, v.f.Bufs[a.Buf].Bytes)
		}
		return nil
	}
	if a.Index == NoValue {
		return nil
	}
	return v.use(a.Index, TIx)
}

func (v *verifier) carried(args, results []Value) ([]Type, error) {
	ts := make([]Type, len(args))
	for i, x := range args {
		if x < 0 || int(x) >= len(v.f.Types) {
			return nil, fmt.Errorf("value %d out of range", x)
		}
		ts[i] = v.f.Types[x]
		if err := v.use(x, ts[i]); err != nil {
			return nil, err
		}
	}
	if len(results) != len(ts) {
		return nil, fmt.Errorf("%d results for %d carried values", len(results), len(ts))
	}
	return ts, nil
}

func (v *verifier) defineAll(xs []Value, ts []Type) error {
	for i, x := range xs {
		if err := v.define(x, ts[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) forStmt(s *Stmt) error {
	if len(s.Args) < 2 || len(s.Blocks) != 1 || s.Imm <= 0 {
		return fmt.Errorf("malformed")
	}
	if err := v.uses(s.Args[:2], []Type{TIx, TIx}); err != nil {
		return err
	}
	ts, err := v.carried(s.Args[2:], s.Results)
	if err != nil {
		return err
	}
	if err := v.block(s.Blocks[0], append([]Type{TIx}, ts...), ts); err != nil {
		return err
	}
	return v.defineAll(s.Results, ts)
}

func (v *verifier) while(s *Stmt) error {
	if len(s.Blocks) != 2 {
		return fmt.Errorf("malformed")
	}
	ts, err := v.carried(s.Args, s.Results)
	if err != nil {
		return err
	}
	if err := v.block(s.Blocks[0], ts, []Type{TI32}); err != nil {
		return err
	}
	if err := v.block(s.Blocks[1], ts, ts); err != nil {
		return err
	}
	return v.defineAll(s.Results, ts)
}

func (v *verifier) ifStmt(s *Stmt) error {
	if len(s.Blocks) != 2 {
		return fmt.Errorf("malformed")
	}
	if err := v.use(s.Args[0], TI32); err != nil {
		return err
	}
	ts := make([]Type, len(s.Results))
	for i, r := range s.Results {
		ts[i] = v.f.Types[r]
	}
	for _, b := range s.Blocks {
		if err := v.block(b, nil, ts); err != nil {
			return err
		}
	}
	return v.defineAll(s.Results, ts)
}
