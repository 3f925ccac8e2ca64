package runtime

import (
	"flag"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/trace"
)

// tracing is the trace that a program writes if the user has asked for one; the zero value writes none.
type tracing struct {
	file   string
	states bool
	writer *trace.Writer
}

// flags declares the flags.
func (t *tracing) flags(fs *flag.FlagSet) {
	fs.StringVar(&t.file, "trace", "", "write a record of every event to `FILE`")
	fs.BoolVar(&t.states, "trace-states", false, "with --trace: add hashes of the actors' fields, which takes time")
}

// open opens the file if the user has named one.
func (t *tracing) open(kind trace.SystemKind, toAppend bool) error {
	if t.file == "" {
		return nil
	}
	w, err := trace.Create(t.file, kind, toAppend)
	if err != nil {
		return fmt.Errorf("the trace cannot be written: %w", err)
	}
	t.writer = w
	return nil
}

// begin returns the configuration of a system that is traced; end ends its section.
func (t *tracing) begin(c Config, h trace.Header) Config {
	if t.writer != nil {
		h.States = t.states
		t.writer.Begin(h)
		c.Trace, c.TraceStates = t.writer, t.states
	}
	return c
}

// end notes that a system has been closed, and its store, if it has one, with the error failed. What the system has
// postponed is in the section of the next run.
func (t *tracing) end(s *System, failed error) {
	switch {
	case t.writer == nil:
	case s.Postponed() > 0, failed != nil:
		t.writer.End("interrupted")
	default:
		t.writer.End("closed")
	}
}

// leave writes the trace of a system on a store that still runs when the process ends. Its section has no end, as in a
// process that is killed. What events change in the store until then is in the trace, too.
func (t *tracing) leave() error {
	if t.writer == nil {
		return nil
	}
	w := t.writer
	t.writer = nil
	w.Flush()
	return incomplete(w.Err())
}

// close closes the file. It does not wait for a system that has not been closed.
func (t *tracing) close() error {
	if t.writer == nil {
		return nil
	}
	t.writer.End("interrupted")
	return incomplete(t.writer.Close())
}

func incomplete(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the trace is not complete: %w", err)
}
