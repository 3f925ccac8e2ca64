package value

import (
	"maps"
	"unsafe"
)

// mapUndo takes back one write to an entry.
type mapUndo[K comparable, V any] struct {
	_    noComparison
	body *mapBody[K, V]
	k    K
	old  V
	had  bool
	// known: the body need not ask a source for k.
	known bool
}

// Undo implements Undo.
func (u *mapUndo[K, V]) Undo() {
	b := u.body
	takeNear(b)
	_, has := b.entries[u.k]
	if b.far.reads() {
		b.far.restore(u.k, has, u.had, u.known)
	}
	if u.had && (u.known || !b.far.reads()) {
		b.entries[u.k] = u.old
	} else {
		delete(b.entries, u.k)
	}
	if has != u.had {
		b.keys.set(nil)
	}
}

// mapContent takes back all that was done to a body since entries was its content.
type mapContent[K comparable, V any] struct {
	_       noComparison
	body    *mapBody[K, V]
	entries map[K]V
	keys    unsafe.Pointer
	far     *farMap
}

// Undo implements Undo.
func (u *mapContent[K, V]) Undo() {
	u.body.entries, u.body.far = u.entries, u.far
	u.body.keys.set(u.keys)
	if u.far.reads() && u.body.mark.shared.Load() { // when it was in memory
		u.far.at.watched.Store(true)
	}
}

// SoleMap reports whether m has a body that no other container refers to.
func SoleMap[K comparable, V any](m Map[K, V]) bool { return m.body != nil && m.body.mark.sole() }

// OwnMap gives m a body of its own, which log need not restore: the caller will restore m
// itself.
func OwnMap[K comparable, V any](m *Map[K, V], log uint64) {
	old := m.body
	b := ownMap(m)
	if old == nil || old.far == nil {
		b.mark.own(log)
		return
	}
	// What the log says is what differs from the rows.
	if b != old {
		b.far.by = differs(old.far.by, home(m))
	}
	b.mark.watch(log)
}

// FreeEntry reports whether log need not restore any entry. The map must be sole, as for all
// that follows.
func FreeEntry[K comparable, V any](m *Map[K, V], log uint64) bool {
	m.body.mark.watch(log)
	return m.body.mark.free(0)
}

// NotedEntry reports whether u, one of the last records of a log, restores the entry of k.
func NotedEntry[K comparable, V any](m *Map[K, V], u Undo, k K) bool {
	x, ok := u.(*mapUndo[K, V])
	return ok && x.body == m.body && x.k == k
}

// NoteEntry returns what log, for which the map is not free, needs before the entry of k is
// written or removed.
func NoteEntry[K comparable, V any](m *Map[K, V], log uint64, k K) Undo {
	b := m.body
	b.mark.watch(log)
	if tooMany(b.mark.notes, b.far.count(len(b.entries))) {
		b.mark.base = 0
		return &mapContent[K, V]{body: b, entries: maps.Clone(b.entries), keys: b.keys.get(), far: b.far.keep()}
	}
	b.mark.notes++
	u := &mapUndo[K, V]{body: b, k: k}
	u.old, u.had = b.entries[k]
	u.known = u.had || !b.far.reads() || b.far.hides(k)
	if !u.known { // the write that follows need not ask again
		if u.old, u.had = farFind(b, k); u.had {
			b.entries[k] = u.old
		} else {
			b.far.hide(k)
		}
	}
	return u
}

// PutEntry gives k the value v in a map that is sole.
func PutEntry[K comparable, V any](m *Map[K, V], k K, v V) {
	b := m.body
	had := b.far.reads() && m.Has(k)
	if takeNear(b); b.far.reads() {
		if !had {
			b.far.added(k)
		}
		b.entries[k] = v
		return
	}
	n := len(b.entries)
	b.entries[k] = v
	if len(b.entries) != n {
		b.keys.set(nil)
	}
}

// EmptyMap removes all entries and returns what log needs for that, nil for nothing.
func EmptyMap[K comparable, V any](m *Map[K, V], log uint64) Undo {
	b := m.body
	b.mark.watch(log)
	was := &mapContent[K, V]{body: b, entries: b.entries, keys: b.keys.get(), far: b.far}
	b.entries, b.far = map[K]V{}, nil
	b.keys.set(nil)
	if b.mark.free(0) {
		return nil
	}
	b.mark.base = 0
	return was
}
