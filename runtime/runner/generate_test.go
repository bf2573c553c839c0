package runner

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/types"
)

func TestGenerate(t *testing.T) {
	for _, d := range types.DTypes() {
		ty := types.Tensor(d, 8, 8)
		for number := range 2 * len(styles) {
			a := Generate([]types.Type{ty}, 7, number)[0]
			b := Generate([]types.Type{ty}, 7, number)[0]
			if !bytes.Equal(a, b) || int64(len(a)) != ty.NumBytes() {
				t.Errorf("%s case %d: not repeatable or %d bytes", d, number, len(a))
			}
			if !graph.CanonicalBytes(d, a) {
				t.Errorf("%s case %d: a NaN other than the one", d, number)
			}
			if number > 0 && d != types.Bool && bytes.Equal(a, Generate([]types.Type{ty}, 7, number-1)[0]) {
				t.Errorf("%s: cases %d and %d are equal", d, number-1, number)
			}
		}
		// Case 0 meets every edge value in 64 elements.
		seen := map[uint64]bool{}
		data := Generate([]types.Type{ty}, 1, 0)[0]
		for k := 0; k < len(data); k += d.Size() {
			var w [8]byte
			copy(w[:], data[k:k+d.Size()])
			seen[binary.LittleEndian.Uint64(w[:])] = true
		}
		for _, e := range edgeValues(d) {
			if mask := ^uint64(0) >> (64 - 8*d.Size()); !seen[e&mask] {
				t.Errorf("%s: the edge value %#x does not occur", d, e)
			}
		}
	}
}
