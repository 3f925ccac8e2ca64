package pebbledb

import (
	"cmp"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/runtime/store"
)

// shared is the pebble cache of a store.Cache.
type shared struct {
	*pebble.Cache
	users   int // the pebbles that are open with it
	uncount func()
}

var caches = struct {
	sync.Mutex
	used map[*store.Cache]*shared
}{used: make(map[*store.Cache]*shared)}

// useCache returns the pebble cache of c. The first user makes it.
func useCache(c *store.Cache) *shared {
	caches.Lock()
	defer caches.Unlock()
	s := caches.used[c]
	if s == nil {
		s = &shared{Cache: pebble.NewCache(cmp.Or(c.Bytes, cacheDefault))}
		s.uncount = store.CountMemory(s.Size)
		caches.used[c] = s
	}
	s.users++
	return s
}

// leaveCache ends a use of the pebble cache of c. The last one frees it.
func leaveCache(c *store.Cache) {
	caches.Lock()
	defer caches.Unlock()
	s := caches.used[c]
	if s.users--; s.users > 0 {
		return
	}
	delete(caches.used, c)
	s.uncount()
	s.Unref()
}

// memory is what the pebble that a DB has open takes of it.
type memory struct {
	cache      *store.Cache
	shortLived bool
	leave      func() // gives back what take has taken
	uncount    func()
	open       struct {
		sync.Mutex
		db *pebble.DB // nil: it is closed, or not open yet
	}
}

// take gives a pebble that is about to be opened its cache. Pebble takes the memory of memtables out of it, and of several pebbles nothing would be left. So each
// adds what its memtables take while the disk keeps up: one is filled, and one is written to a table. Rows of a log need no cache: what is read of them was
// written lately, and the reader has kept most of that itself.
func (m *memory) take(p *pebble.Options) {
	c := useCache(m.cache)
	p.Cache = c.Cache
	room := 2 * int(p.MemTableSize)
	if m.shortLived {
		room = 0
	}
	takeBack := c.Reserve(-room)
	m.leave = func() {
		takeBack()
		leaveCache(m.cache)
	}
}

// opened has count be asked while db is open.
func (m *memory) opened(db *pebble.DB, count func() int64) {
	m.use(db)
	m.uncount = store.CountMemory(count)
}

// closing has nothing ask the pebble any more, which is about to be closed.
func (m *memory) closing() {
	m.uncount()
	m.use(nil)
}

func (m *memory) use(db *pebble.DB) {
	m.open.Lock()
	defer m.open.Unlock()
	m.open.db = db
}

// unwritten returns how many bytes the memtables have, and what is to be written to the log with the next sync, which for the state of a replica is as large.
// A pebble that has failed is not asked: it may have stopped with the locks that it held.
func (d *DB) unwritten() int64 {
	open := &d.memory.open
	open.Lock()
	defer open.Unlock()
	if open.db == nil || d.err() != nil {
		return 0
	}
	t := open.db.Metrics().MemTable
	return int64(t.Size+t.ZombieSize) + d.logs.q.bytes()
}
