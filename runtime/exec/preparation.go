package exec

import (
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/value"
)

// preparation builds the batch of one event. The Writer has what changes of actors; the other fields have what the event
// issues and answers. It stays with the pooled event, so that its memory is used again.
type preparation struct {
	state.Writer
	d       *durable
	encoder codec.Encoder
	args    []byte    // of what the event issues, one behind the other
	result  []byte    // of the request that ends with the event
	timers  []*timer  // that the event has set, in order
	held    []holding // of a system among several
}

// newPreparation returns one that belongs to no event.
func newPreparation(d *durable) *preparation {
	w := &preparation{d: d}
	w.Of(&d.State)
	return w
}

// preparation returns the preparation of the event.
func (ev *Event) preparation() *preparation {
	if ev.prep == nil {
		ev.prep = newPreparation(ev.sys.durable)
	}
	return ev.prep
}

// rows returns the writer of the batch's rows.
func (w *preparation) rows() *row.Writer { return &w.Writer.Writer }

// drop gives back what has been prepared.
func (w *preparation) drop() {
	w.Discard()
	w.reset()
}

// reset forgets what was encoded. The batch has been taken or discarded.
func (w *preparation) reset() {
	w.args, w.result = w.args[:0], w.result[:0]
	clear(w.timers)
	w.timers = w.timers[:0]
}

// prepare encodes what may be refused: the fields that the event has changed, the
// arguments of what it issues, and the result that its request gets. It comes before anything is changed for good, so that the
// event can still be undone: a value may nest too deeply to be stored.
func (ev *Event) prepare() (err error) {
	w := ev.preparation()
	defer func() {
		if err != nil {
			w.drop()
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(value.Fault)
			if !ok {
				panic(p)
			}
			err = &event.AbortError{Msg: f.Msg, Event: ev.ID, Fault: true}
		}
	}()
	ev.gatherWrites(&w.Writer)
	w.EncodeFields()
	if len(ev.Root.Ops) > 0 {
		w.encodeArgs(ev.Root.Ops)
	}
	if ev.isAwaited() && !ev.Root.GoesOn() && !ev.tailed() {
		w.result = codec.AppendResult(w.result, &w.encoder, ev.Args)
	}
	return nil
}

// gatherWrites tells w what the event has written, by actor and field.
func (ev *Event) gatherWrites(w *state.Writer) {
	entries := ev.Root.UndoLog().Entries()
	for i := range entries {
		e := &entries[i]
		if h := order.HandleOf(e.Self().Ref()); h.Is(order.Dying) && ev.Deleting(h) {
			continue
		}
		w.Changed(e.Self(), e.Field(), e.Record())
	}
	w.Created(&ev.Attempt)
}

// encodeArgs encodes the arguments of sub-events and timers, and notes in each op where they
// are.
func (w *preparation) encodeArgs(ops []activation.Op) {
	for i := range ops {
		o := &ops[i]
		switch {
		case o.Kind == activation.OpBranch:
			w.encodeArgs(o.Branch.Ops())
		case o.Kind == activation.OpEmit, o.Kind == activation.OpTail, o.Kind == activation.OpGo, o.Kind == activation.OpTimer && o.Object == nil:
			o.Encoded[0] = uint32(len(w.args))
			w.args = codec.AppendArgs(w.args, &w.encoder, o.Args)
			o.Encoded[1] = uint32(len(w.args))
		}
	}
}
