// Package graph holds programs as content-addressed, hash-consed graphs.
//
// A Store is a pool of immutable nodes, regions, types and blobs kept in
// columns. Inserting an equal node returns the existing one, so structural
// common-subexpression elimination costs nothing. A region is a list of
// parameter types and result references; its nodes are those reachable from
// the results. Nodes refer to their region's parameters by index (param(i)),
// so equal bodies are shared across the whole program and a region's digest
// depends on nothing but its content.
//
// What must hold: a node's inputs and regions precede it, so ascending NodeID
// is a topological order; nothing is ever changed or removed; IDs depend only
// on insertion order, never on map iteration.
package graph

import (
	"fmt"
	"hash/maphash"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// NodeID, RegionID, TypeID and AttrsID index a Store's columns.
type (
	NodeID   int32
	RegionID int32
	TypeID   int32
	AttrsID  int32
)

// None marks an absent region.
const None RegionID = -1

// MaxRegionDepth bounds how deeply regions nest.
const MaxRegionDepth = 64

// Ref is one output of a node.
type Ref struct {
	Node NodeID
	Out  int32
}

// Store is a pool of nodes, regions, types and blobs. It is not safe for
// concurrent insertion; concurrent reading is.
type Store struct {
	types   []types.Type
	typeDig []digest.D
	typeIx  map[digest.D]TypeID
	typeKey map[string]TypeID // by payload: saves the digest of a type that is there

	attrs  []op.Attrs
	attrIx map[string]AttrsID

	// Node columns. Ranges are [off[i], off[i+1]) of the flat arrays.
	ops    []op.Code
	vers   []uint16
	attr   []AttrsID
	outOff []uint32
	outs   []TypeID
	inOff  []uint32
	ins    []Ref
	regOff []uint32
	regs   []RegionID
	depth  []uint8 // region nesting below the node
	dig    []digest.D
	nodeIx index
	known  known
	ruled  NodeID // nodes before it have passed their op's rule on loading

	// Region columns.
	parOff   []uint32
	pars     []TypeID
	resOff   []uint32
	ress     []Ref
	regDepth []uint8
	regDig   []digest.D
	regIx    index

	blobs   map[digest.D][]byte
	blobSeq []digest.D // insertion order

	enc digest.Enc
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{
		typeIx: map[digest.D]TypeID{}, typeKey: map[string]TypeID{}, known: known{seed: maphash.MakeSeed()}, attrIx: map[string]AttrsID{},
		blobs:  map[digest.D][]byte{},
		outOff: []uint32{0}, inOff: []uint32{0}, regOff: []uint32{0},
		parOff: []uint32{0}, resOff: []uint32{0},
	}
}

// NumNodes returns the number of nodes.
func (s *Store) NumNodes() int { return len(s.ops) }

// NumRegions returns the number of regions.
func (s *Store) NumRegions() int { return len(s.regDig) }

// Op returns the opcode of n.
func (s *Store) Op(n NodeID) op.Code { return s.ops[n] }

// Version returns the op version of n.
func (s *Store) Version(n NodeID) uint16 { return s.vers[n] }

// Ins returns the inputs of n. Do not modify them.
func (s *Store) Ins(n NodeID) []Ref { return s.ins[s.inOff[n]:s.inOff[n+1]] }

// OutTypes returns the output types of n as ids. Do not modify them.
func (s *Store) OutTypes(n NodeID) []TypeID { return s.outs[s.outOff[n]:s.outOff[n+1]] }

// NumOuts returns the number of outputs of n.
func (s *Store) NumOuts(n NodeID) int { return int(s.outOff[n+1] - s.outOff[n]) }

// Attrs returns the attributes of n. Do not modify them.
func (s *Store) Attrs(n NodeID) op.Attrs { return s.attrs[s.attr[n]] }

// Regions returns the regions contained in n. Do not modify them.
func (s *Store) Regions(n NodeID) []RegionID { return s.regs[s.regOff[n]:s.regOff[n+1]] }

// Digest returns the digest of n.
func (s *Store) Digest(n NodeID) digest.D { return s.dig[n] }

// Type returns the type of a reference.
func (s *Store) Type(r Ref) types.Type { return s.types[s.OutTypes(r.Node)[r.Out]] }

// TypeByID returns an interned type.
func (s *Store) TypeByID(t TypeID) types.Type { return s.types[t] }

// TypeDigest returns the digest of an interned type.
func (s *Store) TypeDigest(t TypeID) digest.D { return s.typeDig[t] }

// NumTypes returns the number of interned types.
func (s *Store) NumTypes() int { return len(s.types) }

// Params returns the parameter types of r as ids. Do not modify them.
func (s *Store) Params(r RegionID) []TypeID { return s.pars[s.parOff[r]:s.parOff[r+1]] }

// ParamTypes returns the parameter types of r.
func (s *Store) ParamTypes(r RegionID) []types.Type { return s.typeList(s.Params(r)) }

// Results returns the results of r. Do not modify them.
func (s *Store) Results(r RegionID) []Ref { return s.ress[s.resOff[r]:s.resOff[r+1]] }

// ResultTypes returns the result types of r.
func (s *Store) ResultTypes(r RegionID) []types.Type {
	rs := s.Results(r)
	out := make([]types.Type, len(rs))
	for i, x := range rs {
		out[i] = s.Type(x)
	}
	return out
}

// RegionDigest returns the digest of r.
func (s *Store) RegionDigest(r RegionID) digest.D { return s.regDig[r] }

// RegionDepth returns how deeply regions nest in r: 0 without contained regions.
func (s *Store) RegionDepth(r RegionID) int { return int(s.regDepth[r]) }

// Sig returns the signature of r.
func (s *Store) Sig(r RegionID) op.Sig {
	return op.Sig{Params: s.ParamTypes(r), Results: s.ResultTypes(r)}
}

func (s *Store) typeList(ids []TypeID) []types.Type {
	out := make([]types.Type, len(ids))
	for i, t := range ids {
		out[i] = s.types[t]
	}
	return out
}

// InternType returns the id of t.
func (s *Store) InternType(t types.Type) TypeID {
	s.enc.Reset()
	EncodeType(&s.enc, t)
	if id, ok := s.typeKey[string(s.enc.B)]; ok {
		return id
	}
	key, d := string(s.enc.B), digest.Of(digest.Type, s.enc.B)
	if id, ok := s.typeIx[d]; ok {
		s.typeKey[key] = id
		return id
	}
	id := TypeID(len(s.types))
	s.typeKey[key] = id
	s.types, s.typeDig = append(s.types, t), append(s.typeDig, d)
	s.typeIx[d] = id
	return id
}

func (s *Store) internAttrs(as op.Attrs) AttrsID {
	s.enc.Reset()
	as.Encode(&s.enc)
	if id, ok := s.attrIx[string(s.enc.B)]; ok {
		return id
	}
	id := AttrsID(len(s.attrs))
	s.attrs = append(s.attrs, as)
	s.attrIx[string(s.enc.B)] = id
	return id
}

// AttrsID returns the interned attribute set of n, for column writers.
func (s *Store) AttrsID(n NodeID) AttrsID { return s.attr[n] }

// NumAttrs returns the number of interned attribute sets.
func (s *Store) NumAttrs() int { return len(s.attrs) }

// AttrsByID returns an interned attribute set.
func (s *Store) AttrsByID(a AttrsID) op.Attrs { return s.attrs[a] }

// AddBlob stores b and returns its digest. It keeps b, which must not change.
func (s *Store) AddBlob(b []byte) digest.D {
	d := digest.OfBlob(b)
	s.putBlob(d, b)
	return d
}

// AddBlobDigest stores b under a digest that the caller has computed.
func (s *Store) AddBlobDigest(d digest.D, b []byte) { s.putBlob(d, b) }

func (s *Store) putBlob(d digest.D, b []byte) {
	if _, ok := s.blobs[d]; ok {
		return
	}
	s.blobs[d] = b
	s.blobSeq = append(s.blobSeq, d)
}

// Blob returns the bytes of a stored blob.
func (s *Store) Blob(d digest.D) ([]byte, bool) {
	b, ok := s.blobs[d]
	return b, ok
}

// ConstBytes returns the dense bytes of a const node.
func (s *Store) ConstBytes(n NodeID) ([]byte, error) {
	if s.ops[n] != op.Const {
		return nil, fmt.Errorf("node %d is %v, not a constant", n, s.ops[n])
	}
	a, _ := s.Attrs(n).Get(op.KValue)
	if a.Kind == op.ABytes {
		return a.Bytes, nil
	}
	b, ok := s.Blob(a.Blob)
	if !ok {
		return nil, fmt.Errorf("constant's blob %s is missing", a.Blob.Short())
	}
	return b, nil
}

// NodeDef describes a node to insert. Outs may be empty for ops whose output
// types are implied.
type NodeDef struct {
	Op      op.Code
	Outs    []types.Type
	Ins     []Ref
	Attrs   op.Attrs
	Regions []RegionID
}

// Add checks d by its op's rule and inserts it, or returns the equal node.
func (s *Store) Add(d NodeDef) (NodeID, error) {
	inst := op.Inst{Op: d.Op, Attrs: d.Attrs, Out: d.Outs}
	inst.In = make([]types.Type, len(d.Ins))
	for i, r := range d.Ins {
		if r.Node < 0 || int(r.Node) >= len(s.ops) || r.Out < 0 || int(r.Out) >= s.NumOuts(r.Node) {
			return 0, fmt.Errorf("%v: input %d refers to output %d of node %d, which does not precede it", d.Op, i, r.Out, r.Node)
		}
		inst.In[i] = s.Type(r)
	}
	depth := 0
	if len(d.Regions) > 0 {
		inst.Regions = make([]op.Sig, len(d.Regions))
		for i, r := range d.Regions {
			if r < 0 || int(r) >= len(s.regDig) {
				return 0, fmt.Errorf("%v: region %d does not precede it", d.Op, r)
			}
			inst.Regions[i] = s.Sig(r)
			depth = max(depth, int(s.regDepth[r])+1)
		}
	}
	if depth > MaxRegionDepth {
		return 0, fmt.Errorf("%v: regions nest deeper than %d", d.Op, MaxRegionDepth)
	}
	outs, err := op.Infer(&inst)
	if err != nil {
		return 0, err
	}
	if len(d.Outs) > 0 {
		if len(d.Outs) != len(outs) {
			return 0, fmt.Errorf("%v: declares %d outputs, has %d", d.Op, len(d.Outs), len(outs))
		}
		for i := range outs {
			if !outs[i].Equal(d.Outs[i]) {
				return 0, fmt.Errorf("%v: declares output %d as %v, is %v", d.Op, i, d.Outs[i], outs[i])
			}
		}
	}
	if d.Op == op.Const {
		if err := s.checkConst(d.Attrs, outs[0]); err != nil {
			return 0, err
		}
	}
	return s.insert(d, outs, depth), nil
}

func (s *Store) insert(d NodeDef, outs []types.Type, depth int) NodeID {
	outIDs := make([]TypeID, len(outs))
	for i, t := range outs {
		outIDs[i] = s.InternType(t)
	}
	ver := d.Op.Info().Version
	attrs := s.internAttrs(d.Attrs)
	key := s.nodeKey(d.Op, outIDs, d.Ins, attrs, d.Regions)
	if n, ok := s.known.find(key, func(n NodeID) bool { return s.isNode(n, d.Op, outIDs, d.Ins, attrs, d.Regions) }); ok {
		return n
	}
	dig := s.nodeDigest(d.Op, ver, outIDs, d.Ins, d.Attrs, d.Regions)
	if id, ok := s.nodeIx.find(s.dig, dig); ok {
		s.known.put(key, NodeID(id))
		return NodeID(id)
	}
	id := NodeID(len(s.ops))
	s.known.put(key, id)
	s.ops, s.vers, s.attr = append(s.ops, d.Op), append(s.vers, ver), append(s.attr, attrs)
	s.outs = append(s.outs, outIDs...)
	s.outOff = append(s.outOff, uint32(len(s.outs)))
	s.ins = append(s.ins, d.Ins...)
	s.inOff = append(s.inOff, uint32(len(s.ins)))
	s.regs = append(s.regs, d.Regions...)
	s.regOff = append(s.regOff, uint32(len(s.regs)))
	s.depth = append(s.depth, uint8(max(depth, s.inputDepth(d.Ins))))
	s.dig = append(s.dig, dig)
	s.nodeIx.put(s.dig, int(id))
	return id
}

// inputDepth is the deepest nesting among the nodes that ins reach, so that a
// region's depth follows from its results alone.
func (s *Store) inputDepth(ins []Ref) int {
	n := 0
	for _, r := range ins {
		n = max(n, int(s.depth[r.Node]))
	}
	return n
}

// AddRegion inserts a region, or returns the equal one. It checks that the
// region is closed: every param node its results reach is one of params.
func (s *Store) AddRegion(params []types.Type, results []Ref) (RegionID, error) {
	ids := make([]TypeID, len(params))
	for i, t := range params {
		if err := t.Check(); err != nil {
			return None, fmt.Errorf("region parameter %d: %w", i, err)
		}
		ids[i] = s.InternType(t)
	}
	depth := 0
	for i, r := range results {
		if r.Node < 0 || int(r.Node) >= len(s.ops) || r.Out < 0 || int(r.Out) >= s.NumOuts(r.Node) {
			return None, fmt.Errorf("region result %d refers to output %d of node %d, which does not exist", i, r.Out, r.Node)
		}
		depth = max(depth, int(s.depth[r.Node]))
	}
	d := s.regionDigest(ids, results)
	if id, ok := s.regIx.find(s.regDig, d); ok {
		return RegionID(id), nil
	}
	if err := s.checkClosed(ids, s.reach(results)); err != nil {
		return None, err
	}
	id := RegionID(len(s.regDig))
	s.pars = append(s.pars, ids...)
	s.parOff = append(s.parOff, uint32(len(s.pars)))
	s.ress = append(s.ress, results...)
	s.resOff = append(s.resOff, uint32(len(s.ress)))
	s.regDepth = append(s.regDepth, uint8(depth))
	s.regDig = append(s.regDig, d)
	s.regIx.put(s.regDig, int(id))
	return id, nil
}

// checkClosed checks the param nodes among a region's nodes.
func (s *Store) checkClosed(params []TypeID, nodes []NodeID) error {
	for _, n := range nodes {
		if s.ops[n] != op.Param {
			continue
		}
		i := s.Attrs(n).Int(op.KIndex)
		if i >= int64(len(params)) {
			return fmt.Errorf("region is not closed: param(%d) of %d", i, len(params))
		}
		if t := s.OutTypes(n)[0]; t != params[i] {
			return fmt.Errorf("param(%d) is %v, the region's is %v", i, s.types[t], s.types[params[i]])
		}
	}
	return nil
}
