package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Each thread that runs generated code has one slot of the stacks area: a
// guard page at the low end and, in the last word, the address of its frame,
// so that the signal handler finds the frame from the stack pointer alone.
const (
	stackSlot  = 1 << 23 // reserved; pages come with use
	stackGuard = 4096
	maxThreads = 256
	mxcsr      = 0x1f80 // round to nearest, exceptions masked, no FTZ, no DAZ
)

// frame is what the assembly shares with Go about one call.
type frame struct {
	fn, in, out, work uintptr
	tile              uint64
	stack, sp, bp     uintptr
	mxcsr, newcsr     uint32
	ret               int32
	sig               uint32
	rip, addr         uint64
}

// Set once by setupStacks before any generated code runs; the signal handler
// has no other way to reach them.
//
//lint:ignore U1000 the assembly uses them
var stacksLo, stacksHi, goHandler uintptr

// stacks is the memory from stacksLo to stacksHi.
type stacks []byte

func call(f *frame)
func handlerPC() uintptr
func restorerPC() uintptr
func cpuid(leaf, sub uint32) (a, b, c, d uint32)
func xgetbv() uint32

// setupStacks reserves the stacks and installs the fault handler.
func setupStacks() (stacks, error) {
	const size = stackSlot * (maxThreads + 1)
	b, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserving stacks: %w", err)
	}
	lo := (uintptr(unsafe.Pointer(&b[0])) + stackSlot - 1) &^ (stackSlot - 1)
	stacksLo, stacksHi = lo, lo+stackSlot*maxThreads
	for _, sig := range []uintptr{uintptr(unix.SIGSEGV), uintptr(unix.SIGBUS), uintptr(unix.SIGILL), uintptr(unix.SIGFPE), uintptr(unix.SIGTRAP)} {
		if err := installHandler(sig); err != nil {
			return nil, err
		}
	}
	skip := lo - uintptr(unsafe.Pointer(&b[0]))
	return b[skip : skip+stackSlot*maxThreads], nil
}

// sigaction is the kernel's struct sigaction.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

func installHandler(sig uintptr) error {
	const saSiginfo, saOnstack, saRestorer = 0x4, 0x08000000, 0x04000000
	act := sigaction{handlerPC(), saSiginfo | saOnstack | saRestorer, restorerPC(), ^uint64(0)}
	var old sigaction
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&act)), uintptr(unsafe.Pointer(&old)), 8, 0, 0)
	if e != 0 {
		return fmt.Errorf("signal handler: %w", e)
	}
	if old.handler > 1 {
		goHandler = old.handler // the same for every signal
	}
	return nil
}

// newFrame makes the frame of thread i and maps its stack.
func (s stacks) newFrame(i int) (*frame, error) {
	slot := s[i*stackSlot : (i+1)*stackSlot]
	if err := unix.Mprotect(slot[stackGuard:], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil, fmt.Errorf("stack of thread %d: %w", i, err)
	}
	f := &frame{newcsr: mxcsr, stack: uintptr(unsafe.Pointer(&slot[stackSlot-64]))}
	*(*uintptr)(unsafe.Pointer(&slot[stackSlot-8])) = uintptr(unsafe.Pointer(f))
	return f, nil
}
