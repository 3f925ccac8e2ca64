package state

import (
	"errors"
	"maps"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// An actor counts that another store's event has prepared, as one that has a header does: it is there once that has committed.
func TestActorsInDoubtAreCounted(t *testing.T) {
	s, err := store.Open(memengine.New(), store.Options{Program: "p"})
	if err != nil {
		t.Fatal(err)
	}
	b := s.NewBatch()
	id := event.ActorID{Birth: 1, Serial: 7}
	header := row.Header{Layout: 3, Unborn: true, Top: true}
	b.Set(header.Encode(id))
	of := event.EventID{Origin: 5, Seq: 6}
	set := func(key, payload []byte) { b.Set(key, store.AppendRow(nil, key, payload)) }
	prepared := row.Prepared{Fresh: []row.Made{{ID: id, Layout: 4}, {ID: id, Layout: 3}}}
	set(row.AppendPreparedKey(nil, 0, 2, of, 1), prepared.Append(nil))
	set(row.AppendDecisionKey(nil, 0, of, 1), row.AppendDecision(nil, 9, []event.StoreID{2}))
	s.Append(b)
	if got, err := CountActors(s); err != nil || !maps.Equal(got, map[uint32]int{3: 2, 4: 1}) {
		t.Errorf("there are %v, %v", got, err)
	}
	if err := errors.Join(s.Err(), s.Close()); err != nil {
		t.Error(err)
	}
}
