package trace

import (
	"errors"
	"fmt"
	"io"
)

// Report is the verdict on a file.
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

// Check reads a trace, twice, and decides. The error says that it could not be read; a
// violation is none.
func Check(in io.ReadSeeker) (*Report, error) {
	rep := &Report{}
	found, err := survivors(in)
	if err != nil {
		return nil, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r := NewReader(in)
	var c, before *Checker
	ended := func(e *End) {
		if c != nil {
			rep.Sections = append(rep.Sections, c.End(e))
			before, c = c, nil
		}
	}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			ended(nil)
			rep.Torn = r.Torn
			if len(rep.Sections) == 0 {
				return nil, errors.New("this is no trace: it is empty")
			}
			return rep, nil
		}
		if err != nil {
			return nil, err
		}
		if rec.Header != nil {
			ended(nil)
			if before != nil && rec.Header.follows(&before.section.Header) {
				c = before
				c.resume(*rec.Header)
			} else {
				c = NewChecker(*rec.Header)
				c.partial = rec.Header.Continues
				c.earlier = rec.Header.Continues || rec.Header.Run > 1
			}
			if len(found) > 0 {
				c.survive(found[0])
				found = found[1:]
			}
			continue
		}
		if c == nil {
			return nil, fmt.Errorf("line %d belongs to no section", r.Line)
		}
		c.Line = r.Line
		if rec.End != nil {
			ended(rec.End)
			continue
		}
		c.take(rec)
	}
}

// take takes a record within a section.
func (c *Checker) take(rec Record) {
	switch {
	case rec.Event != nil:
		c.Event(rec.Event)
	case rec.Callback != nil:
		c.Callback(rec.Callback)
	case rec.Gone != 0:
		c.Gone(rec.Gone)
	default:
		for _, a := range rec.Answers {
			c.Answer(a)
		}
	}
}

// shownMax is how many violations of a section Write shows.
const shownMax = 5

// Write writes the report for users: what was found in violated sections, and the counts.
func (r *Report) Write(w io.Writer) error {
	var t Counts
	unfinished, restarts := 0, 0
	for i := range r.Sections {
		s := &r.Sections[i]
		t.add(&s.Counts)
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
	if n := len(r.Sections) - restarts; err == nil && n > 1 {
		_, err = fmt.Fprintf(w, ", in %d systems", n)
	}
	if err == nil && restarts > 0 {
		_, err = fmt.Fprintf(w, ", across %s (%s undone by crashes)", plural(restarts, "restart"), plural(t.Lost, "event"))
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	if err == nil && unfinished > 0 {
		_, err = fmt.Fprintf(w, "%s did not come to an end; what was written until then was checked\n", plural(unfinished, "system"))
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
}

func (h *Header) title() string {
	if h.Test != "" {
		return fmt.Sprintf("%s, test %q, seed %d", h.Program, h.Test, h.Seed)
	}
	return h.Program
}
