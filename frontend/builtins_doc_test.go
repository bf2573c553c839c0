package frontend

import (
	"fmt"
	"strings"
	"testing"
)

const builtinsHead = `# The builtin functions

Made from the table in ` + "`frontend/check`" + ` by ` + "`KERA_UPDATE=1 go test ./frontend -run BuiltinsPage`" + `; do not edit. The
standard library is written with these and can be read in ` + "`frontend/std`" + `.

T is an element type, the same throughout a line; a tensor of any shape may stand where the line says T. Arguments that
broadcast have one shape but for scalars and axes of size 1. Options (` + "`axis`, `axes`, `descending`, `acc`" + `) are given by
name, everything else by position. "lowers to" names the [operations](ops.md) a call becomes.

| function | meaning | lowers to |
|---|---|---|
`

const builtinsTail = `
## Conversions

A scalar type is also a function. All of these take scalars and tensors.

| form | meaning |
|---|---|
| ` + "`i32(x)`" + ` | converts; to an integer it truncates, and traps (cast) if the truncated value does not fit or is NaN; to a float it rounds once to nearest even |
| ` + "`i32.wrap(x)`" + ` | of an integer: the low bits |
| ` + "`i32.sat(x)`" + ` | of an integer or float: the nearest value there is, 0 for NaN |
| ` + "`u32.bits(x)`" + ` | the same bits under another type of equal width |

Every integer type has ` + "`MIN` and `MAX`" + `, every float type ` + "`MIN MAX EPSILON MIN_POSITIVE INFINITY NAN`" + `: ` + "`i64.MAX`, `f32.NAN`" + `.

## In which order

A trapped run reports the first trap in program order:

- Operands are evaluated left to right, then the operator's own check is made. Arguments and fields are evaluated in the
  order in which they are written; the callee's traps come after them.
- In ` + "`x[i, j]`" + ` first x, then the indices left to right, then the bounds are checked left to right.
- In ` + "`x[i] = e`" + ` and ` + "`x[i] += e`" + ` the place is evaluated, and its bounds are checked, before e.
- ` + "`&&` and `||`" + ` ask the right side only if it decides; the arm of an ` + "`if`" + ` that is not taken never traps. ` + "`select`" + ` evaluates both.
- A ` + "`for`" + ` stops at the first trap. With ` + "`while`" + ` the condition is asked before the first turn and after every turn; if it
  still holds after the last one, the run traps (loop bound).
- The elements of ` + "`map`, `sum`" + ` and their kin trap in row-major order of their index.
- Dimensions, ranges and slices made only of dimensions are worked out when the program is built, and do not trap.
`

// TestBuiltinsPage keeps docs/builtins.md equal to the table.
func TestBuiltinsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(builtinsHead)
	for _, r := range Builtins() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Sig, r.Doc, r.Lower)
	}
	b.WriteString(builtinsTail)
	golden(t, "../../docs/builtins.md", b.String())
}
