package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

func whyCommand() *cli.Command {
	return &cli.Command{
		Name:  "why",
		Args:  "--data DIR [--store N] [--json] [EVENT]",
		Short: "tell for which other events the events of a running program wait",
		Long: fmt.Sprintf(`
Why tells of each event that waits for another one: what it calls, at which actor it waits and for which
event. With EVENT, as the log and traces write it, it tells what this event waits for, and what that waits
for in turn. An event that others wait for and that has no line of its own is running, or waits for
the disk. Events never wait in a circle. An event over several stores may wait in each of them, and for the
stores themselves: for a call there, for their votes, or, in doubt, for what its home decides. With EVENT also what it holds in each is told.

With --json each line is an object: event, method, target; at, wants; for, forMethod, forTarget; why; and of events
over several stores home, forHome, holds, forStores.
%s

	aeond why --data /var/lib/shop
	aeond why --data /var/lib/shop 10000000004-1f`, storesHelp),
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			narrow := storeFlag(fs)
			asJSON := fs.Bool("json", false, "write JSON")
			return func(env *cli.Env, args []string) error {
				if len(args) > 1 {
					return cli.Usagef("name one event, or none for all that wait")
				}
				query := url.Values{}
				if err := narrow(*dir, query); err != nil {
					return err
				}
				return why(env, *dir, query, args, *asJSON)
			}
		},
	}
}

// wait is a line of what waits; of a cluster of several stores, it has the store.
type wait struct {
	Store *event.StoreID `json:"store,omitempty"`
	door.Wait
}

func why(env *cli.Env, dir string, query url.Values, of []string, asJSON bool) error {
	answer, err := askRunning(dir, httpdoor.WaitsPath, query, "no event waits")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := newPartial(answer.Body, false)
	var waits []wait
	for d := json.NewDecoder(lines); err == nil; {
		var w wait
		if err = d.Decode(&w); err == nil {
			waits = append(waits, w)
		}
	}
	if err != io.EOF && lines.err() == nil {
		return err
	}
	err = nil
	switch {
	case len(of) > 0:
		waits = behind(waits, of[0])
	case !asJSON:
		waits = waiting(waits)
	}
	switch {
	case asJSON:
		for _, w := range waits {
			if err := json.NewEncoder(env.Stdout).Encode(w); err != nil {
				return err
			}
		}
		_, err = env.Stdout.Write(lines.said)
	case len(waits) > 0:
		err = writeWaits(env.Stdout, waits)
	case len(lines.missing) > 0: // nothing can be said
	case len(of) > 0:
		_, err = fmt.Fprintf(env.Stdout, "event %s waits for no other event\n", printable(of[0]))
	default:
		_, err = fmt.Fprintln(env.Stdout, "no event waits for another one")
	}
	return missed(env, errors.Join(err, lines.err()))
}

// waiting returns the lines of events that wait for something, those of one event together.
func waiting(waits []wait) (list []wait) {
	told := make(map[string]bool)
	for _, w := range waits {
		if w.Why == "" || told[w.Event] {
			continue
		}
		told[w.Event] = true
		for _, x := range waits {
			if x.Event == w.Event && x.Why != "" {
				list = append(list, x)
			}
		}
	}
	return list
}

// behind returns what an event waits for, what that waits for, and so on.
func behind(waits []wait, event string) (list []wait) {
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
func writeWaits(to io.Writer, waits []wait) error {
	var b strings.Builder
	last := ""
	for i, w := range waits {
		if w.Wants == "" && w.Why == "" && len(w.Holds) == 0 {
			continue // what it waits for there has lines of its own
		}
		if w.Event != last {
			last = w.Event
			target := ""
			for _, x := range waits[i:] { // a part does not know it
				if x.Event == last && x.Target != "" {
					target = x.Target
					break
				}
			}
			fmt.Fprintf(&b, "%s %s\n", w.Event, callOf(w.Method, target))
		}
		fmt.Fprintf(&b, "\t%s\n", w.text())
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// text says in a line what is waited for, or held.
func (w *wait) text() string {
	in := ""
	if w.Store != nil {
		in = fmt.Sprintf("in store %d", *w.Store)
		if w.Wants == "" && w.Home != nil && *w.Home == *w.Store {
			in += ", its home,"
		}
		in += " "
	}
	if w.Wants == "" { // over several stores
		held := "holds nothing"
		if len(w.Holds) > 0 {
			held = "holds " + printable(strings.Join(w.Holds, ", "))
		}
		if w.Why == "" {
			return in + held
		}
		return fmt.Sprintf("%s%s; waits for %s: %s", in, held, storesOf(w.ForStores), w.Why)
	}
	at := "for a region"
	if w.At != "" {
		at = "to " + w.Wants + " " + printable(w.At)
	}
	other := "readers"
	if w.For != "" {
		other = w.For + " " + callOf(w.ForMethod, w.ForTarget)
		if w.ForHome != nil {
			other += fmt.Sprintf(", of store %d", *w.ForHome)
		}
	}
	return fmt.Sprintf("%swaits %s: %s (%s)", in, at, other, w.Why)
}

func storesOf(list []event.StoreID) string {
	texts := make([]string, len(list))
	for i, id := range list {
		texts[i] = strconv.FormatUint(uint64(id), 10)
	}
	if len(list) == 1 {
		return "store " + texts[0]
	}
	return "stores " + strings.Join(texts, ", ")
}

func callOf(method, target string) string {
	if target == "" {
		return printable(method)
	}
	return fmt.Sprintf("%s of %s", printable(method), printable(target))
}
