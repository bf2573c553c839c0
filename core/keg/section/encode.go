package section

import (
	"math"

	"github.com/kera-lang/kera/core/digest"
)

// Record tags. A minor version may add tags; none changes its meaning.
const (
	tagTarget uint32 = iota + 1
	tagPlugin
	tagOptions
	tagEntries
	tagNodes
	tagCodeMap
	tagFolded
	tagEstimate
	tagLast = tagEstimate
)

// Marshal returns the encoding of d. Empty lists have no record.
func (d *Descriptor) Marshal() ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	var out digest.Enc
	put := func(tag uint32, present bool, fill func(*digest.Enc)) {
		if !present {
			return
		}
		out.U32(tag)
		at := len(out.B)
		out.U32(0)
		fill(&out)
		n := uint32(len(out.B) - at - 4)
		out.B[at], out.B[at+1], out.B[at+2], out.B[at+3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	}
	put(tagTarget, true, func(e *digest.Enc) {
		e.Str(d.Triple)
		e.Str(d.Kind)
		e.U32(uint32(len(d.Features)))
		for _, f := range d.Features {
			e.Str(f)
		}
	})
	put(tagPlugin, true, func(e *digest.Enc) {
		e.Str(d.Plugin.Name)
		e.Str(d.Plugin.Version)
		e.Digest(d.Plugin.Binary)
		e.U32(d.Plugin.ProtocolMajor)
		e.U32(d.Plugin.ProtocolMinor)
	})
	put(tagOptions, len(d.Options) > 0, func(e *digest.Enc) {
		e.U32(uint32(len(d.Options)))
		for _, o := range d.Options {
			e.Str(o.Name)
			e.Str(o.Value)
		}
	})
	put(tagEntries, len(d.Entries) > 0, func(e *digest.Enc) {
		e.U32(uint32(len(d.Entries)))
		for i := range d.Entries {
			d.Entries[i].encode(e)
		}
	})
	put(tagNodes, len(d.Nodes) > 0, func(e *digest.Enc) {
		e.U32(uint32(len(d.Nodes)))
		for _, n := range d.Nodes {
			e.Digest(n)
		}
	})
	put(tagCodeMap, len(d.CodeMap) > 0, func(e *digest.Enc) {
		e.U32(uint32(len(d.CodeMap)))
		for _, m := range d.CodeMap {
			e.U64(m.Offset)
			e.U32(m.Node)
		}
	})
	put(tagFolded, len(d.Folded) > 0, func(e *digest.Enc) {
		e.U32(uint32(len(d.Folded)))
		for _, n := range d.Folded {
			e.U32(n)
		}
	})
	put(tagEstimate, d.Estimate != nil, func(e *digest.Enc) {
		s := d.Estimate
		e.U64(s.Min)
		e.U64(s.Typ)
		e.U64(s.Max)
		e.U64(math.Float64bits(s.Confidence))
		e.U32(uint32(len(s.Resources)))
		for _, r := range s.Resources {
			e.Str(r.Name)
			e.U64(r.Amount)
		}
	})
	for _, r := range d.Extra {
		put(r.Tag, true, func(e *digest.Enc) { e.B = append(e.B, r.Payload...) })
	}
	return out.B, nil
}

func (e *Entry) encode(w *digest.Enc) {
	w.Str(e.Name)
	w.Digest(e.Region)
	for _, list := range [][]Buffer{e.Inputs, e.Outputs} {
		w.U32(uint32(len(list)))
		for _, b := range list {
			w.U8(uint8(b.DType))
			w.U8(uint8(len(b.Dims)))
			for _, n := range b.Dims {
				w.I64(n)
			}
			w.U32(b.Align)
		}
	}
	w.U64(e.Work)
	w.U32(e.WorkAlign)
	w.U32(uint32(len(e.Phases)))
	for _, p := range e.Phases {
		w.Str(p.Symbol)
		w.U64(p.Offset)
		w.U64(p.Tiles)
		if p.Loop == nil {
			w.U8(0)
			continue
		}
		w.U8(1)
		w.U64(p.Loop.Cond)
		w.U32(p.Loop.Back)
	}
}
