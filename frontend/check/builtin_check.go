package check

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/types"
	"github.com/kera-lang/kera/frontend/syntax"
)

// The checks of the rows of builtins. nil means reported.

func mapOf(pass func(types.DType) bool, wants string) func(*body, *site) Expr {
	return func(b *body, s *site) Expr {
		hint := s.want
		if hint != nil && !hint.IsTensor() {
			hint = nil
		}
		x := b.tensor(s, "x", b.floatHint(pass, hint, s.args["x"]), pass, wants)
		if x == nil {
			return nil
		}
		return s.prim(x.Type(), []Expr{x})
	}
}

// floatHint makes integer literals floats where a row takes only floats.
func (b *body) floatHint(pass func(types.DType) bool, hint *Type, e syntax.Expr) *Type {
	if hint == nil && !pass(types.I64) && pass(types.F64) && b.flexible(e) {
		return scalar(types.F64)
	}
	return hint
}

func zipOf(pass func(types.DType) bool, wants string) func(*body, *site) Expr {
	return func(b *body, s *site) Expr {
		var es []syntax.Expr
		for _, p := range s.row.params {
			es = append(es, s.args[p])
		}
		return b.zip(s, es, pass, wants)
	}
}

func floatMap(b *body, s *site) Expr  { return mapOf(isFloat, "floats")(b, s) }
func numberMap(b *body, s *site) Expr { return mapOf(isNumber, "numbers")(b, s) }
func intMap(b *body, s *site) Expr    { return mapOf(isInt, "integers")(b, s) }
func floatZip(b *body, s *site) Expr  { return zipOf(isFloat, "floats")(b, s) }
func numberZip(b *body, s *site) Expr { return zipOf(isNumber, "numbers")(b, s) }

// zip checks arguments of one element type that broadcast.
func (b *body) zip(s *site, es []syntax.Expr, pass func(types.DType) bool, wants string) Expr {
	xs, ok := b.alike(s, es, pass, wants)
	if !ok {
		return nil
	}
	dims, ok := b.commonShape(xs, s.at)
	if !ok {
		return nil
	}
	for i := range xs {
		xs[i] = b.stretch(xs[i], dims)
	}
	return s.prim(xs[0].Type().withDims(dims), xs)
}

// alike checks arguments of one element type; literals take it from the others.
func (b *body) alike(s *site, es []syntax.Expr, pass func(types.DType) bool, wants string) ([]Expr, bool) {
	hint := s.want
	if hint != nil && !hint.IsTensor() {
		hint = nil
	}
	xs := make([]Expr, len(es))
	for i, e := range es {
		if !b.flexible(e) {
			xs[i] = b.expr(e, hint)
			if t := xs[i].Type(); t.IsTensor() {
				hint = scalar(t.DType)
				break
			}
		}
	}
	if hint == nil {
		for _, e := range es {
			if b.flexible(e) && (b.hasFloat(e) || !pass(types.I64) && pass(types.F64)) {
				hint = scalar(types.F64)
			}
		}
	}
	ok := true
	for i, e := range es {
		if xs[i] == nil {
			xs[i] = b.expr(e, hint)
		}
		ok = ok && !xs[i].Type().IsBad()
	}
	if !ok {
		return nil, false
	}
	for _, x := range xs {
		if !x.Type().IsTensor() || !pass(x.Type().DType) {
			b.refuse(s, x, wants)
			return nil, false
		}
	}
	for _, x := range xs[1:] {
		if x.Type().DType != xs[0].Type().DType {
			b.c.errorf(diag.Mismatch, x.Span(), "`%s` takes arguments of one type, found %s and %s", s.row.Name, xs[0].Type(), x.Type()).
				Related(xs[0].Span(), "this is %s", xs[0].Type())
			return nil, false
		}
	}
	return xs, true
}

