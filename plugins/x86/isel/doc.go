// Package isel compiles the loop IR to x86-64 machine code at two levels:
// x86-64-v3 (AVX2, FMA, BMI) and AVX-512 (F, DQ, BW, VL, CD).
//
//	lir.Func --lower--> mir.Func --schedule, allocate--> mir.Func --emit--> bytes
//
// Lowering is one forward walk. Loads, comparisons, constants and splats of
// loads with a single use nearby are deferred: nothing is emitted until a
// consumer asks, which then folds them (memory and broadcast operands of
// arithmetic, immediates, compare-and-branch) or has them materialised. A
// deferred load is materialised before anything that may overwrite it.
//
// What must hold: a deferred value is used in the block that defines it, so
// the place where it is materialised dominates every use; flags never live
// across an instruction boundary of the machine IR (a comparison and its
// consumer are one pseudo instruction, see pseudo.go); the upper half of a
// general register that holds an i32 is arbitrary; lanes above the first of a
// vector register that holds a scalar are arbitrary; at the AVX-512 level a
// mask register's bits above the lanes are arbitrary.
package isel
