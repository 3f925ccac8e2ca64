package exec

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/table"
)

// The functions of this file write to a table in a field of an actor; see container.go.

// noteRow notes the row of a key before it is written or removed.
func noteRow(cx *Cx, self *order.Self, field uint16, t *table.Body, key string) {
	if t.Free(cx.logNumber()) {
		return
	}
	for n := len(cx.log) - 1; n >= 0 && n >= len(cx.log)-lookBack; n-- {
		if t.Noted(cx.log[n].undoer(), key) {
			return
		}
	}
	cx.logUndo(self, field, t.Note(cx.logNumber(), key))
}

// TableInsert is t.insert(v): it faults when there is a row of its key.
func TableInsert[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	key := table.NewKey(*t, &v)
	noteRow(cx, self, field, t.Body(), key)
	table.PutAt(*t, key, v)
}

// TableInsertOwned is TableInsert where rows hold plain actor references.
func TableInsertOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	table.NewKey(*t, &v)
	cx.moveEdges(self, nil, any(v))
	TableInsert(cx, self, field, t, v)
}

// TablePut is t.put(v).
func TablePut[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	key := table.KeyOf(*t, &v)
	noteRow(cx, self, field, t.Body(), key)
	table.PutAt(*t, key, v)
}

// TablePutOwned is TablePut where rows hold plain actor references.
func TablePutOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	if old, had := t.Find(table.RowKey(*t, &v)); had {
		cx.moveEdges(self, any(old), any(v))
	} else {
		cx.moveEdges(self, nil, any(v))
	}
	TablePut(cx, self, field, t, v)
}

// TableUpdate applies f to the row of key k in place, or faults when there is none, or f gives
// it another key. What f writes in it needs no record, apart from the containers that it
// refers to.
func TableUpdate[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], k K, f func(*T)) {
	key := table.MustKey(*t, k)
	noteRow(cx, self, field, t.Body(), key)
	table.UpdateAt(*t, key, f)
}

// TableRemove is t.remove(k); it reports whether there was a row.
func TableRemove[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], k K) bool {
	key, ok := table.Key(*t, k)
	if ok {
		noteRow(cx, self, field, t.Body(), key)
		t.Body().RemoveAt(key)
	}
	return ok
}

// TableRemoveOwned is TableRemove where rows hold plain actor references.
func TableRemoveOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], k K) bool {
	if old, had := t.Find(k); had {
		cx.moveEdges(self, any(old), nil)
	}
	return TableRemove(cx, self, field, t, k)
}

// TableClear is t.clear().
func TableClear[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T]) {
	if t.Size() > 0 {
		cx.logUndo(self, field, t.Body().Empty(cx.logNumber()))
	}
}

// TableClearOwned is TableClear where rows hold plain actor references.
func TableClearOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T]) {
	cx.moveEdges(self, any(*t), nil)
	TableClear(cx, self, field, t)
}
