package op_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kera-lang/kera/core/op"
	"github.com/kera-lang/kera/core/types"
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// TestRows checks what must hold of every row.
func TestRows(t *testing.T) {
	names := map[string]bool{}
	last := op.Invalid
	for i := range op.All() {
		r := &op.All()[i]
		t.Run(r.Name, func(t *testing.T) {
			if !nameForm.MatchString(r.Name) || names[r.Name] {
				t.Errorf("name %q is malformed or used twice", r.Name)
			}
			names[r.Name] = true
			if r.Code <= last || r.Code >= op.MaxCode {
				t.Errorf("opcode %d after %d: rows ascend and stay below %d", r.Code, last, op.MaxCode)
			}
			last = r.Code
			if r.Version < 1 || r.Doc == "" || strings.HasSuffix(r.Doc, ".") {
				t.Errorf("version %d, doc %q", r.Version, r.Doc)
			}
			for j := 1; j < len(r.Attrs); j++ {
				if r.Attrs[j-1].Key >= r.Attrs[j].Key {
					t.Errorf("attributes %v and %v do not ascend", r.Attrs[j-1].Key, r.Attrs[j].Key)
				}
			}
			if got, ok := op.Lookup(r.Code); !ok || got != r {
				t.Error("Lookup does not find the row")
			}
			if c, ok := op.Parse(r.Name); !ok || c != r.Code || c.String() != r.Name {
				t.Error("Parse and String are not inverse")
			}
			if dtypes(r) == "" {
				t.Error("takes no dtype")
			}
			checkForm(t, r)
		})
	}
}

// checkForm compares the signature for people with the row's numbers.
func checkForm(t *testing.T, r *op.Info) {
	f := form(r)
	if f == "" {
		t.Fatal("no form for the page")
	}
	if _, both := forms[r.Code]; both && r.SameTypes() {
		t.Error("a form beside the one of its class")
	}
	if r.Regions >= 0 && strings.Count(f, "{") != r.Regions {
		t.Errorf("form %q for %d regions", f, r.Regions)
	}
	if r.Arity >= 0 && r.Code != op.Get {
		in := f[1:strings.Index(f, ")")]
		// Commas between inputs stand outside brackets.
		depth, n := 0, 0
		for _, c := range in {
			switch c {
			case '[':
				depth++
			case ']':
				depth--
			case ',':
				if depth == 0 {
					n++
				}
			}
		}
		if in != "" {
			n++
		}
		if n != r.Arity {
			t.Errorf("form %q for %d inputs", f, r.Arity)
		}
	}
}

// TestKeys: every attribute key in use has a name and an explanation, and every
// explanation is of a key in use.
func TestKeys(t *testing.T) {
	keys, kinds := usedKeys()
	for _, k := range keys {
		if strings.HasPrefix(k.String(), "attr") || keyDocs[k] == "" {
			t.Errorf("key %d has name %v and doc %q", uint16(k), k, keyDocs[k])
		}
	}
	for k := range keyDocs {
		if _, ok := kinds[k]; !ok {
			t.Errorf("key %v is explained but no op has it", k)
		}
	}
}

// TestAttributesChecked: a row's attribute list is what Infer accepts, no less
// and no more.
func TestAttributesChecked(t *testing.T) {
	x := types.Tensor(types.F32, 4)
	axis := op.Int(op.KAxis, 0)
	for _, c := range []struct {
		name string
		as   op.Attrs
		ok   bool
	}{
		{"exact", op.Attrs{axis}, true},
		{"missing", nil, false},
		{"extra", op.Attrs{axis, op.Int(op.KKind, 0)}, false},
		{"wrong key", op.Attrs{op.Int(op.KKind, 0)}, false},
		{"wrong form", op.Attrs{op.Ints(op.KAxis, 0)}, false},
		{"out of range", op.Attrs{op.Int(op.KAxis, 1)}, false},
		{"negative", op.Attrs{op.Int(op.KAxis, -1)}, false},
	} {
		if _, err := op.Infer(&op.Inst{Op: op.ArgMax, In: []types.Type{x}, Attrs: c.as}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := op.Infer(&op.Inst{Op: op.MaxCode + 1}); err == nil {
		t.Error("an unknown opcode is accepted")
	}
}

// TestElementwiseTypes: each elementwise op of one type accepts exactly the
// dtypes of its row, and operands of one type only.
func TestElementwiseTypes(t *testing.T) {
	for i := range op.All() {
		r := &op.All()[i]
		if !r.SameTypes() {
			continue
		}
		for _, d := range types.DTypes() {
			in := make([]types.Type, r.Arity)
			for j := range in {
				in[j] = types.Tensor(d, 2, 3)
			}
			out, err := op.Infer(&op.Inst{Op: r.Code, In: in})
			if (err == nil) != r.Takes(d) {
				t.Errorf("%s of %v: %v", r.Name, d, err)
			}
			if err == nil && (len(out) != 1 || !out[0].Equal(in[0])) {
				t.Errorf("%s of %v gives %v", r.Name, d, out)
			}
			if r.Arity > 1 && r.Takes(d) {
				in[1] = types.Tensor(d, 3, 2)
				if _, err := op.Infer(&op.Inst{Op: r.Code, In: in}); err == nil {
					t.Errorf("%s of two shapes is accepted", r.Name)
				}
			}
		}
	}
}
