package keg

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/graph"
	"github.com/kera-lang/kera/core/keg/section"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// decoder turns checked sections into a File.
type decoder struct {
	*parsed
	strs  []string
	used  []bool // strings that something refers to
	blobs []digest.D
	cols  graph.Columns
	g     *graph.Graph
}

func decode(p *parsed, o ReadOptions) (*File, *FormatError) {
	d := &decoder{parsed: p, g: graph.New()}
	for k := KindStrings; k <= KindExports; k++ {
		if p.section(k) == nil {
			return nil, headerError(headerSize, "there is no section of %s", KindName(k))
		}
	}
	steps := []func() *FormatError{
		d.strings, d.types, d.attrs, d.nodes, d.regions, d.blobTable, d.load, d.exports,
		func() *FormatError { return d.provenance(o) }, d.canonical, d.validate,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return d.file()
}

// file gathers the sections beside the graph.
func (d *decoder) file() (*File, *FormatError) {
	f := &File{Graph: d.g, Minor: d.minor}
	for i := range d.secs {
		e := &d.secs[i]
		switch {
		case e.kind == KindPlan:
			f.Plan = e.b
		case e.kind == KindReceipt:
			f.Receipt = e.b
		case e.kind == KindPolicy:
			f.Policy = e.b
		case e.kind >= KindTarget:
			t, err := openTarget(e)
			if err != nil {
				return nil, err
			}
			if n := len(f.Targets); n > 0 && compareKeys(&f.Targets[n-1], &t) >= 0 {
				return nil, &FormatError{int64(e.at), e.kind, fmt.Sprintf("target %s does not sort after %s", t.Name(), f.Targets[n-1].Name())}
			}
			f.Targets = append(f.Targets, t)
		case e.kind > KindPolicy:
			f.Unknown = append(f.Unknown, RawSection{e.kind, e.flags, e.b})
		}
	}
	return f, nil
}

func openTarget(e *entry) (Target, *FormatError) {
	t, err := OpenTarget(e.b)
	if err == nil {
		return t, nil
	}
	var s *section.FormatError
	if errors.As(err, &s) {
		return t, &FormatError{int64(e.at) + int64(s.Offset), e.kind, s.Reason}
	}
	return t, &FormatError{int64(e.at), e.kind, err.Error()}
}

func (d *decoder) strings() *FormatError {
	c := newCursor(d.section(KindStrings))
	c.table(func(c *cursor, i int) {
		s := c.text()
		if i > 0 && s <= d.strs[i-1] {
			c.fail("string %d does not sort after the one before", i)
		}
		d.strs = append(d.strs, s)
	})
	d.used = make([]bool, len(d.strs))
	return c.err
}

// str reads the index of a string.
func (d *decoder) str(c *cursor) string {
	i := c.u32()
	if uint64(i) >= uint64(len(d.strs)) {
		c.fail("string %d of %d", i, len(d.strs))
		return ""
	}
	d.used[i] = true
	return d.strs[i]
}

// Limits on one type and on ports.
const (
	maxTypeBytes = 1 << 16
	maxPortDepth = 64
)

func (d *decoder) types() *FormatError {
	c := newCursor(d.section(KindTypes))
	c.table(func(c *cursor, i int) {
		if c.left() > maxTypeBytes {
			c.fail("type %d takes %d bytes, more than %d", i, c.left(), maxTypeBytes)
			return
		}
		d.cols.Types = append(d.cols.Types, decodeType(c, 0))
	})
	return c.err
}

func decodeType(c *cursor, depth int) types.Type {
	t := types.Type{Kind: types.Kind(c.u8())}
	if depth > types.MaxDepth {
		c.fail("tuple nested deeper than %d", types.MaxDepth)
		return t
	}
	switch t.Kind {
	case types.KindTensor:
		t.DType, t.Space = types.DType(c.u8()), types.Space(c.u8())
		n := c.count(9)
		if n > types.MaxRank {
			c.fail("rank %d exceeds %d", n, types.MaxRank)
			return t
		}
		for range n {
			t.Dims = append(t.Dims, decodeDim(c))
		}
	case types.KindTuple:
		n := c.count(2)
		if n > 0 {
			t.Elems = make([]types.Type, n)
		}
		for i := 0; i < n && c.err == nil; i++ {
			t.Elems[i] = decodeType(c, depth+1)
		}
	case types.KindToken:
		t.Resource = types.Resource(c.u8())
	default:
		c.fail("unknown type kind %d", t.Kind)
	}
	return t
}

func decodeDim(c *cursor) types.Dim {
	switch form := c.u8(); form {
	case 0:
		return types.Num(int64(c.u64()))
	case 1:
		return types.Dim{Var: true, Index: int32(c.u32()), Min: int64(c.u64()), Max: int64(c.u64())}
	default:
		c.fail("unknown form %d of a dimension", form)
		return types.Dim{}
	}
}

func (d *decoder) attrs() *FormatError {
	c := newCursor(d.section(KindAttributes))
	c.table(func(c *cursor, _ int) { d.cols.Attrs = append(d.cols.Attrs, decodeAttrs(c)) })
	return c.err
}

func decodeAttrs(c *cursor) op.Attrs {
	n := c.count(7)
	if n == 0 {
		return nil
	}
	as := make(op.Attrs, 0, n)
	for i := 0; i < n && c.err == nil; i++ {
		a := op.Attr{Key: op.Key(c.u16()), Kind: op.AttrKind(c.u8())}
		if i > 0 && a.Key <= as[i-1].Key {
			c.fail("attribute keys do not ascend")
		}
		switch a.Kind {
		case op.AInt:
			a.Int = int64(c.u64())
		case op.AInts:
			if k := c.count(8); k > 0 {
				a.Ints = make([]int64, k)
				for i := range a.Ints {
					a.Ints[i] = int64(c.u64())
				}
			}
		case op.ABytes:
			a.Bytes = bytes.Clone(c.take(uint64(c.count(1))))
		case op.ABlob:
			a.Blob, a.Len = c.digest(), c.u64()
		default:
			c.fail("unknown form %d of an attribute", a.Kind)
		}
		as = append(as, a)
	}
	return as
}

func (d *decoder) nodes() *FormatError {
	c := newCursor(d.section(KindNodes))
	n, outs, ins, regs := c.u32(), c.u32(), c.u32(), c.u32()
	c.exact(nodesSize(uint64(n), uint64(outs), uint64(ins), uint64(regs)))
	if c.err != nil {
		return c.err
	}
	k := &d.cols
	k.Ops, k.Vers = u16s[op.Code](c, n), u16s[uint16](c, n)
	k.Attr = ids[graph.AttrsID](c, n)
	k.OutOff, k.InOff, k.RegOff = c.ends(n), c.ends(n), c.ends(n)
	k.Outs = ids[graph.TypeID](c, outs)
	k.Ins = c.refs(ins)
	k.Regs = ids[graph.RegionID](c, regs)
	return c.done()
}

func (d *decoder) regions() *FormatError {
	c := newCursor(d.section(KindRegions))
	n, params, results := c.u32(), c.u32(), c.u32()
	c.exact(regionsSize(uint64(n), uint64(params), uint64(results)))
	if c.err != nil {
		return c.err
	}
	k := &d.cols
	k.ParOff, k.ResOff = c.ends(n), c.ends(n)
	k.Pars = ids[graph.TypeID](c, params)
	k.Ress = c.refs(results)
	return c.done()
}

// blobTable checks section 7: its head's layout, each blob's digest, and from
// these the section's own digest.
func (d *decoder) blobTable() *FormatError {
	d.cols.Blobs = map[digest.D][]byte{}
	e := d.section(KindBlobs)
	if e == nil {
		return nil
	}
	c := newCursor(e)
	n := c.count(48)
	if c.u32() != 0 {
		c.fail("reserved bytes are not zero")
	}
	if n == 0 {
		c.fail("an empty section is left out")
	}
	end := blobHead(uint64(n))
	for i := 0; i < n && c.err == nil; i++ {
		row := c.at
		dig, at, size := c.digest(), c.u64(), c.u64()
		switch {
		case i > 0 && bytes.Compare(d.blobs[i-1][:], dig[:]) >= 0:
			c.failAt(row, "blob digests do not ascend")
		case at != alignUp(end, alignSmall) || at > uint64(len(e.b)) || size > uint64(len(e.b))-at:
			c.failAt(row, "blob of %d bytes at %d, after %d of %d", size, at, end, len(e.b))
		default:
			for k := end; k < at; k++ {
				if e.b[k] != 0 {
					c.failAt(int(k), "padding is not zero")
				}
			}
			end = at + size
			b := e.b[at:end:end]
			if digest.OfBlob(b) != dig {
				c.failAt(row, "the digest of blob %d does not match", i)
			}
			d.blobs = append(d.blobs, dig)
			d.cols.Blobs[dig] = b
		}
	}
	if c.err == nil && end != uint64(len(e.b)) {
		c.failAt(int(end), "%d bytes after the last blob", uint64(len(e.b))-end)
	}
	if c.err == nil && blobsDigest(e.b[:blobHead(uint64(n))], d.blobs) != e.dig {
		c.failAt(0, "the section's digest does not match")
	}
	d.cols.BlobDigest = d.blobs
	return c.err
}

// load hands the columns to the store and translates its complaints.
func (d *decoder) load() *FormatError {
	s, err := graph.Load(&d.cols)
	if err == nil {
		d.g.Store = s
		return nil
	}
	var l *graph.LoadError
	if !errors.As(err, &l) {
		panic("BUG: " + err.Error())
	}
	kind, at := KindNodes, 16+2*l.Index
	switch l.Part {
	case graph.PartType:
		kind, at = KindTypes, 4+4*l.Index
	case graph.PartAttrs:
		kind, at = KindAttributes, 4+4*l.Index
	case graph.PartRegion:
		kind, at = KindRegions, 12+4*l.Index
	}
	return &FormatError{int64(d.section(kind).at) + int64(at), kind, l.Error()}
}
