package exec

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// preparation builds the batch of one event. The Writer has what changes of actors; the other fields have what the event issues and
// answers. It stays with the pooled event, so that its memory is used again.
type preparation struct {
	state.Writer
	d       *durable
	encoder codec.Encoder
	args    []byte               // of what the event issues, one behind the other
	result  []byte               // of the request that ends with the event
	timers  []*timer             // that the event has set, in order
	held    []activation.Holding // of a system among several

	// Of a part.
	doubt    row.Writer // of its row
	prepared row.Prepared
	changes  store.Recording
}

// newPreparation returns one that belongs to no event.
func newPreparation(d *durable) *preparation {
	w := &preparation{d: d, doubt: row.Writer{Store: d.Store}}
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

// prepare encodes what may be refused: the fields that the event has changed, the arguments of what it issues, and the result that its
// request, or another store that has begun its chain, gets. It comes before anything is changed for good, so that the event can still be undone: a value
// may nest too deeply to be stored, and the store may fail under a container that is read for that.
func (ev *Event) prepare() (err error) {
	w := ev.preparation()
	defer func() {
		switch p := recover().(type) {
		case nil:
			return
		case value.Fault:
			err = &event.AbortError{Msg: p.Msg, Event: ev.ID, Fault: true}
		case *value.Unreadable:
			err = &event.UnknownError{Event: ev.ID, Cause: p.Err}
		default:
			panic(p)
		}
		w.held = slices.Delete(w.held, 0, len(w.held))
		w.drop()
	}()
	ev.WritesTo(&w.Writer)
	w.EncodeFields()
	if len(ev.Root.Ops) > 0 {
		w.args = activation.EncodeArgs(w.args, &w.encoder, ev.Root.Ops)
		if ev.sys.across != nil {
			w.held, _ = activation.HoldCallbacks(w.held, ev.Root.Ops, 0, w.d.nextSeq)
		}
	}
	if ev.isAwaited() && !ev.Root.GoesOn() && !ev.tailed() {
		w.result = codec.AppendResult(w.result, &w.encoder, ev.Args)
	}
	return nil
}

// isAwaited reports whether a request, of any store, gets the result of the event or of the chain which it ends.
func (ev *Event) isAwaited() bool {
	return ev.requested() != nil || ev.chain != nil && ev.chain.isOwed()
}
