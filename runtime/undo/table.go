package undo

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/table"
)

// noteRow notes the row of a key before it is written or removed.
func noteRow(l *Log, self *order.Self, field uint16, t *table.Body, key string) {
	if t.Free(l.id()) {
		return
	}
	for n := len(l.entries) - 1; n >= 0 && n >= len(l.entries)-lookBack; n-- {
		if t.Noted(l.entries[n].Record(), key) {
			return
		}
	}
	l.record(self, field, t.Note(l.id(), key))
}

// TableInsert is t.insert(v): it faults when there is a row of its key.
func TableInsert[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	key := table.NewKey(*t, &v)
	noteRow(l, self, field, t.Body(), key)
	table.PutAt(*t, key, v)
}

// TablePut is t.put(v).
func TablePut[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	key := table.KeyOf(*t, &v)
	noteRow(l, self, field, t.Body(), key)
	table.PutAt(*t, key, v)
}

// TableUpdate applies f to the row of key k in place, or faults when there is none, or f gives
// it another key. What f writes in it needs no record, apart from the containers that it
// refers to.
func TableUpdate[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T], k K, f func(*T)) {
	key := table.MustKey(*t, k)
	noteRow(l, self, field, t.Body(), key)
	table.UpdateAt(*t, key, f)
}

// TableRemove is t.remove(k); it reports whether there was a row.
func TableRemove[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T], k K) bool {
	key, ok := table.Key(*t, k)
	if ok {
		noteRow(l, self, field, t.Body(), key)
		t.Body().RemoveAt(key)
	}
	return ok
}

// TableClear is t.clear().
func TableClear[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T]) {
	if t.Size() > 0 {
		l.record(self, field, t.Body().Empty(l.id()))
	}
}
