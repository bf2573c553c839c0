package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/runtime/atomicfile"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// program has two entries: scale(s: {a f32[2], k f32}) = a * k, and half(x i32),
// which traps with a cast when x is odd.
func program(t *testing.T) *graph.Graph {
	t.Helper()
	g := graph.New()
	b := graph.B{Store: g.Store}
	vec, f := types.Tensor(types.F32, 2), types.Scalar(types.F32)
	s := types.Tuple(vec, f)
	p := b.Param(0, s)
	field := func(i int64, t types.Type) graph.Ref {
		return b.N(op.Get, op.Attrs{{Key: op.KIndex, Kind: op.AInt, Int: i}}, p)
	}
	scaled := b.N(op.Mul, nil, field(0, vec), b.Broadcast(field(1, f), vec))
	add := func(x graph.Export) {
		x.Optimised = graph.None
		if err := g.AddExport(x); err != nil {
			t.Fatal(err)
		}
	}
	add(graph.Export{Name: "scale", Params: []graph.Port{{Name: "s", Fields: []graph.Port{{Name: "a"}, {Name: "k"}}}},
		Results: []graph.Port{{Name: "result"}}, Region: b.Region([]types.Type{s}, scaled, b.NoTrap())})
	i32 := types.Scalar(types.I32)
	x := b.Param(0, i32)
	odd := b.N(op.And, nil, x, b.ScalarBits(types.I32, 1))
	trap := b.TrapIf(op.TrapCast, b.Compare(op.NE, odd, b.ScalarBits(types.I32, 0)))
	add(graph.Export{Name: "half", Params: []graph.Port{{Name: "x"}}, Results: []graph.Port{{Name: "result"}},
		Region: b.Region([]types.Type{i32}, b.N(op.Shr, nil, x, b.ScalarBits(types.I32, 1)), trap)})
	return g
}

func entry(t *testing.T, name string) *Entry {
	t.Helper()
	e, err := Select(program(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSelectAndInputs(t *testing.T) {
	a, k, bad := write(t, "a.json", "[1.5,-2]"), write(t, "k.csv", "4\n"), write(t, "b.json", "[1,2,3]")
	both := filepath.Join(t.TempDir(), "s.npz")
	vec, f := types.Tensor(types.F32, 2), types.Scalar(types.F32)
	ta, _ := tensorio.Read(a, "", &vec)
	tk, _ := tensorio.Read(k, "", &f)
	writeNpz(t, both, tensorio.Named{Name: "a", Tensor: ta}, tensorio.Named{Name: "k", Tensor: tk})
	for _, c := range []struct {
		entry   string
		sources []Source
		problem string
	}{
		{"scale", []Source{{"s.a", a}, {"s.k", k}}, ""},
		{"scale", []Source{{"s", both}}, ""},
		{"", nil, "K0710"},
		{"scael", nil, "K0710"},
		{"scale", []Source{{"s.a", a}}, "needs the input s.k, f32"},
		{"scale", []Source{{"s", a}}, "K0711"},
		{"scale", []Source{{"t", a}}, "K0712"},
		{"scale", []Source{{"s.a", a}, {"s", both}}, "given twice"},
		{"scale", []Source{{"s.a", bad}, {"s.k", k}}, "holds the shape [3], but f32[2] is needed"},
		{"scale", []Source{{"s.a", "none.npy"}, {"s.k", k}}, "K0714"},
	} {
		e, err := Select(program(t), c.entry)
		var out Outcome
		if err == nil {
			var data [][]byte
			if data, err = e.Inputs(c.sources); err == nil {
				i, _ := NewInterp(e)
				out, err = i.Run(context.Background(), data)
			}
		}
		if c.problem == "" {
			if err != nil {
				t.Errorf("%v: %v", c.sources, err)
			} else if got := tensorio.Preview(e.Tensors(out.Outputs)[0].Tensor, 9); got != "[6 -8]" {
				t.Errorf("%v gives %s", c.sources, got)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s %v: error %v, want %q", c.entry, c.sources, err, c.problem)
		}
	}
}

func writeNpz(t *testing.T, path string, list ...tensorio.Named) {
	t.Helper()
	var s atomicfile.Set
	defer s.Discard()
	if err := errors.Join(tensorio.Add(&s, path, list), s.Commit()); err != nil {
		t.Fatal(err)
	}
}

// wrong is a target that is off by one bit, traps where it should not, or fails.
type wrong struct {
	name, mode string
	change     func(*Outcome) error
	ref        *Interp
}

func (w wrong) Name() string                                 { return w.name }
func (w wrong) Mode(context.Context) (string, string, error) { return w.mode, "no such device", nil }
func (w wrong) Close()                                       {}
func (w wrong) Run(ctx context.Context, e *Entry, in [][]byte) (Outcome, error) {
	o, err := w.ref.Run(ctx, in)
	if err != nil {
		return o, err
	}
	// Outputs of the interpreter are shared: change a copy.
	for i := range o.Outputs {
		o.Outputs[i] = append([]byte(nil), o.Outputs[i]...)
	}
	return o, w.change(&o)
}

func TestVerify(t *testing.T) {
	e := entry(t, "half")
	ref, err := NewInterp(e)
	if err != nil {
		t.Fatal(err)
	}
	targets := []Target{
		wrong{"right", "natively", func(*Outcome) error { return nil }, ref},
		wrong{"bit", "natively", func(o *Outcome) error {
			if o.Trap == op.TrapNone {
				o.Outputs[0][0] ^= 1
			}
			return nil
		}, ref},
		wrong{"trap", "emulated", func(o *Outcome) error { o.Trap, o.Outputs = op.TrapOverflow, nil; return nil }, ref},
		wrong{"broken", "natively", func(*Outcome) error { return &Fault{Target: "broken", Kind: "SIGSEGV"} }, ref},
		wrong{"absent", "", func(*Outcome) error { panic("not to be called") }, ref},
	}
	r, err := Verify(context.Background(), e, targets, Generated(e, 20, 3), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range r.Rows {
		got = append(got, row.Target+" "+row.Status)
	}
	want := "interp reference, right equal, bit differs, trap differs, broken failed, absent not checked"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %v\nwant %s", got, want)
	}
	if r.Rows[0].Digest != r.Rows[1].Digest || r.Rows[0].Digest == r.Rows[2].Digest || r.Rows[0].Traps == 0 {
		t.Errorf("digests or traps: %+v", r.Rows)
	}
	if !errors.Is(r.Err(), ErrDifference) || r.Checked != 4 || r.Rows[5].Reason != "no such device" {
		t.Errorf("report: %+v %v", r, r.Err())
	}
}

func TestVerifyStopsWhenCancelled(t *testing.T) {
	e := entry(t, "half")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ref, _ := NewInterp(e)
	target := wrong{"t", "natively", func(*Outcome) error { return nil }, ref}
	if _, err := Verify(ctx, e, []Target{target}, Generated(e, 2, 0), func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
