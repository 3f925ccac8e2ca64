package runtime

import (
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// Table is the value table<T>; TableShape describes its rows, Query is a range of them, and
// Columns writes values of columns. Package table documents them.
type (
	Table[K comparable, T any]      = table.Table[K, T]
	TableShape[K comparable, T any] = table.Shape[K, T]
	Query                           = table.Query
	Columns                         = table.Columns
)

// ByKey is the number of the key among the numbers of indexes.
const ByKey = table.ByKey

// AllRows asks for all rows of a table.
var AllRows = table.AllRows

// NewTable returns an empty table.
func NewTable[K comparable, T any](shape *TableShape[K, T]) Table[K, T] { return table.New(shape) }

// Equal asks for the rows whose first columns are as equal writes them.
func Equal(index int, equal Columns) Query { return table.Equal(index, equal) }

// Range asks for the rows whose first columns are as equal writes them, if equal is not nil, and whose next column
// is at least from and less than to. A nil from or to is no limit.
func Range(index int, equal, from, to Columns) Query { return table.Range(index, equal, from, to) }

// GetRow returns the row of key k, or null.
func GetRow[K comparable, T any](t Table[K, T], k K) Opt[T] { return table.Get(t, k) }

// InsertRow, PutRow, RemoveRow and ClearRows are t.insert(v), t.put(v), t.remove(k) and t.clear() of tables that need no
// undo.

// InsertRow faults when there is a row of the key of v.
func InsertRow[K comparable, T any](t *Table[K, T], v T) { table.Insert(*t, v) }

// PutRow adds or replaces a row.
func PutRow[K comparable, T any](t *Table[K, T], v T) { table.Put(*t, v) }

// RemoveRow reports whether there was a row.
func RemoveRow[K comparable, T any](t *Table[K, T], k K) bool { return table.Remove(*t, k) }

// ClearRows removes all rows.
func ClearRows[K comparable, T any](t *Table[K, T]) { t.Body().Clear() }

// UpdateRow applies f to the row of key k in place, or faults.
func UpdateRow[K comparable, T any](t Table[K, T], k K, f func(*T)) { table.Update(t, k, f) }

// SaveTable writes a field that is a table.
func SaveTable[K comparable, T any](w *Writer, t *Table[K, T]) { table.Save(w, t) }

// LoadTable reads a field that is a table.
func LoadTable[K comparable, T any](r *Reader, field int, t *Table[K, T]) { table.Load(r, field, t) }

// TableInsert is t.insert(v): it faults when there is a row of its key.
func TableInsert[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T], v T) {
	undo.TableInsert(cx.UndoLog(), self, field, t, v)
}

// TableInsertOwned is TableInsert where rows hold plain actor references.
func TableInsertOwned[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T], v T) {
	undo.TableInsertOwned(cx.UndoLog(), self, field, t, v)
}

// TablePut is t.put(v).
func TablePut[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T], v T) {
	undo.TablePut(cx.UndoLog(), self, field, t, v)
}

// TablePutOwned is TablePut where rows hold plain actor references.
func TablePutOwned[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T], v T) {
	undo.TablePutOwned(cx.UndoLog(), self, field, t, v)
}

// TableUpdate applies f to the row of key k in place, or faults.
func TableUpdate[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T], k K, f func(*T)) {
	undo.TableUpdate(cx.UndoLog(), self, field, t, k, f)
}

// TableRemove is t.remove(k); it reports whether there was a row.
func TableRemove[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T], k K) bool {
	return undo.TableRemove(cx.UndoLog(), self, field, t, k)
}

// TableRemoveOwned is TableRemove where rows hold plain actor references.
func TableRemoveOwned[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T], k K) bool {
	return undo.TableRemoveOwned(cx.UndoLog(), self, field, t, k)
}

// TableClear is t.clear().
func TableClear[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T]) {
	undo.TableClear(cx.UndoLog(), self, field, t)
}

// TableClearOwned is TableClear where rows hold plain actor references.
func TableClearOwned[K comparable, T any](cx *Cx, self *Self, field uint16, t *Table[K, T]) {
	undo.TableClearOwned(cx.UndoLog(), self, field, t)
}
