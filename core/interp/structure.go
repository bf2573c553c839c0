package interp

import (
	"math"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

func compileConst(m *Machine, n *node) (exec, error) {
	b, err := m.s.ConstBytes(n.id)
	if err != nil {
		return nil, err
	}
	v := toVal(Value{Type: n.out[0], Data: b})
	o := n.o
	return func(_ *run, fr []val) error {
		fr[o] = v
		return nil
	}, nil
}

func compileTuple(_ *Machine, n *node) (exec, error) {
	ins, o := n.ins, n.o
	return func(_ *run, fr []val) error {
		t := make([]val, len(ins))
		for i, s := range ins {
			t[i] = fr[s]
		}
		fr[o].tup = t
		return nil
	}, nil
}

func compileGet(_ *Machine, n *node) (exec, error) {
	i, a, o := n.attrs.Int(op.KIndex), n.ins[0], n.o
	return func(_ *run, fr []val) error {
		fr[o] = fr[a].tup[i]
		return nil
	}, nil
}

func compileTrapIf(_ *Machine, n *node) (exec, error) {
	code, a, o := uint64(n.attrs.Int(op.KKind)), n.ins[0], n.o
	return func(_ *run, fr []val) error {
		fr[o].bits = 0
		if fr[a].bits != 0 {
			fr[o].bits = code
		}
		return nil
	}, nil
}

func compileTrapJoin(_ *Machine, n *node) (exec, error) {
	a, b, o := n.ins[0], n.ins[1], n.o
	return func(_ *run, fr []val) error {
		x := fr[a].bits
		if x == 0 {
			x = fr[b].bits
		}
		fr[o].bits = x
		return nil
	}, nil
}

// compileCall serves call and fusion: a fusion changes no meaning.
func compileCall(m *Machine, n *node) (exec, error) {
	p, err := m.planOf(planKey{region: n.regions[0], varying: len(n.ins)})
	if err != nil {
		return nil, err
	}
	return invoke(p, n.ins, n.o), nil
}

// invoke runs p on the values of slots ins; the results go to slots from o on.
func invoke(p *plan, ins []int32, o int32) exec {
	return func(r *run, fr []val) error {
		return r.call(p, func(inner []val) {
			for i, s := range ins {
				if d := p.params[i]; d >= 0 {
					inner[d] = fr[s]
				}
			}
		}, fr[o:int(o)+len(p.results)])
	}
}

func compileSwitch(m *Machine, n *node) (exec, error) {
	arms := make([]exec, len(n.regions))
	for i, r := range n.regions {
		p, err := m.planOf(planKey{region: r, varying: len(n.ins) - 1})
		if err != nil {
			return nil, err
		}
		arms[i] = invoke(p, n.ins[1:], n.o)
	}
	pick := armOf(n.in[0].DType, len(arms))
	sel := n.ins[0]
	return func(r *run, fr []val) error { return arms[pick(fr[sel].bits)](r, fr) }, nil
}

// armOf gives the arm of a selector's bits: the last for any that is out of
// range. A bool selects 0 or 1; a negative integer is out of range.
func armOf(d types.DType, n int) func(bits uint64) int {
	return func(bits uint64) int {
		i := indexOf(d, bits)
		if i < 0 || i >= int64(n) {
			return n - 1
		}
		return int(i)
	}
}

// indexOf reads integer bits as an int64, u64 values above its range as the
// greatest int64.
func indexOf(d types.DType, bits uint64) int64 {
	if d.IsSigned() {
		w := uint(64 - d.Bits())
		return int64(bits<<w) >> w
	}
	return int64(min(bits, math.MaxInt64))
}

// compileLoop: while the trip number is below the bound and the condition
// holds, carried = body(trip, carried, invariants).
func compileLoop(m *Machine, n *node) (exec, error) {
	carried := int(n.attrs.Int(op.KCarried))
	var ps [2]*plan
	for i := range ps {
		// Plans of the loop's own: it holds both frames while either region runs,
		// and what runs in one may use the other's region for a loop of its own.
		p, err := m.build(planKey{region: n.regions[i], varying: 1 + carried})
		if err != nil {
			return nil, err
		}
		ps[i] = p
	}
	cond, body := ps[0], ps[1]
	extra := bytesOf(n.in[1 : 1+carried])
	ins, o := n.ins, n.o
	return func(r *run, fr []val) error {
		if err := r.reserve(extra); err != nil {
			return err
		}
		defer r.release(extra)
		cf, err := r.enter(cond)
		if err != nil {
			return err
		}
		defer r.leave(cond)
		bf, err := r.enter(body)
		if err != nil {
			return err
		}
		defer r.leave(body)
		state := make([]val, carried)
		for i := range state {
			state[i] = fr[ins[1+i]]
		}
		for _, s := range [2]struct {
			p *plan
			f []val
		}{{cond, cf}, {body, bf}} {
			for i, a := range ins[1+carried:] {
				if d := s.p.params[1+carried+i]; d >= 0 {
					s.f[d] = fr[a]
				}
			}
		}
		bound, trip := int64(fr[ins[0]].bits), int64(0)
		if bound > 0 {
			if err := r.do(cond.once, cf); err != nil {
				return err
			}
		}
		for ; trip < bound; trip++ {
			cond.setTrip(cf, trip)
			cond.setParams(cf, 1, state)
			if err := r.do(cond.each, cf); err != nil {
				return err
			}
			if cf[cond.results[0]].bits == 0 {
				break
			}
			if trip == 0 {
				if err := r.do(body.once, bf); err != nil {
					return err
				}
			}
			body.setTrip(bf, trip)
			body.setParams(bf, 1, state)
			if err := r.do(body.each, bf); err != nil {
				return err
			}
			for i, s := range body.results {
				state[i] = bf[s]
			}
			body.warm = true
			if err := r.spend(1); err != nil {
				return err
			}
		}
		for i, v := range state {
			fr[int(o)+i] = v
		}
		fr[int(o)+carried].bits = uint64(trip)
		return nil
	}, nil
}

// compileMap evaluates the region at every index in row-major order and stacks
// the results; with traps the last result is joined instead.
func compileMap(m *Machine, n *node) (exec, error) {
	dims := n.attrs.Ints(op.KDims)
	p, err := m.planOf(planKey{region: n.regions[0], varying: len(dims)})
	if err != nil {
		return nil, err
	}
	count := product(dims)
	stacked := len(n.out)
	traps := n.attrs.Int(op.KTraps) == 1
	if traps {
		stacked--
	}
	ts := m.s.ResultTypes(n.regions[0])
	ins, o, outs := n.ins, n.o, n.out
	return func(r *run, fr []val) error {
		for i := range stacked {
			fr[int(o)+i] = val{}
			if outs[i].Rank() > 0 {
				fr[int(o)+i].buf = make([]byte, outs[i].NumBytes())
			}
		}
		if traps {
			fr[int(o)+stacked].bits = 0
		}
		if count == 0 {
			return nil
		}
		inner, err := r.enter(p)
		if err != nil {
			return err
		}
		defer r.leave(p)
		for i, s := range ins {
			if d := p.params[len(dims)+i]; d >= 0 {
				inner[d] = fr[s]
			}
		}
		if err := r.do(p.once, inner); err != nil {
			return err
		}
		index := make([]int64, len(dims))
		for at := range count {
			for k, i := range index {
				if d := p.params[k]; d >= 0 {
					inner[d].bits = uint64(i)
				}
			}
			if err := r.do(p.each, inner); err != nil {
				return err
			}
			for i := range stacked {
				place(&fr[int(o)+i], outs[i], ts[i], int(at), inner[p.results[i]])
			}
			if t := int(o) + stacked; traps && fr[t].bits == 0 {
				fr[t].bits = inner[p.results[stacked]].bits
			}
			next(index, dims)
			if err := r.spend(1); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// place writes a map's result at row-major position at of its output.
func place(dst *val, out, t types.Type, at int, v val) {
	switch {
	case out.Rank() == 0:
		dst.bits = v.bits
	case t.Rank() == 0:
		putBits(dst.buf, t.DType.Size(), at, v.bits)
	default:
		copy(dst.buf[at*len(v.buf):], v.buf)
	}
}

// next advances a row-major index.
func next(index, dims []int64) {
	for k := len(index) - 1; k >= 0; k-- {
		if index[k]++; index[k] < dims[k] {
			return
		}
		index[k] = 0
	}
}
