package pebbledb

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// openTogether opens engines that have one cache.
func openTogether(t *testing.T, c *store.Cache, engines int) (list []*DB) {
	t.Helper()
	for range engines {
		d, err := OpenFS(vfs.NewMem(), "d", store.EngineOptions{Program: "test", Cache: c})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// writeTables has an engine have so many bytes in tables, and readTables has it read them.
func writeTables(t *testing.T, d *DB, bytes int) {
	t.Helper()
	value := make([]byte, rowBytes)
	random := rand.NewChaCha8([32]byte{1})
	for n := range bytes / rowBytes {
		_, _ = random.Read(value) // it never fails, and cannot be made smaller
		b := d.NewBatch()
		b.Set(rowKey(n), value)
		if err := d.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
}

func readTables(t *testing.T, d *DB, bytes int) {
	t.Helper()
	for n := range bytes / rowBytes {
		if _, found, err := d.Get(rowKey(n), nil); !found || err != nil {
			t.Fatalf("row %d: found %v, %v", n, found, err)
		}
	}
}

const rowBytes = 1 << 10

func rowKey(n int) []byte { return binary.BigEndian.AppendUint64([]byte("row"), uint64(n)) }

func closeAll(t *testing.T, list ...*DB) {
	t.Helper()
	for _, d := range list {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Engines that are given one cache have it together. It counts once, and goes with the last of them.
func TestEnginesShareACache(t *testing.T) {
	before := store.EngineBytes()
	c := &store.Cache{Bytes: 8 << 20}
	list := openTogether(t, c, 3)
	const bytes = 1 << 20
	for _, d := range list {
		writeTables(t, d, bytes)
		readTables(t, d, bytes)
	}
	cache := list[0].db.Metrics().BlockCache.Size
	if cache < int64(len(list))*bytes {
		t.Errorf("the cache has %d bytes, and each of %d engines has read %d", cache, len(list), bytes)
	}
	want := cache
	for _, d := range list {
		m := d.db.Metrics()
		want += int64(m.MemTable.Size+m.MemTable.ZombieSize) + d.logs.q.bytes()
		if m.BlockCache.Size != cache {
			t.Errorf("an engine has a cache of %d bytes, another one of %d", m.BlockCache.Size, cache)
		}
	}
	if got := store.EngineBytes() - before; got != want {
		t.Errorf("the engines hold %d bytes, want %d", got, want)
	}
	closeAll(t, list[:2]...)
	readTables(t, list[2], bytes)
	if got := store.EngineBytes() - before; got < cache/3 {
		t.Errorf("the engine that is left holds %d bytes, and has read %d", got, bytes)
	}
	closeAll(t, list[2])
	if s := caches.used[c]; s != nil {
		t.Errorf("no engine is open, and the cache has %d users", s.users)
	}
	if got := store.EngineBytes() - before; got != 0 {
		t.Errorf("no engine is open, and engines hold %d bytes", got)
	}
	list = openTogether(t, c, 1) // it is made anew
	readTables(t, list[0], 0)
	closeAll(t, list...)
}

// What waits for a sync of the log counts: the engine of a replica's state syncs seldom. It is little enough that the
// memtable keeps it, as a flush would write the log, too.
func TestUnsyncedWritesCount(t *testing.T) {
	before, waiting := store.EngineBytes(), int64(64<<10)
	d := openTogether(t, &store.Cache{}, 1)[0]
	b := d.NewBatch()
	b.Set([]byte("row"), make([]byte, waiting))
	if err := d.Apply(b); err != nil {
		t.Fatal(err)
	}
	for d.logs.q.bytes() < waiting { // pebble's goroutine hands it over
		runtime.Gosched()
	}
	held := store.EngineBytes() - before
	m := d.db.Metrics().MemTable // without a flush, they only become less
	if memtables := int64(m.Size + m.ZombieSize); held < memtables+waiting {
		t.Errorf("%d bytes wait for a sync, memtables have %d, and the engine holds %d", waiting, memtables, held)
	}
	closeAll(t, d)
}

// An engine that cannot be opened has no part in the cache.
func TestRefusedEngineLeavesTheCache(t *testing.T) {
	before := store.EngineBytes()
	o := store.EngineOptions{Program: "test", Cache: &store.Cache{}}
	d := newDB(vfs.NewMem(), "d", o)
	d.tune = func(p *pebble.Options) { p.ErrorIfExists = true } // which it does once it was created
	if _, err := d.opened(o); err == nil {
		t.Fatal("the engine was opened")
	}
	if held := store.EngineBytes() - before; held != 0 || caches.used[o.Cache] != nil {
		t.Errorf("an engine that was refused holds %d bytes", held)
	}
}

// The memtables of many engines leave what a cache was made with to what is read.
func TestMemtablesLeaveRoomInTheCache(t *testing.T) {
	const engines, bytes = 8, 1 << 20 // pebble's first memtables have 256 KiB, those of all engines more than the cache
	list := openTogether(t, &store.Cache{Bytes: bytes}, engines)
	writeTables(t, list[0], bytes)
	readTables(t, list[0], bytes)
	m := list[0].db.Metrics()
	if m.BlockCache.Size < bytes/2 {
		t.Errorf("of %d bytes that were read the cache has %d", bytes, m.BlockCache.Size)
	}
	closeAll(t, list...)
}
