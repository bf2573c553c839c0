package interp

import (
	"fmt"

	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Tensors are computed a block at a time: operands are unpacked to scalar bits,
// the scalar function runs, the results are packed.
const blockLen = 512

func elem1(o numeric.Op) compiler {
	return func(_ *Machine, n *node) (exec, error) { return mapUnary(n, numeric.UnaryOf(o, n.in[0].DType)) }
}

func elem2(o numeric.Op) compiler {
	return func(_ *Machine, n *node) (exec, error) { return mapBinary(n, numeric.BinaryOf(o, n.in[0].DType)) }
}

func noSuch(n *node) error { return fmt.Errorf("%v does not take %v", n.op, n.in[0].DType) }

func mapUnary(n *node, f numeric.Unary) (exec, error) {
	if f == nil {
		return nil, noSuch(n)
	}
	a, o := n.ins[0], n.o
	if n.out[0].Rank() == 0 {
		return func(_ *run, fr []val) error {
			fr[o].bits = f(fr[a].bits)
			return nil
		}, nil
	}
	count, sa, so := int(n.out[0].NumElems()), n.in[0].DType.Size(), n.out[0].DType.Size()
	return func(_ *run, fr []val) error {
		x, out := fr[a].buf, make([]byte, count*so)
		var block [blockLen]uint64
		for i := 0; i < count; i += blockLen {
			b := block[:min(blockLen, count-i)]
			loadBits(b, x, sa, i)
			for k, v := range b {
				b[k] = f(v)
			}
			storeBits(out, so, i, b)
		}
		fr[o].buf = out
		return nil
	}, nil
}

func mapBinary(n *node, f numeric.Binary) (exec, error) {
	if f == nil {
		return nil, noSuch(n)
	}
	a, b, o := n.ins[0], n.ins[1], n.o
	if n.out[0].Rank() == 0 {
		return func(_ *run, fr []val) error {
			fr[o].bits = f(fr[a].bits, fr[b].bits)
			return nil
		}, nil
	}
	count, si, so := int(n.out[0].NumElems()), n.in[0].DType.Size(), n.out[0].DType.Size()
	return func(_ *run, fr []val) error {
		x, y, out := fr[a].buf, fr[b].buf, make([]byte, count*so)
		var bx, by [blockLen]uint64
		for i := 0; i < count; i += blockLen {
			k := min(blockLen, count-i)
			p, q := bx[:k], by[:k]
			loadBits(p, x, si, i)
			loadBits(q, y, si, i)
			for j, v := range p {
				p[j] = f(v, q[j])
			}
			storeBits(out, so, i, p)
		}
		fr[o].buf = out
		return nil
	}, nil
}

func compileFMA(_ *Machine, n *node) (exec, error) {
	f := numeric.TernaryOf(numeric.FMA, n.in[0].DType)
	if f == nil {
		return nil, noSuch(n)
	}
	a, b, c, o := n.ins[0], n.ins[1], n.ins[2], n.o
	if n.out[0].Rank() == 0 {
		return func(_ *run, fr []val) error {
			fr[o].bits = f(fr[a].bits, fr[b].bits, fr[c].bits)
			return nil
		}, nil
	}
	count, size := int(n.out[0].NumElems()), n.out[0].DType.Size()
	return func(_ *run, fr []val) error {
		x, y, z, out := fr[a].buf, fr[b].buf, fr[c].buf, make([]byte, count*size)
		for i := range count {
			putBits(out, size, i, f(getBits(x, size, i), getBits(y, size, i), getBits(z, size, i)))
		}
		fr[o].buf = out
		return nil
	}, nil
}

// predOf maps the graph's comparisons to numeric's.
var predOf = [op.NumCompareKinds]numeric.Pred{
	op.EQ: numeric.EQ, op.NE: numeric.NE, op.LT: numeric.LT,
	op.LE: numeric.LE, op.GT: numeric.GT, op.GE: numeric.GE,
}

func compileCompare(_ *Machine, n *node) (exec, error) {
	k := n.attrs.Int(op.KKind)
	if k < 0 || k >= int64(op.NumCompareKinds) {
		return nil, fmt.Errorf("unknown comparison %d", k)
	}
	total := op.Order(n.attrs.Int(op.KOrder)) == op.Total
	return mapBinary(n, numeric.CompareOf(predOf[k], total, n.in[0].DType))
}

func compileConvert(_ *Machine, n *node) (exec, error) {
	return mapUnary(n, numeric.ConvertOf(n.in[0].DType, n.out[0].DType))
}

func compileBitcast(_ *Machine, n *node) (exec, error) {
	return mapUnary(n, numeric.BitcastOf(n.in[0].DType, n.out[0].DType))
}

func compileConvertOverflow(_ *Machine, n *node) (exec, error) {
	return mapUnary(n, numeric.ConvertOvfOf(n.in[0].DType, types.DType(n.attrs.Int(op.KTo))))
}

func compileSelect(_ *Machine, n *node) (exec, error) {
	c, a, b, o := n.ins[0], n.ins[1], n.ins[2], n.o
	if n.out[0].Rank() == 0 {
		return func(_ *run, fr []val) error {
			if fr[c].bits != 0 {
				fr[o].bits = fr[a].bits
			} else {
				fr[o].bits = fr[b].bits
			}
			return nil
		}, nil
	}
	count, size := int(n.out[0].NumElems()), n.out[0].DType.Size()
	return func(_ *run, fr []val) error {
		cond, x, y, out := fr[c].buf, fr[a].buf, fr[b].buf, make([]byte, count*size)
		for i := range count {
			src := y
			if cond[i] != 0 {
				src = x
			}
			putBits(out, size, i, getBits(src, size, i))
		}
		fr[o].buf = out
		return nil
	}, nil
}
