package keg

import (
	"sync"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// wide builds a graph of about n nodes in columns of elementwise ops.
func wide(n int) *graph.Graph {
	g := graph.New()
	b := graph.B{Store: g.Store}
	v := types.Tensor(types.F32, 1024)
	row := b.Params(v, v, v, v, v, v, v, v)
	ops := []op.Code{op.Add, op.Mul, op.Sub, op.Max}
	for i := 0; g.NumNodes() < n; i++ {
		next := make([]graph.Ref, len(row))
		for k := range row {
			next[k] = b.N(ops[(i+k)%len(ops)], nil, row[k], row[(k*3+i)%len(row)])
		}
		row = next
	}
	ps := make([]types.Type, len(row))
	ports := make([]graph.Port, len(row))
	for i := range ps {
		ps[i], ports[i].Name = v, string(rune('a'+i))
	}
	r := b.Region(ps, append(row, b.NoTrap())...)
	g.Exports = []graph.Export{{Name: "wide", Params: ports, Results: ports, Region: r, Optimised: graph.None}}
	return g
}

var million = sync.OnceValue(func() []byte {
	b, err := Encode(&File{Graph: wide(1_000_000)}, WriteOptions{})
	if err != nil {
		panic(err)
	}
	return b
})

func perNode(b *testing.B) {
	b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "nodes/s")
}

func BenchmarkRead1M(b *testing.B) {
	data := million()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := Read(data, ReadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	perNode(b)
}

func BenchmarkWrite1M(b *testing.B) {
	f, err := Read(million(), ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if _, err := Encode(f, WriteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	perNode(b)
}

// BenchmarkHash1M is the floor under BenchmarkRead1M: the file's digest and one
// digest of a typical node payload per node.
func BenchmarkHash1M(b *testing.B) {
	data := million()
	payload := make([]byte, 128)
	b.ResetTimer()
	for range b.N {
		digest.Plain(data)
		for range 1_000_000 {
			digest.Of(digest.Node, payload)
		}
	}
	perNode(b)
}
