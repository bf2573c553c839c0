package graph

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

// InvalidError is a broken rule: which node or region, and which rule.
type InvalidError struct {
	Pass   string // what produced the graph, or ""
	Export string // the entry, or ""
	Region RegionID
	Node   NodeID // -1 when the rule is about a region or an export
	Op     op.Code
	Rule   string // short name of the rule
	Err    error
}

func (e *InvalidError) Error() string {
	where := ""
	if e.Pass != "" {
		where = "after " + e.Pass + ": "
	}
	if e.Export != "" {
		where += "export " + strconv.Quote(e.Export) + ": "
	}
	if e.Node >= 0 {
		where += fmt.Sprintf("node %d (%v): ", e.Node, e.Op)
	} else if e.Region >= 0 {
		where += fmt.Sprintf("region %d: ", e.Region)
	}
	return fmt.Sprintf("invalid graph: %srule %s: %v", where, e.Rule, e.Err)
}

func (e *InvalidError) Unwrap() error { return e.Err }

// Validate checks every rule of the graph: types by each op's own rule,
// inputs precede, regions closed and not too deep, tokens used exactly once,
// entries end in a trap code, bound constants match. Insertion checks most of
// this already; Validate does not rely on that. pass names who produced g.
func Validate(g *Graph, pass string) error {
	return NewValidator(g).Validate(pass)
}

func validateExports(g *Graph, pass string) error {
	for i := range g.Exports {
		if err := g.validateExport(&g.Exports[i]); err != nil {
			err.Pass = pass
			return err
		}
		if i > 0 && g.Exports[i-1].Name >= g.Exports[i].Name {
			return &InvalidError{Pass: pass, Export: g.Exports[i].Name, Region: None, Node: -1, Rule: "export order", Err: fmt.Errorf("exports must ascend by name")}
		}
	}
	return nil
}

// NewValidator returns a validator that remembers what it has found right, for
// use after each pass. What must hold: the store is one that only grows, whose
// nodes and regions never change, so that what was right once stays so.
func NewValidator(g *Graph) *Validator { return &Validator{g: g, nodes: checker{Store: g.Store}} }

// Validate checks what Validate of the whole graph does, leaving out the nodes and
// regions that this validator has checked before.
func (v *Validator) Validate(pass string) error {
	if err := validateExports(v.g, pass); err != nil {
		return err
	}
	return v.regions(pass)
}

func (v *Validator) regions(pass string) error {
	g := v.g
	v.reached = 0
	v.seenNode = append(v.seenNode, make([]bool, g.NumNodes()-len(v.seenNode))...)
	v.seenRegion = append(v.seenRegion, make([]bool, g.NumRegions()-len(v.seenRegion))...)
	for i := range g.Exports {
		for _, r := range [2]RegionID{g.Exports[i].Region, g.Exports[i].Optimised} {
			if err := v.region(r); err != nil {
				err.Pass = pass
				return err
			}
		}
	}
	return nil
}

// MaxReach bounds the nodes that the regions of a graph reach in all, a node
// counting once for each region that reaches it: what every pass has to walk,
// which sharing could make quadratic in the size of the graph.
const MaxReach = 1 << 28

// Validator checks regions, contained ones first, each once.
type Validator struct {
	g                    *Graph
	nodes                checker
	seenNode, seenRegion []bool
	reached              int
}

func (v *Validator) region(r RegionID) *InvalidError {
	if r == None || v.seenRegion[r] {
		return nil
	}
	v.seenRegion[r] = true
	order := v.g.Order(r)
	if v.reached += len(order); v.reached > MaxReach {
		return &InvalidError{Region: r, Node: -1, Rule: "region sizes", Err: fmt.Errorf("the regions reach more than %d nodes", MaxReach)}
	}
	for _, n := range order {
		for _, c := range v.g.Regions(n) {
			if c < 0 || int(c) >= len(v.seenRegion) {
				return &InvalidError{Region: r, Node: n, Op: v.g.Op(n), Rule: "regions precede", Err: fmt.Errorf("region %d does not exist", c)}
			}
			if err := v.region(c); err != nil {
				return err
			}
		}
	}
	return v.check(r, order)
}

func (g *Graph) validateExport(x *Export) *InvalidError {
	bad := func(rule string, format string, args ...any) *InvalidError {
		return &InvalidError{Export: x.Name, Region: x.Region, Node: -1, Rule: rule, Err: fmt.Errorf(format, args...)}
	}
	if x.Name == "" {
		return bad("export name", "the name is empty")
	}
	check := func(r RegionID, bound []Bound, what string) *InvalidError {
		if r < 0 || int(r) >= g.NumRegions() {
			return bad("export region", "%s region %d does not exist", what, r)
		}
		ps := g.ParamTypes(r)
		if len(ps) != len(x.Params)+len(bound) {
			return bad("export parameters", "%s region takes %d parameters for %d named and %d bound", what, len(ps), len(x.Params), len(bound))
		}
		for i, b := range bound {
			if !ps[len(x.Params)+i].Equal(b.Type) {
				return bad("bound constants", "constant %d is %v, its parameter %v", i, b.Type, ps[len(x.Params)+i])
			}
			if data, ok := g.Blob(b.Blob); ok && int64(len(data)) != b.Type.NumBytes() {
				return bad("bound constants", "constant %d has %d bytes for %v", i, len(data), b.Type)
			}
		}
		rs := g.ResultTypes(r)
		if len(rs) != len(x.Results)+1 || !rs[len(rs)-1].Equal(types.Trap()) {
			return bad("traps joined", "%s region returns %d results for %d named and a trap code", what, len(rs), len(x.Results))
		}
		return nil
	}
	if err := check(x.Region, x.Bound, "source"); err != nil {
		return err
	}
	if x.Optimised == None {
		return nil
	}
	if err := check(x.Optimised, x.OptBound, "optimised"); err != nil {
		return err
	}
	s, o := g.Sig(x.Region), g.Sig(x.Optimised)
	for i := range x.Params {
		if !s.Params[i].Equal(o.Params[i]) {
			return bad("optimised signature", "parameter %d is %v, the source's %v", i, o.Params[i], s.Params[i])
		}
	}
	for i := range s.Results {
		if !s.Results[i].Equal(o.Results[i]) {
			return bad("optimised signature", "result %d is %v, the source's %v", i, o.Results[i], s.Results[i])
		}
	}
	return nil
}

