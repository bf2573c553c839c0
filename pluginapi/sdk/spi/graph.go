package spi

import (
	"sync"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg"
)

// Graph is a program as the bytes of a `.keg` file that holds the source and
// the optimised graph.
type Graph struct {
	Bytes  []byte   // read-only
	Digest digest.D // SHA3-256 of Bytes

	once    sync.Once
	decoded *graph.Graph
	err     error
}

// NewGraph wraps the bytes of a `.keg` file. They must not change afterwards.
func NewGraph(b []byte) *Graph { return &Graph{Bytes: b, Digest: digest.Plain(b)} }

// Decode reads and validates the graph, once for all callers, without its
// provenance. The result is shared between calls for different targets: it may
// be read concurrently and must not be added to. Who wants to rewrite it reads
// one of his own with keg.Read.
func (g *Graph) Decode() (*graph.Graph, error) {
	g.once.Do(func() {
		f, err := keg.Read(g.Bytes, keg.ReadOptions{OmitProvenance: true})
		if err != nil {
			g.err = err
			return
		}
		g.decoded = f.Graph
	})
	return g.decoded, g.err
}
