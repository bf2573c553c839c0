package srcgen

import (
	"fmt"
	"strings"
)

// form makes an expression of type t, or nil where it has none.
type form struct {
	name string
	make func(g *gen, t Type, depth int) *node
}

// forms lists the expressions; the common ones stand more than once.
func forms() []form {
	return []form{
		{"arith", arith}, {"arith", arith}, {"arith", arith}, {"unary", unary}, {"compare", compare},
		{"if", ifElse}, {"select", choice}, {"convert", convert}, {"convert", convert},
		{"map", mapping}, {"map", mapping}, {"map", mapping}, {"binder", binder}, {"binder", binder},
		{"element", element}, {"element", element}, {"reduce", reduce}, {"call", call}, {"slice", slice},
		{"gather", gather}, {"concat", concat}, {"sort", sorted}, {"argsort", argsort}, {"reshape", reshape},
		{"transpose", transpose}, {"matmul", matmul}, {"dot", dot}, {"arg", arg}, {"stretch", stretch}, {"row", row},
	}
}

// expr is an expression of type t.
func (g *gen) expr(t Type, depth int) *node {
	if depth > 0 && !g.one(8) && g.work*max(t.size(), 1) <= maxWork {
		for range 6 {
			f := pick(g, g.forms)
			if n := f.make(g, t, depth-1); n != nil {
				n.typ, n.expr = t, true
				g.feats[f.name]++
				return n
			}
		}
	}
	return g.leaf(t)
}

func (g *gen) leaf(t Type) *node {
	var fit []variable
	for _, v := range g.vars {
		if v.typ.equal(t) {
			fit = append(fit, v)
		}
	}
	if len(fit) > 0 && !g.one(5) {
		return e(t, pick(g, fit).name)
	}
	if !g.one(4) {
		if n := g.read(t); n != nil {
			return n
		}
	}
	if len(t.Dims) > 0 {
		return e(t, "broadcast(@@, "+dims(t)+")", g.leaf(t.scalar()))
	}
	return e(t, g.literal(t.Elem))
}

