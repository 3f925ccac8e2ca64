package runtime

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/span"
)

// SpanPlace takes the spans of a program.
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
