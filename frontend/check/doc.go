// Package check resolves names and types of parsed modules and elaborates them
// into a typed tree (hir.go) in which nothing is implicit any more: literals
// have their type, broadcasts and conversions are nodes, every name points at
// its declaration, every call carries the dimensions it was solved for.
//
// Generic functions are checked once, with dimensions as polynomials over their
// parameters (dim.go, after the usual normal form: two dimensions are equal if
// their difference is the zero polynomial, modulo the `where` equalities). What
// depends on the values - negative sizes, inequalities of `where` - is left in
// the tree for package build, which asks again for each instance.
//
// Checking is bidirectional: expr takes the type wanted by the context, which
// literals adopt, and gives the type found. What must hold: Check never panics
// on any tree; an erroneous part has the error type, which every rule accepts
// silently, so one mistake makes one diagnostic; the result depends only on the
// trees, never on map order.
package check
