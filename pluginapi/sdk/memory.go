package sdk

import (
	"context"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Memory implements the buffer half of Executor (Alloc, CopyIn, CopyOut, Free)
// for artifacts that run in host memory. Embed it and write Probe, Load, Unload
// and Invoke. Each buffer is a shared mapping of an anonymous file, page
// aligned, so that a runner process can map the same memory (File).
type Memory struct {
	mu   sync.Mutex
	next uint64
	bufs map[uint64]*block
}

type block struct {
	file *os.File
	mem  []byte // the mapping; at least one page
	size uint64
}

// NewMemory returns an empty set of buffers.
func NewMemory() *Memory { return &Memory{bufs: map[uint64]*block{}} }

// Alloc makes a buffer of zero bytes.
func (m *Memory) Alloc(_ context.Context, bytes, align uint64) (uint64, error) {
	page := uint64(os.Getpagesize())
	if align > page {
		return 0, fmt.Errorf("alignment %d exceeds the page size %d", align, page)
	}
	if bytes > 1<<46 {
		return 0, fmt.Errorf("buffer of %d bytes", bytes)
	}
	f, err := anonymousFile()
	if err != nil {
		return 0, err
	}
	size := max(bytes, 1)
	size = (size + page - 1) / page * page
	mem, err := mapShared(f, int64(size))
	if err != nil {
		f.Close()
		return 0, fmt.Errorf("buffer of %d bytes: %w", bytes, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	m.bufs[m.next] = &block{file: f, mem: mem, size: bytes}
	return m.next, nil
}

func mapShared(f *os.File, size int64) ([]byte, error) {
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func (m *Memory) block(buffer uint64) (*block, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.bufs[buffer]
	if !ok {
		return nil, fmt.Errorf("no buffer %d", buffer)
	}
	return b, nil
}

// Bytes returns the memory of a buffer. It must not be used after Free.
func (m *Memory) Bytes(buffer uint64) ([]byte, error) {
	b, err := m.block(buffer)
	if err != nil {
		return nil, err
	}
	return b.mem[:b.size:b.size], nil
}

// File returns the file behind a buffer, for handing to another process. It
// belongs to m.
func (m *Memory) File(buffer uint64) (*os.File, error) {
	b, err := m.block(buffer)
	if err != nil {
		return nil, err
	}
	return b.file, nil
}

func (m *Memory) window(buffer, offset, n uint64) ([]byte, error) {
	b, err := m.Bytes(buffer)
	if err != nil {
		return nil, err
	}
	if offset > uint64(len(b)) || n > uint64(len(b))-offset {
		return nil, fmt.Errorf("buffer %d: bytes %d..%d of %d", buffer, offset, offset+n, len(b))
	}
	return b[offset : offset+n], nil
}

// CopyIn writes src into a buffer.
func (m *Memory) CopyIn(_ context.Context, buffer, offset uint64, src []byte) error {
	w, err := m.window(buffer, offset, uint64(len(src)))
	copy(w, src)
	return err
}

// CopyOut reads from a buffer into dst.
func (m *Memory) CopyOut(_ context.Context, buffer, offset uint64, dst []byte) error {
	w, err := m.window(buffer, offset, uint64(len(dst)))
	copy(dst, w)
	return err
}

// Free releases a buffer.
func (m *Memory) Free(_ context.Context, buffer uint64) error {
	m.mu.Lock()
	b, ok := m.bufs[buffer]
	delete(m.bufs, buffer)
	m.mu.Unlock()
	if !ok {
		return fmt.Errorf("no buffer %d", buffer)
	}
	if err := unix.Munmap(b.mem); err != nil {
		return err
	}
	return b.file.Close()
}
