package graph

import (
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// sumLoop builds f(x: f64[4], n: i64) -> loop n times x = x + x*c.
func sumLoop(t *testing.T, c float64) (*Graph, RegionID) {
	t.Helper()
	g := New()
	b := B{g.Store}
	v, i64 := types.Tensor(types.F64, 4), types.Scalar(types.I64)
	ps := []types.Type{i64, v}
	i, x := b.Param(0, i64), b.Param(1, v)
	cond := b.Region(ps, b.Compare(op.LT, i, b.I64(10)))
	body := b.Region(ps, b.N(op.Add, nil, x, b.N(op.Mul, nil, x, b.Broadcast(b.F64(c), v))))
	in := b.Params(v, i64)
	out := b.Apply(op.Loop, op.Attrs{op.Int(op.KCarried, 1)}, []RegionID{cond, body}, in[1], in[0])
	trap := b.TrapIf(op.TrapLoopBound, b.Compare(op.GT, out[1], b.I64(9)))
	r := b.Region([]types.Type{v, i64}, out[0], trap)
	if err := g.AddExport(Export{Name: "f", Params: []Port{{Name: "x"}, {Name: "n"}}, Results: []Port{{Name: "result"}}, Region: r, Optimised: None}); err != nil {
		t.Fatal(err)
	}
	return g, r
}

func TestValidAndShared(t *testing.T) {
	g, _ := sumLoop(t, 2)
	if err := Validate(g, "test"); err != nil {
		t.Fatal(err)
	}
	if err := VerifyDigests(g); err != nil {
		t.Fatal(err)
	}
	n := g.NumNodes()
	if _, err := g.Add(g.Def(0)); err != nil || g.NumNodes() != n {
		t.Fatalf("an equal node was inserted again: %v", err)
	}
}

func TestFingerprint(t *testing.T) {
	fp := func(g *Graph) string {
		d, err := g.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	a, _ := sumLoop(t, 2)
	b, _ := sumLoop(t, 2)
	c, _ := sumLoop(t, 3)
	if fp(a) != fp(b) {
		t.Error("the same program has two fingerprints")
	}
	if fp(a) == fp(c) {
		t.Error("another constant has the same fingerprint")
	}
}

func TestRejected(t *testing.T) {
	g := New()
	b := B{g.Store}
	f32 := types.Scalar(types.F32)
	x := b.Param(0, f32)
	cases := []struct {
		name string
		do   func() error
		want string
	}{
		{"mixed dtypes", func() error {
			_, err := g.Add(NodeDef{Op: op.Add, Ins: []Ref{x, b.F64(1)}})
			return err
		}, "input 1 is f64, input 0 is f32"},
		{"dangling input", func() error {
			_, err := g.Add(NodeDef{Op: op.Neg, Ins: []Ref{{Node: 999}}})
			return err
		}, "does not precede"},
		{"open region", func() error { _, err := g.AddRegion(nil, []Ref{x}); return err }, "not closed"},
		{"wrong param type", func() error {
			_, err := g.AddRegion([]types.Type{types.Scalar(types.I8)}, []Ref{x})
			return err
		}, "the region's is i8"},
		{"second NaN", func() error {
			_, err := g.Add(NodeDef{Op: op.Const, Outs: []types.Type{f32}, Attrs: op.Attrs{op.Bytes(op.KValue, []byte{1, 0, 0xc0, 0x7f})}})
			return err
		}, "canonical"},
		{"uniform constant", func() error {
			_, err := g.Add(NodeDef{Op: op.Const, Outs: []types.Type{types.Tensor(types.I8, 2)}, Attrs: op.Attrs{op.Bytes(op.KValue, []byte{7, 7})}})
			return err
		}, "broadcast"},
		{"no trap result", func() error {
			r := b.Region([]types.Type{f32}, x)
			h := &Graph{Store: g.Store, Exports: []Export{{Name: "f", Params: []Port{{Name: "x"}}, Results: []Port{{Name: "y"}}, Region: r, Optimised: None}}}
			return Validate(h, "lower")
		}, "after lower: export \"f\""},
		{"huge tensor", func() error {
			_, err := g.Add(NodeDef{Op: op.Broadcast, Outs: []types.Type{types.Tensor(types.F32, 1<<40, 1<<40)}, Ins: []Ref{x}, Attrs: op.Attrs{op.Ints(op.KAxes)}})
			return err
		}, "exceeds"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.do()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestErasedKeepsFingerprint(t *testing.T) {
	build := func(space types.Space) *Graph {
		g := New()
		b := B{g.Store}
		v := types.Tensor(types.F32, 4)
		v.Space = space
		x := b.Param(0, v)
		r := b.Region([]types.Type{v}, b.N(op.Add, nil, x, x), b.NoTrap())
		g.Exports = []Export{{Name: "f", Params: []Port{{Name: "x"}}, Results: []Port{{Name: "y"}}, Region: r, Optimised: None}}
		return g
	}
	h, err1 := build(types.Host).Fingerprint()
	d, err2 := build(types.Device).Fingerprint()
	if err1 != nil || err2 != nil || h != d {
		t.Fatalf("moving to a device changed the fingerprint: %v %v %v %v", h, d, err1, err2)
	}
	if build(types.Host).Placement() == build(types.Device).Placement() {
		t.Fatal("placement is not seen at all")
	}
}

func TestText(t *testing.T) {
	g, _ := sumLoop(t, 2)
	var b strings.Builder
	if err := g.Text(&b, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"export f = @r2", "loop $1, $0 carried=1 @r0 @r1", "trap_if", "kind=loop_bound"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, b.String())
		}
	}
}

// TestValidatorSeesWhatIsNew: a validator that has seen the graph before still
// checks each node and region that came since, and every export.
func TestValidatorSeesWhatIsNew(t *testing.T) {
	g, r := sumLoop(t, 2)
	v := NewValidator(g)
	if err := v.Validate("first"); err != nil {
		t.Fatal(err)
	}
	b := B{g.Store}
	more := b.N(op.Neg, nil, g.Results(r)[0])
	g.Exports[0].Optimised = b.Region(g.ParamTypes(r), more, g.Results(r)[1])
	if err := v.Validate("second"); err != nil {
		t.Fatal(err)
	}
	g.Exports[0].Optimised = b.Region(g.ParamTypes(r), more)
	if err := v.Validate("third"); err == nil || !strings.Contains(err.Error(), "traps joined") {
		t.Errorf("an entry without a trap code: %v", err)
	}
	// A new node whose type is wrong, spoiled behind the store's back.
	bad := b.N(op.Abs, nil, more)
	g.Exports[0].Optimised = b.Region(g.ParamTypes(r), b.N(op.Add, nil, bad, more), g.Results(r)[1])
	g.outs[g.outOff[bad.Node]] = g.InternType(types.Tensor(types.F64, 5))
	if err := v.Validate("fourth"); err == nil || !strings.Contains(err.Error(), "rule types") {
		t.Errorf("a new node of a wrong type: %v", err)
	}
}

// TestKnownNodes: an equal node is found however the store came to have it.
func TestKnownNodes(t *testing.T) {
	g, _ := sumLoop(t, 2)
	for n := range NodeID(g.NumNodes()) {
		def := g.Def(n)
		if !g.Same(n, &def) {
			t.Errorf("node %d is not its own definition", n)
		}
		def.Attrs = append(op.Attrs{}, def.Attrs...) // no shortcut by address
		if id, err := g.Add(def); err != nil || id != n {
			t.Errorf("node %d is inserted again as %d: %v", n, id, err)
		}
		g.known = known{seed: g.known.seed} // as in a store that was loaded
		if id, err := g.Add(def); err != nil || id != n {
			t.Errorf("node %d, not known by content, is inserted again as %d: %v", n, id, err)
		}
	}
}
