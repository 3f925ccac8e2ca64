package pebbledb

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/runtime/store"
)

// batch is a store.Batch. An error of a change is kept until Apply.
type batch struct {
	b    *pebble.Batch
	keys keys // that it changes
	err  error
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// NewBatch implements store.Engine.
func (d *DB) NewBatch() store.Batch {
	b := batches.Get().(*batch)
	b.b = d.db.NewBatch()
	return b
}

// Set implements store.Batch.
func (b *batch) Set(key, value []byte) {
	b.keys.add(key)
	b.note(b.b.Set(key, value, nil))
}

// Delete implements store.Batch.
func (b *batch) Delete(key []byte) {
	b.keys.add(key)
	b.note(b.b.Delete(key, nil))
}

// DeleteRange implements store.Batch.
func (b *batch) DeleteRange(from, to []byte) {
	b.keys.ranges = true
	b.note(b.b.DeleteRange(from, to, nil))
}

func (b *batch) note(err error) {
	if err != nil && b.err == nil {
		b.err = err
	}
}

// Size implements store.Batch.
func (b *batch) Size() int { return b.b.Len() }

// Discard implements store.Batch.
func (b *batch) Discard() { b.release() }

// handOver returns what the batch consists of, and gives back the rest.
func (b *batch) handOver() *pebble.Batch {
	inner := b.b
	b.b, b.err = nil, nil
	b.keys.clear()
	batches.Put(b)
	return inner
}

// release gives the batch back for reuse.
func (b *batch) release() {
	b.handOver().Close() // fails only for a batch that is being applied
}
