package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/kera-lang/kera/pluginapi/native/wire"
	"golang.org/x/sys/unix"
)

// machine holds what is mapped and the threads that run it.
type machine struct {
	buffers map[uint64][]byte
	modules map[uint64][]byte
	stacks  stacks
	work    []byte // anonymous memory, grown as needed
	workers []*worker
	faulted bool
}

// worker is one thread with its stack. Worker 0 is the serving thread.
type worker struct {
	f     *frame
	start chan *phaseRun
	done  chan struct{}
	// The lowest trapping or faulting tile of the current phase.
	tile   uint64
	trap   int32
	signal uint32
}

// phaseRun is one phase being spread over the workers.
type phaseRun struct {
	fn            uintptr
	in, out, work uintptr
	tiles, grain  uint64
	next          atomic.Uint64
	stop          atomic.Bool // a fault: claim no more tiles
}

func newMachine() (*machine, error) {
	s, err := setupStacks()
	if err != nil {
		return nil, err
	}
	m := &machine{stacks: s, buffers: map[uint64][]byte{}, modules: map[uint64][]byte{}}
	return m, m.grow(1)
}

// grow makes sure that n workers exist.
func (m *machine) grow(n int) error {
	// The reader needs a processor while all workers run code.
	if runtime.GOMAXPROCS(0) < n+2 {
		runtime.GOMAXPROCS(n + 2)
	}
	for len(m.workers) < n {
		f, err := m.stacks.newFrame(len(m.workers))
		if err != nil {
			return err
		}
		w := &worker{f: f, start: make(chan *phaseRun), done: make(chan struct{})}
		if len(m.workers) > 0 {
			go w.loop()
		}
		m.workers = append(m.workers, w)
	}
	return nil
}

func (w *worker) loop() {
	runtime.LockOSThread()
	for p := range w.start {
		w.run(p)
		w.done <- struct{}{}
	}
}

const noTile = ^uint64(0)

// run claims tiles until none is left. Tiles are claimed in ascending order,
// but a later one may trap first, so none is skipped.
func (w *worker) run(p *phaseRun) {
	f := w.f
	f.fn, f.in, f.out, f.work = p.fn, p.in, p.out, p.work
	w.tile, w.trap, w.signal = noTile, 0, 0
	for !p.stop.Load() {
		lo := p.next.Add(p.grain) - p.grain
		if lo >= p.tiles {
			return
		}
		for t := lo; t < min(lo+p.grain, p.tiles); t++ {
			f.tile, f.sig = t, 0
			call(f)
			if f.sig != 0 {
				w.tile, w.signal = t, f.sig
				p.stop.Store(true)
				return
			}
			if f.ret != 0 && t < w.tile {
				w.tile, w.trap = t, f.ret
			}
		}
	}
}

func (m *machine) handle(op wire.Op, payload []byte) ([]byte, error) {
	d := &wire.Dec{B: payload}
	switch op {
	case wire.OpHello:
		d.U32()
		var e wire.Enc
		e.U32(wire.Version)
		js, err := json.Marshal(probe())
		return append(e.B, js...), err
	case wire.OpMap:
		id, off, n := d.U64(), d.U64(), d.U64()
		if err := d.Done(); err != nil {
			return nil, err
		}
		if _, ok := m.buffers[id]; ok || n == 0 {
			return nil, fmt.Errorf("buffer %d of %d bytes cannot be mapped", id, n)
		}
		b, err := unix.Mmap(wire.SharedFD, int64(off), int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return nil, fmt.Errorf("mapping buffer %d: %w", id, err)
		}
		m.buffers[id] = b
		return nil, nil
	case wire.OpUnmap:
		return nil, m.drop(m.buffers, d)
	case wire.OpLoad:
		id, off, n := d.U64(), d.U64(), d.U64()
		if err := d.Done(); err != nil {
			return nil, err
		}
		if _, ok := m.modules[id]; ok || n == 0 {
			return nil, fmt.Errorf("module %d of %d bytes cannot be loaded", id, n)
		}
		return nil, m.load(id, off, n)
	case wire.OpUnload:
		return nil, m.drop(m.modules, d)
	case wire.OpCall:
		c, err := wire.DecodeCall(payload)
		if err != nil {
			return nil, err
		}
		r, err := m.call(c)
		if err != nil {
			return nil, err
		}
		return r.Encode(), nil
	}
	return nil, fmt.Errorf("unknown operation %d", op)
}

func (m *machine) drop(from map[uint64][]byte, d *wire.Dec) error {
	id := d.U64()
	if err := d.Done(); err != nil {
		return err
	}
	b, ok := from[id]
	if !ok {
		return fmt.Errorf("handle %d does not exist", id)
	}
	delete(from, id)
	return unix.Munmap(b)
}

