package syntax

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kera-lang/kera/core/diag"
)

// DumpTokens writes one token or trivia per line: place, kind, text.
func DumpTokens(w io.Writer, file *diag.File) error {
	b := bufio.NewWriter(w)
	tokens, _ := Lex(file)
	for _, t := range tokens {
		pos := file.Position(t.Start)
		fmt.Fprintf(b, "%d:%d\t%s\t%q\n", pos.Line, pos.Column, t.Kind, file.Text[t.Start:t.End])
	}
	return b.Flush()
}

// Dump writes the tree, a node or token per line, indented by depth; white
// space is left out.
func (n *Node) Dump(w io.Writer) error {
	b := bufio.NewWriter(w)
	dump(b, n, 0)
	return b.Flush()
}

func dump(b *bufio.Writer, n *Node, depth int) {
	fmt.Fprintf(b, "%s%s %d..%d\n", strings.Repeat("  ", depth), n.Kind(), n.Start(), n.End())
	for _, e := range n.Elements() {
		switch {
		case e.Node != nil:
			dump(b, e.Node, depth+1)
		case e.Token.Kind() != TWhitespace:
			fmt.Fprintf(b, "%s%s %q\n", strings.Repeat("  ", depth+1), e.Token.Kind(), e.Token.Text())
		}
	}
}
