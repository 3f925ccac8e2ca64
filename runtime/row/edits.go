package row

import (
	"bytes"
	"maps"
	"slices"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Edits is a store.Batch that is never applied: Over shows a view with its changes.
type Edits struct {
	rows   map[string][]byte // nil: deleted
	ranges []keyRange        // deleted, before any of rows was set
}

// NewEdits returns edits that change nothing yet.
func NewEdits() *Edits { return &Edits{rows: map[string][]byte{}} }

type keyRange struct{ from, to string }

func (r keyRange) has(key string) bool { return r.from <= key && key < r.to }

// Set implements store.Batch.
func (b *Edits) Set(key, row []byte) { b.rows[string(key)] = bytes.Clone(row) }

// Delete implements store.Batch.
func (b *Edits) Delete(key []byte) { b.rows[string(key)] = nil }

// DeleteRange implements store.Batch.
func (b *Edits) DeleteRange(from, to []byte) {
	r := keyRange{string(from), string(to)}
	maps.DeleteFunc(b.rows, func(key string, _ []byte) bool { return r.has(key) })
	b.ranges = append(b.ranges, r)
}

// Size implements store.Batch; it is 0, as edits are never written.
func (b *Edits) Size() int { return 0 }

// Discard implements store.Batch.
func (b *Edits) Discard() {}

// Over emits the rows of a range of the view with the changes, in the order of their keys.
func (b *Edits) Over(view store.Reader, from, to []byte, emit func(key, row []byte) error) error {
	keys := slices.Sorted(maps.Keys(b.rows))
	next := func() error {
		key := keys[0]
		keys = keys[1:]
		if row := b.rows[key]; row != nil {
			return emit([]byte(key), row)
		}
		return nil
	}
	err := Each(view, from, to, func(key, row, _ []byte) error {
		for len(keys) > 0 && keys[0] < string(key) {
			if err := next(); err != nil {
				return err
			}
		}
		switch {
		case len(keys) > 0 && keys[0] == string(key):
			return next()
		case slices.ContainsFunc(b.ranges, func(r keyRange) bool { return r.has(string(key)) }):
			return nil
		}
		return emit(key, row)
	})
	for err == nil && len(keys) > 0 {
		err = next()
	}
	return err
}
