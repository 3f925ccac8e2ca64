package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

func whyCommand() *cli.Command {
	return &cli.Command{
		Name:  "why",
		Args:  "--data DIR [--json] [EVENT]",
		Short: "tell for which other events the events of a running program wait",
		Long: `
Why tells of each event that waits for another one: what it calls, at which actor it waits and for which
event. With EVENT, as the log and traces write it, it tells what this event waits for, and what that waits
for in turn. An event that others wait for and that has no line of its own is running, or waits for
the disk. Events never wait in a circle.

With --json each line is an object: event, method, target; at, wants; for, forMethod, forTarget; why.

	aeond why --data /var/lib/shop
	aeond why --data /var/lib/shop 10000000004-1f`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			asJSON := fs.Bool("json", false, "write JSON")
			return func(env *cli.Env, args []string) error {
				if len(args) > 1 {
					return cli.Usagef("name one event, or none for all that wait")
				}
				return why(env, *dir, args, *asJSON)
			}
		},
	}
}

func why(env *cli.Env, dir string, of []string, asJSON bool) error {
	answer, err := askRunning(dir, httpdoor.WaitsPath, nil, "no event waits")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var waits []door.Wait
	for d := json.NewDecoder(answer.Body); ; {
		var w door.Wait
		if err := d.Decode(&w); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		waits = append(waits, w)
	}
	if len(of) > 0 {
		waits = behind(waits, of[0])
	}
	if asJSON {
		for _, w := range waits {
			if err := json.NewEncoder(env.Stdout).Encode(w); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case len(waits) > 0:
	case len(of) > 0:
		_, err = fmt.Fprintf(env.Stdout, "event %s waits for no other event\n", printable(of[0]))
	default:
		_, err = fmt.Fprintln(env.Stdout, "no event waits for another one")
	}
	if err != nil {
		return err
	}
	return writeWaits(env.Stdout, waits)
}

// behind returns what an event waits for, what that waits for, and so on.
func behind(waits []door.Wait, event string) (list []door.Wait) {
	events := []string{event}
	for i := 0; i < len(events); i++ {
		for _, w := range waits {
			if w.Event != events[i] {
				continue
			}
			list = append(list, w)
			if w.For != "" && !slices.Contains(events, w.For) {
				events = append(events, w.For)
			}
		}
	}
	return list
}

// writeWaits writes what each event waits for, those of one event together.
func writeWaits(to io.Writer, waits []door.Wait) error {
	last := ""
	for _, w := range waits {
		if w.Event != last {
			if _, err := fmt.Fprintf(to, "%s %s\n", w.Event, callOf(w.Method, w.Target)); err != nil {
				return err
			}
			last = w.Event
		}
		at := "for a region"
		if w.At != "" {
			at = "to " + w.Wants + " " + printable(w.At)
		}
		other := "readers"
		if w.For != "" {
			other = w.For + " " + callOf(w.ForMethod, w.ForTarget)
		}
		if _, err := fmt.Fprintf(to, "\twaits %s: %s (%s)\n", at, other, w.Why); err != nil {
			return err
		}
	}
	return nil
}

func callOf(method, target string) string {
	if target == "" {
		return printable(method)
	}
	return fmt.Sprintf("%s of %s", printable(method), printable(target))
}
