// Package mir is the machine IR of the codegen kit: the target-independent half
// of a CPU back end. A vendor fills one table (Target), builds functions with
// Builder, and runs them through sched and regalloc (package pipeline does both);
// what comes out is the same Func with physical registers, ready to encode.
//
// # Shape
//
// A Func is a control flow graph of basic blocks with block parameters instead
// of phis. Everything lives in flat slices: a block owns a contiguous range of
// Insts, an instruction owns a contiguous range of Regs, and the rare rest
// (immediate, displacement, label) sits in a compact Payload record. There are no
// linked lists and no heap object per instruction, so compile time is linear and
// a function is copied with a few appends.
//
// # What must hold
//
//   - SSA: every virtual register has one definition, an instruction operand or a
//     block parameter, which dominates its uses (Verify checks it).
//   - Every instruction names its graph node: Node is a mandatory argument of each
//     emitting method. Instructions that exist for no node (prologue, loop glue of
//     the target's own) say so with NoNode.
//   - The allocator and scheduler may insert or move code at any instruction
//     boundary, therefore condition flags never live across one. A compare and
//     the branch, set or select that consumes it are ONE pseudo instruction that
//     the emitter expands (`cmp_br cond, a, b`); its Desc lists the summed latency.
//   - A terminator with one successor has no register operands: edge moves go
//     before it.
//
// # How a target describes x86 shapes
//
//	two-operand add      def any reuse(1), use any, use any
//	shl r, cl            def any reuse(1), use any, use fixed rcx
//	div r                def fixed rax, def fixed rdx, use fixed rax, use fixed rdx, use any late
//	vfmadd231 acc,b,[m]  def any reuse(1), use any, use any + Mem (base and index are appended)
//	cmp+jcc              use any, use any; Term: TermBranch, condition in Payload.Cond
//	call-like helpers    Clobbers: set of physical registers
//
// An operand marked Late on a use keeps its register until the instruction ends,
// so no definition may share it; Early on a definition means it is written before
// the uses are read. An expanding pseudo that writes its result before it has read
// all inputs must mark the result Early.
package mir
