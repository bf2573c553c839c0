package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/op"
)

// Target is one way to run entries besides the interpreter: a section on the
// executor that its backend brings.
type Target interface {
	// Name is unique within a file: "x86_64 avx2".
	Name() string
	// Mode says how it runs here ("natively", "emulated", "simulated"), or "" and
	// why it cannot: it is not there, or not for this machine. The error is for
	// one that is there and broke.
	Mode(ctx context.Context) (mode, reason string, err error)
	Run(ctx context.Context, e *Entry, inputs [][]byte) (Outcome, error)
	Close()
}

// Row is what verification found out about one target.
type Row struct {
	Target     string        `json:"target"`
	Status     string        `json:"status"` // reference, equal, differs, failed, not checked
	Mode       string        `json:"mode,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Digest     string        `json:"digest,omitempty"`
	Traps      int           `json:"traps,omitempty"` // cases that trapped
	Trap       string        `json:"trap,omitempty"`  // of the only case
	Time       time.Duration `json:"ns"`
	Difference *Difference   `json:"difference,omitempty"`
	Err        error         `json:"-"`
}

// The statuses of a Row.
const (
	Reference  = "reference"
	Equal      = "equal"
	Differs    = "differs"
	Failed     = "failed"
	NotChecked = "not checked"
)

// Report is the outcome of a verification.
type Report struct {
	Entry   string `json:"entry"`
	Cases   int    `json:"cases"`
	Inputs  string `json:"inputs"` // "given" or "generated, seed N"
	Rows    []Row  `json:"targets"`
	Checked int    `json:"checked"` // targets compared with the interpreter

	reference Outcome
}

// Reference is the interpreter's outcome in the last case.
func (r *Report) Reference() Outcome { return r.reference }

// Err is the first failure of a target, nil if all that ran were equal.
func (r *Report) Err() error {
	for _, row := range r.Rows {
		if row.Err != nil {
			return row.Err
		}
	}
	return nil
}

// ErrDifference is wrapped by a row whose outputs differ from the interpreter's.
var ErrDifference = errors.New("differs from the interpreter")

// Cases gives the inputs of each verification case.
type Cases struct {
	N     int
	Label string
	Input func(i int) [][]byte
}

// Given is the single case of inputs read from files.
func Given(inputs [][]byte) Cases {
	return Cases{1, "given", func(int) [][]byte { return inputs }}
}

// Generated is n cases of generated inputs for e.
func Generated(e *Entry, n int, seed uint64) Cases {
	ts := typesOf(e.Params)
	return Cases{n, fmt.Sprintf("generated, seed %d", seed), func(i int) [][]byte { return Generate(ts, seed, i) }}
}

// Verify runs every case on the interpreter and on each target and compares.
// A target that fails or differs does not stop the others; only cancellation and
// a failing interpreter do.
func Verify(ctx context.Context, e *Entry, targets []Target, cases Cases, progress func(string)) (*Report, error) {
	ref, err := NewInterp(e)
	if err != nil {
		return nil, err
	}
	r := &Report{Entry: e.Export.Name, Cases: cases.N, Inputs: cases.Label}
	want := make([]Outcome, cases.N)
	row := Row{Target: "interp", Status: Reference, Mode: "interpreted"}
	sums := &sums{}
	for i := range cases.N {
		progress(fmt.Sprintf("interp, case %d of %d", i+1, cases.N))
		if want[i], err = ref.Run(ctx, cases.Input(i)); err != nil {
			return nil, err
		}
		sums.add(e, want[i], &row)
	}
	row.Digest = sums.text()
	r.Rows = append(r.Rows, row)
	r.reference = want[cases.N-1]
	for _, t := range targets {
		row, err := verifyTarget(ctx, e, t, cases, want, progress)
		if err != nil {
			return nil, err
		}
		if row.Status != NotChecked {
			r.Checked++
		}
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}

func verifyTarget(ctx context.Context, e *Entry, t Target, cases Cases, want []Outcome, progress func(string)) (Row, error) {
	row := Row{Target: t.Name(), Status: Equal}
	var err error
	row.Mode, row.Reason, err = t.Mode(ctx)
	if err := context.Cause(ctx); err != nil {
		return row, err
	}
	if err != nil {
		row.Status, row.Err, row.Reason = Failed, err, firstLine(err.Error())
		return row, nil
	}
	if row.Mode == "" {
		row.Status = NotChecked
		return row, nil
	}
	sums := &sums{}
	for i := range cases.N {
		progress(fmt.Sprintf("%s, case %d of %d", t.Name(), i+1, cases.N))
		got, err := t.Run(ctx, e, cases.Input(i))
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return row, cause
			}
			row.Status, row.Err, row.Reason = Failed, fmt.Errorf("%s, case %d: %w", t.Name(), i, err), err.Error()
			return row, nil
		}
		sums.add(e, got, &row)
		if d := e.Compare(want[i], got); d != nil && row.Difference == nil {
			d.Case = i
			row.Status, row.Difference = Differs, d
			row.Err = fmt.Errorf("%s %w: %v", t.Name(), ErrDifference, d)
		}
	}
	row.Digest = sums.text()
	return row, nil
}

// sums folds the digests of all cases into one.
type sums struct{ list []byte }

func (s *sums) add(e *Entry, o Outcome, row *Row) {
	d := o.Digest(e)
	s.list = append(s.list, d[:]...)
	row.Time += o.Took
	row.Trap = ""
	if o.Trap != op.TrapNone {
		row.Traps++
		row.Trap = o.Trap.String()
	}
}

func (s *sums) text() string {
	if len(s.list) == digest.Size {
		return digest.D(s.list).String()
	}
	return digest.Plain(s.list).String()
}
