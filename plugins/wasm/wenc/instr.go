package wenc

import "fmt"

// ValType is a WebAssembly value type in its binary form.
type ValType byte

// The value types that the encoder knows.
const (
	I32  ValType = 0x7F
	I64  ValType = 0x7E
	F32  ValType = 0x7D
	F64  ValType = 0x7C
	V128 ValType = 0x7B
)

// valLetters pairs the signature letters of the table with value types and
// their text names.
var valLetters = [...]struct {
	letter byte
	t      ValType
	name   string
}{{'i', I32, "i32"}, {'I', I64, "i64"}, {'f', F32, "f32"}, {'F', F64, "f64"}, {'v', V128, "v128"}}

func (t ValType) String() string {
	for _, v := range valLetters {
		if v.t == t {
			return v.name
		}
	}
	return fmt.Sprintf("valtype(%#x)", byte(t))
}

// ParseValType reads a text name such as "f64".
func ParseValType(s string) (ValType, bool) {
	for _, v := range valLetters {
		if v.name == s {
			return v.t, true
		}
	}
	return 0, false
}

func typesOf(letters string) []ValType {
	out := make([]ValType, 0, len(letters))
	for i := range len(letters) {
		for _, v := range valLetters {
			if v.letter == letters[i] {
				out = append(out, v.t)
			}
		}
	}
	return out
}

// ImmKind says which immediates follow an opcode.
type ImmKind uint8

// The immediates: count and meaning of the values given to Func.I.
const (
	ImmNone    ImmKind = iota
	ImmBlock           // block type: BlockVoid or BlockOf(type)
	ImmLabel           // label depth
	ImmTable           // label depths, the default last
	ImmFunc            // function index
	ImmLocal           // local index
	ImmGlobal          // global index
	ImmMem             // log2 alignment, offset
	ImmMemLane         // log2 alignment, offset, lane
	ImmZero            // nothing; a zero byte is written
	ImmZero2           // nothing; two zero bytes are written
	ImmI32             // value, sign-extended
	ImmI64             // value
	ImmF32             // bits
	ImmF64             // bits
	ImmV128            // low and high 64 bits
	ImmShuffle         // low and high 64 bits of the sixteen lane indices
	ImmLane            // lane
)

// immCounts is the number of values each kind takes; -1 means any.
var immCounts = [...]int{ImmNone: 0, ImmBlock: 1, ImmLabel: 1, ImmTable: -1, ImmFunc: 1, ImmLocal: 1, ImmGlobal: 1,
	ImmMem: 2, ImmMemLane: 3, ImmZero: 0, ImmZero2: 0, ImmI32: 1, ImmI64: 1, ImmF32: 1, ImmF64: 1, ImmV128: 2,
	ImmShuffle: 2, ImmLane: 1}

// BlockVoid is the block type without results.
const BlockVoid uint64 = 0x40

// BlockOf is the block type with one result.
func BlockOf(t ValType) uint64 { return uint64(t) }

// Instr is one row of the instruction table. Name is "shape.semantic-op" as in
// the text format; Shape and Sem split it. Op is the opcode, with the prefix
// byte above the low eight bits where there is one.
type Instr struct {
	Name string
	Op   uint16
	Imm  ImmKind
	Sig  string
}

// Shape is the part of the name before the dot: i32, f64x2, v128, memory.
func (in *Instr) Shape() string { s, _ := in.split(); return s }

// Sem is the semantic operation, the part after the dot: add, lt_s, splat.
func (in *Instr) Sem() string { _, s := in.split(); return s }

func (in *Instr) split() (string, string) {
	for i := range len(in.Name) {
		if in.Name[i] == '.' {
			return in.Name[:i], in.Name[i+1:]
		}
	}
	return "", in.Name
}

// Signature gives the operand and result types; ok is false for rows whose
// signature depends on the immediates or on the stack.
func (in *Instr) Signature() (params, results []ValType, ok bool) {
	if in.Sig == "*" {
		return nil, nil, false
	}
	for i := range len(in.Sig) {
		if in.Sig[i] == ':' {
			return typesOf(in.Sig[:i]), typesOf(in.Sig[i+1:]), true
		}
	}
	panic("BUG: wenc: row without a signature: " + in.Name)
}

// Table returns every instruction in opcode order.
func Table() []Instr { return append(scalarRows(), simdRows()...) }

// Index finds instructions by name. It is read-only once made.
type Index struct{ byName map[string]*Instr }

// NewIndex builds the name index of the table.
func NewIndex() *Index {
	rows := Table()
	x := &Index{make(map[string]*Instr, len(rows))}
	for i := range rows {
		x.byName[rows[i].Name] = &rows[i]
	}
	return x
}

// Find returns the row of that name, or nil.
func (x *Index) Find(name string) *Instr { return x.byName[name] }
