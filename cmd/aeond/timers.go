package main

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/state/inspection"
)

func timersCommand() *cli.Command {
	return &cli.Command{
		Name:  "timers",
		Args:  "--data DIR [--limit N] [--store N] [--json]",
		Short: "list the pending timers in a data directory, while the program runs or not",
		Long: fmt.Sprintf(`
Timers lists the timers that "event … after" and "event … every" have set, the one that is due first at first: when it
is due, what it calls with which arguments, its period and name, and the actor that has set it. One whose time has
passed fires when a process uses the directory. The list takes no more memory for more timers.

With --json each line is an object: due, actor, method, arguments, every, name, from, event. The arguments are an array.
%s

	aeond timers --data /var/lib/shop --limit 20
	aeond timers --data /var/lib/shop --json | jq -r 'select(.name == "nightly") | .due'`, storesHelp),
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			limit := fs.Uint("limit", 0, "list at most `N` timers")
			narrow := storeFlag(fs)
			asJSON := fs.Bool("json", false, "write JSON")
			return cli.NoArguments(func(env *cli.Env) error {
				query := url.Values{}
				if err := narrow(*dir, query); err != nil {
					return err
				}
				return timers(env, *dir, query, int(min(*limit, 1<<31-1)), *asJSON)
			})
		},
	}
}

func timers(env *cli.Env, dir string, query url.Values, limit int, asJSON bool) error {
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	look := func(in *inspection.Inspection, emit func([]byte) error) error { return in.Timers(limit, emit) }
	return list(env, dir, httpdoor.TimersPath, query, asJSON, look, func(to io.Writer, lines io.Reader) error {
		return eachLine(to, lines, "there are no pending timers\n", func(t *inspection.Timer) error { return writeTimer(to, t) })
	})
}

func writeTimer(to io.Writer, t *inspection.Timer) error {
	what := printable(string(t.Actor)) + "." + t.Method
	if args := string(t.Arguments); args != "[]" && args != "null" {
		what += " " + printable(args)
	}
	if t.Every != "" {
		what += "  every " + t.Every
	}
	if t.Name != "" {
		what += " as " + strconv.Quote(string(t.Name))
	}
	if t.From != t.Actor {
		what += "  set by " + printable(string(t.From))
	}
	_, err := fmt.Fprintf(to, "%s  %s\n", t.Due.Format(time.RFC3339), what)
	return err
}