func checkSelect(b *body, s *site) Expr {
	c := b.tensor(s, "c", scalar(types.Bool), isBool, "a bool first")
	arms, ok := b.alike(s, []syntax.Expr{s.args["a"], s.args["b"]}, isAny, "tensors")
	if c == nil || !ok {
		return nil
	}
	xs := append([]Expr{c}, arms...)
	dims, ok := b.commonShape(xs, s.at)
	if !ok {
		return nil
	}
	for i := range xs {
		xs[i] = b.stretch(xs[i], dims)
	}
	return s.prim(xs[1].Type().withDims(dims), xs)
}

func checkMinMax(b *body, s *site) Expr {
	if s.args["y"] == nil {
		return checkReduce(b, s)
	}
	if s.args["axis"] != nil {
		b.c.errorf(diag.BuiltinArg, s.at, "`%s` of two takes no axis", s.row.Name)
		return nil
	}
	return b.zip(s, []syntax.Expr{s.args["x"], s.args["y"]}, isNumber, "numbers")
}

// checkReduce: Ints are the axes.
func checkReduce(b *body, s *site) Expr {
	pass, wants := isNumber, "numbers"
	if s.row.Name == "any" || s.row.Name == "all" {
		pass, wants = isBool, "bools"
	}
	var hint *Type
	if s.want != nil && s.want.IsTensor() {
		hint = scalar(s.want.DType)
	}
	x := b.tensor(s, "x", hint, pass, wants)
	if x == nil {
		return nil
	}
	t := x.Type()
	if t.Rank() == 0 {
		b.refuse(s, x, "a tensor")
		return nil
	}
	if s.args["axis"] == nil {
		all := make([]int64, t.Rank())
		for i := range all {
			all[i] = int64(i)
		}
		return s.prim(scalar(t.DType), []Expr{x}, all...)
	}
	a, ok := b.static(s, "axis", 0, 0, int64(t.Rank()))
	if !ok {
		return nil
	}
	return s.prim(t.withDims(dropAxis(t.Dims, a)), []Expr{x}, a)
}

func dropAxis(ds []Dim, a int64) []Dim {
	out := append([]Dim{}, ds[:a]...)
	return append(out, ds[a+1:]...)
}

func checkArg(b *body, s *site) Expr {
	x := b.tensor(s, "x", nil, isNumber, "numbers")
	if x == nil {
		return nil
	}
	t := x.Type()
	if t.Rank() == 0 {
		b.refuse(s, x, "a tensor")
		return nil
	}
	if t.Rank() > 1 && s.args["axis"] == nil {
		b.c.errorf(diag.BuiltinArg, s.at, "`%s` needs `axis = ...` for a tensor of %d axes", s.row.Name, t.Rank())
		return nil
	}
	a, ok := b.static(s, "axis", 0, 0, int64(t.Rank()))
	if !ok {
		return nil
	}
	if n, isNum := t.Dims[a].Const(); isNum && n == 0 {
		b.c.errorf(diag.BuiltinArg, x.Span(), "`%s` of an empty axis has no value", s.row.Name)
		return nil
	}
	return s.prim(tensorOf(types.I64, dropAxis(t.Dims, a)...), []Expr{x}, a)
}

// checkSort: Ints are the axis and whether to descend.
func checkSort(b *body, s *site) Expr {
	var hint *Type
	if s.row.Name == "sort" && s.want != nil && s.want.IsTensor() {
		hint = s.want
	}
	x := b.tensor(s, "x", hint, func(d types.DType) bool { return isNumber(d) || isBool(d) }, "numbers")
	if x == nil {
		return nil
	}
	t := x.Type()
	if t.Rank() == 0 {
		b.refuse(s, x, "a tensor")
		return nil
	}
	a, ok1 := b.static(s, "axis", int64(t.Rank()-1), 0, int64(t.Rank()))
	desc, ok2 := b.flag(s, "descending")
	if !ok1 || !ok2 {
		return nil
	}
	if s.row.Name == "argsort" {
		t = t.withDType(types.I64)
	}
	return s.prim(t, []Expr{x}, a, desc)
}

