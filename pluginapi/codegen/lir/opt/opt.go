// Package opt makes loop IR that was lowered node by node into what a person would
// have written: checks and clamps that ranges decide go, while loops that count
// become counted loops, values do not go through memory and back.
//
// What must hold: a function returns the same code as before and, where that is 0,
// leaves the same bytes in its outputs; Verify accepts what each pass leaves.
package opt

import "github.com/kera-lang/kera/pluginapi/codegen/lir"

// pass is one rewrite of a function.
type pass struct {
	name string
	run  func(f *lir.Func)
}

// passes run in this order. Ranges come three times: a carried value that turns out
// to be constant decides the loop's condition, which then only counts.
var passes = []pass{
	{"forward", forward},
	{"ranges", ranges},
	{"clean", lir.Optimise},
	{"ranges", ranges},
	{"clean", lir.Optimise},
	{"ranges", ranges},
	{"clean", lir.Optimise},
	{"forward", forward},
	{"dead stores", deadStores},
	{"clean", lir.Optimise},
}

// Run rewrites f in place.
func Run(f *lir.Func) {
	for _, p := range passes {
		p.run(f)
	}
}

// substitute replaces every use of a value v by rep[v], followed to its end.
func substitute(f *lir.Func, rep []lir.Value) {
	list := func(vs []lir.Value) {
		for i, v := range vs {
			vs[i] = final(rep, v)
		}
	}
	var block func(b *lir.Block)
	block = func(b *lir.Block) {
		for i := range b.Stmts {
			s := &b.Stmts[i]
			list(s.Args)
			if (s.Op == lir.Load || s.Op == lir.Store) && s.Addr.Index != lir.NoValue {
				s.Addr.Index = final(rep, s.Addr.Index)
			}
			for _, c := range s.Blocks {
				block(c)
			}
		}
		list(b.Yield)
	}
	block(f.Body)
}

func final(rep []lir.Value, v lir.Value) lir.Value {
	for int(v) < len(rep) && rep[v] != v {
		v = rep[v]
	}
	return v
}

func identity(n int) []lir.Value {
	out := make([]lir.Value, n)
	for i := range out {
		out[i] = lir.Value(i)
	}
	return out
}
