package plan

// alloc is a piece of work memory. It is freed when no operand refers to it.
type alloc struct {
	off, size int64
	refs      int
}

// arena assigns work memory: first fit over the free gaps, 64-byte aligned,
// deterministic. The high-water mark is the entry's scratch size.
type arena struct {
	live []*alloc // ascending by offset
	high int64
}

const align = 64

func (a *arena) get(size int64) *alloc {
	size = max((size+align-1)/align*align, align)
	at := int64(0)
	i := 0
	for ; i < len(a.live); i++ {
		if a.live[i].off-at >= size {
			break
		}
		at = a.live[i].off + a.live[i].size
	}
	x := &alloc{off: at, size: size}
	a.live = append(a.live, nil)
	copy(a.live[i+1:], a.live[i:])
	a.live[i] = x
	a.high = max(a.high, at+size)
	return x
}

func (a *arena) put(x *alloc) {
	for i, y := range a.live {
		if x == y {
			a.live = append(a.live[:i], a.live[i+1:]...)
			return
		}
	}
	panic("BUG: work memory freed twice")
}

// snapshot remembers which memory is held and how often.
func (a *arena) snapshot() []alloc {
	out := make([]alloc, len(a.live))
	for i, x := range a.live {
		out[i] = *x
	}
	return out
}

// restore returns to a snapshot since which nothing was allocated or freed.
func (a *arena) restore(s []alloc) {
	if len(s) != len(a.live) {
		panic("BUG: work memory changed hands in vector code")
	}
	for i := range s {
		a.live[i].refs = s[i].refs
	}
}
