package isel

import (
	"context"
	"fmt"

	"github.com/kera-lang/kera/pluginapi/codegen/lir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/pipeline"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/regalloc"
	"github.com/kera-lang/kera/plugins/x86/asm"
)

// maxFrame bounds the stack of a function: half of what the runner and other
// callers have at least.
const maxFrame = 4 << 20

// Options of Compile.
type Options struct {
	// Check verifies every register allocation symbolically.
	Check bool
	// Dump, if not nil, is called with each function's machine IR.
	Dump func(name string, virtual, allocated *mir.Func)
}

// Code is a compiled module: functions and constants in one block.
type Code struct {
	Bytes   []byte
	Text    int            // bytes of instructions; constants follow
	Offsets []int          // of each function
	Nodes   []asm.CodeNode // code offsets to graph nodes; -1 is glue
	Reports []*regalloc.Report
}

// Compile compiles a module for the level.
func (l *Level) Compile(ctx context.Context, m *lir.Module, o Options) (*Code, error) {
	l.prepare()
	buf := asm.NewBuffer()
	pool := make([]asm.Label, len(m.Consts))
	for i, c := range m.Consts {
		if len(c) == 0 {
			c = []byte{0}
		}
		pool[i] = buf.Aligned(c, 64)
	}
	out := &Code{}
	var starts []asm.Label
	for _, f := range m.Funcs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := lir.Verify(f); err != nil {
			return nil, fmt.Errorf("x86: %w", err)
		}
		virtual, err := l.lower(f, buf, pool)
		if err != nil {
			return nil, fmt.Errorf("x86: %s: %w", f.Name, err)
		}
		alloc, rep, err := pipeline.Run(ctx, virtual, pipeline.Options{Check: o.Check})
		if err != nil {
			return nil, fmt.Errorf("x86: %s: %w", f.Name, err)
		}
		if alloc.FrameSize > maxFrame {
			return nil, fmt.Errorf("x86: %s needs %d bytes of stack, more than %d", f.Name, alloc.FrameSize, maxFrame)
		}
		if o.Dump != nil {
			o.Dump(f.Name, virtual, alloc)
		}
		buf.Align(64)
		start := buf.NewLabel()
		buf.Bind(start)
		starts = append(starts, start)
		l.emitFunc(alloc, buf)
		out.Reports = append(out.Reports, rep)
	}
	code := buf.Finish()
	out.Bytes, out.Text, out.Nodes = code.Bytes, code.Text, code.Nodes
	for _, s := range starts {
		out.Offsets = append(out.Offsets, code.Offset(s))
	}
	return out, nil
}

// Target describes the level to the loop plan.
func (l *Level) Target() *lir.Target {
	t := &lir.Target{Name: "x86-64-" + l.Name, VecBytes: l.VecBytes, MatmulRows: 6, MatmulVecs: 2, MatvecRows: 12, Vec: l.hasVec}
	if l.Masks {
		t.MatmulRows = 14
	}
	return t
}

// hasVec reports which vector forms the level has.
func (l *Level) hasVec(o lir.Op, e, from lir.Elem, lanes int) bool {
	if !lir.Defined(o, e, true) {
		return false
	}
	if e == lir.I8 || e == lir.I16 || from == lir.I8 || from == lir.I16 || laneOps[o] {
		return l.hasNarrow(o, e, from, lanes)
	}
	l.prepare()
	w := lanes * e.Size()
	half := func(n int) bool { return n == l.VecBytes || n == l.VecBytes/2 }
	if !half(w) || from != lir.None && !half(lanes*from.Size()) {
		return false
	}
	switch o {
	case lir.Mul:
		return e == lir.I32 || l.Masks
	case lir.ShrS:
		return e == lir.I32 || l.Masks
	case lir.SToF, lir.UToF, lir.FToS, lir.FToU:
		_, ok := l.vecConvert(o, from, e, lanes)
		if o == lir.FToS && from.Size() != e.Size() && !l.Masks {
			return false // the saturation mask would have to change its width
		}
		return ok
	case lir.Promote:
		return w == l.VecBytes
	case lir.Demote:
		return w == l.VecBytes/2
	}
	return true
}
