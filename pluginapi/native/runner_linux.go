package native

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/pluginapi/native/wire"
	"golang.org/x/sys/unix"
)

// page is the granularity of buffers in the shared file.
const page = 4096

// Options of New.
type Options struct {
	Path string // of the runner; empty: Find
}

// Runner is a client of one runner process. It is safe for concurrent use;
// calls run one after another.
type Runner struct {
	path string

	mu      sync.Mutex
	file    int // memfd
	size    uint64
	free    []span
	buffers map[uint64]*Buffer
	modules map[uint64]*Module
	nextID  uint64
	proc    *process
	info    Info
	closed  bool
}

// span is an unused range of the shared file.
type span struct{ off, n uint64 }

// Buffer is memory shared with the runner.
type Buffer struct {
	r   *Runner
	id  uint64
	off uint64
	mem []byte
	n   uint64
}

// Bytes is the buffer's memory. It must not be used after Free.
func (b *Buffer) Bytes() []byte { return b.mem[:b.n] }

// Module is a loaded artifact.
type Module struct {
	r    *Runner
	id   uint64
	code *Buffer
}

// New makes a client. The process starts with the first use, so the result
// costs nothing until then.
func New(o Options) (*Runner, error) {
	if o.Path == "" {
		p, err := Find()
		if err != nil {
			return nil, err
		}
		o.Path = p
	}
	fd, err := unix.MemfdCreate("kera-buffers", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("native: shared memory: %w", err)
	}
	return &Runner{path: o.Path, file: fd, buffers: map[uint64]*Buffer{}, modules: map[uint64]*Module{}}, nil
}

// Info describes the machine, as the runner sees it.
func (r *Runner) Info(ctx context.Context) (Info, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.ensure(ctx)
	return r.info, err
}

// Close ends the process and releases all buffers.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.stop()
	for _, b := range r.buffers {
		_ = unix.Munmap(b.mem)
	}
	return unix.Close(r.file)
}

// Alloc returns a zeroed buffer of n bytes, aligned to a page.
func (r *Runner) Alloc(ctx context.Context, n uint64) (*Buffer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ensure(ctx); err != nil {
		return nil, err
	}
	b, err := r.alloc(n)
	if err != nil {
		return nil, err
	}
	if err := r.mapBuffer(ctx, b); err != nil {
		r.release(b)
		return nil, err
	}
	r.buffers[b.id] = b
	return b, nil
}

func (r *Runner) alloc(n uint64) (*Buffer, error) {
	if n > 1<<46 {
		return nil, fmt.Errorf("native: buffer of %d bytes", n)
	}
	whole := max((n+page-1)/page*page, page)
	off, err := r.place(whole)
	if err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(r.file, int64(off), int(whole), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		r.free = append(r.free, span{off, whole})
		return nil, fmt.Errorf("native: mapping %d bytes: %w", whole, err)
	}
	r.nextID++
	return &Buffer{r: r, id: r.nextID, off: off, mem: mem, n: n}, nil
}

// place finds room in the shared file: the first free span that is large
// enough, else the end.
func (r *Runner) place(n uint64) (uint64, error) {
	for i, s := range r.free {
		if s.n >= n {
			if r.free[i] = (span{s.off + n, s.n - n}); s.n == n {
				r.free = append(r.free[:i], r.free[i+1:]...)
			}
			return s.off, nil
		}
	}
	// The file is sparse: room that is not there would only be missed when the
	// code writes to it, by whoever the kernel kills then.
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		if have := (uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit); n > have || r.size > have-n {
			return 0, fmt.Errorf("native: a buffer of %d bytes beside %d, this machine has %d: %w", n, r.size, have, ErrMemory)
		}
	}
	off := r.size
	if err := unix.Ftruncate(r.file, int64(off+n)); err != nil {
		return 0, fmt.Errorf("native: growing shared memory by %d bytes: %w", n, err)
	}
	r.size += n
	return off, nil
}

// release gives a buffer's memory back; punching the hole zeroes it.
func (r *Runner) release(b *Buffer) {
	n := uint64(len(b.mem))
	_ = unix.Munmap(b.mem)
	if err := unix.Fallocate(r.file, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(b.off), int64(n)); err != nil {
		return // never reused, so never seen unzeroed
	}
	r.free = append(r.free, span{b.off, n})
	sort.Slice(r.free, func(i, j int) bool { return r.free[i].off < r.free[j].off })
	merged := r.free[:1]
	for _, s := range r.free[1:] {
		if last := &merged[len(merged)-1]; last.off+last.n == s.off {
			last.n += s.n
		} else {
			merged = append(merged, s)
		}
	}
	r.free = merged
}

// Free releases the buffer.
func (b *Buffer) Free(ctx context.Context) error {
	r := b.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buffers[b.id] != b {
		return fmt.Errorf("native: buffer freed twice")
	}
	delete(r.buffers, b.id)
	var err error
	if r.proc != nil {
		_, err = r.request(ctx, wire.OpUnmap, u64s(b.id))
	}
	r.release(b)
	return err
}