// load copies code out of the shared file, so that no later write to the file
// changes it, and makes the copy executable.
func (m *machine) load(id, off, n uint64) error {
	src, err := unix.Mmap(wire.SharedFD, int64(off), int(n), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping code: %w", err)
	}
	defer func() { _ = unix.Munmap(src) }()
	code, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("allocating code: %w", err)
	}
	copy(code, src)
	if err := unix.Mprotect(code, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		_ = unix.Munmap(code)
		return fmt.Errorf("making code executable: %w", err)
	}
	m.modules[id] = code
	return nil
}

// scratch returns at least n bytes at an alignment.
func (m *machine) scratch(n, align uint64) ([]byte, error) {
	align = max(align, 64)
	if n > 1<<46 || align > 1<<20 || align&(align-1) != 0 {
		return nil, fmt.Errorf("work memory of %d bytes aligned to %d", n, align)
	}
	if need := n + align; uint64(len(m.work)) < need {
		if m.work != nil {
			if err := unix.Munmap(m.work); err != nil {
				return nil, err
			}
			m.work = nil
		}
		b, err := unix.Mmap(-1, 0, int(need+need/4+4096), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return nil, fmt.Errorf("work memory of %d bytes: %w", n, err)
		}
		m.work = b
	}
	skip := -uint64(uintptr(unsafe.Pointer(&m.work[0]))) & (align - 1)
	return m.work[skip:], nil
}

func (m *machine) addresses(ids []uint64) ([]uintptr, error) {
	out := make([]uintptr, len(ids)+1) // never empty, so that &out[0] exists
	for i, id := range ids {
		b, ok := m.buffers[id]
		if !ok {
			return nil, fmt.Errorf("buffer %d is not mapped", id)
		}
		out[i] = uintptr(unsafe.Pointer(&b[0]))
	}
	return out, nil
}

func (m *machine) call(c *wire.Call) (*wire.Result, error) {
	code, ok := m.modules[c.Module]
	if !ok {
		return nil, fmt.Errorf("module %d is not loaded", c.Module)
	}
	in, err := m.addresses(c.In)
	if err != nil {
		return nil, err
	}
	out, err := m.addresses(c.Out)
	if err != nil {
		return nil, err
	}
	work, err := m.scratch(c.Work, c.WorkAlign)
	if err != nil {
		return nil, err
	}
	threads := int(c.Threads)
	if threads == 0 {
		threads = runtime.NumCPU()
	}
	if err := m.grow(min(threads, maxThreads)); err != nil {
		return nil, err
	}
	for i, p := range c.Phases {
		if p.Offset >= uint64(len(code)) || p.HasLoop && (c.Work < 4 || p.Cond > c.Work-4 || uint64(p.Back) > uint64(i)) {
			return nil, fmt.Errorf("phase %d lies outside the module", i)
		}
	}
	base := uintptr(unsafe.Pointer(&code[0]))
	var res wire.Result
	var pin runtime.Pinner
	pin.Pin(&in[0])
	pin.Pin(&out[0])
	defer pin.Unpin()
	start := time.Now()
	for rep := uint32(0); rep < max(c.Repeat, 1) && res.Trap == 0 && res.Signal == 0; rep++ {
		for i := 0; i < len(c.Phases); {
			p := &c.Phases[i]
			run := &phaseRun{fn: base + uintptr(p.Offset), in: uintptr(unsafe.Pointer(&in[0])),
				out: uintptr(unsafe.Pointer(&out[0])), work: uintptr(unsafe.Pointer(&work[0])), tiles: p.Tiles}
			w := m.phase(run, threads)
			if w != nil {
				res.Trap, res.Signal, res.Tile, res.Phase = uint32(w.trap), w.signal, w.tile, uint32(i)
				if w.signal != 0 {
					m.faulted = true
					res.Trap, res.Addr, res.Offset = 0, w.f.addr, w.f.rip-uint64(base)
					if res.Offset >= uint64(len(code)) {
						res.Offset = ^uint64(0)
					}
				}
				break
			}
			i++
			if p.HasLoop && binary.LittleEndian.Uint32(work[p.Cond:]) != 0 {
				i = int(p.Back)
			}
		}
	}
	res.Nanoseconds = uint64(time.Since(start))
	return &res, nil
}

// phase runs one phase and returns the worker with the lowest trapping tile,
// or one that faulted, or nil.
func (m *machine) phase(p *phaseRun, threads int) *worker {
	n := int(min(uint64(threads), p.tiles, maxThreads))
	if n == 0 {
		return nil
	}
	// A few claims per thread: balance without an atomic operation per tile.
	p.grain = max(1, p.tiles/uint64(n)/8)
	for _, w := range m.workers[1:n] {
		w.start <- p
	}
	m.workers[0].run(p)
	for _, w := range m.workers[1:n] {
		<-w.done
	}
	var worst *worker
	for _, w := range m.workers[:n] {
		switch {
		case w.signal != 0:
			return w
		case w.trap != 0 && (worst == nil || w.tile < worst.tile):
			worst = w
		}
	}
	return worst
}
