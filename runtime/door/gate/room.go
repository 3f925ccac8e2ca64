package gate

import (
	"sync"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
)

// Source is where requests come from: a caller, or where callers are not known a connection.
type Source struct {
	by     *access.Caller
	remote string
}

// SourceOf returns where a request of a caller comes from that has come from an address.
func SourceOf(by *access.Caller, remote string) Source {
	if by == nil || by == access.Anyone {
		return Source{remote: remote}
	}
	return Source{by: by}
}

// Room counts the bytes that the arguments of requests take, of all and of each source. The zero value is empty.
type Room struct {
	mu  sync.Mutex
	all int64
	of  map[Source]int64
}

// Take counts bytes of a source. They count also if there is no room for them, as the error says, until Give. all and each are the limits.
func (r *Room) Take(from Source, n, all, each int64) error {
	switch total, own := r.add(from, n); {
	case n == 0:
		return nil
	case total > all:
		return door.Refuse(door.Full, "the arguments of other requests take %d bytes, which is the limit", all)
	case own > each:
		return door.Refuse(door.Full, "the arguments of other requests of the caller, or without tokens of the connection, take %d bytes, which is the limit", each)
	}
	return nil
}

// Give gives back what Take has counted.
func (r *Room) Give(from Source, n int64) { r.add(from, -n) }

func (r *Room) add(from Source, n int64) (all, own int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = make(map[Source]int64)
	}
	r.all += n
	if own = r.of[from] + n; own == 0 {
		delete(r.of, from)
	} else {
		r.of[from] = own
	}
	return r.all, own
}

// Taken returns how many bytes count now, and of how many sources.
func (r *Room) Taken() (bytes int64, sources int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all, len(r.of)
}
