package main

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/state/inspection"
)

func actorsCommand() *cli.Command {
	return &cli.Command{
		Name:  "actors",
		Args:  "--data DIR [--class CLASS] [--limit N] [--store N] [--json]",
		Short: "list the actors in a data directory, while the program runs or not",
		Long: fmt.Sprintf(`
Actors lists the actors in a data directory: those of a moment, all that was answered before included.
Each has its name as other commands take it, CLASS/NAME or CLASS:ID; whether its
state is in memory, or - if no process uses the directory; and the actors that own it. The list comes
in the order of the ids, as it is read: it takes no more memory for more actors.

With --json each line is an object: actor, id, class, owners, loaded.
%s

	aeond actors --data /var/lib/shop
	aeond actors --data /var/lib/shop --class Cart --limit 20
	aeond actors --data /var/lib/shop --json | jq -r 'select(.loaded) | .actor'`, storesHelp),
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			class := fs.String("class", "", "list only actors of `CLASS`")
			limit := fs.Uint("limit", 0, "list at most `N` actors")
			narrow := storeFlag(fs)
			asJSON := fs.Bool("json", false, "write JSON")
			return cli.NoArguments(func(env *cli.Env) error {
				query := url.Values{}
				if err := narrow(*dir, query); err != nil {
					return err
				}
				return actors(env, *dir, query, inspection.Selection{Class: *class, Limit: int(min(*limit, 1<<31-1))}, *asJSON)
			})
		},
	}
}

func actors(env *cli.Env, dir string, query url.Values, of inspection.Selection, asJSON bool) error {
	if of.Class != "" {
		query.Set("class", of.Class)
	}
	if of.Limit > 0 {
		query.Set("limit", strconv.Itoa(of.Limit))
	}
	look := func(in *inspection.Inspection, emit func([]byte) error) error { return in.List(of, emit) }
	return list(env, dir, httpdoor.ActorsPath, query, asJSON, look, writeActors)
}

// writeActors writes lines as a table, whose columns are as wide as usual names.
func writeActors(to io.Writer, lines io.Reader) error {
	const form = "%-32s  %-6s  %s\n"
	first := true
	return eachLine(to, lines, "", func(l *inspection.Line) error {
		if first {
			fmt.Fprintf(to, form, "ACTOR", "LOADED", "OWNERS")
			first = false
		}
		loaded := "-"
		if l.Loaded != nil {
			loaded = map[bool]string{true: "yes", false: "no"}[*l.Loaded]
		}
		owners := make([]string, len(l.Owners))
		for i, o := range l.Owners {
			owners[i] = printable(string(o))
		}
		line := fmt.Sprintf(form, printable(string(l.Actor)), loaded, strings.Join(owners, " "))
		_, err := io.WriteString(to, strings.TrimRight(line, " \n")+"\n")
		return err
	})
}

// printable is a name as it stands in a table: quoted if it has what a terminal would not show, or obey.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}

func showCommand() *cli.Command {
	return &cli.Command{
		Name:  "show",
		Args:  "--data DIR ACTOR",
		Short: "write the state of an actor as JSON, while the program runs or not",
		Long: `
Show writes the fields of an actor by their names, as JSON. ACTOR is CLASS/NAME, or CLASS:ID of an actor without
a name, as "aeond actors" writes them. Show waits for no event: it reads what those have left that have ended, and that is
on the disk. "position" is up to which position of the journal at least: an answer by HTTP has
its own in the header Aeon-Position. It is missing if no process uses the directory.

	aeond show --data /var/lib/shop Shop/main
	aeond show --data /var/lib/shop Cart:12:7 | jq .state.owner`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			return func(env *cli.Env, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("name one actor, as Shop/main or Cart:12:7")
				}
				return inspect(*dir, httpdoor.ActorPath, url.Values{"name": args}, true, env.Stdout, func(in *inspection.Inspection, to io.Writer) error {
					id, err := in.Find(args[0])
					if err != nil {
						return err
					}
					return in.Write(to, id, 0)
				})
			}
		},
	}
}
