package runner

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/interp"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/runtime/tensorio"
)

// Outcome is what one run of an entry gave: outputs, or a trap and no outputs.
type Outcome struct {
	Outputs [][]byte
	Trap    op.TrapKind
	Took    time.Duration
}

// Digest identifies an outcome: the value digest of the outputs, or of the trap
// code alone, which no outputs share because their types differ.
func (o Outcome) Digest(e *Entry) digest.D {
	if o.Trap != op.TrapNone {
		var e digest.Enc
		e.Str("trap")
		e.U32(uint32(o.Trap))
		return digest.Of(digest.Value, e.B)
	}
	return graph.ValueDigest(typesOf(e.Results), o.Outputs)
}

// Fault is a crash of compiled code, contained by the process that ran it.
type Fault struct {
	Target string `json:"target"`
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
	Node   string `json:"node,omitempty"`
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("the code for %s crashed: %s", f.Target, f.Kind)
	if f.Detail != "" {
		s += ", " + f.Detail
	}
	if f.Node != "" {
		s += " (at node " + f.Node + ")"
	}
	return s
}

// Interp runs an entry's source graph on the reference interpreter. It keeps what
// the interpreter compiled between runs.
type Interp struct {
	entry   *Entry
	machine *interp.Machine
}

// NewInterp returns the interpreter for e.
func NewInterp(e *Entry) (*Interp, error) {
	if err := e.checkStatic(); err != nil {
		return nil, err
	}
	lim := interp.DefaultLimits()
	if n := e.bytes(); n > lim.Bytes {
		return nil, fmt.Errorf("entry %s: inputs and outputs of %d bytes, the interpreter takes %d: %w", e.Export.Name, n, lim.Bytes, interp.ErrLimit)
	}
	return &Interp{e, interp.New(e.Graph.Store, lim)}, nil
}

// Values gives input data the form the interpreter takes.
func (e *Entry) Values(inputs [][]byte) ([]interp.Value, error) {
	return interp.FromLeaves(e.Graph.UserParams(e.Export), inputs)
}

// Run runs the entry once.
func (i *Interp) Run(ctx context.Context, inputs [][]byte) (Outcome, error) {
	vs, err := i.entry.Values(inputs)
	if err != nil {
		return Outcome{}, err
	}
	start := time.Now()
	out, trap, err := i.machine.Run(ctx, i.entry.Export, vs)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Trap: trap, Took: time.Since(start)}
	for _, v := range out {
		for _, l := range v.Leaves(nil) {
			o.Outputs = append(o.Outputs, l.Data)
		}
	}
	return o, nil
}

// Difference is the first place where two outcomes disagree.
type Difference struct {
	Case      int    `json:"case"`
	Output    string `json:"output,omitempty"`
	Element   int    `json:"element"`
	Expected  string `json:"expected"`
	Got       string `json:"got"`
	ExpectHex string `json:"expected_hex,omitempty"`
	GotHex    string `json:"got_hex,omitempty"`
}

func (d Difference) String() string {
	if d.Output == "" {
		return fmt.Sprintf("case %d: expected %s, got %s", d.Case, d.Expected, d.Got)
	}
	return fmt.Sprintf("case %d: %s, element %d: expected %s (%s), got %s (%s)",
		d.Case, d.Output, d.Element, d.Expected, d.ExpectHex, d.Got, d.GotHex)
}

// Compare finds the first difference of got from want, nil if they are equal.
func (e *Entry) Compare(want, got Outcome) *Difference {
	if want.Trap != got.Trap {
		return &Difference{Expected: trapText(want.Trap), Got: trapText(got.Trap)}
	}
	for i := range want.Outputs {
		if bytes.Equal(want.Outputs[i], got.Outputs[i]) {
			continue
		}
		t := e.Results[i].Type
		w := t.DType.Size()
		for k := 0; k < len(want.Outputs[i]); k += w {
			a, b := want.Outputs[i][k:k+w], got.Outputs[i][k:k+w]
			if !bytes.Equal(a, b) {
				return &Difference{Output: e.Results[i].Path, Element: k / w,
					Expected: cell(t.DType, a), Got: cell(t.DType, b), ExpectHex: hexBits(a), GotHex: hexBits(b)}
			}
		}
	}
	return nil
}

func trapText(k op.TrapKind) string {
	if k == op.TrapNone {
		return "outputs"
	}
	return "a trap (" + k.String() + ")"
}

func cell(d types.DType, b []byte) string {
	return tensorio.CellText(tensorio.Tensor{DType: d, Data: b}, 0)
}

func hexBits(b []byte) string {
	var word [8]byte
	copy(word[:], b)
	return fmt.Sprintf("0x%0*x", 2*len(b), binary.LittleEndian.Uint64(word[:]))
}
