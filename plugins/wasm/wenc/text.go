package wenc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Assemble adds the functions of a text to the module and returns their indices
// by name. The text is the folded or flat form of the WebAssembly text format,
// restricted to functions with named parameters, locals and labels, so that any
// other assembler reads it too:
//
//	(func $name (param $a f32) (result f64) (local $x i64)
//	  (f64.add (f64.promote_f32 (local.get $a)) (f64.const 0x1p-3)))
//
// With roots, only those functions and what they call are added, in the order
// of the text. Malformed text is a fault of this program, hence a panic.
func (m *Module) Assemble(src string, roots ...string) map[string]uint32 {
	items := parseSexprs(src)
	if len(roots) > 0 {
		items = reachable(items, roots)
	}
	funcs := map[string]uint32{}
	todo := make([]*assembler, 0, len(items))
	for _, it := range items {
		a := newAssembler(m, it, funcs)
		todo = append(todo, a)
	}
	for _, a := range todo {
		a.seq(a.body)
	}
	return funcs
}

func reachable(items []sexpr, roots []string) []sexpr {
	byName := map[string]sexpr{}
	for _, it := range items {
		byName[it.list[1].atom] = it
	}
	seen := map[string]bool{}
	var visit func(string)
	var walk func([]sexpr)
	walk = func(l []sexpr) {
		for i, s := range l {
			if s.atom == "call" && i+1 < len(l) {
				visit(l[i+1].atom)
			}
			walk(s.list)
		}
	}
	visit = func(name string) {
		if !seen[name] {
			seen[name] = true
			walk(byName[name].list)
		}
	}
	for _, r := range roots {
		if _, ok := byName[r]; !ok {
			panic("BUG: wenc: no function " + r)
		}
		visit(r)
	}
	var out []sexpr
	for _, it := range items {
		if seen[it.list[1].atom] {
			out = append(out, it)
		}
	}
	return out
}

// sexpr is an atom or, when atom is empty, a list.
type sexpr struct {
	atom string
	list []sexpr
}

func (s sexpr) head() string {
	if len(s.list) > 0 {
		return s.list[0].atom
	}
	return ""
}

func parseSexprs(src string) []sexpr {
	stack := [][]sexpr{nil}
	for _, line := range strings.Split(src, "\n") {
		if i := strings.Index(line, ";;"); i >= 0 {
			line = line[:i]
		}
		line = strings.NewReplacer("(", " ( ", ")", " ) ").Replace(line)
		for _, w := range strings.Fields(line) {
			top := len(stack) - 1
			switch w {
			case "(":
				stack = append(stack, nil)
			case ")":
				if top == 0 {
					panic("BUG: wenc: text closes a list it did not open")
				}
				stack[top-1] = append(stack[top-1], sexpr{list: stack[top]})
				stack = stack[:top]
			default:
				stack[top] = append(stack[top], sexpr{atom: w})
			}
		}
	}
	if len(stack) != 1 {
		panic("BUG: wenc: text ends inside a list")
	}
	return stack[0]
}

type assembler struct {
	f      *Func
	funcs  map[string]uint32
	locals map[string]uint32
	labels []string
	body   []sexpr
}

func newAssembler(m *Module, it sexpr, funcs map[string]uint32) *assembler {
	if it.head() != "func" || len(it.list) < 2 {
		panic("BUG: wenc: text holds something other than functions")
	}
	a := &assembler{funcs: funcs, locals: map[string]uint32{}}
	var params, results, locals []ValType
	var names []string
	rest := it.list[2:]
	for len(rest) > 0 {
		d := rest[0]
		switch d.head() {
		case "param":
			names, params = append(names, d.list[1].atom), append(params, mustType(d.list[2]))
		case "result":
			results = append(results, mustType(d.list[1]))
		case "local":
			names, locals = append(names, d.list[1].atom), append(locals, mustType(d.list[2]))
		default:
			a.body, rest = rest, nil
			continue
		}
		rest = rest[1:]
	}
	name := it.list[1].atom
	if _, dup := funcs[name]; dup {
		panic("BUG: wenc: two functions named " + name)
	}
	f, idx := m.Func(strings.TrimPrefix(name, "$"), params, results)
	f.locals = locals
	for i, n := range names {
		a.locals[n] = uint32(i)
		f.names[uint32(i)] = strings.TrimPrefix(n, "$")
	}
	funcs[name], a.f = idx, f
	return a
}

