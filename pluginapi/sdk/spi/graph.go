package spi

import "github.com/kera-lang/kera/core/digest"

// Graph is a program as the bytes of a `.keg` file that holds the source and
// the optimised graph.
type Graph struct {
	Bytes  []byte   // read-only
	Digest digest.D // SHA3-256 of Bytes
}

// NewGraph wraps the bytes of a `.keg` file. They must not change afterwards.
func NewGraph(b []byte) *Graph { return &Graph{Bytes: b, Digest: digest.Plain(b)} }