// Load makes code executable in the runner.
func (r *Runner) Load(ctx context.Context, artifact []byte) (*Module, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(artifact) == 0 {
		return nil, fmt.Errorf("native: empty artifact")
	}
	if err := r.ensure(ctx); err != nil {
		return nil, err
	}
	b, err := r.alloc(uint64(len(artifact)))
	if err != nil {
		return nil, err
	}
	copy(b.mem, artifact)
	m := &Module{r: r, id: b.id, code: b}
	if err := r.loadModule(ctx, m); err != nil {
		r.release(b)
		return nil, err
	}
	r.modules[m.id] = m
	return m, nil
}

// Unload releases the module.
func (m *Module) Unload(ctx context.Context) error {
	r := m.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.modules[m.id] != m {
		return fmt.Errorf("native: module unloaded twice")
	}
	delete(r.modules, m.id)
	var err error
	if r.proc != nil {
		_, err = r.request(ctx, wire.OpUnload, u64s(m.id))
	}
	r.release(m.code)
	return err
}

// CallOptions of Call.
type CallOptions struct {
	Threads int // 0: one for each processor
	Repeat  int // for timing; 0 counts as 1
}

// Call runs an entry. Cancelling ctx kills the process, also in the middle of
// generated code. A trap or a fault is part of the Result; the error is for
// what broke around the code.
func (m *Module) Call(ctx context.Context, e *section.Entry, in, out []*Buffer, o CallOptions) (*Result, error) {
	r := m.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.modules[m.id] != m {
		return nil, fmt.Errorf("native: call of an unloaded module")
	}
	if len(in) != len(e.Inputs) || len(out) != len(e.Outputs) {
		return nil, fmt.Errorf("native: entry %q takes %d inputs and %d outputs, got %d and %d",
			e.Name, len(e.Inputs), len(e.Outputs), len(in), len(out))
	}
	c := &wire.Call{Module: m.id, Work: e.Work, WorkAlign: uint64(e.WorkAlign), Threads: uint32(o.Threads), Repeat: uint32(max(o.Repeat, 1))}
	for _, p := range e.Phases {
		wp := wire.Phase{Offset: p.Offset, Tiles: p.Tiles}
		if p.Loop != nil {
			wp.HasLoop, wp.Cond, wp.Back = true, p.Loop.Cond, p.Loop.Back
		}
		c.Phases = append(c.Phases, wp)
	}
	for _, l := range []struct {
		what string
		bufs []*Buffer
		spec []section.Buffer
		ids  *[]uint64
	}{{"input", in, e.Inputs, &c.In}, {"output", out, e.Outputs, &c.Out}} {
		for i, b := range l.bufs {
			if b == nil || r.buffers[b.id] != b {
				return nil, fmt.Errorf("native: %s %d is not a live buffer", l.what, i)
			}
			if need := l.spec[i].Bytes(); b.n < uint64(need) || l.spec[i].Align > page {
				return nil, fmt.Errorf("native: %s %d of %q needs %d bytes aligned to %d, the buffer has %d",
					l.what, i, e.Name, need, l.spec[i].Align, b.n)
			}
			*l.ids = append(*l.ids, b.id)
		}
	}
	if err := distinct(c.In, c.Out); err != nil {
		return nil, fmt.Errorf("native: entry %q: %w", e.Name, err)
	}
	if err := r.ensure(ctx); err != nil {
		return nil, err
	}
	reply, err := r.request(ctx, wire.OpCall, c.Encode())
	if err != nil {
		return nil, err
	}
	w, err := wire.DecodeResult(reply)
	if err != nil {
		r.stop()
		return nil, fmt.Errorf("native: reply of the runner: %w", err)
	}
	res := &Result{Trap: w.Trap, Tile: w.Tile, Phase: int(w.Phase), Nanoseconds: w.Nanoseconds}
	if w.Signal != 0 {
		r.stop() // it ends by itself with wire.FaultExit
		res.Fault = &Fault{Signal: unix.SignalName(unix.Signal(w.Signal)), Offset: w.Offset, Inside: w.Offset != ^uint64(0), Address: w.Addr}
	}
	return res, nil
}

// distinct refuses a buffer that is written under two names: generated code
// assumes that no other buffer overlaps an output.
func distinct(in, out []uint64) error {
	seen := make(map[uint64]bool, len(in))
	for _, id := range in {
		seen[id] = true
	}
	for i, id := range out {
		if seen[id] {
			return fmt.Errorf("output %d is also another argument", i)
		}
		seen[id] = true
	}
	return nil
}

func u64s(vs ...uint64) []byte {
	var e wire.Enc
	for _, v := range vs {
		e.U64(v)
	}
	return e.B
}
