package table

import (
	"iter"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/value"
)

// The functions of this file know the types of keys and rows.

// Size returns the number of rows.
func (t Table[K, T]) Size() int64 { return t.body.Size() }

// lookup returns the value of the row of key k, nil if there is none.
func lookup[K comparable, T any](t Table[K, T], k K) *T {
	r := t.body.lookup(func(e *codec.Encoder) { shapeOf(t).PutKey(e, k) })
	if r == nil {
		return nil
	}
	return r.val.(*T)
}

// Has reports whether there is a row of key k.
func (t Table[K, T]) Has(k K) bool { return lookup(t, k) != nil }

// Find returns the row of key k, and whether there is one.
func (t Table[K, T]) Find(k K) (row T, ok bool) {
	if v := lookup(t, k); v != nil {
		return *v, true
	}
	return row, false
}

// At returns the row of key k, or faults when there is none.
func (t Table[K, T]) At(k K) T {
	v := lookup(t, k)
	if v == nil {
		failMissing(k)
	}
	return *v
}

// Get returns the row of key k, or null.
func Get[K comparable, T any](t Table[K, T], k K) value.Opt[T] { return value.SomeIf(t.Find(k)) }

// Insert adds a row, or faults when there is one of its key.
func Insert[K comparable, T any](t Table[K, T], v T) { PutAt(t, NewKey(t, &v), v) }

// NewKey returns the bytes of the key of a row that is to be inserted, or faults when there
// is a row of that key.
func NewKey[K comparable, T any](t Table[K, T], v *T) string {
	k := RowKey(t, v)
	key, ok := Key(t, k)
	if ok {
		value.Fail(MsgDuplicate + value.KeyText(k))
	}
	return key
}

// KeyOf returns the bytes of the key of a row.
func KeyOf[K comparable, T any](t Table[K, T], v *T) string { return t.body.keyOf(v) }

// RowKey returns the key of a row.
func RowKey[K comparable, T any](t Table[K, T], v *T) K { return shapeOf(t).Key(v) }

// Key returns the bytes of a key, and whether there is a row of it.
func Key[K comparable, T any](t Table[K, T], k K) (bytes string, ok bool) {
	bytes = key(func(e *codec.Encoder) { shapeOf(t).PutKey(e, k) })
	return bytes, t.body.find(bytes) != nil
}

// MustKey returns the bytes of a key, or faults when there is no row of it.
func MustKey[K comparable, T any](t Table[K, T], k K) string {
	key, ok := Key(t, k)
	if !ok {
		failMissing(k)
	}
	return key
}

// Put adds a row or replaces the one of its key.
func Put[K comparable, T any](t Table[K, T], v T) { PutAt(t, KeyOf(t, &v), v) }

// PutAt is Put for a row whose key has these bytes.
func PutAt[K comparable, T any](t Table[K, T], key string, v T) { t.body.put(key, newRow(v)) }

// Remove takes the row of key k out, and reports whether there was one.
func Remove[K comparable, T any](t Table[K, T], k K) bool {
	key, ok := Key(t, k)
	if ok {
		t.body.RemoveAt(key)
	}
	return ok
}

// Update applies f to the row of key k in place. It faults when there is none, or when f
// gives the row another key. A path such as flights[k].price is written with it.
func Update[K comparable, T any](t Table[K, T], k K, f func(*T)) { UpdateAt(t, MustKey(t, k), f) }

// UpdateAt is Update for a row that is there.
func UpdateAt[K comparable, T any](t Table[K, T], key string, f func(*T)) {
	r, copied := t.body.writable(key)
	v := r.val.(*T)
	if copied {
		value.MarkShared(v)
	}
	f(v)
	t.body.sameKey(v, key)
	t.body.list(key, r, r.entries)
}

// Snapshot returns the table as it is now, for reading, in constant time.
func (t Table[K, T]) Snapshot() Table[K, T] { return Table[K, T]{t.body.snapshot()} }

// Rows yields the rows of a query one by one, in its order. The table must not be written
// meanwhile; see Snapshot.
func (t Table[K, T]) Rows(q Query) iter.Seq[T] {
	return func(yield func(T) bool) {
		t.body.scan(q, func(r *row) bool { return yield(*r.val.(*T)) })
	}
}

// All yields all rows one by one, in the order of their keys. The table must not be written
// meanwhile; see Snapshot.
func (t Table[K, T]) All() iter.Seq[T] { return t.Rows(AllRows) }

// Select returns the rows of a query.
func (t Table[K, T]) Select(q Query) value.Vector[T] {
	var list []T
	t.body.scan(q, func(r *row) bool {
		v := r.val.(*T)
		value.MarkShared(v)
		list = append(list, *v)
		return true
	})
	return value.VectorOf(list...)
}

// Values returns all rows in the order of their keys.
func (t Table[K, T]) Values() value.Vector[T] { return t.Select(AllRows) }

// Keys returns all keys in their order.
func (t Table[K, T]) Keys() value.Vector[K] {
	list := make([]K, 0, t.body.count)
	t.body.scan(AllRows, func(r *row) bool {
		list = append(list, shapeOf(t).Key(r.val.(*T)))
		return true
	})
	return value.VectorOf(list...)
}

// EachElem calls f for every row, in the order of their keys.
func (t Table[K, T]) EachElem(f func(any)) {
	t.body.scan(AllRows, func(r *row) bool {
		f(*r.val.(*T))
		return true
	})
}

// Save writes a field that is a table. It is what SaveField of generated classes calls.
func Save[K comparable, T any](w *image.Writer, t *Table[K, T]) { t.body.save(w) }

// Load reads a field that is a table into one that is empty. It is what LoadFields calls.
func Load[K comparable, T any](r *image.Reader, field int, t *Table[K, T]) { t.body.load(r, field) }
