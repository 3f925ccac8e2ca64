package nodes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/trace"
	spectrace "github.com/aeon-lang/aeon/spec/trace"
)

// traces are those of all starts of the stores of a cluster. Their clocks are apart by skew, one from the next.
type traces struct {
	dir    string
	stores int
	skew   int64
	fail   func(format string, args ...any)
	ticks  atomic.Int64
	starts map[event.StoreID]*startTrace // that go on
	files  []string
	stay   bool // the files are not removed when they have been checked
}

// startTrace records a start of a store.
type startTrace struct {
	*trace.Writer
	of   *traces
	name string
	skew int64
}

// Now implements trace.Clocked.
func (s *startTrace) Now() int64 {
	return s.of.ticks.Add(1) + s.skew
}

func newTraces(dir string, stores int, skew int64, fail func(format string, args ...any)) *traces {
	return &traces{dir: dir, stores: stores, skew: skew, fail: fail, starts: make(map[event.StoreID]*startTrace)}
}

// into has a cluster be traced, with the states of actors.
func (r *traces) into(cfg *nodes.Config) {
	cfg.System.TraceStates, cfg.Start, cfg.Crashed = true, r.record, r.crashed
}

// record begins the trace of a start.
func (r *traces) record(id event.StoreID, cfg *exec.Config) error {
	h, err := history.Header(trace.Header{Program: "test", States: true, Node: 1, Cluster: "test", Number: id, Stores: r.stores}, cfg.Store)
	if err != nil {
		return err
	}
	h.Store, h.Started = fmt.Sprint("store", id), time.Unix(1000, 0)
	s := &startTrace{of: r, skew: int64(id) * r.skew, name: filepath.Join(r.dir, fmt.Sprintf("%d-%06d.jsonl", id, h.Run))}
	if s.Writer, err = trace.Create(s.name, trace.Stored, true); err != nil {
		return err
	}
	s.Simulate()
	s.Begin(h)
	s.Flush()
	r.starts[id], r.files, cfg.Trace = s, append(r.files, s.name), s
	return nil
}

// crashed ends the trace of a start with what it has written when the store crashes. What it still does then is lost.
func (r *traces) crashed(id event.StoreID) error {
	s := r.starts[id]
	delete(r.starts, id)
	s.Crash()
	return s.Close()
}

// recorded counts what was recorded: events, what these have done in other stores than their homes, and what crashes have undone.
type recorded struct{ events, parts, lost int }

func (n *recorded) add(o recorded) {
	n.events, n.parts, n.lost = n.events+o.events, n.parts+o.parts, n.lost+o.lost
}

// check checks what all starts have recorded, when all stores have been closed, as one history.
func (r *traces) check() (sum recorded) {
	for _, s := range r.starts {
		s.End("closed")
		if err := s.Close(); err != nil {
			r.fail("%v", err)
		}
	}
	var files []spectrace.File
	for _, name := range r.files {
		f, err := os.Open(name)
		if err != nil {
			r.fail("%v", err)
		}
		defer f.Close()
		files = append(files, spectrace.File{Name: filepath.Base(name), In: f})
	}
	rep, err := spectrace.CheckFiles(files, time.Duration(int64(r.stores)*r.skew))
	if err != nil {
		r.fail("the traces: %v", err)
	}
	if rep.Violated() > 0 {
		var text strings.Builder
		_ = rep.Write(&text) // it never fails
		r.fail("the traces: %s", text.String())
	}
	for i := range rep.Sections {
		c := &rep.Sections[i].Counts
		sum.add(recorded{c.Events, c.Parts, c.Lost})
	}
	for _, name := range r.files {
		if r.stay {
			break
		}
		if err := os.Remove(name); err != nil {
			r.fail("%v", err)
		}
	}
	return sum
}
