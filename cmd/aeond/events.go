package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/watch"
)

func eventsCommand() *cli.Command {
	return &cli.Command{
		Name:  "events",
		Args:  "--follow --data DIR [--actor ACTOR] [--class CLASS] [--failed] [--slow TIME] [--store N] [--json]",
		Short: "tell what becomes of the events of a running program, as it happens",
		Long: fmt.Sprintf(`
Events writes a line when an event is issued, and one when it has committed or was undone, with the failure and how long it
took from its first attempt, until the program ends or you stop it. A request with a key that comes again is "repeated": it
gets its first outcome. An attempt is "withdrawn", with the reason, if it has found that it needs more than it has entered with;
the next one begins, and nothing of it has happened. What happened before is not kept. The
program waits for nothing: if it tells faster than the lines are read, a line says how many were dropped. A commit
of a sub-event is told before it is on the disk, that of a client's event when it is answered.

--actor and --class choose events by their target, --failed those that were undone, --slow those that took so long.
With --json each line is an object: time, kind, event, actor, method, from, took (in seconds), failure, count.
%s When it has one again a line "followed" says so.

	aeond events --follow --data /var/lib/shop
	aeond events --follow --data /var/lib/shop --class Cart --slow 10ms
	aeond events --follow --data /var/lib/shop --failed --json | jq .failure`, storesHelp),
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			follow := fs.Bool("follow", false, "tell what happens from now on")
			actor := fs.String("actor", "", "only events of `ACTOR`")
			class := fs.String("class", "", "only events of actors of `CLASS`")
			failed := fs.Bool("failed", false, "only events that were undone")
			slow := fs.Duration("slow", 0, "only events that took `TIME` or more, 10ms for example")
			narrow := storeFlag(fs)
			asJSON := fs.Bool("json", false, "write JSON")
			return cli.NoArguments(func(env *cli.Env) error {
				query := url.Values{}
				for name, value := range map[string]string{"actor": *actor, "class": *class} {
					if value != "" {
						query.Set(name, value)
					}
				}
				if *failed {
					query.Set("failed", "true")
				}
				switch {
				case !*follow:
					return cli.Usagef("past events are not kept; --follow tells those from now on")
				case *slow < 0:
					return cli.Usagef("--slow needs a time above 0")
				case *slow > 0:
					query.Set("slow", slow.String())
				}
				if err := narrow(*dir, query); err != nil {
					return err
				}
				return events(env, *dir, query, *asJSON)
			})
		},
	}
}

func events(env *cli.Env, dir string, query url.Values, asJSON bool) error {
	answer, err := askRunning(dir, httpdoor.EventsPath, query, "nothing happens there")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	env.Quiet() // it may be long before anything happens
	lines := newPartial(answer.Body, true)
	if asJSON {
		_, err = io.Copy(env.Stdout, lines)
		return missed(env, ended(err))
	}
	for d := json.NewDecoder(lines); ; {
		var l happened
		if err := d.Decode(&l); err == io.EOF {
			return nil
		} else if err != nil {
			return missed(env, ended(err))
		}
		if _, err := fmt.Fprintln(env.Stdout, lineOf(&l)); err != nil {
			return err
		}
	}
}

// happened is a line of what becomes of events; of a cluster of several stores, it has the store.
type happened struct {
	watch.Line
	status.Missing
	Of uint32 `json:"store"`
}

// ended says what has become of a program whose lines end without their end.
func ended(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the program has ended without its last lines: it was killed, or has failed")
	}
	return err
}

// lineOf writes what has become of an event in a line.
func lineOf(l *happened) string {
	at := l.Time.Local().Format("15:04:05.000")
	switch {
	case l.Missing.Store != nil:
		return fmt.Sprintf("%s  %-9s  %s", time.Now().Format("15:04:05.000"), "missing", l.Why)
	case l.Kind == watch.Followed:
		return fmt.Sprintf("%s  %-9s  store %d", at, l.Kind, l.Of)
	case l.Kind == watch.Dropped:
		return fmt.Sprintf("%s  %-9s  %s", at, l.Kind, cli.Count(int(l.Count), "line"))
	}
	text := fmt.Sprintf("%s  %-9s  %s  %s", at, l.Kind, l.Event, callOf(l.Method, string(l.Actor)))
	if l.From != "" {
		text += ", issued by " + printable(string(l.From))
	}
	if l.Took > 0 {
		text += fmt.Sprintf("  %v", time.Duration(l.Took*float64(time.Second)).Round(time.Microsecond))
	}
	if l.Failure != "" {
		text += "  " + printable(string(l.Failure))
	}
	return text
}