func (v *Validator) check(r RegionID, order []NodeID) *InvalidError {
	g := v.g
	bad := func(rule string, err error) *InvalidError {
		return &InvalidError{Region: r, Node: -1, Rule: rule, Err: err}
	}
	if d := g.RegionDepth(r); d > MaxRegionDepth {
		return bad("region depth", fmt.Errorf("%d exceeds %d", d, MaxRegionDepth))
	}
	for _, n := range order {
		if n < g.ruled || v.seenNode[n] {
			continue
		}
		v.seenNode[n] = true
		if rule, err := v.nodes.node(n); err != nil {
			return &InvalidError{Region: r, Node: n, Op: g.Op(n), Rule: rule, Err: err}
		}
	}
	if err := g.checkClosed(g.Params(r), order); err != nil {
		return bad("closed regions", err)
	}
	if err := g.checkTokens(r, order); err != nil {
		return bad("tokens", err)
	}
	return nil
}

// checkConst refuses a second spelling of a constant: NaNs other than the
// canonical one, bools other than 0 and 1, and uniform tensors, which are
// broadcasts of a scalar. The bytes of a blob that is not here are not checked.
func (s *Store) checkConst(as op.Attrs, t types.Type) error {
	a, _ := as.Get(op.KValue)
	b := a.Bytes
	if a.Kind == op.ABlob {
		var ok bool
		if b, ok = s.blobs[a.Blob]; !ok {
			return nil
		}
		if uint64(len(b)) != a.Len {
			return fmt.Errorf("blob has %d bytes, the attribute says %d", len(b), a.Len)
		}
	}
	if !CanonicalBytes(t.DType, b) {
		return fmt.Errorf("holds a NaN other than the canonical one, or a bool other than 0 and 1")
	}
	if Uniform(t, b) {
		return fmt.Errorf("a uniform %v is spelled as a broadcast of a scalar", t)
	}
	return nil
}

// Uniform reports whether b is a tensor of more than one element, all with the
// same bits.
func Uniform(t types.Type, b []byte) bool {
	z := t.DType.Size()
	if t.Rank() == 0 || len(b) < z {
		return false
	}
	for i := z; i < len(b); i += z {
		if !bytes.Equal(b[i:i+z], b[:z]) {
			return false
		}
	}
	return true
}

// checkTokens: within a region a token-typed value has exactly one use.
func (g *Graph) checkTokens(r RegionID, order []NodeID) error {
	var uses map[Ref]int
	for _, n := range order {
		for i, t := range g.OutTypes(n) {
			if g.TypeByID(t).Kind != types.KindToken {
				continue
			}
			if uses == nil {
				uses = g.UseCounts(r)
			}
			if u := uses[Ref{n, int32(i)}]; u != 1 {
				return fmt.Errorf("token %d of node %d is used %d times", i, n, u)
			}
		}
	}
	return nil
}

// VerifyDigests recomputes the digest of every node and region that the
// exports reach and of every blob, and checks big constants for other NaNs.
func VerifyDigests(g *Graph) error {
	var roots []RegionID
	for i := range g.Exports {
		roots = append(roots, g.Exports[i].Region, g.Exports[i].Optimised)
		for _, b := range append(append([]Bound{}, g.Exports[i].Bound...), g.Exports[i].OptBound...) {
			data, ok := g.Blob(b.Blob)
			if !ok {
				return fmt.Errorf("blob %s bound to %q is missing", b.Blob.Short(), g.Exports[i].Name)
			}
			if !CanonicalBytes(b.Type.DType, data) {
				return fmt.Errorf("blob %s bound to %q holds a NaN other than the canonical one", b.Blob.Short(), g.Exports[i].Name)
			}
		}
	}
	for _, d := range g.blobSeq {
		if got := digest.OfBlob(g.blobs[d]); got != d {
			return fmt.Errorf("blob %s has digest %s", d.Short(), got.Short())
		}
	}
	var e digest.Enc
	seen := make([]bool, g.NumNodes())
	for _, r := range g.RegionsUnder(roots...) {
		for _, n := range g.Order(r) {
			if seen[n] {
				continue
			}
			seen[n] = true
			if got := g.hashNode(&e, g.Op(n), g.Version(n), g.OutTypes(n), g.Ins(n), g.Attrs(n), g.Regions(n)); got != g.dig[n] {
				return fmt.Errorf("node %d has digest %s, recorded %s", n, got.Short(), g.dig[n].Short())
			}
		}
		if got := g.hashRegion(&e, g.Params(r), g.Results(r)); got != g.regDig[r] {
			return fmt.Errorf("region %d has digest %s, recorded %s", r, got.Short(), g.regDig[r].Short())
		}
	}
	return nil
}
