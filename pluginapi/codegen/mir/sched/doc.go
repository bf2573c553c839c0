// Package sched orders instructions inside basic blocks: list scheduling on the
// critical path with a cap on register pressure.
//
// Blocks are cut into regions of at most 256 instructions, so that the quadratic parts
// (memory pairs, the ready list) stay a constant factor. In a region a dependence
// graph is built from registers, memory and resources, every instruction gets its
// height (latency to the end of the region), and a clock issues ready instructions
// to their ports, highest first, ties by index. Before allocation a candidate that
// would push a register class over its limit waits while another one does not; if the
// finished region still needs more registers than it has and more than the original
// order did, the original order stays. So scheduling never causes a spill that the
// plan did not ask for. After allocation the same scheduler runs on physical
// registers, where reuse of a register is a dependence and there is no pressure.
//
// The terminator stays last. The result is a function of the input alone.
package sched
