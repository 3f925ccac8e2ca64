package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// placed is an engine with an identity.
type placed struct{ *memengine.Engine }

func (placed) Identity() store.Identity { return store.Identity{Place: "/var/lib/shop"} }

// formerRows are those of a store of the former format that has one actor.
func formerRows(id event.ActorID) RowSource {
	h := row.Header{Parent: event.ActorID{Birth: id.Birth}}
	return func(f func(key, row []byte) error) error {
		for _, r := range [][2][]byte{
			{store.FormatKey(), []byte{store.UpgradableFormat}},
			{store.MetaKey("partitions"), binary.AppendUvarint(nil, 8)},
			{store.StartsKey(), []byte{4}},
			{formerKey(store.Headers, id.Serial), h.Append(nil)},
			{formerKey(store.Fields, id.Serial, uint16(1)), []byte("a value")},
		} {
			if err := f(r[0], store.AppendRow(nil, r[0], r[1])); err != nil {
				return err
			}
		}
		return nil
	}
}

// filled returns an engine with rows.
func filled(t *testing.T, rows RowSource) placed {
	t.Helper()
	e := placed{memengine.New()}
	b := e.NewBatch()
	err := rows(func(key, row []byte) error {
		b.Set(key, row)
		return nil
	})
	if err := errors.Join(err, e.Apply(b), e.Sync()); err != nil {
		t.Fatal(err)
	}
	return e
}

// all returns the rows of an engine.
func all(t *testing.T, r store.Reader) string {
	t.Helper()
	var text strings.Builder
	err := RowsOf(r, func(int) {})(func(key, row []byte) error {
		fmt.Fprintf(&text, "%x %x\n", key, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// An actor is not restored into a store of the former format, which would then have rows of both: the error names the directory and the remedy.
func TestNoActorIsRestoredIntoAStoreOfTheFormerFormat(t *testing.T) {
	id := event.SerialActor(3, 77)
	e := filled(t, formerRows(id))
	before := all(t, e)
	n, err := RestoreActor(e, id, formerRows(id).Upgraded())
	if older := new(store.OlderFormatError); !errors.As(err, &older) || older.Place != e.Identity().Place || !strings.Contains(err.Error(), "`aeond upgrade`") {
		t.Errorf("%d actors were restored, %v", n, err)
	}
	if all(t, e) != before {
		t.Error("the store has changed")
	}
	e = filled(t, formerRows(id).Upgraded())
	if n, err := RestoreActor(e, id, formerRows(id).Upgraded()); n != 1 || err != nil {
		t.Errorf("into a store of this format: %d actors were restored, %v", n, err)
	}
}

// What is more than a batch of an engine takes is refused, be it what comes back or what goes, and nothing changes.
func TestAnActorThatIsTooLargeIsNotRestored(t *testing.T) {
	id := event.SerialActor(3, 77)
	large := func(f func(key, row []byte) error) error {
		key := formerKey(store.Fields, id.Serial, uint16(2))
		return errors.Join(formerRows(id)(f), f(key, store.AppendRow(nil, key, make([]byte, 1000))))
	}
	unread := func(func(key, row []byte) error) error { return errors.New("the snapshot is read") }
	e := filled(t, formerRows(id).Upgraded())
	before := all(t, e)
	defer func(was int64) { actorBytesMax = was }(actorBytesMax)
	for name, c := range map[string]struct {
		max  int64
		rows RowSource
	}{"a row": {1000, large}, "what an actor has": {50, unread}} {
		actorBytesMax = c.max
		n, err := RestoreActor(e, id, c.rows.Upgraded())
		if tooLarge := new(TooLargeError); !errors.As(err, &tooLarge) || tooLarge.Actor != id || !strings.HasSuffix(err.Error(), "restore it to a new directory") {
			t.Errorf("%s: %d actors were restored, %v", name, n, err)
		}
		if all(t, e) != before {
			t.Errorf("%s: the store has changed", name)
		}
	}
	actorBytesMax = 2000
	if n, err := RestoreActor(e, id, RowSource(large).Upgraded()); n != 1 || err != nil || all(t, e) == before {
		t.Errorf("%d actors were restored, %v", n, err)
	}
}
