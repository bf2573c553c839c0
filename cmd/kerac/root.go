package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// app is what the commands share.
type app struct {
	out     *output
	getenv  func(string) string
	config  string // --config
	verbose bool
	started bool // the command line was understood and the command runs
}

// commands lists the subcommands in the order help shows them.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.checkCmd(), a.testCmd(), a.buildCmd(), a.runCmd(), a.verifyCmd(),
		a.inspectCmd(), a.diffCmd(), a.fingerprintCmd(), a.pluginCmd(),
		a.explainCmd(), a.versionCmd(), a.exitCodesCmd(),
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "kerac",
		Short: "Kera: one program, one graph, the same bytes on every target",
		Long: "kerac compiles Kera programs into a graph, lowers the graph with separately built\n" +
			"backends into one .keg file, and runs it: every target gives the same bytes.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cobra.EnableCommandSorting = false
	root.PersistentFlags().BoolVar(&a.out.json, "json", false, "print the result as JSON")
	root.PersistentFlags().BoolVarP(&a.out.quiet, "quiet", "q", false, "print nothing but the result and errors")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "say on stderr what is done and how long it takes")
	root.PersistentFlags().StringVar(&a.config, "config", "", "configuration file (default: kera.yaml here, if there is one)")
	for _, c := range a.commands() {
		root.AddCommand(c)
	}
	return root
}

// command makes a subcommand whose run function gets the context and arguments.
func (a *app) command(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(c *cobra.Command, args []string) error {
			a.started = true
			return run(c.Context(), args)
		},
	}
}

// files completes arguments with files of the given extensions.
func files(ext ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ext, cobra.ShellCompDirectiveFilterFileExt
	}
}

// exitCodesCmd is a help topic: a command without a run function of its own.
func (a *app) exitCodesCmd() *cobra.Command {
	c := a.command("exit-codes", "What the exit codes mean", cobra.NoArgs, func(context.Context, []string) error {
		type row struct {
			Code    int    `json:"code"`
			Name    string `json:"name"`
			Meaning string `json:"meaning"`
		}
		rows := []row{}
		for _, r := range exitTable {
			rows = append(rows, row{r.code, r.name, r.meaning})
		}
		return a.out.result(rows, func(w *bufio.Writer) {
			for _, r := range rows {
				fmt.Fprintf(w, "%3d  %-12s %s\n", r.Code, r.Name, r.Meaning)
			}
		})
	})
	return c
}
