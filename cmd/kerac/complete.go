package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/pluginapi/host"
)

// flagComplete offers values for a flag; what cannot be found offers nothing.
type flagComplete func(args []string) []string

// completing registers completion of flags that name entries, inputs or targets.
func completing(c *cobra.Command, flags map[string]flagComplete) {
	for name, f := range flags {
		err := c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if strings.Contains(word, "=") {
				return nil, cobra.ShellCompDirectiveDefault // the path behind NAME=
			}
			directive := cobra.ShellCompDirectiveNoFileComp
			out := f(args)
			if len(out) > 0 && strings.HasSuffix(out[0], "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			return out, directive
		})
		if err != nil {
			panic("BUG: " + err.Error())
		}
	}
}

// artefact opens the .keg that the command line names, nil if there is none.
func artefact(args []string) *program {
	if len(args) == 0 {
		return nil
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return nil
	}
	p, err := openKeg(args[0], b)
	if err != nil {
		return nil
	}
	return p
}

func completeEntries(args []string) []string {
	var out []string
	if p := artefact(args); p != nil {
		for i := range p.graph.Exports {
			out = append(out, p.graph.Exports[i].Name)
		}
	}
	return out
}

func completeSections(args []string) []string {
	out := []string{interpTarget}
	if p := artefact(args); p != nil {
		for _, s := range p.sections {
			out = append(out, s.Label)
		}
	}
	return out
}

func completeLeaves(results bool) flagComplete {
	return func(args []string) []string {
		var out []string
		if p := artefact(args); p != nil {
			for i := range p.graph.Exports {
				x := &p.graph.Exports[i]
				list := p.graph.ParamLeaves(x)
				if results {
					list = p.graph.ResultLeaves(x)
				}
				for _, l := range list {
					out = append(out, l.Path+"=")
				}
			}
		}
		return out
	}
}

func completeBackends([]string) []string {
	out := []string{"none"}
	for _, f := range host.DefaultFinder(nil, "").List() {
		out = append(out, f.Name)
	}
	return out
}
