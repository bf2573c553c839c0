package graph

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// The golden vectors of docs/spec/encoding.md: one line per vector, separated
// by tabs: domain, payload in hexadecimal, digest, what it is. A payload @n
// stands for content of n bytes, byte i being i mod 251, and the digest is that
// of the tree over it in the domain (blob or artifact).
const vectorFile = "testdata/vectors.tsv"

type vector struct{ domain, payload, digest, what string }

type vectorMaker struct {
	list []vector
	g    *Graph
	b    B
}

func (m *vectorMaker) add(d digest.Domain, payload []byte, what string) {
	m.list = append(m.list, vector{string(d), hex.EncodeToString(payload), digest.Of(d, payload).String(), what})
}

func (m *vectorMaker) typ(t types.Type) {
	var e digest.Enc
	EncodeType(&e, t)
	m.add(digest.Type, e.B, t.String())
}

func (m *vectorMaker) node(r Ref) Ref {
	var e digest.Enc
	n, g := r.Node, m.g
	g.hashNode(&e, g.Op(n), g.Version(n), g.OutTypes(n), g.Ins(n), g.Attrs(n), g.Regions(n))
	m.add(digest.Node, e.B, g.NodeText(n))
	return r
}

func (m *vectorMaker) region(r RegionID, what string) RegionID {
	var e digest.Enc
	m.g.hashRegion(&e, m.g.Params(r), m.g.Results(r))
	m.add(digest.Region, e.B, what)
	return r
}

func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

func makeVectors() []vector {
	g := New()
	m := &vectorMaker{g: g, b: B{g.Store}}
	m.types()
	m.trees()
	m.nodes()
	m.graphs()
	var v digest.Enc
	ts := []types.Type{types.Tensor(types.F32, 2), types.Scalar(types.Bool)}
	v.U32(2)
	for i, data := range [][]byte{{0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f}, {1}} {
		v.Digest(TypeDigest(ts[i]))
		v.Digest(digest.Root(data))
	}
	m.add(digest.Value, v.B, "f32[2] of 1, NaN and a bool of true")
	m.add(digest.Value, []byte{0, 0, 0, 0}, "no leaves")
	m.add(digest.Plan, []byte("plan"), "a plan section holding these bytes")
	m.add(digest.Policy, []byte("policy"), "a policy section holding these bytes")
	m.add(digest.Receipt, []byte("receipt"), "a receipt section holding these bytes")
	return m.list
}

func (m *vectorMaker) types() {
	for _, d := range types.DTypes() {
		m.typ(types.Scalar(d))
	}
	for r := types.FS; r.Valid(); r++ {
		m.typ(types.Token(r))
	}
	device := types.Tensor(types.F32, 4, 0, 3)
	device.Space = types.Device
	m.typ(types.Tensor(types.F64, 5))
	m.typ(types.Tensor(types.U8, 1, 2, 3, 4, 5, 6, 7, 8))
	m.typ(device)
	m.typ(types.Type{Kind: types.KindTensor, DType: types.F32, Dims: []types.Dim{{Var: true, Index: 2, Min: 1, Max: 9}, types.Num(3)}})
	m.typ(types.Tuple())
	m.typ(types.Tuple(types.Scalar(types.I64), types.Tuple(types.Tensor(types.Bool, 2), types.Token(types.Net))))
}

