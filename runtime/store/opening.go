package store

import (
	"errors"
	"log/slog"
)

// Opener opens the engine that keeps its data in a directory, and creates one if there is
// none. pebbledb.Open is one; a program that keeps nothing on disk is built without.
type Opener func(dir string, o EngineOptions) (Engine, error)

// EngineOptions says how an engine is to be opened.
type EngineOptions struct {
	// Program is the name of the program that the data belongs to. A directory of another
	// program is refused.
	Program string
	// Log takes what the engine has to say; nil: slog.Default().
	Log *slog.Logger
	// Cache is where the engine keeps what it has read; nil: in one of its own, with 64 MiB.
	Cache *Cache
	// MustExist refuses a place that holds no store, with an error that wraps ErrMissing; without it a store is made.
	MustExist bool
	// Part says that the store is one of those of a cluster, as a snapshot was restored: what is made is marked as such. Without it such a store is
	// refused, as its actors and those of the others need each other.
	Part bool
	// ShortLived says that rows are deleted soon after they were written, as those of a log are: the engine keeps more of them in memory before it
	// writes them a second time, and spends nothing on making them small.
	ShortLived bool
}

// Cache is a cache of all engines that are given it. They may be opened and closed at any time; the memory is there while one of them is open.
type Cache struct {
	// Bytes is how much memory it has; 0: 64 MiB.
	Bytes int64
}

// ErrMissing is wrapped by the error for a place that holds no store, and by no other.
var ErrMissing = errors.New("there is no store")

// Identity names the store that an engine holds, and its program, as written beside the rows.
type Identity struct {
	// Store is the id of the store, 32 hexadecimal digits: random, and its own for ever.
	Store string
	// Program is the name of the program that the data belongs to.
	Program string
	// Place is where the store is, for messages.
	Place string
}

// Identified is implemented by engines that have an identity beside their rows; Open
// compares the two.
type Identified interface {
	Identity() Identity
}

// Failing is implemented by engines that can fail while no method of theirs runs. f is called
// once, with the error, from any goroutine; at once if the engine has failed already. It must
// not call the engine.
type Failing interface {
	OnFailure(f func(error))
}

// Confirming is implemented by engines that may have lost the store to another process without knowing it, which then goes on with
// it: those of a cluster.
type Confirming interface {
	// Confirm returns nil if the store was the engine's at some time since the call. It may take a round trip, which many calls share.
	Confirm() error
}