func checkDot(b *body, s *site) Expr {
	xs, ok := b.alike(s, []syntax.Expr{s.args["x"], s.args["y"]}, isFloat, "floats")
	if !ok {
		return nil
	}
	t := xs[0].Type()
	if t.Rank() == 0 || !b.same(t, xs[1].Type()) {
		b.c.errorf(diag.ShapeMismatch, s.at, "`dot` takes two tensors of one shape, not %s and %s", t, xs[1].Type())
		return nil
	}
	a, ok := b.static(s, "axis", int64(t.Rank()-1), 0, int64(t.Rank()))
	if !ok {
		return nil
	}
	return s.prim(t.withDims(dropAxis(t.Dims, a)), xs, a)
}

var accWords = map[string]bool{"fma": true, "unfused": true, "f64": true, "i32": true, "i64": true}

func checkMatmul(b *body, s *site) Expr {
	acc := "fma"
	if e := s.args["acc"]; e != nil {
		n, ok := syntax.Unparen(e).(syntax.NameExpr)
		if !ok || !accWords[n.Text()] {
			b.c.errorf(diag.BuiltinArg, e.Span(), "`acc` is one of fma, unfused, f64, i32, i64")
			return nil
		}
		acc = n.Text()
	}
	x, y := b.operands(s.args["x"], s.args["y"], nil, false)
	return b.matmul(x, y, s.at, s.at, acc)
}

// checkTranspose: Ints are the permutation.
func checkTranspose(b *body, s *site) Expr {
	x := b.tensor(s, "x", s.want, isAny, "a tensor")
	if x == nil {
		return nil
	}
	t := x.Type()
	perm := make([]int64, t.Rank())
	for i := range perm {
		perm[i] = int64(t.Rank() - 1 - i)
	}
	if e := s.args["axes"]; e != nil {
		ds, ok := b.shape(s, "axes")
		if !ok {
			return nil
		}
		seen := map[int64]bool{}
		good := len(ds) == t.Rank()
		for i, d := range ds {
			v, isNum := d.Const()
			good = good && isNum && v >= 0 && v < int64(t.Rank()) && !seen[v]
			if good {
				seen[v], perm[i] = true, v
			}
		}
		if !good {
			b.c.errorf(diag.BuiltinArg, e.Span(), "`axes` names each of the %s of %s once", axes(t.Rank()), t)
			return nil
		}
	}
	dims := make([]Dim, len(perm))
	for i, p := range perm {
		dims[i] = t.Dims[p]
	}
	return s.prim(t.withDims(dims), []Expr{x}, perm...)
}

func checkReshape(b *body, s *site) Expr {
	x := b.tensor(s, "x", elemOf(s.want), isAny, "a tensor")
	dims, ok := b.shape(s, "shape")
	if x == nil || !ok {
		return nil
	}
	from, to := Num(1), Num(1)
	for _, d := range x.Type().Dims {
		from = from.Mul(d)
	}
	for _, d := range dims {
		to = to.Mul(d)
	}
	// What cannot be decided here is decided for each instance.
	if v, isNum := b.normal(from.Sub(to)).Const(); isNum && v != 0 {
		b.c.errorf(diag.ShapeMismatch, s.at, "%s has %s elements, the new shape %s", x.Type(), from, to)
		return nil
	}
	return s.prim(x.Type().withDims(dims), []Expr{x})
}

func elemOf(want *Type) *Type {
	if want == nil || !want.IsTensor() {
		return nil
	}
	return scalar(want.DType)
}

