// Package exec runs Kera's WebAssembly artifacts with wazero, by the binary
// interface of docs/spec/wasm-abi.md: the host lays inputs, outputs and scratch
// memory out in the module's own memory behind its data, passes tables of
// addresses, and calls the phases of an entry in order.
//
// What must hold: a module has no imports, so nothing but its inputs can reach
// a result; tiles run in ascending order on one thread, so the first trapping
// tile is the lowest; a run leaves nothing behind that a later run can read,
// except scratch memory, which no entry may read before writing.
package exec
