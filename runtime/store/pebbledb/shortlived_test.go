package pebbledb

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Rows that are deleted soon, as those of a log are, stay in memory: 16 MiB of them are in one memtable, and in no table.
func TestShortLivedRowsStayInMemory(t *testing.T) {
	if testing.Short() {
		return // one goroutine writes much
	}
	d, err := OpenFS(vfs.NewMem(), "d", store.EngineOptions{Program: "test", ShortLived: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	key := func(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte("log"), n) }
	value := make([]byte, 16<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(value) // it never fails, and cannot be made smaller
	const kept = 100
	n := uint64(0)
	write := func(bytes int) {
		for end := n + uint64(bytes/len(value)); n < end; n++ {
			b := d.NewBatch()
			b.Set(key(n), value)
			if n%kept == 0 && n > kept {
				b.DeleteRange(key(0), key(n-kept))
			}
			if err := d.Apply(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	flushed := func() (bytes uint64) {
		for _, l := range d.db.Metrics().Levels {
			bytes += l.TableBytesFlushed
		}
		return bytes
	}
	b := d.NewBatch()
	b.Set(key(0), make([]byte, 17<<20)) // pebble's first memtable is small, and the next has room for the largest batch so far
	if err := errors.Join(d.Apply(b), d.db.Flush()); err != nil {
		t.Fatal(err)
	}
	before := flushed()
	write(16 << 20)
	if in, tables := flushed()-before, d.db.Metrics().MemTable.Count; in > 0 || tables != 1 {
		t.Errorf("%d bytes are in tables, and %d memtables hold the rest: want one that holds all", in, tables)
	}
}