// read makes a value of t out of elements of a variable of any type: a constant
// would be folded away.
func (g *gen) read(t Type) *node {
	var fit []variable
	for _, v := range g.vars {
		if (v.typ.Elem == "bool") == (t.Elem == "bool") && v.typ.size() > 0 && v.typ.Elem != "f16" && v.typ.Elem != "bf16" {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	v := pick(g, fit)
	if g.one(2) { // the newest have more to do with what is near
		v = fit[len(fit)-1]
	}
	from := e(v.typ.scalar(), v.name)
	at := make([]string, len(v.typ.Dims))
	own := make([]string, len(t.Dims))
	heads := make([]string, len(t.Dims))
	for d, n := range t.Dims {
		own[d] = g.name("ix")
		heads[d] = fmt.Sprintf("%s in 0..%d", own[d], n)
	}
	for d, n := range v.typ.Dims {
		k := d + len(t.Dims) - len(v.typ.Dims)
		switch {
		case k >= 0 && t.Dims[k] <= n:
			at[d] = own[k]
			if t.Dims[k] < n && g.one(2) {
				at[d] += fmt.Sprintf(" + %d", g.r.IntN(n-t.Dims[k]+1))
			} else if g.one(8) {
				at[d] = fmt.Sprintf("%d - %s", n-1, own[k])
			}
		case k >= 0 && g.one(2):
			at[d] = fmt.Sprintf("%s / %d", own[k], (t.Dims[k]+n-1)/n)
		case k >= 0:
			at[d] = fmt.Sprintf("%s %% %d", own[k], n)
		default:
			at[d] = "@@"
			from.kids = append(from.kids, g.index(n, 0))
		}
	}
	if len(at) > 0 {
		from = e(from.typ, v.name+"["+strings.Join(at, ", ")+"]", from.kids...)
	}
	if v.typ.Elem != t.Elem {
		name := t.Elem
		if isInt(t.Elem) {
			name += ".sat"
			if isInt(v.typ.Elem) && g.one(2) {
				name = t.Elem + ".wrap"
			}
		}
		from = e(t.scalar(), name+"(@@)", from)
	}
	if len(t.Dims) == 0 {
		return from
	}
	return e(t, "(map "+strings.Join(heads, ", ")+" { @@ })", from)
}

func dims(t Type) string { return strings.ReplaceAll(fmt.Sprint(t.Dims), " ", ", ") }

func (g *gen) literal(el string) string {
	switch {
	case el == "bool":
		return pick(g, []string{"true", "false"})
	case el == "f16" || el == "bf16":
		return el + "(1.5)"
	case isFloat(el):
		if g.one(6) {
			return pick(g, []string{el + ".INFINITY", "(-" + el + ".INFINITY)", el + ".NAN", "(-0.0" + el + ")", el + ".MIN_POSITIVE", el + ".MAX"})
		}
		return fmt.Sprintf("(%s%d.%d%s)", pick(g, []string{"", "-"}), g.r.IntN(20), g.r.IntN(100), el)
	}
	if g.one(8) {
		return pick(g, []string{el + ".MIN", el + ".MAX"})
	}
	if isSigned(el) && g.one(3) {
		return fmt.Sprintf("(-%d%s)", g.r.IntN(20), el)
	}
	return fmt.Sprintf("%d%s", g.r.IntN(20), el)
}

func arith(g *gen, t Type, depth int) *node {
	x, y := t, t
	if g.one(4) {
		y = t.scalar()
	}
	a, b := g.expr(x, depth), g.expr(y, depth)
	switch {
	case t.Elem == "bool":
		return e(t, "(@@ "+pick(g, []string{"==", "!="})+" @@)", a, g.expr(t, depth))
	case isFloat(t.Elem):
		return e(t, "(@@ "+pick(g, []string{"+", "-", "*", "/", "%", "+", "*"})+" @@)", a, b)
	case g.one(12):
		g.feats["trapping"]++
		return e(t, "(@@ "+pick(g, []string{"+", "-", "*", "/", "%"})+" @@)", a, b)
	case g.one(6):
		return e(t, "(@@ "+pick(g, []string{"<<", ">>"})+" (@@ & 7"+t.Elem+"))", a, b)
	case g.one(8):
		return e(t, "(@@ "+pick(g, []string{"/", "%"})+" (@@ & 7"+t.Elem+" | 1"+t.Elem+"))", a, b)
	}
	return e(t, "(@@ "+pick(g, []string{"+%", "-%", "*%", "+|", "-|", "*|", "&", "|", "^"})+" @@)", a, b)
}

func unary(g *gen, t Type, depth int) *node {
	switch {
	case t.Elem == "bool":
		return e(t, "(!@@)", g.expr(t, depth))
	case isFloat(t.Elem):
		if g.one(6) {
			return e(t, "fma(@@, @@, @@)", g.expr(t, depth), g.expr(t, depth), g.expr(t, depth))
		}
		if g.one(4) {
			return e(t, pick(g, []string{"min", "max", "copysign"})+"(@@, @@)", g.expr(t, depth), g.expr(t, depth))
		}
		return e(t, pick(g, []string{"abs", "-", "sqrt", "floor", "ceil", "trunc", "round_even"})+"(@@)", g.expr(t, depth))
	}
	if g.one(2) {
		return e(t, pick(g, []string{"min", "max"})+"(@@, @@)", g.expr(t, depth), g.expr(t, depth))
	}
	if g.one(3) {
		return e(t, "clamp(@@, @@, @@)", g.expr(t, depth), g.expr(t.scalar(), depth), g.expr(t, depth))
	}
	return e(t, pick(g, []string{"clz", "ctz", "popcnt"})+"(@@)", g.expr(t, depth))
}

func compare(g *gen, t Type, depth int) *node {
	if t.Elem != "bool" {
		return nil
	}
	u := t.of(pick(g, nums))
	return e(t, "(@@ "+pick(g, []string{"<", "<=", ">", ">=", "==", "!="})+" @@)", g.expr(u, depth), g.expr(u, depth))
}

func ifElse(g *gen, t Type, depth int) *node {
	return e(t, "(if @@ @@ else @@)", g.expr(tensor("bool"), depth), g.body(t, depth), g.body(t, depth))
}

func choice(g *gen, t Type, depth int) *node {
	return e(t, "select(@@, @@, @@)", g.expr(t.of("bool"), depth), g.expr(t, depth), g.expr(t, depth))
}

func convert(g *gen, t Type, depth int) *node {
	from := pick(g, elems)
	if g.one(40) {
		from = pick(g, []string{"f16", "bf16"})
		for _, v := range g.vars {
			if isFloat(t.Elem) && v.typ.equal(t.of(from)) {
				return e(t, t.Elem+"("+v.name+")")
			}
		}
		return nil
	}
	if t.Elem == "bool" || from == "bool" || from == t.Elem {
		return nil
	}
	x := g.expr(t.of(from), depth)
	same := strings.TrimLeft(from, "iuf") == strings.TrimLeft(t.Elem, "iuf")
	switch {
	case same && g.one(2):
		return e(t, t.Elem+".bits(@@)", x)
	case isFloat(t.Elem) || isInt(t.Elem) && g.one(12):
		return e(t, t.Elem+"(@@)", x)
	case isInt(from) && g.one(2):
		return e(t, t.Elem+".wrap(@@)", x)
	}
	return e(t, t.Elem+".sat(@@)", x)
}

// mapping has an axis for each of the first of t's, the rest in its body.
func mapping(g *gen, t Type, depth int) *node {
	if len(t.Dims) == 0 {
		return nil
	}
	k := len(t.Dims)
	if g.one(4) {
		k = 1 + g.r.IntN(k)
	}
	trips := Type{Dims: t.Dims[:k]}.size()
	inner := Type{Elem: t.Elem, Dims: t.Dims[k:]}
	return g.within(trips, func() *node {
		heads := make([]string, k)
		for d := range k {
			i := g.name("ix")
			heads[d] = fmt.Sprintf("%s in 0..%d", i, t.Dims[d])
			g.vars = append(g.vars, variable{name: i, typ: tensor("i64"), below: t.Dims[d]})
		}
		return e(t, "(map "+strings.Join(heads, ", ")+" @@)", g.body(inner, depth))
	})
}

func binder(g *gen, t Type, depth int) *node {
	if len(t.Dims) > 0 {
		return nil
	}
	words := []string{"sum", "prod", "min", "max"}
	if t.Elem == "bool" {
		words = []string{"any", "all"}
	} else if isInt(t.Elem) {
		words = []string{"min", "max"}
	}
	n := pick(g, sizes)
	if g.work*n > maxWork {
		n = 1 + g.r.IntN(5)
	}
	return g.within(n, func() *node {
		i := g.name("kx")
		g.vars = append(g.vars, variable{name: i, typ: tensor("i64"), below: n})
		if isInt(t.Elem) && g.one(3) { // small, so that the sum fits
			return e(t, fmt.Sprintf("(sum %s in 0..%d { (@@ & 1%s) })", i, n, t.Elem), g.expr(t, depth))
		}
		return e(t, fmt.Sprintf("(%s %s in 0..%d @@)", pick(g, words), i, n), g.body(t, depth))
	})
}

// element reads one element of a tensor variable.
func element(g *gen, t Type, depth int) *node {
	if len(t.Dims) > 0 {
		return nil
	}
	for range 6 {
		if len(g.vars) == 0 {
			return nil
		}
		v := pick(g, g.vars)
		if v.typ.Elem != t.Elem || len(v.typ.Dims) == 0 || v.typ.size() == 0 {
			continue
		}
		n := e(t, v.name+"["+strings.TrimSuffix(strings.Repeat("@@, ", len(v.typ.Dims)), ", ")+"]")
		for _, d := range v.typ.Dims {
			n.kids = append(n.kids, g.index(d, depth))
		}
		return n
	}
	return nil
}

// row takes t out of a tensor of one more axis.
func row(g *gen, t Type, depth int) *node {
	if len(t.Dims) == 0 || len(t.Dims) > 2 {
		return nil
	}
	for _, v := range g.vars {
		if d := v.typ.Dims; v.typ.Elem == t.Elem && len(d) == len(t.Dims)+1 && fmt.Sprint(d[1:]) == fmt.Sprint(t.Dims) && d[0] > 0 {
			return e(t, v.name+"[@@"+strings.Repeat(", ..", len(t.Dims))+"]", g.index(d[0], depth))
		}
	}
	return nil
}

// with inserts an axis of a size that keeps the tensor small.
func (g *gen) with(t Type) (u Type, axis int, ok bool) {
	n := pick(g, sizes)
	if len(t.Dims) > 2 || t.size()*n > maxElems || t.size()*n*g.work > maxWork {
		return t, 0, false
	}
	axis = g.r.IntN(len(t.Dims) + 1)
	u = Type{Elem: t.Elem, Dims: append(append(append([]int{}, t.Dims[:axis]...), n), t.Dims[axis:]...)}
	return u, axis, true
}

func reduce(g *gen, t Type, depth int) *node {
	u, axis, ok := g.with(t)
	words := []string{"sum", "prod", "min", "max"}
	switch {
	case !ok:
		return nil
	case t.Elem == "bool":
		words = []string{"any", "all"}
	case isInt(t.Elem) && g.one(3):
		return e(t, fmt.Sprintf("sum((@@ & 1%s), axis = %d)", t.Elem, axis), g.expr(u, depth))
	case isInt(t.Elem):
		words = []string{"min", "max"}
	}
	return e(t, fmt.Sprintf("%s(@@, axis = %d)", pick(g, words), axis), g.expr(u, depth))
}

func arg(g *gen, t Type, depth int) *node {
	u, axis, ok := g.with(t)
	if t.Elem != "i64" || !ok {
		return nil
	}
	return e(t, fmt.Sprintf("%s(@@, axis = %d)", pick(g, []string{"argmin", "argmax"}), axis), g.expr(u.of(pick(g, nums)), depth))
}

func call(g *gen, t Type, depth int) *node {
	for _, f := range g.fns {
		if f.result.equal(t) && g.work <= 16 {
			n := e(t, f.name+"("+strings.TrimSuffix(strings.Repeat("@@, ", len(f.params)), ", ")+")")
			for _, p := range f.params {
				n.kids = append(n.kids, g.expr(p, depth))
			}
			return n
		}
	}
	return nil
}

func slice(g *gen, t Type, depth int) *node {
	if len(t.Dims) == 0 {
		return nil
	}
	u := Type{Elem: t.Elem}
	at := make([]string, len(t.Dims))
	for d, n := range t.Dims {
		lo, more := g.r.IntN(4), g.r.IntN(4)
		u.Dims = append(u.Dims, lo+n+more)
		at[d] = fmt.Sprintf("%d..%d", lo, lo+n)
	}
	if u.size() > 2*maxElems {
		return nil
	}
	return e(t, "@@["+strings.Join(at, ", ")+"]", g.expr(u, depth))
}

func gather(g *gen, t Type, depth int) *node {
	if len(t.Dims) == 0 {
		return nil
	}
	u := Type{Elem: t.Elem, Dims: append([]int{pick(g, sizes[:10])}, t.Dims[1:]...)}
	if u.size() > maxElems {
		return nil
	}
	ix := tensor(pick(g, []string{"i64", "u8", "i32", "u32"}), t.Dims[0])
	at := fmt.Sprintf("min((@@ & 127%s), %d%s)", ix.Elem, u.Dims[0]-1, ix.Elem)
	if g.one(20) {
		at = "(@@ & 127" + ix.Elem + ")"
	}
	return e(t, "gather(@@, "+at+")", g.expr(u, depth), g.expr(ix, depth))
}

func concat(g *gen, t Type, depth int) *node {
	if len(t.Dims) == 0 {
		return nil
	}
	axis := g.r.IntN(len(t.Dims))
	n := t.Dims[axis]
	if n < 2 {
		return nil
	}
	k := 1 + g.r.IntN(n-1)
	part := func(m int) Type {
		u := Type{Elem: t.Elem, Dims: append([]int{}, t.Dims...)}
		u.Dims[axis] = m
		return u
	}
	return e(t, fmt.Sprintf("concat(@@, @@, axis = %d)", axis), g.expr(part(k), depth), g.expr(part(n-k), depth))
}

func sorted(g *gen, t Type, depth int) *node {
	if len(t.Dims) == 0 || t.Elem == "bool" {
		return nil
	}
	return e(t, fmt.Sprintf("sort(@@, axis = %d%s)", g.r.IntN(len(t.Dims)), pick(g, []string{"", ", descending = true"})), g.expr(t, depth))
}

func argsort(g *gen, t Type, depth int) *node {
	if len(t.Dims) == 0 || t.Elem != "i64" {
		return nil
	}
	return e(t, fmt.Sprintf("argsort(@@, axis = %d%s)", g.r.IntN(len(t.Dims)), pick(g, []string{"", ", descending = true"})), g.expr(t.of(pick(g, nums)), depth))
}

func reshape(g *gen, t Type, depth int) *node {
	n := t.size()
	if len(t.Dims) == 0 || n == 0 {
		return nil
	}
	u := Type{Elem: t.Elem, Dims: []int{n}}
	for _, k := range []int{2, 3, 4, 5} {
		if n%k == 0 && g.one(2) {
			u.Dims = []int{n / k, k}
		}
	}
	return e(t, "reshape(@@, "+dims(t)+")", g.expr(u, depth))
}

func transpose(g *gen, t Type, depth int) *node {
	if len(t.Dims) < 2 {
		return nil
	}
	u := Type{Elem: t.Elem}
	for d := len(t.Dims) - 1; d >= 0; d-- {
		u.Dims = append(u.Dims, t.Dims[d])
	}
	return e(t, "transpose(@@)", g.expr(u, depth))
}

func matmul(g *gen, t Type, depth int) *node {
	if len(t.Dims) != 2 || !isFloat(t.Elem) {
		return nil
	}
	k := pick(g, sizes)
	m, n := t.Dims[0], t.Dims[1]
	if m*k > maxElems || k*n > maxElems || g.work*m*n*k > maxWork*10 {
		return nil
	}
	return e(t, "(@@ @ @@)", g.expr(tensor(t.Elem, m, k), depth), g.expr(tensor(t.Elem, k, n), depth))
}

func dot(g *gen, t Type, depth int) *node {
	if len(t.Dims) > 0 || !isFloat(t.Elem) {
		return nil
	}
	u := tensor(t.Elem, pick(g, sizes))
	if g.work*u.Dims[0] > maxWork {
		return nil
	}
	return e(t, "dot(@@, @@)", g.expr(u, depth), g.expr(u, depth))
}

// stretch adds a row to each row.
func stretch(g *gen, t Type, depth int) *node {
	if len(t.Dims) != 2 || t.Elem == "bool" {
		return nil
	}
	v := pick(g, []string{"min", "max"})
	if isFloat(t.Elem) {
		return e(t, v+"(@@, (@@)[_, ..])", g.expr(t, depth), g.expr(tensor(t.Elem, t.Dims[1]), depth))
	}
	return e(t, v+"(@@, (@@)[.., _])", g.expr(t, depth), g.expr(tensor(t.Elem, t.Dims[0]), depth))
}
