package build

import (
	"github.com/kera-lang/kera/frontend/check"
)

// What a walk needs to know of an expression before it makes a region of it.

// visit calls do for e and everything in it, in program order, until do says
// to leave a part out.
func visit(e check.Expr, do func(any) bool) {
	if e == nil || !do(e) {
		return
	}
	args := func(as []check.IndexArg) {
		for _, a := range as {
			visit(a.Lo, do)
			visit(a.Hi, do)
		}
	}
	switch e := e.(type) {
	case *check.Unary:
		visit(e.X, do)
	case *check.Binary:
		visit(e.X, do)
		visit(e.Y, do)
	case *check.Logic:
		visit(e.X, do)
		visit(e.Y, do)
	case *check.If:
		visit(e.Cond, do)
		visit(e.Then, do)
		visit(e.Else, do)
	case *check.Block:
		for _, s := range e.Stmts {
			if !do(s) {
				continue
			}
			switch s := s.(type) {
			case *check.Let:
				visit(s.Value, do)
			case *check.Assign:
				for _, p := range s.Path {
					args(p.Args)
				}
				visit(s.Value, do)
			case *check.Assert:
				visit(s.Cond, do)
			case *check.Eval:
				visit(s.X, do)
			}
		}
		visit(e.Tail, do)
	case *check.Call:
		for _, a := range e.Args {
			visit(a, do)
		}
	case *check.Prim:
		for _, a := range e.Args {
			visit(a, do)
		}
	case *check.Aggregate:
		for _, a := range e.Elems {
			visit(a, do)
		}
	case *check.FieldRef:
		visit(e.X, do)
	case *check.Array:
		for _, a := range e.Elems {
			visit(a, do)
		}
	case *check.Index:
		visit(e.X, do)
		args(e.Args)
	case *check.Broadcast:
		visit(e.X, do)
	case *check.Cast:
		visit(e.X, do)
	case *check.Binder:
		for _, v := range e.Vars {
			visit(v.Lo, do)
			visit(v.Hi, do)
		}
		visit(e.Body, do)
	case *check.For:
		visit(e.Lo, do)
		visit(e.Hi, do)
		visit(e.While, do)
		visit(e.Body, do)
	}
}

// assigned lists the variables of env that e assigns, in order of the first
// assignment.
func assigned(e check.Expr, env map[*check.Local]value) []*check.Local {
	var out []*check.Local
	seen := map[*check.Local]bool{}
	visit(e, func(n any) bool {
		if a, ok := n.(*check.Assign); ok && !seen[a.Local] {
			seen[a.Local] = true
			if _, outside := env[a.Local]; outside {
				out = append(out, a.Local)
			}
		}
		return true
	})
	return out
}

// smallSize bounds what is computed although it may not be asked.
const smallSize = 24

// small reports a scalar expression so cheap that computing it in vain costs
// less than a branch: no calls, loops, arrays or statements.
func small(e check.Expr) bool {
	n, ok := 0, true
	visit(e, func(x any) bool {
		n++
		switch x := x.(type) {
		case *check.Lit, *check.DimVal, *check.ConstRef, *check.LocalRef, *check.Unary, *check.Binary, *check.Logic,
			*check.FieldRef, *check.Cast, *check.Index, *check.Broadcast:
		case *check.If:
			ok = ok && x.Else != nil
		case *check.Block:
			ok = ok && len(x.Stmts) == 0 && x.Tail != nil
		case *check.Prim:
			ok = ok && x.T.IsScalar() && scalarPrims[x.Row.Name]
		default:
			ok = false
		}
		if t, isExpr := x.(check.Expr); isExpr && ok {
			switch x.(type) {
			case *check.LocalRef, *check.ConstRef, *check.FieldRef: // not computed
			default:
				ok = t.Type().IsScalar()
			}
		}
		ok = ok && n <= smallSize
		return ok
	})
	return ok
}

// scalarPrims are the builtins that cost one or two operations on scalars.
var scalarPrims = map[string]bool{
	"sqrt": true, "floor": true, "ceil": true, "trunc": true, "round_even": true, "abs": true, "popcnt": true,
	"clz": true, "ctz": true, "fma": true, "copysign": true, "clamp": true, "select": true, "min": true, "max": true, "bits": true,
}

// mayTrap reports whether e could have a check; it may be wrong only that way.
func mayTrap(e check.Expr) bool {
	found := false
	visit(e, func(x any) bool {
		switch x := x.(type) {
		case *check.Call, *check.Index, *check.Assert:
			found = true
		case *check.Assign:
			if x.Op != check.Invalid && x.T.DType.IsInt() {
				found = true
			}
			for _, p := range x.Path {
				found = found || p.Args != nil
			}
		case *check.Unary:
			found = found || x.Op == check.Neg && x.T.DType.IsInt()
		case *check.Binary:
			found = found || x.X.Type().DType.IsInt() && trapping[x.Op]
		case *check.Cast:
			found = found || x.T.DType.IsInt() && x.Mode == check.Trapping
		case *check.For:
			found = found || x.While != nil || x.LoDim == nil || x.HiDim == nil
		case *check.Prim:
			found = found || trapPrims[x.Row.Name] && len(x.Args) > 0 && x.Args[0].Type().DType.IsInt() || x.Row.Name == "gather"
		case *check.Binder:
			found = found || (x.Kind == check.Sum || x.Kind == check.Prod) && x.T.DType.IsInt()
		}
		return !found
	})
	return found
}

var trapping = map[check.Op]bool{
	check.Add: true, check.Sub: true, check.Mul: true, check.Div: true, check.Rem: true, check.Shl: true, check.Shr: true,
}

var trapPrims = map[string]bool{"abs": true, "sum": true, "prod": true, "matmul": true}
