package digest

import "encoding/binary"

// Enc builds a canonical payload: fixed-width little-endian integers and
// length-prefixed byte strings. The zero Enc is ready.
type Enc struct{ B []byte }

// U8 appends one byte.
func (e *Enc) U8(v uint8) { e.B = append(e.B, v) }

// U16 appends a 16-bit integer.
func (e *Enc) U16(v uint16) { e.B = binary.LittleEndian.AppendUint16(e.B, v) }

// U32 appends a 32-bit integer.
func (e *Enc) U32(v uint32) { e.B = binary.LittleEndian.AppendUint32(e.B, v) }

// U64 appends a 64-bit integer.
func (e *Enc) U64(v uint64) { e.B = binary.LittleEndian.AppendUint64(e.B, v) }

// I64 appends a signed 64-bit integer.
func (e *Enc) I64(v int64) { e.U64(uint64(v)) }

// Bytes appends a u32 length and the bytes.
func (e *Enc) Bytes(b []byte) {
	e.U32(uint32(len(b)))
	e.B = append(e.B, b...)
}

// Str appends a string as Bytes.
func (e *Enc) Str(s string) {
	e.U32(uint32(len(s)))
	e.B = append(e.B, s...)
}

// Digest appends the 32 bytes of d, unprefixed.
func (e *Enc) Digest(d D) { e.B = append(e.B, d[:]...) }

// Reset empties the payload, keeping its memory.
func (e *Enc) Reset() { e.B = e.B[:0] }
