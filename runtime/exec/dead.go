package exec

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
)

// What has a row in the outbox, and fails for good, becomes a dead letter in the same batch that removes the row.

// letterPathMax is how many places of the program a letter has at most: those of an endless recursion are many.
const letterPathMax = 32

// isDead reports whether an event that has been undone is a dead letter: no caller gets its failure.
func (ev *Event) isDead() bool {
	switch {
	case ev.client != ev.sys.inner:
		return false // a client has issued it: nothing of it is stored
	case ev.chain != nil:
		return ev.chain.ended == nil && !ev.chain.isOwed()
	}
	return ev.method != &methodFire || !ev.Target.Is(order.Deleted) // a timer goes with its issuer
}

// letter returns the dead letter of an event that has been undone.
func (ev *Event) letter(err error) *event.DeadLetter {
	d, t := ev.sys.durable, ev.byTimer
	l := &event.DeadLetter{Event: ev.ID, Kind: event.SubLetter}
	issuer, target, m, args := ev.issuer, ev.Target, ev.method, ev.Args
	switch {
	case m == &methodFire:
		t = args.(*fireArgs).t
		l.Kind, issuer = event.TimerLetter, t.Issuer
		if t.Call.Object != nil {
			m, args = &methodFire, nil
			break
		}
		target, m, args = t.Call.Target, t.Call.Method, t.Call.Args
	case ev.chain != nil:
		l.Kind = event.StepLetter
		if issuer == nil {
			issuer = target // it has kept its actor
		}
	case ev.byTimer != nil:
		l.Kind = event.TimerLetter
	}
	d.fillLetter(l, issuer, target, m, args, err)
	return l
}

// letter returns the dead letter of a call whose last try has failed.
func (c *goCall) letter(d *durable, err error) *event.DeadLetter {
	l := &event.DeadLetter{Event: c.id, Kind: event.GoLetter}
	d.fillLetter(l, c.target, c.target, c.method, c.args, err)
	return l
}

// fillLetter completes a dead letter.
func (d *durable) fillLetter(l *event.DeadLetter, issuer, target *order.Handle, m *Method, args order.Args, err error) {
	l.Seq, l.At, l.Partition = d.nextSeq(), d.sys.clock.Now().UnixNano(), target.ID.Birth
	if issuer != nil {
		l.Issuer = issuer.KnownPath()
	}
	l.Target = target.KnownPath()
	if m.Class != nil {
		l.Class = m.Class.Path()
	}
	l.Method, l.Signature, l.Params, l.Failure = m.Name, m.Signature, m.Params, err.Error()
	if abort := (*event.AbortError)(nil); errors.As(err, &abort) {
		l.Fault = abort.Fault
		l.Path = abort.Places(letterPathMax)
	}
	if m.Signature != "" {
		if l.Args = codec.ArgsIfReadable(args); len(l.Args) > outbox.DeadArgsMax {
			l.ArgsSize, l.Args = len(l.Args), nil
		} else {
			l.ArgsSize = len(l.Args)
		}
	}
}

// ForgetDeadLetters deletes the dead letters of events from the store, or all that there are, and returns how many it has
// deleted, when that is durable. The error wraps outbox.ErrNoLetter if there is none of an event; then nothing is deleted.
func (s *System) ForgetDeadLetters(ctx context.Context, all bool, events []string) (n int, err error) {
	v, err := s.View(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	letters, err := row.DeadLetters(v, s.durable.Store.Partitions())
	if err != nil {
		return 0, err
	}
	if !all {
		if letters, err = outbox.PickLetters(letters, events); err != nil {
			return 0, err
		}
	}
	w := row.Writer{Store: s.durable.Store}
	if n = s.durable.dead.Forget(&w, letters); n == 0 {
		return 0, nil
	}
	return n, s.durable.Store.Wait(ctx, s.durable.Journal.Append(w.Take()))
}
