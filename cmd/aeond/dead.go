package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state/inspection"
	"github.com/aeon-lang/aeon/runtime/store"
)

func deadCommand() *cli.Command {
	return &cli.Command{
		Name:  "dead",
		Args:  "--data DIR [--store N] [--json] [--forget EVENT,...|all]",
		Short: "list the dead letters in a data directory, while the program runs or not",
		Long: fmt.Sprintf(`
Dead lists the dead letters, the oldest first: sub-events, firings of timers, steps of chains and calls of Go functions
that have failed for good, and of which no caller learns. A letter tells the event, as the log writes it, the time,
what was called with which arguments, from which actor, and the failure with the lines of the program. The store
keeps the newest 1000. Nothing sends a letter again; "aeond call" takes the arguments as they stand there.

With --json each line is an object: event, time, kind, actor, method, arguments, from, failure, fault, path.
--forget deletes letters, by their events, or all.
%s

	aeond dead --data /var/lib/shop
	aeond dead --data /var/lib/shop --json | jq -c 'select(.actor == "Shop/main") | .arguments'
	aeond dead --data /var/lib/shop --forget 8e1c7a02b5d4f613-9d02`, storesHelp),
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			asJSON := fs.Bool("json", false, "write JSON")
			narrow := storeFlag(fs)
			forget := fs.String("forget", "", "delete the letters of these `EVENTS`, with commas between, or all")
			return cli.NoArguments(func(env *cli.Env) error {
				query := url.Values{}
				if err := narrow(*dir, query); err != nil {
					return err
				}
				switch {
				case *forget == "":
					return dead(env, *dir, query, *asJSON)
				case *asJSON:
					return cli.Usagef("--forget writes no list, so --json has no use with it")
				}
				return forgetDead(env, *dir, query, *forget)
			})
		},
	}
}

func dead(env *cli.Env, dir string, query url.Values, asJSON bool) error {
	return list(env, dir, httpdoor.DeadPath, query, asJSON, (*inspection.Inspection).DeadLetters, func(to io.Writer, lines io.Reader) error {
		return eachLine(to, lines, "there are no dead letters\n", func(l *inspection.Letter) error { return writeLetter(to, l) })
	})
}

func writeLetter(to io.Writer, l *inspection.Letter) error {
	what, args := printable(string(l.Actor))+"."+l.Method, string(l.Arguments)
	switch {
	case l.ArgumentBytes > 0:
		args = fmt.Sprintf("(%d bytes of arguments, which were not kept)", l.ArgumentBytes)
	case args == "{}" || args == "[]":
		args = ""
	}
	if l.Kind == "go" {
		what = l.Method
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n\t%s\n", l.Event, l.Time.Format(time.RFC3339), strings.TrimRight(what+" "+printable(args), " "), printable(string(l.Failure)))
	for _, at := range l.Path {
		fmt.Fprintf(&b, "\tat %s\n", at)
	}
	if from := printable(string(l.From)); l.From != "" {
		fmt.Fprintf(&b, "\t%s\n", cameFrom(l.Kind, from))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// cameFrom says what has issued a letter.
func cameFrom(kind, actor string) string {
	switch kind {
	case "timer":
		return "fired by a timer of " + actor
	case "step":
		return "a step that follows one of " + actor
	case "go":
		return "a call of a Go function, from " + actor
	}
	return "issued by " + actor
}

func forgetDead(env *cli.Env, dir string, query url.Values, which string) error {
	if dir == "" {
		return cli.Usagef("name the directory with --data")
	}
	if which == "all" {
		query.Set("all", "true")
	} else {
		query["event"] = strings.Split(which, ",")
	}
	answer, err := ask(dir, http.MethodDelete, httpdoor.DeadPath, query, "", nil)
	n := 0
	if err == nil {
		err = errors.Join(json.NewDecoder(answer.Body).Decode(&n), answer.Body.Close())
	} else if errors.Is(err, errNoProcess) {
		n, err = forgetUnused(dir, query)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s forgotten\n", cli.Count(n, "dead letter"))
	return err
}

// forgetUnused deletes dead letters in a directory that no process uses.
func forgetUnused(dir string, query url.Values) (n int, err error) {
	db, err := openUnused(dir)
	if err != nil {
		return 0, err
	}
	program := db.Identity().Program
	if err := db.Close(); err != nil {
		return 0, err
	}
	e, err := openToChange(dir, program)
	if err != nil {
		return 0, err
	}
	defer func() { err = store.In(dir, errors.Join(err, e.Close())) }()
	partitions, err := store.PartitionsOf(e)
	if err != nil {
		return 0, err
	}
	letters, err := row.DeadLetters(e, partitions)
	if err == nil && query.Get("all") == "" {
		letters, err = outbox.PickLetters(letters, query["event"])
	}
	if err != nil || len(letters) == 0 {
		return 0, err
	}
	b := e.NewBatch()
	for _, l := range letters {
		b.Delete(row.AppendDeadLetterKey(nil, l.Partition, l.Seq))
	}
	if err := e.Apply(b); err != nil {
		return 0, err
	}
	return len(letters), e.Sync()
}
