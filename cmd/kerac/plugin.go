package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kera-lang/kera/pluginapi/host"
)

func (a *app) pluginCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "plugin", Short: "List the backends, or describe one", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("type 'kerac plugin list' or 'kerac plugin info NAME'")
		},
	}
	info := a.command("info NAME", "Describe a backend and its targets", cobra.ExactArgs(1), a.pluginInfo)
	info.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := []string{}
		for _, f := range host.DefaultFinder(nil, "").List() {
			names = append(names, f.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	c.AddCommand(a.command("list", "List the backends that are found and their targets", cobra.NoArgs, a.pluginList), info)
	return c
}

type pluginJSON struct {
	Name     string       `json:"name"`
	Path     string       `json:"path"`
	From     string       `json:"from"`
	Version  string       `json:"version,omitempty"`
	Protocol string       `json:"protocol,omitempty"`
	Can      []string     `json:"capabilities,omitempty"`
	Digest   string       `json:"digest,omitempty"`
	Targets  []targetJSON `json:"targets,omitempty"`
	Problem  string       `json:"problem,omitempty"`
}

type targetJSON struct {
	Name         string        `json:"name"`
	Triple       string        `json:"triple"`
	Summary      string        `json:"summary,omitempty"`
	Features     []string      `json:"features,omitempty"`
	ArtifactKind string        `json:"artifact_kind"`
	DTypes       []string      `json:"dtypes,omitempty"`
	Ops          []string      `json:"ops,omitempty"`
	VectorWidths []uint32      `json:"vector_widths,omitempty"`
	Options      []host.Option `json:"options,omitempty"`
}

// describe asks a backend who it is. A broken one becomes a row with its problem,
// so that one bad file does not hide the others.
func (p *plugins) describe(ctx context.Context, f host.Found) (pluginJSON, error) {
	row := pluginJSON{Name: f.Name, Path: f.Path, From: f.From}
	h, err := p.get(f.Name)
	if err != nil {
		return row, err
	}
	info, err := h.Info(ctx)
	if err != nil {
		return row, err
	}
	row.Version = info.Version
	row.Protocol = fmt.Sprintf("%d.%d", info.ProtocolMajor, info.ProtocolMinor)
	for _, c := range info.Capabilities {
		row.Can = append(row.Can, c.String())
	}
	d, err := h.Digest()
	if err != nil {
		return row, err
	}
	row.Digest = d.String()
	targets, err := h.Targets(ctx)
	if err != nil {
		return row, err
	}
	for _, t := range targets {
		sets := t.FeatureSets
		if len(sets) == 0 {
			sets = []host.FeatureSet{{}}
		}
		for _, s := range sets {
			j := targetJSON{Name: targetSpec{h, t, s, nil}.label(), Triple: t.Triple, Summary: t.Summary, Features: s.Features,
				ArtifactKind: t.ArtifactKind, DTypes: t.DTypes, VectorWidths: t.VectorWidths, Options: t.Options}
			for _, o := range t.Ops {
				j.Ops = append(j.Ops, o.Op)
			}
			row.Targets = append(row.Targets, j)
		}
	}
	return row, nil
}

func (a *app) pluginList(ctx context.Context, _ []string) error {
	c, err := loadConfig(a.config)
	if err != nil {
		return err
	}
	p := a.plugins(c)
	defer p.close()
	found, err := p.list()
	if err != nil {
		return err
	}
	rows := []pluginJSON{}
	for _, f := range found {
		row, err := p.describe(ctx, f)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			row.Problem, _, _ = strings.Cut(err.Error(), "\n")
		}
		rows = append(rows, row)
	}
	return a.out.result(rows, func(w *bufio.Writer) {
		if len(rows) == 0 {
			fmt.Fprintf(w, "no backends found in %s\n", strings.Join(p.finder.Dirs, ", "))
		}
		for _, r := range rows {
			fmt.Fprintf(w, "%-10s %-10s %s\n", r.Name, r.Version, r.Path)
			if r.Problem != "" {
				fmt.Fprintf(w, "  broken: %s\n", r.Problem)
			}
			for _, t := range r.Targets {
				fmt.Fprintf(w, "  %-14s %s %s\n", t.Name, t.Triple, strings.Join(t.Features, ","))
			}
		}
	})
}

func (a *app) pluginInfo(ctx context.Context, args []string) error {
	c, err := loadConfig(a.config)
	if err != nil {
		return err
	}
	p := a.plugins(c)
	defer p.close()
	if _, err := p.get(args[0]); err != nil {
		return err
	}
	f, err := p.finder.Find(args[0])
	if err != nil {
		return pluginFailure(err)
	}
	r, err := p.describe(ctx, f)
	if err != nil {
		return pluginFailure(err)
	}
	return a.out.result(r, func(w *bufio.Writer) {
		fmt.Fprintf(w, "%s %s\n  path       %s (%s)\n  digest     %s\n  protocol   %s\n  can        %s\n",
			r.Name, r.Version, r.Path, r.From, r.Digest, r.Protocol, strings.Join(r.Can, ", "))
		for _, t := range r.Targets {
			fmt.Fprintf(w, "\n%s  %s\n", t.Name, t.Summary)
			fmt.Fprintf(w, "  triple     %s\n  features   %s\n  makes      %s\n", t.Triple, orNone(t.Features), t.ArtifactKind)
			fmt.Fprintf(w, "  dtypes     %s\n  ops        %s\n", orNone(t.DTypes), orNone(t.Ops))
			for _, o := range t.Options {
				fmt.Fprintf(w, "  option     %s=%s  %s\n", o.Name, o.Default, o.Summary)
			}
		}
	})
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, " ")
}