func (m *vectorMaker) trees() {
	m.add(digest.Leaf, make([]byte, 8), "leaf 0 of empty content")
	m.add(digest.Leaf, append([]byte{3, 0, 0, 0, 0, 0, 0, 0}, "abc"...), "leaf 3 holding abc")
	l, r := digest.Of(digest.Leaf, make([]byte, 8)), digest.Of(digest.Leaf, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	m.add(digest.Parent, append(l[:], r[:]...), "parent of two leaves")
	root := digest.Root([]byte("abc"))
	m.add(digest.Blob, append([]byte{3, 0, 0, 0, 0, 0, 0, 0}, root[:]...), "blob abc")
	m.add(digest.Artifact, append([]byte{3, 0, 0, 0, 0, 0, 0, 0}, root[:]...), "artifact abc")
	for _, n := range []int{0, 1, digest.ChunkSize, digest.ChunkSize + 1, 3*digest.ChunkSize - 7, 5 * digest.ChunkSize} {
		m.list = append(m.list, vector{string(digest.Blob), fmt.Sprintf("@%d", n), digest.OfBlob(content(n)).String(), "a blob"})
	}
	m.list = append(m.list, vector{string(digest.Artifact), "@100", digest.OfArtifact(content(100)).String(), "an artifact"})
}

func (m *vectorMaker) nodes() {
	b, n := m.b, m.node
	f32, i64, v := types.Scalar(types.F32), types.Scalar(types.I64), types.Tensor(types.F32, 4, 3)
	x, y, k := n(b.Param(0, v)), n(b.Param(1, v)), n(b.Param(2, i64))
	n(b.F64(math.Copysign(0, -1)))
	n(b.F32(1))
	n(b.Const(f32, []byte{1, 0, 0xc0, 0xff})) // a NaN, made canonical
	n(b.Const(types.Tensor(types.U8, 64), content(64)))
	n(b.Const(types.Tensor(types.U8, 65), content(65)))
	n(b.N(op.Add, nil, x, y))
	n(b.N(op.Add, nil, y, x))
	n(b.N(op.FMA, nil, x, y, x))
	n(b.Compare(op.LT, x, y))
	n(b.N(op.ConvertOverflow, op.Attrs{op.Int(op.KTo, int64(types.I8))}, k))
	n(b.Convert(x, types.F64))
	n(b.Reshape(x, 2, 6))
	n(b.Broadcast(b.F32(1), v))
	n(b.N(op.Transpose, op.Attrs{op.Ints(op.KAxes, 1, 0)}, x))
	n(b.Slice(x, []int64{2, 3}, k, k))
	n(b.Reduce(op.Sum, x, 0, 1))
	n(b.N(op.Dot, op.Attrs{op.Int(op.KAxis, 1)}, x, y))
	n(b.N(op.DotGeneral, op.Attrs{op.Int(op.KAcc, int64(op.AccFMA)), op.Ints(op.KLhsBatch), op.Ints(op.KRhsBatch), op.Ints(op.KLhsContract, 1), op.Ints(op.KRhsContract, 1)}, x, y))
	n(b.N(op.Sort, op.Attrs{op.Int(op.KAxis, 0), op.Int(op.KDescending, 1)}, x, y))
	n(b.N(op.ArgMax, op.Attrs{op.Int(op.KAxis, 1)}, x))
	pair := n(b.N(op.Tuple, nil, x, k))
	n(b.N(op.Get, op.Attrs{op.Int(op.KIndex, 1)}, pair))
	n(b.TrapJoin(n(b.TrapIf(op.TrapIndex, b.Compare(op.GE, k, b.I64(4)))), b.TrapIf(op.TrapAssert, b.Compare(op.EQ, k, k))))

	ps := []types.Type{i64, i64}
	cond := m.region(b.Region(ps, b.Compare(op.LT, b.Param(0, i64), b.I64(10))), "i64 counter below 10")
	body := m.region(b.Region(ps, b.N(op.Add, nil, b.Param(0, i64), b.Param(1, i64))), "i64 sum of counter and state")
	swap := m.region(b.Region(ps, b.Param(1, i64), b.Param(0, i64)), "two i64 swapped")
	m.region(b.Region(nil), "an empty region")
	loop := n(b.Apply(op.Loop, op.Attrs{op.Int(op.KCarried, 1)}, []RegionID{cond, body}, k, b.I64(1))[0])
	call := n(b.Apply(op.Call, nil, []RegionID{swap}, k, loop)[0])
	n(b.N(op.Neg, nil, Ref{call.Node, 1}))
	n(b.Apply(op.Switch, nil, []RegionID{swap, swap}, k, k, k)[0])
	n(b.Apply(op.Map, op.Attrs{op.Ints(op.KDims, 2, 3), op.Int(op.KTraps, 0)}, []RegionID{swap})[0])
}

func (m *vectorMaker) graphs() {
	b, w, v := m.b, types.Tensor(types.F32, 64, 32), types.Tensor(types.F32, 64)
	v.Space = types.Device
	plain := b.Region([]types.Type{types.Scalar(types.F32)}, b.Param(0, types.Scalar(types.F32)), b.NoTrap())
	bound := b.Region([]types.Type{types.Scalar(types.F32), w}, b.N(op.Tuple, nil, b.Param(0, types.Scalar(types.F32)), b.Param(1, w)), b.NoTrap())
	placed := b.Region([]types.Type{v}, b.N(op.Neg, nil, b.Param(0, v)), b.NoTrap())
	one := Export{Name: "f", Params: []Port{{Name: "x"}}, Results: []Port{{Name: "y"}}, Region: plain, Optimised: None}
	two := Export{Name: "g", Params: []Port{{Name: "x"}}, Results: []Port{{Name: "p", Fields: []Port{{Name: "0"}, {Name: "1"}}}}, Region: bound, Bound: []Bound{{w, b.AddBlob(content(8192))}}, Optimised: None}
	three := Export{Name: "h", Params: []Port{{Name: "x"}}, Results: []Port{{Name: "y"}}, Region: placed, Optimised: None}
	for _, c := range []struct {
		domain digest.Domain
		what   string
		xs     []Export
	}{
		{digest.Graph, "no exports", nil},
		{digest.Graph, "f(x) = x", []Export{one}},
		{digest.Graph, "f, and g with a bound constant", []Export{one, two}},
		{digest.Placement, "h on a device", []Export{three}},
		{digest.Graph, "h with its space erased", []Export{three}},
	} {
		g := &Graph{Store: m.g.Store, Exports: c.xs}
		if c.domain == digest.Graph {
			erased, err := g.Erased()
			if err != nil {
				panic(err)
			}
			g = erased
		}
		var e digest.Enc
		g.encodeGraph(&e)
		m.add(c.domain, e.B, c.what)
	}
}

// TestVectors: the committed vectors are what the code computes, every domain
// has one, and there are at least fifty.
func TestVectors(t *testing.T) {
	var out strings.Builder
	seen := map[string]bool{}
	list := makeVectors()
	for _, v := range list {
		seen[v.domain] = true
		fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", v.domain, v.payload, v.digest, v.what)
	}
	if os.Getenv("KERA_UPDATE") != "" {
		if err := os.WriteFile(vectorFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(committed) != out.String() {
		t.Errorf("%s is not what the code computes", vectorFile)
	}
	for _, d := range digest.Domains() {
		if !seen[string(d)] {
			t.Errorf("no vector for the domain %s", d)
		}
	}
	if len(list) < 50 {
		t.Errorf("%d vectors", len(list))
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(committed), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if n, err := strconv.Atoi(strings.TrimPrefix(f[1], "@")); err == nil && strings.HasPrefix(f[1], "@") {
			tree := digest.OfBlob
			if f[0] == string(digest.Artifact) {
				tree = digest.OfArtifact
			}
			if got := tree(content(n)); got.String() != f[2] {
				t.Errorf("line %d: %v", i+1, got)
			}
			continue
		}
		p, err := hex.DecodeString(f[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := digest.Of(digest.Domain(f[0]), p); got.String() != f[2] {
			t.Errorf("line %d: %v", i+1, got)
		}
	}
}
