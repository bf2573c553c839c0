package section

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kera-lang/kera/core/types"
)

// Limits on descriptors.
const (
	maxString = 1 << 16
	maxAlign  = 1 << 16
)

// Check reports the first rule that d breaks. Marshal and Unmarshal apply it.
func (d *Descriptor) Check() error {
	for _, s := range []struct{ what, s string }{
		{"triple", d.Triple}, {"artifact kind", d.Kind},
		{"plugin name", d.Plugin.Name}, {"plugin version", d.Plugin.Version},
	} {
		if err := checkString(s.what, s.s); err != nil {
			return err
		}
	}
	if d.Triple == "" || d.Kind == "" {
		return fmt.Errorf("empty triple or artifact kind")
	}
	if err := checkSorted("feature", d.Features, func(s string) string { return s }); err != nil {
		return err
	}
	if err := checkSorted("option", d.Options, func(o Option) string { return o.Name }); err != nil {
		return err
	}
	for _, o := range d.Options {
		if err := checkString("option value", o.Value); err != nil {
			return err
		}
	}
	if err := checkSorted("entry", d.Entries, func(e Entry) string { return e.Name }); err != nil {
		return err
	}
	for i := range d.Entries {
		if err := d.Entries[i].check(); err != nil {
			return fmt.Errorf("entry %q: %w", d.Entries[i].Name, err)
		}
	}
	if err := d.checkMap(); err != nil {
		return err
	}
	if e := d.Estimate; e != nil {
		if e.Min > e.Typ || e.Typ > e.Max {
			return fmt.Errorf("estimate: cycles %d, %d, %d are not in order", e.Min, e.Typ, e.Max)
		}
		if math.IsNaN(e.Confidence) || e.Confidence < 0 || e.Confidence > 1 || math.Signbit(e.Confidence) {
			return fmt.Errorf("estimate: confidence %v is outside 0..1", e.Confidence)
		}
		if err := checkSorted("resource", e.Resources, func(r Resource) string { return r.Name }); err != nil {
			return err
		}
	}
	last := tagLast
	for _, r := range d.Extra {
		if r.Tag <= last {
			return fmt.Errorf("extra record %d is out of order", r.Tag)
		}
		last = r.Tag
	}
	return nil
}

// CheckArtifact reports whether every code offset of d lies in an artifact of
// size bytes.
func (d *Descriptor) CheckArtifact(size uint64) error {
	if d.Kind == KindCode {
		for _, e := range d.Entries {
			for i, p := range e.Phases {
				if p.Offset >= size {
					return fmt.Errorf("entry %q: phase %d starts at %d of an artifact of %d bytes", e.Name, i, p.Offset, size)
				}
			}
		}
	}
	if n := len(d.CodeMap); n > 0 && d.CodeMap[n-1].Offset >= size {
		return fmt.Errorf("code map reaches %d in an artifact of %d bytes", d.CodeMap[n-1].Offset, size)
	}
	return nil
}

func (d *Descriptor) checkMap() error {
	for i, m := range d.CodeMap {
		if i > 0 && m.Offset <= d.CodeMap[i-1].Offset {
			return fmt.Errorf("code map: offset %d follows %d", m.Offset, d.CodeMap[i-1].Offset)
		}
		if int64(m.Node) >= int64(len(d.Nodes)) {
			return fmt.Errorf("code map: node %d of %d", m.Node, len(d.Nodes))
		}
	}
	for i, n := range d.Folded {
		if i > 0 && n <= d.Folded[i-1] {
			return fmt.Errorf("folded nodes are out of order")
		}
		if int64(n) >= int64(len(d.Nodes)) {
			return fmt.Errorf("folded node %d of %d", n, len(d.Nodes))
		}
	}
	return nil
}

func (e *Entry) check() error {
	for i, b := range e.Inputs {
		if err := b.check(); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	for i, b := range e.Outputs {
		if err := b.check(); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
	}
	if e.Work > types.MaxBytes {
		return fmt.Errorf("work size %d exceeds %d", e.Work, int64(types.MaxBytes))
	}
	if err := checkAlign(e.WorkAlign); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	if len(e.Phases) == 0 {
		return fmt.Errorf("no phases")
	}
	for i, p := range e.Phases {
		if err := checkString("symbol", p.Symbol); err != nil {
			return fmt.Errorf("phase %d: %w", i, err)
		}
		if p.Loop == nil {
			continue
		}
		if int64(p.Loop.Back) > int64(i) {
			return fmt.Errorf("phase %d: loop goes forward to %d", i, p.Loop.Back)
		}
		if p.Loop.Cond%4 != 0 || p.Loop.Cond > e.Work || e.Work-p.Loop.Cond < 4 {
			return fmt.Errorf("phase %d: loop condition at %d of %d work bytes", i, p.Loop.Cond, e.Work)
		}
	}
	return nil
}

func (b Buffer) check() error {
	for _, n := range b.Dims {
		if n < 0 {
			return fmt.Errorf("negative dimension %d", n)
		}
	}
	if err := b.Type().Check(); err != nil {
		return err
	}
	return checkAlign(b.Align)
}

func checkAlign(a uint32) error {
	if a == 0 || a&(a-1) != 0 || a > maxAlign {
		return fmt.Errorf("alignment %d is not a power of two up to %d", a, maxAlign)
	}
	return nil
}

func checkString(what, s string) error {
	if len(s) > maxString {
		return fmt.Errorf("%s of %d bytes", what, len(s))
	}
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return fmt.Errorf("%s %q is not text", what, s)
	}
	return nil
}

func checkSorted[T any](what string, list []T, key func(T) string) error {
	for i, v := range list {
		k := key(v)
		if err := checkString(what, k); err != nil {
			return err
		}
		if k == "" {
			return fmt.Errorf("empty %s name", what)
		}
		if i > 0 && k <= key(list[i-1]) {
			return fmt.Errorf("%s %q does not sort after %q", what, k, key(list[i-1]))
		}
	}
	return nil
}
