package pebbledb

import (
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/runtime/store"
)

// source is what a DB and its snapshots have in common.
type source interface {
	Get(key []byte) ([]byte, io.Closer, error)
	NewIter(*pebble.IterOptions) (*pebble.Iterator, error)
}

// Get implements store.Reader.
func (d *DB) Get(key, buf []byte) (value []byte, ok bool, err error) {
	if d.group.has(key) {
		if err := d.settle(); err != nil {
			return buf, false, err
		}
	}
	return d.get(d.db, key, buf)
}

// Scan implements store.Reader.
func (d *DB) Scan(from, to []byte) store.Iterator {
	if d.group.hasAny(from, to) {
		if err := d.settle(); err != nil {
			return &iterator{d: d, err: err}
		}
	}
	return d.scan(d.db, from, to)
}

// Snapshot implements store.Engine.
func (d *DB) Snapshot() store.Snapshot {
	if err := d.settle(); err != nil {
		return failedSnapshot{d, err}
	}
	return &snapshot{d, d.db.NewSnapshot()}
}

func (d *DB) get(s source, key, buf []byte) (value []byte, ok bool, err error) {
	defer d.guard(&err)
	found, closer, err := s.Get(key)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return buf, false, nil
	case err != nil:
		return buf, false, d.fail(err)
	}
	value = append(buf, found...)
	if err := closer.Close(); err != nil {
		return buf, false, d.fail(err)
	}
	return value, true, nil
}

type snapshot struct {
	d *DB
	s *pebble.Snapshot
}

func (s *snapshot) Get(key, buf []byte) (value []byte, ok bool, err error) {
	return s.d.get(s.s, key, buf)
}

func (s *snapshot) Scan(from, to []byte) store.Iterator { return s.d.scan(s.s, from, to) }

func (s *snapshot) Close() error { return s.s.Close() }

// failedSnapshot is one of a store of which pebble has not taken everything, and never will.
type failedSnapshot struct {
	d   *DB
	err error
}

func (s failedSnapshot) Get(_, buf []byte) (value []byte, ok bool, err error) {
	return buf, false, s.err
}

func (s failedSnapshot) Scan(_, _ []byte) store.Iterator { return &iterator{d: s.d, err: s.err} }

func (s failedSnapshot) Close() error { return nil }

// iterator is a store.Iterator; it is nil when there was an error at the start.
type iterator struct {
	d       *DB
	it      *pebble.Iterator
	started bool
	value   []byte
	err     error
}

func (d *DB) scan(s source, from, to []byte) store.Iterator {
	r := &iterator{d: d}
	defer d.guard(&r.err)
	if len(from) == 0 {
		from = nil // pebble's way to say that there is no bound
	}
	it, err := s.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		r.err = d.fail(err)
		return r
	}
	r.it = it
	return r
}

func (r *iterator) Next() bool { return r.move((*pebble.Iterator).First, (*pebble.Iterator).Next) }

func (r *iterator) Prev() bool { return r.move((*pebble.Iterator).Last, (*pebble.Iterator).Prev) }

// move goes to the first key, or on from the present one, and reads the value.
func (r *iterator) move(first, on func(*pebble.Iterator) bool) (ok bool) {
	if r.err != nil {
		return false
	}
	defer r.d.guard(&r.err)
	if r.started {
		ok = on(r.it)
	} else {
		r.started, ok = true, first(r.it)
	}
	if !ok {
		return false
	}
	// The value is read here, and not in Value: the caller of that would take an unreadable row for a
	// damaged one.
	value, err := r.it.ValueAndErr()
	if err != nil {
		r.err = r.d.fail(err)
		return false
	}
	r.value = value
	return true
}

func (r *iterator) Key() []byte { return r.it.Key() }

func (r *iterator) Value() []byte { return r.value }

func (r *iterator) Close() (err error) {
	if r.it == nil {
		return r.err
	}
	defer r.d.guard(&err)
	err = r.it.Close()
	r.it = nil
	if err != nil && r.err == nil {
		r.err = r.d.fail(err)
	}
	return r.err
}
