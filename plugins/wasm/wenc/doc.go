// Package wenc encodes WebAssembly 2.0 modules: the sections, structured
// control and every numeric, memory and simd128 instruction that Kera emits.
//
// An instruction is declared once, as a row of the table in table.go: name,
// opcode (with its 0xFC or 0xFD prefix), kind of immediates and stack
// signature. The encoder, the text assembler (text.go), the operand checks and
// the exhaustive tests all derive from the rows, so a new instruction is one
// line.
//
// What must hold: a module is a pure function of the calls made on its builder
// (no clock, no map order), every LEB128 number takes its shortest form, and
// every instruction carries the index of the graph node it came from, which
// Encode turns into (module byte offset, node) marks on change.
package wenc
