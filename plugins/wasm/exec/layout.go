package exec

import (
	"fmt"

	"github.com/kera-lang/kera/core/keg/section"
)

const (
	pageSize  = 1 << 16
	maxMemory = 1<<32 - pageSize // the last page stays free: no address wraps
	minAlign  = 64
)

// Layout says where the values of one entry lie in a module's memory.
type Layout struct {
	InTable, OutTable uint32 // arrays of u32 addresses
	In, Out           []uint32
	Work              uint32
	End               uint32 // first byte behind everything
}

// Place lays an entry's values out from base upwards, aligned as it asks.
func Place(e *section.Entry, base uint32) (Layout, error) {
	var l Layout
	at := uint64(base)
	take := func(size, align uint64) (uint32, error) {
		align = max(align, minAlign)
		at = (at + align - 1) &^ (align - 1)
		if size > maxMemory || at+size > maxMemory {
			return 0, fmt.Errorf("entry %q needs more than the %d bytes that a 32-bit memory has", e.Name, uint64(maxMemory))
		}
		p := uint32(at)
		at += size
		return p, nil
	}
	var err error
	place := func(p *uint32, size, align uint64) {
		if err == nil {
			*p, err = take(size, align)
		}
	}
	l.In, l.Out = make([]uint32, len(e.Inputs)), make([]uint32, len(e.Outputs))
	place(&l.InTable, 4*uint64(len(e.Inputs)), 4)
	place(&l.OutTable, 4*uint64(len(e.Outputs)), 4)
	for i, b := range e.Inputs {
		place(&l.In[i], uint64(b.Bytes()), uint64(b.Align))
	}
	for i, b := range e.Outputs {
		place(&l.Out[i], uint64(b.Bytes()), uint64(b.Align))
	}
	place(&l.Work, e.Work, uint64(e.WorkAlign))
	place(&l.End, 0, 1)
	return l, err
}
