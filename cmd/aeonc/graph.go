package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/cmd/aeonc/internal/draw"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/cmdline"
)

func graphCommand() *cli.Command {
	return &cli.Command{
		Name:  "graph",
		Args:  "[--format F] [-o FILE] [PACKAGE]",
		Short: "draw which actor class owns which",
		Long: `
Graph draws the ownership graph of a package: an arrow from A to B says that an A
may hold, call, create or delete a B within an event. The graph has no cycles but
self-loops; a program in which it has gets them drawn in red. Other mistakes of the
program are reported, and it is drawn if they hide no class and no call. Dashed arrows are
yield references, through which only events go.

	aeonc graph -o shop.svg             a picture for a browser
	aeonc graph --format=mermaid shop   text that GitHub draws
	aeonc graph --format=json | jq .    for other programs

Without -o the graph goes to standard output, as svg.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			format := fs.String("format", "", "the `format`: svg, dot, mermaid or json (default: by the ending of -o, else svg)")
			out := fs.String("o", "", "write to `file` instead of standard output")
			return func(env *cli.Env, args []string) error {
				chosen, err := graphFormat(*format, *out)
				if err != nil {
					return err
				}
				return drawGraph(env, args, chosen, *out)
			}
		},
	}
}

func graphFormat(format, out string) (string, error) {
	if format == "" {
		endings := map[string]string{"": "svg", ".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".json": "json"}
		if format = endings[filepath.Ext(out)]; format == "" {
			return "", cli.Usagef("a file %s suits no graph format; name one of %s with --format", out, strings.Join(draw.Formats, ", "))
		}
	}
	if !slices.Contains(draw.Formats, format) {
		return "", cli.Usagef("there is no graph format %q%s", format, cmdline.Choices(format, draw.Formats, "the formats are"))
	}
	return format, nil
}

func drawGraph(env *cli.Env, args []string, format, out string) error {
	loader, named, err := env.Load(args)
	if err != nil {
		return err
	}
	if len(named) != 1 {
		return cli.Usagef("one package at a time, not %d", len(named))
	}
	failed := env.Diagnose(loader.Packages(), "human")
	env.Doing("drawing %s", named[0].Name())
	g := draw.Ownership(named[0].Info)
	if failed != nil && !g.Cyclic() && !named[0].Info.Graph.Known {
		return failed // a drawing of what is not known would mislead
	}
	var text bytes.Buffer
	if err := g.Write(&text, format); err != nil {
		return err
	}
	if out == "" {
		if _, err := env.Stdout.Write(text.Bytes()); err != nil {
			return err
		}
		return failed
	}
	if err := os.WriteFile(out, text.Bytes(), 0o666); err != nil {
		return err
	}
	env.Say("wrote %s", out)
	return failed
}
