package exec

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// lettersIn returns the dead letters in a view. An event has one at most, and no row in the outbox beside.
func lettersIn(view store.Reader) (map[event.EventID]bool, error) {
	list, err := row.DeadLetters(view, 4)
	if err != nil {
		return nil, err
	}
	letters := map[event.EventID]bool{}
	for _, l := range list {
		if letters[l.Event] {
			return nil, fmt.Errorf("event %v is a dead letter twice", l.Event)
		}
		letters[l.Event] = true
	}
	for p := range event.PartitionID(4) {
		err := row.Section(view, p, store.Outbox, row.OutboxKeyMin, func(_, _, _, payload []byte) error {
			e, err := row.ReadSubEvent(payload)
			if id := e.Parent.Child(e.Index); err == nil && letters[id] {
				err = fmt.Errorf("event %v is a dead letter, and waits to run", id)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return letters, nil
}

// buried compares the dead letters that a crash has left with the sub-events of the run: each that has failed by then has
// one, and no other.
func (c *crashes) buried(rec *recorder, upTo int64) error {
	for _, t := range rec.sorted() {
		if t.Origin.Kind != trace.Sub {
			continue
		}
		switch failed := t.Err != nil && t.Order <= upTo; {
		case failed && !c.letters[t.ID] && len(c.letters) < outbox.DeadLettersMax:
			return fmt.Errorf("sub-event %v (order %d, %v) has failed, and is no dead letter: %w", t.ID, t.Order, t.Method, t.Err)
		case !failed && c.letters[t.ID]:
			return fmt.Errorf("sub-event %v (order %d, %v, %v) is a dead letter, and has not failed up to %d", t.ID, t.Order, t.Method, t.Err, upTo)
		}
		if t.Err != nil && t.Order <= upTo {
			c.buriedN++
		}
	}
	return nil
}
