package wenc

import (
	"fmt"
	"math"
)

// NoNode marks instructions that belong to no graph node: prologues, helpers.
const NoNode int32 = -1

// Mark says that the code from Offset up to the next mark belongs to Node.
// Offsets count from the first byte of the module, as in V8's stack traces.
type Mark struct {
	Offset uint32
	Node   int32
}

// Func is one function under construction. Instructions are appended in order;
// block, loop and if open a level that End closes, and labels are absolute
// levels (Level) that Br turns into relative depths.
type Func struct {
	name    string
	typ     uint32
	params  []ValType
	results []ValType
	x       *Index
	code    []byte
	locals  []ValType // after the parameters
	free    map[ValType][]uint32
	isFree  map[uint32]bool
	names   map[uint32]string
	level   int
	node    int32
	marks   []Mark
}

// Name is the name under which the function appears in the name section.
func (f *Func) Name() string { return f.name }

// At sets the graph node of the instructions that follow.
func (f *Func) At(node int32) { f.node = node }

// Local returns a local of type t: one given back by Free, else a new one.
// Its content is undefined unless it is new, so callers write before reading.
func (f *Func) Local(t ValType) uint32 {
	if l := f.free[t]; len(l) > 0 {
		f.free[t] = l[:len(l)-1]
		delete(f.isFree, l[len(l)-1])
		return l[len(l)-1]
	}
	f.locals = append(f.locals, t)
	return uint32(len(f.params) + len(f.locals) - 1)
}

// Free gives a local back for reuse.
func (f *Func) Free(l uint32) {
	if f.isFree[l] {
		panic(fmt.Sprintf("BUG: wenc: local %d of %s freed twice", l, f.name))
	}
	f.isFree[l] = true
	t := f.LocalType(l)
	f.free[t] = append(f.free[t], l)
}

// LocalType is the type of a local or parameter.
func (f *Func) LocalType(l uint32) ValType {
	if int(l) < len(f.params) {
		return f.params[l]
	}
	return f.locals[int(l)-len(f.params)]
}

// Level is the label of the innermost open block; 0 is the function itself.
func (f *Func) Level() int { return f.level }

// I appends the named instruction with its immediates (see ImmKind).
func (f *Func) I(name string, imm ...uint64) {
	in := f.x.Find(name)
	if in == nil {
		panic("BUG: wenc: no instruction named " + name)
	}
	f.Emit(in, imm...)
}

// Emit appends an instruction of the table.
func (f *Func) Emit(in *Instr, imm ...uint64) {
	if n := immCounts[in.Imm]; n >= 0 && n != len(imm) {
		panic(fmt.Sprintf("BUG: wenc: %s takes %d immediates, got %d", in.Name, n, len(imm)))
	}
	if len(f.marks) == 0 || f.marks[len(f.marks)-1].Node != f.node {
		f.marks = append(f.marks, Mark{uint32(len(f.code)), f.node})
	}
	switch in.Imm {
	case ImmBlock:
		f.level++
	case ImmNone:
		if in.Op == opEnd {
			f.level--
		}
	}
	f.code = appendInstr(f.code, in, imm)
}

const opEnd = 0x0B

func appendInstr(b []byte, in *Instr, imm []uint64) []byte {
	if in.Op > 0xFF {
		b = append(b, byte(in.Op>>8))
		b = appendU(b, uint64(in.Op&0xFF))
	} else {
		b = append(b, byte(in.Op))
	}
	switch in.Imm {
	case ImmNone:
	case ImmBlock, ImmLane:
		b = append(b, byte(imm[0]))
	case ImmLabel, ImmFunc, ImmLocal, ImmGlobal:
		b = appendU(b, imm[0])
	case ImmTable:
		b = appendU(b, uint64(len(imm)-1))
		for _, v := range imm {
			b = appendU(b, v)
		}
	case ImmMem, ImmMemLane:
		b = appendU(b, imm[0])
		b = appendU(b, imm[1])
		if in.Imm == ImmMemLane {
			b = append(b, byte(imm[2]))
		}
	case ImmZero:
		b = append(b, 0)
	case ImmZero2:
		b = append(b, 0, 0)
	case ImmI32:
		b = appendS(b, int64(int32(imm[0])))
	case ImmI64:
		b = appendS(b, int64(imm[0]))
	case ImmF32:
		b = appendLE(b, imm[0], 4)
	case ImmF64:
		b = appendLE(b, imm[0], 8)
	case ImmV128, ImmShuffle:
		b = appendLE(b, imm[0], 8)
		b = appendLE(b, imm[1], 8)
	default:
		panic("BUG: wenc: immediate kind of " + in.Name)
	}
	return b
}

// Get, Set and Tee move between the stack and a local.
func (f *Func) Get(l uint32) { f.I("local.get", uint64(l)) }

// Set pops into a local.
func (f *Func) Set(l uint32) { f.I("local.set", uint64(l)) }

// Tee stores the top of the stack in a local and keeps it.
func (f *Func) Tee(l uint32) { f.I("local.tee", uint64(l)) }

// I32 pushes a constant.
func (f *Func) I32(v int32) { f.I("i32.const", uint64(uint32(v))) }

// I64 pushes a constant.
func (f *Func) I64(v int64) { f.I("i64.const", uint64(v)) }

// F32 pushes a constant.
func (f *Func) F32(v float32) { f.I("f32.const", uint64(math.Float32bits(v))) }

// F64 pushes a constant.
func (f *Func) F64(v float64) { f.I("f64.const", math.Float64bits(v)) }

// Block, Loop and If open a level and return its label.
func (f *Func) Block(bt uint64) int { f.I("block", bt); return f.level }

// Loop opens a loop; a branch to its label goes back to its start.
func (f *Func) Loop(bt uint64) int { f.I("loop", bt); return f.level }

// If pops the condition.
func (f *Func) If(bt uint64) int { f.I("if", bt); return f.level }

// Else starts the other arm of an If.
func (f *Func) Else() { f.I("else") }

// End closes the innermost level.
func (f *Func) End() { f.I("end") }

// Br branches to a label; BrIf pops the condition.
func (f *Func) Br(label int) { f.I("br", uint64(f.level-label)) }

// BrIf branches to a label when the popped condition is non-zero.
func (f *Func) BrIf(label int) { f.I("br_if", uint64(f.level-label)) }

// Call calls another function of the module.
func (f *Func) Call(index uint32) { f.I("call", uint64(index)) }

// body is the function body with its local declarations, the final end
// included, and the offset of the first instruction in it.
func (f *Func) body() ([]byte, int) {
	if f.level != 0 {
		panic(fmt.Sprintf("BUG: wenc: %s ends inside %d blocks", f.name, f.level))
	}
	var runs [][2]uint64
	for _, t := range f.locals {
		if n := len(runs); n > 0 && runs[n-1][1] == uint64(t) {
			runs[n-1][0]++
		} else {
			runs = append(runs, [2]uint64{1, uint64(t)})
		}
	}
	b := appendU(nil, uint64(len(runs)))
	for _, r := range runs {
		b = append(appendU(b, r[0]), byte(r[1]))
	}
	at := len(b)
	b = append(b, f.code...)
	return append(b, opEnd), at
}
