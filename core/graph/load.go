package graph

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// Columns is a whole store in columns, as a file holds it, with nothing
// trusted. Offsets have one element more than there are items and start at 0;
// node i's inputs are Ins[InOff[i]:InOff[i+1]].
type Columns struct {
	Types []types.Type
	Attrs []op.Attrs

	Ops    []op.Code
	Vers   []uint16
	Attr   []AttrsID
	OutOff []uint32
	Outs   []TypeID
	InOff  []uint32
	Ins    []Ref
	RegOff []uint32
	Regs   []RegionID

	ParOff []uint32
	Pars   []TypeID
	ResOff []uint32
	Ress   []Ref

	// Blobs, with digests that the caller has computed.
	Blobs      map[digest.D][]byte
	BlobDigest []digest.D // in order
}

// The parts of a store that a LoadError can be about.
const (
	PartType   = "type"
	PartAttrs  = "attribute set"
	PartNode   = "node"
	PartRegion = "region"
)

// LoadError says which item of Columns is wrong and why.
type LoadError struct {
	Part  string
	Index int
	Err   error
}

func (e *LoadError) Error() string { return fmt.Sprintf("%s %d: %v", e.Part, e.Index, e.Err) }

func (e *LoadError) Unwrap() error { return e.Err }

// Load checks columns and adopts them as a store: every index, every node by
// its op's rule, regions nested within the limit and before the nodes that
// contain them, nothing twice. It computes all digests. That regions are
// closed is left to Validate, which the caller must run before anything else.
// The error is a *LoadError.
func Load(c *Columns) (*Store, error) {
	s := NewStore()
	s.blobs, s.blobSeq = c.Blobs, c.BlobDigest
	if s.blobs == nil {
		s.blobs = map[digest.D][]byte{}
	}
	for _, step := range []func(*Columns) *LoadError{s.loadTypes, s.loadAttrs, s.loadShape, s.loadDepths} {
		if err := step(c); err != nil {
			return nil, err
		}
	}
	// Rules and digests do not depend on each other.
	var rules *LoadError
	var wg sync.WaitGroup
	wg.Go(func() { rules = s.loadRules() })
	err := s.loadDigests()
	wg.Wait()
	if rules != nil {
		return nil, rules
	}
	if err != nil {
		return nil, err
	}
	s.ruled = NodeID(len(s.ops))
	return s, nil
}

func (s *Store) loadTypes(c *Columns) *LoadError {
	s.types = c.Types
	s.typeDig = make([]digest.D, len(c.Types))
	for i, t := range c.Types {
		if err := t.Check(); err != nil {
			return &LoadError{PartType, i, err}
		}
		d := TypeDigest(t)
		if k, ok := s.typeIx[d]; ok {
			return &LoadError{PartType, i, fmt.Errorf("repeats type %d", k)}
		}
		s.typeDig[i], s.typeIx[d] = d, TypeID(i)
	}
	return nil
}

func (s *Store) loadAttrs(c *Columns) *LoadError {
	s.attrs = c.Attrs
	for i, as := range c.Attrs {
		s.enc.Reset()
		as.Encode(&s.enc)
		if k, ok := s.attrIx[string(s.enc.B)]; ok {
			return &LoadError{PartAttrs, i, fmt.Errorf("repeats attribute set %d", k)}
		}
		s.attrIx[string(s.enc.B)] = AttrsID(i)
	}
	return nil
}

