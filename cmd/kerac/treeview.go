package main

import (
	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/frontend/syntax"
)

// tokenJSON is a token or trivia; the texts of all of them are the source.
type tokenJSON struct {
	Kind  string `json:"kind"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

func tokenList(file *diag.File) []tokenJSON {
	out := []tokenJSON{}
	tokens, _ := syntax.Lex(file)
	for _, t := range tokens {
		out = append(out, tokenJSON{t.Kind.String(), t.Start, t.End, file.Text[t.Start:t.End]})
	}
	return out
}

// treeJSON is a node with its children, or a token with its text.
type treeJSON struct {
	Kind     string     `json:"kind"`
	Text     *string    `json:"text,omitempty"`
	Children []treeJSON `json:"children,omitempty"`
}

func treeOf(n *syntax.Node) treeJSON {
	j := treeJSON{Kind: n.Kind().String()}
	for _, e := range n.Elements() {
		if e.Node != nil {
			j.Children = append(j.Children, treeOf(e.Node))
			continue
		}
		text := e.Token.Text()
		j.Children = append(j.Children, treeJSON{Kind: e.Token.Kind().String(), Text: &text})
	}
	return j
}
