package frontend

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// The integer operators of the source level against exact arithmetic: edge and
// random operands of every type, results and traps.

var intTypes = []types.DType{types.I8, types.I16, types.I32, types.I64, types.U8, types.U16, types.U32, types.U64}

func rangeOf(d types.DType) (lo, hi *big.Int) {
	lo, hi = new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(d.Bits()))
	if d.IsSigned() {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	return lo, hi.Sub(hi, big.NewInt(1))
}

func inRange(d types.DType, v *big.Int) bool {
	lo, hi := rangeOf(d)
	return v.Cmp(lo) >= 0 && v.Cmp(hi) <= 0
}

func wrapTo(d types.DType, v *big.Int) *big.Int {
	m := new(big.Int).Lsh(big.NewInt(1), uint(d.Bits()))
	r := new(big.Int).Mod(v, m)
	if _, hi := rangeOf(d); r.Cmp(hi) > 0 {
		r.Sub(r, m)
	}
	return r
}

func satTo(d types.DType, v *big.Int) *big.Int {
	lo, hi := rangeOf(d)
	if v.Cmp(lo) < 0 {
		return lo
	}
	if v.Cmp(hi) > 0 {
		return hi
	}
	return v
}

func toBits(d types.DType, v *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), 64)
	return new(big.Int).Mod(v, m).Uint64() & (1<<d.Bits() - 1)
}

func fromBits(d types.DType, b uint64) *big.Int {
	return wrapTo(d, new(big.Int).SetUint64(b))
}

// outcome is a value, or a trap with a nil value.
type outcome struct {
	v    *big.Int
	trap op.TrapKind
}

func exact(d types.DType, v *big.Int, k op.TrapKind) outcome {
	if inRange(d, v) {
		return outcome{v, 0}
	}
	return outcome{nil, k}
}

func bigOp(f func(z, x, y *big.Int) *big.Int) func(x, y *big.Int) *big.Int {
	return func(x, y *big.Int) *big.Int { return f(new(big.Int), x, y) }
}

// operators pairs source operators with their meaning.
func operators() map[string]func(d types.DType, x, y *big.Int) outcome {
	out := map[string]func(d types.DType, x, y *big.Int) outcome{}
	for sym, f := range map[string]func(x, y *big.Int) *big.Int{
		"+": bigOp((*big.Int).Add), "-": bigOp((*big.Int).Sub), "*": bigOp((*big.Int).Mul),
	} {
		out[sym] = func(d types.DType, x, y *big.Int) outcome { return exact(d, f(x, y), op.TrapOverflow) }
		out[sym+"%"] = func(d types.DType, x, y *big.Int) outcome { return outcome{wrapTo(d, f(x, y)), 0} }
		out[sym+"|"] = func(d types.DType, x, y *big.Int) outcome { return outcome{satTo(d, f(x, y)), 0} }
	}
	for sym, f := range map[string]func(x, y *big.Int) *big.Int{"/": bigOp((*big.Int).Quo), "%": bigOp((*big.Int).Rem)} {
		out[sym] = func(d types.DType, x, y *big.Int) outcome {
			if y.Sign() == 0 || !inRange(d, new(big.Int).Quo(x, y)) {
				return outcome{nil, op.TrapDivision}
			}
			return outcome{f(x, y), 0}
		}
	}
	for sym, f := range map[string]func(x *big.Int, n uint) *big.Int{
		"<<": func(x *big.Int, n uint) *big.Int { return new(big.Int).Lsh(x, n) },
		">>": func(x *big.Int, n uint) *big.Int { return new(big.Int).Rsh(x, n) },
	} {
		out[sym] = func(d types.DType, x, y *big.Int) outcome {
			if y.Sign() < 0 || y.Cmp(big.NewInt(int64(d.Bits()))) >= 0 {
				return outcome{nil, op.TrapOverflow}
			}
			return outcome{wrapTo(d, f(x, uint(y.Uint64()))), 0}
		}
	}
	for sym, f := range map[string]func(x, y *big.Int) *big.Int{"&": bigOp((*big.Int).And), "|": bigOp((*big.Int).Or), "^": bigOp((*big.Int).Xor)} {
		out[sym] = func(d types.DType, x, y *big.Int) outcome { return outcome{wrapTo(d, f(x, y)), 0} }
	}
	return out
}

// operands are edges of d and random values of all magnitudes.
func operandsOf(r *rand.Rand, d types.DType) []*big.Int {
	lo, hi := rangeOf(d)
	out := []*big.Int{lo, hi, big.NewInt(0), big.NewInt(1), big.NewInt(2), big.NewInt(7), new(big.Int).Sub(hi, big.NewInt(1)), new(big.Int).Rsh(hi, 1)}
	if d.IsSigned() {
		out = append(out, big.NewInt(-1), big.NewInt(-3), new(big.Int).Add(lo, big.NewInt(1)))
	}
	for range 6 {
		out = append(out, wrapTo(d, new(big.Int).SetUint64(r.Uint64()>>r.IntN(64))))
	}
	return out
}

func runScalar(t *testing.T, m *interp.Machine, g *graph.Graph, name string, to types.DType, args ...interp.Value) outcome {
	t.Helper()
	x, ok := g.Export(name)
	if !ok {
		t.Fatal("no entry " + name)
	}
	out, trap, err := m.Run(context.Background(), x, args)
	switch {
	case err != nil:
		t.Fatal(name, err)
	case trap != op.TrapNone:
		return outcome{nil, trap}
	}
	return outcome{fromBits(to, out[0].Bits(0)), 0}
}

