package outbox

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A store keeps the newest dead letters, counts those that it has dropped, and knows all of that when it is opened again.
func TestTheNewestDeadLettersAreKept(t *testing.T) {
	st, err := store.Open(replicatest.New(), store.Options{Program: "test", Log: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	var ds DeadLetters
	w := row.Writer{Store: st}
	add := func(seq uint64) {
		l := &event.DeadLetter{Seq: seq, Event: event.EventID{Seq: seq}, Partition: event.PartitionID(seq % 3), Method: "put", Params: []string{"a", "b"}, Args: []byte{1, 2}, ArgsSize: 2, Path: []string{"x"}}
		ds.Write(&w, l)
		st.Append(w.Take())
		ds.Written(l)
	}
	stored := func() (list []uint64, last event.DeadLetter) {
		letters, err := row.DeadLetters(st, st.Partitions())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range letters {
			list, last = append(list, l.Seq), l
		}
		return list, last
	}
	for seq := range uint64(DeadLettersMax + 7) {
		add(seq + 1)
	}
	list, last := stored()
	if len(list) != DeadLettersMax || list[0] != 8 || !slices.IsSorted(list) || last.Dropped != 7 {
		t.Errorf("%d letters from %d on, of which the last knows of %d dropped", len(list), list[0], last.Dropped)
	}
	if last.Method != "put" || !slices.Equal(last.Params, []string{"a", "b"}) || string(last.Args) != "\x01\x02" || !slices.Equal(last.Path, []string{"x"}) {
		t.Errorf("the last letter is %+v", last)
	}
	ds = DeadLetters{}
	if err := ds.Recover(st); err != nil {
		t.Fatal(err)
	}
	add(DeadLettersMax + 8)
	list, last = stored()
	if kept, dropped := ds.Count(); kept != DeadLettersMax || dropped != 1 || len(list) != kept || list[0] != 9 || last.Dropped != 8 {
		t.Errorf("after an opening: %d letters of %d, %d dropped, %d in all", len(list), kept, dropped, last.Dropped)
	}
	forget := []event.DeadLetter{{Seq: 9, Partition: 0}, last, {Seq: 8, Partition: 2}}
	if n := ds.Forget(&w, forget); n != 2 {
		t.Errorf("%d letters are forgotten", n)
	}
	st.Append(w.Take())
	if list, _ = stored(); len(list) != DeadLettersMax-2 || list[0] != 10 {
		t.Errorf("then there are %d, from %d on", len(list), list[0])
	}
}
