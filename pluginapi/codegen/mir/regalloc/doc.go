// Package regalloc assigns physical registers to a mir.Func.
//
// The algorithm works on the SSA form in one pass over the blocks in reverse
// post-order, after Braun and Hack, "Register Spilling and Live-Range Splitting for
// SSA-Form Programs" (CC 2009) for what stays in registers, and Braun, Mallon and
// Hack, "Preference-Guided Register Assignment" (CC 2010) for which register it is:
//
//	          next-use distances (backward, a loop exit counts 100 000)
//	                              |
//	block entry   choose what is in registers: at a loop header first what the
//	              loop uses, then as many live-through values as its pressure allows
//	instruction   bring uses in (reload or rematerialise), evict the value used
//	              furthest in the future (Belady) while there are too many,
//	              move values away from fixed and clobbered registers,
//	              give definitions a register: reused input, hint, first free
//	edge          a parallel move takes the state at the predecessor's end to the
//	              state expected at the successor's entry
//
// Because eviction depends only on how many values are live, and SSA liveness makes a
// free register certain whenever the count fits, a loop whose pressure fits its class
// has no spill code at all. A value evicted is stored where it is evicted, or once at
// its definition when that is executed less often (8 per loop level).
//
// The cost is linear in instructions plus the size of the live sets; there is no
// interference graph. All choices break ties by register or index: output is a
// function of the input alone.
//
// What must hold, and Check verifies on every path: each use reads a location that
// holds its value, and constraints of the instruction table are met.
package regalloc
