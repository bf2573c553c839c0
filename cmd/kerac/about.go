package main

import (
	"bufio"
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/core/op"
)

func (a *app) versionCmd() *cobra.Command {
	return a.command("version", "Print the version", cobra.NoArgs, func(context.Context, []string) error {
		v := struct {
			Version string `json:"version"`
			OpSet   int    `json:"op_set"`
			Go      string `json:"go"`
			OS      string `json:"os"`
			Arch    string `json:"arch"`
		}{version, op.SetVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH}
		return a.out.result(v, func(w *bufio.Writer) {
			fmt.Fprintf(w, "kerac %s (op set %d, %s, %s/%s)\n", v.Version, v.OpSet, v.Go, v.OS, v.Arch)
		})
	})
}

func (a *app) explainCmd() *cobra.Command {
	c := a.command("explain [CODE]", "Explain a diagnostic's code, or list them all", cobra.MaximumNArgs(1),
		func(_ context.Context, args []string) error {
			if len(args) == 0 {
				return a.listCodes()
			}
			e, ok := diag.Lookup(args[0])
			if !ok {
				return usagef("no diagnostic has the code %s; 'kerac explain' lists them all", args[0])
			}
			return a.out.result(explanation(e), func(w *bufio.Writer) { w.WriteString(e.Page()) })
		})
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		codes := []string{}
		for _, e := range diag.Entries() {
			codes = append(codes, string(e.Code)+"\t"+e.Title)
		}
		return codes, cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

type explanationJSON struct {
	Code    string `json:"code"`
	Title   string `json:"title"`
	Explain string `json:"explain"`
	Example string `json:"example"`
	Fixed   string `json:"fixed,omitempty"`
}

func explanation(e diag.Entry) explanationJSON {
	return explanationJSON{string(e.Code), e.Title, strings.TrimSpace(e.Explain), e.Example, e.Fixed}
}

func (a *app) listCodes() error {
	list := []explanationJSON{}
	for _, e := range diag.Entries() {
		list = append(list, explanation(e))
	}
	return a.out.result(list, func(w *bufio.Writer) {
		for _, e := range list {
			fmt.Fprintf(w, "%s  %s\n", e.Code, e.Title)
		}
	})
}
