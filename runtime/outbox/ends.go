package outbox

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Ends see to it that what waits for a chain gets its end, once, which is in another store. The store that has a request keeps a row while its chain is
// away, from the batch of the step on with which it goes; a client has none. The batch of the last step has a row of how the chain has ended, in the store of
// that step, which tells it until the other store has made the outcome of it, durably, or given it to the client.
//
// Invariant: the row of a chain that is away is replaced by the outcome of its request in one batch. So what is told again finds that it is known.
type Ends struct {
	Store     *store.Store
	Append    func(store.Batch) store.Position // to the journal
	Partition event.PartitionID                // has the rows
}

func (e *Ends) key(kind row.InDoubtKind, first event.EventID) []byte {
	return row.AppendChainKey(nil, kind, e.Partition, first)
}

// Leave writes that the chain of a request goes on in another store.
func (e *Ends) Leave(w *row.Writer, first event.EventID, r *Request) {
	w.Begin()
	w.Key, w.Row = e.key(row.KindAway, first), row.AppendRequest(w.Row, &r.Request)
	w.Set()
}

// Conclude gives the request of a chain that is away its outcome. It returns before that is durable.
func (e *Ends) Conclude(first event.EventID, r *Request, o *event.Outcome) store.Position {
	w := row.Writer{Store: e.Store}
	r.WriteOutcome(&w, o)
	w.Key = e.key(row.KindAway, first)
	w.Delete()
	return e.Append(w.Take())
}

// Write writes how a chain has ended that another store waits for.
func (e *Ends) Write(w *row.Writer, c event.Chain, o *event.Outcome) {
	w.Begin()
	w.Key, w.Row = e.key(row.KindEnded, c.First), row.AppendEnded(w.Row, c.Store, o)
	w.Set()
}

// Tell has tell say how a chain has ended, as its row has it, to the store that waits for it. tell waits until that store has taken it, and returns
// false if it does not learn of that.
func (e *Ends) Tell(first event.EventID, tell func(event.StoreID, *event.Outcome) bool) {
	key := e.key(row.KindEnded, first)
	value, found, err := e.Store.Get(key, nil)
	if err != nil {
		e.Store.Fail(err)
		return
	}
	assert.That(found, "outbox: the end of chain %v is told, and is not in the store", first)
	to, o, err := row.ReadEnded(key, value)
	if err != nil {
		e.Store.Fail(err)
		return
	}
	if tell(to, &o) {
		w := row.Writer{Store: e.Store}
		w.Key = key
		w.Delete()
		e.Append(w.Take())
	}
}
