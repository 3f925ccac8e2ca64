package engine

import (
	"bytes"
	"slices"

	"github.com/aeon-lang/aeon/runtime/store"
)

// merge makes the changes of groups in a batch: of those of one key the last one, and in the order of keys. A state's engine takes a row of a batch in
// a third of the time if the one before it in the batch is its neighbour. If a change cannot be read, some may have been made.
func merge(groups []changes, b store.Batch) error {
	m := newLatest()
	defer m.release()
	for _, c := range groups {
		for len(c) > 0 {
			kind, key, value, rest, err := c.next()
			if err != nil {
				return err
			}
			if kind == kindRange {
				m.into(b)
				b.DeleteRange(key, value)
			} else {
				m.add(change{kind == kindDelete, key, value})
			}
			c = rest
		}
	}
	m.into(b)
	return nil
}

// into makes the changes in a batch, and forgets them.
func (l *latest) into(b store.Batch) {
	l.forgetPlaces()
	slices.SortFunc(l.list, func(a, b change) int { return bytes.Compare(a.key, b.key) })
	for _, c := range l.list {
		if c.deleted {
			b.Delete(c.key)
		} else {
			b.Set(c.key, c.value)
		}
	}
	clear(l.list)
	l.list = l.list[:0]
}
