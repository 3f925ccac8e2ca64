package span

import "github.com/aeon-lang/aeon/runtime/event"

// Step is what an event has issued that is no event itself: a callback, or a try of a call of a Go function.
type Step struct {
	of  *Tracer
	own span
}

// Step begins to record what comes from an event, under an id of its own; n tells repetitions of one apart. It returns nil if
// nothing is recorded, or the trace is not sampled.
func (t *Tracer) Step(id event.EventID, n int, from *Origin, name string, now int64) *Step {
	if t == nil || from == nil {
		return nil
	}
	trace := t.ids.trace(id)
	if !trace.sampled(t.cfg.Sample) {
		return nil
	}
	return &Step{t, span{trace: trace, id: t.ids.span(id).child(callChild, uint64(n)), name: name, kind: internal, begin: now, link: t.linkTo(from),
		attributes: []attribute{{"aeon.event", from.Issuer.String()}}}}
}

// End exports the step, which has failed with a message unless that is "". s may be nil.
func (s *Step) End(now int64, failure string) {
	if s == nil {
		return
	}
	s.own.end, s.own.failed, s.own.message = now, failure != "", cut(failure)
	s.of.queue.add([]span{s.own})
}
