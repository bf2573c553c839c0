package graph

import (
	"encoding/binary"

	"github.com/kera-lang/kera/core/types"
)

// nanForm describes a float format's NaNs: those with a magnitude above inf;
// canon is the one visible NaN.
type nanForm struct {
	size          int
	abs, inf, nan uint64
}

var nanForms = map[types.DType]nanForm{
	types.F16:  {2, 0x7fff, 0x7c00, 0x7e00},
	types.BF16: {2, 0x7fff, 0x7f80, 0x7fc0},
	types.F32:  {4, 0x7fffffff, 0x7f800000, 0x7fc00000},
	types.F64:  {8, 0x7fffffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000},
}

func load(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// CanonicalBytes reports whether dense bytes of dtype d hold only canonical
// NaNs and bools.
func CanonicalBytes(d types.DType, b []byte) bool {
	if d == types.Bool {
		for _, v := range b {
			if v > 1 {
				return false
			}
		}
		return true
	}
	f, ok := nanForms[d]
	if !ok {
		return true
	}
	for i := 0; i+f.size <= len(b); i += f.size {
		if v := load(b[i : i+f.size]); v&f.abs > f.inf && v != f.nan {
			return false
		}
	}
	return true
}

// Canonicalise rewrites in place every NaN of b to the canonical one and every
// non-zero bool to 1.
func Canonicalise(d types.DType, b []byte) {
	if d == types.Bool {
		for i, v := range b {
			if v > 1 {
				b[i] = 1
			}
		}
		return
	}
	f, ok := nanForms[d]
	if !ok {
		return
	}
	for i := 0; i+f.size <= len(b); i += f.size {
		if load(b[i:i+f.size])&f.abs <= f.inf {
			continue
		}
		for k := range f.size {
			b[i+k] = byte(f.nan >> (8 * k))
		}
	}
}
