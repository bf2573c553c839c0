package mir_test

import (
	"strings"
	"testing"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/internal/toy"
)

func TestVerifyRejects(t *testing.T) {
	tg := toy.New(6, 4, 2)
	build := func() (*mir.Builder, mir.Reg) {
		b := mir.NewBuilder(tg, "f", toy.R(0))
		return b, b.Params(0)[0]
	}
	cases := []struct {
		name, want string
		make       func() (*mir.Func, error)
	}{
		{"open block", "no terminator", func() (*mir.Func, error) {
			b, _ := build()
			return b.Finish()
		}},
		{"block never filled", "laid out 0 times", func() (*mir.Func, error) {
			b, p := build()
			b.Block()
			b.Ret(0, toy.Ret, p)
			return b.Finish()
		}},
		{"use before definition", "not dominated", func() (*mir.Func, error) {
			b, p := build()
			l, r, join := b.Block(), b.Block(), b.Block()
			b.Branch(0, toy.Br, mir.Args{Uses: []mir.Reg{p, p}}, mir.To(l), mir.To(r))
			b.Start(l)
			v := b.OpImm(0, toy.Const, 1)
			b.Jump(0, join)
			b.Start(r)
			b.Jump(0, join)
			b.Start(join)
			b.Ret(0, toy.Ret, v)
			return b.Finish()
		}},
		{"two definitions", "defined twice", func() (*mir.Func, error) {
			b, p := build()
			v := b.OpImm(0, toy.Const, 1)
			b.OpImm(0, toy.Const, 2)
			b.Ret(0, toy.Ret, p)
			b.F.Regs[1] = v
			return b.Finish()
		}},
		{"terminator in the middle", "terminator not at the end", func() (*mir.Func, error) {
			b, p := build()
			b.OpImm(0, toy.Const, 1)
			b.Ret(0, toy.Ret, p)
			b.F.Insts[0].Op = toy.Jump
			return b.Finish()
		}},
		{"wrong class", "no virtual register of its class", func() (*mir.Func, error) {
			b, p := build()
			v := b.OpImm(0, toy.VSet, 1)
			b.Op(0, toy.Add, p, p)
			b.Ret(0, toy.Ret, p)
			b.F.InstRegs(1)[1] = v
			return b.Finish()
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.make()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestBuilderPanics(t *testing.T) {
	tg := toy.New(6, 4, 2)
	for name, misuse := range map[string]func(b *mir.Builder, p mir.Reg){
		"too few uses":         func(b *mir.Builder, p mir.Reg) { b.Op(0, toy.Add, p) },
		"too many uses":        func(b *mir.Builder, p mir.Reg) { b.Op(0, toy.Add, p, p, p) },
		"wrong class":          func(b *mir.Builder, p mir.Reg) { b.Op(0, toy.VGet, p) },
		"address not taken":    func(b *mir.Builder, p mir.Reg) { b.OpMem(0, toy.Const, mir.Addr{Base: p}) },
		"terminator as op":     func(b *mir.Builder, p mir.Reg) { b.Op(0, toy.Ret, p) },
		"argument count":       func(b *mir.Builder, p mir.Reg) { b.Jump(0, b.Block(toy.GP)) },
		"block started inside": func(b *mir.Builder, p mir.Reg) { b.Start(b.Block()) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "BUG: mir") {
					t.Errorf("got %q", s)
				}
			}()
			b := mir.NewBuilder(tg, "f", toy.R(0))
			misuse(b, b.Params(0)[0])
		})
	}
}

// TestLoops finds nested loops, their depths and parents.
func TestLoops(t *testing.T) {
	tg := toy.New(6, 4, 2)
	b := mir.NewBuilder(tg, "nest", toy.R(0))
	p := b.Params(0)[0]
	cond := mir.Args{Uses: []mir.Reg{p, p}}
	outer, inner, latch, exit := b.Block(), b.Block(), b.Block(), b.Block()
	b.Jump(0, outer)
	b.Start(outer)
	b.Jump(0, inner)
	b.Start(inner)
	b.Branch(0, toy.Br, cond, mir.To(inner), mir.To(latch))
	b.Start(latch)
	b.Branch(0, toy.Br, cond, mir.To(outer), mir.To(exit))
	b.Start(exit)
	b.Ret(0, toy.Ret, p)
	f, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	c := mir.BuildCFG(f)
	want := map[mir.Block]int32{0: 0, outer: 1, inner: 2, latch: 1, exit: 0}
	for blk, d := range want {
		if c.Depth(blk) != d {
			t.Errorf("b%d: depth %d, want %d", blk, c.Depth(blk), d)
		}
	}
	if len(c.Loops) != 2 || c.Loops[1].Parent != 0 || !c.IsHeader(inner) || c.IsHeader(latch) || !c.Dominates(outer, exit) {
		t.Errorf("loops %+v", c.Loops)
	}
}

func TestTargetCheck(t *testing.T) {
	for name, spoil := range map[string]func(tg *mir.Target){
		"remat with a use":     func(tg *mir.Target) { tg.Descs[toy.VGet].Remat = true },
		"reuse of nothing":     func(tg *mir.Target) { tg.Descs[toy.Add].Operands[0].Reuse = 9 },
		"fixed, other class":   func(tg *mir.Target) { tg.Descs[toy.Ret].Operands[0].Reg = toy.X(0) },
		"no swap":              func(tg *mir.Target) { tg.Classes[toy.Vec].Swap = 0 },
		"move writes flags":    func(tg *mir.Target) { tg.Descs[toy.Move].ResDef = 1; tg.Descs[toy.Br].ResUse = 1 },
		"foreign register":     func(tg *mir.Target) { tg.Classes[toy.GP].Allocatable[0] = toy.X(0) },
		"nameless instruction": func(tg *mir.Target) { tg.Descs[toy.Mul].Name = "" },
	} {
		t.Run(name, func(t *testing.T) {
			tg := toy.New(6, 4, 2)
			spoil(tg)
			if tg.Check() == nil {
				t.Error("accepted")
			}
		})
	}
}
