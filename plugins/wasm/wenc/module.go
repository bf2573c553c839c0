package wenc

import (
	"slices"
	"sort"
)

// Module is a module under construction. Functions are added in index order;
// there are no imports, so the first function has index 0.
type Module struct {
	x       *Index
	types   []funcType
	funcs   []*Func
	memMin  uint32
	memMax  uint32
	hasMem  bool
	exports []export
	globals []global
	data    []segment
	customs []custom
}

type funcType struct{ params, results []ValType }

type export struct {
	name string
	kind byte
	idx  uint32
}

type global struct {
	t       ValType
	mutable bool
	init    uint64
}

type segment struct {
	offset uint32
	bytes  []byte
}

type custom struct {
	name  string
	bytes []byte
}

// NewModule returns an empty module; x may be shared by modules.
func NewModule(x *Index) *Module { return &Module{x: x} }

func (m *Module) typeIndex(params, results []ValType) uint32 {
	for i, t := range m.types {
		if slices.Equal(t.params, params) && slices.Equal(t.results, results) {
			return uint32(i)
		}
	}
	m.types = append(m.types, funcType{slices.Clone(params), slices.Clone(results)})
	return uint32(len(m.types) - 1)
}

// Func adds a function and returns it with its index.
func (m *Module) Func(name string, params, results []ValType) (*Func, uint32) {
	f := &Func{name: name, typ: m.typeIndex(params, results), params: slices.Clone(params), results: slices.Clone(results),
		x: m.x, free: map[ValType][]uint32{}, isFree: map[uint32]bool{}, names: map[uint32]string{}, node: NoNode}
	m.funcs = append(m.funcs, f)
	return f, uint32(len(m.funcs) - 1)
}

// Memory declares the one memory, in pages of 64 KiB; max 0 means no limit.
func (m *Module) Memory(minPages, maxPages uint32) {
	m.hasMem, m.memMin, m.memMax = true, minPages, maxPages
}

// Global adds a global with a constant initial value given as bits.
func (m *Module) Global(t ValType, mutable bool, init uint64) uint32 {
	m.globals = append(m.globals, global{t, mutable, init})
	return uint32(len(m.globals) - 1)
}

// ExportFunc exports a function.
func (m *Module) ExportFunc(name string, idx uint32) {
	m.exports = append(m.exports, export{name, 0, idx})
}

// ExportMemory exports the memory.
func (m *Module) ExportMemory(name string) { m.exports = append(m.exports, export{name, 2, 0}) }

// Data places bytes in memory when the module is instantiated.
func (m *Module) Data(offset uint32, b []byte) {
	m.data = append(m.data, segment{offset, slices.Clone(b)})
}

// Custom adds a custom section at the end of the module.
func (m *Module) Custom(name string, b []byte) {
	m.customs = append(m.customs, custom{name, slices.Clone(b)})
}

// Section identifiers, in the order in which they appear.
const (
	secCustom = 0
	secType   = 1
	secFunc   = 3
	secMemory = 5
	secGlobal = 6
	secExport = 7
	secCode   = 10
	secData   = 11
)

// Encode returns the module and its code-offset marks in ascending order.
func (m *Module) Encode() ([]byte, []Mark) {
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	section := func(id byte, body []byte) int {
		out = append(out, id)
		out = appendU(out, uint64(len(body)))
		start := len(out)
		out = append(out, body...)
		return start
	}
	vec := func(id byte, n int, each func(b []byte, i int) []byte) {
		if n == 0 {
			return
		}
		b := appendU(nil, uint64(n))
		for i := range n {
			b = each(b, i)
		}
		section(id, b)
	}
	vec(secType, len(m.types), func(b []byte, i int) []byte {
		return appendTypes(appendTypes(append(b, 0x60), m.types[i].params), m.types[i].results)
	})
	vec(secFunc, len(m.funcs), func(b []byte, i int) []byte { return appendU(b, uint64(m.funcs[i].typ)) })
	if m.hasMem {
		vec(secMemory, 1, func(b []byte, _ int) []byte {
			if m.memMax == 0 {
				return appendU(append(b, 0), uint64(m.memMin))
			}
			return appendU(appendU(append(b, 1), uint64(m.memMin)), uint64(m.memMax))
		})
	}
	vec(secGlobal, len(m.globals), m.appendGlobal)
	vec(secExport, len(m.exports), func(b []byte, i int) []byte {
		e := m.exports[i]
		return appendU(append(appendName(b, e.name), e.kind), uint64(e.idx))
	})
	var marks []Mark
	if len(m.funcs) > 0 {
		var body []byte
		body, marks = m.codeSection()
		at := section(secCode, body)
		for i := range marks {
			marks[i].Offset += uint32(at)
		}
	}
	vec(secData, len(m.data), func(b []byte, i int) []byte {
		d := m.data[i]
		b = appendInstr(append(b, 0), m.x.Find("i32.const"), []uint64{uint64(d.offset)})
		b = appendU(append(b, opEnd), uint64(len(d.bytes)))
		return append(b, d.bytes...)
	})
	section(secCustom, m.nameSection())
	for _, c := range m.customs {
		section(secCustom, append(appendName(nil, c.name), c.bytes...))
	}
	return out, marks
}

// codeSection joins the bodies; equal neighbouring marks are merged, so the map
// changes node at every mark. A function starts at its size field.
func (m *Module) codeSection() ([]byte, []Mark) {
	var marks []Mark
	b := appendU(nil, uint64(len(m.funcs)))
	mark := func(off, node int32) {
		if n := len(marks); n == 0 || marks[n-1].Node != node {
			marks = append(marks, Mark{uint32(off), node})
		}
	}
	for _, f := range m.funcs {
		mark(int32(len(b)), NoNode)
		body, at := f.body()
		b = appendU(b, uint64(len(body)))
		for _, k := range f.marks {
			mark(int32(len(b)+at)+int32(k.Offset), k.Node)
		}
		b = append(b, body...)
	}
	return b, marks
}

func (m *Module) appendGlobal(b []byte, i int) []byte {
	g := m.globals[i]
	mut := byte(0)
	if g.mutable {
		mut = 1
	}
	b = append(b, byte(g.t), mut)
	imm := []uint64{g.init}
	if g.t == V128 {
		imm = append(imm, 0)
	}
	return append(appendInstr(b, m.x.Find(g.t.String()+".const"), imm), opEnd)
}

// nameSection names functions and, where the builder named them, locals.
func (m *Module) nameSection() []byte {
	fn := appendU(nil, uint64(len(m.funcs)))
	var locals []byte
	withLocals := 0
	for i, f := range m.funcs {
		fn = appendName(appendU(fn, uint64(i)), f.name)
		if len(f.names) == 0 {
			continue
		}
		withLocals++
		idx := make([]int, 0, len(f.names))
		for l := range f.names {
			idx = append(idx, int(l))
		}
		sort.Ints(idx)
		locals = appendU(appendU(locals, uint64(i)), uint64(len(idx)))
		for _, l := range idx {
			locals = appendName(appendU(locals, uint64(l)), f.names[uint32(l)])
		}
	}
	b := appendName(nil, "name")
	b = append(appendU(append(b, 1), uint64(len(fn))), fn...)
	if withLocals > 0 {
		locals = append(appendU(nil, uint64(withLocals)), locals...)
		b = append(appendU(append(b, 2), uint64(len(locals))), locals...)
	}
	return b
}

func appendTypes(b []byte, ts []ValType) []byte {
	b = appendU(b, uint64(len(ts)))
	for _, t := range ts {
		b = append(b, byte(t))
	}
	return b
}