// loadShape checks every index and adopts the columns.
func (s *Store) loadShape(c *Columns) *LoadError {
	n, r := len(c.Ops), len(c.ParOff)-1
	if err := checkOffsets(PartNode, n, []offsets{{c.OutOff, len(c.Outs)}, {c.InOff, len(c.Ins)}, {c.RegOff, len(c.Regs)}}); err != nil {
		return err
	}
	if err := checkOffsets(PartRegion, r, []offsets{{c.ParOff, len(c.Pars)}, {c.ResOff, len(c.Ress)}}); err != nil {
		return err
	}
	if len(c.Vers) != n || len(c.Attr) != n {
		return &LoadError{PartNode, n, fmt.Errorf("columns differ in length")}
	}
	s.ops, s.vers, s.attr = c.Ops, c.Vers, c.Attr
	s.outOff, s.outs, s.inOff, s.ins, s.regOff, s.regs = c.OutOff, c.Outs, c.InOff, c.Ins, c.RegOff, c.Regs
	s.parOff, s.pars, s.resOff, s.ress = c.ParOff, c.Pars, c.ResOff, c.Ress
	for i := range n {
		id := NodeID(i)
		if a := c.Attr[i]; a < 0 || int(a) >= len(c.Attrs) {
			return &LoadError{PartNode, i, fmt.Errorf("attribute set %d of %d", uint32(a), len(c.Attrs))}
		}
		for _, t := range s.OutTypes(id) {
			if t < 0 || int(t) >= len(c.Types) {
				return &LoadError{PartNode, i, fmt.Errorf("type %d of %d", uint32(t), len(c.Types))}
			}
		}
		for k, x := range s.Ins(id) {
			if x.Node < 0 || x.Node >= id || x.Out < 0 || int(x.Out) >= s.NumOuts(x.Node) {
				return &LoadError{PartNode, i, fmt.Errorf("input %d refers to output %d of node %d, which does not precede it", k, uint32(x.Out), uint32(x.Node))}
			}
		}
		for _, x := range s.Regions(id) {
			if x < 0 || int(x) >= r {
				return &LoadError{PartNode, i, fmt.Errorf("region %d of %d", uint32(x), r)}
			}
		}
	}
	for i := range r {
		for _, t := range s.Params(RegionID(i)) {
			if t < 0 || int(t) >= len(c.Types) {
				return &LoadError{PartRegion, i, fmt.Errorf("type %d of %d", uint32(t), len(c.Types))}
			}
		}
		for k, x := range s.Results(RegionID(i)) {
			if x.Node < 0 || int(x.Node) >= n || x.Out < 0 || int(x.Out) >= s.NumOuts(x.Node) {
				return &LoadError{PartRegion, i, fmt.Errorf("result %d refers to output %d of node %d", k, uint32(x.Out), uint32(x.Node))}
			}
		}
	}
	return nil
}

type offsets struct {
	off []uint32
	end int
}

func checkOffsets(part string, n int, cols []offsets) *LoadError {
	for _, c := range cols {
		if len(c.off) != n+1 || c.off[0] != 0 || int64(c.off[n]) != int64(c.end) {
			return &LoadError{part, n, fmt.Errorf("list ends do not reach the end of the list")}
		}
		for i := range n {
			if c.off[i] > c.off[i+1] {
				return &LoadError{part, i, fmt.Errorf("list ends before it starts")}
			}
		}
	}
	return nil
}

// loadDepths computes nesting depths, in the one order in which each node and
// region follows what it refers to: before node i come the regions it contains.
func (s *Store) loadDepths(*Columns) *LoadError {
	s.depth = make([]uint8, len(s.ops))
	s.regDepth = make([]uint8, len(s.parOff)-1)
	ready := RegionID(0) // regions before it have their depth
	finish := func(until RegionID, nodes NodeID) *LoadError {
		for ; ready < until; ready++ {
			d := uint8(0)
			for k, x := range s.Results(ready) {
				if x.Node >= nodes {
					return &LoadError{PartRegion, int(ready), fmt.Errorf("result %d is node %d, which does not precede the region's use in node %d", k, x.Node, nodes)}
				}
				d = max(d, s.depth[x.Node])
			}
			s.regDepth[ready] = d
		}
		return nil
	}
	for i := range s.ops {
		n := NodeID(i)
		d := s.inputDepth(s.Ins(n))
		for _, r := range s.Regions(n) {
			if err := finish(r+1, n); err != nil {
				return err
			}
			d = max(d, int(s.regDepth[r])+1)
		}
		if d > MaxRegionDepth {
			return &LoadError{PartNode, i, fmt.Errorf("regions nest deeper than %d", MaxRegionDepth)}
		}
		s.depth[i] = uint8(d)
	}
	return finish(RegionID(len(s.regDepth)), NodeID(len(s.ops)))
}

