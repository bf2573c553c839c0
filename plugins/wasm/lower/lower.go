// Package lower turns the loop IR into a WebAssembly module with simd128.
//
// Values become locals; an operation with one use in its own block is not
// stored but emitted where it is used, so straight code folds into stack code
// (the reverse of what an engine's decoder does). Locals are reused by type
// once their last use is behind; a value that a loop reads stays until the loop
// ends. Addresses that several accesses of a block share are computed once.
//
// What must hold: only pure operations move, and only later within their block;
// loads and stores keep their order; the code of every node is marked with it;
// the same IR gives the same bytes.
package lower

import (
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/plugins/wasm/fma"
	"github.com/kera-lang/kera/plugins/wasm/wenc"
)

const (
	pageSize   = 1 << 16
	constAlign = 64
	maxData    = 1 << 30 // bytes of constants in one module
)

// Code is a compiled module. Marks tell the node of every byte of code, as the
// index that the IR's statements carry, or wenc.NoNode.
type Code struct {
	Bytes []byte
	Marks []wenc.Mark
}

// mulHi is the high word of the 128-bit product.
const mulHi = `
(func $mulhi_u (param $a i64) (param $b i64) (result i64) (local $t i64) (local $u i64)
  (local.set $t
    (i64.add
      (i64.mul (i64.shr_u (local.get $a) (i64.const 32)) (i64.and (local.get $b) (i64.const 0xffffffff)))
      (i64.shr_u
        (i64.mul (i64.and (local.get $a) (i64.const 0xffffffff)) (i64.and (local.get $b) (i64.const 0xffffffff)))
        (i64.const 32))))
  (local.set $u
    (i64.add
      (i64.mul (i64.and (local.get $a) (i64.const 0xffffffff)) (i64.shr_u (local.get $b) (i64.const 32)))
      (i64.and (local.get $t) (i64.const 0xffffffff))))
  (i64.add
    (i64.mul (i64.shr_u (local.get $a) (i64.const 32)) (i64.shr_u (local.get $b) (i64.const 32)))
    (i64.add (i64.shr_u (local.get $t) (i64.const 32)) (i64.shr_u (local.get $u) (i64.const 32)))))

(func $mulhi_s (param $a i64) (param $b i64) (result i64)
  (i64.sub
    (call $mulhi_u (local.get $a) (local.get $b))
    (i64.add
      (i64.and (i64.shr_s (local.get $a) (i64.const 63)) (local.get $b))
      (i64.and (i64.shr_s (local.get $b) (i64.const 63)) (local.get $a)))))
`

// helpers are the function indices of what simd128 lacks.
type helpers struct {
	fma            [fma.NumKinds]uint32
	mulHiS, mulHiU uint32
}

// gen is a module under construction.
type gen struct {
	w      *wenc.Module
	h      helpers
	consts []uint32 // addresses
	makers [lir.NumOps]maker
	v      []state // of the function being compiled
	// limits of split.go
	above, size int
}

// Module compiles the functions of m, each exported under its name.
func Module(x *wenc.Index, m *lir.Module) (*Code, error) {
	return compile(x, m, splitAbove, partSize)
}

func compile(x *wenc.Index, m *lir.Module, above, size int) (*Code, error) {
	w := wenc.NewModule(x)
	addrs, end, err := placeConsts(m.Consts)
	if err != nil {
		return nil, err
	}
	for i, c := range m.Consts {
		if len(c) > 0 {
			w.Data(addrs[i], c)
		}
	}
	w.Memory(max(1, uint32((end+pageSize-1)/pageSize)), 0)
	w.ExportMemory("memory")
	helpers := addHelpers(w, m.Funcs)
	g := &gen{w: w, h: helpers, consts: addrs, makers: makers(), above: above, size: size}
	seen := map[string]bool{}
	for _, f := range m.Funcs {
		if err := lir.Verify(f); err != nil {
			panic("BUG: " + err.Error())
		}
		if seen[f.Name] {
			panic("BUG: lower: two functions named " + f.Name)
		}
		seen[f.Name] = true
		g.phase(f)
	}
	b, marks := w.Encode()
	return &Code{b, marks}, nil
}

// placeConsts gives each constant an address in the module's own data.
func placeConsts(consts [][]byte) ([]uint32, uint64, error) {
	addrs := make([]uint32, len(consts))
	at := uint64(constAlign) // nothing lives at address 0
	for i, c := range consts {
		addrs[i] = uint32(at)
		at = (at + uint64(len(c)) + constAlign - 1) &^ (constAlign - 1)
		if at > maxData {
			return nil, 0, fmt.Errorf("constants of more than %d bytes", uint64(maxData))
		}
	}
	return addrs, at, nil
}

// addHelpers adds the functions that the IR's operations will call.
func addHelpers(w *wenc.Module, funcs []*lir.Func) helpers {
	var used [fma.NumKinds]bool
	mulS, mulU := false, false
	for _, f := range funcs {
		eachStmt(f.Body, func(s *lir.Stmt) {
			switch s.Op {
			case lir.FMA:
				used[fmaKind(s.Type)] = true
			case lir.MulHiS:
				mulS = true
			case lir.MulHiU:
				mulU = true
			}
		})
	}
	var kinds []fma.Kind
	for k, u := range used {
		if u {
			kinds = append(kinds, fma.Kind(k))
		}
	}
	h := helpers{fma: fma.Add(w, kinds...)}
	if mulS || mulU {
		roots := []string{"$mulhi_u"}
		if mulS {
			roots = append(roots, "$mulhi_s")
		}
		idx := w.Assemble(mulHi, roots...)
		h.mulHiU, h.mulHiS = idx["$mulhi_u"], idx["$mulhi_s"]
	}
	return h
}

func fmaKind(t lir.Type) fma.Kind {
	switch {
	case inlineFMA(t):
		return fma.OddSumF64x2
	case t.Elem == lir.F32 && t.IsVec():
		return fma.F32x4
	case t.Elem == lir.F64 && t.IsVec():
		return fma.F64x2
	case t.Elem == lir.F32:
		return fma.F32
	}
	return fma.F64
}

func eachStmt(b *lir.Block, visit func(*lir.Stmt)) {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		visit(s)
		for _, n := range s.Blocks {
			eachStmt(n, visit)
		}
	}
}

// Target describes simd128 to the loop plan. Every vector form exists: those
// that no instruction computes go lane by lane.
func Target() lir.Target {
	return lir.Target{
		Name:       "wasm32 simd128",
		VecBytes:   16,
		MatmulRows: 4, MatmulVecs: 2,
		Vec: func(o lir.Op, e, from lir.Elem, lanes int) bool {
			if narrow(o, e, from) {
				return hasNarrow(o, e, from, lanes)
			}
			return lanes > 1 && lanes*max(e.Size(), 4) <= 16 && lir.Defined(o, e, true) && !unsafeVec(o, e)
		},
	}
}

// unsafeVec names vector forms that exist but are not used. wazero 1.12 has
// compiled i64x2.mul, a sequence of ten instructions there, to a wrong product
// when many vectors were live; its own interpreter and V8 agreed with us. Two
// scalar products cost about as much as its three pmuludq. TestPinnedPrograms
// keeps the program that showed it; see also selectFloat.
func unsafeVec(o lir.Op, e lir.Elem) bool { return o == lir.Mul && e == lir.I64 }
