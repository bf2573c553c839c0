package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is a row of the table of codes: what `kerac explain` prints.
type Entry struct {
	Code    Code
	Title   string // one line, no full stop
	Explain string // why it is an error and what to do, in prose
	Example string // the smallest input or command that provokes it
	Fixed   string // the same, put right; may be empty
}

// Range gives the owner of a block of a hundred codes.
type Range struct {
	Prefix string // "K01" owns K0100..K0199
	Owner  string
	table  []Entry
}

// Ranges lists the blocks in order. Each has its own file codes_<owner>.go, so
// a package adds its rows without touching another's.
func Ranges() []Range {
	return []Range{
		{"K00", "lexer", lexerCodes()},
		{"K01", "parser", parserCodes()},
		{"K02", "resolver", resolverCodes()},
		{"K03", "types", typesCodes()},
		{"K04", "build, binding and embed", buildCodes()},
		{"K05", "files and artefacts", fileCodes()},
		{"K06", "plugins", pluginCodes()},
		{"K07", "configuration and inputs", configCodes()},
	}
}

// Entries lists every code in ascending order.
func Entries() []Entry {
	var all []Entry
	for _, r := range Ranges() {
		all = append(all, r.table...)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return all
}

// Lookup finds a code's row; k123, 123 and K0123 name the same one.
func Lookup(code string) (Entry, bool) {
	digits := strings.TrimLeft(strings.TrimSpace(code), "Kk")
	if len(digits) < 4 {
		digits = strings.Repeat("0", 4-len(digits)) + digits
	}
	for _, e := range Entries() {
		if string(e.Code) == "K"+digits {
			return e, true
		}
	}
	return Entry{}, false
}

// Page is the text of `kerac explain`.
func (e Entry) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n%s\n\nExample:\n\n%s", e.Code, e.Title, strings.TrimSpace(e.Explain), indent(e.Example))
	if e.Fixed != "" {
		fmt.Fprintf(&b, "\nPut right:\n\n%s", indent(e.Fixed))
	}
	return b.String()
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(s, "\n") + "\n") {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
