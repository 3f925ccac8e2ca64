package exec

import "github.com/aeon-lang/aeon/runtime/outbox"

// outgoing is what leaves a system with a store when it is durable: a line, a line of the log, or a dead letter.
type outgoing struct {
	text   string
	attrs  []any    // of a line of the log; else nil
	failed *failure // of a dead letter; else nil
}

// openOutput opens the output of a system that has its store.
func (s *System) openOutput(d *durable) {
	s.output.Open(outbox.OutputConfig[outgoing]{Durable: d.Journal.Durable, Wait: d.Wait,
		Write: s.writeOut, Flush: s.lines.Flush, Live: s.live, Workers: &s.workers, Scheduler: s.scheduler})
}

// writeOut writes o out.
func (s *System) writeOut(o outgoing) {
	switch {
	case o.failed != nil:
		s.logDeadLetter(*o.failed)
	case o.attrs != nil:
		s.log.Info(o.text, o.attrs...)
	default:
		s.lines.Add(o.text)
	}
}

// printDurable prints a line of a client, behind the lines of the events that the client has seen.
func (s *System) printDurable(text string) {
	n := s.output.Add(outgoing{text: text}, 0)
	if s.durable.answersWait {
		s.output.Flush(n)
	} else {
		s.output.Start()
	}
}
