package isel

import (
	"strings"
	"sync"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/plugins/x86/asm"
)

// Register classes of the machine IR.
const (
	gp mir.Class = iota
	vec
	mask
)

// Physical registers are numbered gp, vec, mask from 1.
const (
	firstGP   mir.Reg = 1
	firstVec  mir.Reg = firstGP + 16
	firstMask mir.Reg = firstVec + 32
	numRegs           = int(firstMask) + 8
)

func gpReg(r asm.Reg) mir.Reg { return firstGP + mir.Reg(r) }

// Level is one feature set the backend compiles for.
type Level struct {
	Name     string
	Features []string // as the runner names them, sorted
	VecBytes int
	Masks    bool // comparisons give opmask registers

	have   asm.Feature
	once   sync.Once // builds what follows, when code is first made
	target *mir.Target
	rows   []opRow // by mir.Op
	byKey  map[string]mir.Op
	pseudo map[string]mir.Op
	// Shapes of vector instructions, resolved on first use at table time.
	shapes map[shapeKey]mir.Op
}

// opRow is what the emitter knows of a machine IR op: a form, or a pseudo
// instruction that it expands.
type opRow struct {
	form   *asm.Form
	slots  []argSlot // per visible operand of form
	mask   int8      // operand index of the opmask, or -1
	pseudo *pseudo
}

// argSlot says where an assembly operand comes from.
type argSlot struct {
	kind argKind
	reg  int8 // index of the machine IR operand
}

type argKind uint8

const (
	argReg argKind = iota
	argMem
	argImm
)

// AVX2 is x86-64-v3.
var AVX2 = sync.OnceValue(func() *Level {
	return &Level{Name: "avx2", VecBytes: 32, have: asm.LevelAVX2,
		Features: []string{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "popcnt"}}
})

// AVX512 is x86-64-v4.
var AVX512 = sync.OnceValue(func() *Level {
	return &Level{Name: "avx512", VecBytes: 64, Masks: true, have: asm.LevelAVX512,
		Features: []string{"avx", "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl",
			"bmi1", "bmi2", "f16c", "fma", "lzcnt", "popcnt"}}
})

// prepare builds the tables of the level on first use: describing a level
// must not cost what compiling does.
func (l *Level) prepare() *Level {
	l.once.Do(l.build)
	return l
}

func (l *Level) build() {
	t := &mir.Target{Name: "x86-64-" + l.Name, AddrClass: gp, IssueWidth: 6, CondName: condName}
	t.Regs = make([]mir.RegInfo, numRegs)
	for i := 0; i < 16; i++ {
		t.Regs[int(firstGP)+i] = mir.RegInfo{Name: asm.RegName(asm.ClassGP, 8, asm.Reg(i)), Class: gp, Enc: uint8(i)}
	}
	for i := 0; i < 32; i++ {
		t.Regs[int(firstVec)+i] = mir.RegInfo{Name: asm.RegName(asm.ClassVec, uint8(l.VecBytes), asm.Reg(i)), Class: vec, Enc: uint8(i)}
	}
	for i := 0; i < 8; i++ {
		t.Regs[int(firstMask)+i] = mir.RegInfo{Name: asm.RegName(asm.ClassMask, 8, asm.Reg(i)), Class: mask, Enc: uint8(i)}
	}
	t.Descs = []mir.Desc{{}}
	l.target, l.rows = t, []opRow{{}}
	l.byKey, l.pseudo = map[string]mir.Op{}, map[string]mir.Op{}
	l.shapes = map[shapeKey]mir.Op{}
	for _, f := range asm.Instructions().Forms {
		if l.usable(f) {
			op := l.addForm(f, false)
			l.byKey[f.Key] = op
			l.addShapes(f, op)
		}
	}
	for _, k := range rematForms {
		if f := asm.Instructions().Find(k); f != nil && l.usable(f) {
			l.byKey["const "+k] = l.addForm(f, true)
		}
	}
	for i := range pseudos {
		if p := &pseudos[i]; l.have&p.needs == p.needs {
			l.pseudo[p.name] = l.addPseudo(p)
		}
	}
	l.classes()
	t.Jump = l.pseudo["jmp"]
}

// rematForms are the loads of pooled constants and constant moves that the
// allocator may repeat instead of keeping a register.
var rematForms = []string{
	"mov r32,i", "mov r64,i", "movabs r64,i", "lea r64,m64",
	"vmovss x,m32", "vmovsd x,m64", "vmovups x,m128", "vmovups y,m256", "vmovups z,m512",
	"vbroadcastss x,m32", "vbroadcastss y,m32", "vbroadcastss z,m32",
	"vmovddup x,m64", "vbroadcastsd y,m64", "vbroadcastsd z,m64",
}

