package trace

import (
	"fmt"
	"io"
)

// Report is the verdict on a trace.
type Report struct {
	Sections []Section
	Torn     int // lines that were left half done by a process which was killed
}

// Violated returns the number of violations.
func (r *Report) Violated() (n int) {
	for i := range r.Sections {
		n += r.Sections[i].Violated
	}
	return n
}

// shownMax is how many violations of a section Write shows.
const shownMax = 5

// Write writes the report for users: what was found in violated sections, and the counts.
func (r *Report) Write(w io.Writer) error {
	var t Counts
	unfinished, restarts, nodes := 0, 0, make(map[uint64]bool)
	stores := make(map[string]map[uint64]bool) // of which there are traces, by cluster
	missing := make(map[string]int)            // and of how many there are none
	for i := range r.Sections {
		s := &r.Sections[i]
		t.add(&s.Counts)
		if s.Header.Node != 0 {
			nodes[s.Header.Node] = true
		}
		if h := &s.Header; h.Stores > 0 {
			if stores[h.Cluster] == nil {
				stores[h.Cluster] = make(map[uint64]bool)
			}
			stores[h.Cluster][h.Number] = true
			missing[h.Cluster] = int(h.Stores) - len(stores[h.Cluster])
		}
		if i > 0 && s.Header.follows(&r.Sections[i-1].Header) {
			restarts++
			t.Actors -= r.Sections[i-1].Counts.Actors // they are counted again
			if r.Sections[i-1].How != "closed" {
				unfinished--
			}
		}
		if s.How != "closed" {
			unfinished++
		}
		if s.Violated == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: not strictly serialisable: %s\n", s.Header.title(), plural(s.Violated, "violation")); err != nil {
			return err
		}
		for i, v := range s.First {
			if i == shownMax {
				if _, err := fmt.Fprintf(w, "\t… and %d more\n", s.Violated-shownMax); err != nil {
					return err
				}
				break
			}
			if _, err := fmt.Fprintf(w, "\t%v\n", &v); err != nil {
				return err
			}
		}
	}
	verdict := "strictly serialisable"
	if r.Violated() > 0 {
		verdict = "NOT strictly serialisable"
	}
	_, err := fmt.Fprintf(w, "%s: %s (%d committed, %d undone; %s, %s, %s), %s, %s and %s",
		verdict, plural(t.Events, "event"), t.Commits, t.Aborts, plural(t.Subs, "sub-event"), plural(t.Timers, "timer"), plural(t.Callbacks, "callback"),
		plural(t.Actors, "actor"), plural(t.Reads, "read"), plural(t.Writes, "write"))
	if err == nil && t.Parts > 0 {
		_, err = fmt.Fprintf(w, ", %s in other stores than the home of the event", plural(t.Parts, "record"))
	}
	n, what := len(r.Sections)-restarts, "systems"
	if len(stores) > 0 {
		n, what = 0, "stores"
		for _, of := range stores {
			n += len(of)
		}
	}
	if err == nil && n > 1 {
		_, err = fmt.Fprintf(w, ", in %d %s", n, what)
	}
	switch {
	case err != nil || restarts == 0:
	case len(nodes) > 0:
		_, err = fmt.Fprintf(w, ", across %s on %s (%s of deposed leaders never committed)", plural(restarts, "change")+" of the leader", plural(len(nodes), "node"), plural(t.Lost, "event"))
	default:
		_, err = fmt.Fprintf(w, ", across %s (%s undone by crashes)", plural(restarts, "restart"), plural(t.Lost, "event"))
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	if err == nil && unfinished > 0 {
		_, err = fmt.Fprintf(w, "%s did not come to an end; what was written until then was checked\n", plural(unfinished, "system"))
	}
	for _, n := range missing {
		if err == nil && n > 0 {
			_, err = fmt.Fprintf(w, "of %s of the cluster there is no trace; what their events have done elsewhere was not compared with them\n", plural(n, "store"))
		}
	}
	if err == nil && r.Torn > 0 {
		_, err = fmt.Fprintf(w, "%s half done by a process that was killed\n", plural(r.Torn, "line")+" left")
	}
	return err
}

func (t *Counts) add(o *Counts) {
	t.Events += o.Events
	t.Commits += o.Commits
	t.Aborts += o.Aborts
	t.Subs += o.Subs
	t.Timers += o.Timers
	t.Callbacks += o.Callbacks
	t.Answers += o.Answers
	t.Actors += o.Actors
	t.Reads += o.Reads
	t.Writes += o.Writes
	t.Lost += o.Lost
	t.Parts += o.Parts
}

func (h *Header) title() string {
	if h.Test != "" {
		return fmt.Sprintf("%s, test %q, seed %d", h.Program, h.Test, h.Seed)
	}
	return h.Program
}
