package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/runtime/graphdiff"
)

func (a *app) diffCmd() *cobra.Command {
	c := a.command("diff A.keg B.keg", "Show which nodes differ, and why", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			p, err := a.loadProgram(ctx, args[0], nil)
			if err != nil {
				return err
			}
			q, err := a.loadProgram(ctx, args[1], nil)
			if err != nil {
				return err
			}
			d, err := graphdiff.Compare(p.graph, q.graph)
			if err != nil {
				return err
			}
			return a.diffResult(args[0], args[1], d)
		})
	c.ValidArgsFunction = files("keg", "kera")
	return c
}

type diffNodeJSON struct {
	Digest string      `json:"digest"`
	Node   string      `json:"node"`
	Places []placeJSON `json:"places,omitempty"`
}

type placeJSON struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

type causeJSON struct {
	Entry  string        `json:"entry"`
	Reason string        `json:"reason"`
	Old    *diffNodeJSON `json:"old,omitempty"`
	New    *diffNodeJSON `json:"new,omitempty"`
}

type diffJSON struct {
	Same    bool           `json:"same"`
	Old     string         `json:"old"`
	New     string         `json:"new"`
	Common  int            `json:"common"`
	Removed []diffNodeJSON `json:"removed"`
	Added   []diffNodeJSON `json:"added"`
	Causes  []causeJSON    `json:"causes"`
}

func diffNode(n *graphdiff.Node) *diffNodeJSON {
	if n == nil {
		return nil
	}
	j := &diffNodeJSON{Digest: n.Digest.String(), Node: n.Text}
	for _, s := range n.Spans {
		j.Places = append(j.Places, placeJSON(s))
	}
	return j
}

func diffNodes(list []graphdiff.Node) []diffNodeJSON {
	out := []diffNodeJSON{}
	for i := range list {
		out = append(out, *diffNode(&list[i]))
	}
	return out
}

func (a *app) diffResult(nameA, nameB string, d *graphdiff.Diff) error {
	j := diffJSON{Same: d.Same(), Old: d.Old.String(), New: d.New.String(), Common: d.Common,
		Removed: diffNodes(d.Removed), Added: diffNodes(d.Added), Causes: []causeJSON{}}
	for _, c := range d.Causes {
		j.Causes = append(j.Causes, causeJSON{c.Entry, c.Reason, diffNode(c.Old), diffNode(c.New)})
	}
	err := a.out.result(j, func(w *bufio.Writer) {
		if d.Same() {
			fmt.Fprintf(w, "the same program: %s (%d nodes)\n", d.Old, d.Common)
			return
		}
		fmt.Fprintf(w, "- %s  %s\n+ %s  %s\n", d.Old, nameA, d.New, nameB)
		fmt.Fprintf(w, "\nwhy the fingerprints differ:\n")
		for _, c := range d.Causes {
			fmt.Fprintf(w, "  %s: %s\n", c.Entry, c.Reason)
			for _, x := range []struct {
				sign string
				node *graphdiff.Node
			}{{"-", c.Old}, {"+", c.New}} {
				if x.node != nil {
					fmt.Fprintf(w, "    %s %s  %s%s\n", x.sign, x.node.Digest.Short(), x.node.Text, places(x.node.Spans))
				}
			}
		}
		fmt.Fprintf(w, "\n%d nodes in common, %d removed, %d added\n", d.Common, len(d.Removed), len(d.Added))
		for _, n := range d.Removed {
			fmt.Fprintf(w, "  - %s  %s\n", n.Digest.Short(), n.Text)
		}
		for _, n := range d.Added {
			fmt.Fprintf(w, "  + %s  %s\n", n.Digest.Short(), n.Text)
		}
	})
	if err != nil || d.Same() {
		return err
	}
	return &exitError{code: exitDifference, err: fmt.Errorf("%s and %s are different programs", nameA, nameB), data: alreadyReported{}}
}

func places(spans []graphdiff.Place) string {
	if len(spans) == 0 {
		return ""
	}
	return "  at " + spans[0].File + ", byte " + fmt.Sprint(spans[0].Start)
}

func (a *app) fingerprintCmd() *cobra.Command {
	var bind []string
	c := a.command("fingerprint FILE.kera|FILE.keg", "Print the digest that identifies the program", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			b, err := bindings(bind)
			if err != nil {
				return err
			}
			p, err := a.loadProgram(ctx, args[0], b)
			if err != nil {
				return err
			}
			return a.fingerprint(p)
		})
	c.Flags().StringArrayVar(&bind, "bind", nil, "n=1024, value of a dimension (source files only)")
	c.ValidArgsFunction = files("keg", "kera")
	return c
}

func (a *app) fingerprint(p *program) error {
	all, err := p.graph.Fingerprint()
	if err != nil {
		return err
	}
	type entry struct {
		Name   string `json:"name"`
		Digest string `json:"digest"`
	}
	r := struct {
		File        string  `json:"file"`
		Fingerprint string  `json:"fingerprint"`
		Entries     []entry `json:"entries"`
	}{p.path, all.String(), []entry{}}
	for i := range p.graph.Exports {
		x := &p.graph.Exports[i]
		var d digest.D
		if d, err = p.graph.ExportDigest(x); err != nil {
			return err
		}
		r.Entries = append(r.Entries, entry{x.Name, d.String()})
	}
	return a.out.result(r, func(w *bufio.Writer) {
		fmt.Fprintln(w, r.Fingerprint)
		for _, e := range r.Entries {
			fmt.Fprintf(w, "  %s  %s\n", e.Digest, e.Name)
		}
	})
}