// usable leaves out what a level lacks, what the machine IR cannot express
// (flags between instructions, jumps) and, at the AVX-512 level, forms that
// cannot name registers above 15.
func (l *Level) usable(f *asm.Form) bool {
	if f.Features&^l.have != 0 || f.Branch || f.ReadsFlags {
		return false
	}
	switch f.Name {
	case "push", "pop", "xchg", "cmp", "test", "vucomiss", "vucomisd", "vptest":
		return false
	}
	if strings.HasPrefix(f.Name, "kortest") {
		return false
	}
	if f.Mask != asm.MaskNone && !strings.Contains(f.Name, "blendm") {
		return false // the lowering masks by blending only
	}
	for _, o := range f.Ops {
		if o.Kind == asm.KVec && (l.Masks && f.NarrowRegs || int(o.Size) > l.VecBytes) {
			return false
		}
	}
	return true
}

func classOf(c asm.Class) mir.Class {
	return [...]mir.Class{asm.ClassGP: gp, asm.ClassVec: vec, asm.ClassMask: mask}[c]
}

// addForm derives the machine IR row of a form: definitions first, then uses
// in operand order, the opmask, and the address.
func (l *Level) addForm(f *asm.Form, remat bool) mir.Op {
	d := mir.Desc{Name: f.Key, Latency: f.Lat, Ports: uint16(f.Ports), Remat: remat}
	row := opRow{form: f, mask: -1}
	slots := make([]argSlot, len(f.Ops))
	var reuse []int // definition index, per read-write operand
	for i, o := range f.Ops {
		if !o.IsReg() || o.Access&asm.Write == 0 {
			continue
		}
		m := mir.D(classOf(o.Class()))
		if o.Fixed != asm.NoReg {
			m = mir.DFixed(m.Class, gpReg(o.Fixed))
		}
		slots[i] = argSlot{argReg, int8(len(d.Operands))}
		if o.Access == asm.ReadWrite && o.Fixed == asm.NoReg {
			reuse = append(reuse, len(d.Operands))
			m.Constraint = mir.Reuse
		}
		d.Operands = append(d.Operands, m)
	}
	k := 0
	for i, o := range f.Ops {
		switch {
		case o.Kind == asm.KImm:
			slots[i] = argSlot{kind: argImm}
		case o.IsMem():
			slots[i] = argSlot{kind: argMem}
			d.HasAddr, d.MemSize = true, uint16(o.Size)
			switch {
			case f.Name == "lea":
				d.HasAddr, d.MemSize = true, 0
			case o.Access&asm.Write != 0:
				d.Effect = mir.MemWrite
			default:
				d.Effect = mir.MemRead
				if len(f.Ops) == 2 { // a plain load
					d.Ports, d.Latency = uint16(asm.PLoad), 5
					if o.Size > 8 {
						d.Latency = 7
					}
				}
			}
		case o.IsReg() && o.Access&asm.Read != 0:
			u := mir.U(classOf(o.Class()))
			if o.Fixed != asm.NoReg {
				u = mir.UFixed(u.Class, gpReg(o.Fixed))
			}
			if o.Access == asm.ReadWrite && o.Fixed == asm.NoReg {
				d.Operands[reuse[k]].Reuse = uint8(len(d.Operands))
				k++
			} else {
				slots[i] = argSlot{argReg, int8(len(d.Operands))}
			}
			d.Operands = append(d.Operands, u)
		}
	}
	if f.Mask != asm.MaskNone {
		row.mask = int8(len(d.Operands))
		d.Operands = append(d.Operands, mir.U(mask))
	}
	for i, o := range f.Ops {
		if !o.Hidden {
			row.slots = append(row.slots, slots[i])
		}
	}
	return l.add(d, row)
}

func (l *Level) addPseudo(p *pseudo) mir.Op {
	return l.add(mir.Desc{Name: p.name, Operands: p.operands, HasAddr: p.hasAddr, Effect: p.effect, MemSize: p.memSize,
		Term: p.term, Latency: p.lat, Ports: uint16(p.ports), Uops: p.uops, Remat: p.remat}, opRow{pseudo: p, mask: -1})
}

func (l *Level) add(d mir.Desc, row opRow) mir.Op {
	l.target.Descs = append(l.target.Descs, d)
	l.rows = append(l.rows, row)
	return mir.Op(len(l.rows) - 1)
}

