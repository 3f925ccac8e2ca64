package value

import "maps"

// mapUndo takes back one write to an entry.
type mapUndo[K comparable, V any] struct {
	body *mapBody[K, V]
	k    K
	old  V
	had  bool
}

// Undo implements Undo.
func (u *mapUndo[K, V]) Undo() {
	b := u.body
	n := len(b.entries)
	if u.had {
		b.entries[u.k] = u.old
	} else {
		delete(b.entries, u.k)
	}
	if len(b.entries) != n {
		b.keys.Store(nil)
	}
}

// mapContent takes back all that was done to a body since entries was its content.
type mapContent[K comparable, V any] struct {
	body    *mapBody[K, V]
	entries map[K]V
	keys    *vectorBody[K]
}

// Undo implements Undo.
func (u *mapContent[K, V]) Undo() {
	u.body.entries = u.entries
	u.body.keys.Store(u.keys)
}

// Sole reports whether m has a body that nobody else sees.
func (m Map[K, V]) Sole() bool { return m.body != nil && !m.body.shared.Load() }

// Own gives m a body of its own, which log need not restore: who called Own will restore
// m itself.
func (m *Map[K, V]) Own(log uint64) {
	b := m.own()
	b.log, b.whole = log, true
}

// watch prepares the body for records of log.
func (b *mapBody[K, V]) watch(log uint64) {
	if b.log != log {
		b.log, b.whole, b.notes = log, false, 0
	}
}

// Free reports whether log need not restore any entry. The map must be Sole, as for all
// that follows.
func (m *Map[K, V]) Free(log uint64) bool {
	m.body.watch(log)
	return m.body.whole
}

// Noted reports whether u, one of the last records of a log, restores the entry of k.
func (m *Map[K, V]) Noted(u Undo, k K) bool {
	x, ok := u.(*mapUndo[K, V])
	return ok && x.body == m.body && x.k == k
}

// Note returns what log, for which the map is not Free, needs before the entry of k is
// written or removed.
func (m *Map[K, V]) Note(log uint64, k K) Undo {
	b := m.body
	b.watch(log)
	if tooMany(b.notes, len(b.entries)) {
		b.whole = true
		return &mapContent[K, V]{b, maps.Clone(b.entries), b.keys.Load()}
	}
	b.notes++
	old, had := b.entries[k]
	return &mapUndo[K, V]{b, k, old, had}
}

// Empty removes all entries and returns what log needs for that, nil for nothing.
func (m *Map[K, V]) Empty(log uint64) Undo {
	b := m.body
	b.watch(log)
	was := &mapContent[K, V]{b, b.entries, b.keys.Load()}
	b.entries = map[K]V{}
	b.keys.Store(nil)
	if b.whole {
		return nil
	}
	b.whole = true
	return was
}