func checkBroadcast(b *body, s *site) Expr {
	x := b.tensor(s, "x", elemOf(s.want), isAny, "a tensor")
	dims, ok := b.shape(s, "shape")
	if x == nil || !ok {
		return nil
	}
	t := x.Type()
	ok = t.Rank() == 0 || t.Rank() == len(dims)
	for i := range t.Dims {
		ok = ok && (b.sameDim(t.Dims[i], dims[i]) || isOne(t.Dims[i]))
	}
	if !ok {
		b.c.errorf(diag.ShapeMismatch, s.at, "%s does not stretch to %s", t, dimList(dims)).
			Notef("x[_, ..] adds an axis of size 1; only such axes stretch")
		return nil
	}
	return b.stretch(x, dims)
}

// checkConcat: Ints is the axis.
func checkConcat(b *body, s *site) Expr {
	if len(s.rest) == 0 {
		b.c.errorf(diag.ArgCount, s.at, "`concat` takes at least one tensor").Notef("%s", s.row.Sig)
		return nil
	}
	xs, ok := b.alike(s, s.rest, isAny, "tensors")
	if !ok {
		return nil
	}
	t := xs[0].Type()
	if t.Rank() == 0 {
		b.refuse(s, xs[0], "tensors")
		return nil
	}
	a, ok := b.static(s, "axis", 0, 0, int64(t.Rank()))
	if !ok {
		return nil
	}
	dims := append([]Dim{}, t.Dims...)
	for _, x := range xs[1:] {
		u := x.Type()
		if u.Rank() != t.Rank() || !b.sameDims(dropAxis(t.Dims, a), dropAxis(u.Dims, a)) {
			b.c.errorf(diag.ShapeMismatch, x.Span(), "%s cannot follow %s along axis %d", u, t, a).Related(xs[0].Span(), "this is %s", t)
			return nil
		}
		dims[a] = dims[a].Add(u.Dims[a])
	}
	return s.prim(t.withDims(dims), xs, a)
}

// checkGather: Ints is the axis.
func checkGather(b *body, s *site) Expr {
	x := b.tensor(s, "x", elemOf(s.want), isAny, "a tensor")
	ix := b.tensor(s, "index", scalar(types.I64), isInt, "integer indices")
	if x == nil || ix == nil {
		return nil
	}
	t, u := x.Type(), ix.Type()
	if t.Rank() == 0 {
		b.refuse(s, x, "a tensor")
		return nil
	}
	a, ok := b.static(s, "axis", 0, 0, int64(t.Rank()))
	if !ok {
		return nil
	}
	dims := append([]Dim{}, t.Dims[:a]...)
	dims = append(dims, u.Dims...)
	dims = append(dims, t.Dims[a+1:]...)
	if len(dims) > types.MaxRank {
		b.c.errorf(diag.BadTypeArgs, s.at, "the result would have more than %d axes", types.MaxRank)
		return nil
	}
	return s.prim(t.withDims(dims), []Expr{x, ix}, a)
}

func checkIota(b *body, s *site) Expr {
	d, ok := b.dim(s.args["n"])
	if !ok {
		return nil
	}
	if v, isNum := d.Const(); isNum && v < 0 {
		b.c.errorf(diag.BuiltinArg, s.args["n"].Span(), "a dimension is not negative")
		return nil
	}
	return s.prim(tensorOf(types.I64, d), nil)
}

func checkLen(b *body, s *site) Expr {
	x := b.tensor(s, "x", nil, isAny, "a tensor")
	if x == nil {
		return nil
	}
	if x.Type().Rank() == 0 {
		b.refuse(s, x, "a tensor")
		return nil
	}
	a, ok := b.static(s, "axis", 0, 0, int64(x.Type().Rank()))
	if !ok {
		return nil
	}
	size := &DimVal{Node{scalar(types.I64), s.at}, x.Type().Dims[a]}
	for y := x; ; {
		switch v := y.(type) {
		case *LocalRef, *ConstRef:
			return size
		case *FieldRef:
			y = v.X
			continue
		}
		break
	}
	// Any other operand is evaluated for its traps.
	return &Block{Node: Node{scalar(types.I64), s.at}, Stmts: []Stmt{&Eval{x}}, Tail: size}
}
