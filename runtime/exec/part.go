package exec

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// NewPart implements across.Local.
func (l local) NewPart(p *across.Part, method string) (across.Proxy, *order.Attempt) {
	ev := l.s.takeEvent(l.s.inner, p.Name().Event, nil, l.s.code.EventMethod(method), nil)
	x := &proxy{ev: ev}
	x.wide.Part = p
	ev.SetWide(&x.wide)
	ev.TracePart(false)
	ev.Begin()
	l.s.live.Add(1)
	return x, &ev.Attempt
}

// proxy runs the code of a part.
type proxy struct {
	ev       *Event
	wide     activation.Wide // of ev
	recorded sync.Once       // as spans, if it is
	row      bool            // the part is prepared
	voted    bool            // for the attempt, and has not been dropped since
	changes  []byte          // of fields, if so: a store.Recording
	restored bool            // an earlier start has prepared it: the states of actors in memory do not have the changes
	held     []*order.Handle // by a part that was restored
	over     func()          // of what it deletes; nil: it deletes nothing

	// Of what Apply has appended.
	sys *System
	pos store.Position
}

// Run implements across.Proxy.
func (x *proxy) Run(t across.Thread, c *across.Call) *across.Reply {
	ev := x.ev
	x.recorded.Do(func() { ev.told.span = ev.RecordPart(ev.sys.cfg.Spans, c.Span) })
	r := ev.ServePart(t, c)
	if c.Strict && r.Failed == nil && !r.Withdrawn {
		err := ev.prepare()
		if err == nil {
			ev.prep.drop()
		}
		r.Failed, _ = err.(*event.AbortError)
	}
	return r
}

// Vote implements across.Proxy.
func (x *proxy) Vote(holds bool, r *across.Reply) bool {
	r.Wrote = x.ev.HasWritten()
	r.Holds = !r.Wrote && (holds || x.row) // a row that there is stays one
	switch {
	case !r.Wrote && !r.Holds:
		return x.confirm() == nil
	case x.ev.DeletesNamed():
		return false // it votes when it is asked: see write
	}
	err := x.write()
	r.Failed, _ = err.(*event.AbortError)
	return err == nil
}

// doubtKey makes the key of the row that says what is prepared.
func (ev *Event) doubtKey(w *row.Writer) {
	n := ev.Wide().Part.Name()
	w.Key = row.AppendPreparedKey(w.Key[:0], ev.sys.doubts, ev.Wide().Part.Home(), n.Event, n.Number)
}

// Write implements across.Proxy.
func (x *proxy) Write() bool { return x.write() == nil }

// write is Write. It fails if what the attempt has written cannot be stored, or the store has failed.
func (x *proxy) write() error {
	ev := x.ev
	if x.row { // of an answer that has asked for more since
		ev.prep.drop()
		if x.over != nil {
			x.over()
			x.over = nil
		}
	}
	d := ev.sys.durable
	changes := &ev.preparation().changes
	changes.Reset()
	ev.prep.rows().Into(changes)
	if err := ev.prepare(); err != nil {
		return err
	}
	x.changes = changes.Bytes() // until the event begins again
	if len(ev.Deletes) > 0 {
		// Invariant: an event that asks for the actor of a name waits for none whose code runs on. That could wait for the one that asks, or ask by itself.
		assert.That(!ev.DeletesNamed() || ev.Wide().Part.IsEnding(), "exec: %v is prepared before its end, and deletes an actor that has a name", ev.Wide().Part.Name())
		x.over = ev.sys.dying.Add(ev.Deletes)
	}
	d.ReserveIDs(&ev.Attempt)
	w := &ev.prep.doubt
	ev.doubtKey(w)
	w.Begin()
	p := &ev.prep.prepared
	ev.Prepared(p, ev.prep.args, d.signatures.Number)
	p.Changes = x.changes
	w.Row = p.Append(w.Row)
	w.Set()
	var pos store.Position
	ev.TraceVote(w, func() { pos = d.Journal.Append(w.Take()) })
	ev.maxPos, x.row = max(ev.maxPos, ev.Root.MaxPos, pos), true
	return x.seen(d.WaitOwn(pos))
}

// seen returns, if what the part has seen is durable, when all that events before it have printed is out.
func (x *proxy) seen(err error) error {
	if x.voted = err == nil; x.voted {
		x.ev.sys.output.FlushAll()
	}
	return err
}

// Confirm implements across.Proxy.
func (x *proxy) Confirm(keep bool) bool {
	if !keep { // of an event that aborts
		x.Undo()
	}
	return x.confirm() == nil
}

func (x *proxy) confirm() error {
	ev := x.ev
	ev.TraceVote(nil, nil)
	return x.seen(ev.sys.durable.Wait(max(ev.maxPos, ev.Root.MaxPos)))
}

// Undo implements across.Proxy.
func (x *proxy) Undo() {
	ev := x.ev
	ev.Undo()
	x.voted = false
	if !x.row {
		return
	}
	x.row = false
	ev.prep.drop()
	w := row.Writer{Store: ev.sys.durable.Store}
	ev.doubtKey(&w)
	w.Delete()
	ev.maxPos = max(ev.maxPos, ev.sys.durable.Journal.Append(w.Take()))
}

// Apply implements across.Proxy.
func (x *proxy) Apply() {
	ev, d := x.ev, x.ev.sys.durable
	w := ev.prep.rows()
	_ = w.Take() // the recording
	w.Into(d.Store.NewBatch())
	err := store.PlayBack(x.changes, w.Batch())
	if err != nil {
		assert.Unreachable("exec: %v: %v", ev.Wide().Part.Name(), err)
	}
	ev.TraceHeld(x.held)
	next, err := ev.commitPrepared(ev.kind())
	if err != nil {
		assert.Unreachable("exec: %v has committed, and cannot be carried out here: %v", ev.Wide().Part.Name(), err)
	}
	x.sys, x.pos = ev.sys, ev.maxPos
	if x.restored {
		x.reread(x.pos)
	}
	ev.EndPart(false)
	if len(ev.Root.Ops) > 0 {
		next.start()
	}
	if ev.chain != nil {
		ev.sys.stepped(ev, nil)
	}
}

// Applied implements across.Proxy. The event may be another one by now.
func (x *proxy) Applied() bool { return x.sys.durable.WaitOwn(x.pos) == nil }

// Ended implements across.Proxy.
func (x *proxy) Ended() {
	if x.over != nil {
		x.over()
	}
	s := x.ev.sys
	if e := x.ev.told.span; e != nil && x.voted { // else its attempt is withdrawn
		e.ExportPart()
	}
	x.ev.Traced = nil
	x.ev.Root.Record(nil)
	x.ev.End()
	s.giveBack(x.ev)
	s.live.Add(-1)
}
