package lower

import "github.com/kera-lang/kera/pluginapi/codegen/lir"

// notNegative lists the indices that cannot be negative. An access has
// Index*Scale + Disp in its buffer, yet Index alone may lie below it (a reversed
// walk is -i, its start the displacement). The offset of a wasm access is added
// without wrapping, so it may complete only an address that is none below zero:
// for the others the displacement is added by an instruction of its own.
func notNegative(f *lir.Func) map[lir.Value]bool {
	ok := map[lir.Value]bool{}
	if f.Tile != lir.NoValue {
		ok[f.Tile] = true
	}
	lir.Walk(f.Body, func(s *lir.Stmt) {
		all := func() bool {
			for _, a := range s.Args {
				if !ok[a] {
					return false
				}
			}
			return true
		}
		switch s.Op {
		case lir.For:
			// The trips count up from lo.
			ok[s.Blocks[0].Params[0]] = ok[s.Args[0]]
		case lir.Const:
			ok[s.Results[0]] = s.Type.Elem == lir.Ix && s.Imm >= 0
		case lir.I64ToIx, lir.I32ToIxU, lir.ShrU, lir.DivU, lir.RemU:
			// What becomes an index has been clamped into its range.
			ok[s.Results[0]] = s.Type.Elem == lir.Ix && (s.Op != lir.ShrU && s.Op != lir.DivU && s.Op != lir.RemU || all())
		case lir.Add, lir.Mul, lir.And:
			ok[s.Results[0]] = s.Type.Elem == lir.Ix && all()
		case lir.Select:
			ok[s.Results[0]] = s.Type.Elem == lir.Ix && ok[s.Args[1]] && ok[s.Args[2]]
		}
	})
	return ok
}
