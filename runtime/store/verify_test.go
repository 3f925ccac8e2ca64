package store_test

import (
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func TestVerifyNamesEveryDamagedRowAndReadsOn(t *testing.T) {
	e := memengine.New()
	b := e.NewBatch()
	put := func(key []byte, row []byte) { b.Set(key, row) }
	whole := func(key []byte, text string) { put(key, store.AppendRow(nil, key, []byte(text))) }
	first, second := store.HeaderKey(event.SerialActor(0, 1)), store.HeaderKey(event.SerialActor(7, 2))
	whole(store.MetaKey("a"), "meta")
	whole(first, "one")
	put(second, store.AppendRow(nil, first, []byte("misplaced")))
	put(store.AppendField(nil, event.SerialActor(7, 2), 3), nil)
	whole(store.AppendField(nil, event.SerialActor(7, 2), 4), "field")
	if err := e.Apply(b); err != nil {
		t.Fatal(err)
	}
	var rows, sections, damage []string
	err := store.Verify(e, func(key, payload []byte) {
		rows = append(rows, string(payload))
		if p, s, ok := store.SectionOf(key); ok {
			sections = append(sections, s.String())
			if s == store.Fields && p != 7 {
				t.Errorf("%s: partition %d", s, p)
			}
		}
	}, func(bad *store.CorruptError) { damage = append(damage, store.DescribeKey(bad.Key)) })
	if err != nil || !slices.Equal(rows, []string{"meta", "one", "field"}) || !slices.Equal(sections, []string{"actor", "field"}) {
		t.Errorf("rows %q of the sections %q, error %v", rows, sections, err)
	}
	if !slices.Equal(damage, []string{"actor of 7:2", "field 3 of actor 7:2"}) {
		t.Errorf("damage %q", damage)
	}
	rows = nil
	err = store.VerifySection(e, 7, store.Fields, func(_, payload []byte) { rows = append(rows, string(payload)) }, func(*store.CorruptError) { damage = nil })
	if err != nil || !slices.Equal(rows, []string{"field"}) || damage != nil {
		t.Errorf("section: rows %q, damage %q, error %v", rows, damage, err)
	}
}