func agree(a, b outcome) bool {
	if (a.v == nil) != (b.v == nil) || a.trap != b.trap {
		return false
	}
	return a.v == nil || a.v.Cmp(b.v) == 0
}

func TestIntegerOracle(t *testing.T) {
	ops := operators()
	var src strings.Builder
	entry := map[string]string{}
	for sym := range ops {
		entry[sym] = fmt.Sprintf("op%d", len(entry))
	}
	for _, d := range intTypes {
		for sym := range ops {
			fmt.Fprintf(&src, "pub fn %s_%s(x: %s, y: %s) -> %s { x %s y }\n", entry[sym], d, d, d, d, sym)
		}
		for _, e := range intTypes {
			fmt.Fprintf(&src, "pub fn cast_%s_%s(x: %s) -> %s { %s(x) }\n", d, e, d, e, e)
			fmt.Fprintf(&src, "pub fn wrap_%s_%s(x: %s) -> %s { %s.wrap(x) }\n", d, e, d, e, e)
			fmt.Fprintf(&src, "pub fn sat_%s_%s(x: %s) -> %s { %s.sat(x) }\n", d, e, d, e, e)
		}
		fmt.Fprintf(&src, "pub fn neg_%s(x: %s) -> %s { -x }\npub fn abs_%s(x: %s) -> %s { abs(x) }\n", d, d, d, d, d, d)
		fmt.Fprintf(&src, "pub fn sum_%s(x: %s[5]) -> %s { sum(x) }\npub fn prod_%s(x: %s[5]) -> %s { prod(x) }\n", d, d, d, d, d, d)
	}
	g := mustCompile(t, src.String(), Options{})
	m := interp.New(g.Store, interp.DefaultLimits())
	r := rand.New(rand.NewPCG(11, 12))
	fault := func(what string, d types.DType, got, want outcome, args ...*big.Int) {
		if !agree(got, want) {
			t.Errorf("%s on %s %v: %v, want %v", what, d, args, got, want)
		}
	}
	for _, d := range intTypes {
		val := func(v *big.Int) interp.Value { return interp.ScalarValue(d, toBits(d, v)) }
		xs := operandsOf(r, d)
		for _, x := range xs {
			for sym, f := range ops {
				for _, y := range xs {
					fault(sym, d, runScalar(t, m, g, entry[sym]+"_"+d.String(), d, val(x), val(y)), f(d, x, y), x, y)
				}
			}
			for _, e := range intTypes {
				suffix := d.String() + "_" + e.String()
				fault("cast to "+e.String(), d, runScalar(t, m, g, "cast_"+suffix, e, val(x)), exact(e, x, op.TrapCast), x)
				fault("wrap to "+e.String(), d, runScalar(t, m, g, "wrap_"+suffix, e, val(x)), outcome{wrapTo(e, x), 0}, x)
				fault("sat to "+e.String(), d, runScalar(t, m, g, "sat_"+suffix, e, val(x)), outcome{satTo(e, x), 0}, x)
			}
			fault("negation", d, runScalar(t, m, g, "neg_"+d.String(), d, val(x)), exact(d, new(big.Int).Neg(x), op.TrapOverflow), x)
			fault("abs", d, runScalar(t, m, g, "abs_"+d.String(), d, val(x)), exact(d, new(big.Int).Abs(x), op.TrapOverflow), x)
		}
		for range 200 {
			sum, prod := new(big.Int), big.NewInt(1)
			v := interp.Value{Type: types.Tensor(d, 5)}
			var args []*big.Int
			for range 5 {
				x := xs[r.IntN(len(xs))]
				if r.IntN(2) == 0 {
					x = wrapTo(d, big.NewInt(r.Int64N(9)-4))
				}
				args = append(args, x)
				sum.Add(sum, x)
				prod.Mul(prod, x)
				v.Data = append(v.Data, val(x).Data...)
			}
			fault("sum", d, runScalar(t, m, g, "sum_"+d.String(), d, v), exact(d, sum, op.TrapOverflow), args...)
			fault("prod", d, runScalar(t, m, g, "prod_"+d.String(), d, v), exact(d, prod, op.TrapOverflow), args...)
		}
	}
}

// TestMatmulOracle: integer products are exact or trap.
func TestMatmulOracle(t *testing.T) {
	var src strings.Builder
	kinds := []types.DType{types.I8, types.U8, types.I16, types.U16, types.I32, types.U32}
	for _, d := range kinds {
		fmt.Fprintf(&src, "pub fn mm_%s(x: %s[6], y: %s[6]) -> i64 { x @ y }\n", d, d, d)
	}
	g := mustCompile(t, src.String(), Options{})
	m := interp.New(g.Store, interp.DefaultLimits())
	r := rand.New(rand.NewPCG(13, 14))
	for _, d := range kinds {
		xs := operandsOf(r, d)
		for range 300 {
			vx, vy := interp.Value{Type: types.Tensor(d, 6)}, interp.Value{Type: types.Tensor(d, 6)}
			sum := new(big.Int)
			for range 6 {
				x, y := xs[r.IntN(len(xs))], xs[r.IntN(len(xs))]
				sum.Add(sum, new(big.Int).Mul(x, y))
				vx.Data = append(vx.Data, interp.ScalarValue(d, toBits(d, x)).Data...)
				vy.Data = append(vy.Data, interp.ScalarValue(d, toBits(d, y)).Data...)
			}
			got := runScalar(t, m, g, "mm_"+d.String(), types.I64, vx, vy)
			if want := exact(types.I64, sum, op.TrapOverflow); !agree(got, want) {
				t.Fatalf("%s: %v, want %v", d, got, want)
			}
		}
	}
}
