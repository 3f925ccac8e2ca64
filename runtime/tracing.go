package runtime

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

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
	fs.StringVar(&t.file, "trace", "", "write a record of every event to `FILE`; of a node of a cluster, and with --nodes, to files in the directory FILE")
	fs.BoolVar(&t.states, "trace-states", false, "with --trace: add hashes of the actors' fields, which takes time")
}

// open opens the file if the user has named one. log is told when it cannot be written any more; nil: only close tells.
func (t *tracing) open(kind trace.SystemKind, toAppend bool, log *slog.Logger) error {
	if t.file == "" {
		return nil
	}
	w, err := trace.Create(t.file, kind, toAppend)
	if err != nil {
		return fmt.Errorf("the trace cannot be written: %w", err)
	}
	t.writer = w
	if log != nil {
		w.OnFailure(func(err error) {
			log.Error("the trace cannot be written any more; the program goes on without", "error", err.Error())
		})
	}
	return nil
}

// NodeTrace says where a node of a cluster records events. The zero value records none.
type NodeTrace struct {
	Dir    string // has a file for each time that the node opens the system of a store
	States bool   // with hashes of the actors' fields
}

// openDir makes sure that a node can write into the directory of its traces.
func (n NodeTrace) openDir() error {
	if n.Dir == "" {
		return nil
	}
	err := os.MkdirAll(n.Dir, 0o777)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(n.Dir, "probe"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("the trace of a node is a directory, which cannot be written: %w", err)
	}
	return nil
}

// openStart opens the file of one start of a store, the run-th: no other start has its name, on whatever node.
func (t *tracing) openStart(n NodeTrace, store string, run uint64, log *slog.Logger) error {
	if n.Dir == "" {
		return nil
	}
	t.file, t.states = filepath.Join(n.Dir, fmt.Sprintf("%s-%06d.jsonl", store, run)), n.States
	return t.open(trace.Stored, true, log)
}

// begin returns the configuration of a system that is traced; end ends its section.
func (t *tracing) begin(c Config, h trace.Header) Config {
	if t.writer != nil {
		h.States = t.states
		t.writer.Begin(h)
		c.Trace, c.TraceStates = t.writer, t.states
		if h.Node != 0 {
			c.Trace = trace.Timed{Writer: t.writer, Clock: c.Clock.Now}
			t.writer.Flush() // a file without a beginning tells nothing of its store
		}
	}
	return c
}

// end notes that a system has been closed, and its store, if it has one, with the error failed. What the system has
// postponed is in the section of the next run.
func (t *tracing) end(s *System, failed error) {
	switch {
	case t.writer == nil:
	case failed != nil, s.Postponed() > 0:
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
