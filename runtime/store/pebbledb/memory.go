package pebbledb

import "github.com/aeon-lang/aeon/runtime/store"

var _ store.Sized = (*DB)(nil)

// MemoryBytes implements store.Sized: memtables and what has been read.
func (d *DB) MemoryBytes() int64 {
	if d.err() != nil {
		return 0
	}
	m := d.db.Metrics()
	return int64(m.MemTable.Size) + int64(m.MemTable.ZombieSize) + m.BlockCache.Size
}
