#include "textflag.h"

// Offsets in type frame (frame.go); TestFrameOffsets checks them.
#define f_fn 0
#define f_in 8
#define f_out 16
#define f_work 24
#define f_tile 32
#define f_stack 40
#define f_sp 48
#define f_bp 56
#define f_mxcsr 64
#define f_newcsr 68
#define f_ret 72
#define f_sig 76
#define f_rip 80
#define f_addr 88

// func call(f *frame)
//
// Calls f.fn by the SysV convention on its own stack. The callee keeps RBX,
// RBP and R12..R15, so RBX holds the frame across the call.
TEXT ·call(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ f+0(FP), BX
	MOVQ SP, f_sp(BX)
	MOVQ BP, f_bp(BX)
	STMXCSR f_mxcsr(BX)
	LDMXCSR f_newcsr(BX)
	MOVQ f_fn(BX), AX
	MOVQ f_in(BX), DI
	MOVQ f_out(BX), SI
	MOVQ f_work(BX), DX
	MOVQ f_tile(BX), CX
	MOVQ f_stack(BX), SP
	CALL AX
	MOVL AX, f_ret(BX)
	MOVQ f_sp(BX), SP
	MOVQ f_bp(BX), BP
	LDMXCSR f_mxcsr(BX)
	VZEROUPPER
	CLD
	RET

// faulted is where a faulting call resumes: the handler put the frame in RBX.
TEXT faulted<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ BP, CX               // the faulting code's, of no use
	MOVQ f_sp(BX), SP
	MOVQ f_bp(BX), BP
	LDMXCSR f_mxcsr(BX)
	VZEROUPPER
	CLD
	RET

// handler is the signal handler for faults: DI signal, SI siginfo, DX
// ucontext. A fault whose stack pointer lies in the stacks of generated code
// is recorded in its frame (the address is in the last word of the stack
// slot) and resumes at faulted. All others go to Go's own handler.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0
	MOVQ 160(DX), AX          // rsp
	CMPQ AX, ·stacksLo(SB)
	JCS  chain
	CMPQ AX, ·stacksHi(SB)
	JCC  chain
	ORQ  $0x7fffff, AX        // stackSlot - 1
	MOVQ -7(AX), BX
	MOVL DI, f_sig(BX)
	MOVQ 168(DX), CX          // rip
	MOVQ CX, f_rip(BX)
	MOVQ 16(SI), CX           // si_addr
	MOVQ CX, f_addr(BX)
	MOVQ BX, 128(DX)          // rbx
	LEAQ faulted<>(SB), CX
	MOVQ CX, 168(DX)
	RET
chain:
	MOVQ ·goHandler(SB), AX
	JMP  AX

// restorer ends a signal handler.
TEXT ·restorer(SB), NOSPLIT|NOFRAME, $0
	MOVQ $15, AX              // rt_sigreturn
	SYSCALL
	INT  $3

// func handlerPC() uintptr
TEXT ·handlerPC(SB), NOSPLIT, $0-8
	LEAQ ·handler(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func restorerPC() uintptr
TEXT ·restorerPC(SB), NOSPLIT, $0-8
	LEAQ ·restorer(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() uint32
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, ret+0(FP)
	RET