func (l *Level) classes() {
	gps := []asm.Reg{asm.RAX, asm.RCX, asm.RDX, asm.RSI, asm.RDI, asm.R8, asm.R9, asm.R10, asm.R11,
		asm.RBX, asm.RBP, asm.R12, asm.R13, asm.R14, asm.R15}
	g := mir.ClassInfo{Name: "gp", SlotSize: 8, SlotAlign: 8,
		Move: l.form("mov r64,r64"), Load: l.form("mov r64,m64"), Store: l.form("mov m64,r64"), Swap: l.pseudo["swap.gp"]}
	for _, r := range gps {
		g.Allocatable = append(g.Allocatable, gpReg(r))
	}
	w := int32(l.VecBytes)
	v := mir.ClassInfo{Name: "vec", SlotSize: w, SlotAlign: w, Swap: l.pseudo["swap.vec"]}
	n := 16
	if l.Masks {
		n = 32
		v.Move, v.Load, v.Store = l.form("vmovaps z,z"), l.form("vmovups z,m512"), l.form("vmovups m512,z")
	} else {
		v.Move, v.Load, v.Store = l.form("vmovaps y,y"), l.form("vmovups y,m256"), l.form("vmovups m256,y")
	}
	for i := 0; i < n; i++ {
		v.Allocatable = append(v.Allocatable, firstVec+mir.Reg(i))
	}
	l.target.Classes = []mir.ClassInfo{g, v}
	if !l.Masks {
		return
	}
	m := mir.ClassInfo{Name: "mask", SlotSize: 8, SlotAlign: 8, Swap: l.pseudo["swap.mask"],
		Move: l.form("kmovw k,k"), Load: l.form("kmovw k,m16"), Store: l.form("kmovw m16,k")}
	for i := 1; i < 8; i++ { // k0 means "no mask" where a mask is expected
		m.Allocatable = append(m.Allocatable, firstMask+mir.Reg(i))
	}
	l.target.Classes = append(l.target.Classes, m)
}

// form returns the op of an instruction form, which must exist at the level.
func (l *Level) form(key string) mir.Op {
	op, ok := l.byKey[key]
	if !ok {
		panic("BUG: level " + l.Name + " has no form " + key)
	}
	return op
}

// shapeKey names a vector instruction by mnemonic, operand shape and vector
// bytes. In a shape V is the full vector, H half of it, M its memory operand,
// bN a broadcast element.
type shapeKey struct {
	name, shape string
	w           uint8
}

var vecLetter = map[uint8]string{16: "x", 32: "y", 64: "z"}

var vecBits = map[uint8]string{4: "m32", 8: "m64", 16: "m128", 32: "m256", 64: "m512"}

// addShapes enters a form under the shapes it can be asked for by: each vector
// or memory operand as the letter for its size relative to the largest vector
// and, where that is another name, by its own. Doing it once here lets lowering
// look instructions up without building strings.
func (l *Level) addShapes(f *asm.Form, op mir.Op) {
	w := uint8(0)
	for _, o := range f.Ops {
		if o.Kind == asm.KVec {
			w = max(w, o.Size)
		}
	}
	rest, ok := strings.CutPrefix(f.Key, f.Name+" ")
	if w == 0 || !ok {
		return
	}
	shapes := []string{""}
	tail := ""
	if k := strings.IndexByte(rest, '{'); k >= 0 {
		rest, tail = rest[:k], rest[k:]
	}
	for i, part := range strings.Split(rest, ",") {
		letter := ""
		switch o := visibleOp(f, i); {
		case o.Kind == asm.KVec && o.Size == w:
			letter = "V"
		case o.Kind == asm.KVec && o.Size == w/2:
			letter = "H"
		case o.Kind == asm.KMem && o.Size == w:
			letter = "M"
		}
		var next []string
		for _, s := range shapes {
			if s != "" {
				s += ","
			}
			next = append(next, s+part)
			if letter != "" {
				next = append(next, s+letter)
			}
		}
		shapes = next
	}
	for _, s := range shapes {
		l.shapes[shapeKey{f.Name, s + tail, w}] = op
	}
}

// visibleOp is the i-th operand written in assembly text.
func visibleOp(f *asm.Form, i int) asm.Operand {
	for _, o := range f.Ops {
		if o.Hidden {
			continue
		}
		if i == 0 {
			return o
		}
		i--
	}
	panic("BUG: operand of " + f.Key)
}

// shape returns a vector op by shape, and whether the level has it.
func (l *Level) shape(name, shape string, w uint8) (mir.Op, bool) {
	op, ok := l.shapes[shapeKey{name, shape, w}]
	return op, ok
}

func (l *Level) vop(name, shape string, w uint8) mir.Op {
	op, ok := l.shape(name, shape, w)
	if !ok {
		panic("BUG: level " + l.Name + " has no " + name + " of shape " + shape)
	}
	return op
}