func mustType(s sexpr) ValType {
	t, ok := ParseValType(s.atom)
	if !ok {
		panic("BUG: wenc: no value type " + s.atom)
	}
	return t
}

// seq assembles a sequence in which folded and flat instructions mix.
func (a *assembler) seq(items []sexpr) {
	for len(items) > 0 {
		if items[0].atom == "" {
			a.folded(items[0])
			items = items[1:]
			continue
		}
		in, imm, used := a.instr(items)
		a.f.Emit(in, imm...)
		items = items[used:]
	}
}

func (a *assembler) folded(s sexpr) {
	switch s.head() {
	case "block", "loop", "if":
		a.control(s)
		return
	}
	in, imm, used := a.instr(s.list)
	a.seq(s.list[used:])
	a.f.Emit(in, imm...)
}

func (a *assembler) control(s sexpr) {
	rest, label, bt := s.list[1:], "", BlockVoid
	if len(rest) > 0 && strings.HasPrefix(rest[0].atom, "$") {
		label, rest = rest[0].atom, rest[1:]
	}
	if len(rest) > 0 && rest[0].head() == "result" {
		bt, rest = BlockOf(mustType(rest[0].list[1])), rest[1:]
	}
	var then, els []sexpr
	hasElse := false
	if s.head() == "if" {
		n := len(rest)
		if n > 0 && rest[n-1].head() == "else" {
			els, hasElse, n = rest[n-1].list[1:], true, n-1
		}
		if n == 0 || rest[n-1].head() != "then" {
			panic("BUG: wenc: if without then")
		}
		then = rest[n-1].list[1:]
		a.seq(rest[:n-1])
	} else {
		then = rest
	}
	a.f.I(s.head(), bt)
	a.labels = append(a.labels, label)
	a.seq(then)
	if hasElse {
		a.f.Else()
		a.seq(els)
	}
	a.f.End()
	a.labels = a.labels[:len(a.labels)-1]
}

// instr reads an instruction name and its immediates from the front of items.
func (a *assembler) instr(items []sexpr) (*Instr, []uint64, int) {
	in := a.f.x.Find(items[0].atom)
	if in == nil {
		panic("BUG: wenc: no instruction named " + items[0].atom)
	}
	arg := func(i int) string { return items[i].atom }
	switch in.Imm {
	case ImmNone, ImmZero, ImmZero2:
		return in, nil, 1
	case ImmLocal:
		return in, []uint64{uint64(lookup(a.locals, arg(1)))}, 2
	case ImmFunc:
		return in, []uint64{uint64(lookup(a.funcs, arg(1)))}, 2
	case ImmLabel:
		return in, []uint64{a.label(arg(1))}, 2
	case ImmI32, ImmI64, ImmLane:
		return in, []uint64{parseInt(arg(1))}, 2
	case ImmF32:
		return in, []uint64{uint64(math.Float32bits(float32(parseFloat(arg(1), 32))))}, 2
	case ImmF64:
		return in, []uint64{math.Float64bits(parseFloat(arg(1), 64))}, 2
	case ImmMem:
		return in, []uint64{parseInt(strings.TrimPrefix(arg(2), "align=")), parseInt(strings.TrimPrefix(arg(1), "offset="))}, 3
	case ImmV128:
		if arg(1) != "i64x2" {
			panic("BUG: wenc: v128.const is written as i64x2")
		}
		return in, []uint64{parseInt(arg(2)), parseInt(arg(3))}, 4
	case ImmShuffle:
		var w [2]uint64
		for i := range 16 {
			w[i/8] |= parseInt(arg(1+i)) << (8 * (i % 8))
		}
		return in, w[:], 17
	}
	panic("BUG: wenc: the text form of " + in.Name + " is not used")
}

func (a *assembler) label(name string) uint64 {
	for i := len(a.labels) - 1; i >= 0; i-- {
		if a.labels[i] == name {
			return uint64(len(a.labels) - 1 - i)
		}
	}
	panic("BUG: wenc: no label " + name)
}

func lookup(m map[string]uint32, name string) uint32 {
	v, ok := m[name]
	if !ok {
		panic("BUG: wenc: undefined name " + name)
	}
	return v
}

func parseInt(s string) uint64 {
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		panic(fmt.Sprintf("BUG: wenc: bad integer %q", s))
	}
	return v
}

func parseFloat(s string, bits int) float64 {
	v, err := strconv.ParseFloat(s, bits)
	if err != nil {
		panic(fmt.Sprintf("BUG: wenc: bad number %q", s))
	}
	return v
}
