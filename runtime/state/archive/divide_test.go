package archive

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A division ends with the error of what takes its rows, at whichever row, as that is: the store that is read has no damage then. A row that cannot be
// read is damage.
func TestADivisionThatIsCutOffSaysWhy(t *testing.T) {
	a, b, c := event.SerialActor(0, 1), event.SerialActor(1, 2), event.SerialActor(0, 3)
	top, shared := row.Header{Parent: event.ActorID{Birth: a.Birth}}, row.Header{Top: true}
	step := row.AppendSubEvent(nil, &event.SubEvent{})
	list := [][2][]byte{
		{store.MetaKey("partitions"), binary.AppendUvarint(nil, 2)},
		{store.HeaderKey(a), top.Append(nil)},
		{store.HeaderKey(b), top.Append(nil)},
		{store.HeaderKey(c), shared.Append(nil)},
		{row.AppendEdgeKey(nil, a, c), row.AppendEdge(nil, 1)},
		{row.AppendEdgeKey(nil, b, c), row.AppendEdge(nil, 1)},
		{row.AppendOutboxKey(nil, a, c, 1), step},
		{row.AppendContinuationKey(nil, a, 1), step},
		{row.AppendNameKey(nil, "C", "c", 2), nil},
	}
	rows := func(f func(key, row []byte) error) error {
		for _, r := range list {
			if err := f(r[0], store.AppendRow(nil, r[0], r[1])); err != nil {
				return err
			}
		}
		return nil
	}
	from, stops := filled(t, rows), errors.New("it is told to end")
	for id := range event.StoreID(2) {
		divided := Divided(from, id, func(p event.PartitionID) event.StoreID { return event.StoreID(p) }, func(int) {})
		left := 0
		count := func(_, _ []byte) error { left++; return nil }
		if err := divided(count); err != nil || left < 4 {
			t.Fatalf("store %d: %d rows, %v", id, left, err)
		}
		for ; left > 0; left-- {
			n := 0
			err := divided(func(_, _ []byte) error {
				if n++; n == left {
					return stops
				}
				return nil
			})
			if err != stops {
				t.Errorf("store %d, cut off at row %d: %v", id, left, err)
			}
		}
	}
	for i, r := range list {
		if _, section, ok := store.SectionOf(r[0]); !ok || section == store.Names {
			continue
		}
		list[i][1] = []byte{0xff}
		err := Divided(filled(t, rows), 0, func(event.PartitionID) event.StoreID { return 0 }, func(int) {})(func(_, _ []byte) error { return nil })
		if bad := new(store.CorruptError); !errors.As(err, &bad) || string(bad.Key) != string(r[0]) {
			t.Errorf("row %d cannot be read: %v", i, err)
		}
		list[i][1] = r[1]
	}
}
