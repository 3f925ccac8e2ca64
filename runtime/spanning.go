package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/span"
)

// SpanPlace takes the spans of a program, or of all parts of a node.
type SpanPlace struct {
	Sink    span.Sink
	Close   func() error
	Service string   // the name under which the program is known there; "": its own
	Further []string // attributes of the program, as names and values in turn
}

// SpanOpener opens the place of --spans.
type SpanOpener func(place string) (SpanPlace, error)

// spanning is what exports the spans of a program if the user has asked for them; the zero value exports none.
type spanning struct {
	settings.Spans
	openPlace SpanOpener // nil: the program was compiled without
	place     SpanPlace
	tracer    *span.Tracer // nil: none are recorded
}

// open opens the place if the user has named one.
func (s *spanning) open() (err error) {
	if s.Place == "" {
		return nil
	}
	s.place, err = s.openPlace(s.Place)
	return err
}

// begin begins to export the spans of a program, with the store of an id if it has one, and returns the configuration of a system that
// records them.
func (s *spanning) begin(c Config, program, store string, log *slog.Logger) Config {
	if s.place.Sink == nil {
		return c
	}
	if s.place.Service != "" {
		program = s.place.Service
	}
	s.tracer = span.Open(span.Config{Program: program, Store: store, Sample: s.Sample, Resource: s.place.Further, Sink: s.place.Sink, Log: log})
	c.Spans = s.tracer
	return c
}

// close exports what waits, within a bounded time.
func (s *spanning) close() error {
	if s.place.Sink == nil {
		return nil
	}
	insist()
	s.tracer.Close()
	err := s.place.Close()
	s.place = SpanPlace{}
	if err != nil {
		return fmt.Errorf("not all spans are in %s: %w", s.Place, err)
	}
	return nil
}

// NodeSpans is what exports the spans of a node of a cluster, if the user has asked for them: those of its front, and those of each system that it
// opens, whose ids follow from the store's. A nil NodeSpans exports none. Any goroutine may call it.
type NodeSpans struct {
	settings.Spans
	open    SpanOpener
	program string
	log     *slog.Logger

	mu      sync.Mutex
	place   SpanPlace             // of all parts: only what has written a line knows whether it is torn
	tracers map[*span.Tracer]bool // that have not ended
}

// Begin begins to export the spans of a part of a node, which store names. The ids of its spans follow from that, or from cluster if the part is one of several stores.
// The tracer is nil if nothing is to be exported.
func (n *NodeSpans) Begin(node event.NodeID, store, cluster string) (*span.Tracer, error) {
	if n == nil || n.Place == "" {
		return nil, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.place.Sink == nil {
		place, err := n.open(n.Place)
		if err != nil {
			return nil, err
		}
		n.place, n.tracers = place, make(map[*span.Tracer]bool)
	}
	t := span.Open(span.Config{
		Program: cmp.Or(n.place.Service, n.program), Store: store, Cluster: cluster, Sample: n.Sample, Sink: n.place.Sink, Log: n.log,
		Resource: append([]string{"aeon.node", strconv.FormatUint(uint64(node), 10)}, n.place.Further...),
	})
	n.tracers[t] = true
	return t, nil
}

// End exports what waits of a part that has ended, within a bounded time. t may be nil.
func (n *NodeSpans) End(t *span.Tracer) {
	if t == nil {
		return
	}
	t.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.tracers, t)
}

// close exports what waits of all parts, and closes the place.
func (n *NodeSpans) close() {
	n.mu.Lock()
	list := slices.Collect(maps.Keys(n.tracers))
	n.mu.Unlock()
	var group sync.WaitGroup
	for _, t := range list {
		group.Go(func() { n.End(t) })
	}
	group.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.place.Sink == nil {
		return
	}
	if err := n.place.Close(); err != nil {
		n.log.Warn("not all spans were exported", "to", n.Place, "error", err)
	}
	n.place = SpanPlace{}
}

// check returns what is wrong with the flags.
func (s *spanning) check(l *listening) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Place != "" && l.Shows(s.Place) {
		return errors.New("--static " + l.Static + " would serve the spans to all; serve another directory")
	}
	return nil
}