// loadRules checks every node by its op's rule, in parallel.
func (s *Store) loadRules() *LoadError {
	return parallel(len(s.ops), func(lo, hi int) *LoadError {
		c := checker{Store: s}
		for i := lo; i < hi; i++ {
			info, ok := op.Lookup(s.ops[i])
			if !ok {
				return &LoadError{PartNode, i, fmt.Errorf("unknown opcode %d", uint16(s.ops[i]))}
			}
			if s.vers[i] != info.Version {
				return &LoadError{PartNode, i, fmt.Errorf("%s version %d, this is version %d", info.Name, s.vers[i], info.Version)}
			}
			if _, err := c.node(NodeID(i)); err != nil {
				return &LoadError{PartNode, i, err}
			}
		}
		return nil
	})
}

// grain is how many items one goroutine takes at least.
const grain = 1 << 8

// parallel runs f over [0, n) in contiguous pieces and returns the error of the
// first piece that has one.
func parallel(n int, f func(lo, hi int) *LoadError) *LoadError {
	workers := min(runtime.GOMAXPROCS(0), (n+grain-1)/grain)
	if workers <= 1 {
		return f(0, n)
	}
	errs := make([]*LoadError, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { errs[w] = f(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// loadDigests computes the digests of nodes and regions level by level: a node
// is a level above its inputs and regions, a region above its results, and a
// level is hashed in parallel.
func (s *Store) loadDigests() *LoadError {
	s.dig, s.regDig = make([]digest.D, len(s.ops)), make([]digest.D, len(s.regDepth))
	items, levels := s.byLevel()
	for l := range len(levels) - 1 {
		level := items[levels[l]:levels[l+1]]
		if len(level) < 2*grain {
			s.hashItems(&s.enc, level)
			continue
		}
		_ = parallel(len(level), func(lo, hi int) *LoadError {
			s.hashItems(new(digest.Enc), level[lo:hi])
			return nil
		})
	}
	s.nodeIx.reserve(s.dig)
	for i := range s.dig {
		if k, ok := s.nodeIx.put(s.dig, i); !ok {
			return &LoadError{PartNode, i, fmt.Errorf("repeats node %d", k)}
		}
	}
	s.regIx.reserve(s.regDig)
	for i := range s.regDig {
		if k, ok := s.regIx.put(s.regDig, i); !ok {
			return &LoadError{PartRegion, i, fmt.Errorf("repeats region %d", k)}
		}
	}
	return nil
}

// hashItems computes the digests of items as byLevel numbers them.
func (s *Store) hashItems(e *digest.Enc, items []int) {
	for _, x := range items {
		if n := NodeID(x); x < len(s.ops) {
			s.dig[n] = s.hashNode(e, s.ops[n], s.vers[n], s.OutTypes(n), s.Ins(n), s.Attrs(n), s.Regions(n))
		} else {
			r := RegionID(x - len(s.ops))
			s.regDig[r] = s.hashRegion(e, s.Params(r), s.Results(r))
		}
	}
}

// byLevel sorts nodes, and regions numbered after them, by level: level l is
// items[levels[l]:levels[l+1]].
func (s *Store) byLevel() (items []int, levels []int) {
	nodes, regions := len(s.ops), len(s.regDepth)
	level := make([]int32, nodes+regions)
	top, ready := int32(-1), RegionID(0)
	set := func(x int, l int32) {
		level[x] = l
		top = max(top, l)
	}
	finish := func(until RegionID) {
		for ; ready < until; ready++ {
			l := int32(0)
			for _, x := range s.Results(ready) {
				l = max(l, level[x.Node]+1)
			}
			set(nodes+int(ready), l)
		}
	}
	for i := range nodes {
		l := int32(0)
		for _, x := range s.Ins(NodeID(i)) {
			l = max(l, level[x.Node]+1)
		}
		for _, r := range s.Regions(NodeID(i)) {
			finish(r + 1)
			l = max(l, level[nodes+int(r)]+1)
		}
		set(i, l)
	}
	finish(RegionID(regions))
	levels = make([]int, top+2)
	for _, l := range level {
		levels[l+1]++
	}
	for l := range top + 1 {
		levels[l+1] += levels[l]
	}
	items = make([]int, len(level))
	next := append([]int(nil), levels...)
	for x, l := range level {
		items[next[l]] = x
		next[l]++
	}
	return items, levels
}
