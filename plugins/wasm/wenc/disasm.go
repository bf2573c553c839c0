package wenc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Disassemble prints the functions of a module, one instruction a line with its
// byte offset, in the flat text form. note, if not nil, is asked at every
// instruction and what it returns is printed behind it. The module may be
// hostile: what cannot be read is an error with its offset.
func Disassemble(w io.Writer, module []byte, note func(offset uint32) string) error {
	d := &decoder{b: module, w: w, note: note, byOp: map[uint16]*Instr{}}
	for _, in := range Table() {
		d.byOp[in.Op] = &in
	}
	if len(module) < 8 || string(module[:8]) != "\x00asm\x01\x00\x00\x00" {
		return errors.New("offset 0: not a WebAssembly 1 module")
	}
	d.at = 8
	sections := map[byte][2]int{}
	for d.at < len(module) && d.err == nil {
		id := d.byte()
		size := int(d.u32())
		if size > len(module)-d.at {
			d.fail("section of %d bytes", size)
			break
		}
		if _, seen := sections[id]; !seen || id != secCustom {
			sections[id] = [2]int{d.at, d.at + size}
		}
		if id == secCustom {
			d.names(d.at, d.at+size)
		}
		d.at += size
	}
	if s, ok := sections[secCode]; ok && d.err == nil {
		d.code(s[0], s[1])
	}
	return d.err
}

type decoder struct {
	b    []byte
	at   int
	err  error
	w    io.Writer
	note func(uint32) string
	byOp map[uint16]*Instr
	name map[uint32]string
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("offset %d: %s", d.at, fmt.Sprintf(format, args...))
	}
	d.at = len(d.b)
}

func (d *decoder) byte() byte {
	if d.at >= len(d.b) {
		d.fail("the module ends")
		return 0
	}
	d.at++
	return d.b[d.at-1]
}

func (d *decoder) uleb() uint64 {
	v, n := binary.Uvarint(d.b[min(d.at, len(d.b)):])
	if n <= 0 {
		d.fail("bad number")
		return 0
	}
	d.at += n
	return v
}

func (d *decoder) u32() uint32 {
	v := d.uleb()
	if v > math.MaxUint32 {
		d.fail("number %d exceeds 32 bits", v)
		return 0
	}
	return uint32(v)
}

func (d *decoder) sleb() int64 {
	v := int64(0)
	for shift := 0; shift < 70; shift += 7 {
		c := d.byte()
		v |= int64(c&0x7F) << min(shift, 63)
		if c&0x80 == 0 {
			if c&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	d.fail("bad number")
	return 0
}

func (d *decoder) fixed(n int) uint64 {
	if len(d.b)-d.at < n {
		d.fail("the module ends")
		return 0
	}
	v := uint64(0)
	for i := range n {
		v |= uint64(d.b[d.at+i]) << (8 * i)
	}
	d.at += n
	return v
}

func (d *decoder) str() string {
	n := int(d.u32())
	if n > len(d.b)-d.at {
		d.fail("string of %d bytes", n)
		return ""
	}
	d.at += n
	return string(d.b[d.at-n : d.at])
}

// names reads the function names of a name section; other custom sections, and
// a name section that cannot be read, are passed over.
func (d *decoder) names(from, to int) {
	e := &decoder{b: d.b[:to], at: from}
	if e.str() != "name" {
		return
	}
	for e.at < to && e.err == nil {
		id, size := e.byte(), int(e.u32())
		if size > to-e.at {
			return
		}
		end := e.at + size
		if id == 1 {
			names := map[uint32]string{}
			for n := e.u32(); n > 0 && e.err == nil; n-- {
				i := e.u32()
				names[i] = e.str()
			}
			if e.err == nil {
				d.name = names
			}
		}
		e.at = end
	}
}

func (d *decoder) funcName(i uint32) string {
	if n, ok := d.name[i]; ok {
		return "$" + n
	}
	return fmt.Sprint(i)
}

func (d *decoder) code(from, to int) {
	d.at = from
	count := d.u32()
	for i := uint32(0); i < count && d.err == nil; i++ {
		size := int(d.u32())
		if size > to-d.at {
			d.fail("function of %d bytes", size)
			return
		}
		end := d.at + size
		fmt.Fprintf(d.w, "func %s\n", d.funcName(i))
		for runs := d.u32(); runs > 0 && d.err == nil; runs-- {
			n, t := d.u32(), ValType(d.byte())
			fmt.Fprintf(d.w, "          local %v x%d\n", t, n)
		}
		d.body(end)
	}
}

func (d *decoder) body(end int) {
	depth := 0
	for d.at < end && d.err == nil {
		start := d.at
		op := uint16(d.byte())
		if op == 0xFC || op == 0xFD {
			sub := d.u32()
			if sub > 0xFF {
				d.fail("instruction %#x %d", op, sub)
				return
			}
			op = op<<8 | uint16(sub)
		}
		in := d.byOp[op]
		if in == nil {
			d.at = start
			d.fail("no instruction with opcode %#x", op)
			return
		}
		imm := d.immediates(in)
		if d.err != nil {
			return
		}
		indent := depth
		switch in.Name {
		case "block", "loop", "if":
			depth++
		case "else":
			indent--
		case "end":
			depth--
			indent--
		}
		line := fmt.Sprintf("  %06x  %s%s%s", start, strings.Repeat("  ", max(indent, 0)), in.Name, imm)
		if d.note != nil {
			if n := d.note(uint32(start)); n != "" {
				line = fmt.Sprintf("%-60s ;; %s", line, n)
			}
		}
		fmt.Fprintln(d.w, line)
	}
	if d.err == nil && depth != -1 {
		d.fail("function ends inside %d blocks", depth)
	}
}

// immediates reads and prints what follows an opcode.
func (d *decoder) immediates(in *Instr) string {
	switch in.Imm {
	case ImmNone:
		return ""
	case ImmBlock:
		if t := d.byte(); uint64(t) != BlockVoid {
			return fmt.Sprintf(" (result %v)", ValType(t))
		}
		return ""
	case ImmFunc:
		return " " + d.funcName(d.u32())
	case ImmLabel, ImmLocal, ImmGlobal:
		return fmt.Sprint(" ", d.u32())
	case ImmTable:
		out := ""
		for n := uint64(d.u32()) + 1; n > 0 && d.err == nil; n-- {
			out += fmt.Sprint(" ", d.u32())
		}
		return out
	case ImmMem, ImmMemLane:
		align, offset := d.u32(), d.u32()
		out := fmt.Sprintf(" offset=%d align=%d", offset, uint64(1)<<min(align, 63))
		if in.Imm == ImmMemLane {
			out += fmt.Sprint(" ", d.byte())
		}
		return out
	case ImmZero, ImmZero2:
		d.fixed(int(in.Imm-ImmZero) + 1)
		return ""
	case ImmI32, ImmI64:
		return fmt.Sprint(" ", d.sleb())
	case ImmF32:
		return fmt.Sprintf(" %v", math.Float32frombits(uint32(d.fixed(4))))
	case ImmF64:
		return fmt.Sprintf(" %v", math.Float64frombits(d.fixed(8)))
	case ImmV128:
		lo := d.fixed(8)
		return fmt.Sprintf(" i64x2 %#x %#x", lo, d.fixed(8))
	case ImmShuffle:
		out := ""
		for range 16 {
			out += fmt.Sprint(" ", d.byte())
		}
		return out
	case ImmLane:
		return fmt.Sprint(" ", d.byte())
	}
	panic("BUG: wenc: immediate kind of " + in.Name)
}
